# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL cluster of the tests' own, on a socket in a temporary directory.

A server refuses to run as root: then it runs as `nobody`, through setpriv. Standard library only; SQL goes
through psql.
"""

import glob
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support  # noqa: E402  (found by the line above)

AS_NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def programs():
    """The directory of the newest server's programs, or None."""
    found = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    return os.path.dirname(max(found, key=lambda p: int(p.split("/")[4]))) if found else None


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Cluster:
    def __init__(self):
        self.bin = programs()
        self.root = tempfile.mkdtemp(prefix="shoal-pg-")
        self.user = AS_NOBODY if os.geteuid() == 0 else []
        os.chmod(self.root, 0o777)
        self.run(f"{self.bin}/initdb", "-D", self.root + "/data", "-U", "steward", "--auth=trust", "-N", "-E", "UTF8",
                 "--locale=C.UTF-8")
        self.environment = {**os.environ, "PGHOST": self.root, "PGUSER": "steward", "PGDATABASE": "postgres"}
        for name in ("PGPORT", "PGPASSWORD", "PGSERVICE", "PGOPTIONS"):
            self.environment.pop(name, None)
        self.start()

    def run(self, *command):
        subprocess.run([*self.user, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       cwd=self.root)

    def start(self):
        settings = ("-c listen_addresses= -c fsync=off -c full_page_writes=off -c shared_buffers=32MB "
                    "-c log_statement=all -c autovacuum=off "
                    f"-c unix_socket_directories={self.root}")
        self.run(f"{self.bin}/pg_ctl", "-D", self.root + "/data", "-w", "-l", self.root + "/log", "-o", settings, "start")

    def kill_postmaster(self):
        """Ends the server at once, without a checkpoint; start() recovers it."""
        with open(self.root + "/data/postmaster.pid", encoding="utf-8") as file:
            os.kill(int(file.readline()), signal.SIGQUIT)
        subprocess.run([*self.user, f"{self.bin}/pg_ctl", "-D", self.root + "/data", "-w", "-m", "immediate", "stop"],
                       check=False, capture_output=True, cwd=self.root)

    def stop(self):
        subprocess.run([*self.user, f"{self.bin}/pg_ctl", "-D", self.root + "/data", "-w", "-m", "immediate", "stop"],
                       check=False, capture_output=True, cwd=self.root)
        shutil.rmtree(self.root, ignore_errors=True)

    def sql(self, text, user="steward", null="<NULL>"):
        """Rows of the last statement, as lists of text."""
        done = subprocess.run([f"{self.bin}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-F", "\x1f", "-R",
                               "\x1e", "-P", f"null={null}", "-U", user], input=text, env=self.environment,
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(f"psql: {done.stderr}\n{text[:2000]}")
        return [row.split("\x1f") for row in done.stdout.removesuffix("\n").split("\x1e") if row]

    def load(self, name, header, rows, types=None):
        """Makes a table of rows; None is NULL."""
        columns = ", ".join(f"{quoted(h)} {t}" for h, t in zip(header, types or ["text"] * len(header)))
        cells = "\n".join("\t".join("\\N" if c is None else str(c).replace("\\", "\\\\").replace("\t", "\\t")
                                    .replace("\n", "\\n").replace("\r", "\\r") for c in row) for row in rows)
        self.sql(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns});\n"
                 f"COPY {name} FROM STDIN;\n{cells}\n\\.\n")

    def wait_for(self, condition, seconds=60):
        """Until the query returns t."""
        end = time.monotonic() + seconds
        while self.sql(condition) != [["t"]]:
            if time.monotonic() > end:
                raise AssertionError(f"never true: {condition}")
            time.sleep(0.02)

    def log(self):
        with open(self.root + "/log", encoding="utf-8", errors="replace") as file:
            return file.read()

    def shoal(self, *args, cwd=None, environment=None):
        words = [support.SHOAL, *map(str, args)]
        done = subprocess.run(words, capture_output=True, text=True, cwd=cwd, check=False,
                              env={**self.environment, **(environment or {})}, timeout=support.TIMEOUT_SECONDS)
        return support.Result(words[1:], done.returncode, done.stdout, done.stderr)
