# SPDX-License-Identifier: Apache-2.0
"""The same table gives the same release through a CSV file and the program, and through every kind of table."""
import csv
import datetime
import json
import os
import random
import re

import pytest

import shoal
from conftest import run_program

SEED = 7
KINDS = ("dict", "pandas", "polars", "pyarrow", "duckdb")
ILLNESSES = {"lung": ["flu", "asthma"], "heart": ["angina", "infarct"], "joint": ["gout", "arthritis"]}
LISTED = [illness for group in ILLNESSES.values() for illness in group]
FULL_DOMAIN = ("samarati", "incognito", "optimal", "datafly", "mu-argus")
MODELS = (
    {"p-sensitive": {"p": 2}},
    {"extended-p-sensitive": {"p": 2}},
    {"p-plus-sensitive": {"p": 2}},
    {"p-alpha-sensitive": {"p": 2, "alpha": 1}},
    {"balanced-p-plus": {"p": 2}},
    {"balanced-p-alpha": {"p": 2, "alpha": 1}},
    {"l-diversity": {"kind": "distinct", "l": 2}},
    {"l-diversity": {"kind": "entropy", "l": 1.5}},
    {"l-diversity": {"kind": "recursive", "l": 2, "c": 3}},
    {"t-closeness": {"t": 0.7, "distance": "equal"}},
    {"t-closeness": {"t": 0.7, "distance": "hierarchical"}},
    {"alpha-k": {"alpha": 0.8}},
    {"personalized": {"column": "guard", "breach": 0.9, "attribute": "illness"}},
)


def random_table(seed, n=200):
    """Columns of every type, with missing cells."""
    rng = random.Random(seed)

    def some(make, share=0.05):
        return [None if rng.random() < share else make() for _ in range(n)]

    return {
        "name": [f"person {i}, \"{seed}\"" for i in range(n)],
        "age": some(lambda: rng.randint(18, 90)),
        "score": some(lambda: rng.randint(0, 400) / 8),
        "flag": some(lambda: rng.random() < 0.5),
        "day": some(lambda: datetime.date(2020, 1, 1) + datetime.timedelta(days=rng.randint(0, 900))),
        "town": some(lambda: rng.choice(["Ulm", "Köln", "a, b", 'say "x"', "東京"])),
        "illness": [rng.choice(LISTED) for _ in range(n)],
        "guard": [rng.choice(["lung", "heart", "joint"]) for _ in range(n)],
        "seen": some(lambda: datetime.datetime(2024, 5, 17, rng.randint(0, 2), 30 * rng.randint(0, 1))),
        "cost": some(lambda: rng.choice([0.5, 1e-07, 3.0])),
    }


def policy_for(algorithm, models=()):
    local = algorithm not in (*FULL_DOMAIN, "auto")
    tree = {group: list(values) for group, values in ILLNESSES.items()}
    categories = [list(values) for values in ILLNESSES.values()]
    numbers = {} if local else {"hierarchy": {"intervals": [10, 40]}}
    policy = {
        "shoal": 1,
        "attributes": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "type": "number", **numbers},
            "score": {"role": "quasi", "type": "number", **numbers},
            "flag": {"role": "quasi", "hierarchy": {"top": True}},
            "day": {"role": "quasi", "hierarchy": {"date": ["day", "month", "year"]}},
            "town": {"role": "quasi", "hierarchy": {"top": True}},
            "illness": {"role": "sensitive", "hierarchy": {"tree": tree}, "categories": categories},
            "guard": {"role": "identifier"},
            "seen": {"role": "keep"},
            "cost": {"role": "keep"},
        },
        "accept": {"kept": ["seen", "cost"]},
        "privacy": {"k": 2, "models": list(models)},
        "method": {"algorithm": algorithm, "max-suppression": "40%", "seed": SEED},
    }
    if algorithm == "mu-argus":  # it misses combinations of many columns
        for name in ("score", "town"):
            policy["attributes"][name] = {"role": "identifier"}
    if algorithm == "theta":
        policy["privacy"] = {"k": 2, "p": 2, "models": [{"theta-sensitive": {"mu": 0.6}}]}
        policy["method"]["noise"] = "50%"
        policy["attributes"]["illness"] = {"role": "sensitive"}
    return policy


def text(value):
    """A cell as a CSV file has it."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return str(value.date()) if value.time() == datetime.time() else str(value)
    return str(value)


def write_csv(table, path):
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(table)
        rows.writerows(zip(*[map(text, column) for column in table.values()]))


def of_kind(kind, table):
    if kind == "dict":
        return table
    if kind == "pandas":
        import pandas
        frame = pandas.DataFrame(table, index=range(100, 100 + len(table["age"])))
        return frame.astype({"age": "Int64", "flag": "boolean", "town": "category"})
    if kind == "polars":
        import polars
        return polars.DataFrame(table)
    import pyarrow
    arrow = pyarrow.table(table)
    if kind == "pyarrow":
        return arrow
    import duckdb
    return duckdb.from_arrow(arrow)


def rows_of(released):
    """Rows of text of a released table of any kind."""
    if isinstance(released, dict):
        columns = released
    elif hasattr(released, "fetchall"):
        rows = released.fetchall()
        columns = {name: [row[i] for row in rows] for i, name in enumerate(released.columns)}
    elif hasattr(released, "to_dicts"):
        columns = released.to_dict(as_series=False)
    elif hasattr(released, "to_pydict"):
        columns = released.to_pydict()
    else:
        columns = {name: [None if missing else value for value, missing in
                          zip(released[name].tolist(), released[name].isna())] for name in released}
    return list(columns), [tuple(map(text, row)) for row in zip(*columns.values())]


def by_program(table, policy, folder):
    write_csv(table, folder / "data.csv")
    (folder / "policy.yaml").write_text(json.dumps(policy), encoding="utf-8")
    run_program("anonymize", folder / "data.csv", "-P", folder / "policy.yaml", "-o", folder / "release.csv",
                "--keep-order", "-q")
    with open(folder / "release.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], [tuple(row) for row in rows[1:]]


def compare_kinds(table, policy, folder, kinds=KINDS):
    names, expected = by_program(table, policy, folder)
    for kind in kinds:
        release = shoal.anonymize(of_kind(kind, table), policy, keep_order=True, quick=True)
        assert rows_of(release.table) == (names, expected), kind
    return len(expected)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("algorithm", [entry[0] for entry in shoal._shoal.algorithms()] + ["auto"])
def test_every_algorithm(algorithm, tmp_path):
    assert compare_kinds(random_table(hash_of(algorithm)), policy_for(algorithm), tmp_path)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: "-".join([*model, *map(str, *map(dict.values, model.values()))]))
def test_every_model(model, tmp_path):
    algorithm = {"balanced-p-alpha": "mondrian", "balanced-p-plus": "flock", "personalized": "optimal"}.get(
        next(iter(model)), "samarati")
    assert compare_kinds(random_table(hash_of(str(model))), policy_for(algorithm, [model]), tmp_path)


def test_models_and_algorithms_are_complete():
    named = {name for model in MODELS for name in model} | {"k-anonymity", "theta-sensitive"}
    assert named == {entry[0] for entry in shoal._shoal.models()}


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("seed", range(20 if os.environ.get("SHOAL_LONG") else 4))
def test_random_tables(seed, tmp_path):
    table = random_table(100 + seed, n=random.Random(seed).choice([1, 2, 30, 300]))
    policy = policy_for(random.Random(seed).choice(["auto", "samarati", "flock", "mondrian"]))
    try:
        compare_kinds(table, policy, tmp_path)
    except AssertionError as error:
        refused = re.search(r"shoal: (?:.*?: )?(.*)", str(error))
        if not refused:
            raise
        for kind in KINDS:  # both refuse, for the same reason
            with pytest.raises(shoal.Error):
                shoal.anonymize(of_kind(kind, table), policy, keep_order=True)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_adult(tmp_path):
    folder = os.environ.get("SHOAL_DATA")
    path = folder and os.path.join(folder, "adult", "adult.csv")
    if not path or not os.path.exists(path):
        pytest.skip("SHOAL_DATA has no adult/adult.csv")
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    table = dict(zip(rows[0], map(list, zip(*rows[1:]))))
    quasi = {name: {"role": "quasi", "hierarchy": {"top": True}}
             for name in ("workclass", "education", "marital-status", "race", "sex") if name in table}
    policy = {"shoal": 1, "unlisted": "drop",
              "attributes": {**quasi, "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 10, 20]}},
                             "occupation": {"role": "sensitive"}},
              "privacy": {"k": 5, "p": 2}, "method": {"algorithm": "optimal", "max-suppression": "2%", "seed": SEED}}
    names, expected = by_program(table, policy, tmp_path)
    for kind in KINDS:
        frame = table if kind == "dict" else of_kind_of_text(kind, table)
        release = shoal.anonymize(frame, policy, keep_order=True, quick=True)
        assert rows_of(release.table) == (names, expected), kind


def of_kind_of_text(kind, table):
    import pandas
    import polars
    import pyarrow
    import duckdb
    return {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table,
            "duckdb": lambda columns: duckdb.from_arrow(pyarrow.table(columns))}[kind](table)


def hash_of(name):
    return sum(map(ord, name))
