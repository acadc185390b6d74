# SPDX-License-Identifier: Apache-2.0
"""A standalone cluster on loopback: a master and two workers as processes, started and stopped by the tests."""
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pyspark
import pytest

HOST = "127.0.0.1"
SPARK_CLASS = os.path.join(os.path.dirname(pyspark.__file__), "bin", "spark-class")
START_SECONDS = 180  # on a machine that is busy


def free_port():
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        return taken.getsockname()[1]


class Cluster:
    """Processes of Spark. `folder` has their logs and work."""

    def __init__(self, folder, workers=2):
        self.folder, self.port = folder, free_port()
        self.environment = {**os.environ, "SPARK_LOCAL_IP": HOST, "SPARK_LOCAL_HOSTNAME": "localhost",
                            "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": os.path.dirname(pyspark.__file__),
                            "SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}
        self.master = self._start("master", "org.apache.spark.deploy.master.Master", "--host", HOST, "--port", self.port,
                                  "--webui-port", free_port())
        self._wait(self.port)
        self.workers = [self.add_worker(i) for i in range(workers)]

    @property
    def url(self):
        return f"spark://{HOST}:{self.port}"

    def add_worker(self, number):
        return self._start(f"worker{number}", "org.apache.spark.deploy.worker.Worker", "--host", HOST, "--port",
                           free_port(), "--webui-port", free_port(), "--cores", 1, "--memory", "900m", "--work-dir",
                           os.path.join(self.folder, f"work{number}"), self.url)

    def _start(self, name, *words):
        with open(os.path.join(self.folder, f"{name}.log"), "wb") as log:
            return subprocess.Popen([SPARK_CLASS, *map(str, words)], env=self.environment, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, start_new_session=True)

    @staticmethod
    def _wait(port):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            with socket.socket() as test:
                if test.connect_ex((HOST, port)) == 0:
                    return
            time.sleep(0.2)
        pytest.fail("the master did not start")

    def stop(self):
        for process in [*self.workers, self.master]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in [*self.workers, self.master]:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture(scope="session")
def folder():
    with tempfile.TemporaryDirectory(prefix="shoal-spark-test-") as path:
        yield path


@pytest.fixture(scope="session")
def cluster(folder):
    started = Cluster(folder)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def spark(cluster, folder):
    from pyspark.sql import SparkSession
    os.environ.update({name: value for name, value in cluster.environment.items() if name.startswith(("SPARK_", "PYSPARK_"))})
    events = os.path.join(folder, "events")
    os.mkdir(events)
    settings = {"spark.ui.enabled": "false", "spark.driver.host": HOST, "spark.executor.memory": "640m",
                "spark.driver.memory": "900m", "spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2",
                "spark.sql.warehouse.dir": os.path.join(folder, "warehouse"), "spark.eventLog.enabled": "true",
                "spark.eventLog.dir": "file://" + events, "spark.eventLog.compress": "false",
                "spark.eventLog.rolling.enabled": "false", "spark.log.level": "ERROR",
                "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
                "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
                "spark.sql.codegen.wholeStage": "true", "spark.sql.session.timeZone": "UTC"}
    builder = SparkSession.builder.master(cluster.url).appName("shoal-tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def patients(n=60, seed=1):
    """Invented people."""
    rng = random.Random(seed)
    return {
        "name": [f"P{i}" for i in range(n)],
        "age": [rng.randint(20, 79) for _ in range(n)],
        "zip": [f"4{rng.randint(1000, 1029)}" for _ in range(n)],
        "sex": [rng.choice("FM") for _ in range(n)],
        "illness": [rng.choice(["flu", "asthma", "gout", "diabetes", "angina"]) for _ in range(n)],
        "ward": [rng.choice("ABC") for _ in range(n)],
    }


POLICY = {
    "shoal": 1,
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 10, 20]}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "sex": {"role": "quasi", "hierarchy": {"top": True}},
        "illness": {"role": "sensitive"},
        "ward": {"role": "keep"},
    },
    "accept": {"kept": ["ward"]},
    "privacy": {"k": 3, "p": 2},
    "method": {"algorithm": "samarati", "max-suppression": "10%"},
}
