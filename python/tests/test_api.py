# SPDX-License-Identifier: Apache-2.0
"""Functions, results and exceptions of the package."""
import csv
import hashlib
import json
import os
import pathlib
import warnings

import pytest

import shoal
from conftest import POLICY, ROOT, patients, run_program

TINY = os.path.join(ROOT, "examples", "tiny")
KEPT_TYPES = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")


def test_policy_from_dict_text_and_path(tmp_path):
    text = json.dumps(POLICY, indent=1)
    (tmp_path / "p.yaml").write_text(text)
    for source in (POLICY, text + "\n", str(tmp_path / "p.yaml"), tmp_path / "p.yaml"):
        assert shoal.conditions(patients(), shoal.Policy(source)).max_p == 5
    assert shoal.Policy(POLICY) == shoal.Policy(POLICY) and len({shoal.Policy(POLICY), shoal.Policy(POLICY)}) == 1


def test_policy_is_checked_when_made(tmp_path):
    with pytest.raises(shoal.PolicyError) as caught:
        shoal.Policy("shoal: 1\nattributes:\n  age: {rool: quasi}\n")
    assert caught.value.line == 3 and "role" in str(caught.value)
    with pytest.raises(shoal.PolicyError):
        shoal.Policy({"shoal": 1, "attributes": {"age": {"role": object()}}})
    with pytest.raises(FileNotFoundError):
        shoal.Policy(tmp_path / "missing.yaml")
    with pytest.raises(TypeError):
        shoal.Policy(3)
    with pytest.raises(shoal.PolicyError):
        shoal.Policy.of(k=0, quasi="age")
    with pytest.raises(shoal.PolicyError):
        shoal.Policy.of(k=2, quasi="age", sensitive="age")
    with pytest.raises(shoal.PolicyError):
        shoal.Policy(POLICY).replace(k="many")


def test_policy_of(data):
    policy = shoal.Policy.of(k=3, p=2, identifier=["name"], sensitive=["illness"], keep="ward",
                             quasi={"age": {"intervals": [5, 10]}, "zip": {"mask": "right"}, "sex": None},
                             max_suppression="10%", accept={"kept": ["ward"]}, algorithm="samarati")
    release = shoal.anonymize(data, policy)
    assert release.report["search"]["algorithm"] == "samarati" and release.verdict.startswith("holds")
    rows = shoal.hierarchy(data, column="age", spec={"intervals": [5, 10]}).rows
    levels = shoal.Policy.of(k=6, quasi={"age": rows, "sex": [["F", "*"], ["M", "*"]]}, unlisted="drop",
                             algorithm="samarati", max_suppression="20%")
    labels = {label for row in rows for label in row}
    assert set(shoal.anonymize(data, levels).table["age"]) <= labels


def test_hierarchy_file_is_relative_to_the_policy(tmp_path, data):
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n")
    (tmp_path / "p.yaml").write_text("shoal: 1\nunlisted: drop\nattributes:\n  sex: {role: quasi, hierarchy: "
                                     "{file: sex.csv}}\nprivacy: {k: 2}\n")
    assert shoal.anonymize(data, tmp_path / "p.yaml").table["sex"]


def test_simple_call(data):
    with pytest.warns(shoal.ShoalWarning, match="name, ward"):
        release = shoal.anonymize(data, quasi=["age", "zip", "sex"], sensitive="illness", k=5, p=2)
    assert list(release.table) == ["age", "zip", "sex", "illness"]
    assert [(model["model"], model["required"]) for model in release.models] == [("k-anonymity", 5), ("p-sensitive", 2)]
    assert all(model["reached"] >= model["required"] for model in release.models)
    with pytest.raises(TypeError):
        shoal.anonymize(data, POLICY, quasi=["age"])
    with pytest.raises(TypeError):
        shoal.anonymize(data)


def test_results_print_what_the_program_prints(tmp_path, data, policy):
    with open(tmp_path / "data.csv", "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(data)
        rows.writerows(zip(*data.values()))
    (tmp_path / "p.yaml").write_text(json.dumps(POLICY))
    path, words = tmp_path / "data.csv", ("-P", tmp_path / "p.yaml")
    for name, call in (("conditions", shoal.conditions), ("lattice", shoal.lattice), ("explain", shoal.explain)):
        from_path, printed = call(path, policy), run_program(name, path, *words)
        assert str(from_path) == printed.rstrip("\n")
        assert from_path.to_dict() == json.loads(run_program(name, path, *words, "--json"))
        from_dict = call(data, policy)
        assert from_dict.to_dict() == from_path.to_dict() and str(from_dict).splitlines()[1:] == str(
            from_path).splitlines()[1:]
    assert str(shoal.profile(path)) == run_program("profile", path).rstrip("\n")
    assert str(shoal.check(path, policy)) == run_program("check", path, *words, status=1).rstrip("\n")


def test_every_result(data, policy):
    profile = shoal.profile(data)
    assert profile.rows == 60 and profile.columns[0]["role"] == "identifier"
    assert shoal.anonymize(data, profile.policy()).verdict
    assert "decide" in profile.policy_text() or profile.policy_text(decide="safe")
    check = shoal.check(data, policy)
    assert not check.holds and not check and check.verdict == "do-not-publish" and check.models
    assert shoal.conditions(data, policy).attributes[0]["attribute"] == "illness"
    lattice = shoal.lattice(data, policy)
    assert lattice.svg().startswith("<svg") and lattice.dot().startswith("digraph") and "age" in lattice.csv()
    assert len(lattice.to_pandas()) == len(lattice.nodes) and lattice.preferred
    assert shoal.explain(data, policy).changes is not None
    release = shoal.anonymize(data, policy)
    measures = shoal.measure(data, release)
    assert measures.loss == pytest.approx(release.loss) and measures.risk["after"]["rows"] == len(release.table["age"])
    attacks = shoal.attack(release, original=data)
    assert attacks.holds and not {"linking", "homogeneity"} & set(attacks.successful) and len(attacks.to_pandas())
    naive = {name: data[name] for name in data if name != "name"}
    assert "linking" in shoal.attack(naive, policy, external=data).successful
    for result in (profile, check, lattice, measures, attacks, release, release.alternatives):
        assert result._repr_html_().startswith("<") and str(result) and repr(result)
    assert shoal.check(release).holds
    tree = shoal.hierarchy(policy=policy, attribute="age", data=data)
    assert "[20-39]" in str(tree)
    with pytest.raises(shoal.Error):
        shoal.hierarchy(policy=policy, attribute="nothing")


def test_release(tmp_path, data, policy):
    release = shoal.anonymize(data, policy, seed=3)
    assert release.verdict == "holds-with-risks" and release.risks[0]["accepted"]
    assert release.report["shoal"] == shoal.__version__ and release.loss > 0
    assert release.alternatives and release.html().startswith("<!") and release.certificate().startswith("<!")
    for name in ("r.csv", "r.csv.gz", "r.parquet", "r.feather", "r.xlsx"):
        release.write(tmp_path / name)
    assert shoal.check(tmp_path / "r.csv", policy).holds and shoal.check(tmp_path / "r.parquet", policy).holds
    assert shoal.check(tmp_path / "r.csv.gz", policy).holds and shoal.check(tmp_path / "r.feather", policy).holds
    release.write(tmp_path / "r.csv", certificate=tmp_path / "c.html")
    digest = hashlib.sha256((tmp_path / "r.csv").read_bytes()).hexdigest()
    assert digest in (tmp_path / "c.html").read_text() == release.certificate()
    assert sorted(os.listdir(tmp_path)) == ["c.html", "r.csv", "r.csv.gz", "r.feather", "r.parquet", "r.xlsx"]
    with pytest.raises(ValueError):
        release.write(tmp_path / "r.txt")
    with pytest.raises(FileNotFoundError):
        release.write(tmp_path / "no" / "r.csv")


def test_certificate_is_the_program_s(tmp_path, data, policy):
    """A recipient makes the same certificate from the file, the policy and the number of suppressed rows."""
    release = shoal.anonymize(data, policy)
    release.write(tmp_path / "r.csv", certificate=tmp_path / "c.html")
    (tmp_path / "p.yaml").write_text(json.dumps(POLICY))
    run_program("certificate", tmp_path / "r.csv", "-P", tmp_path / "p.yaml", "--left-out",
                release.report["output"]["suppressed"] or "none", "-o", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "c.html").read_bytes()


def test_classes_and_mapping(data, policy):
    release = shoal.anonymize(data, policy)
    assert len(release.classes) == release.report["output"]["classes"]
    assert sum(row["rows"] for row in release.classes) == release.report["output"]["rows"]
    mapping = [row for row in release.mapping if row["attribute"] == "age"]
    assert {row["value"] for row in mapping} == set(map(str, data["age"]))
    assert sum(row["rows"] for row in mapping) == 60
    assert sum(row["rows"] for row in mapping if row["label"] is None) == release.report["output"]["suppressed"]
    with pytest.raises(TypeError):
        shoal.anonymize(os.path.join(TINY, "patients.csv"), os.path.join(TINY, "policy.yaml")).mapping


def test_order_and_seed(data, policy):
    def table(**options):
        return shoal.anonymize(data, policy, **options).table

    assert table(seed=5) == table(seed=5) == table(seed=5, threads=1)
    kept = table(keep_order=True)
    assert kept != table(seed=5) and sorted(zip(*kept.values())) == sorted(zip(*table(seed=5).values()))


def test_refused(data, policy):
    with pytest.raises(shoal.Refused):
        shoal.anonymize(data, dict(POLICY, privacy={"k": 6, "p": 6}))
    with pytest.raises(shoal.Refused):  # an open risk
        shoal.anonymize(data, dict(POLICY, accept={}), strict=True)
    with pytest.warns(shoal.ShoalWarning, match="open risks: kept"):
        shoal.anonymize(data, dict(POLICY, accept={}))


def test_data_errors(data, policy, tmp_path):
    with pytest.raises(shoal.DataError, match="more"):
        shoal.anonymize({**data, "more": data["age"]}, policy)
    with pytest.raises(shoal.DataError) as caught:
        shoal.anonymize({**data, "age": ["old", *data["age"][1:]]}, policy)
    assert (caught.value.row, caught.value.column) == (1, "age") and "old" not in str(caught.value)
    with pytest.raises(shoal.DataError):
        shoal.anonymize({**data, "age": [1]}, policy)
    with pytest.raises(TypeError):
        shoal.anonymize(3, policy)
    with pytest.raises((shoal.DataError, OSError)):
        shoal.anonymize(tmp_path / "missing.csv", policy)
    with pytest.raises(FileNotFoundError):
        shoal.anonymize(tmp_path / "missing.parquet", policy)
    assert issubclass(shoal.Refused, shoal.Error) and issubclass(shoal.DataError, shoal.Error)
    assert issubclass(shoal.PolicyError, shoal.Error) and issubclass(shoal.VerifierError, shoal.Error)


def test_paths():
    policy = os.path.join(TINY, "policy.yaml")
    release = shoal.anonymize(os.path.join(TINY, "patients.csv"), policy, keep_order=True)
    assert release.table == {"age": ["[30-39]"] * 3 + ["[50-59]"] * 3, "zip": ["4107*"] * 3 + ["4109*"] * 3,
                             "illness": ["flu", "asthma", "flu", "diabetes", "gout", "asthma"]}
    assert shoal.anonymize(pathlib.Path(TINY, "patients.csv"), pathlib.Path(policy)).verdict == "holds"


def test_previous(data, policy):
    first = shoal.anonymize(data, policy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second = shoal.anonymize(data, policy, k=4, previous=[first])
    assert second.verdict


def test_compare(data, policy):
    compared = shoal.compare(data, {"k = 3": policy, "k = 6": policy.replace(k=6), "k = 99": policy.replace(k=99)})
    assert [row["name"] for row in compared.rows] == ["k = 3", "k = 6", "k = 99"]
    assert compared.rows[2]["refused"] and compared.best is compared.releases["k = 3"]
    assert len(compared.to_pandas()) == 3 and "k = 6" in str(compared) and compared._repr_html_()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert compared.plot() and compared.best.plot()


def test_kept_columns_survive_unchanged():
    """Values of every type, also nested ones, in the kind that came in."""
    import datetime
    import decimal

    import pandas
    import polars
    import pyarrow
    n = 12
    kept = {"list": [[i, None] for i in range(n)], "struct": [{"a": i, "b": [str(i)]} for i in range(n)],
            "bytes": [bytes([i, 255]) for i in range(n)], "decimal": [decimal.Decimal(i) / 4 for i in range(n)],
            "time": [datetime.time(i) for i in range(n)], "zone": [datetime.datetime(
                2024, 1, 1 + i, tzinfo=datetime.timezone.utc) for i in range(n)],
            "float": [None if i == 3 else i / 3 for i in range(n)], "int": [None if i == 2 else i for i in range(n)]}
    table = {"age": [20 + i // 4 for i in range(n)], **kept}
    policy = shoal.Policy.of(k=2, quasi={"age": {"intervals": [5]}}, keep=list(kept), accept={"kept": list(kept)})
    arrow = pyarrow.table(table)
    frames = {"dict": table, "pyarrow": arrow, "polars": polars.from_arrow(arrow), "pandas": pandas.DataFrame(table)}
    for kind, frame in frames.items():
        released = shoal.anonymize(frame, policy, keep_order=True, quick=True).table
        assert type(released) is type(frame)
        if kind == "dict":
            assert {name: released[name] for name in kept} == kept
        elif kind == "pandas":
            pandas.testing.assert_frame_equal(released[list(kept)], frame[list(kept)])
        elif kind == "polars":
            assert released.select(list(kept)).equals(frame.select(list(kept)), null_equal=True)
        else:
            assert released.select(list(kept)).combine_chunks().equals(arrow.select(list(kept)).combine_chunks())


def test_sensitive_columns_keep_their_type():
    import pandas
    import polars
    import pyarrow
    table = {"age": [20, 21, 22, 30, 31, 32], "income": [100, 250, 100, 75, 75, 300]}
    policy = shoal.Policy.of(k=3, p=2, quasi={"age": {"type": "number"}}, sensitive="income")
    assert shoal.anonymize(table, policy, keep_order=True).table["income"] == table["income"]
    frame = shoal.anonymize(pandas.DataFrame(table), policy, keep_order=True).table
    assert frame["income"].dtype == "int64" and frame["income"].tolist() == table["income"]
    assert shoal.anonymize(polars.DataFrame(table), policy).table.schema["income"] == polars.Int64
    assert shoal.anonymize(pyarrow.table(table), policy).table.schema.field("income").type == pyarrow.int64()


def test_pandas_index_is_not_released(data, policy):
    import pandas
    frame = pandas.DataFrame(data).set_index("name")
    released = shoal.anonymize(frame, dict(POLICY, attributes={k: v for k, v in POLICY["attributes"].items()
                                                               if k != "name"})).table
    assert list(released.index) == list(range(len(released))) and released.index.name is None


def test_other_streams(data, policy):
    import polars
    import pyarrow

    class Other:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    release = shoal.anonymize(Other(pyarrow.table(data)), policy)
    assert isinstance(release.table, pyarrow.Table)
    assert polars.DataFrame(release).shape == pyarrow.table(release).shape == release.table.shape
    lazy = shoal.anonymize(polars.DataFrame(data).lazy(), policy).table
    assert isinstance(lazy, polars.LazyFrame)


def test_pandas_without_pyarrow(data, policy, monkeypatch):
    import pandas
    frame = pandas.DataFrame(data).astype({"zip": object})
    expected = shoal.anonymize(frame, policy, seed=1).table
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    pandas.testing.assert_frame_equal(shoal.anonymize(frame, policy, seed=1).table, expected)


def test_console_script_reads_parquet(tmp_path, data):
    import subprocess
    import sys

    import pandas
    frame = pandas.DataFrame(data)
    (tmp_path / "p.yaml").write_text(json.dumps(POLICY))
    frame.to_csv(tmp_path / "d.csv", index=False)
    run_program("anonymize", tmp_path / "d.csv", "-P", tmp_path / "p.yaml", "-o", tmp_path / "expected.csv", "--seed", 1)
    frame.to_parquet(tmp_path / "d.parquet")
    frame.to_feather(tmp_path / "d.feather")
    frame.to_excel(tmp_path / "d.xlsx", index=False)
    script = [sys.executable, "-m", "shoal"]
    for name in ("d.parquet", "d.feather", "d.xlsx"):
        subprocess.run([*script, "anonymize", name, "-P", "p.yaml", "-o", "r.csv", "--seed", "1", "-q"], cwd=tmp_path,
                       check=True)
        assert (tmp_path / "r.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes(), name
    wrong = subprocess.run([*script, "anonymize", "d.parquet", "-P", "p.yaml", "-o", "r.parquet"], cwd=tmp_path,
                           capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "CSV" in wrong.stderr
    missing = subprocess.run([*script, "profile", "no.parquet"], cwd=tmp_path, capture_output=True, text=True,
                             check=False)
    assert missing.returncode == 2 and "no.parquet" in missing.stderr
    version = subprocess.run([*script, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.strip() == f"shoal {shoal.__version__}"
