# SPDX-License-Identifier: Apache-2.0
"""The package as users get it: the wheel in an empty environment, examples in its documents, types."""
import doctest
import glob
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import venv

import pytest

import shoal
import shoal.tuples
from conftest import ROOT

WHEEL = os.environ.get("SHOAL_WHEEL", "")
LONG = bool(os.environ.get("SHOAL_LONG"))
needs_wheel = pytest.mark.skipif(not WHEEL, reason="python/tests/run.py sets SHOAL_WHEEL")

ALONE = """
import sys
assert not {"numpy", "pandas", "pyarrow", "polars"} & set(sys.modules)
import shoal
patients = {"name": ["Ann", "Ben", "Cleo", "Dora", "Emil", "Fay"], "age": [34, 36, 38, 51, 53, None],
            "score": [0.5, 1.0, 2.25, 8.0, 9.5, 7.0], "illness": ["flu", "gout", "flu", "gout", "flu", "angina"]}
policy = shoal.Policy.of(k=3, p=2, identifier="name", quasi={"age": {"type": "number"}}, sensitive="illness",
                         keep="score", accept={"kept": ["score"]})
release = shoal.anonymize(patients, policy, keep_order=True)
assert release.table["age"] == ["[34-38]"] * 3 + ["*"] * 3, release.table
assert release.table["score"] == patients["score"] and release.table["illness"] == patients["illness"]
assert shoal.check(release).holds and release.certificate() and release.html() and str(release)
release.write("release.csv")
assert shoal.check("release.csv", policy).holds
try:
    shoal.profile("table.parquet")
except FileNotFoundError:
    pass
assert not {"numpy", "pandas", "pyarrow", "polars"} & set(sys.modules)
print("ok", shoal.__version__)
"""


@needs_wheel
def test_wheel_in_an_empty_environment(tmp_path):
    """Outside the source tree, without numpy and pandas; also the program in it."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", WHEEL], check=True, cwd=tmp_path)
    done = subprocess.run([python, "-I", "-c", ALONE], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout == f"ok {shoal.__version__}\n", done.stderr
    program = subprocess.run([tmp_path / "venv" / "bin" / "shoal", "check", "release.csv", "-P", "p.yaml"],
                             capture_output=True, text=True, cwd=tmp_path, check=False)
    assert program.returncode == 2 and "p.yaml" in program.stderr


def pythons():
    """Other interpreters of the machine, Debian's among them."""
    found = glob.glob("/usr/bin/python3.*") + glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3.*"))
    found += [path for path in map(shutil.which, ("python3.12", "python3.13", "python3.14")) if path]
    named = {}
    for path in found:
        version = re.fullmatch(r"python3\.(\d+)", os.path.basename(path))
        if version and int(version[1]) >= 11:
            named.setdefault((int(version[1]), path.startswith("/usr")), path)
    return list(named.values())


@needs_wheel
@pytest.mark.parametrize("python", pythons())
def test_other_interpreters(python, tmp_path):
    """The limited API: one wheel for Python 3.11 and later."""
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target",
                    tmp_path / "site", WHEEL], check=True)
    done = subprocess.run([python, "-S", "-c", ALONE], capture_output=True, text=True, cwd=tmp_path, check=False,
                          env={"PYTHONPATH": str(tmp_path / "site")})
    assert done.stdout == f"ok {shoal.__version__}\n", done.stderr


@needs_wheel
def test_wheel_needs_only_the_c_library():
    folder = os.path.dirname(shoal.__file__)
    for name in (shoal._shoal.__file__, os.path.join(folder, "shoal-program")):
        listed = subprocess.run(["readelf", "-d", name], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\]", listed))
        assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}, needed
    assert "abi3" in os.path.basename(WHEEL) and "cp311" in os.path.basename(WHEEL)


@needs_wheel
@pytest.mark.skipif(not LONG, reason="builds a second time: make check-long")
def test_source_distribution(tmp_path):
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "build"], check=True)
    subprocess.run([sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path, ROOT], check=True)
    archive, = tmp_path.glob("*.tar.gz")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, archive], check=True)
    assert list(tmp_path.glob("*.whl"))


MODULES = ["shoal"] + [f"shoal.{module.name}" for module in pkgutil.iter_modules(shoal.__path__)
                       if module.name not in ("_shoal", "__main__", "spark")]  # spark: tests/spark has a cluster


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert not failed
    assert tried or name.startswith("shoal._")


def test_every_function_has_an_example():
    for module in (shoal, shoal.tuples):
        for name in module.__all__:
            thing = getattr(module, name)
            assert thing.__doc__, name
            if name[0].islower():
                assert ">>>" in thing.__doc__, name


def test_types():
    pytest.importorskip("mypy")
    folder = os.path.dirname(shoal.__file__)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--config-file",
                           os.path.join(ROOT, "pyproject.toml"), os.path.join(ROOT, "python", "shoal")],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert os.path.exists(os.path.join(folder, "py.typed"))


def blocks(path, heading=None):
    """The Python examples of a page, or of one of its sections."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as page:
        text = page.read()
    if heading:
        text = re.split(r"^## ", text.split(f"\n## {heading}\n")[1], flags=re.M)[0]
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)


@pytest.mark.parametrize("path, heading", [("README.md", "Python"), ("docs/python.md", None)])
def test_documents(path, heading, tmp_path):
    """Every Python example of the page, one after the other, beside the tiny example."""
    examples = blocks(path, heading)
    assert examples
    tiny = os.path.join(ROOT, "examples", "tiny")
    shutil.copytree(tiny, tmp_path, dirs_exist_ok=True)
    shutil.copytree(tiny, tmp_path / "examples" / "tiny")
    done = subprocess.run([sys.executable, "-I", "-W", "ignore", "-c", "\n".join(examples)], capture_output=True,
                          text=True, cwd=tmp_path, check=False, env={**os.environ, "MPLBACKEND": "agg"})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", sorted(glob.glob(os.path.join(ROOT, "python", "examples", "*.ipynb"))),
                         ids=os.path.basename)
def test_notebook(path, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert sum(cell.cell_type == "code" for cell in notebook.cells) > 5


def test_there_is_a_notebook():
    assert glob.glob(os.path.join(ROOT, "python", "examples", "*.ipynb"))
