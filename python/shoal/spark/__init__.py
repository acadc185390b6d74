# SPDX-License-Identifier: Apache-2.0
"""Apache Spark: the same policy for tables that do not fit on one machine.

    release = shoal.spark.anonymize(spark.read.parquet("patients"), "policy.yaml")
    release.write("release")

Spark groups, joins and writes; libshoal on the driver decides from counted tuples. See docs/spark.md.
"""
from ._jobs import attack, check, conditions, explain, lattice, measure
from ._release import Release, anonymize

__all__ = ["Release", "anonymize", "attack", "check", "conditions", "explain", "lattice", "measure"]
