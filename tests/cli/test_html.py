# SPDX-License-Identifier: Apache-2.0
"""The page of --html: well-formed, alone, true to the release, and without anything raw.

What needs a browser runs where `chromium` is installed and is skipped by name elsewhere.
"""

import collections
import csv
import hashlib
import html.parser
import http.server
import io
import json
import pathlib
import re
import shutil
import subprocess
import threading
import unittest

import clitest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSPITAL = ROOT / "examples" / "hospital"
CHROMIUM = shutil.which("chromium")

VOID = {"meta", "br", "hr", "input", "wbr"}
# SVG elements are closed or close themselves: html.parser tells both.
FORBIDDEN = {"script", "link", "img", "image", "iframe", "object", "embed", "audio", "video", "source",
             "base", "form", "foreignobject", "use", "animate"}
SECTIONS = {
    "anonymize": ["summary", "columns", "sample", "protection", "risk", "attributes", "choice",
                  "utility", "attacks", "suppressed", "repeat", "sign"],
    "check": ["summary", "columns", "protection", "risk", "repeat", "sign"],
    "lattice": ["summary", "columns", "choice", "repeat", "sign"],
    "measure": ["summary", "columns", "risk", "utility", "repeat", "sign"],
    "attack": ["summary", "columns", "risk", "attacks", "repeat", "sign"],
}


def patients():
    text = (HOSPITAL / "patients.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


class Page(html.parser.HTMLParser):
    """Reads a page strictly: what is opened is closed, in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.links, self.tags = [], [], [], [], []
        self.sections, self.untitled, self.text, self.colspans = [], 0, [], []
        self.tables, self.cell = [], None
        self.visible = []  # text inside <body>
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        self.start(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        if "svg" not in self.open:
            self.wrong.append(f"<{tag}/> outside a picture")
        self.start(tag, attributes)

    def start(self, tag, attributes):
        named = dict(attributes)
        if len(named) != len(attributes):
            self.wrong.append(f"<{tag}> has an attribute twice")
        self.tags.append(tag)
        if tag in FORBIDDEN:
            self.wrong.append(f"<{tag}>")
        for name, value in attributes:
            if name in ("src", "srcset", "data", "action", "poster", "background", "xlink:href") or \
                    name.startswith("on"):
                self.wrong.append(f"{name}=")
            if name == "href" and not value.startswith("#"):
                self.wrong.append(f"href={value}")
        self.links += [value[1:] for name, value in attributes if name == "href"]
        if "id" in named:
            self.ids.append(named["id"])
        if tag == "section":
            self.sections.append(named.get("id"))
        if tag == "svg" and named.get("role") == "img":
            self.untitled += 1
        if tag == "title" and "svg" in self.open:
            self.untitled -= self.open[-1] == "svg"
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.cell = True

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style",):
            self.text.append(data)
            if "body" in self.open and data.strip():
                self.visible.append(data.strip())
        if self.cell:
            self.tables[-1][-1][-1] += data


class Case(clitest.Case):
    def page(self, command, *words, html="page.html", code=0):
        output = ["-o", "out.csv"] if command == "anonymize" else []
        self.succeed(command, *words, *output, "--html", html, code=code)
        return self.read(html).decode("utf-8")

    def hospital(self, policy="policy.yaml", *words):
        return self.page("anonymize", HOSPITAL / "patients.csv", "-P", HOSPITAL / policy,
                         "--report", "report.json", *words)

    def report(self):
        return json.loads(self.read("report.json"))

    def released(self, name="out.csv"):
        return list(csv.DictReader(io.StringIO(self.read(name).decode("utf-8"))))

    def assert_stands_alone(self, text, command):
        page = Page(text)
        self.assertEqual([], page.wrong)
        self.assertEqual(0, page.untitled, "a picture without a title")
        self.assertEqual(len(page.ids), len(set(page.ids)), "an id stands twice")
        self.assertEqual(set(), set(page.links) - set(page.ids), "a link leads nowhere")
        self.assertEqual(SECTIONS[command], [s for s in page.sections if s in SECTIONS[command]])
        self.assertNotRegex(text, r"(?i)https?://|//[a-z]|@import|javascript:|<!--")
        self.assertEqual([], [u for u in re.findall(r"url\(([^)]*)\)", text) if not u.startswith("#")])
        self.assertIn("default-src 'none'", text)
        self.assertIn("prefers-color-scheme:dark", text)
        self.assertIn("@media print", text)
        self.assertIn('name="viewport"', text)
        self.assertEqual("Internal report: not for publication. It contains statistics of the original table.",
                         page.visible[0])
        return page


class Shape(Case):
    def test_a_full_domain_release(self):
        page = self.assert_stands_alone(self.hospital(), "anonymize")
        self.assertIn("svg", page.tags)

    def test_a_release_by_local_recoding(self):
        self.assert_stands_alone(self.hospital("local.yaml"), "anonymize")

    def test_a_check_that_holds_and_one_that_does_not(self):
        words = (HOSPITAL / "patients.csv", "-P", HOSPITAL / "policy.yaml")
        text = self.page("check", *words, code=1)
        self.assert_stands_alone(text, "check")
        self.assertIn("does not satisfy", text)
        self.hospital()
        text = self.page("check", "out.csv", "-P", HOSPITAL / "policy.yaml")
        self.assert_stands_alone(text, "check")
        self.assertIn("satisfies every model", text)

    def test_a_lattice(self):
        text = self.page("lattice", HOSPITAL / "patients.csv", "-P", HOSPITAL / "policy.yaml")
        self.assert_stands_alone(text, "lattice")

    def test_a_release_measured_and_attacked(self):
        self.hospital()
        patients_csv, policy = HOSPITAL / "patients.csv", HOSPITAL / "policy.yaml"
        text = self.page("measure", patients_csv, "out.csv", "-P", policy)
        self.assert_stands_alone(text, "measure")
        text = self.page("attack", "out.csv", "-P", policy, "--original", patients_csv)
        self.assert_stands_alone(text, "attack")

    def test_names_and_cells_cannot_become_markup(self):
        evil = '<script src=http://x.test>"&'
        rows = [["n", "20", evil], ["n", "21", evil], ["n", "22", evil], ["n", "23", "b"]]
        self.write_data(rows, ["<b onload=x>", "<img>", "<script>"])
        self.write_policy({"<b onload=x>": {"role": "identifier"}, "<script>": {"role": "keep"},
                           "<img>": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10]}}},
                          k=2, p=None)
        text = self.page("anonymize", "data.csv", "-P", "policy.yaml")
        page = Page(text)
        self.assertEqual([], page.wrong)
        self.assertIn(evil, "".join(page.text))

    def test_the_committed_example_is_such_a_page(self):
        self.assert_stands_alone((ROOT / "docs" / "example-report.html").read_text("utf-8"), "anonymize")


class Files(Case):
    WORDS = ("data.csv", "-P", "policy.yaml")

    def test_the_page_goes_with_release_report_and_standard_output(self):
        out = self.succeed("anonymize", *self.WORDS, "-o", "-", "--html", "p.html", "--report", "r.json",
                           "--seed", "1", "--keep-order").out
        self.assertEqual(out, self.release("--seed", "1"))
        self.assertIn("Release report", self.read("p.html").decode())
        files = {f["use"]: f["sha256"] for f in json.loads(self.read("r.json"))["files"]}
        self.assertEqual(hashlib.sha256(out).hexdigest(), files["release"])

    def test_the_same_seed_gives_the_same_page_for_any_threads(self):
        pages = set()
        for threads in (1, 2, 5):
            self.succeed("anonymize", *self.WORDS, "-o", "o.csv", "--html", "p.html", "--seed", "4",
                         "--threads", threads)
            pages.add(self.read("p.html"))
        self.assertEqual(1, len(pages))

    def test_a_refused_release_leaves_no_page(self):
        before = self.snapshot()
        self.succeed("anonymize", *self.WORDS, "-o", "o.csv", "--html", "p.html", "-p", "9", "-k", "9",
                     code=2)
        self.assertEqual(before, self.snapshot())

    def test_wrong_names_are_reported_before_the_work(self):
        before = self.snapshot()
        for path, pattern in (("-", "needs a file name"), ("data.csv", "overwrite the data"),
                              ("policy.yaml", "overwrite the policy"), ("o.csv", "name the same file"),
                              ("r.json", "name the same file"), ("town.csv", "the policy reads this file"),
                              ("none/p.html", "directory does not exist")):
            result = self.succeed("anonymize", *self.WORDS, "-o", "o.csv", "--report", "r.json",
                                  "--html", path, code=2)
            self.assert_says(result, pattern)
        self.assertEqual(before, self.snapshot())

    def test_commands_without_a_page_say_so(self):
        self.assert_says(self.succeed("explain", *self.WORDS, "--html", "p.html", code=2),
                         "takes no option '--html'")


class Truth(Case):
    """What the page and the JSON say, counted again from the files."""

    def test_hashes_are_those_of_the_files(self):
        text = self.hospital()
        named = {f["use"]: f["sha256"] for f in self.report()["files"]}
        for use, path in (("policy", HOSPITAL / "policy.yaml"), ("hierarchy", HOSPITAL / "marital.csv"),
                          ("release", self.dir / "out.csv")):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            self.assertEqual(digest, named[use])
            self.assertIn(digest, text)

    def test_the_rows_shown_are_rows_of_the_release(self):
        for policy in ("policy.yaml", "local.yaml"):
            page = Page(self.hospital(policy))
            sample = self.report()["sample"]
            rows = collections.Counter(tuple(row[c] for c in sample["columns"]) for row in self.released())
            self.assertEqual(10, len(sample["rows"]))
            shown = collections.Counter(map(tuple, sample["rows"]))
            self.assertEqual(collections.Counter(), shown - rows)
            table = next(t for t in page.tables if t[0] == sample["columns"])
            self.assertEqual(sample["rows"], table[1:])

    def attribute(self, name):
        return next(a for a in self.report()["attributes"] if a["attribute"] == name)

    def test_distributions_are_counted_from_the_files(self):
        self.hospital()
        raw = patients()
        decade = lambda age: f"[{int(age) // 10 * 10}-{int(age) // 10 * 10 + 9}]"
        before = {"age": [decade(r["age"]) for r in raw], "zip": [r["zip"][:4] + "*" for r in raw],
                  "illness": [r["illness"] for r in raw]}
        for name, labels in before.items():
            after = collections.Counter(r[name] for r in self.released())
            before_counts = collections.Counter(labels)
            distribution = self.attribute(name)["distribution"]
            for entry in distribution:
                if entry["label"] is not None:
                    self.assertEqual((before_counts[entry["label"]], after[entry["label"]]),
                                     (entry["before"], entry["after"]), entry)
            self.assertEqual(60, sum(e["before"] for e in distribution))
            self.assertEqual(57, sum(e["after"] for e in distribution))
        self.assertEqual(["[20-29]", "[30-39]", "[40-49]", "[50-59]", "[60-69]"],
                         [e["label"] for e in self.attribute("age")["distribution"]])

    def test_class_sizes_are_counted_from_the_files(self):
        self.hospital()
        quasi = ("age", "zip", "sex", "marital")
        raw = patients()
        for rows, side in ((raw, "before"), (self.released(), "after")):
            sizes = collections.Counter(tuple(r[q] for q in quasi) for r in rows)
            for row in self.report()["class_sizes"]:
                expected = sum(n for n in sizes.values()
                               if row["from"] <= n <= (row["to"] or 10 ** 9))
                self.assertEqual(expected, row[side], row)

    def test_what_was_suppressed_and_why(self):
        text = self.hospital()
        self.assertEqual([("k-anonymity", 0, 0), ("p-sensitive", 3, 1)],
                         [(c["model"], c["rows"], c["classes"]) for c in self.report()["suppressed_by"]])
        self.assertIn("3 records were removed", text)

    def test_attacks_and_utility_are_those_of_the_commands(self):
        """What `attack` and `measure` say of the release afterwards is what the page's JSON has."""
        for policy in ("policy.yaml", "local.yaml"):
            self.hospital(policy)
            report = self.report()
            words = ("-P", HOSPITAL / policy, "--json")
            attacks = self.run_shoal("attack", "out.csv", "--original", HOSPITAL / "patients.csv", *words).json()
            strip = lambda a: {k: v for k, v in a.items() if k not in ("counts", "examples")}
            self.assertEqual([strip(a) for a in attacks["attacks"]], [strip(a) for a in report["attacks"]])
            self.assertGreater(len(report["attacks"]), 5)
            measured = self.succeed("measure", HOSPITAL / "patients.csv", "out.csv", *words).json()
            for key in ("loss", "ncp", "precision", "ambiguity", "dm"):
                self.assertEqual(self.find(measured, key), report["utility"][key], key)

    def find(self, tree, key):
        """The first number under `key`, wherever it stands."""
        for name, value in tree.items():
            if name == key and not isinstance(value, dict):
                return value
        for value in tree.values():
            if isinstance(value, dict):
                found = self.find(value, key)
                if found is not None:
                    return found
        return None

    def test_cluster_sizes_add_up(self):
        self.hospital("local.yaml")
        report = self.report()
        self.assertEqual(report["output"]["clusters"], sum(c["clusters"] for c in report["cluster_sizes"]))
        self.assertEqual(60, sum(c["size"] * c["clusters"] for c in report["cluster_sizes"]))

    def test_the_lattice_shows_the_node_that_was_taken(self):
        rows = [["n", str(20 + i), "ab"[i % 2]] for i in range(8)]
        self.write_data(rows, ["name", "age", "sex"])
        self.write_policy({"name": {"role": "identifier"}, "sex": {"role": "quasi", "hierarchy": {"top": True}},
                           "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [4]}}},
                          k=2, p=None)
        text = self.page("anonymize", "data.csv", "-P", "policy.yaml", "--report", "report.json")
        node = self.report()["search"]["node"]
        chosen = re.findall(r'<g class="node[^"]*chosen"><title>([^<]*)</title>', text)
        self.assertEqual(1, len(chosen))
        self.assertIn(f"age {node['age']}, sex {node['sex']},", chosen[0])


class Secrets(Case):
    """Marker values in identifiers, suppressed rows and small classes: nowhere in page or JSON."""

    ATTRIBUTES = {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10, 100]}},
        "town": {"role": "quasi", "hierarchy": {"top": True}},
        "illness": {"role": "sensitive"},
        "ward": {"role": "keep"},
    }

    def rows(self):
        """Two towns of five; four rows that stand alone in a town and decade of their own."""
        rows = [[f"MARKNAME{i}", f"{20 + i % 10}", f"town{i % 2}", f"ill{i // 2 % 3}", f"ward{i % 2}"]
                for i in range(20)]
        rows += [[f"MARKNAME{90 + i}", f"{71000 + 100 * i}", f"MARKTOWN{i}", f"MARKILL{i}", f"MARKWARD{i}"]
                 for i in range(4)]
        return rows

    def outputs(self, *words, code=0, command="anonymize"):
        extra = ["-o", "out.csv"] if command == "anonymize" else []
        result = self.succeed(command, "data.csv", "-P", "policy.yaml", *extra, "--html", "p.html",
                              "--report", "r.json", *words, code=code)
        return {"page": self.read("p.html"), "report": self.read("r.json"), "out": result.out,
                "err": result.err}

    def assert_clean(self, outputs, *patterns):
        for where, data in outputs.items():
            for pattern in patterns:
                self.assertNotRegex(data.decode("utf-8"), pattern, f"in the {where}")

    def setUp(self):
        super().setUp()
        self.write_data(self.rows(), ["name", "age", "town", "illness", "ward"])

    def test_a_release_with_suppressed_rows(self):
        self.write_policy(self.ATTRIBUTES, k=3, p=2, method={"max-suppression": 4, "seed": 1})
        outputs = self.outputs()
        self.assertEqual(4, json.loads(outputs["report"])["output"]["suppressed"])
        self.assert_clean(outputs, r"MARK(NAME|TOWN|ILL|WARD)", r"\b7[14]\d{3}\b")

    def test_blanked_rows(self):
        self.write_policy(self.ATTRIBUTES, k=3, p=2,
                          method={"max-suppression": 4, "suppressed": "blank", "seed": 1})
        outputs = self.outputs()
        self.assertEqual(4, json.loads(outputs["report"])["output"]["blanked"])
        self.assert_clean(outputs, r"MARK(NAME|TOWN)", r"\b7[14]\d{3}\b")
        page = Page(outputs["page"].decode())
        labels = "".join(cell for table in page.tables for row in table if len(row) == 4
                         for cell in row[:1])
        self.assertNotIn("MARK", labels)  # a rare value of a kept column has no row of its own

    def test_local_recoding(self):
        attributes = {**self.ATTRIBUTES, "age": {"role": "quasi", "type": "number"}}
        self.write_policy(attributes, k=4, p=2, method={"algorithm": "flock", "seed": 1})
        outputs = self.outputs()
        raw = r"\b7(1000|1[1-9]00|12[1-9]0|11[1-9]0)\b"
        released = self.read("out.csv").decode()
        self.assertNotRegex(released, r"MARKNAME|MARKTOWN")
        self.assert_clean(outputs, r"MARKNAME|MARKTOWN")
        for where, data in outputs.items():
            for number in re.findall(raw, data.decode()):
                self.assertIn(number, released, where)

    def test_the_seed_is_not_on_the_page(self):
        seed = 8613574209
        self.write_policy(self.ATTRIBUTES, k=3, p=2, method={"max-suppression": 4})
        for words in (("--seed", seed), ()):
            if not words:
                self.write_policy(self.ATTRIBUTES, k=3, p=2, method={"max-suppression": 4, "seed": seed})
            outputs = self.outputs(*words)
            self.assertEqual(seed, json.loads(outputs["report"])["seed"])
            self.assertNotIn(str(seed), re.sub(r"\D", "", outputs["page"].decode()))
            self.assertIn("given, not shown here", outputs["page"].decode())
        for command, words, code in (("check", ("data.csv",), 1), ("lattice", ("data.csv",), 0),
                                     ("measure", ("data.csv", "out.csv"), 0),
                                     ("attack", ("out.csv", "--original", "data.csv"), None)):
            result = self.run_shoal(command, *words, "-P", "policy.yaml", "--html", "p.html")
            self.assertIn(result.code, (0, 1) if code is None else (code,), str(result))
            self.assertNotIn(str(seed), re.sub(r"\D", "", self.read("p.html").decode()), command)

    def test_check_and_lattice(self):
        self.write_policy(self.ATTRIBUTES, k=3, p=2)
        self.assert_clean(self.outputs(command="check", code=1), r"MARK", r"\b7[14]\d{3}\b")
        self.assert_clean(self.outputs(command="lattice"), r"MARK", r"\b7[14]\d{3}\b")

    def test_measure_and_attack_of_a_release(self):
        self.write_policy(self.ATTRIBUTES, k=3, p=2, method={"max-suppression": 4, "seed": 1})
        self.outputs()
        for command, words in (("measure", ("data.csv", "out.csv")),
                               ("attack", ("out.csv", "--original", "data.csv"))):
            result = self.run_shoal(command, *words, "-P", "policy.yaml", "--html", "p.html")
            self.assertIn(result.code, (0, 1), str(result))
            self.assert_clean({"page": self.read("p.html"), "out": result.out}, r"MARK", r"\b7[14]\d{3}\b")

    def test_a_guard_column_does_not_fail_the_page(self):
        rows = [[f"n{i}", str(20 + i % 2), f"ill{i % 3}", "ill0"] for i in range(12)]
        self.write_data(rows, ["name", "age", "illness", "guard"])
        self.put("policy.yaml", """shoal: 1
attributes:
  name: {role: identifier}
  age: {role: quasi, type: number, hierarchy: {intervals: [10]}}
  illness: {role: sensitive, hierarchy: {tree: {All: [ill0, ill1, ill2]}}}
  guard: {role: identifier}
privacy:
  k: 2
  models: [{personalized: {column: guard, breach: 0.5}}]
""")
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--html", "p.html")
        self.assertEqual(0, result.code, str(result))
        self.assertEqual([], Page(self.read("p.html").decode()).wrong)

    def test_fewer_than_k_left_out_hide_where_they_were(self):
        rows = [[f"n{i}", "20", f"town{i % 2}", f"ill{i % 3}", "w"] for i in range(20)]
        rows += [["n90", "20", "MARKTOWN", "ill0", "w"], ["n91", "20", "town9", "ill0", "w"]]
        self.write_data(rows, ["name", "age", "town", "illness", "ward"])
        self.write_policy(self.ATTRIBUTES, k=5, p=2, method={"max-suppression": 2})
        outputs = self.outputs()
        report = json.loads(outputs["report"])
        self.assertEqual(2, report["output"]["suppressed"])
        for attribute in report["attributes"]:
            self.assertEqual({None}, {e["before"] for e in attribute["distribution"]}, attribute)
        self.assertEqual([None, None], [c["rows"] for c in report["suppressed_by"]])
        self.assertIn("fewer than 5", outputs["page"].decode())
        self.assert_clean(outputs, "MARK")

    def test_no_number_of_people_below_k(self):
        """Every count of records in the tables of the page is 0 or at least k."""
        self.write_policy(self.ATTRIBUTES, k=3, p=2, method={"max-suppression": 4, "seed": 1})
        report = json.loads(self.outputs()["report"])
        counts = [e[side] for a in report["attributes"] for e in a["distribution"]
                  for side in ("before", "after")]
        counts += [row[side] for row in report["class_sizes"] for side in ("before", "after")]
        counts += [c["rows"] for c in report["suppressed_by"]]
        self.assertEqual([], [n for n in counts if n is not None and 0 < n < 3])


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class Browser(Case):
    """Chromium behind a proxy of ours, which sees everything that it asks for."""

    PAGE = "http://page.test/"

    def visit(self, text, *words):
        asked = []

        class Proxy(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                found = self.path == Browser.PAGE
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(text.encode("utf-8") if found else b"")

            def do_CONNECT(self):
                asked.append("https://" + self.path)
                self.send_error(502)

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            done = subprocess.run(
                [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-component-update",
                 "--disable-background-networking", "--no-first-run", f"--user-data-dir={self.spool}/profile",
                 f"--proxy-server=http://127.0.0.1:{server.server_address[1]}",
                 "--enable-logging=stderr", *words, self.PAGE],
                capture_output=True, timeout=clitest.TIMEOUT_SECONDS, check=False, env=self.environment())
            server.shutdown()
        self.assertEqual(0, done.returncode, done.stderr[-2000:])
        ours = [url for url in asked if not re.search(r"\.(google|googleapis|gvt1|gstatic)\.com", url)]
        console = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "CONSOLE" in line]
        return ours, console, done.stdout.decode("utf-8", "replace")

    def test_the_page_loads_alone_and_without_complaints(self):
        for policy in ("policy.yaml", "local.yaml"):
            for words in (("--window-size=1280,900",),
                          ("--window-size=390,844", "--blink-settings=preferredColorScheme=0")):
                asked, console, dom = self.visit(self.hospital(policy), "--dump-dom", *words)
                self.assertEqual({self.PAGE}, set(asked) - {self.PAGE + "favicon.ico"})
                self.assertEqual([], console)
                for section in SECTIONS["anonymize"]:
                    self.assertIn(f'<section id="{section}"', dom)

    def test_the_page_prints(self):
        path = self.dir / "page.pdf"
        self.visit(self.hospital(), f"--print-to-pdf={path}", "--no-pdf-header-footer")
        self.assertEqual(b"%PDF", path.read_bytes()[:4])

    def test_this_test_would_see_an_outside_resource_and_an_error(self):
        asked, console, _ = self.visit("<!DOCTYPE html><img src=http://outside.test/x.png>"
                                       "<script>undefined_function()</script>", "--dump-dom")
        self.assertIn("http://outside.test/x.png", asked)
        self.assertTrue(console)


if __name__ == "__main__":
    unittest.main()
