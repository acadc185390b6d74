# SPDX-License-Identifier: Apache-2.0
"""Random cases by seed, spread over test methods of equal ranges."""

import concurrent.futures
import os
import pathlib

import support

SHOWN_FAILURES = 3


def compare(make_comparison, seed):
    """One case from its seed: None, or the message of its failure."""
    with support.temp_dir() as directory:
        comparison = make_comparison(seed, pathlib.Path(directory))
        try:
            comparison.run()
        except Exception as error:     # an answer of the wrong shape is a difference like any other
            comparison.differences.append(f"{type(error).__name__}: {error}")
        return comparison.message() if comparison.differences else None


def _method(make_comparison, seeds):
    def test(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda seed: compare(make_comparison, seed), seeds)
            failures = [message for message in results if message]
        if failures:
            self.fail(f"{len(failures)} of {len(seeds)} cases differ\n" + "\n\n".join(failures[:SHOWN_FAILURES]))
    test.__doc__ = f"seeds {seeds.start} to {seeds.stop - 1}"
    return test


def add_tests(test_case, make_comparison, n_cases, n_parts=20):
    """Gives the test case one method a range of seeds."""
    for part in range(n_parts):
        seeds = range(n_cases * part // n_parts, n_cases * (part + 1) // n_parts)
        if seeds:
            setattr(test_case, f"test_part_{part:02}", _method(make_comparison, seeds))
