# SPDX-License-Identifier: Apache-2.0
"""anjana (PyPI): greedy full-domain generalization to k-anonymity."""
import dataclasses
import time

from peers import Package

NAME = "anjana"
HINT = "`pip install anjana` must work"
PACKAGE = Package("anjana")


def available():
    return PACKAGE.available()


def version():
    return PACKAGE.version()


def run(work_):
    return PACKAGE.run(dataclasses.asdict(work_))


def work(asked):
    """Inside anjana's environment: read, anonymize, write."""
    import pandas
    from anjana.anonymity import k_anonymity
    started = time.perf_counter()
    data = pandas.read_csv(asked["table"], sep=asked["delimiter"], dtype=str)
    trees = {}
    for column, path in asked["quasi"].items():
        tree = pandas.read_csv(path, sep=";", header=None, dtype=str, keep_default_na=False)
        trees[column] = {level: tree[level].values for level in tree.columns}
    quasi = list(asked["quasi"])
    data = data[quasi + asked["sensitive"]]
    loaded = time.perf_counter()
    release = k_anonymity(data, [], quasi, asked["k"], 100 * asked["suppression"], trees)
    searched = time.perf_counter()
    path = asked["folder"] + "/anjana.csv"
    release[quasi + asked["sensitive"]].to_csv(path, sep=asked["delimiter"], index=False)
    return {"load": loaded - started, "search": searched - loaded, "write": time.perf_counter() - searched,
            "suppressed": len(data) - len(release), "rows": len(release), "release": path}
