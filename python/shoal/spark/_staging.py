# SPDX-License-Identifier: Apache-2.0
"""The directory where a release is written and verified before it counts.

Its name is random, and only its owner can read it. It lies below the session's warehouse directory or where the caller
says, which all executors must reach. It is removed by `close`, when the session stops, when Python exits, or by the next
run on this machine if its owner was killed: `owner` names machine, boot and process.
"""
from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import secrets
import threading
import time
from typing import Any

_PREFIX = ".shoal-"
_NO_MARK = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}  # no _SUCCESS before the proof
_STOPPED_EVERY = 2  # seconds between two looks whether the session has stopped


class Staging:
    """A directory of this process on any file system that Hadoop knows."""

    def __init__(self, session: Any, below: str | None) -> None:
        self.session = session
        self.below = below or session.conf.get("spark.sql.warehouse.dir")
        self._jvm, self._lock, self._open = session._jvm, threading.Lock(), True
        self.path = f"{self.below}/{_PREFIX}{secrets.token_hex(16)}"
        self._fs = self._file_system(self.below)
        _remove_stale(self)
        self._make_private(self.path)
        self._write(f"{self.path}/owner", json.dumps(_owner()))
        self._fs.deleteOnExit(self._hadoop(self.path))
        atexit.register(self.close)
        threading.Thread(target=self._watch, name="shoal-staging", daemon=True).start()

    # ------------------------------------------------------------ files

    def _hadoop(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def _file_system(self, path: str) -> Any:
        return self._hadoop(path).getFileSystem(self.session._jsc.hadoopConfiguration())

    def _make_private(self, path: str) -> None:
        permission = self._jvm.org.apache.hadoop.fs.permission.FsPermission("700")
        if not self._fs.mkdirs(self._hadoop(path), permission):
            raise OSError("the staging directory cannot be made; name another one (staging=)")
        self._fs.setPermission(self._hadoop(path), permission)

    def _write(self, path: str, text: str) -> None:
        stream = self._fs.create(self._hadoop(path), False)
        stream.write(bytearray(text.encode()))
        stream.close()

    def _read(self, path: Any) -> str:
        stream = self._fs.open(path)
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write(self, df: Any, name: str) -> Any:
        """Writes the DataFrame to the directory; returns what is read back."""
        path = f"{self.path}/{name}"
        df.write.options(**_NO_MARK).option("compression", "snappy").parquet(path)
        return self.session.read.schema(df.schema).parquet(path)

    def mark(self, name: str) -> None:
        """Says that what was written was proven."""
        self._write(f"{self.path}/{name}/_SUCCESS", "")

    # ------------------------------------------------------------ a final name

    def publish(self, df: Any, path: str, format: str, options: dict[str, Any], prove: Any) -> None:
        """Writes beside `path`, has `prove` judge what is read back, and renames. Nothing is left if that fails."""
        target = self._hadoop(path)
        fs = target.getFileSystem(self.session._jsc.hadoopConfiguration())
        target = fs.makeQualified(target)
        if fs.exists(target):
            raise FileExistsError(f"{path} exists; choose another name")
        draft = self._jvm.org.apache.hadoop.fs.Path(target.getParent(), _PREFIX + secrets.token_hex(16))
        permission = self._jvm.org.apache.hadoop.fs.permission.FsPermission
        try:
            fs.mkdirs(draft, permission("700"))
            fs.setPermission(draft, permission("700"))
            place = draft.toString() + "/rows"
            df.write.format(format).options(**_NO_MARK).options(**options).save(place)
            prove(self.session.read.format(format).schema(df.schema).options(**options).load(place))
            if fs.exists(target) or not fs.rename(self._hadoop(place), target):
                raise OSError(f"{path}: the verified files could not be renamed")
            fs.create(self._jvm.org.apache.hadoop.fs.Path(target, "_SUCCESS"), False).close()
        finally:
            fs.delete(draft, True)

    # ------------------------------------------------------------ the end

    def close(self) -> None:
        """Removes the directory. May be called twice."""
        with self._lock:
            if not self._open:
                return
            self._open = False
            atexit.unregister(self.close)
            with contextlib.suppress(Exception):  # the JVM is gone, and has removed it
                self._fs.delete(self._hadoop(self.path), True)

    def _watch(self) -> None:
        context = self.session._jsc.sc()
        while self._open:
            time.sleep(_STOPPED_EVERY)
            try:
                stopped = context.isStopped()
            except Exception:  # so is the JVM
                return
            if stopped:
                self.close()


def _owner() -> dict[str, Any]:
    return {"machine": _line("/etc/machine-id") + os.uname().nodename, "boot": _line("/proc/sys/kernel/random/boot_id"),
            "process": os.getpid(), "started": _started(os.getpid())}


def _line(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return ""


def _started(process: int) -> str:
    """When the process started, in ticks since the boot; empty: there is none."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _is_gone(owner: dict[str, Any]) -> bool:
    here = _owner()
    if owner.get("machine") != here["machine"]:
        return False  # nobody here can tell
    return owner.get("boot") != here["boot"] or _started(int(owner.get("process", 0))) != owner.get("started")


def _remove_stale(staging: Staging) -> None:
    """Removes directories of processes of this machine that ended without removing them."""
    with contextlib.suppress(Exception):  # someone else's, or being removed
        for status in staging._fs.listStatus(staging._hadoop(staging.below)):
            path = status.getPath()
            if not re.fullmatch(r"\.shoal-[0-9a-f]{32}", path.getName()):
                continue
            with contextlib.suppress(Exception):
                owner = staging._read(staging._jvm.org.apache.hadoop.fs.Path(path, "owner"))
                if _is_gone(json.loads(owner)):
                    staging._fs.delete(path, True)
