# SPDX-License-Identifier: Apache-2.0
"""The measuring scripts: what they decide and write, without measuring anything."""
import contextlib
import io
import os
import stat
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "bench"))

import beside  # noqa: E402
import callgrind  # noqa: E402
import common  # noqa: E402
import page  # noqa: E402
import peers  # noqa: E402
import plot  # noqa: E402
import scaling  # noqa: E402


class Kernels(unittest.TestCase):
    def test_a_tenth_more_instructions_is_still_good(self):
        self.assertEqual(callgrind.failed(callgrind.compared({"a": 1100, "b": 500}, {"a": 1000, "b": 1000})), [])

    def test_more_than_a_tenth_fails(self):
        rows = callgrind.failed(callgrind.compared({"a": 1101, "b": 1000}, {"a": 1000, "b": 1000}))
        self.assertEqual([r[0] for r in rows], ["a"])

    def test_a_kernel_without_figure_and_a_figure_without_kernel_fail(self):
        rows = callgrind.failed(callgrind.compared({"new": 1}, {"old": 1}))
        self.assertEqual([r[0] for r in rows], ["new", "old"])

    def test_accepted_figures_are_read_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.csv")
            callgrind.accept(path, {"read": 12, "write": 34})
            self.assertEqual(callgrind.committed(path), {"read": 12, "write": 34})

    def test_the_program_fails_for_grown_kernels_and_accepts_on_demand(self):
        """With a valgrind and kernels of our own, which count what a file says."""
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "build", "bench"))
            for name, script in (("build/bench/kernels", "#!/bin/sh\necho read\n"),
                                 ("valgrind", '#!/bin/sh\nfor a in "$@"; do case $a in --callgrind-out-file=*) '
                                  'echo "totals: $(cat "$COUNT")" > "${a#*=}";; esac; done\n')):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as out:
                    out.write(script)
                os.chmod(path, stat.S_IRWXU)
            figures, count = os.path.join(folder, "k.csv"), os.path.join(folder, "count")
            before = dict(os.environ)
            os.environ.update(PATH=folder + os.pathsep + os.environ["PATH"], COUNT=count)
            try:
                codes = [self.ended(folder, figures, count, n, *more) for n, more in (
                    (1000, ("--accept",)), (1050, ()), (1200, ()), (1200, ("--accept",)), (1200, ()))]
            finally:
                os.environ.clear()
                os.environ.update(before)
            self.assertEqual(codes, [0, 0, 1, 0, 0])

    def ended(self, folder, figures, count, instructions, *more):
        with open(count, "w", encoding="ascii") as out:
            out.write(str(instructions))
        arguments, sys.argv = sys.argv, ["callgrind.py", "--build", os.path.join(folder, "build"), "--figures",
                                         figures, *more]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                return callgrind.main()
        finally:
            sys.argv = arguments


class Page(unittest.TestCase):
    def goals(self, *figures):
        goals = common.Goals()
        for figure in figures:
            goals.add("faster", "at least", 10, figure)
        return goals.section()

    def test_a_goal_holds_from_its_bound_on(self):
        lines = self.goals(10, 9.99, None)
        self.assertEqual([line.split("|")[4].strip() for line in lines[2:5]], ["yes", "**no**", "-"])

    def test_one_section_is_replaced_and_the_others_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "R.md")
            page.write_section(path, ["## Reading", "## Kernels"], "## Kernels", ["## Kernels", "", "a stale figure"])
            page.write_section(path, ["## Reading", "## Kernels"], "## Reading", ["## Reading", ""] + self.goals(3))
            page.write_section(path, ["## Reading", "## Kernels"], "## Kernels", ["## Kernels", ""] + self.goals(20))
            with open(path, encoding="utf-8") as source:
                text = source.read()
        self.assertNotIn("stale", text)
        self.assertEqual([line for line in text.split("\n") if line.startswith("## ")],
                         ["## Goals", "## Reading", "## Kernels"])
        self.assertEqual(text.count("| faster | at least 10 |"), 4)  # in each section, and gathered

    def test_the_goals_on_top_of_the_committed_page_are_those_of_its_sections(self):
        with open(os.path.join(ROOT, "bench", "RESULTS.md"), encoding="utf-8") as source:
            parts = page.parts_of(source.read())
        gathered = page.goal_rows(parts.pop(page.GOALS))
        self.assertTrue(gathered)
        self.assertEqual(gathered, [row for lines in parts.values() for row in page.goal_rows(lines)])

    def test_plots_of_the_committed_page_are_there(self):
        folder = os.path.join(ROOT, "bench")
        with open(os.path.join(folder, "RESULTS.md"), encoding="utf-8") as source:
            named = [line.split("](")[1].rstrip(")") for line in source.read().split("\n") if line.startswith("![")]
        for name in named:
            xml.dom.minidom.parse(os.path.join(folder, name))


class Figures(unittest.TestCase):
    def test_the_exponent_of_a_power(self):
        self.assertAlmostEqual(scaling.exponent([(10 ** e, 3 * 10 ** (1.5 * e)) for e in range(1, 6)]), 1.5)

    def test_a_plot_has_axes_units_and_a_legend(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.svg")
            self.assertTrue(plot.lines(path, "Cost & time", "rows", "seconds", {
                "read <fast>": [(10, 0.01), (1000, 1)], "write": [(10, 0.1), (1000, 2)], "none": []}, True, True))
            words = [t.firstChild.data for t in xml.dom.minidom.parse(path).getElementsByTagName("text")]
        for word in ("Cost & time", "rows", "seconds", "read <fast>", "write", "10", "1000", "0.01"):
            self.assertIn(word, words)
        self.assertNotIn("none", words)

    def test_the_plot_of_nothing_is_not_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.svg")
            self.assertFalse(plot.lines(path, "t", "x", "y", {"none": []}))
            self.assertFalse(os.path.exists(path))

    def test_an_optimum_is_the_same_only_with_node_and_loss(self):
        ours = {"search": {"node": {"sex": 0, "age": 3}, "objective": {"cost": 0.25}}}
        for node, loss, said in (({"age": 3, "sex": 0}, 0.25, "yes"),
                                 ({"age": 2, "sex": 0}, 0.25, "another node, same loss"),
                                 ({"age": 3, "sex": 0}, 0.26, "same node, another loss")):
            self.assertEqual(beside.same_optimum(ours, {"node": node, "loss": loss}), said)

    def test_a_peer_that_fails_says_so(self):
        with self.assertRaisesRegex(peers.Failed, "exit 3"):
            peers.ran(["sh", "-c", "echo no >&2; exit 3"])
        with self.assertRaisesRegex(peers.Failed, "no end within"):
            peers.ran(["sleep", "5"], seconds=0.1)

    def test_a_process_that_takes_too_long_is_ended(self):
        seconds, code = common.timed(["sleep", "600"], 0.2)
        self.assertIsNone(code)
        self.assertLess(seconds, 600)


if __name__ == "__main__":
    unittest.main()
