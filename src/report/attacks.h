/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/attacks: what attacks on a release came to, as plain data in the result's arena, and its
 * renderings. Hangs on shoal_result as `attacks`. Classes are shown by labels that stand for more
 * than one value, people by their row in their own table: raw values never get here.
 */
#ifndef SHOAL_REPORT_ATTACKS_H
#define SHOAL_REPORT_ATTACKS_H

#include "report/result.h"

/* A class that falls, or a person. */
typedef struct shoal_attack_sight {
  const char **labels; /* by quasi-identifier; NULL: it may be raw */
  size_t n_shown;
  uint64_t person_row; /* in the table of people, the first is 1; 0: none */
  uint64_t n_rows;     /* of the class, or among which the person is */
  double probability;  /* of the most likely value there; 0: not known */
} shoal_attack_sight;

/* One attack, on one sensitive attribute or on all. */
typedef struct shoal_attack_outcome {
  const char *name;
  const char *knowledge, *learns, *measure; /* in words; measure may be NULL */
  const char *attribute;                    /* sensitive; NULL: not about one */
  const char *previous;                     /* name of the earlier release; NULL: none */
  uint32_t ruled_out;                       /* values; 0: not that attack */
  const char *not_run;                      /* why it was not run; NULL: it was */
  const char *risk;                         /* "yes", "no", "answered", "unknown"; NULL: tried */
  const char *note;
  bool by_people; /* counts are people, not rows */
  bool succeeds, counts;
  uint64_t n_tried, n_matched, n_classes, n_rows;
  uint64_t reidentified, certain, guessed, below_k, below_p;
  double bound; /* of a guess */
  double highest, required, reached;
  shoal_attack_sight *examples;
  size_t n_examples;
} shoal_attack_outcome;

typedef struct shoal_attack_report {
  shoal_attack_outcome *items;
  size_t n_items;
  uint64_t k;
  const char *external, *original; /* names of tables; NULL: not given */
} shoal_attack_report;

struct json_t;
struct json_t *shoal_render_attacks_json(const shoal_result *result);
/* The attacks alone, as part of a release's report: numbers of people below k are null. */
struct json_t *shoal_render_attacks_array(const shoal_result *result);
void shoal_render_attacks_text(const shoal_result *result, shoal_text *text);

#endif
