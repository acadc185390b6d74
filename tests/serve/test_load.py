# SPDX-License-Identifier: Apache-2.0
"""Many clients at once: every request is answered, nothing is lost, memory is bounded and returned."""
import json
import os
import random
import threading
import time
import unittest

import support
from serving import Server, wait_until

LONG = bool(os.environ.get("SHOAL_LONG"))
CLIENTS, REQUESTS = (500, 10000) if LONG else (40, 240)


def setUpModule():
    support.require_program()


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Load(unittest.TestCase):
    def test_clients_in_parallel(self):
        with Server() as server:
            sessions = [server.session() for _ in range(16)]
            for session in sessions:
                server.api("POST", f"/sessions/{session}/open", {"example": "hospital"})
            wrong, lock, left = [], threading.Lock(), [REQUESTS]

            def ask(rng):
                session = rng.choice(sessions)
                kind = rng.randrange(5)
                if kind == 0:
                    path = f"/api/v1/sessions/{session}/jobs/" + rng.choice(("check", "conditions", "lattice", "nodes"))
                    status, _, text = server.request("POST", path, {"nodes": []})
                    while status == 503:  # too many jobs at once: it asks again
                        time.sleep(0.02)
                        status, _, text = server.request("POST", path, {"nodes": []})
                    last = json.loads(text.strip().splitlines()[-1])
                    return "result" in last or last["error"]["status"] == 4  # replaced by another client
                if kind == 1:
                    return server.request("GET", "/")[0] == 200
                if kind == 2:
                    return server.request("GET", "/api/v1/files", Shoal_Token="0" * 32)[0] == 401
                if kind == 3:
                    return server.request("POST", f"/api/v1/sessions/{session}/rows", {"from": 0, "n": 5})[0] in (200, 409)
                return json.loads(server.request("GET", f"/api/v1/sessions/{session}")[2])["data"]["name"] == "patients.csv"

            def client(seed):
                rng = random.Random(seed)
                while True:
                    with lock:
                        if not left[0]:
                            return
                        left[0] -= 1
                    try:
                        if not ask(rng):
                            raise AssertionError("a wrong answer")
                    except Exception as error:  # pylint: disable=broad-except
                        with lock:
                            wrong.append(repr(error)[:300])

            threads = [threading.Thread(target=client, args=(seed,)) for seed in range(CLIENTS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual([], wrong[:5])
            self.assertEqual((0, ""), server.stop())

    def test_memory_is_returned(self):
        """Of a table that is closed; AddressSanitizer keeps freed memory, so the plain build is asked."""
        plain = os.path.join(os.environ.get("SHOAL_PLAIN_BUILD", str(support.ROOT / "build")), "shoal")
        rows = 400000 if LONG else 60000
        body = b"a,b,c\n" + b"".join(b"%d,%d,x%d\n" % (i, i * 7919 % 1000003, i * 31) for i in range(rows))
        server = Server()
        server.words[0] = plain
        with server:
            session = server.session()
            before = resident_bytes(server.process.pid)
            for _ in range(4):
                server.api("PUT", f"/sessions/{session}/data", body, Shoal_Name="table.csv")
                self.assertIn("result", server.job(session, "open")[-1])
            held = resident_bytes(server.process.pid)
            server.api("DELETE", f"/sessions/{session}")
            grown = held - before
            self.assertTrue(wait_until(lambda: resident_bytes(server.process.pid) - before < max(grown / 2, 8 << 20)),
                            (before, held, resident_bytes(server.process.pid)))


if __name__ == "__main__":
    unittest.main()
