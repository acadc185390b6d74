# SPDX-License-Identifier: Apache-2.0
"""Who may talk to the server, and what it survives. Mostly over raw sockets: clients would repair the requests."""
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import unittest

import support
from serving import Server, read_answer, status_of, wait_until


def setUpModule():
    support.require_program()


class Access(unittest.TestCase):
    """One server for all questions about a single request."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_only_loopback_is_listened_on(self):
        port = f":{self.server.port:04X} "
        listening = []
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            with open(table, encoding="ascii") as file:
                listening += [line.split()[1] for line in file if port in line and line.split()[3] == "0A"]
        addresses = {entry.split(":")[0] for entry in listening}
        self.assertIn("0100007F", addresses)
        self.assertLessEqual(addresses, {"0100007F", "00000000000000000000000001000000"})

    def test_ipv6_loopback_answers_too(self):
        if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
            self.skipTest("no IPv6 here")
        text = f"GET / HTTP/1.1\r\nHost: [::1]:{self.server.port}\r\n\r\n"
        try:
            self.assertEqual(200, status_of(self.server.raw(text, socket.AF_INET6)))
        except OSError:
            self.skipTest("no ::1 here")

    def host_status(self, *hosts):
        headers = [f"Host: {host}" for host in hosts]
        return self.server.status("GET /api/v1/files HTTP/1.1", *headers, host=False)

    def test_hosts_that_name_this_server(self):
        for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
            self.assertEqual(200, self.host_status(f"{host}:{self.server.port}"), host)

    def test_other_hosts_are_refused(self):
        port = self.server.port
        for host in (f"127.0.0.1.evil.example:{port}", f"localhost.:{port}", "127.0.0.1", "localhost",
                     f"127.0.0.1:{port + 1}", f"127.0.0.1:{port}0", f"127.0.0.1:0{port}", f"evil.example:{port}",
                     f"127.0.0.1:{port}@evil.example", f"user@127.0.0.1:{port}", f"[::1]:{port}.evil.example",
                     f"127.1:{port}", f"0.0.0.0:{port}", f"[::ffff:127.0.0.1]:{port}", f"127.0.0.1:{port}/", ""):
            self.assertIn(self.host_status(host), (400, 403), host)

    def test_missing_and_repeated_hosts_are_refused(self):
        good = f"127.0.0.1:{self.server.port}"
        self.assertIn(self.host_status(), (400, 403))
        self.assertEqual(400, self.host_status(good, good))
        self.assertEqual(400, self.host_status(good, "evil.example"))
        self.assertEqual(400, self.host_status("evil.example", good))
        self.assertIn(status_of(self.server.raw("GET / HTTP/1.0\r\n\r\n")), (400, 403))

    def test_lengths_that_can_be_read_in_two_ways_are_refused(self):
        session = self.server.session()
        line = f"PUT /api/v1/sessions/{session}/policy HTTP/1.1"
        for headers in (["Content-Length: 3", "Content-Length: 4"], ["Content-Length: 3", "Content-Length: 3"],
                        ["Content-Length: 3", "Transfer-Encoding: chunked"],
                        ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
                        ["Transfer-Encoding: gzip, chunked"], ["Transfer-Encoding: identity"],
                        ["Content-Length: 3, 3"], ["Content-Length: -1"], ["Content-Length: 0x3"]):
            answer = self.server.raw(self.server.lines(line, *headers) + "k: 1\r\n0\r\n\r\n")
            self.assertIn(status_of(answer), (0, 400), headers)

    def test_a_second_request_does_not_hide_behind_a_refused_one(self):
        hidden = self.server.lines("GET /api/v1/files HTTP/1.1")
        line = "GET /api/v1/files HTTP/1.1"
        answer = self.server.raw(self.server.lines(line, f"Content-Length: {len(hidden)}", "Transfer-Encoding: chunked")
                                 + hidden)
        self.assertEqual(1, len(re.findall(rb"HTTP/1\.1 \d+", answer)), answer[:500])

    def test_the_token_is_needed(self):
        line = "GET /api/v1/files HTTP/1.1"
        token = self.server.token
        self.assertEqual(200, self.server.status(line))
        self.assertEqual(401, self.server.status(line, token=False))
        for wrong in ("", "0" * 32, token[:-1], token + "0", token.upper() if token.upper() != token else "x",
                      token[:-1] + ("0" if token[-1] != "0" else "1")):
            self.assertEqual(401, self.server.status(line, f"Shoal-Token: {wrong}", token=False), wrong)
        self.assertEqual(400, self.server.status(line, f"Shoal-Token: {token}"))  # twice
        self.assertEqual(401, self.server.status(f"GET /api/v1/files?token={token} HTTP/1.1", token=False))
        self.assertEqual(401, self.server.status(line, f"Cookie: Shoal-Token={token}", token=False))

    def test_every_route_needs_the_token(self):
        routes = self.server.api("GET", "/catalog")["routes"]
        self.assertGreater(len(routes), 10)
        for route in routes:
            path = route["path"].replace("*", "0" * 32)
            line = f"{route['method']} {path} HTTP/1.1"
            self.assertEqual(401, self.server.status(line, "Content-Length: 0", token=False), line)

    def test_state_changes_need_an_origin_from_the_list(self):
        line = "POST /api/v1/sessions HTTP/1.1"
        length = "Content-Length: 0"
        port = self.server.port
        self.assertEqual(403, self.server.status(line, length, origin=False))
        for origin in (f"http://127.0.0.1:{port}", f"http://localhost:{port}", f"http://[::1]:{port}"):
            self.assertEqual(200, self.server.status(line, length, f"Origin: {origin}", origin=False), origin)
        for origin in ("null", "http://evil.example", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}",
                       "http://127.0.0.1", f"http://127.0.0.1:{port}.evil.example", "file://"):
            self.assertEqual(403, self.server.status(line, length, f"Origin: {origin}", origin=False), origin)
            self.assertEqual(403, self.server.status("GET /api/v1/files HTTP/1.1", f"Origin: {origin}", origin=False))

    def test_requests_of_other_sites_are_refused(self):
        for site in ("cross-site", "same-site", "none", "nonsense"):
            self.assertEqual(403, self.server.status("GET /api/v1/files HTTP/1.1", f"Sec-Fetch-Site: {site}"), site)
        self.assertEqual(200, self.server.status("GET /api/v1/files HTTP/1.1", "Sec-Fetch-Site: same-origin"))
        page = "GET / HTTP/1.1"
        self.assertEqual(200, self.server.status(page, "Sec-Fetch-Site: none"))
        self.assertEqual(200, self.server.status(page, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
                                                 "Sec-Fetch-Dest: document", origin=False))
        self.assertEqual(403, self.server.status(page, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
                                                 "Sec-Fetch-Dest: iframe", origin=False))
        self.assertEqual(403, self.server.status("GET /app.js HTTP/1.1", "Sec-Fetch-Site: cross-site",
                                                 "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script", origin=False))

    def test_headers_of_every_answer(self):
        for path in ("/", "/app.js", "/style.css", "/api/v1/files", "/nothing", "/api/v1/nothing"):
            _, headers, _ = self.server.request("GET", path)
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'self'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertEqual("nosniff", headers["X-Content-Type-Options"])
            self.assertEqual("same-origin", headers["Cross-Origin-Opener-Policy"])
            self.assertEqual("same-origin", headers["Cross-Origin-Resource-Policy"])
            self.assertEqual("no-referrer", headers["Referrer-Policy"])
            self.assertEqual("no-store", headers["Cache-Control"])
            for name in headers:
                self.assertFalse(name.lower().startswith("access-control"), name)
                self.assertNotEqual("set-cookie", name.lower())

    def test_no_preflight_is_answered(self):
        answer = self.server.raw(self.server.lines("OPTIONS /api/v1/sessions HTTP/1.1", "Origin: http://evil.example",
                                                   "Access-Control-Request-Method: POST", origin=False))
        self.assertEqual(403, status_of(answer))
        self.assertNotIn(b"access-control", answer.lower())

    def test_unknown_paths_and_methods(self):
        for line, status in (("GET /api/v1/nothing HTTP/1.1", 404), ("DELETE /api/v1/files HTTP/1.1", 405),
                             ("GET /../../etc/passwd HTTP/1.1", 404), ("GET /%2e%2e/etc/passwd HTTP/1.1", 404),
                             ("GET /api/v1/sessions/../files HTTP/1.1", 404), ("GET /app.js%00.css HTTP/1.1", (0, 200, 400, 404)),
                             ("POST / HTTP/1.1", 405), ("GET /patients.csv HTTP/1.1", 404)):
            found = self.server.status(line, "Content-Length: 0" if line.startswith("POST") else "X: y")
            self.assertIn(found, status if isinstance(status, tuple) else (status,), line)

    def test_malformed_requests_do_not_end_it(self):
        for text in (b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01\xfc",
                     b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"G" * 100000, b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(5000)) + b"\r\n",
                     b"GET / HTTP/1.1\r\nX: " + b"y" * 100000 + b"\r\n\r\n"):
            with self.server.connect() as made:
                try:
                    made.sendall(text)
                    made.shutdown(socket.SHUT_WR)
                    answer = read_answer(made)
                except OSError:  # the server has closed it
                    answer = b""
            self.assertNotEqual(200, status_of(answer), text[:40])
        self.assertEqual(200, self.server.status("GET /api/v1/files HTTP/1.1"))

    def test_malformed_json_is_refused(self):
        session = self.server.session()
        for body in ("{", "[]", "1", '{"a": 1, "a": 2}', "[" * 100000, '"\\ud800"', "\xff", '{"data": "\\u0000"}'):
            status, _, _ = self.server.request("POST", f"/api/v1/sessions/{session}/open", body.encode("latin1"))
            self.assertIn(status, (400, 403), body[:20])

    def test_bodies_have_limits(self):
        session = self.server.session()
        for path, size in (("/open", (1 << 20) + 1), ("/policy", (4 << 20) + 1)):
            method = "POST" if path == "/open" else "PUT"
            status, _, _ = self.server.request(method, f"/api/v1/sessions/{session}{path}", b" " * size)
            self.assertEqual(413, status, path)
        status, _, _ = self.server.request("GET", "/api/v1/files", b"x" * 10)
        self.assertEqual(413, status)

    def test_sessions_are_apart(self):
        one, two = self.server.session(), self.server.session()
        self.assertNotEqual(one, two)
        self.server.api("POST", f"/sessions/{one}/open", {"example": "hospital"})
        self.assertIsNotNone(self.server.api("GET", f"/sessions/{one}")["data"])
        self.assertIsNone(self.server.api("GET", f"/sessions/{two}")["data"])
        self.server.api("DELETE", f"/sessions/{one}")
        self.server.api("GET", f"/sessions/{one}", expect=404)
        self.server.api("GET", f"/sessions/{'0' * 32}", expect=404)


class Files(unittest.TestCase):
    """Files below the start directory only."""

    def setUp(self):
        directory = support.temp_dir()
        self.addCleanup(directory.cleanup)
        self.top = directory.name
        self.inside = os.path.join(self.top, "inside")
        os.makedirs(os.path.join(self.inside, "sub"))
        text = "age,ill\n" + "".join(f"{20 + i % 3},{'ab'[i % 2]}\n" for i in range(12))
        for path in ("inside/data.csv", "inside/sub/more.csv", "secret.csv"):
            with open(os.path.join(self.top, path), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(self.top, "levels.csv"), "w", encoding="utf-8") as file:
            file.write("20;*\n21;*\n22;*\n")
        os.symlink("../secret.csv", os.path.join(self.inside, "link.csv"))
        os.symlink("..", os.path.join(self.inside, "up"))
        os.symlink("../levels.csv", os.path.join(self.inside, "levels.csv"))
        os.mkfifo(os.path.join(self.inside, "pipe.csv"))

    def test_what_opens(self):
        with Server(self.inside) as server:
            session = server.session()
            listed = [f["path"] for f in server.api("GET", "/files")["files"]]
            self.assertEqual(["data.csv", "sub/more.csv"], listed)
            for path in ("data.csv", "sub/more.csv", "sub/../data.csv", "./data.csv"):
                server.api("POST", f"/sessions/{session}/open", {"data": path})
            for path in ("../secret.csv", "link.csv", "up/secret.csv", "sub/../../secret.csv", "pipe.csv", "sub", "",
                         os.path.join(self.top, "secret.csv"), "/etc/passwd", "data.csv/", "missing.csv"):
                if path != "data.csv/":
                    server.api("POST", f"/sessions/{session}/open", {"data": path}, expect=403)

    def test_names_of_files_in_other_spellings(self):
        """A number is a name to the engine, and YAML has more than one way to write a key."""
        os.symlink("../levels.csv", os.path.join(self.inside, "123"))
        outside = os.path.join(self.top, "levels.csv")
        with Server(self.inside) as server:
            session = server.session()
            server.api("POST", f"/sessions/{session}/open", {"data": "data.csv"})
            for entry in ("file: 123", '"\\x66ile": 123', f'"\\x66ile": "{outside}"', f"? file\n    : {outside}"):
                policy = ("shoal: 1\nattributes:\n  ill: {role: sensitive}\n  age:\n   role: quasi\n   hierarchy:\n    %s\n"
                          "privacy: {k: 2}\n" % entry)
                server.api("PUT", f"/sessions/{session}/policy", policy)
                for kind in ("check", "lattice"):
                    self.assertIn("below this directory", server.job(session, kind)[-1]["error"]["message"], entry)
            for spec in (f"{{file: {outside}}}", f'{{"\\x66ile": "{outside}"}}', f'"\\u0066ile": {outside}', "{file: 123}",
                         f"{{? file : {outside}}}", "[]", "{"):
                last = server.job(session, "hierarchy", {"column": "age", "spec": spec})[-1]
                self.assertIn("a file cannot be shown here", last["error"]["message"], spec)
            made = server.result(session, "hierarchy", {"column": "age", "spec": "{intervals: [5]}"})
            self.assertIn("20;", made["csv"])

    def test_a_file_that_becomes_a_link_after_the_check(self):
        """The engine reads the file that was checked, though its name now leads out."""
        here = os.path.join(self.inside, "sub", "ages.csv")
        with open(here, "w", encoding="utf-8") as file:
            file.write("20;*\n21;*\n22;*\n")
        with open(os.path.join(self.top, "levels.csv"), "w", encoding="utf-8") as file:
            file.write("outside;*\n")
        policy = ("shoal: 1\nattributes:\n  age: {role: quasi, hierarchy: {file: sub/../sub/ages.csv}}\n"
                  "  ill: {role: sensitive}\nprivacy: {k: 2}\n")
        rows = b"20,a\n21,b\n22,a\n" * 700_000
        with Server(self.inside) as server:
            session = server.session()
            server.api("PUT", f"/sessions/{session}/data", b"age,ill\n" + rows, Shoal_Name="data.csv")
            server.api("PUT", f"/sessions/{session}/policy", policy)
            client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
            self.addCleanup(client.close)
            client.request("POST", f"/api/v1/sessions/{session}/jobs/check", "{}", server.headers())
            answer = client.getresponse()
            while not (line := answer.readline()).strip():
                pass
            self.assertEqual("read", json.loads(line)["progress"]["stage"])  # so the policy's files were checked
            os.remove(here)
            os.symlink("../../levels.csv", here)
            last = json.loads(answer.read().strip().splitlines()[-1])
            self.assertIn("result", last)
            answer = server.job(session, "check")[-1]
            self.assertIn("below this directory", answer["error"]["message"])
            self.assertEqual([], [path for path in server.leftovers() if "ages" in path])

    def test_policies_that_are_no_text(self):
        with Server(self.inside) as server:
            session = server.session()
            for policy in (b"%: {b:\xcd\xcd\xcd\xcd\n", b"%\x01: 1\n", b"shoal: 1\n\x00"):
                state = server.api("PUT", f"/sessions/{session}/policy", policy)["policy"]
                self.assertIsNone(state["model"])
                self.assertIn("policy.yaml:", state["error"])
            state = server.api("PUT", f"/sessions/{session}/policy", "%YAML 1.2\n---\nshoal: 1\n")["policy"]
            self.assertEqual({"shoal": 1}, state["model"])

    def test_files_that_a_policy_names(self):
        with Server(self.inside) as server:
            session = server.session()
            server.api("POST", f"/sessions/{session}/open", {"data": "data.csv"})
            for path in ("../levels.csv", "levels.csv", os.path.join(self.top, "levels.csv"), "up/levels.csv"):
                policy = ("shoal: 1\nattributes:\n  age: {role: quasi, hierarchy: {file: '%s'}}\n"
                          "  ill: {role: sensitive}\nprivacy: {k: 2}\n" % path)
                server.api("PUT", f"/sessions/{session}/policy", policy)
                last = server.job(session, "check")[-1]
                self.assertEqual(2, last["error"]["status"], path)
                self.assertIn("below this directory", last["error"]["message"])
            with open(os.path.join(self.inside, "own.csv"), "w", encoding="utf-8") as file:
                file.write("20;*\n21;*\n22;*\n")
            server.api("PUT", f"/sessions/{session}/policy", policy.replace("up/levels.csv", "own.csv"))
            self.assertIn("result", server.job(session, "check")[-1])


class Life(unittest.TestCase):
    """Start, deadlines, end."""

    def test_slow_clients_are_cut_off(self):
        with Server(environment={"SHOAL_SERVE_DEADLINE_SECONDS": "1"}) as server:
            session = server.session()
            drips = [server.lines("GET /api/v1/files HTTP/1.1"),
                     server.lines(f"PUT /api/v1/sessions/{session}/policy HTTP/1.1", "Content-Length: 1000") + "shoal: 1"]
            for text in drips:
                with server.connect() as made:
                    made.sendall(text[:-2].encode() if text.endswith("\r\n\r\n") else text.encode())
                    closed = False
                    for _ in range(400):  # a byte now and then: never silent, never done
                        try:
                            made.sendall(b"x")
                            made.settimeout(0.05)
                            closed = made.recv(1000) == b""
                        except socket.timeout:
                            continue
                        except ConnectionError:
                            closed = True
                        if closed:
                            break
                    self.assertTrue(closed, text[:60])
            self.assertEqual(200, server.status("GET /api/v1/files HTTP/1.1"))

    def test_half_closed_and_vanished_clients(self):
        with Server() as server:
            session = server.session()
            server.api("POST", f"/sessions/{session}/open", {"example": "hospital"})
            line = f"POST /api/v1/sessions/{session}/jobs/lattice HTTP/1.1"
            for _ in range(20):
                with server.connect() as made:
                    made.sendall(server.lines(line, "Content-Length: 0").encode())
            with server.connect() as made:
                made.sendall(server.lines("GET /api/v1/files HTTP/1.1").encode())
                made.shutdown(socket.SHUT_WR)
                self.assertIn(status_of(read_answer(made)), (0, 200))
            self.assertIn("nodes", server.result(session, "lattice")["answer"])
            self.assertEqual((0, ""), server.stop())

    def begin_policy(self, server, session, size=9):
        """A request whose headers the server has, and nothing of its body."""
        made = server.connect()
        made.sendall(server.lines(f"PUT /api/v1/sessions/{session}/policy HTTP/1.1", f"Content-Length: {size}",
                                  "Expect: 100-continue").encode())
        self.assertEqual(100, status_of(made.recv(1000)))
        return made

    def test_a_session_that_ends_during_a_request(self):
        with Server() as server:
            session = server.session()
            with self.begin_policy(server, session) as made:
                server.api("DELETE", f"/sessions/{session}")
                made.sendall(b"shoal: 1\n")
                self.assertEqual(404, status_of(read_answer(made)))
            session = server.session()
            with self.begin_policy(server, session) as made:
                for _ in range(32):  # the oldest session makes room
                    server.session()
                made.sendall(b"shoal: 1\n")
                self.assertEqual(404, status_of(read_answer(made)))
            self.assertEqual((0, ""), server.stop())

    def test_a_request_that_is_complete_when_the_server_ends(self):
        for size in (10000, 20000, 30000):  # the last part is read when the sessions are closed
            with Server() as server, self.begin_policy(server, server.session(), size) as made:
                os.kill(server.process.pid, signal.SIGSTOP)
                made.sendall(b"#" * size)
                server.process.send_signal(signal.SIGINT)
                os.kill(server.process.pid, signal.SIGCONT)
                _, err = server.process.communicate(timeout=120)
                self.assertEqual((0, ""), (server.process.returncode, err))

    def test_closed_uploads_leave_the_disk(self):
        def uploads(server):
            top = f"/proc/{server.process.pid}/fd"
            targets = [os.readlink(os.path.join(top, name)) for name in os.listdir(top)]
            return sum(target.endswith(" (deleted)") for target in targets)
        with Server() as server:
            session = server.session()
            for _ in range(2):
                server.api("PUT", f"/sessions/{session}/data", b"a,b\n1,2\n3,4\n", Shoal_Name="t.csv")
                for kind in ("open", "profile", "values"):
                    server.job(session, kind, {"column": "a"})
            server.api("POST", f"/sessions/{session}/open", {"example": "hospital"})
            self.assertTrue(wait_until(lambda: uploads(server) == 1), uploads(server))

    def test_many_connections_at_once(self):
        with Server() as server:
            made = [server.connect() for _ in range(120)]
            try:
                self.assertEqual(200, server.status("GET /api/v1/files HTTP/1.1"))
                for one in made:
                    one.sendall(server.lines("GET /api/v1/files HTTP/1.1").encode())
                self.assertEqual({200}, {status_of(read_answer(one)) for one in made})
            finally:
                for one in made:
                    one.close()

    def test_control_c_ends_it_also_during_a_job(self):
        with Server() as server:
            session = server.session()
            server.api("POST", f"/sessions/{session}/open", {"example": "hospital"})
            body = '{"k": [%s]}' % ", ".join(["3"] * 64)
            made = server.connect()
            made.sendall((server.lines(f"POST /api/v1/sessions/{session}/jobs/frontier HTTP/1.1",
                                       f"Content-Length: {len(body)}") + body).encode())
            self.assertTrue(made.recv(100))
            code, err = server.stop()
            made.close()
            self.assertEqual((0, ""), (code, err))
            self.assertEqual([], server.leftovers())
            self.assertEqual([], os.listdir(server.private.name))

    def test_sigterm_ends_it(self):
        with Server() as server:
            server.process.send_signal(signal.SIGTERM)
            server.process.communicate(timeout=120)
            self.assertEqual(0, server.process.returncode)

    def test_uploads_have_no_name(self):
        with Server() as server:
            session = server.session()
            secret = b"name,age\n" + b"Zebulon Quirk,30\n" * 100
            server.api("PUT", f"/sessions/{session}/data", secret, Shoal_Name="people.csv")
            server.result(session, "profile")
            found = []
            for path in server.leftovers():
                self.assertTrue(os.path.islink(path), path)
                found.append(path)
            self.assertTrue(found)
            where = os.path.dirname(found[0])
            self.assertEqual(0o700, stat.S_IMODE(os.stat(where).st_mode))
            server.api("DELETE", f"/sessions/{session}")
            self.assertTrue(wait_until(lambda: not server.leftovers()))

    @unittest.skipUnless(os.getuid() == 0, "only root can become another user")
    def test_uploads_of_an_ordinary_user(self):
        """The process hides its memory, and with it /proc/PID/fd, from everybody but root and itself."""
        server = Server("/")
        server.words[0] = support.for_other_user(self, support.SHOAL)
        os.chmod(server.private.name, 0o777)
        server.words = ["setpriv", f"--reuid={support.OTHER_USER}", f"--regid={support.OTHER_USER}", "--clear-groups", *server.words]
        with server:
            session = server.session()
            server.api("POST", f"/sessions/{session}/open", {"example": "hospital"})
            self.assertEqual(60, server.result(session, "open")["rows"])
            self.assertTrue(server.result(session, "anonymize")["holds"])
            self.assertEqual(57, server.result(session, "attack")["answer"]["rows"])

    @unittest.skipUnless(os.environ.get("SHOAL_LONG"), "a minute of silence: make check-long")
    def test_it_ends_when_idle(self):
        with Server(None, "--idle-minutes", "1") as server:
            server.session()
            server.process.wait(timeout=600)
            self.assertEqual(0, server.process.returncode)
            self.assertEqual([], os.listdir(server.private.name))

    def test_the_browser_is_opened_on_a_private_file(self):
        with support.temp_dir() as directory:
            log = os.path.join(directory, "log")
            fake = os.path.join(directory, "xdg-open")
            with open(fake, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\n{{ stat -c %a "$1"; stat -c %a "$(dirname "$1")"; cat "$1"; echo "$1"; }} > {log}.new\n'
                           f"mv {log}.new {log}\n")
            os.chmod(fake, 0o755)
            server = Server(environment={"PATH": directory + ":" + os.environ["PATH"]})
            server.words.remove("--no-open")
            with server:
                self.assertTrue(wait_until(lambda: os.path.exists(log)))
                with open(log, encoding="utf-8") as file:
                    lines = file.read().splitlines()
                self.assertEqual(["600", "700"], lines[:2])
                self.assertIn(server.address, "\n".join(lines[2:-1]))
                self.assertNotIn(server.token, lines[-1])
                with open(f"/proc/{server.process.pid}/cmdline", "rb") as file:
                    self.assertNotIn(server.token.encode(), file.read())
            self.assertFalse(os.path.exists(lines[-1]))

    def test_the_first_line_has_the_address_and_nothing_else_is_printed(self):
        with Server() as server:
            self.assertRegex(server.line, r"http://127\.0\.0\.1:\d+/#[0-9a-f]{32}\b")
            server.process.send_signal(signal.SIGINT)
            out, err = server.process.communicate(timeout=120)
            self.assertEqual(("", ""), (out, err))

    def test_a_port_in_use(self):
        with Server() as server:
            done = subprocess.run([support.SHOAL, "serve", "--no-open", "--port", str(server.port)],
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(2, done.returncode)
            self.assertIn("--port", done.stderr)

    def test_tokens_differ(self):
        with Server() as one, Server() as two:
            self.assertNotEqual(one.token, two.token)
            self.assertEqual(401, one.status("GET /api/v1/files HTTP/1.1", f"Shoal-Token: {two.token}", token=False))

    def test_wrong_files_on_the_command_line(self):
        for words in (["missing.csv"], ["-P", "missing.yaml"], ["--port", "70000"], ["a", "b"]):
            done = support.shoal("serve", "--no-open", *words)
            self.assertEqual(2, done.code, words)


if __name__ == "__main__":
    unittest.main()
