# SPDX-License-Identifier: Apache-2.0
"""sdcMicro (R): freqCalc, the count of how many rows share each row's quasi-identifiers."""
import shutil
import subprocess

from peers import Outcome, ran

NAME = "sdcMicro"
HINT = "R with the package sdcMicro: install.packages('sdcMicro')"

SCRIPT = r"""
asked <- commandArgs(trailingOnly = TRUE)
suppressPackageStartupMessages(library(sdcMicro))
data <- read.csv(asked[1], sep = asked[2], colClasses = "character", check.names = FALSE)
quasi <- strsplit(asked[3], "\t", fixed = TRUE)[[1]]
for (column in quasi) data[[column]] <- as.factor(data[[column]])
seconds <- system.time(counted <- freqCalc(data, keyVars = match(quasi, names(data))))[["elapsed"]]
memory <- as.numeric(strsplit(grep("VmHWM", readLines("/proc/self/status"), value = TRUE), " +")[[1]][2]) * 1024
cat(sprintf('\n{"count": %.4f, "unique": %d, "below": %d, "memory": %.0f, "version": "%s"}\n', seconds,
            sum(counted$fk == 1), sum(counted$fk < as.integer(asked[4])), memory,
            as.character(packageVersion("sdcMicro"))))
"""


def available():
    if not shutil.which("Rscript"):
        return "there is no Rscript"
    done = subprocess.run(["Rscript", "-e", "library(sdcMicro)"], check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    return None if done.returncode == 0 else "R has no package sdcMicro"


def run(work_):
    took, result = ran(["Rscript", "-e", SCRIPT, work_.table, work_.delimiter, "\t".join(work_.quasi), str(work_.k)])
    return Outcome(took, int(result.pop("memory")), result)
