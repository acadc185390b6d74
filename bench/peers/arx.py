# SPDX-License-Identifier: Apache-2.0
"""ARX (Java): optimal full-domain search by measure "loss".

The library is asked for at Maven Central; if it is not published there, SHOAL_ARX_JAR names a jar that
the user has built or downloaded (with what it needs inside, or several with `:` between). The own driver
Arx.java is compiled against it. Where there is no ARX, EARLIER has figures measured on such a machine.
"""
import glob
import os
import shutil
import subprocess

from peers import BENCH, Outcome, cache, ran

NAME = "ARX"
HINT = "SHOAL_ARX_JAR=path of libarx's jar, and a JDK"
ARTIFACT = "org.deidentifier:libarx:3.9.2"
WARM = 6

# ARX 3.9.2, measured earlier on a machine of the same kind, set and rows and suppression as in bench/beside.py, k = 5:
# seconds of the whole process, peak MB (the lowest, where a range was noted), seconds of the warm search,
# rows suppressed (of Adult itself: the larger tables were other samples of it).
EARLIER = {
    ("a", 30_162, 0): (1.9, 325, 0.045, 0), ("a", 30_162, 2): (2.6, 371, 0.442, 522),
    ("a", 30_162, 100): (3.3, 480, 0.933, 2335),
    ("b", 30_162, 0): (1.8, 270, 0.022, 0), ("b", 30_162, 2): (2.4, 270, 0.385, 506),
    ("b", 30_162, 100): (2.4, 270, 0.486, 2184),
    ("c", 30_162, 0): (1.8, 270, 0.006, 0), ("c", 30_162, 2): (1.8, 270, 0.005, 470),
    ("c", 30_162, 100): (1.8, 270, 0.009, 470),
    ("a", 1_000_000, 0): (4.9, 916, 0.472, None), ("a", 1_000_000, 2): (7.6, 916, 1.966, None),
    ("a", 1_000_000, 100): (6.0, 916, 2.590, None),
    ("a", 5_000_000, 0): (11.1, 2320, 1.864, None), ("a", 5_000_000, 2): (15.6, 2320, 6.242, None),
    ("a", 5_000_000, 100): (18.7, 2320, 7.321, None),
}


def class_path():
    """The jars, or None."""
    given = os.environ.get("SHOAL_ARX_JAR")
    if given:
        return given
    jars = glob.glob(os.path.join(cache(), "arx", "*.jar"))
    return ":".join(jars) or None


def download():
    if shutil.which("mvn"):
        subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", "-Dmdep.stripVersion=true",
                        f"-DoutputDirectory={os.path.join(cache(), 'arx')}"], check=False, timeout=120,
                       cwd=cache(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def available():
    if not shutil.which("java") or not shutil.which("javac"):
        return "there is no JDK"
    if not class_path():
        try:
            download()
        except subprocess.TimeoutExpired:
            return "Maven Central did not answer"
    jars = class_path()
    if not jars:
        return f"{ARTIFACT} is not on Maven Central, and SHOAL_ARX_JAR is not set"
    if not all(os.path.exists(j) for j in jars.split(":")):
        return "SHOAL_ARX_JAR leads to no file"
    done = subprocess.run(["javac", "-nowarn", "-cp", jars, "-d", classes(),
                           os.path.join(BENCH, "peers", "Arx.java")], check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    return None if done.returncode == 0 else "bench/peers/Arx.java does not compile against this version of ARX"


def classes():
    folder = os.path.join(cache(), "arx-classes")
    os.makedirs(folder, exist_ok=True)
    return folder


def run(work):
    """Once, cold; the seconds of its parts are the least of `work.repeats` in one process."""
    command = ["java", "-cp", f"{class_path()}:{classes()}", "Arx", work.table, work.delimiter,
               os.path.join(work.folder, "arx.csv"), str(work.k), work.sensitive[0] if work.p else "-",
               str(work.p), str(work.suppression)]
    trees = [f"{column}={file}" for column, file in work.quasi.items()]
    took, result = ran(command + ["1"] + trees)
    memory = int(result.pop("memory"))
    if work.repeats > 1:
        _, result = ran(command + [str(work.repeats)] + trees)
        result.pop("memory")
    return Outcome(took, memory, result)
