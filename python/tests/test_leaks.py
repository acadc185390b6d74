# SPDX-License-Identifier: Apache-2.0
"""Nothing of rows that are not released leaves with a release: not in its table, its pickle or its files."""
import pickle
import traceback

import pytest

import shoal

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

SECRET = "a text that only the suppressed row has"
UNUSED = "a category that no row has"
POLICY = {
    "shoal": 1,
    "attributes": {
        "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5]}},
        "illness": {"role": "sensitive"},
        "note": {"role": "keep"},
    },
    "accept": {"kept": ["note"]},
    "privacy": {"k": 3, "p": 2},
    "method": {"max-suppression": 5, "algorithm": "samarati"},
}


def test_a_pickle_has_no_seed():
    policy = {**POLICY, "accept": {"kept": ["note"], "attacks": ["homogeneity"]}}
    release = shoal.anonymize(people(), policy, seed=7654321)
    assert "7654321" in str(release.report)
    assert "7654321" not in str(vars(pickle.loads(pickle.dumps(release))))


def test_quoting_formulas_is_refused_for_tables_in_memory():
    policy = {**POLICY, "method": {**POLICY["method"], "formulas": "quote"}}
    with pytest.raises(shoal.PolicyError, match="is for files"):
        shoal.anonymize(people(), policy)


def people():
    """The last row is the only one of its age: it is suppressed."""
    return {
        "age": [30 + i % 3 for i in range(60)] + [99],
        "illness": ["flu", "asthma", "gout"] * 20 + [SECRET],
        "note": [f"a note of more than twelve bytes, {i % 2}" for i in range(60)] + [SECRET],
    }


def as_arrow(convert):
    table = pyarrow.table(people())
    return table.set_column(2, "note", convert(table["note"]))


def as_polars(kind):
    return polars.DataFrame(people()).with_columns(polars.col("note").cast(kind))


NOTES = sorted(set(people()["note"]))
TABLES = {
    "dict": people,
    "pandas": lambda: pandas.DataFrame(people()),
    "pandas category": lambda: pandas.DataFrame(people()).astype(
        {"note": pandas.CategoricalDtype([*NOTES, UNUSED], ordered=True), "illness": "category"}),
    "pandas pyarrow": lambda: pandas.DataFrame(people()).astype(
        {"note": pandas.ArrowDtype(pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))}),
    "pyarrow": lambda: pyarrow.table(people()).replace_schema_metadata({"note": SECRET}),
    "pyarrow dictionary": lambda: as_arrow(lambda notes: notes.dictionary_encode()),
    "pyarrow view": lambda: as_arrow(lambda notes: notes.cast(pyarrow.string_view())),
    "pyarrow list of dictionary": lambda: as_arrow(lambda notes: pyarrow.ListArray.from_arrays(
        list(range(62)), notes.combine_chunks().dictionary_encode())),
    "polars": lambda: polars.DataFrame(people()),
    "polars category": lambda: as_polars(polars.Categorical),
    "polars enum": lambda: as_polars(polars.Enum([*NOTES, UNUSED])),
    "polars list": lambda: polars.DataFrame({**people(), "note": [[note] for note in people()["note"]]}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_rows_that_are_suppressed_leave_nothing_behind(kind, tmp_path):
    table = TABLES[kind]()
    release = shoal.anonymize(table, POLICY)
    assert release.report["output"]["rows"] == 60
    left = [pickle.dumps(release), pickle.dumps(release.table), release._repr_html_().encode()]
    if kind != "dict":
        for name in ("table.parquet", "table.arrow"):
            release.write(tmp_path / name)
            left.append((tmp_path / name).read_bytes())
    for text in (SECRET, UNUSED):
        assert not any(text.encode() in found for found in left)
    if "pandas" in kind:
        assert release.table["note"].dtype == table["note"].dtype or kind == "pandas category"
    elif "pyarrow" in kind:
        assert release.table.schema.field("note").type == table.schema.field("note").type


def test_kept_values_survive_when_others_go():
    release = shoal.anonymize(TABLES["pyarrow dictionary"](), POLICY, keep_order=True)
    assert release.table["note"].to_pylist() == people()["note"][:60]
    release = shoal.anonymize(TABLES["polars enum"](), POLICY, keep_order=True)
    assert release.table["note"].to_list() == people()["note"][:60]
    release = shoal.anonymize(TABLES["pandas category"](), POLICY, keep_order=True)
    assert release.table["note"].tolist() == people()["note"][:60]
    assert release.table["note"].cat.ordered
    assert list(release.table["note"].cat.categories) == NOTES[:-1]
    release = shoal.anonymize(TABLES["pyarrow list of dictionary"](), POLICY, keep_order=True)
    assert release.table["note"].to_pylist() == [[note] for note in people()["note"][:60]]


@pytest.mark.parametrize("make", [dict, pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_noise_rows_look_like_their_class(make):
    """Kept cells of another class would tell noise rows apart, and the last row of the table is not for all."""
    rows = [(1000 * c + i, letter, f"class {c}") for c, letters in enumerate(("aabc", "aabd", "aabd"))
            for i, letter in enumerate(letters)]
    policy = {
        "shoal": 1,
        "attributes": {"q": {"role": "quasi", "type": "number"}, "s": {"role": "sensitive"}, "x": {"role": "keep"}},
        "accept": {"kept": ["x"]},
        "privacy": {"k": 4, "models": [{"theta-sensitive": {"mu": 0.6}}]},
        "method": {"algorithm": "theta", "noise": 12, "start": "sorted", "seed": 3},
    }
    release = shoal.anonymize(make(dict(zip("qsx", map(list, zip(*rows))))), policy)
    assert release.report["output"]["noise"] > 0
    table = release.to_pandas()
    assert len(set(zip(table["q"], table["x"]))) == table["q"].nunique() == 3


class Person:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "a person"


@pytest.mark.parametrize("make", [dict, pandas.DataFrame])
@pytest.mark.parametrize("values", [[Person(f"P{i}") for i in range(61)],
                                    [pandas.Series(range(i, i + 200)) for i in range(61)]], ids=["object", "series"])
def test_objects_cannot_be_measured_by_their_text(make, values):
    with pytest.raises(shoal.DataError, match="'note' .its values could not be measured"):
        shoal.anonymize(make({**people(), "note": values}), {**POLICY, "accept": {}})
    release = shoal.anonymize(make({**people(), "note": values}), POLICY, keep_order=True)
    assert list(release.table["note"])[7] is values[7]


def test_masked_cells_are_missing():
    numpy = pytest.importorskip("numpy")
    masked = numpy.ma.masked_array([30 + i % 3 for i in range(60)] + [987654], mask=[False] * 60 + [True])
    release = shoal.anonymize({**people(), "note": masked}, POLICY)
    assert all(isinstance(value, int) for value in release.table["note"])
    missing = shoal.anonymize({**people(), "illness": numpy.ma.masked_array([1, 2, 3] * 20 + [4], mask=[True] + [False] * 60)},
                              POLICY, keep_order=True)
    assert missing.table["illness"][0] is None


@pytest.mark.parametrize("make", [dict, lambda table: pandas.DataFrame(table, dtype=object)], ids=["dict", "pandas"])
@pytest.mark.parametrize("other", ["a note", 1])
def test_errors_do_not_quote_cells(make, other):
    with pytest.raises(shoal.DataError, match="a cell is not text") as found:
        shoal.anonymize(make({**people(), "note": [other] * 60 + [SECRET + "\udc80"]}), POLICY)
    assert SECRET not in "".join(traceback.format_exception(found.value))
