/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/linking: compares people of another table, with names, with the released classes, by the
 * values that each released label can cover (Samarati 2001, Figure 1; Truta & Vinay 2006, Tables 1
 * and 2). The candidates of a person are all rows of all classes that match. A row is re-identified
 * if it is the only candidate of a person and the person is the only one for the row: unique on
 * both sides, as Samarati requires. A value is learnt for certain if all candidates that have a
 * value have the same one.
 *
 * If labels and values do not correspond ("20" for 20 to 29), nobody matches, and the attack has
 * tested nothing. Classes of stars match everybody; they do not count here.
 *
 * People are grouped first: rows of their table with equal quasi-identifiers are one tuple, and are
 * matched once.
 */
#include <stdlib.h>
#include <string.h>

#include "attack/match.h"
#include "attack/tally.h"
#include "group/grouper.h"

/* ------------------------------------------------------------ people */

static const shoal_column *column_of(const shoal_table *table, const shoal_domain *domain) {
  return shoal_table_column(table, domain->attribute->name);
}

/* The tuple of each row. Groups by code: two values at one position make two tuples. */
static bool group_rows(shoal_linked_people *people, const shoal_table *table,
                       const shoal_domain *domains, uint32_t *tuple_of_row) {
  size_t n = (size_t)table->n_rows;
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  uint32_t *codes = shoal_alloc(n, sizeof *codes);
  bool ok = codes && shoal_grouper_start(&grouper, n);
  for (size_t q = 0; ok && q < people->n_quasi; q++) {
    if (!people->known[q]) continue;
    const shoal_column *column = column_of(table, &domains[q]);
    for (size_t r = 0; r < n; r++) codes[r] = shoal_column_code(column, r);
    ok = shoal_grouper_fold(&grouper, n, NULL, codes, column->n_values, tuple_of_row);
  }
  if (ok) people->n_tuples = shoal_grouper_ids(&grouper, n, tuple_of_row);
  free(codes);
  shoal_grouper_reset(&grouper);
  return ok && people->n_tuples != SHOAL_NONE;
}

static bool count_people(shoal_linked_people *people, const shoal_table *table,
                         const uint32_t *tuple_of_row) {
  if (!SHOAL_ARENA_ZEROED(&people->arena, people->n_people, people->n_tuples) ||
      !SHOAL_ARENA_ZEROED(&people->arena, people->first_row, people->n_tuples))
    return false;
  for (uint64_t r = 0; r < table->n_rows; r++) {
    uint32_t t = tuple_of_row[r];
    if (!people->first_row[t]) people->first_row[t] = r + 1;
    people->n_people[t] += shoal_table_count(table, r);
  }
  people->n_all = table->n_records;
  return true;
}

static bool find_positions(shoal_linked_people *people, const shoal_table *table,
                           const shoal_domain *domains, const size_t *raw, bool missing_is_any) {
  for (size_t q = 0; q < people->n_quasi; q++) {
    if (!people->known[q]) continue;
    const shoal_column *column = column_of(table, &domains[q]);
    uint32_t *positions;
    if (!SHOAL_ARENA_ARRAY(&people->arena, positions, people->n_tuples)) return false;
    people->positions[q] = positions;
    for (uint32_t t = 0; t < people->n_tuples; t++) {
      uint32_t code = shoal_column_code(column, people->first_row[t] - 1);
      bool any = missing_is_any && shoal_column_missing(column, code);
      positions[t] = any ? SHOAL_ANY_POSITION : shoal_domain_position(&domains[q], raw[q], code);
    }
  }
  return true;
}

shoal_status shoal_linked_people_build(shoal_linked_people *people, const shoal_table *table,
                                       const shoal_domain *domains, size_t n_quasi,
                                       const size_t *raw, bool missing_is_any, shoal_error *error) {
  memset(people, 0, sizeof *people);
  people->n_quasi = n_quasi;
  shoal_arena *arena = &people->arena;
  bool ok = SHOAL_ARENA_ARRAY(arena, people->tuple_of_row, (size_t)table->n_rows) &&
            SHOAL_ARENA_ZEROED(arena, people->known, n_quasi) &&
            SHOAL_ARENA_ZEROED(arena, people->positions, n_quasi);
  for (size_t q = 0; ok && q < n_quasi; q++) people->known[q] = raw[q] != SIZE_MAX;
  if (ok && group_rows(people, table, domains, people->tuple_of_row) &&
      count_people(people, table, people->tuple_of_row) &&
      find_positions(people, table, domains, raw, missing_is_any))
    return SHOAL_OK;
  shoal_linked_people_reset(people);
  return shoal_fail_memory(error);
}

void shoal_linked_people_reset(shoal_linked_people *people) {
  shoal_arena_reset(&people->arena);
  memset(people, 0, sizeof *people);
}

void shoal_linked_people_keys(const shoal_linked_people *people, uint32_t tuple,
                              shoal_match_key *keys) {
  for (size_t q = 0; q < people->n_quasi; q++) {
    uint32_t position = people->known[q] ? people->positions[q][tuple] : SHOAL_ANY_POSITION;
    keys[q] = (shoal_match_key){.position = position, .any = position == SHOAL_ANY_POSITION};
  }
}

/* ------------------------------------------------------------ the attack */

/* One table of people against the release. */
typedef struct linker {
  const shoal_attack_case *attacked;
  const shoal_linked_people *people;
  shoal_match_index index;
  shoal_match_key *keys;
  shoal_matches matches;
  uint64_t *people_of_class;
  uint64_t n_met;             /* people who fit a class with labels */
  uint64_t *candidates;       /* by tuple of people */
  uint32_t *first_class;      /* by tuple: one of its classes */
  shoal_class_tally *tallies; /* by sensitive attribute */
  shoal_attack_finding *findings;
  size_t n_findings;
  shoal_arena arena; /* of the arrays */
} linker;

static void linker_reset(linker *l) {
  shoal_match_index_reset(&l->index);
  for (size_t s = 0; l->tallies && s < l->attacked->n_sensitive; s++)
    shoal_class_tally_reset(&l->tallies[s]);
  free(l->matches.classes);
  shoal_arena_reset(&l->arena);
}

static shoal_status linker_init(linker *l, shoal_error *error) {
  const shoal_attack_case *attacked = l->attacked;
  const shoal_frequency_set *frequency = attacked->frequency;
  SHOAL_TRY(shoal_match_index_build(&l->index, attacked->domains, l->people->n_quasi, 0, frequency,
                                    l->people->known, error));
  bool ok = SHOAL_ARENA_ARRAY(&l->arena, l->keys, l->people->n_quasi) &&
            SHOAL_ARENA_ZEROED(&l->arena, l->people_of_class, frequency->base.n_classes) &&
            SHOAL_ARENA_ZEROED(&l->arena, l->candidates, l->people->n_tuples) &&
            SHOAL_ARENA_ZEROED(&l->arena, l->first_class, l->people->n_tuples) &&
            SHOAL_ARENA_ZEROED(&l->arena, l->tallies, attacked->n_sensitive);
  for (size_t s = 0; ok && s < attacked->n_sensitive; s++)
    ok = shoal_class_tally_init(&l->tallies[s], attacked->sensitive[s].column->n_values);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* Adds one tuple of people to the finding about one sensitive attribute. */
static void judge(linker *l, uint32_t t, shoal_attack_finding *finding) {
  uint64_t n = l->people->n_people[t], k = l->attacked->requirements->k;
  shoal_attack_example example = {.class_id = l->first_class[t],
                                  .person_row = l->people->first_row[t],
                                  .n_rows = l->candidates[t]};
  bool succeeds = l->candidates[t] < k, given = false;
  if (finding->sensitive != SHOAL_NO_ATTRIBUTE) {
    const shoal_class_tally *tally = &l->tallies[finding->sensitive];
    shoal_decimal bound = shoal_attack_bound(l->attacked, finding->sensitive, &given);
    if (tally->n == 1) finding->certain += n;
    bool guessed = tally->n && shoal_attack_above(bound, tally->most, tally->sum);
    if (guessed) finding->guessed += n;
    succeeds = succeeds || tally->n == 1 || (given && guessed);
    if (tally->n) example.probability = (double)tally->most / (double)tally->sum;
  }
  if (!finding->n_matched || (double)l->candidates[t] < finding->reached)
    finding->reached = (double)l->candidates[t];
  finding->n_matched += n;
  if (l->candidates[t] < k) finding->below_k += n;
  if (example.probability > finding->highest) finding->highest = example.probability;
  if (!succeeds) return;
  finding->n_rows += n;
  shoal_attack_note_example(finding, example);
}

/* Whether the class has a label that tells something about a known quasi-identifier. */
static bool is_informative(const linker *l, uint32_t c) {
  const shoal_frequency_set *f = l->attacked->frequency;
  for (size_t q = 0; q < l->people->n_quasi; q++) {
    if (!l->people->known[q]) continue;
    uint32_t code = shoal_code_at(f->codes[q], f->base.tuple[c]);
    if (!shoal_domain_span(&l->attacked->domains[q], 0, code)->everything) return true;
  }
  return false;
}

static void link_tuple(linker *l, uint32_t t) {
  const shoal_frequency_set *frequency = l->attacked->frequency;
  shoal_linked_people_keys(l->people, t, l->keys);
  shoal_match_find(&l->index, l->keys, &l->matches);
  if (!l->matches.n) return;
  l->first_class[t] = l->matches.classes[0];
  bool met = false;
  for (size_t i = 0; i < l->matches.n; i++) {
    uint32_t c = l->matches.classes[i];
    met = met || is_informative(l, c);
    l->candidates[t] += frequency->base.n_rows[c];
    l->people_of_class[c] += l->people->n_people[t];
    for (size_t s = 0; s < l->attacked->n_sensitive; s++)
      shoal_class_tally_add(&l->tallies[s], frequency, s, c, NULL);
  }
  if (met) l->n_met += l->people->n_people[t];
  for (size_t f = 0; f < l->n_findings; f++) judge(l, t, &l->findings[f]);
  for (size_t s = 0; s < l->attacked->n_sensitive; s++) shoal_class_tally_clear(&l->tallies[s]);
}

/* Unique on both sides: one row for the person, one person for the row. */
static uint64_t count_reidentified(const linker *l) {
  uint64_t n = 0;
  for (uint32_t t = 0; t < l->people->n_tuples; t++)
    n += l->candidates[t] == 1 && l->people_of_class[l->first_class[t]] == 1;
  return n;
}

/* Fewer than 1 in MIN_SHARE of the people and of the rows: they are hardly the same people. */
enum { MIN_SHARE = 20 };

/* Why the attack tested nothing; NULL: it did. */
static const char *find_untested(const linker *l) {
  const shoal_classes *classes = &l->attacked->frequency->base;
  uint64_t n_rows = 0, n_met = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    if (!is_informative(l, c)) continue;
    n_rows += classes->n_rows[c];
    if (l->people_of_class[c]) n_met += classes->n_rows[c];
  }
  if (!n_rows || n_met >= (n_rows + MIN_SHARE - 1) / MIN_SHARE) return NULL;
  if (l->n_met && l->n_met >= (l->people->n_all + MIN_SHARE - 1) / MIN_SHARE) return NULL;
  if (!l->n_met)
    return "nobody fits a class, so nothing was tested: labels of the release and values of the "
           "people probably do not correspond. Compare their spelling with the policy's "
           "hierarchies";
  return "hardly anybody fits a class, so hardly anything was tested: labels of the release and "
         "values of the people probably do not correspond. Compare their spelling with the "
         "policy's hierarchies";
}

static shoal_status link_people(linker *l, shoal_error *error) {
  SHOAL_TRY(linker_init(l, error));
  for (uint32_t t = 0; t < l->people->n_tuples; t++) {
    if (t % 4096 == 0)
      SHOAL_TRY(
          shoal_run_report(l->attacked->run, "link", t, l->people->n_tuples, "people", error));
    link_tuple(l, t);
    if (l->matches.failed) return shoal_fail_memory(error);
  }
  uint64_t reidentified = count_reidentified(l);
  const char *untested = find_untested(l);
  for (size_t f = 0; f < l->n_findings; f++) {
    shoal_attack_finding *finding = &l->findings[f];
    finding->reidentified = reidentified;
    finding->succeeds = finding->n_rows > 0 || reidentified > 0;
    if (!finding->succeeds) finding->untested = untested;
  }
  return SHOAL_OK;
}

static shoal_status run_on(const shoal_attack *self, const shoal_attack_case *attacked,
                           const shoal_linked_people *people, shoal_attack_findings *findings,
                           shoal_error *error) {
  size_t first = findings->n_items, n = attacked->n_sensitive ? attacked->n_sensitive : 1;
  for (size_t s = 0; s < n; s++) {
    shoal_attack_finding *finding =
        shoal_attack_findings_add(findings, self, attacked->n_sensitive ? s : SHOAL_NO_ATTRIBUTE);
    if (!finding) return shoal_fail_memory(error);
    finding->by_people = finding->counts = true;
    finding->n_tried = people->n_all;
    finding->required = (double)attacked->requirements->k;
    finding->note = people->whose;
  }
  linker l = {
      .attacked = attacked, .people = people, .findings = findings->items + first, .n_findings = n};
  shoal_status status = link_people(&l, error);
  linker_reset(&l);
  return status;
}

static shoal_status run(const shoal_attack *self, const shoal_attack_case *attacked,
                        shoal_attack_findings *findings, shoal_error *error) {
  if (!attacked->external && !attacked->original)
    return shoal_attack_skip(findings, self, SHOAL_NO_ATTRIBUTE,
                             "no table of people is given (--external, --original)", error);
  if (attacked->external) SHOAL_TRY(run_on(self, attacked, attacked->external, findings, error));
  if (attacked->original) SHOAL_TRY(run_on(self, attacked, attacked->original, findings, error));
  return SHOAL_OK;
}

const shoal_attack shoal_attack_linking = {
    .name = "linking",
    .knowledge = "the quasi-identifiers of people with names, in another table",
    .learns = "which row a person is, or the sensitive value",
    .measure = "released rows that a person can be",
    .needs = "--external FILE or --original FILE",
    .run = run,
};
