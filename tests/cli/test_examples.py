# SPDX-License-Identifier: Apache-2.0
"""README.md, docs/ and examples/ show what the program does."""

import json
import pathlib
import re
import shlex
import subprocess
import unittest

import clitest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSPITAL = ROOT / "examples" / "hospital"
TINY = ROOT / "examples" / "tiny"


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
        """README's table: the left half is the data, the right half the release in the same order."""
        self.succeed("anonymize", TINY / "patients.csv", "-P", TINY / "policy.yaml", "-o", "out.csv", "--keep-order")
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
                if re.match(r"\| \w+ \| \d+ \| \d{5} \|", line)]
        raw = (TINY / "patients.csv").read_text(encoding="utf-8").splitlines()[1:]
        self.assertEqual(raw, [",".join(row[:4]) for row in rows])
        self.assertEqual(self.read("out.csv").decode().splitlines()[1:],
                         [",".join(row[5:]) for row in rows if row[5] != "*suppressed*"])
        self.assertEqual(["Gus"], [row[0] for row in rows if row[5] == "*suppressed*"])

    def test_policy_in_the_readme_is_that_of_the_example(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertEqual((TINY / "policy.yaml").read_text(encoding="utf-8"),
                         re.search(r"```yaml\n(.*?)```", text, re.S).group(1))

    def test_local_recoding_beside_full_domain(self):
        """docs/local-recoding.md has four rows before, by full-domain and by local recoding."""
        self.anonymize()
        domain = self.read("out.csv").decode().splitlines()
        self.succeed("anonymize", HOSPITAL / "patients.csv", "-P", HOSPITAL / "local.yaml", "-o", "local.csv")
        local = self.read("local.csv").decode().splitlines()
        raw = (HOSPITAL / "patients.csv").read_text(encoding="utf-8").splitlines()
        shown = [[cell.strip() for cell in line.strip("|").split("|")]
                 for line in (ROOT / "docs" / "local-recoding.md").read_text(encoding="utf-8").splitlines()
                 if re.match(r"\| \d+ \| \d{5} \|", line)]
        self.assertEqual(4, len(shown))
        for row in shown:
            person = next(line for line in raw if "," + ",".join(row[:4]) + "," in line)
            unchanged = "," + ",".join(person.split(",")[5:])
            self.assertIn(",".join(row[4:8]) + unchanged, domain)
            self.assertIn(",".join(row[8:]) + unchanged, local)

    def test_quick_start_of_the_readme(self):
        """Its commands, one after the other: what --strict refuses is accepted, and the release satisfies the policy."""
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        commands = re.findall(r"^ *build/shoal (.*)$", text, re.M)
        self.assertEqual(["profile", "anonymize", "anonymize", "check"], [command.split()[0] for command in commands])
        self.put("patients.csv", (HOSPITAL / "patients.csv").read_bytes())
        for command in commands:
            words = shlex.split(command, comments=True)
            result = self.run_shoal(*words)
            line = re.search(r"write this line into the policy: (accept: .*)", result.message)
            if "--strict" in words and line:  # as the README says
                self.put("policy.yaml", self.read("policy.yaml") + line[1].encode() + b"\n")
                result = self.run_shoal(*words)
            self.assertEqual(0, result.code, f"\n{result}")
        self.assertIn(re.search(r'prints "(.*)"', text).group(1), result.text)
        shown = re.sub(r" \\\n *", " ", self.succeed("--help").text)
        for command in commands:  # `shoal --help` shows the same path
            self.assertIn("shoal " + command.partition("#")[0].strip() + "\n", shown)

    def test_policies_in_the_docs(self):
        """Complete policies in docs/policy.md and docs/models.md are for the patients of the example."""
        for page in ("policy.md", "models.md"):
            text = (ROOT / "docs" / page).read_text(encoding="utf-8")
            self.put("policy.yaml", re.search(r"```yaml\n(shoal: 1.*?)```", text, re.S).group(1).encode())
            with self.subTest(page=page):
                self.succeed("anonymize", HOSPITAL / "patients.csv", "-P", "policy.yaml", "-o", page + ".csv")
                self.succeed("check", page + ".csv", "-P", "policy.yaml")

    def test_links_lead_to_files(self):
        """Relative links of README.md, docs/ and examples/, and their anchors within a page of docs/."""
        pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
        links = [(page, link) for page in pages
                 for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))]
        self.assertGreater(len(links), 100)
        for page, link in links:
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            with self.subTest(page=page.name, link=link):
                if "://" in link:
                    continue
                self.assertTrue(target.exists())
                if anchor:
                    text = target.read_text(encoding="utf-8")
                    headings = {re.sub(r"[^\w -]", "", h).strip().lower().replace(" ", "-")
                                for h in re.findall(r"^#+ (.*)$", text, re.M)}
                    self.assertTrue(anchor in headings or f'id="{anchor}"' in text)

    def test_no_policy_shows_a_seed(self):
        """A seed restores the order of rows: what people copy has none, nor has what `profile` writes."""
        self.succeed("profile", HOSPITAL / "patients.csv", "--policy-out", "profile.yaml")
        texts = {"profile": self.read("profile.yaml").decode()}
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.md")]:
            blocks = re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
            texts |= {f"{page.name} {i}": block for i, block in enumerate(blocks)}
        texts |= {str(path): path.read_text(encoding="utf-8") for path in (ROOT / "examples").rglob("*.yaml")}
        self.assertGreater(len(texts), 6)
        for name, text in texts.items():
            self.assertNotRegex(text, r"\bseed\b", name)

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
