/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/known_records: an intruder knows N records of one person (--knows-records), each by its
 * quasi-identifiers. The person is in a class of each of them, so the candidates are the people of
 * the original table who have a row in all of these classes. k is about one record: several leave
 * fewer people. The worst N records of each person are looked for among the first MAX_SETS sets of
 * them. With N = 1 and all records, this is the risk of each person that `measure` reports.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attack/match.h"
#include "attack/tally.h"
#include "base/sort.h"
#include "context/people.h"

enum { MAX_SETS = 64, MAX_KNOWN = 64 };

typedef struct lists {
  size_t *start; /* n + 1 */
  uint32_t *items;
} lists;

/* Who is where. Tuples are distinct rows of quasi-identifiers of the original table. */
typedef struct whereabouts {
  const shoal_attack_case *attacked;
  shoal_people people;
  lists classes_of_tuple, people_of_class, tuples_of_person;
  uint32_t *seen_in; /* by person: the last set in which */
  uint32_t *found;   /* records of the person that were found */
  uint32_t n_sets;
  shoal_arena arena; /* of the lists and arrays */
} whereabouts;

/* Lists of distinct items by key, from words key << 32 | item, which are sorted. */
static bool lists_init(whereabouts *w, lists *l, uint64_t *words, size_t n, uint32_t n_keys) {
  shoal_sort_u64(words, n);
  if (!SHOAL_ARENA_ZEROED(&w->arena, l->start, (size_t)n_keys + 1) ||
      !SHOAL_ARENA_ARRAY(&w->arena, l->items, n))
    return false;
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (i && words[i] == words[i - 1]) continue;
    l->items[kept++] = (uint32_t)words[i];
    l->start[(words[i] >> 32) + 1] = kept;
  }
  for (uint32_t k = 0; k < n_keys; k++)
    if (l->start[k + 1] < l->start[k]) l->start[k + 1] = l->start[k];
  return true;
}

/* The classes that each tuple can be in. */
static shoal_status match_tuples(whereabouts *w, shoal_error *error) {
  const shoal_linked_people *linked = w->attacked->original;
  shoal_match_index index = {0};
  SHOAL_TRY(shoal_match_index_build(&index, w->attacked->domains, linked->n_quasi, 0,
                                    w->attacked->frequency, linked->known, error));
  shoal_match_key *keys = shoal_alloc(linked->n_quasi, sizeof *keys);
  shoal_matches matches = {0};
  uint64_t *words = NULL;
  size_t n = 0, capacity = 0;
  bool ok = keys != NULL;
  for (uint32_t t = 0; ok && t < linked->n_tuples; t++) {
    matches.n = 0;
    shoal_linked_people_keys(linked, t, keys);
    shoal_match_find(&index, keys, &matches);
    ok = !matches.failed && shoal_grow(&words, &capacity, n + matches.n + 1, sizeof *words);
    for (size_t i = 0; ok && i < matches.n; i++)
      words[n++] = (uint64_t)t << 32 | matches.classes[i];
  }
  ok = ok && lists_init(w, &w->classes_of_tuple, words, n, linked->n_tuples);
  free(words);
  free(keys);
  free(matches.classes);
  shoal_match_index_reset(&index);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* Who has a row that can be in each class, and which tuples each person has. */
static shoal_status place_people(whereabouts *w, shoal_error *error) {
  const shoal_linked_people *linked = w->attacked->original;
  const shoal_table *table = w->attacked->original_table;
  const shoal_column *person = w->people.column;
  uint64_t *words = NULL, *tuples = shoal_alloc((size_t)table->n_rows, sizeof *tuples);
  size_t n = 0, capacity = 0;
  bool ok = tuples != NULL;
  for (uint64_t row = 0; ok && row < table->n_rows; row++) {
    uint32_t t = linked->tuple_of_row[row], who = shoal_column_code(person, row);
    size_t from = w->classes_of_tuple.start[t], to = w->classes_of_tuple.start[t + 1];
    tuples[row] = (uint64_t)who << 32 | t;
    ok = shoal_grow(&words, &capacity, n + (to - from) + 1, sizeof *words);
    for (size_t i = from; ok && i < to; i++)
      words[n++] = (uint64_t)w->classes_of_tuple.items[i] << 32 | who;
  }
  ok = ok && SHOAL_ARENA_ZEROED(&w->arena, w->seen_in, person->n_values) &&
       SHOAL_ARENA_ZEROED(&w->arena, w->found, person->n_values) &&
       lists_init(w, &w->people_of_class, words, n, w->attacked->frequency->base.n_classes) &&
       lists_init(w, &w->tuples_of_person, tuples, (size_t)table->n_rows, person->n_values);
  free(words);
  free(tuples);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* People who can be in a class of each of the n tuples. */
static uint64_t count_candidates(whereabouts *w, const uint32_t *tuples, uint32_t n) {
  uint64_t candidates = 0;
  w->n_sets++;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t t = tuples[i];
    for (size_t c = w->classes_of_tuple.start[t]; c < w->classes_of_tuple.start[t + 1]; c++) {
      uint32_t class_id = w->classes_of_tuple.items[c];
      for (size_t p = w->people_of_class.start[class_id];
           p < w->people_of_class.start[class_id + 1]; p++) {
        uint32_t who = w->people_of_class.items[p];
        uint32_t found = w->seen_in[who] == w->n_sets ? w->found[who] : 0;
        if (found != i) continue; /* absent before, or counted for this tuple */
        w->seen_in[who] = w->n_sets;
        w->found[who] = i + 1;
        candidates += i + 1 == n;
      }
    }
  }
  return candidates;
}

/* The next set of n of `all` numbers, in order; false after the last. */
static bool next_set(uint32_t *set, uint32_t n, uint32_t all) {
  uint32_t i = n;
  while (i > 0 && set[i - 1] == all - n + i - 1) i--;
  if (!i) return false;
  set[i - 1]++;
  for (; i < n; i++) set[i] = set[i - 1] + 1;
  return true;
}

/* The fewest candidates that n known records of the person leave. */
static uint64_t fewest_candidates(whereabouts *w, uint32_t person, uint32_t n) {
  const uint32_t *all = w->tuples_of_person.items + w->tuples_of_person.start[person];
  uint32_t n_all =
      (uint32_t)(w->tuples_of_person.start[person + 1] - w->tuples_of_person.start[person]);
  uint32_t set[MAX_KNOWN], tuples[MAX_KNOWN], n_known = n < n_all ? n : n_all;
  uint64_t fewest = UINT64_MAX;
  for (uint32_t i = 0; i < n_known; i++) set[i] = i;
  for (int s = 0; s < MAX_SETS; s++) {
    for (uint32_t i = 0; i < n_known; i++) tuples[i] = all[set[i]];
    uint64_t candidates = count_candidates(w, tuples, n_known);
    if (candidates < fewest) fewest = candidates;
    if (!next_set(set, n_known, n_all)) break;
  }
  return fewest;
}

static shoal_status attack_people(whereabouts *w, shoal_attack_finding *finding,
                                  shoal_error *error) {
  const shoal_attack_case *attacked = w->attacked;
  uint64_t *n_rows = shoal_count_values(attacked->original_table, w->people.column);
  if (!n_rows) return shoal_fail_memory(error);
  for (uint32_t person = 0; person < w->people.column->n_values; person++) {
    if (n_rows[person] < attacked->bounds.records) continue;
    finding->n_tried++;
    uint64_t candidates = fewest_candidates(w, person, attacked->bounds.records);
    if (!candidates) continue; /* a record of the person was suppressed */
    if (!finding->n_matched++ || (double)candidates < finding->reached)
      finding->reached = (double)candidates;
    finding->reidentified += candidates == 1;
    finding->below_k += candidates < attacked->requirements->k;
  }
  free(n_rows);
  finding->n_rows = finding->below_k;
  finding->succeeds = finding->below_k > 0;
  if (!finding->n_tried) finding->untested = "nobody has that number of records";
  else if (!finding->n_matched) finding->untested = "nobody's records are all in the release";
  return SHOAL_OK;
}

static void whereabouts_reset(whereabouts *w) {
  shoal_arena_reset(&w->arena);
  shoal_people_reset(&w->people);
}

/* ------------------------------------------------------------ risk of a person */

/* Of each tuple: people of the original who have it, and who can be in one of its classes. */
typedef struct candidates {
  uint64_t *before, *after;
} candidates;

static bool count_all_candidates(whereabouts *w, candidates *of) {
  uint32_t n_tuples = w->attacked->original->n_tuples;
  if (!SHOAL_ARENA_ZEROED(&w->arena, of->before, n_tuples) ||
      !SHOAL_ARENA_ZEROED(&w->arena, of->after, n_tuples))
    return false;
  size_t n = w->tuples_of_person.start[w->people.column->n_values];
  for (size_t i = 0; i < n; i++) of->before[w->tuples_of_person.items[i]]++;
  for (uint32_t t = 0; t < n_tuples; t++) {
    const size_t *people = w->people_of_class.start;
    size_t first = w->classes_of_tuple.start[t], end = w->classes_of_tuple.start[t + 1];
    if (end - first == 1) { /* as in every full-domain release */
      uint32_t c = w->classes_of_tuple.items[first];
      of->after[t] = people[c + 1] - people[c];
    } else {
      of->after[t] = count_candidates(w, &t, 1);
    }
  }
  return true;
}

static void add_risks(const whereabouts *w, const uint64_t *candidates_of, shoal_person_risk *out) {
  const shoal_threshold *thresholds = shoal_thresholds();
  for (uint32_t person = 0; person < w->people.column->n_values; person++) {
    uint64_t fewest = 0;
    for (size_t i = w->tuples_of_person.start[person]; i < w->tuples_of_person.start[person + 1];
         i++) {
      uint64_t n = candidates_of[w->tuples_of_person.items[i]];
      if (n && (!fewest || n < fewest)) fewest = n;
    }
    if (!fewest) continue; /* no record of the person is in the table */
    if (!out->n_people++ || fewest < out->fewest) out->fewest = fewest;
    out->average += 1 / (double)fewest;
    for (size_t t = 0; t < SHOAL_N_THRESHOLDS; t++)
      out->at_risk[t] += fewest < thresholds[t].class_size;
  }
  out->highest = out->n_people ? 1 / (double)out->fewest : NAN;
  out->average = out->n_people ? out->average / (double)out->n_people : NAN;
}

shoal_status shoal_attack_person_risk(const shoal_attack_case *attacked, bool *known,
                                      shoal_person_risk *before, shoal_person_risk *after,
                                      shoal_error *error) {
  whereabouts w = {.attacked = attacked};
  candidates of = {0};
  *before = *after = (shoal_person_risk){0};
  SHOAL_TRY(shoal_people_init(&w.people, attacked->original_table, attacked->policy,
                              SHOAL_ROLE_PERSON, error));
  *known = w.people.repeat;
  shoal_status status = w.people.repeat ? match_tuples(&w, error) : SHOAL_OK;
  if (w.people.repeat && status == SHOAL_OK) status = place_people(&w, error);
  if (w.people.repeat && status == SHOAL_OK) {
    if (count_all_candidates(&w, &of)) {
      add_risks(&w, of.before, before);
      add_risks(&w, of.after, after);
    } else {
      status = shoal_fail_memory(error);
    }
  }
  whereabouts_reset(&w);
  return status;
}

/* ------------------------------------------------------------ the attack */

static shoal_status run(const shoal_attack *self, const shoal_attack_case *attacked,
                        shoal_attack_findings *findings, shoal_error *error) {
  if (!attacked->bounds.records) return SHOAL_OK; /* not asked for */
  if (!attacked->original)
    return shoal_attack_skip(findings, self, SHOAL_NO_ATTRIBUTE,
                             "the original table is not given (--original)", error);
  whereabouts w = {.attacked = attacked};
  SHOAL_TRY(shoal_people_init(&w.people, attacked->original_table, attacked->policy,
                              SHOAL_ROLE_PERSON, error));
  shoal_status status = SHOAL_OK;
  if (!w.people.repeat) {
    status = shoal_attack_skip(findings, self, SHOAL_NO_ATTRIBUTE,
                               w.people.asked ? "nobody has several records"
                                              : "no attribute of the policy has role person",
                               error);
  } else {
    shoal_attack_finding *finding = shoal_attack_findings_add(findings, self, SHOAL_NO_ATTRIBUTE);
    status = finding ? SHOAL_OK : shoal_fail_memory(error);
    if (finding) finding->by_people = true;
    if (finding) finding->required = (double)attacked->requirements->k;
    if (status == SHOAL_OK) status = match_tuples(&w, error);
    if (status == SHOAL_OK) status = place_people(&w, error);
    if (status == SHOAL_OK) status = attack_people(&w, finding, error);
  }
  whereabouts_reset(&w);
  return status;
}

const shoal_attack shoal_attack_known_records = {
    .name = "known-records",
    .knowledge = "several records of one person, each by its quasi-identifiers",
    .learns = "who the person is",
    .measure = "people who can have the known records",
    .needs = "--knows-records N, --original FILE and an attribute of role person",
    .run = run,
};
