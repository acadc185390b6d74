# SPDX-License-Identifier: Apache-2.0
"""Counted tuples: the decision of the whole table, applied by joins."""
import pickle
from collections import Counter

import pytest

import shoal
import shoal.tuples
from conftest import POLICY, patients

TUPLE = ("age", "zip", "sex", "illness")


def counted(data):
    counts = Counter(zip(*(data[name] for name in TUPLE)))
    columns = {name: [row[i] for row in counts] for i, name in enumerate(TUPLE)}
    return columns, list(counts.values())


def outside(data):
    figures = {}
    for name in ("name", "ward"):
        rows = Counter(Counter(data[name]).values())
        figures[name] = ("text", dict(rows))
    return figures


def released(data, policy):
    table = shoal.anonymize(data, policy, quick=True).table
    return Counter(zip(*(table[name] for name in TUPLE)))


@pytest.mark.parametrize("algorithm", ["samarati", "incognito", "mondrian", "flock"])
def test_joins_make_the_release(algorithm):
    data = patients(400)
    policy = shoal.Policy(POLICY).replace(algorithm=algorithm)
    columns, counts = counted(data)
    decision = shoal.tuples.decide(columns, counts, policy, outside=outside(data))
    made = Counter()
    for share in decision.shares:
        group = decision.classes[share["class"]]
        if group["fate"] == "released":
            made[(*(group[name] for name in decision.quasi), columns["illness"][share["tuple"]])] += share["rows"]
    assert made == released(data, policy)
    assert sum(row["rows"] for row in decision.histograms) == 400
    if algorithm in ("samarati", "incognito"):
        label = {(row["attribute"], row["value"]): row["label"] for row in decision.mapping}
        by_value = Counter()
        for row, n in zip(zip(*columns.values()), counts):
            labels = tuple(label[name, str(value)] for name, value in zip(TUPLE, row[:3]))
            if labels not in decision.suppressed:
                by_value[(*labels, row[3])] += n
        assert by_value == made


def test_columns_outside_are_judged():
    data = patients(400)
    columns, counts = counted(data)
    policy = {**POLICY, "accept": {}}
    with pytest.raises(shoal.DataError, match="'ward' .its values could not be measured"):
        shoal.tuples.decide(columns, counts, policy, outside={"name": None, "ward": None})
    with pytest.raises(shoal.DataError, match="'ward' .nearly every value"):
        shoal.tuples.decide(columns, counts, policy, outside={"name": None, "ward": ("whole", {1: 400})})
    with pytest.raises(shoal.PolicyError, match="no column 'name'"):
        shoal.tuples.decide(columns, counts, policy)
    with pytest.raises(shoal.DataError, match="counts"):
        shoal.tuples.decide(columns, counts[1:], policy, outside=outside(data))
    with pytest.raises(ValueError, match="the kind is one of"):
        shoal.tuples.decide(columns, counts, policy, outside={"name": ("words", {1: 400})})


def test_releases_are_verified_by_their_tuples():
    data = patients(400)
    policy = shoal.Policy({**POLICY, "privacy": {"k": 3, "p": 2, "models": [{"t-closeness": {"t": 0.5}}]}})
    table = shoal.anonymize(data, policy).table
    columns, counts = counted(table)
    found = shoal.tuples.verify(columns, counts, policy, original=counted(data))
    assert found.rows == len(table["age"]) and found.smallest_class >= 3
    assert shoal.tuples.verify(table, None, policy) == found
    worst = min(Counter(zip(*(table[name] for name in TUPLE[:3]))).values())
    with pytest.raises(shoal.VerifierError, match="k-anonymity"):
        shoal.tuples.verify(columns, counts, policy.replace(k=worst + 1), original=counted(data))
    one = counts.index(max(counts))
    counts[one] += 1  # k and p hold with more records; t-closeness need not
    assert shoal.tuples.verify(columns, counts, POLICY).rows == found.rows + 1
    columns["illness"][0] = "unheard of"
    with pytest.raises(shoal.VerifierError, match="neither the original"):
        shoal.tuples.verify(columns, counts, policy, original=counted(data))


def follow(cuts, row):
    node = cuts.nodes[0]
    while node["part"] is None:
        value = row[node["column"]]
        lower = float(value) <= float(node["bound"]) if node["bound"] is not None else str(value) in node["values"]
        node = cuts.nodes[node["lower" if lower else "upper"]]
    return node["part"]


@pytest.mark.parametrize("n", [2, 3, 8])
def test_parts_are_like_the_whole(n):
    """t-closeness holds for the union: every part compares with the whole, and its values are among the whole's."""
    data = patients(2000, seed=3)
    policy = shoal.Policy({**POLICY, "privacy": {"k": 3, "models": [{"t-closeness": {"t": 0.35}}]},
                           "method": {"algorithm": "mondrian", "max-suppression": "5%", "seed": 1}})
    columns, counts = counted(data)
    cuts = shoal.tuples.cuts(columns, counts, policy, n)
    assert cuts.n_parts == n and cuts.nodes[0]["rows"] == 2000
    whole = pickle.loads(pickle.dumps(shoal.tuples.Whole.of(columns, counts, policy)))
    part_of = dict(zip(zip(*columns.values()), cuts.parts))
    rows = [dict(zip(data, row)) for row in zip(*data.values())]
    released = Counter()
    for part in range(n):
        mine = [row for row in rows if part_of[tuple(row[name] for name in TUPLE)] == part]
        assert all(follow(cuts, row) == part for row in mine)
        assert 2000 / n / 2 < len(mine) < 2000 / n * 2
        table = shoal.anonymize({name: [row[name] for row in mine] for name in data}, policy, whole=whole,
                                quick=True).table
        released.update(zip(*(table[name] for name in TUPLE)))
    made = {name: [row[i] for row in released] for i, name in enumerate(TUPLE)}
    found = shoal.tuples.verify(made, released.values(), policy, original=(columns, counts))
    assert found.rows >= 1900
    with pytest.raises(shoal.DataError, match="more records of a value"):
        shoal.anonymize(data, policy, whole=shoal.tuples.Whole({"illness": {"flu": 1}}))
