# SPDX-License-Identifier: Apache-2.0
"""A certificate depends on nothing but release, policy and the rounded number of suppressed rows.

Each case is a random table with random models (gen_models.py), with models over some
quasi-identifiers (gen_over.py), or a random local release (gen_local.py). `anonymize --certificate`
writes a page from the run that saw the original. `certificate` makes it again from the release and
the policy, in another directory, under other names. The pages must be equal byte for byte.
SHOAL_CASES sets the number of cases.
"""

import collections
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import gen
import gen_local
import gen_models
import gen_over
import support

CASES = int(os.environ.get("SHOAL_CASES") or 1200)


def setUpModule():
    support.require_program()


def rounded(n, k):
    """The published form of a number of suppressed rows, worked out on decimal digits."""
    unit = max(k, 10)
    if n == 0:
        return "none"
    if n < unit:
        return "few"
    digits = str(n - n % unit)
    return digits[:2] + "0" * (len(digits) - 2)


def accept_kept(policy):
    """Kept columns of the cases may identify people; that is not what is tested here."""
    text = policy.read_text("utf-8")
    if "accept:" not in text:
        names = [name for name in (gen_local.ID, "ward", "extra", gen_models.GUARD) if re.search(rf'(?<!\w){name}"?:', text)]
        policy.write_text(text + f"accept: {{kept: [{', '.join(names)}]}}\n", "utf-8")


class Certificates(unittest.TestCase):
    def compare(self, case, tally, look=lambda page: None):
        with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as again:
            data, policy = gen.write_case(case, made)
            made, again = pathlib.Path(made), pathlib.Path(again)
            accept_kept(pathlib.Path(policy))
            result = support.shoal("anonymize", data, "-P", policy, "-o", made / "out.csv", "--certificate",
                                   made / "page.html", "--report", made / "report.json", "--seed", case.seed)
            outputs = [(made / name).exists() for name in ("out.csv", "page.html")]
            self.assertEqual([result.code == 0] * 2, outputs, f"seed {case.seed}\n{result}")
            tally[result.code] += 1
            if result.code:
                plain = support.shoal("anonymize", data, "-P", policy, "-o", made / "out.csv")
                self.assertEqual(plain.code, result.code, f"seed {case.seed}: only the certificate fails\n{result}")
                return
            report = support.json.loads((made / "report.json").read_text("utf-8"))
            # The recipient has the release and the policy with its files; not the original.
            for path in made.iterdir():
                if path.name not in ("page.html", "report.json", "out.csv", pathlib.Path(data).name):
                    shutil.copy(path, again / path.name)
            shutil.copy(made / "out.csv", again / "received.csv")
            look((made / "page.html").read_text("utf-8"))
            suppressed = report["output"]["suppressed"]
            k = max([entry["required"] for entry in report["models"] if entry["model"] == "k-anonymity"] + [1])
            for left_out in {str(suppressed), rounded(suppressed, int(k))}:
                again_policy = again / pathlib.Path(policy).name
                result = support.shoal("certificate", again / "received.csv", "-P", again_policy, "--left-out",
                                       left_out, "-o", again / "page.html")
                self.assertEqual(0, result.code, f"seed {case.seed}\n{result}")
                self.assertEqual((made / "page.html").read_bytes(), (again / "page.html").read_bytes(),
                                 f"seed {case.seed}: left out {left_out}\n{support.dump_dir(made)}")

    def test_every_model_and_full_domain_algorithm(self):
        tally = collections.Counter()
        for seed in range(CASES):
            self.compare(gen_models.make_case(seed), tally)
        self.assertGreater(tally[0], CASES // 4, tally)

    def test_people_with_several_rows(self):
        """The page cannot count them, and does not say that it looked for their risks."""
        tally = collections.Counter()
        for seed in range(CASES // 4):
            self.compare(gen_models.make_case(seed, people=True), tally, self.assert_people_unseen)
        self.assertGreater(tally[0], CASES // 20, tally)

    def assert_people_unseen(self, page):
        self.assertIn("risks that count people cannot be judged", page)
        self.assertNotIn("none of the risks", page)
        self.assertNotIn("banner yes", page)

    def test_models_over_some_quasi_identifiers(self):
        tally = collections.Counter()
        for seed in range(CASES // 8):
            self.compare(gen_over.make_case(seed)[0], tally)
        self.assertGreater(tally[0], CASES // 40, tally)

    def test_every_local_algorithm(self):
        tally = collections.Counter()
        for seed in range(CASES // 2):
            self.compare(gen_local.make_case(seed), tally)
        self.assertGreater(tally[0], CASES // 8, tally)


if __name__ == "__main__":
    unittest.main()
