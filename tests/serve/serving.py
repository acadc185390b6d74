# SPDX-License-Identifier: Apache-2.0
"""Starts `shoal serve` and talks to it: with http.client where a well-behaved client is enough, over a raw socket
where a client would hide the fault."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

import support


class Server:
    """A running server. `with Server(directory) as server`"""

    def __init__(self, cwd=None, *words, environment=None):
        self.words = [support.SHOAL, "serve", "--no-open", "--port", "0", *map(str, words)]
        self.private = tempfile.TemporaryDirectory(prefix="shoal-test-serve-")
        self.cwd = str(cwd or support.ROOT / "examples")
        self.environment = {**os.environ, "TMPDIR": self.private.name, **(environment or {})}

    def __enter__(self):
        self.process = subprocess.Popen(self.words, cwd=self.cwd, env=self.environment, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#([0-9a-f]{32})", self.line)
        if not found:
            raise AssertionError(f"no address: {self.line!r} {self.process.communicate()}")
        self.port, self.token = int(found[1]), found[2]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.address = f"{self.origin}/#{self.token}"
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        self.process.stdout.close()
        self.process.stderr.close()
        self.private.cleanup()

    def stop(self):
        """Control-C; returns the exit status and what went to standard error."""
        self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=120)
        return self.process.returncode, err

    def leftovers(self):
        """What is in the directory for temporary files."""
        return sorted(os.path.join(where, name) for where, _, names in os.walk(self.private.name) for name in names)

    # ---- a client

    def headers(self, **more):
        named = {"Host": f"127.0.0.1:{self.port}", "Shoal-Token": self.token, "Origin": self.origin}
        for name, value in more.items():
            named[name.replace("_", "-")] = value
        return {name: value for name, value in named.items() if value is not None}

    def request(self, method, path, body=None, **headers):
        """Status, headers and body of the answer."""
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            client.request(method, path, body, self.headers(**headers))
            answer = client.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            client.close()

    def api(self, method, path, body=None, expect=200, **headers):
        """The JSON of an answer that must have this status."""
        status, _, text = self.request(method, "/api/v1" + path, body, **headers)
        if status != expect:
            raise AssertionError(f"{method} {path}: {status} {text[:500]!r}")
        return json.loads(text)

    def session(self):
        return self.api("POST", "/sessions")["session"]

    def job(self, session, kind, body=None):
        """The lines of a job's stream."""
        status, _, text = self.request("POST", f"/api/v1/sessions/{session}/jobs/{kind}", body or {})
        if status != 200:
            raise AssertionError(f"job {kind}: {status} {text[:500]!r}")
        return [json.loads(line) for line in text.decode().splitlines() if line.strip()]

    def result(self, session, kind, body=None):
        lines = self.job(session, kind, body)
        if "result" not in lines[-1]:
            raise AssertionError(f"job {kind}: {lines[-1]}")
        return lines[-1]["result"]

    # ---- a raw socket

    def connect(self, family=socket.AF_INET):
        made = socket.socket(family)
        made.settimeout(120)
        made.connect(("127.0.0.1" if family == socket.AF_INET else "::1", self.port))
        return made

    def raw(self, text, family=socket.AF_INET):
        """Sends bytes and returns all that comes back until the server closes or the answer is complete."""
        with self.connect(family) as made:
            made.sendall(text if isinstance(text, bytes) else text.encode())
            return read_answer(made)

    def lines(self, request_line, *headers, host=True, token=True, origin=True):
        """A request as text; the headers that are usual come first."""
        usual = []
        if host:
            usual.append(f"Host: 127.0.0.1:{self.port}")
        if token:
            usual.append(f"Shoal-Token: {self.token}")
        if origin:
            usual.append(f"Origin: {self.origin}")
        return "\r\n".join([request_line, *usual, *headers, "", ""])

    def status(self, *words, **named):
        return status_of(self.raw(self.lines(*words, **named)))


def read_answer(made):
    """Headers and body; less if the connection ends before."""
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            part = made.recv(65536)
            if not part:
                return data
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", head.lower())
        while found and len(body) < int(found[1]):
            part = made.recv(65536)
            if not part:
                break
            body += part
        return head + b"\r\n\r\n" + body
    except ConnectionError:
        return data


def status_of(answer):
    """The status code; 0 if the server closed the connection without an answer."""
    found = re.match(rb"HTTP/1\.[01] (\d+)", answer)
    return int(found[1]) if found else 0


def wait_until(holds, seconds=60):
    """Waits for something that must happen; how long it takes is not tested."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False
