/* SPDX-License-Identifier: Apache-2.0 */
/* report/attacks_json: what attacks came to, for programs. The names are the interface. */
#include <jansson.h>
#include <math.h>

#include "report/attacks.h"
#include "report/json_build.h"

static json_t *number(double x) {
  if (x == floor(x) && fabs(x) < 9e15) return json_integer((json_int_t)x);
  return json_real(x);
}

static json_t *count(uint64_t n) { return json_integer((json_int_t)n); }

/* A number of people; in a release's report none from 1 to k - 1 is told. */
static json_t *people(const shoal_result *r, uint64_t n) {
  bool hidden = r->kind == SHOAL_RESULT_RELEASE && n && n < r->attacks->k;
  return hidden ? json_null() : count(n);
}

static json_t *words(const char *s) { return s ? json_string(s) : json_null(); }

static json_t *example_object(const shoal_result *r, const shoal_attack_sight *e) {
  json_t *labels = json_object();
  for (size_t q = 0; q < r->n_quasi; q++) shoal_json_set(labels, r->quasi[q], words(e->labels[q]));
  json_t *object =
      json_pack("{s:o, s:o, s:o}", "labels", labels, "rows", count(e->n_rows), "probability",
                e->probability > 0 ? number(e->probability) : json_null());
  if (e->person_row) shoal_json_set(object, "person_row", count(e->person_row));
  return object;
}

static json_t *counts_object(const shoal_result *r, const shoal_attack_outcome *a) {
  json_t *object = json_object();
  shoal_json_set(object, "tried", people(r, a->n_tried));
  if (a->by_people) shoal_json_set(object, "matched", people(r, a->n_matched));
  shoal_json_set(object, "falling", people(r, a->n_rows));
  shoal_json_set(object, "classes", people(r, a->n_classes));
  shoal_json_set(object, "reidentified", people(r, a->reidentified));
  shoal_json_set(object, "certain", people(r, a->certain));
  shoal_json_set(object, "guessed", people(r, a->guessed));
  shoal_json_set(object, "below_k", people(r, a->below_k));
  shoal_json_set(object, "below_p", people(r, a->below_p));
  return object;
}

static json_t *attack_object(const shoal_result *r, const shoal_attack_outcome *a) {
  json_t *object = json_object();
  shoal_json_set(object, "attack", json_string(a->name));
  if (a->attribute) shoal_json_set(object, "attribute", json_string(a->attribute));
  if (a->previous) shoal_json_set(object, "previous", json_string(a->previous));
  if (a->ruled_out) shoal_json_set(object, "ruled_out", count(a->ruled_out));
  shoal_json_set(object, "knowledge", json_string(a->knowledge));
  shoal_json_set(object, "learns", json_string(a->learns));
  shoal_json_set(object, "not_run", words(a->not_run));
  shoal_json_set(object, "note", words(a->note));
  if (a->not_run) return object;
  if (a->risk) {
    shoal_json_set(object, "risk", json_string(a->risk));
    return object;
  }
  shoal_json_set(object, "succeeds", json_boolean(a->succeeds));
  shoal_json_set(object, "counted", json_boolean(a->counts));
  shoal_json_set(object, "unit", json_string(a->by_people ? "people" : "rows"));
  shoal_json_set(object, "counts", counts_object(r, a));
  shoal_json_set(object, "bound", number(a->bound));
  shoal_json_set(object, "highest_probability", number(a->highest));
  if (a->measure && (a->attribute || a->by_people || a->previous))
    shoal_json_set(object, "measure",
                   json_pack("{s:s, s:o, s:o}", "name", a->measure, "required",
                             a->required > 0 ? number(a->required) : json_null(), "worst",
                             number(a->reached)));
  json_t *examples = json_array();
  for (size_t i = 0; i < a->n_examples; i++)
    if (r->kind != SHOAL_RESULT_RELEASE || a->examples[i].n_rows >= r->attacks->k)
      shoal_json_append(examples, example_object(r, &a->examples[i]));
  shoal_json_set(object, "examples", examples);
  return object;
}

json_t *shoal_render_attacks_array(const shoal_result *r) {
  json_t *attacks = json_array();
  for (size_t i = 0; i < r->attacks->n_items; i++)
    shoal_json_append(attacks, attack_object(r, &r->attacks->items[i]));
  return attacks;
}

json_t *shoal_render_attacks_json(const shoal_result *r) {
  json_t *attacks = shoal_render_attacks_array(r), *warnings = json_array();
  for (size_t i = 0; i < r->n_warnings; i++)
    shoal_json_append(warnings, json_string(r->warnings[i]));
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "shoal", SHOAL_VERSION,
                   "command", "attack", "holds", json_boolean(r->holds), "rows",
                   count(r->input_rows), "classes", count(r->classes), "smallest_class",
                   count(r->smallest_class), "external", words(r->attacks->external), "original",
                   words(r->attacks->original), "attacks", attacks, "warnings", warnings);
}
