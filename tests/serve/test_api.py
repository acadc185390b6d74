# SPDX-License-Identifier: Apache-2.0
"""The API: its answers are those of the command line, jobs stream and can be replaced and cancelled, its page in docs/
lists what it routes."""
import json
import re
import unittest

import support
from serving import Server

HOSPITAL = support.ROOT / "examples" / "hospital"


def setUpModule():
    support.require_program()


def steady(answer):
    """Without what differs from run to run: times, memory, file names and their hashes."""
    return {key: value for key, value in answer.items()
            if key not in ("seconds", "peak_memory_bytes", "files", "settings", "original", "seed", "order")}


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        code, err = cls.server.stop()
        cls.server.__exit__()
        if code or err:
            raise AssertionError(f"the server ended with {code}: {err}")

    def setUp(self):
        self.session = self.server.session()
        self.addCleanup(self.server.request, "DELETE", f"/api/v1/sessions/{self.session}")

    def open(self, policy="policy.yaml"):
        self.server.api("POST", f"/sessions/{self.session}/open", {"data": "hospital/patients.csv"})
        return self.server.api("POST", f"/sessions/{self.session}/open", {"policy": f"hospital/{policy}"})

    def cli(self, command, *words):
        return support.shoal(command, HOSPITAL / "patients.csv", *words, "--json", cwd=HOSPITAL).json()

    def test_documentation_lists_the_table(self):
        catalog = self.server.api("GET", "/catalog")
        page = (support.ROOT / "docs" / "api.md").read_text(encoding="utf-8")
        routes = re.findall(r"^\| (GET|POST|PUT|DELETE) \| `([^`]+)` \| (.*) \|$", page, re.M)
        self.assertEqual([(r["method"], r["path"], r["summary"]) for r in catalog["routes"]], routes)
        jobs = re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.M)
        self.assertEqual([(j["name"], j["summary"]) for j in catalog["jobs"]], jobs)

    def test_answers_are_those_of_the_command_line(self):
        self.open()
        for kind in ("check", "conditions", "lattice", "explain"):
            self.assertEqual(steady(self.cli(kind, "-P", "policy.yaml")),
                             steady(self.server.result(self.session, kind)["answer"]), kind)
        self.assertEqual(self.cli("profile"), self.server.result(self.session, "profile")["answer"])

    def release_equals(self, policy):
        self.open(policy)
        made = self.server.result(self.session, "anonymize")
        with support.temp_dir() as directory:
            out = f"{directory}/release.csv"
            words = ["-P", HOSPITAL / policy, "-o", out, "--seed", made["seed"], "--certificate", f"{directory}/c.html",
                     "--mapping", f"{directory}/m.csv"]
            done = support.shoal("anonymize", HOSPITAL / "patients.csv", *words)
            self.assertEqual(0, done.code, done)
            for name, path in (("release", out), ("certificate", f"{directory}/c.html"), ("mapping", f"{directory}/m.csv")):
                status, _, body = self.server.request("GET", f"/api/v1/sessions/{self.session}/download/{name}")
                with open(path, "rb") as file:
                    self.assertEqual((200, file.read()), (status, body), name)
        status, _, body = self.server.request("GET", f"/api/v1/sessions/{self.session}/download/policy")
        self.assertEqual((200, (HOSPITAL / policy).read_bytes()), (status, body))
        status, _, body = self.server.request("GET", f"/api/v1/sessions/{self.session}/download/report")
        self.assertEqual(200, status)
        self.assertIn(b"<html", body)
        return made

    def test_the_uniform_release_is_that_of_the_command_line(self):
        made = self.release_equals("policy.yaml")
        self.assertEqual("holds-with-risks", made["answer"]["verdict"])
        for kind in ("measure", "attack"):
            self.assertIn("answer", self.server.result(self.session, kind))

    def test_the_local_release_is_that_of_the_command_line(self):
        self.release_equals("local.yaml")

    def test_two_releases_cannot_be_put_side_by_side(self):
        """The seed decides the order of the rows: each release has its own, too long to be guessed."""
        self.open()
        seeds = [int(self.server.result(self.session, "anonymize")["seed"]) for _ in range(4)]
        self.assertEqual(4, len(set(seeds)))
        self.assertGreater(max(seeds), 1 << 52)

    def test_numbers_that_may_be_codes_stay_as_they_are(self):
        policy = "shoal: 1\nattributes:\n  a: {role: quasi, hierarchy: {tree: {A: [1.10, 1.5, -0, 7, 0.5]}}}\n"
        model = self.server.api("PUT", f"/sessions/{self.session}/policy", policy)["policy"]["model"]
        self.assertEqual(["1.10", 1.5, "-0", 7, 0.5], model["attributes"]["a"]["hierarchy"]["tree"]["A"])

    def test_nodes_are_those_of_the_lattice(self):
        self.open()
        listed = self.server.result(self.session, "lattice")["answer"]["nodes"]
        made = self.server.result(self.session, "nodes", {"nodes": [n["node"] for n in listed]})
        self.assertEqual({"age": 4, "zip": 5, "sex": 1, "marital": 2}, made["tops"])
        for known, found in zip(listed, made["nodes"]):
            for key in ("height", "suppressed", "classes"):
                self.assertEqual(known[key], found[key], known)
            self.assertEqual(known["satisfies"] and known["classes"] > 0, found["satisfies"], known)
        chosen = self.server.result(self.session, "anonymize")["answer"]
        at = [n["node"] for n in listed].index(chosen["search"]["node"])
        self.assertAlmostEqual(chosen["measures"]["nil"], made["nodes"][at]["loss"])
        self.assertEqual(chosen["output"]["smallest_class"], made["nodes"][at]["smallest_class"])

    def test_classes_of_a_node_add_up(self):
        self.open()
        for node in self.server.result(self.session, "lattice")["answer"]["nodes"]:
            made = self.server.result(self.session, "nodes", {"nodes": [node["node"]], "classes": ["age", "sex"]})
            figures, classes = made["nodes"][0], made["classes"]
            self.assertEqual(figures["classes"], sum(size["classes"] for size in classes["sizes"]), node)
            self.assertEqual(figures["suppressed"], classes["suppressed"], node)
            for counts in classes["labels"].values():
                self.assertEqual(figures["rows"], sum(counts.values()), node)
            self.assertEqual(figures["rows"], sum(sum(row.values()) for row in classes["pair"].values()), node)
            self.assertEqual({a: sum(row.values()) for a, row in classes["pair"].items()}, classes["labels"]["age"], node)
            self.assertEqual(min(20, figures["classes"]), len(classes["smallest"]), node)
            if classes["smallest"]:
                self.assertEqual(figures["smallest_class"], classes["smallest"][0]["rows"], node)
                rows = [c["rows"] for c in classes["smallest"]]
                self.assertEqual(sorted(rows), rows, node)
                self.assertTrue(all(c["values"] >= 2 for c in classes["smallest"]), node)  # the policy has p: 2
            self.assertEqual(0, classes["one_value"], node)
        self.assertNotIn("pair", self.server.result(self.session, "nodes", {"nodes": [node["node"]], "classes": []})["classes"])
        self.assertNotIn("classes", self.server.result(self.session, "nodes", {"nodes": [node["node"]]}))

    def test_wrong_nodes_are_refused(self):
        self.open()
        for node in ({}, {"age": 1}, {"age": 9, "zip": 0, "sex": 0, "marital": 0}, {"age": "1", "zip": 0, "sex": 0, "marital": 0}):
            self.assertEqual(2, self.server.job(self.session, "nodes", {"nodes": [node]})[-1]["error"]["status"])

    def test_points_of_the_frontier(self):
        self.open("local.yaml")
        lines = self.server.job(self.session, "frontier", {"k": [2, 3, 1000], "p": [1, 50]})
        points = lines[-1]["result"]["points"]
        self.assertEqual(points, [line["point"] for line in lines if "point" in line])
        self.assertEqual([("k", 2), ("k", 3), ("k", 1000), ("p", 1), ("p", 50)], [(p["key"], p["value"]) for p in points])
        self.assertLess(points[0]["measures"]["nil"], points[1]["measures"]["nil"])
        self.assertIn("refused", points[2])
        self.assertIn("refused", points[4])

    def test_undo_and_redo(self):
        first = self.open()["policy"]["yaml"]
        state = self.server.api("PUT", f"/sessions/{self.session}/policy", first.replace("k: 3", "k: 4"))
        self.assertEqual(4, state["policy"]["model"]["privacy"]["k"])
        back = self.server.api("POST", f"/sessions/{self.session}/undo")
        self.assertEqual(first, back["policy"]["yaml"])
        self.assertEqual(1, back["redo"])
        again = self.server.api("POST", f"/sessions/{self.session}/redo")
        self.assertEqual(4, again["policy"]["model"]["privacy"]["k"])
        self.server.api("POST", f"/sessions/{self.session}/redo", expect=409)

    def test_a_wrong_policy_is_kept_with_its_error(self):
        state = self.open()
        wrong = self.server.api("PUT", f"/sessions/{self.session}/policy", state["policy"]["yaml"] + "nonsense: 1\n")
        self.assertIn("nonsense", wrong["policy"]["error"])
        self.assertEqual(2, self.server.job(self.session, "check")[-1]["error"]["status"])
        broken = self.server.api("PUT", f"/sessions/{self.session}/policy", "a: [")
        self.assertIsNone(broken["policy"]["model"])
        self.assertIsNotNone(broken["policy"]["error"])
        self.assertEqual(state["policy"]["yaml"], self.server.api("POST", f"/sessions/{self.session}/undo") and
                         self.server.api("POST", f"/sessions/{self.session}/undo")["policy"]["yaml"])

    def test_changed_roles_read_the_table_again(self):
        state = self.open()
        self.server.result(self.session, "check")
        text = state["policy"]["yaml"].replace("ward:    {role: keep}", "ward:    {role: sensitive}").replace("kept: [ward]",
                                                                                                      "kept: []")
        self.server.api("PUT", f"/sessions/{self.session}/policy", text)
        models = self.server.result(self.session, "check")["answer"]["models"]
        self.assertIn("ward", [m.get("attribute") for m in models])

    def test_a_broken_file(self):
        for body in (b"a,b\n1,2\n3\n", b"a,b\n\"1,2\n", b"\0\1\2\3" * 100, b"a\n"):
            self.server.api("PUT", f"/sessions/{self.session}/data", body, Shoal_Name="broken.csv")
            last = self.server.job(self.session, "profile")[-1]
            self.assertEqual(2, last["error"]["status"], body)
            self.assertIn("broken.csv", last["error"]["message"])
            self.assertNotIn("/tmp", last["error"]["message"])
        self.server.api("PUT", f"/sessions/{self.session}/data", b"", expect=400)

    def test_a_compressed_upload(self):
        import gzip
        body = gzip.compress((HOSPITAL / "patients.csv").read_bytes())
        self.server.api("PUT", f"/sessions/{self.session}/data", body, Shoal_Name="patients.csv.gz")
        self.assertEqual(60, self.server.result(self.session, "profile")["answer"]["rows"])

    def test_values_and_rows(self):
        self.server.api("POST", f"/sessions/{self.session}/rows", {"from": 0, "n": 2}, expect=409)
        self.open()
        self.server.result(self.session, "profile")
        rows = self.server.api("POST", f"/sessions/{self.session}/rows", {"from": 59, "n": 20})
        self.assertEqual((60, 1), (rows["total"], len(rows["rows"])))
        self.server.api("POST", f"/sessions/{self.session}/open", {"delimiter": ";"})  # to be read in another way
        self.server.api("POST", f"/sessions/{self.session}/rows", {"from": 0, "n": 2}, expect=409)
        self.open()
        values = self.server.result(self.session, "values", {"column": "sex"})["values"]
        self.assertEqual({"F": 30, "M": 30}, dict(values))
        self.assertEqual(2, self.server.job(self.session, "values", {"column": "nothing"})[-1]["error"]["status"])

    def test_a_newer_job_replaces_an_older_one(self):
        self.open("local.yaml")
        body = json.dumps({"k": [3] * 64})
        with self.server.connect() as made:
            made.sendall((self.server.lines(f"POST /api/v1/sessions/{self.session}/jobs/frontier HTTP/1.1",
                                            f"Content-Length: {len(body)}") + body).encode())
            data = made.recv(1000)
            newer = self.server.result(self.session, "frontier", {"k": [2]})
            while b'"error"' not in data and b'"result"' not in data:
                part = made.recv(65536)
                if not part:
                    break
                data += part
        self.assertEqual(1, len(newer["points"]))
        self.assertIn(b'"status":4', data)

    def test_a_job_can_be_cancelled(self):
        self.open("local.yaml")
        body = json.dumps({"k": [3] * 64})
        with self.server.connect() as made:
            made.sendall((self.server.lines(f"POST /api/v1/sessions/{self.session}/jobs/frontier HTTP/1.1",
                                            f"Content-Length: {len(body)}") + body).encode())
            data = made.recv(1000)
            self.server.api("DELETE", f"/sessions/{self.session}/jobs/frontier")
            while b'"error"' not in data and b'"result"' not in data:
                part = made.recv(65536)
                if not part:
                    break
                data += part
        self.assertIn(b'"status":4', data)
        self.server.api("DELETE", f"/sessions/{self.session}/jobs/nothing", expect=404)

    def test_jobs_without_data_or_policy(self):
        for kind in ("profile", "check", "anonymize", "nodes", "measure"):
            self.assertEqual(2, self.server.job(self.session, kind)[-1]["error"]["status"], kind)

    def test_the_command_line_opens_data_and_policy(self):
        with Server(HOSPITAL, "patients.csv", "-P", "policy.yaml") as server:
            state = server.api("POST", "/sessions")
            self.assertEqual("patients.csv", state["data"]["name"])
            self.assertTrue(server.result(state["session"], "anonymize")["holds"])
        with Server("/", HOSPITAL / "patients.csv", "-P", HOSPITAL / "policy.yaml") as server:
            self.assertTrue(server.result(server.session(), "anonymize")["holds"])


if __name__ == "__main__":
    unittest.main()
