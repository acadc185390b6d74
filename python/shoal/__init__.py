# SPDX-License-Identifier: Apache-2.0
"""shoal anonymizes tables of personal records.

One call is enough to start:

>>> import shoal
>>> patients = {"age": [34, 36, 38, 51, 53, 57], "zip": ["41074", "41075", "41079", "41093", "41098", "41094"],
...             "illness": ["flu", "asthma", "flu", "diabetes", "gout", "asthma"]}
>>> release = shoal.anonymize(patients, quasi=["age", "zip"], sensitive="illness", k=3, p=2)
>>> release.verdict
'holds'
>>> sorted(set(release.table["age"]))
['[34-38]', '[51-57]']

A policy states more: roles, hierarchies, models (`shoal.Policy`). See docs/python.md.
"""
from ._compare import Comparison
from ._errors import Cancelled, DataError, Error, PolicyError, Refused, VerifierError
from ._jobs import (anonymize, attack, check, compare, conditions, explain, hierarchy, lattice, measure, profile)
from ._policy import Policy
from ._release import Release, ShoalWarning
from ._results import (Attacks, Check, Conditions, Explanation, Hierarchy, Lattice, Measures, Profile, Records,
                       Result)
from ._shoal import version as _version

__version__: str = _version()

__all__ = [
    "Attacks", "Cancelled", "Check", "Comparison", "Conditions", "DataError", "Error", "Explanation", "Hierarchy",
    "Lattice", "Measures", "Policy", "PolicyError", "Profile", "Records", "Refused", "Release", "Result",
    "ShoalWarning", "VerifierError", "anonymize", "attack", "check", "compare", "conditions", "explain", "hierarchy",
    "lattice", "measure", "profile",
]
