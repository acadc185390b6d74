# SPDX-License-Identifier: Apache-2.0
"""Releases on a cluster equal those of one machine; what is staged, written and logged."""
import datetime
import glob
import json
import os
import random
import stat
import subprocess
import sys
from collections import Counter
from decimal import Decimal

import pyarrow
import pytest
from conftest import POLICY, patients

import shoal
import shoal.spark
from shoal.spark import _release

LONG = bool(os.environ.get("SHOAL_LONG"))


def frame(spark, table, partitions=3):
    return spark.createDataFrame(table).repartition(partitions)


def rows_of(table):
    """The rows of a pyarrow table, counted; dictionaries decoded. Spark groups -0.0 with 0.0: so does the label."""
    return Counter(tuple("'0.0'" if repr(cell) == "'-0.0'" else repr(cell) for cell in row.values())
                   for row in table.to_pylist())


def on_cluster(df, policy, **options):
    with shoal.spark.anonymize(df, policy, **options) as release:
        return rows_of(release.dataframe.toArrow()), release.report


def on_one_machine(table, policy, **options):
    release = shoal.anonymize(table, policy, quick=True, **options)
    return rows_of(release.table), release.report


# ------------------------------------------------------------ random tables

MODELS = [None, {"t-closeness": {"t": 0.4}}, {"l-diversity": {"kind": "entropy", "l": 1.5}},
          {"l-diversity": {"kind": "recursive", "l": 2, "c": 3}}, {"alpha-k": {"alpha": 0.8}}]


def random_table(rng):
    n = rng.randint(20, 300)
    hole = rng.choice([0, 0, 0.03])

    def column(values, kind):
        return pyarrow.array([None if rng.random() < hole else rng.choice(values) for _ in range(n)], kind)

    return pyarrow.table({
        "id": pyarrow.array([f"P{i // rng.choice([1, 1, 2])}" for i in range(n)]),
        "age": column(range(20, 80), pyarrow.int32()),
        "the.zip": column([f"4{i}" for i in range(1000, 1012)] + [""] * rng.randint(0, 1), pyarrow.string()),
        "sex": column(["F", "M", "?"], pyarrow.string()),
        "income": column([100.5, 2e3, 0.1, -0.0, 1e16], pyarrow.float64()),
        "born": column([datetime.date(1960 + i, 1 + i % 12, 3) for i in range(30)], pyarrow.date32()),
        "illness": column(["flu", "FLU", "gout", "asthma", "", "angina"], pyarrow.string()),
        "stage": column([1, 2, 3], pyarrow.int16()),
        "seen": column([datetime.datetime(2024, 2, 29, h) for h in range(3)], pyarrow.timestamp("us")),
        "ward": column([Decimal("1.50"), Decimal("2.00")], pyarrow.decimal128(6, 2)),
    })


def random_policy(rng):
    quasi = {"age": {"type": "number", "hierarchy": {"intervals": [5, 10, 20]}}, "the.zip": {"hierarchy": {"mask": "right"}},
             "sex": {"hierarchy": {"top": True}}, "income": {"type": "number", "hierarchy": {"cuts": [[0, 1000]]}},
             "born": {"hierarchy": {"date": ["day", "month", "year", "decade"]}}}
    chosen = rng.sample(sorted(quasi), rng.randint(1, 3))
    attributes = {"id": {"role": "identifier"}, "ward": {"role": "keep"},
                  **{name: {"role": "quasi", **spec} for name, spec in quasi.items() if name in chosen},
                  **{name: {"role": "keep"} for name in quasi if name not in chosen},
                  "illness": {"role": "sensitive"}, "stage": {"role": rng.choice(["sensitive", "keep"])},
                  "seen": {"role": "keep"}}
    policy = {"shoal": 1, "data": {"missing": rng.choice([[""], ["", "?"]])}, "attributes": attributes,
              "accept": {"kept": sorted(attributes), "unprotected": ["illness", "stage"], "repeats": ["id"]},
              "privacy": {"k": rng.randint(2, 5)},
              "method": {"algorithm": rng.choice(["samarati", "incognito", "optimal", "datafly", "mu-argus"]),
                         "suppressed": rng.choice(["remove", "remove", "blank"]),
                         "max-suppression": rng.choice(["0%", "5%", "30%", "100%"]), "seed": rng.randint(1, 9)}}
    if rng.random() < 0.3:
        policy["data"]["fold"] = ["case"]
    model = rng.choice(MODELS)
    if model:
        policy["privacy"]["models"] = [model]
    else:
        policy["privacy"]["p"] = 2
    return shoal.Policy(policy)


def outcome(make):
    try:
        return make()
    except shoal.Error as error:
        return type(error)


@pytest.mark.parametrize("seed", range(200 if LONG else 4))
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_random_tables_are_released_as_on_one_machine(spark, seed):
    rng = random.Random(seed)
    table, policy = random_table(rng), random_policy(rng)
    df = frame(spark, table, rng.choice([1, 2, 7]))
    one = outcome(lambda: on_one_machine(df.toArrow(), policy))
    many = outcome(lambda: on_cluster(df, policy))
    if isinstance(one, type):
        assert many == one
        return
    assert not isinstance(many, type), many
    assert many[0] == one[0]
    for key in ("models", "risks", "verdict", "output"):
        assert many[1][key] == one[1][key], key


@pytest.mark.parametrize("algorithm", ["mondrian", "flock"])
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_local_recoding_equals_one_machine(spark, algorithm):
    table = pyarrow.table(patients(150))
    policy = shoal.Policy(POLICY).replace(algorithm=algorithm, seed=3)
    many, report = on_cluster(frame(spark, table), policy)
    one, expected = on_one_machine(table, policy)
    parts = [Counter(), Counter()]
    for made, counts in zip(parts, (many, one)):  # who of equal people has which ward is random
        for row, n in counts.items():
            made[row[:-1]] += n
    assert parts[0] == parts[1] and report["output"] == expected["output"]


# ------------------------------------------------------------ people and studies


@pytest.mark.parametrize("algorithm", ["samarati", "flock"])
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_people_are_counted(spark, algorithm):
    table = pyarrow.table(patients(100))
    table = pyarrow.concat_tables([table, table.set_column(4, "illness", table["illness"].take(list(range(99, -1, -1))))])
    policy = {**POLICY, "attributes": {**POLICY["attributes"], "name": {"role": "person"}}}
    policy = shoal.Policy(policy).replace(algorithm=algorithm, seed=2)
    df = frame(spark, table)
    many, report = on_cluster(df, policy)
    assert all(model["holds"] for model in report["models"]) and report["output"]["fewest_people"] >= 3
    if algorithm == "samarati":
        one, expected = on_one_machine(df.toArrow(), policy)
        assert many == one and report["models"] == expected["models"] and report["output"] == expected["output"]
        assert many != on_cluster(df, shoal.Policy(POLICY).replace(algorithm=algorithm, seed=2))[0]


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_studies_give_the_figures_of_one_machine(spark):
    table = pyarrow.table(patients(200))
    df = frame(spark, table)
    with shoal.spark.anonymize(df, POLICY, seed=1) as release:
        masked = release.dataframe.toArrow()
        assert shoal.spark.check(release).to_dict() == shoal.check(masked, POLICY).to_dict()
        assert not shoal.spark.check(df, POLICY).holds
        assert shoal.spark.conditions(df, POLICY).to_dict() == shoal.conditions(table, POLICY).to_dict()
        assert list(shoal.spark.lattice(df, POLICY).nodes) == list(shoal.lattice(table, POLICY).nodes)
        assert shoal.spark.explain(df, POLICY).met
        many, one = shoal.spark.measure(df, release), shoal.measure(table, masked, POLICY)
        assert many.risk["after"]["prosecutor"] == one.risk["after"]["prosecutor"] and many.loss == pytest.approx(one.loss)
        attacks = shoal.spark.attack(release, original=df)
        assert attacks.successful == shoal.attack(masked, POLICY, original=table).successful


# ------------------------------------------------------------ the same bytes


def test_partitions_do_not_matter(spark):
    table = pyarrow.table(patients(300))
    found = [on_cluster(frame(spark, table, partitions), POLICY, seed=5)[0]
             for partitions in ((1, 2, 7, 64) if LONG else (1, 7))]
    assert all(rows == found[0] for rows in found)


def first_part(spark, table, **options):
    with shoal.spark.anonymize(table, POLICY, **options) as release:
        path = sorted(release.dataframe.inputFiles())[0]
        return release.dataframe.sparkSession.read.parquet(path).collect()


def test_row_order_depends_on_the_seed_and_the_released_rows_only(spark):
    table = pyarrow.table(patients(300))
    first = first_part(spark, frame(spark, table), seed=5)
    assert first_part(spark, frame(spark, table.take(list(range(299, -1, -1))), 1), seed=5) == first
    assert first_part(spark, frame(spark, table)) != first


def test_kept_columns_of_every_type_are_untouched(spark):
    df = spark.createDataFrame(pyarrow.table(patients(60))).selectExpr(
        "*", "map(ward, age) m", "struct(name as inner, array(age, null) as list) s", "cast(ward as binary) b",
        "interval 3 months i", "parse_json(concat('{\"a\":', age, '}')) v", "cast(age as decimal(10, 3)) d")
    policy = json.loads(json.dumps(POLICY))
    kept = ["m", "s", "b", "i", "v", "d", "ward"]
    policy["attributes"].update({name: {"role": "keep"} for name in kept})
    policy["accept"]["kept"] = kept
    policy["method"]["max-suppression"] = "0%"
    with shoal.spark.anonymize(df, policy) as release:
        assert release.dataframe.dtypes[4:] == df.dtypes[5:]
        texts = ["cast(m as string)", "cast(s as string)", "hex(b)", "cast(i as string)", "cast(v as string)", "d", "ward"]
        before, after = df.selectExpr(*texts), release.dataframe.selectExpr(*texts)
        assert Counter(before.collect()) == Counter(after.collect())
    policy["accept"]["kept"] = [name for name in kept if name != "m"]
    with pytest.raises(shoal.DataError, match="'m' .its values could not be measured"):
        shoal.spark.anonymize(df, policy)


# ------------------------------------------------------------ files


def staged(folder):
    return glob.glob(os.path.join(folder, "warehouse", ".shoal-*"))


def test_files_are_private_and_proven(spark, folder, monkeypatch):
    seen = []
    prove = _release.prove

    def look(*words):
        path, = staged(folder)
        seen.append((stat.S_IMODE(os.stat(path).st_mode), glob.glob(path + "/**/_SUCCESS", recursive=True)))
        return prove(*words)

    monkeypatch.setattr(_release, "prove", look)
    release = shoal.spark.anonymize(frame(spark, pyarrow.table(patients(200))), POLICY, seed=1)
    assert seen == [(0o700, [])]
    path, = staged(folder)
    assert os.path.exists(path + "/rows/_SUCCESS")
    for name, format, options in (("out", "parquet", {}), ("out.csv", "csv", {"header": True})):
        out = os.path.join(folder, name)
        release.write(out, format, **options)
        back = spark.read.format(format).options(**options).schema(release.dataframe.schema).load(out)
        assert Counter(back.collect()) == Counter(release.dataframe.collect())
        assert os.path.exists(out + "/_SUCCESS")
        with pytest.raises(FileExistsError):
            release.write(out, format)
    assert not glob.glob(os.path.join(folder, ".shoal-*"))
    release.write_csv(os.path.join(folder, "one.csv"))
    assert shoal.check(os.path.join(folder, "one.csv"), POLICY).holds
    assert "k-anonymity" in release.certificate()
    release.close()
    assert not staged(folder)


@pytest.mark.parametrize("fault", ["lost", "changed", "unsafe"])
def test_wrong_files_are_never_released(spark, folder, monkeypatch, fault):
    """A fault of joins or files: rows are lost, or labels differ from the decision."""
    from pyspark.sql import functions as f
    right = _release.in_random_order

    def wrong(df, source):
        made = right(df, source)
        if fault == "lost":
            return made.where(f.col("c5") != "A")
        return made.withColumn("c3", f.when(f.col("c5") == "A", f.lit("F")).otherwise(f.col("c3")))

    monkeypatch.setattr(_release, "in_random_order", wrong)
    if fault == "unsafe":  # the decision is not at hand: the verifier alone must see it
        monkeypatch.setattr(_release, "_compare", lambda found, expected: None)
    with pytest.raises(shoal.VerifierError):
        shoal.spark.anonymize(frame(spark, pyarrow.table(patients(60))), shoal.Policy(POLICY).replace(k=5))
    assert not staged(folder)


def test_sql_alone_sees_what_violates_k_and_p(spark):
    policy = shoal.Policy({**POLICY, "attributes": {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}}})
    rows = spark.createDataFrame([("a", "flu"), ("a", "gout"), ("a", "flu"), ("b", "flu"), ("b", "flu"), ("b", "flu")],
                                 "age string, illness string")
    source = _release.Source(rows, policy)
    models = [{"model": "k-anonymity", "required": 3}, {"model": "p-sensitive", "attribute": "illness", "required": 2}]
    _release.prove_by_sql(source, source.df, models[:1])
    with pytest.raises(shoal.VerifierError, match="p-sensitive"):
        _release.prove_by_sql(source, source.df, models)
    models[0]["required"] = 4
    with pytest.raises(shoal.VerifierError, match="k-anonymity"):
        _release.prove_by_sql(source, source.df, models[:1])


def test_directories_of_killed_runs_are_removed(spark, folder):
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=subprocess.PIPE, check=True)
    from shoal.spark import _staging
    owner = {**_staging._owner(), "process": int(done.stdout)}
    gone, alive = (os.path.join(folder, "warehouse", ".shoal-" + letter * 32) for letter in "ab")
    for path, who in ((gone, owner), (alive, _staging._owner())):
        os.makedirs(path)
        with open(os.path.join(path, "owner"), "w", encoding="utf-8") as file:
            json.dump(who, file)
    with shoal.spark.anonymize(frame(spark, pyarrow.table(patients(60))), POLICY):
        assert not os.path.exists(gone) and os.path.exists(alive)
    os.remove(os.path.join(alive, "owner"))
    os.rmdir(alive)


# ------------------------------------------------------------ what others can see


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_no_value_is_in_plans_or_logs(spark, folder):
    table = patients(80)
    table["zip"] = [f"ZIP{zip}ZIP" for zip in table["zip"]]
    table["illness"] = [f"ILL{illness}ILL" for illness in table["illness"]]
    table["ward"] = [f"WARD{ward}WARD" for ward in table["ward"]]
    path = os.path.join(folder, "secret.parquet")
    frame(spark, pyarrow.table(table)).write.parquet(path)
    policy = shoal.Policy({**POLICY, "data": {"fold": ["case"]}})
    for algorithm in ("samarati", "flock"):
        with shoal.spark.anonymize(spark.read.parquet(path), policy.replace(algorithm=algorithm)) as release:
            release.dataframe.collect()
    log, = glob.glob(os.path.join(folder, "events", "*"))
    with open(log, encoding="utf-8") as file:
        events = file.read()
    assert "SparkListenerSQLExecutionStart" in events
    for value in {*table["zip"], *table["illness"], *table["ward"], "ZIP4", "WARD"}:
        assert value not in events


# ------------------------------------------------------------ refusals


def test_refusals_are_clear(spark, folder):
    from pyspark.sql import functions as f
    df = frame(spark, pyarrow.table(patients(60)))
    with pytest.raises(shoal.DataError, match="'ward' .its values identify|'ward'|kept"):
        shoal.spark.anonymize(df.withColumn("ward", f.col("name")), {**POLICY, "accept": {}})
    with pytest.raises(shoal.DataError, match="does not name these columns: more"):
        shoal.spark.anonymize(df.withColumn("more", f.lit(1)), POLICY)
    with pytest.raises(shoal.DataError, match="'age' has the type array<int>"):
        shoal.spark.anonymize(df.withColumn("age", f.array(f.lit(1))), POLICY)
    with pytest.raises(shoal.DataError, match="no rows"):
        shoal.spark.anonymize(df.limit(0), POLICY)
    with pytest.raises(shoal.Refused, match="distinct tuples, and the driver takes 10"):
        shoal.spark.anonymize(df, POLICY, max_tuples=10)
    with pytest.raises(shoal.Refused, match="local recoding .flock. needs memory"):
        shoal.spark.anonymize(df, shoal.Policy(POLICY).replace(algorithm="flock"), max_local_rows=59)
    with shoal.spark.anonymize(df, shoal.Policy(POLICY).replace(algorithm="auto"), max_local_rows=59) as release:
        assert release.report["search"]["algorithm"] == "optimal"
    with pytest.raises((shoal.VerifierError, shoal.DataError), match="other rows each time"):
        shoal.spark.anonymize(df.withColumn("age", (f.rand() * 60 + 20).cast("int")), POLICY)
    with pytest.raises(OSError, match="CAST_INVALID_INPUT") as failed:
        shoal.spark.anonymize(df.withColumn("age", f.col("name").cast("int")), POLICY)
    assert "P1" not in str(failed.value) and failed.value.__cause__ is None
    assert not staged(folder)
