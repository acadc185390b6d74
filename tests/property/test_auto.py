# SPDX-License-Identifier: Apache-2.0
"""`auto` against the methods that it chooses from, on random tables.

Its release loses no more than any method it tried, and no more than `flock` and `optimal` with
`objective: il` run separately; it refuses only if all of them do. Every alternative that it shows
is what `anonymize` gives with that line in the policy. SHOAL_CASES sets the number of cases, divided by four.
"""

import copy
import os
import pathlib
import random
import re
import unittest

import support

CASES = min(int(os.environ.get("SHOAL_CASES") or 400) // 4, 100)
PARTS = 8
MIN_FOR_SHARES = 8    # cases of a part, below which no share is asked for
EPSILON = 1e-9
VALUES = [f"v{i}" for i in range(9)]


def setUpModule():
    support.require_program()


def draw_tree(rng, ragged):
    """Groups of values; in a ragged tree one of them has a level more."""
    groups = {}
    for value in VALUES:
        groups.setdefault(f"g{rng.randrange(3)}", []).append(value)
    if not ragged:
        return {"tree": groups}
    groups["g0"] = {"h": groups["g0"]} if "g0" in groups else {"h": ["v9"]}
    return {"tree": groups}


def draw_quasi(rng):
    """A specification, and its values."""
    kind = rng.choice(["tree", "tree", "top", "mask", "intervals", "intervals", "number", "cuts"])
    if kind == "tree":
        return {"hierarchy": draw_tree(rng, False)}, VALUES
    if kind == "top":
        return {"hierarchy": {"top": True}}, VALUES[:rng.randint(2, 5)]
    if kind == "mask":
        return {"hierarchy": {"mask": "right"}}, [f"{a}{b}" for a in "ab" for b in "123"]
    numbers = [str(n) for n in rng.sample(range(0, 60), rng.randint(2, 20))]
    spec = {"type": "number"}
    if kind == "intervals":
        spec["hierarchy"] = {"intervals": [5, 10, 20]}
    if kind == "cuts":
        spec["hierarchy"] = {"cuts": [[10, 20, 40], [20]]}
    return spec, numbers


def draw_case(seed):
    """Header, rows and policy."""
    rng = random.Random(seed)
    n_rows, n_quasi = rng.choice([12, 20, 40, 80]), rng.randint(1, 4)
    quasi = [draw_quasi(rng) for _ in range(n_quasi)]
    skewed = rng.random() < 0.5
    rows = [[values[min(int(rng.expovariate(4 / len(values))), len(values) - 1)] if skewed else rng.choice(values)
             for _, values in quasi] + [rng.choice("abcd")] for _ in range(n_rows)]
    names = [f"q{i}" for i in range(n_quasi)]
    policy = {"shoal": 1,
              "attributes": {**{name: {"role": "quasi", **spec} for name, (spec, _) in zip(names, quasi)},
                             "s": {"role": "sensitive"}},
              "privacy": {"k": rng.choice([2, 3, 4, 5])},
              "method": {"max-suppression": rng.choice([0, 0, 1, 2, "1%", "2.5%", "10%", "30%"])}}
    if rng.random() < 0.5:
        policy["privacy"]["p"] = 2
    if rng.random() < 0.2:
        policy["privacy"]["models"] = [rng.choice([{"l-diversity": {"l": 2, "kind": "entropy"}},
                                                   {"t-closeness": {"t": 0.5}}, {"alpha-k": {"alpha": 0.7}}])]
    if rng.random() < 0.2:
        policy["method"]["suppressed"] = "blank"
    if rng.random() < 0.2:
        policy["method"]["objective"] = rng.choice(["il", "loss"])
    if rng.random() < 0.15:
        policy["attributes"]["q0"] = {"role": "quasi", "hierarchy": draw_tree(rng, True)}
        for row in rows:
            row[0] = rng.choice(VALUES)
    return [*names, "s"], rows, policy


def changed(policy, line):
    """The policy with what a line such as "method: {labels: uniform}" says."""
    other = copy.deepcopy(policy)
    for section, settings in re.findall(r"(\w+): \{(.*?)\}", line):
        for setting in settings.split(", "):
            key, value = setting.split(": ")
            other[section][key] = int(value) if value.isdigit() else value
    return other


class RandomTables(unittest.TestCase):
    def run_policy(self, directory, policy, *more):
        (directory / "policy.yaml").write_text(support.policy_yaml(policy), encoding="utf-8")
        return support.shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--json", *more,
                             cwd=directory)

    def losses_of(self, directory, policy):
        """The release losses of flock and optimal, where they make a release."""
        losses = {}
        for name, method in (("flock", {"algorithm": "flock"}), ("optimal", {"algorithm": "optimal", "objective": "il"})):
            other = copy.deepcopy(policy)
            other["method"].update(method)
            if name == "flock" and policy["method"].get("objective"):
                other["method"]["objective"] = policy["method"]["objective"]
            result = self.run_policy(directory, other)
            self.assertIn(result.code, (0, 1, 2), result)
            if result.code == 0:
                losses[name] = result.json()["measures"]["release_loss"]
        return losses

    def check_report(self, report, say):
        """What the report says of its own release; returns the methods tried."""
        measures, tried = report["measures"], report["search"]["tried"]
        self.assertAlmostEqual(1 - measures["completeness"] * (1 - measures["nil"]), measures["release_loss"], 9, say)
        chosen = [t for t in tried if t["chosen"]]
        self.assertEqual([measures["release_loss"]], [t["release_loss"] for t in chosen], say)
        for t in tried:
            if t["release_loss"] is not None:
                self.assertLessEqual(measures["release_loss"], t["release_loss"] + EPSILON, say)
            self.assertEqual(t["release_loss"] is None, "why" in t, say)
        return {t["labels"] for t in tried}

    def check_alternatives(self, directory, policy, report, say):
        """Each of them is what its line gives; returns their number."""
        variants = report["alternatives"]["variants"]
        self.assertEqual((None, 0), (report["alternatives"]["sample_rows"], report["alternatives"]["left_out"]), say)
        for v in variants:
            if v["chosen"]:
                self.assertEqual(report["measures"]["release_loss"], v["release_loss"], say)
            result = self.run_policy(directory, changed(policy, v["policy"]), "--quick")
            if v["release_loss"] is None:
                self.assertEqual(1, result.code, f"{v}\n{result}\n{say}")
                continue
            self.assertEqual(0, result.code, f"{v}\n{result}\n{say}")
            other = result.json()
            self.assertNotIn("alternatives", other, say)
            self.assertEqual((v["release_loss"], v["suppressed"], v["smallest_class"]),
                             (other["measures"]["release_loss"], other["output"]["suppressed"],
                              other["output"]["smallest_class"]), f"{v}\n{say}")
            self.assertAlmostEqual(1 / v["smallest_class"], v["highest_risk"], 12, say)
        self.assertEqual(1, sum(v["chosen"] for v in variants), say)
        smaller = [v for v in variants if v["name"].startswith("k = ") and int(v["name"][4:]) < policy["privacy"]["k"]]
        for v in smaller:  # the release satisfies a smaller k too
            self.assertLess(v["release_loss"], report["measures"]["release_loss"], f"{v}\n{say}")
        return len(variants)

    def compare(self, seed):
        header, rows, policy = draw_case(seed)
        with support.temp_dir() as name:
            directory = pathlib.Path(name)
            support.write_problem(directory, header, rows, policy)
            result = self.run_policy(directory, policy, "--threads", "1", "--seed", "1")
            say = f"seed {seed}\n{result}\n{support.dump_dir(directory)}"
            written = (directory / "out.csv").read_bytes() if result.code == 0 else b""
            if result.code == 0:
                again = support.shoal("measure", "data.csv", "out.csv", "-P", "policy.yaml", "--json", cwd=directory)
                self.assertAlmostEqual(result.json()["measures"]["completeness"],
                                       again.json()["measures"]["completeness"], 9, say)
                self.run_policy(directory, policy, "--threads", "2", "--seed", "1", "--quick")
                self.assertEqual(written, (directory / "out.csv").read_bytes(), say)
            losses = self.losses_of(directory, policy)
            if not losses:
                self.assertEqual(1, result.code, say)
                return 0, 0
            self.assertEqual(0, result.code, f"{losses}\n{say}")
            report = result.json()
            labels = self.check_report(report, say)
            if policy["method"].get("objective", "il") != "il":
                losses.pop("optimal", None)    # auto follows the other objective
            for algorithm, loss in losses.items():
                self.assertLessEqual(report["measures"]["release_loss"], loss + EPSILON, f"{algorithm}\n{say}")
            return len(labels), self.check_alternatives(directory, policy, report, say)

    def run_part(self, part):
        found = [self.compare(seed) for seed in range(part, CASES, PARTS)]
        if len(found) < MIN_FOR_SHARES:
            return
        self.assertGreater(sum(n_labels == 2 for n_labels, _ in found), len(found) // 8, "few cases have a lattice")
        self.assertGreater(sum(n for _, n in found), 2 * len(found), "few alternatives")


def _part(part):
    return lambda self: self.run_part(part)


for _number in range(PARTS):
    setattr(RandomTables, f"test_part_{_number}", _part(_number))


if __name__ == "__main__":
    unittest.main()
