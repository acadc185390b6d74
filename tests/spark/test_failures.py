# SPDX-License-Identifier: Apache-2.0
"""Lost workers, skewed keys and empty partitions do not change a release."""
import os
import signal
import threading

import pyarrow
import pytest
from conftest import POLICY, patients
from test_uniform import LONG, frame, on_cluster, on_one_machine

import shoal
from shoal.spark import _release


@pytest.mark.parametrize("algorithm", ["samarati", "flock"])
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_skewed_keys_and_empty_partitions(spark, algorithm):
    """Half of all rows are equal but for their ward, and in one partition of six."""
    from pyspark.sql import functions as f
    data = patients(120)
    for name in ("age", "zip", "sex", "illness"):
        data[name][:60] = [data[name][0]] * 60
    df = frame(spark, pyarrow.table(data)).repartition(6, f.lit(1))
    policy = shoal.Policy(POLICY).replace(algorithm=algorithm, seed=2)
    many, report = on_cluster(df, policy)
    one, expected = on_one_machine(df.toArrow(), policy)
    assert report["output"] == expected["output"] and report["models"] == expected["models"]
    assert sum(many.values()) == sum(one.values()) and (algorithm == "flock" or many == one)


@pytest.mark.skipif(not LONG, reason="long")
@pytest.mark.parametrize("stage", ["tuples", "released_rows", "prove"])
def test_a_killed_worker_changes_nothing(cluster, spark, monkeypatch, stage):
    df = frame(spark, pyarrow.table(patients(2000)))
    expected, _ = on_cluster(df, POLICY, seed=1)
    owner = _release.Source if stage == "tuples" else _release
    name = "with_people" if stage == "tuples" else stage
    right = getattr(owner, name)
    killed = []

    def kill_then(*words):
        if not killed:
            killed.append(cluster.workers.pop(0))
            cluster.workers.append(cluster.add_worker(f"-{stage}"))
            threading.Timer(0.3, os.killpg, (killed[0].pid, signal.SIGKILL)).start()
        return right(*words)

    monkeypatch.setattr(owner, name, kill_then)
    assert on_cluster(df, POLICY, seed=1)[0] == expected
    assert killed and killed[0].wait(30) == -signal.SIGKILL
