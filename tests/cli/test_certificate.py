# SPDX-License-Identifier: Apache-2.0
"""The public certificate: made from release, policy and the rounded number of suppressed rows alone.

`anonymize --certificate` and `certificate` give the same bytes for every algorithm, model, override
and form of file. Originals that differ in what is not released, and give the same release, give the
same certificate. Nothing of the original gets into it.
"""

import gzip
import hashlib
import itertools
import json
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import ROOT, ZSTD, as_json
from test_html import Page

HOSPITAL = ROOT / "examples" / "hospital"
SECTIONS = ["verdict", "protection", "columns", "risk", "attacks", "limits", "policy", "verify", "sign"]

HEADER = ["name", "age", "zip", "town", "born", "ill", "pay", "ward", "guard"]
TOWNS = "".join(f"t{i};{'AB'[i // 2]};*\n" for i in range(4))
TREE = {"G": ["a", "b", "c"], "H": ["d", "e", "f"]}
ATTRIBUTES = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10, 50]}},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "town": {"role": "quasi", "hierarchy": {"file": "town.csv"}},
    "born": {"role": "quasi", "hierarchy": {"date": ["month", "year", "decade"]}},
    "ill": {"role": "sensitive", "hierarchy": {"tree": TREE}, "protect": ["G"],
            "categories": [["a", "b"], ["c", "d"], ["e", "f"]]},
    "pay": {"role": "sensitive", "type": "number"},
    "ward": {"role": "keep"},
    "guard": {"role": "identifier"},
}
ALGORITHMS = ("auto", "samarati", "incognito", "optimal", "datafly", "mu-argus", "k-member", "greedy-pk",
              "enhanced-pk", "hybrid-pk", "mondrian", "top-down", "flock", "theta")
SIZE_ONLY = ("k-member", "mu-argus")  # algorithms for k alone
MODELS = (
    {"k-anonymity": {"k": 4}}, {"p-sensitive": {"p": 2, "attribute": "ill"}}, {"extended-p-sensitive": {"p": 2, "attribute": "ill"}},
    {"p-plus-sensitive": {"p": 2, "attribute": "ill"}}, {"p-alpha-sensitive": {"p": 2, "alpha": 1, "attribute": "ill"}},
    {"balanced-p-plus": {"p": 2, "attribute": "ill"}}, {"balanced-p-alpha": {"p": 2, "alpha": 1, "attribute": "ill"}},
    {"theta-sensitive": {"mu": 0.1, "attribute": "ill"}},
    {"l-diversity": {"kind": "distinct", "l": 2}}, {"l-diversity": {"kind": "entropy", "l": 2}},
    {"l-diversity": {"kind": "recursive", "l": 2, "c": 4}},
    {"t-closeness": {"t": 0.9}}, {"t-closeness": {"t": 0.9, "distance": "ordered", "attribute": "pay"}},
    {"t-closeness": {"t": 0.9, "distance": "hierarchical", "attribute": "ill"}},
    {"alpha-k": {"alpha": 0.8}}, {"personalized": {"column": "guard", "breach": 0.9, "attribute": "ill"}},
)
STATED = ("t-closeness", "personalized")


def rows(n=60, seed=3):
    dice = random.Random(seed)
    return [[f"n{i}", str(dice.randrange(20, 60)), f"4{dice.randrange(10)}{dice.randrange(3)}", f"t{dice.randrange(4)}",
             f"19{dice.randrange(60, 90)}-{dice.randrange(1, 13):02d}-11", dice.choice("abcdef"),
             str(dice.choice([10, 20, 30, 40, 50])), f"w{i % 3}", dice.choice(["", "a", "G", "H"])] for i in range(n)]


class Case(clitest.Case):
    def setUp(self):
        super().setUp()
        self.put("town.csv", TOWNS)
        self.write_data(rows(), HEADER)
        self.write_policy(ATTRIBUTES, k=3, p=None, method={"max-suppression": "10%"})

    def anonymize(self, *words, data="data.csv", policy="policy.yaml", out="out.csv", page="page.html", code=0):
        """A release, its certificate, and the number of suppressed rows."""
        self.succeed("anonymize", data, "-P", policy, "-o", out, "--certificate", page, "--report", "report.json",
                     *words, code=code)
        return self.read(page), json.loads(self.read("report.json"))["output"]["suppressed"]

    def certify(self, left_out, *words, release="out.csv", policy="policy.yaml", code=0):
        self.succeed("certificate", release, "-P", policy, "--left-out", left_out, "-o", "again.html", *words, code=code)
        return self.read("again.html")

    def assert_equal_pages(self, *overrides, only_anonymize=(), **names):
        page, suppressed = self.anonymize(*overrides, *only_anonymize, **names)
        again = self.certify(suppressed, *overrides, release=names.get("out", "out.csv"),
                             policy=names.get("policy", "policy.yaml"))
        self.assertEqual(page, again)
        return page.decode("utf-8")

    def assert_stands_alone(self, text):
        page = Page(text)
        self.assertEqual([], page.wrong)
        self.assertEqual(0, page.untitled, "a picture without a title")
        self.assertEqual(len(page.ids), len(set(page.ids)), "an id stands twice")
        self.assertEqual(set(), set(page.links) - set(page.ids), "a link leads nowhere")
        self.assertEqual(SECTIONS, page.sections)
        self.assertNotRegex(text, r"(?i)https?://|//[a-z]|@import|javascript:|<!--")
        self.assertEqual([], [u for u in re.findall(r"url\(([^)]*)\)", text) if not u.startswith("#")])
        for part in ("default-src 'none'", "prefers-color-scheme:dark", "@media print", 'name="viewport"'):
            self.assertIn(part, text)
        self.assertNotIn("Internal report", text)
        return page


class Equality(Case):
    """The same bytes from both commands."""

    def test_every_algorithm(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                models = [{"theta-sensitive": {"mu": 0.1, "attribute": "ill"}}] if algorithm == "theta" else None
                p = None if algorithm in SIZE_ONLY or models else 2
                few = dict.fromkeys(("zip", "age", "born"), {"role": "identifier"}) if algorithm == "mu-argus" else {}
                self.write_policy({**ATTRIBUTES, **few}, k=2 if few else 3, p=p, models=models,
                                  method={"max-suppression": "50%", "algorithm": algorithm})
                text = self.assert_equal_pages(only_anonymize=["--seed", "1"])
                self.assert_stands_alone(text)

    def test_every_model(self):
        for model in MODELS:
            with self.subTest(str(model)):
                self.write_policy(ATTRIBUTES, k=3, p=None, models=[model], method={"max-suppression": "60%"})
                text = self.assert_equal_pages()
                name = next(iter(model))
                self.assertEqual(name in STATED, "held when the release was made" in text)
                self.assertIn(name, text)

    def test_models_that_are_stated_have_no_figure(self):
        for model in MODELS:
            name = next(iter(model))
            if name not in STATED:
                continue
            self.write_policy(ATTRIBUTES, k=None, p=None, models=[model])
            page = Page(self.assert_equal_pages())
            row = next(r for table in page.tables for r in table if r[0].startswith(name))
            self.assertEqual("\N{EN DASH}", row[2])
            self.assertIn("stated by the publisher", row[3])

    def test_every_override(self):
        for overrides in (["-k", "5"], ["-p", "2"], ["--algorithm", "mondrian"], ["--max-suppression", "20%"],
                          ["--max-suppression", "3"], ["--seed", "77"], ["--formulas", "quote"],
                          ["--algorithm", "flock", "--effort", "2"], ["--delimiter", ","],
                          ["-k", "4", "--algorithm", "datafly", "--max-suppression", "30%"]):
            with self.subTest(str(overrides)):
                self.assert_equal_pages(*overrides)

    def test_settings_that_change_nothing(self):
        for words in (["--threads", "1"], ["--threads", "4"], ["--memory", "1K"], ["--keep-order"],
                      ["--keep-order", "--seed", "5"], ["--html", "internal.html"], ["--time-limit", "100"]):
            with self.subTest(str(words)):
                self.assert_equal_pages(only_anonymize=words)
        page, suppressed = self.anonymize()
        for words in (["--threads", "1"], ["--threads", "3"], ["--memory", "1K"], ["-q"], ["--json"], ["--seed", "9"]):
            self.assertEqual(page, self.certify(suppressed, *words), words)

    def test_the_seed_of_the_policy_is_not_in_it(self):
        pages = set()
        for method in ({}, {"seed": 987654321}, {"seed": 42}):
            self.write_policy(ATTRIBUTES, k=3, p=None, method=method)
            page, _ = self.anonymize("--keep-order")
            pages.add(page)
            self.assertNotIn(b"987654321", page)
            self.assertNotIn(b"seed:", page)
        self.assertEqual(1, len(pages))

    def test_forms_of_files(self):
        names = ["out.csv", "out.csv.gz"] + (["out.csv.zst"] if ZSTD else [])
        for delimiter, out in itertools.product((",", ";", "\t", "|"), names):
            with self.subTest(delimiter, out=out):
                self.write_data(rows(), HEADER, delimiter=delimiter)
                text = self.assert_equal_pages(out=out)
                self.assertIn(hashlib.sha256(self.read(out)).hexdigest(), text)
        self.write_data(rows(), HEADER, delimiter="^")
        self.assert_equal_pages("--delimiter", "^")
        self.write_data(rows(), HEADER, delimiter="\t")
        self.assert_equal_pages("--delimiter", "tab")
        for wrong in ('"', "ab", "comma"):
            self.assert_says(self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "none", "-o",
                                          "a.html", "--delimiter", wrong, code=2), "one character")

    def test_suppressed_rows_that_are_blanked(self):
        self.write_policy(ATTRIBUTES, k=3, p=None, method={"max-suppression": "30%", "suppressed": "blank"})
        text = self.assert_equal_pages()
        self.assertIn("suppressed: blank", text)

    def test_noise(self):
        self.write_policy(ATTRIBUTES, k=3, p=None, models=[{"theta-sensitive": {"mu": 0.3, "attribute": "ill"}}],
                          method={"algorithm": "theta", "noise": "5%"})
        self.assertIn("up to 5% of the rows of noise", self.assert_equal_pages())

    def test_columns_that_are_not_listed(self):
        short = {name: spec for name, spec in ATTRIBUTES.items() if name not in ("ward", "pay")}
        for unlisted in ("drop", "keep"):
            self.put("policy.yaml", clitest.policy_text(short, k=3, p=None, top={"unlisted": unlisted}))
            text = self.assert_equal_pages()
            self.assertIn(f"unlisted: {unlisted}", text)

    def test_the_examples(self):
        for policy in ("policy.yaml", "local.yaml"):
            text = self.assert_equal_pages(data=HOSPITAL / "patients.csv", policy=HOSPITAL / policy)
            self.assert_stands_alone(text)

    def test_the_committed_example_is_such_a_page(self):
        self.assert_stands_alone((ROOT / "docs" / "example-certificate.html").read_text("utf-8"))

    def test_the_certificate_on_standard_output(self):
        page, suppressed = self.anonymize()
        result = self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", suppressed, "-o", "-")
        self.assertEqual(page, result.out)

    def test_the_release_on_standard_output(self):
        out = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "-", "--certificate", "page.html",
                           "--max-suppression", "0").out
        self.put("out.csv", out)
        self.assertEqual(self.read("page.html"), self.certify("none", "--max-suppression", "0"))


class LeftOut(Case):
    """The number of suppressed rows: none, few, or rounded down."""

    def shown(self, n, k):
        text = self.certify(n, "-k", k).decode()
        words = re.search(r"<b>([^<]*)</b><span>rows suppressed", text)[1]
        argument = re.search(r"--left-out (\w+) -o again.html", text)[1]
        return words, argument, text

    def test_rounding(self):
        self.write_policy(ATTRIBUTES, k=1, p=None)
        self.anonymize("-k", "30", "--algorithm", "mondrian")
        for k, n, words in ((3, "none", "no"), (3, 0, "no"), (3, "few", "1 to 9"), (3, 1, "1 to 9"), (3, 9, "1 to 9"),
                            (3, 10, "about 10"), (3, 19, "about 10"), (3, 99, "about 90"), (3, 123, "about 120"),
                            (3, 1239, "about 1,200"), (3, 98765, "about 98,000"), (12, 11, "1 to 11"),
                            (12, 12, "about 12"), (12, 25, "about 24"), (13, 1234, "about 1,200"),
                            (13, 110, "about 100"), (13, 999999999999999999, "about 990,000,000,000,000,000")):
            with self.subTest(k=k, n=n):
                found, argument, text = self.shown(n, k)
                self.assertEqual(words, found)
                self.assertNotIn("may have been suppressed" if words == "no" else "No rows were suppressed", text)
                # What a recipient reads on the page makes the page again.
                self.assertEqual(text, self.shown(argument, k)[2])

    def test_every_number_of_a_bucket_gives_one_page(self):
        self.anonymize()
        self.assertEqual(1, len({self.certify(n) for n in ("few", *range(1, 10))}))
        self.assertEqual(1, len({self.certify(n) for n in range(120, 130)}))

    def test_other_words_are_refused(self):
        self.anonymize()
        before = self.snapshot()
        for word in ("many", "-1", "1.5", "12x", "1e3", " 1", "9" * 30):
            result = self.run_shoal("certificate", "out.csv", "-P", "policy.yaml", f"--left-out={word}", "-o", "a.html")
            self.assertEqual(2, result.code, result)
            self.assert_says(result, "left-out")
        self.assertEqual(before, self.snapshot())


class Independence(Case):
    """Originals that differ in what is not released."""

    ROW = ["25", "401", "t0", "1970-01-11"]

    def table(self, odd, order=None, names="n"):
        """Two classes of six rows and `odd` rows that stand alone and are suppressed."""
        table = [[f"{names}{i}", *(self.ROW if i < 6 else ["45", "409", "t3", "1980-05-11"]), "abcdef"[i % 6],
                  str(10 * (i % 5)), "w", ""] for i in range(12)]
        table += [[f"{names}x{i}", str(90 + i), "499", f"t{i % 4}", "1999-09-11", ill, pay, "w", ""]
                  for i, (ill, pay) in enumerate(odd)]
        return table if order is None else [table[i] for i in order]

    def pages_of(self, tables, names=("data.csv",), *words):
        found, releases = set(), set()
        for table, name in itertools.product(tables, names):
            self.write_data(table, HEADER, name=name)
            page, suppressed = self.anonymize("--algorithm", "samarati", "--max-suppression", "9", *words, data=name)
            found.add(page)
            releases.add(self.read("out.csv"))
            self.suppressed = suppressed
        self.assertEqual(1, len(releases), "the releases differ: the test shows nothing")
        return found

    def test_suppressed_rows_do_not_matter(self):
        odd = [[("a", "10")], [("f", "50")], [("c", "30"), ("d", "40")], [("e", "20")] * 3]
        self.assertEqual(1, len(self.pages_of([self.table(o) for o in odd], ("data.csv",), "--keep-order")))
        self.assertGreater(self.suppressed, 0)

    def test_identifiers_file_names_and_seeds_do_not_matter(self):
        tables = [self.table([("a", "10")]), self.table([("b", "20")], names="SECRET")]
        pages = self.pages_of(tables, ("data.csv", "other.csv"), "--keep-order")
        pages |= self.pages_of(tables, ("data.csv",), "--keep-order", "--seed", "17")
        self.assertEqual(1, len(pages))

    def test_the_order_of_rows_does_not_matter(self):
        """Rows that are equal in the release, in another order of the original."""
        same = [[f"n{i}", *self.ROW, "a", "10", "w", ""] for i in range(8)]
        self.write_policy(ATTRIBUTES, k=3, p=None)
        pages = self.pages_of([same, same[::-1]], ("data.csv",), "--keep-order")
        self.assertEqual(1, len(pages))

    def test_nothing_of_the_original_is_in_it(self):
        marked = [[f"SECRETNAME{i}", str(770000 + i), f"SECRET{i % 4}", "t0", f"1970-0{1 + i % 9}-11", "a", "10", "w",
                   "SECRETGUARD"] for i in range(9)]
        self.write_data(marked, HEADER, name="SECRETFILE.csv")
        self.put("SECRETPOLICY.yaml", clitest.policy_text(
            {**ATTRIBUTES, "town": {"role": "quasi", "hierarchy": {"tree": {"North": ["t0", "SECRETTOWN"], "SECRETSOUTH": ["t9"]}}},
             "zip": {"role": "quasi", "hierarchy": {"top": True}},
             "age": {"role": "quasi", "hierarchy": {"top": True}},
             "ill": {"role": "sensitive", "hierarchy": {"tree": {"G": ["a", "SECRETILL"]}}, "protect": ["G", "SECRETILL"],
                     "categories": [["a", "SECRETILL"]]}}, k=9, p=None) + "# SECRETCOMMENT\n")
        page, _ = self.anonymize(data="SECRETFILE.csv", policy="SECRETPOLICY.yaml")
        self.assertNotRegex(page.decode(), r"SECRET|77000\d")
        self.assertIn(b"labels that are not in the release are left out", page)
        self.assertNotIn(hashlib.sha256(self.read("SECRETFILE.csv")).hexdigest().encode(), page)
        self.assertNotIn(hashlib.sha256(self.read("SECRETPOLICY.yaml")).hexdigest().encode(), page)

    def test_directories_are_not_in_it(self):
        self.put("town2.csv", TOWNS)
        (self.dir / "SECRETDIR").mkdir()
        (self.dir / "SECRETDIR" / "town.csv").write_text(TOWNS)
        self.write_policy({**ATTRIBUTES, "town": {"role": "quasi", "hierarchy": {"file": "SECRETDIR/town.csv"}}}, k=3, p=None)
        page, _ = self.anonymize()
        self.assertNotIn(b"SECRETDIR", page)
        self.assertNotIn(str(self.dir).encode(), page)
        self.assertIn(b"file: town.csv", page)


class Verdict(Case):
    def verdict(self, text):
        return re.search(r'data-verdict="([^"]*)"', text)[1]

    def test_holds_and_with_risks(self):
        self.write_policy(ATTRIBUTES, k=3, p=2)
        self.assertEqual("holds-with-risks", self.verdict(self.assert_equal_pages()))  # fewer than 3 categories
        plain = {**ATTRIBUTES, "ill": {"role": "sensitive"}}
        self.write_policy(plain, k=3, p=2)
        self.assertEqual("holds", self.verdict(self.assert_equal_pages()))
        self.write_policy(plain, k=3, p=None)
        text = self.assert_equal_pages()
        self.assertEqual("holds-with-risks", self.verdict(text))
        self.assertIn("unprotected", text)
        self.assertIn("no model protects it", text)
        self.assertNotIn("models protect it", text)

    def test_a_column_with_a_stated_model_is_not_called_unprotected(self):
        self.write_policy({**ATTRIBUTES, "pay": {"role": "keep"}}, k=3, p=None,
                          models=[{"personalized": {"column": "guard", "breach": 0.9}}])
        self.assertNotIn("unprotected:", self.assert_equal_pages())

    def test_a_release_that_violates_the_policy(self):
        self.anonymize()
        text = self.certify("few", "-k", "50", code=1).decode()
        self.assertEqual("do-not-publish", self.verdict(text))
        self.assert_stands_alone(text)
        self.assertIn("violated", text)
        self.assertNotIn("may be published", text)

    def test_small_numbers_of_people_are_not_shown(self):
        self.put("out.csv", "age,zip,town,born,ill,pay,ward\n" + "*,*,*,*,a,10,w\n" * 30 + "*,*,A,*,a,10,w\n" * 2)
        page = Page(self.certify("none", "-k", "7", code=1).decode())
        text = " ".join(page.visible)
        self.assertIn("fewer than 7", text)
        self.assertIn("more than 1 in 7", text)
        cells = {cell.strip() for table in page.tables for row in table for cell in row}
        self.assertEqual(set(), cells & {"1", "2", "3", "4", "5", "6"} - {"2"}, "a small number alone in a cell")
        model = next(r for table in page.tables for r in table if r[0].startswith("k-anonymity"))
        self.assertEqual("fewer than 7", model[2])

    def test_a_column_that_must_not_be_released(self):
        self.write_policy(ATTRIBUTES, k=1, p=None)
        text = self.certify("none", release="data.csv", code=1).decode()
        self.assertEqual("do-not-publish", self.verdict(text))
        self.assertRegex(text, r"<b>name</b>: the policy calls it an identifier")
        self.put("policy.yaml", clitest.policy_text({n: a for n, a in ATTRIBUTES.items() if n != "ward"}, k=3, p=None,
                                                    top={"unlisted": "drop"}))
        self.anonymize()
        self.put("out.csv", "\n".join(line + ",x" for line in self.read("out.csv").decode().splitlines()) + "\n")
        text = self.certify("none", code=1).decode()
        self.assertRegex(text, r"<b>x</b>: the policy removes it")

    def test_json_and_text(self):
        self.anonymize()
        answer = self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "12", "-o", "a.html", "--json").json()
        self.assertEqual(("certificate", "10"), (answer["command"], answer["left_out"]))
        self.assertIn(answer["verdict"], ("holds", "holds-with-risks"))
        self.assertEqual(b"", self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "12", "-o", "a.html",
                                           "-q").out)


class Hostile(Case):
    def test_names_and_labels_cannot_become_markup(self):
        evil = '<script src=x>"&\N{RIGHT-TO-LEFT OVERRIDE}'
        rows_ = [["n", "20", evil, "q"], ["n", "21", evil, "q"], ["n", "22", evil, "r"], ["n", "23", "b", "r"]]
        names = ["<b onload=x>", "<img>", "<script>", "a: {b}\n- c"]
        self.write_data(rows_, names)
        self.write_policy({names[0]: {"role": "identifier"}, names[1]: {"role": "quasi", "type": "number"},
                           names[2]: {"role": "quasi", "hierarchy": {"tree": {"<i>" + evil: [evil, "b"]}}},
                           names[3]: {"role": "sensitive"}}, k=2, p=None, method={"algorithm": "mondrian"})
        text = self.assert_equal_pages()
        page = self.assert_stands_alone(text)
        self.assertIn("<i>", "".join(page.text))
        policy = text[text.index('<pre class="policy">'):]
        self.assertNotIn("\N{RIGHT-TO-LEFT OVERRIDE}", policy, "the policy escapes marks that reorder text")

    def test_a_release_that_is_none(self):
        before = self.snapshot()
        for content in ("", "x\n1\n", "age,zip\n1\n", "\x00\x01\x02", "age,zip,town,born,ill,pay,ward\n"):
            self.put("odd.csv", content)
            result = self.run_shoal("certificate", "odd.csv", "-P", "policy.yaml", "--left-out", "none", "-o", "a.html")
            self.assertEqual(2, result.code, result)
        (self.dir / "odd.csv").unlink()
        self.assertEqual(before, self.snapshot())

    def test_labels_that_no_hierarchy_knows(self):
        self.put("out.csv", "age,zip,town,born,ill,pay,ward\n" + "??,!!,nowhere,never,a,10,w\n" * 9)
        text = self.certify("none").decode()
        self.assertIn("cannot be read from its labels", text)


class Files(Case):
    """Release and certificate are there together, or neither is."""

    WORDS = ("anonymize", "data.csv", "-P", "policy.yaml", "-o", "o.csv", "--seed", "1")

    def test_wrong_names_are_reported_before_the_work(self):
        before = self.snapshot()
        for path, pattern in (("-", "needs a file name"), ("data.csv", "overwrite the data"),
                              ("policy.yaml", "overwrite the policy"), ("o.csv", "name the same file"),
                              ("r.json", "name the same file"), ("p.html", "name the same file"),
                              ("town.csv", "the policy reads this file"), ("none/c.html", "directory does not exist")):
            result = self.succeed(*self.WORDS, "--report", "r.json", "--html", "p.html", "--certificate", path, code=2)
            self.assert_says(result, pattern)
        for path, pattern in (("out.csv", "overwrite"), ("policy.yaml", "overwrite"), ("town.csv", "policy reads")):
            self.put("out.csv", "x\n")
            result = self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "none", "-o", path, code=2)
            self.assert_says(result, pattern)
        (self.dir / "out.csv").unlink()
        self.assertEqual(before, self.snapshot())

    def test_a_refused_release_leaves_no_certificate(self):
        before = self.snapshot()
        self.succeed(*self.WORDS, "--certificate", "c.html", "-k", "61", code=2)
        self.assertEqual(before, self.snapshot())

    def test_a_delimiter_that_a_recipient_cannot_find(self):
        """Only one column is left, and its name looks like two."""
        names = ["name", "phone", "mail", "ill;kind"]
        self.write_data([["n", "1", "m", "a"]] * 3, names, delimiter="|")
        self.write_policy({**dict.fromkeys(names[:3], {"role": "identifier"}),
                           "ill;kind": {"role": "quasi", "hierarchy": {"top": True}}}, k=2, p=None)
        before = self.snapshot()
        result = self.succeed(*self.WORDS, "--certificate", "c.html", code=2)
        self.assert_says(result, "no certificate can be made, so nothing was written")
        self.assertEqual(before, self.snapshot())
        self.assert_equal_pages("--delimiter", "|")

    def test_the_command_needs_a_file_and_its_options(self):
        for words, pattern in ((("certificate", "-", "-P", "policy.yaml", "--left-out", "none", "-o", "c.html"), "about a file"),
                               (("certificate", "data.csv", "-P", "policy.yaml", "-o", "c.html"), "--left-out"),
                               (("certificate", "data.csv", "-P", "policy.yaml", "--left-out", "none"), "-o"),
                               (("certificate", "data.csv", "--left-out", "none", "-o", "c.html"), "-P"),
                               (("certificate", "none.csv", "-P", "policy.yaml", "--left-out", "none", "-o", "c.html"),
                                "none.csv"),
                               (("check", "data.csv", "-P", "policy.yaml", "--certificate", "c.html"), "takes no option")):
            self.assert_says(self.succeed(*words, code=2), pattern)


class Columns(Case):
    """What was done to each column, read from the labels; losses over the ranges in the release."""

    def columns(self, release, attributes, code=0):
        self.write_policy({**attributes, "ill": {"role": "sensitive"}}, k=1, p=None, method={"algorithm": "mondrian"})
        self.put("out.csv", release)
        page = Page(self.certify("none", code=code).decode())
        table = next(t for t in page.tables if t[0][:2] == ["Column", "Role"])
        return {row[0]: (row[2], row[3]) for row in table[1:]}

    def test_levels(self):
        age = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10, 50]}}
        for labels, done, loss in ((["[20-29]", "[30-39]"], "generalized to level 1 of 3, for example [20-29]", "33.3%"),
                                   (["[0-49]", "[50-99]"], "generalized to level 2 of 3, for example [0-49]", "66.7%"),
                                   (["*", "*"], "hidden: one label for all rows", "100.0%"), (["20", "30"], "single values", "0.0%"),
                                   (["20", "*"], "single values, or hidden", "50.0%"),
                                   (["[20-29]", "*"], "generalized to levels 1 to 3 of 3, for example [20-29]", "66.7%")):
            found = self.columns("age,ill\n" + "".join(f"{label},a\n" for label in labels), {"age": age})
            self.assertEqual((done, loss), found["age"], labels)

    def test_widths_over_the_range_in_the_release(self):
        found = self.columns("age,ill\n[20-30],a\n[20-30],b\n40,a\n[35-40],a\n", {"age": {"role": "quasi", "type": "number"}})
        self.assertEqual("intervals, 0 to 10 wide (upper end minus lower end), for example [20-30]", found["age"][0])
        self.assertEqual(f"{100 * (10 + 10 + 0 + 5) / 20 / 4:.1f}%", found["age"][1])

    def test_masks_and_trees(self):
        zip_ = {"role": "quasi", "hierarchy": {"mask": "right"}}
        found = self.columns("zip,ill\n41**,a\n4***,b\n", {"zip": zip_})
        self.assertEqual(("the last 2 to 3 characters masked, for example 4***", "62.5%"), found["zip"])
        found = self.columns("zip,ill\n\N{LATIN SMALL LETTER U WITH DIAERESIS}*,a\n", {"zip": zip_})
        self.assertEqual("50.0%", found["zip"][1])
        town = {"role": "quasi", "hierarchy": {"file": "town.csv"}}
        found = self.columns("town,ill\nA,a\nt3,b\n", {"town": town})
        self.assertEqual(("generalized to levels 0 to 1 of 2, for example A", "25.0%"), found["town"])


class Canonical(Case):
    """The policy on the page, read again, makes the same page."""

    def policy_of(self, text):
        page = Page(text)
        pre = text[text.index('<pre class="policy"><code>') + 26:text.index("</code></pre>")]
        self.assertEqual([], page.wrong)
        return pre.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")

    def test_it_is_a_policy_where_its_labels_are_complete(self):
        whole = {**ATTRIBUTES, "ill": {"role": "sensitive", "categories": ATTRIBUTES["ill"]["categories"]}}
        for algorithm in ("samarati", "mondrian"):
            self.write_policy(whole, k=3, p=2, method={"algorithm": algorithm, "max-suppression": 7})
            text = self.assert_equal_pages("-k", "4")
            self.put("canonical.yaml", self.policy_of(text))
            self.assertNotIn("left out", self.policy_of(text))
            again = self.certify(json.loads(self.read("report.json"))["output"]["suppressed"], policy="canonical.yaml")
            self.assertEqual(text, again.decode())


if __name__ == "__main__":
    unittest.main()
