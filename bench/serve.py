# SPDX-License-Identifier: Apache-2.0
"""Measures what a steward waits for in the workbench: `bench/run.py --only serve`. The client is on the same machine; a
time is from the request to the last byte of the answer, the least of several."""
import http.client
import json
import os
import re
import shutil
import subprocess
import time

from common import Goals, generated, preface, table
from data import EIGHT


class Server:
    def __init__(self, build, folder):
        self.process = subprocess.Popen([os.path.join(build, "shoal"), "serve", "--no-open"], cwd=folder,
                                        stdout=subprocess.PIPE, text=True)
        port, self.token = re.search(r":(\d+)/#(\w+)", self.process.stdout.readline()).groups()
        self.client = http.client.HTTPConnection("127.0.0.1", int(port))
        self.origin = f"http://127.0.0.1:{port}"
        self.session = json.loads(self.ask("POST", "/api/v1/sessions"))["session"]

    def ask(self, method, path, body=None):
        self.client.request(method, path, None if body is None else body if isinstance(body, bytes) else json.dumps(body),
                            {"Shoal-Token": self.token, "Origin": self.origin, "Shoal-Name": "table.csv"})
        return self.client.getresponse().read()

    def at(self, method, path, body=None):
        return self.ask(method, f"/api/v1/sessions/{self.session}{path}", body)

    def job(self, kind, request=None):
        last = json.loads(self.at("POST", f"/jobs/{kind}", request or {}).decode().strip().split("\n")[-1])
        if "result" not in last:
            raise RuntimeError(f"{kind}: {last}")
        return last["result"]

    def end(self):
        self.client.close()
        self.process.terminate()
        self.process.wait()


def least(work, repeats):
    seen = []
    for i in range(repeats):
        started = time.perf_counter()
        work(i)
        seen.append(time.perf_counter() - started)
    return min(seen)


def open_wide(server, bench, rows):
    """Opens a generated table of 15 columns."""
    path = os.path.join(bench.folder, "wide.csv")
    made = subprocess.run([os.path.join(bench.build, "census"), str(rows), "1", "--wide"], stdout=subprocess.PIPE, check=True)
    lines = made.stdout.splitlines()
    with open(path, "wb") as out:  # 12 columns, and three more
        out.write(lines[0] + b",x,y,z\n")
        out.writelines(b"%s,%d,%d,%d\n" % (line, i % 97, i % 1009, i * 7919 % 100003) for i, line in enumerate(lines[1:]))

    def work(_):
        server.at("POST", "/open", {"data": "wide.csv"})
        server.job("open")
    opening = least(work, 3)
    profiling = least(lambda _: server.job("profile"), 1)
    return opening, profiling, len(server.job("open")["preview"]["columns"])


def prepare_adult(server, bench):
    """Adult with eight quasi-identifiers, in the folder of the server."""
    for column, path in bench.adult.files.items():
        shutil.copy(path, os.path.join(bench.folder, f"level-{column}.csv"))
    shutil.copy(bench.adult.csv, os.path.join(bench.folder, "adult.csv"))
    lines = ["shoal: 1", "unlisted: drop", "attributes:", *(f"  {c}: {{role: quasi, hierarchy: {{file: level-{c}.csv}}}}" for c in EIGHT),
             "privacy: {k: 5}", "method: {max-suppression: 2%}"]
    server.at("POST", "/open", {"data": "adult.csv"})
    server.at("PUT", "/policy", "\n".join(lines).encode() + b"\n")


def section(bench):
    about = preface("serve", bench.quick, bench.adult.real)
    goals = Goals()
    rows = 200_000 if bench.quick else 1_000_000
    local_rows = 20_000 if bench.quick else 100_000
    server = Server(bench.build, bench.folder)
    try:
        opening, profiling, columns = open_wide(server, bench, rows)
        prepare_adult(server, bench)
        lattice = least(lambda _: server.job("lattice"), 3)
        tops = server.job("nodes", {"nodes": []})["tops"]
        names = list(tops)
        steps = [dict.fromkeys(names, 1) | {names[i % len(names)]: min(2, tops[names[i % len(names)]])} for i in range(24)]
        slider = [least(lambda _, node=node: server.job("nodes", {"nodes": [node]}), 3) for node in steps]
        nodes = len(server.job("lattice")["answer"]["nodes"])
        census = generated(bench.build, local_rows, 1, os.path.join(bench.folder, "census.csv"))
        server.at("POST", "/open", {"data": os.path.basename(census)})
        server.at("PUT", "/policy", server.job("profile")["policy"].replace("decide: true", "decide: false").encode())
        local = least(lambda _: server.job("anonymize"), 1)
    finally:
        server.end()
    goals.add("seconds to open 1,000,000 rows of 15 columns (read, first rows shown)", "at most", 3, None if bench.quick else opening)
    goals.add("milliseconds to change one level of Adult, the slowest of 24", "at most", 50, 1000 * max(slider))
    return ["## Workbench", "", about, "",
            f"Seconds from the request to the last byte of the answer of `shoal serve`. Adult: {bench.adult.name}, eight quasi-identifiers. "
            "The local release is that of the suggested policy, with verification, report, certificate and mapping.", "", *goals.section(),
            *table(["what", "seconds"], [
                [f"open a generated table, {rows:,} rows, {columns} columns: its first rows", f"{opening:.2f}"],
                ["profile it: roles and a first policy", f"{profiling:.2f}"],
                [f"lattice of Adult, {nodes:,} nodes", f"{lattice:.3f}"],
                ["one node of Adult, median of 24", f"{sorted(slider)[len(slider) // 2]:.4f}"],
                ["one node of Adult, the slowest of 24", f"{max(slider):.4f}"],
                [f"local release, {local_rows:,} rows", f"{local:.1f}"]]), ""]
