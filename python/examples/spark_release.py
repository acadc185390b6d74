# SPDX-License-Identifier: Apache-2.0
"""Anonymizes a table on a Spark cluster.

    spark-submit --master spark://HOST:7077 spark_release.py patients.parquet policy.yaml release.parquet
"""
import sys

from pyspark.sql import SparkSession

import shoal.spark


def main(data: str, policy: str, out: str) -> None:
    session = (SparkSession.builder.appName("release")
               .config("spark.io.encryption.enabled", "true")  # spills of shuffles
               .getOrCreate())
    with shoal.spark.anonymize(session.read.parquet(data), policy) as release:
        output = release.report["output"]
        print(f"{release.verdict}: {output['rows']} rows, {output['suppressed']} suppressed, {release.loss:.1%} lost")
        release.write(out)
    session.stop()


main(*sys.argv[1:])
