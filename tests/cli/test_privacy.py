# SPDX-License-Identifier: Apache-2.0
"""What `check` may show: labels, never cells that may be raw; and control bytes never as they are."""

import clitest

POLICY = """shoal: 1
attributes:
%s  age: {role: quasi, type: number, hierarchy: {intervals: [5, 10]}}
  zip: {role: quasi, hierarchy: {mask: right}}
  job: {role: quasi, hierarchy: {tree: {Office: [SECRETJOB77, clerk], Field: [farmer]}}}
  ill: {role: sensitive}
privacy: {k: 2}
"""


class Shown(clitest.Case):
    def check(self, data, identifier=""):
        self.put("p.yaml", POLICY % identifier)
        self.put("d.csv", data)
        texts = [self.succeed("check", "d.csv", "-P", "p.yaml", *words, code=1).out.decode()
                 for words in ([], ["--json"])]
        return "\n".join(texts)

    def test_raw_data_without_identifiers_is_not_shown(self):
        for identifier in ("", "  name: {role: identifier}\n"):
            shown = self.check("age,zip,job,ill\n23,11177,SECRETJOB77,flu\n37,22288,clerk,flu\n", identifier)
            for raw in ("23", "11177", "22288", "SECRETJOB77", "clerk"):
                self.assertNotIn(raw, shown)
            self.assertIn("row 1", shown)

    def test_one_odd_cell_does_not_uncover_the_others(self):
        shown = self.check("age,zip,job,ill\n23,11177,SECRETJOB77,flu\n[20-24],1117*,Office,flu\n")
        self.assertNotIn("SECRETJOB77", shown)
        self.assertNotIn("11177", shown)
        for label in ("[20-24]", "1117*", "Office"):
            self.assertIn(label, shown)

    def test_labels_of_a_release_are_shown(self):
        shown = self.check("age,zip,job,ill\n[20-29],1****,Field,flu\n*,*,*,flu\n")
        for label in ("[20-29]", "1****", "Field", "job=*"):
            self.assertIn(label, shown)

    def test_control_bytes_do_not_reach_the_terminal(self):
        shown = self.check("age,zip,job,ill\n*,\x1b[31m*,*,flu\n[20-29],*,*,flu\n")
        self.assertNotIn("\x1b", shown)
