#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures shoal.spark on generated rows (Parquet), with two executor threads of this machine.

    python3 bench/spark.py --rows 1000000 [--algorithm optimal] [--one-machine]

For each step: wall seconds, CPU seconds of tasks and bytes of shuffles, the last two from Spark's event log. `own` is what
Spark needs to read, group and write the same rows. Run it with a Python that has shoal[spark].
"""
import argparse
import glob
import json
import os
import resource
import tempfile
import time

import pyarrow.parquet
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import shoal
import shoal.spark

POLICY = {
    "shoal": 1,
    "attributes": {
        "id": {"role": "identifier"},
        "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 10, 20]}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "sex": {"role": "quasi", "hierarchy": {"top": True}},
        "education": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "illness": {"role": "sensitive"},
        "ward": {"role": "keep"},
    },
    "accept": {"kept": ["ward"]},
    "privacy": {"k": 5, "p": 2},
    "method": {"max-suppression": "2%", "algorithm": "optimal"},
}


def drawn(name, n):
    """A number below n that depends on the row and the column."""
    return f.pmod(f.xxhash64(f.lit(name), "id"), f.lit(n))


def generate(spark, rows, path):
    table = spark.range(rows).select(
        f.concat(f.lit("P"), f.col("id")).alias("id"),
        (18 + drawn("a", 40) + drawn("b", 33)).cast("int").alias("age"),
        f.concat(f.lit("4"), f.lpad((drawn("c", 8) * 10 + drawn("d", 10)).cast("string"), 3, "0")).alias("zip"),
        f.when(drawn("e", 2) == 0, "F").otherwise("M").alias("sex"),
        f.concat(f.lit("E"), drawn("f", 9)).alias("education"),
        f.concat(f.lit("I"), drawn("g", 20)).alias("illness"),
        f.concat(f.lit("W"), drawn("h", 6)).alias("ward"))
    table.write.parquet(path)


def tasks(folder):
    """CPU seconds of all finished tasks so far, and bytes that were shuffled."""
    cpu = shuffled = 0
    for name in glob.glob(os.path.join(folder, "events", "*")):
        with open(name, encoding="utf-8") as file:
            for line in file:
                if '"SparkListenerTaskEnd"' in line:
                    metrics = json.loads(line).get("Task Metrics") or {}
                    cpu += metrics.get("Executor CPU Time", 0) / 1e9
                    shuffled += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return cpu, shuffled


def measured(folder, what, work):
    time.sleep(3)  # the log is written with a delay
    before, started = tasks(folder), time.monotonic()
    result = work()
    wall = time.monotonic() - started
    time.sleep(3)
    after = tasks(folder)
    print(f"{what}: {wall:.1f} s, {after[0] - before[0]:.1f} CPU s of tasks, {(after[1] - before[1]) / 1e6:.1f} MB shuffled",
          flush=True)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--algorithm", default="optimal")
    parser.add_argument("--one-machine", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as folder:
        os.mkdir(os.path.join(folder, "events"))
        spark = (SparkSession.builder.master("local[2]").appName("shoal-bench").config("spark.ui.enabled", "false")
                 .config("spark.driver.memory", "3g").config("spark.sql.shuffle.partitions", "8")
                 .config("spark.sql.warehouse.dir", os.path.join(folder, "warehouse"))
                 .config("spark.eventLog.enabled", "true").config("spark.eventLog.compress", "false")
                 .config("spark.eventLog.rolling.enabled", "false").config("spark.eventLog.buffer.kb", "1k")
                 .config("spark.eventLog.dir", "file://" + os.path.join(folder, "events"))
                 .config("spark.log.level", "ERROR").getOrCreate())
        path = os.path.join(folder, "table")
        generate(spark, options.rows, path)
        df = spark.read.parquet(path)
        policy = shoal.Policy(POLICY).replace(algorithm=options.algorithm, seed=1)

        def own():
            df.groupBy("age", "zip", "sex", "education", "illness").count().toArrow()
            df.drop("id").write.parquet(os.path.join(folder, "own"))

        measured(folder, "own", own)
        release = measured(folder, "shoal.spark", lambda: shoal.spark.anonymize(df, policy))
        print(json.dumps({**release.report["spark"], "output": release.report["output"], "loss": release.loss,
                          "driver_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))
        release.close()
        spark.stop()
        if options.one_machine:
            started, cpu = time.monotonic(), time.process_time()
            one = shoal.anonymize(pyarrow.parquet.read_table(path), policy, quick=True)
            print(f"one machine: {time.monotonic() - started:.1f} s, {time.process_time() - cpu:.1f} CPU s, loss {one.loss}")


main()
