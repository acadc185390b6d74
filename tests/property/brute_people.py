# SPDX-License-Identifier: Apache-2.0
"""What the models mean where a person has several rows, from the definitions of docs/model-definitions.md.

k counts distinct people, `households` distinct households. Numbers of distinct
values stay as they are. A proportion counts each person once for each distinct
value in the class (missing values are one value); alpha-k divides by the people of
the class. table.people and table.households have the key of each row.
"""

from fractions import Fraction

import brute
import brute_models as models

PROPORTIONS = (models.BalancedPPlus, models.BalancedPAlpha, models.ThetaSensitive, models.EntropyDiversity,
               models.RecursiveDiversity, models.TCloseness, models.AlphaK, models.Personalized)


class KPeople(brute.KAnonymity):
    def reached(self, table, members):
        return len({table.people[i] for i in members})

    def holds(self, table, members):
        return self.reached(table, members) >= self.required


class Households:
    name, attribute, worst = "households", None, staticmethod(min)

    def __init__(self, least):
        self.required = least

    def reached(self, table, members):
        return len({table.households[i] for i in members})

    def holds(self, table, members):
        return self.reached(table, members) >= self.required


class CountsPeople:
    """A model whose values are those of distinct pairs (person, value)."""

    def pairs(self, table, members):
        column = table.index[self.attribute]
        cells = ((table.people[i], table.rows[i][column]) for i in members)
        return {(person, None if value in table.missing else value) for person, value in cells}

    def values(self, table, members):
        return [value for _, value in sorted(self.pairs(table, members), key=str) if value is not None]


class AlphaK(CountsPeople, models.AlphaK):
    def reached(self, table, members):
        return Fraction(max(self.frequencies(table, members), default=0), len({table.people[i] for i in members}))


class Personalized(CountsPeople, models.Personalized):
    def reached(self, table, members):
        guards = {table.rows[i][table.index[self.column]] for i in members} - table.missing
        values, n = self.values(table, members), len(self.pairs(table, members))
        return max((Fraction(sum(self.tree.is_below(v, guard) for v in values), n) for guard in guards),
                   default=Fraction(0))


def counting_people(model):
    """The same model with the same parameters, of people."""
    kind = type(model)
    if isinstance(model, brute.KAnonymity):
        return KPeople(model.required)
    if kind not in PROPORTIONS:
        return model
    of_people = {models.AlphaK: AlphaK, models.Personalized: Personalized}.get(kind) or type(
        kind.__name__, (CountsPeople, kind), {})
    counted = of_people.__new__(of_people)
    counted.__dict__.update(model.__dict__)
    if isinstance(model, models.TCloseness):        # its distance is a bound method
        counted.distance = getattr(counted, model.distance.__name__)
    return counted
