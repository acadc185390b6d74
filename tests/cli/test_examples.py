# SPDX-License-Identifier: Apache-2.0
"""What README.md and examples/ say is what the program does."""

import json
import pathlib
import re
import subprocess
import unittest

import clitest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSPITAL = ROOT / "examples" / "hospital"


class Examples(clitest.Case):
    def anonymize(self, *words):
        self.succeed("anonymize", HOSPITAL / "patients.csv", "-P", HOSPITAL / "policy.yaml", "-o", "out.csv",
                     "--report", "report.json", "--keep-order", *words)
        return json.loads(self.read("report.json"))

    def test_hospital_gives_what_its_readme_says(self):
        report = self.anonymize()
        self.assertEqual({"age": 2, "zip": 1, "sex": 0, "marital": 1}, report["search"]["node"])
        self.assertEqual((57, 3, 14), tuple(report["output"][key] for key in ("rows", "suppressed", "classes")))
        self.assertEqual(5, len(report["search"]["minimal"]))
        self.assertEqual(0, self.anonymize("-p", "1")["output"]["suppressed"])

    def test_hospital_by_local_recoding_leaves_nothing_out(self):
        self.succeed("anonymize", HOSPITAL / "patients.csv", "-P", HOSPITAL / "local.yaml", "-o", "out.csv",
                     "--report", "report.json")
        report = json.loads(self.read("report.json"))
        self.assertEqual(("flock", 60, 0), (report["search"]["algorithm"], report["output"]["rows"],
                                            report["output"]["suppressed"]))
        self.succeed("check", "out.csv", "-P", HOSPITAL / "local.yaml")

    def test_before_and_after_in_the_readme(self):
        """Each row of README's table is a row of the data, and its right half a row of the release."""
        self.anonymize()
        released = self.read("out.csv").decode().splitlines()
        raw = (HOSPITAL / "patients.csv").read_text(encoding="utf-8").splitlines()
        shown = [[cell.strip() for cell in line.strip("|").split("|")]
                 for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
                 if re.match(r"\| [A-Z][a-z]+ [A-Z]", line)]
        self.assertEqual(7, len(shown))
        for row in shown:
            self.assertTrue(any(line.startswith(",".join(row[:6]) + ",") for line in raw), row)
            if "left out" in row[6]:
                self.assertNotIn(f",{row[1]},", self.read("out.csv").decode())
            else:
                self.assertTrue(any(line.startswith(",".join(row[6:]) + ",") for line in released), row)

    def test_local_recoding_in_the_readme(self):
        """Before, full-domain and local stand side by side: each is what the program writes."""
        self.anonymize()
        domain = self.read("out.csv").decode().splitlines()
        self.succeed("anonymize", HOSPITAL / "patients.csv", "-P", HOSPITAL / "local.yaml", "-o", "local.csv")
        local = self.read("local.csv").decode().splitlines()
        raw = (HOSPITAL / "patients.csv").read_text(encoding="utf-8").splitlines()
        shown = [[cell.strip() for cell in line.strip("|").split("|")]
                 for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
                 if re.match(r"\| \d+ \| \d{5} \|", line)]
        self.assertEqual(4, len(shown))
        for row in shown:
            person = next(line for line in raw if "," + ",".join(row[:4]) + "," in line)
            secret = "," + ",".join(person.split(",")[5:])
            self.assertIn(",".join(row[4:8]) + secret, domain)
            self.assertIn(",".join(row[8:]) + secret, local)

    def test_policy_in_the_readme_is_valid(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        policy = re.search(r"```yaml\n(.*?)```", text, re.S).group(1)
        self.put("marital.csv", (HOSPITAL / "marital.csv").read_bytes())
        self.put("policy.yaml", policy.replace("  zip:", "  sex:     {role: keep}\n  zip:").encode())
        self.succeed("anonymize", HOSPITAL / "patients.csv", "-P", "policy.yaml", "-o", "out.csv",
                     "--max-suppression", "10%")

    def test_census_policy_fits_its_generator(self):
        build = pathlib.Path(clitest.SHOAL).parent
        if not (build / "census").exists():
            self.skipTest("the generator is not built beside the program")
        data = subprocess.run([build / "census", "20000", "7"], capture_output=True, check=True).stdout
        self.put("census.csv", data)
        self.succeed("anonymize", "census.csv", "-P", ROOT / "examples" / "census" / "policy.yaml", "-o", "out.csv",
                     "--max-suppression", "5%")


if __name__ == "__main__":
    unittest.main()
