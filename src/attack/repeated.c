/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/repeated: intersects two releases of overlapping tables (Ganta, Kasiviswanathan & Smith
 * 2008, composition attacks). The attacker knows the quasi-identifiers of a person who is in both,
 * and finds the matching classes of each release. The person has a tuple of sensitive values that
 * occurs in both. If c rows of one release and d rows of the other have a tuple, at most min(c, d)
 * people can have it in both. The sum over the tuples is the number of rows that remain possible.
 * Fewer than k, or fewer distinct values than p, violate the policy although each release alone may
 * satisfy it.
 *
 * With a table of people (original or external), each of them is tried. Without one, every pair of
 * classes with overlapping labels is tried; the counts are then upper bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "attack/joint.h"
#include "attack/match.h"

typedef struct composer {
  const shoal_attack_case *attacked;
  size_t previous;
  const shoal_linked_people *people; /* NULL: pairs of classes */
  shoal_joint joint;
  shoal_match_index index[2];
  shoal_match_key *keys;
  shoal_matches matches[2];
  uint64_t *rows[2]; /* by sensitive tuple: rows of the current classes */
  uint32_t *touched; /* sensitive tuples of the attacked release's current classes */
  size_t n_touched;
  uint32_t **stamp; /* by sensitive attribute and value: the last count that saw it */
  uint32_t now;
  shoal_attack_finding *finding;
  shoal_arena arena; /* of the arrays */
} composer;

static void composer_reset(composer *x) {
  for (int side = 0; side < 2; side++) {
    shoal_match_index_reset(&x->index[side]);
    free(x->matches[side].classes);
  }
  shoal_arena_reset(&x->arena);
  shoal_joint_reset(&x->joint);
}

static shoal_status composer_init(composer *x, shoal_error *error) {
  const shoal_attack_case *attacked = x->attacked;
  const shoal_previous_release *previous = &attacked->previous[x->previous];
  size_t n_quasi = attacked->frequency->n_quasi;
  const bool *known = x->people ? x->people->known : NULL;
  SHOAL_TRY(shoal_joint_build(&x->joint, attacked, previous, error));
  SHOAL_TRY(shoal_match_index_build(&x->index[0], attacked->domains, n_quasi, 0,
                                    attacked->frequency, known, error));
  if (x->people)
    SHOAL_TRY(shoal_match_index_build(&x->index[1], attacked->domains, n_quasi, x->previous + 1,
                                      previous->frequency, known, error));
  uint32_t n_tuples = x->joint.n_sensitive_tuples;
  bool ok = SHOAL_ARENA_ZEROED(&x->arena, x->rows[0], n_tuples) &&
            SHOAL_ARENA_ZEROED(&x->arena, x->rows[1], n_tuples) &&
            SHOAL_ARENA_ZEROED(&x->arena, x->keys, n_quasi) &&
            SHOAL_ARENA_ARRAY(&x->arena, x->touched, n_tuples) &&
            SHOAL_ARENA_ZEROED(&x->arena, x->stamp, x->joint.n_sensitive);
  for (size_t s = 0; ok && s < x->joint.n_sensitive; s++)
    ok = SHOAL_ARENA_ZEROED(&x->arena, x->stamp[s], x->joint.n_values[s]) != NULL;
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

static void add_class(composer *x, int side, uint32_t c) {
  const shoal_sensitive_tuple_counts *counts = &x->joint.counts[side];
  for (size_t i = counts->start[c]; i < counts->start[c + 1]; i++) {
    uint32_t sensitive_tuple = counts->sensitive_tuple[i];
    if (side == 0 && !x->rows[0][sensitive_tuple]) x->touched[x->n_touched++] = sensitive_tuple;
    x->rows[side][sensitive_tuple] += counts->n_rows[i];
  }
}

static void remove_class(composer *x, int side, uint32_t c) {
  const shoal_sensitive_tuple_counts *counts = &x->joint.counts[side];
  for (size_t i = counts->start[c]; i < counts->start[c + 1]; i++)
    x->rows[side][counts->sensitive_tuple[i]] = 0;
}

/* n_people match the current classes; 0: unknown, as many as rows remain. */
static void judge(composer *x, uint64_t n_people, uint64_t person_row, uint32_t class_id) {
  shoal_attack_finding *finding = x->finding;
  uint64_t left = 0, most = 0;
  for (size_t i = 0; i < x->n_touched; i++) {
    uint64_t a = x->rows[0][x->touched[i]], b = x->rows[1][x->touched[i]];
    left += a < b ? a : b;
    if ((a < b ? a : b) > most) most = a < b ? a : b;
  }
  if (!left) return; /* no person can be in both */
  if (!n_people) n_people = left;
  bool certain = false, below_p = false, below_k = left < x->attacked->requirements->k;
  for (size_t s = 0; s < x->joint.n_sensitive; s++) {
    /* Distinct values of an attribute among the sensitive tuples that both releases have. */
    uint64_t n = 0;
    x->now++;
    for (size_t i = 0; i < x->n_touched; i++) {
      uint32_t sensitive_tuple = x->touched[i], value = x->joint.value_of[s][sensitive_tuple];
      if (!x->rows[1][sensitive_tuple] || value == SHOAL_NONE || x->stamp[s][value] == x->now)
        continue;
      x->stamp[s][value] = x->now;
      n++;
    }
    certain = certain || n == 1;
    below_p = below_p || n < shoal_attack_promised_p(x->attacked, s);
  }
  if (!finding->n_matched || (double)left < finding->reached) finding->reached = (double)left;
  finding->n_matched += n_people;
  if (left == 1) finding->reidentified += n_people;
  if (certain) finding->certain += n_people;
  if (below_k) finding->below_k += n_people;
  if (below_p) finding->below_p += n_people;
  double probability = (double)most / (double)left;
  if (shoal_attack_above(x->attacked->bounds.guess, most, left)) finding->guessed += n_people;
  if (probability > finding->highest) finding->highest = probability;
  if (!certain && !below_p && !below_k) return;
  finding->n_classes++;
  finding->n_rows += n_people;
  shoal_attack_note_example(finding, (shoal_attack_example){.class_id = class_id,
                                                            .person_row = person_row,
                                                            .n_rows = left,
                                                            .probability = probability});
}

static shoal_status try_people(composer *x, shoal_error *error) {
  for (uint32_t t = 0; t < x->people->n_tuples; t++) {
    if (t % 4096 == 0)
      SHOAL_TRY(
          shoal_run_report(x->attacked->run, "compose", t, x->people->n_tuples, "people", error));
    shoal_linked_people_keys(x->people, t, x->keys);
    for (int side = 0; side < 2; side++) {
      shoal_match_find(&x->index[side], x->keys, &x->matches[side]);
      if (x->matches[side].failed) return shoal_fail_memory(error);
    }
    if (!x->matches[0].n || !x->matches[1].n) continue;
    x->n_touched = 0;
    for (int side = 0; side < 2; side++)
      for (size_t i = 0; i < x->matches[side].n; i++)
        add_class(x, side, x->matches[side].classes[i]);
    judge(x, x->people->n_people[t], x->people->first_row[t], x->matches[0].classes[0]);
    for (int side = 0; side < 2; side++)
      for (size_t i = 0; i < x->matches[side].n; i++)
        remove_class(x, side, x->matches[side].classes[i]);
  }
  return SHOAL_OK;
}

static shoal_status try_pairs(composer *x, shoal_error *error) {
  const shoal_frequency_set *previous = x->attacked->previous[x->previous].frequency;
  for (uint32_t d = 0; d < previous->base.n_classes; d++) {
    if (d % 4096 == 0)
      SHOAL_TRY(shoal_run_report(x->attacked->run, "compose", d, previous->base.n_classes,
                                 "classes", error));
    for (size_t q = 0; q < previous->n_quasi; q++)
      x->keys[q].span =
          shoal_domain_span(&x->attacked->domains[q], x->previous + 1,
                            shoal_code_at(previous->codes[q], previous->base.tuple[d]));
    shoal_match_find(&x->index[0], x->keys, &x->matches[0]);
    if (x->matches[0].failed) return shoal_fail_memory(error);
    add_class(x, 1, d);
    for (size_t i = 0; i < x->matches[0].n; i++) {
      uint32_t c = x->matches[0].classes[i];
      x->n_touched = 0;
      add_class(x, 0, c);
      judge(x, 0, 0, c);
      remove_class(x, 0, c);
    }
    remove_class(x, 1, d);
  }
  return SHOAL_OK;
}

static const char ALL_PAIRS[] =
    "no table of people is given: every pair of classes that can hold one person is tried, and "
    "the counts are upper bounds";

static const char NOBODY[] = "nobody can be in both releases, so nothing was tested: either they "
                             "are about different people, "
                             "or their labels and sensitive values do not correspond";

static shoal_status run_previous(const shoal_attack *self, const shoal_attack_case *attacked,
                                 size_t previous, shoal_attack_findings *findings,
                                 shoal_error *error) {
  const shoal_linked_people *people = attacked->original ? attacked->original : attacked->external;
  shoal_attack_finding *finding = shoal_attack_findings_add(findings, self, SHOAL_NO_ATTRIBUTE);
  if (!finding) return shoal_fail_memory(error);
  finding->previous = previous;
  finding->by_people = finding->counts = true;
  finding->required = (double)attacked->requirements->k;
  finding->note = people ? people->whose : ALL_PAIRS;
  composer x = {.attacked = attacked, .previous = previous, .people = people, .finding = finding};
  shoal_status status = composer_init(&x, error);
  if (status == SHOAL_OK) status = people ? try_people(&x, error) : try_pairs(&x, error);
  composer_reset(&x);
  finding->n_tried = people ? people->n_all : finding->n_matched;
  finding->succeeds = finding->n_rows > 0;
  if (!finding->n_matched) finding->untested = NOBODY;
  return status;
}

const shoal_attack shoal_attack_repeated = {
    .name = "repeated-releases",
    .knowledge = "an earlier release of an overlapping table, that a person is in both with the "
                 "same sensitive values, and the person's quasi-identifiers",
    .learns = "the sensitive value that both releases have",
    .measure = "rows of both releases that a person can be",
    .needs = "--previous FILE",
    .run_previous = run_previous,
};
