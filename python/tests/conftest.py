# SPDX-License-Identifier: Apache-2.0
"""What all tests share."""
import os
import random
import signal
import subprocess

import pytest

import shoal

PROGRAM = os.path.join(os.path.dirname(shoal.__file__), "shoal-program")
ROOT = os.environ.get("SHOAL_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def pytest_configure(config):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored in the background


def run_program(*words, status=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


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
    "method": {"max-suppression": "10%"},
}


@pytest.fixture
def data():
    return patients()


@pytest.fixture
def policy():
    return shoal.Policy(POLICY)
