# SPDX-License-Identifier: Apache-2.0
"""pycanon (PyPI): every check of its report, each timed."""
import dataclasses
import time

from peers import Package

NAME = "pycanon"
HINT = "`pip install pycanon` must work"
PACKAGE = Package("pycanon")
BOTH = ("k_anonymity", "alpha_k_anonymity", "l_diversity", "entropy_l_diversity", "recursive_c_l_diversity",
        "t_closeness")
ITS_OWN = ("basic_beta_likeness", "enhanced_beta_likeness", "delta_disclosure")


def available():
    return PACKAGE.available()


def version():
    return PACKAGE.version()


def run(work_):
    return PACKAGE.run(dataclasses.asdict(work_))


def plain(value):
    """Numbers of numpy as numbers of Python; what is not a number as None."""
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    value = float(value)
    return value if value == value else None


def work(asked):
    """Inside pycanon's environment."""
    import pandas
    from pycanon import anonymity
    started = time.perf_counter()
    data = pandas.read_csv(asked["table"], sep=asked["delimiter"])
    quasi, sensitive = list(asked["quasi"]), asked["sensitive"]
    result = {"load": time.perf_counter() - started, "seconds": {}, "value": {}}
    for check in BOTH + ITS_OWN:
        begun = time.perf_counter()
        arguments = (data, quasi) if check == "k_anonymity" else (data, quasi, sensitive)
        result["value"][check] = plain(getattr(anonymity, check)(*arguments))
        result["seconds"][check] = time.perf_counter() - begun
    return result
