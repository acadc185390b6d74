# SPDX-License-Identifier: Apache-2.0
"""The package in a process: threads, fork, Control-C, memory, pickled releases."""
import concurrent.futures
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import shoal
from conftest import POLICY, patients

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning", "ignore::DeprecationWarning")


def columns(release):
    return {name: list(values) for name, values in release.table.items()}


def test_eight_threads():
    tables = [patients(200, seed) for seed in range(8)]
    expected = [columns(shoal.anonymize(table, POLICY, seed=1)) for table in tables]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda table: columns(shoal.anonymize(table, POLICY, seed=1)), tables * 4))
    assert made == expected * 4


def test_threads_share_policy_and_release():
    policy, table = shoal.Policy(POLICY), patients(100)
    release = shoal.anonymize(table, policy, seed=1)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(lambda i: (release.html(), release.certificate(), str(release))[i % 3], range(24)))
        checks = list(pool.map(lambda i: shoal.check(release, policy).holds, range(8)))
    assert all(pages) and all(checks)


def test_others_run_while_the_engine_works():
    """The GIL is released: another thread counts meanwhile."""
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    table = patients(30_000)
    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    shoal.anonymize(table, dict(POLICY, method={"algorithm": "flock", "max-suppression": "10%"}), quick=True)
    after = counted[0]
    done.set()
    thread.join()
    assert after > before + 3


def test_fork_after_import():
    table = patients()
    expected = columns(shoal.anonymize(table, POLICY, seed=1))
    child = os.fork()
    if not child:
        status = 1
        try:
            status = 0 if columns(shoal.anonymize(table, POLICY, seed=1)) == expected else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


INTERRUPTED = """
    import signal, sys, threading, os, time
    sys.path.insert(0, sys.argv[1])
    import shoal
    import random
    signal.signal(signal.SIGINT, signal.default_int_handler)
    table = {name: [random.randrange(10**6) for _ in range(60_000)] for name in "abc"}
    policy = shoal.Policy.of(k=5, quasi={name: {"type": "number"} for name in table}, algorithm=sys.argv[2])
    sent = []
    def interrupt():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)
    started = []
    def progress(stage, done, total, unit):
        if not started and stage == sys.argv[3]:
            started.append(stage)
            threading.Thread(target=interrupt).start()
    try:
        shoal.anonymize(table, policy, progress=progress, threads=1)
        print("finished", started)
    except KeyboardInterrupt:
        print("interrupted after", time.process_time() - sent[0])
"""


@pytest.mark.parametrize("algorithm, stage", [("flock", "cluster"), ("k-member", "cluster")])
def test_interrupt(algorithm, stage):
    """Control-C ends a long search: within a second of CPU time, as the machine may be busy."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(INTERRUPTED), os.path.dirname(__file__), algorithm,
                           stage], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("interrupted after"), done.stdout + done.stderr
    assert float(done.stdout.split()[-1]) < 1.0


def test_progress_function_cancels():
    with pytest.raises(shoal.Cancelled):
        shoal.anonymize(patients(20_000), POLICY, progress=lambda *words: True)


def test_progress_function_raises():
    def fail(stage, done, total, unit):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        shoal.anonymize(patients(20_000), POLICY, progress=fail)


def test_progress_bar(capsys):
    shoal.anonymize(patients(20_000), POLICY, progress=True)
    assert "\r" in capsys.readouterr().err


LEAK = """
    import gc, resource, sys
    sys.path.insert(0, sys.argv[1])
    import warnings; warnings.simplefilter("ignore")
    import shoal
    from conftest import POLICY, patients
    table = patients(60)
    policy = shoal.Policy(POLICY)
    def once():
        release = shoal.anonymize(table, policy, quick=True, threads=1)
        try:
            shoal.check(release, policy, threads=1).to_dict()
            shoal.anonymize(table, policy, k=10**6, threads=1)
        except shoal.Error:
            pass
        str(release), release.classes
    def used():
        gc.collect()
        return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
    for _ in range(100): once()
    before = used()
    for _ in range(int(sys.argv[2])): once()
    print((used() - before) // 1024)
"""


def test_no_leak_in_1000_calls():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(LEAK), os.path.dirname(__file__), "1000"],
                          env={**os.environ, "PYTHONMALLOC": "malloc"},  # pymalloc's arenas come and go by the MB
                          capture_output=True, text=True, check=True)
    assert int(done.stdout) < 700, f"{done.stdout} kB more"  # a kB each would be 1,000


def raw_values(table):
    """What must not be found in a pickled release: identifiers, and quasi-identifiers that are generalized."""
    return [*table["name"], *(value for value in table["zip"])]


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "pyarrow"])
def test_pickled_release_has_no_raw_value(kind):
    table = patients(90)
    if kind == "dict":
        frame = table
    else:
        module = pytest.importorskip(kind)
        frame = getattr(module, "table" if kind == "pyarrow" else "DataFrame")(table)
    policy = {**POLICY, "method": {"max-suppression": "10%", "labels": "uniform"},
              "attributes": {**POLICY["attributes"], "zip": {"role": "quasi", "hierarchy": {"mask": "right"},
                                                             "min-level": 1}}}
    release = shoal.anonymize(frame, policy)
    stored = pickle.dumps(release)
    assert not [value for value in raw_values(table) if value.encode() in stored]
    again = pickle.loads(stored)
    assert set(release.__getstate__()) == {"table", "report", "certificate"}
    assert again.report == release.report and again.certificate() == release.certificate()
    assert type(again.table) is type(release.table) and len(again.table) == len(release.table)
    assert again.verdict == release.verdict and str(again) and repr(again) and again._repr_html_()
    for use in (again.html, lambda: again.mapping):
        with pytest.raises(TypeError):
            use()


def test_results_are_not_pickled():
    with pytest.raises(TypeError):
        pickle.dumps(shoal.check(patients(), POLICY))


def test_policy_is_pickled():
    policy = shoal.Policy(POLICY).replace(k=4)
    assert pickle.loads(pickle.dumps(policy)) == policy


def test_errors_are_pickled():
    error = shoal.DataError("text", 3, "age", None)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.row, again.column) == ("text", 3, "age")
