/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/result: results and their strings, the verdict, class sizes, and the table that maps a
 * kind of result to its renderings.
 */
#include "report/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/certificate.h"
#include "report/render.h"

shoal_result *shoal_result_new(shoal_result_kind kind) {
  shoal_result *result = shoal_alloc_zero(1, sizeof *result);
  if (!result) return NULL;
  result->kind = kind;
  shoal_arena_init(&result->arena);
  return result;
}

void shoal_result_delete(shoal_result *result) {
  if (!result) return;
  shoal_arena_reset(&result->arena);
  free(result);
}

const char *shoal_result_string(shoal_result *result, const char *bytes, size_t size_bytes) {
  return shoal_arena_copy_utf8(&result->arena, bytes, size_bytes);
}

shoal_status shoal_result_copy(shoal_result *result, const char *string, const char **copy,
                               shoal_error *error) {
  *copy = shoal_result_string(result, string, strlen(string));
  return *copy ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_result_warn(shoal_result *result, shoal_error *error, const char *format, ...) {
  char warning[512];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(warning, sizeof warning, format, args);
  va_end(args);
  size_t n = result->n_warnings;
  const char **grown = shoal_arena_alloc(&result->arena, n + 1, sizeof *grown);
  const char *copy = shoal_result_string(result, warning, strlen(warning));
  if (!grown || !copy) return shoal_fail_memory(error);
  if (n) memcpy(grown, result->warnings, n * sizeof *grown);
  grown[n] = copy;
  result->warnings = grown;
  result->n_warnings = n + 1;
  return SHOAL_OK;
}

shoal_status shoal_result_notes(shoal_result *result, const shoal_table *table,
                                shoal_error *error) {
  for (size_t i = 0; i < table->n_notes; i++)
    SHOAL_TRY(shoal_result_warn(result, error, "%s", table->notes[i]));
  return SHOAL_OK;
}

const shoal_model_outcomes *shoal_result_models_of(const shoal_result *result) {
  if (result->kind == SHOAL_RESULT_CHECK) return &result->check.models;
  return result->kind == SHOAL_RESULT_RELEASE ? &result->release.models : NULL;
}

shoal_size_change shoal_result_size_change(const shoal_result *result) {
  switch (result->kind) {
  case SHOAL_RESULT_CHECK: return (shoal_size_change){.before = result->check.sizes};
  case SHOAL_RESULT_ATTACK: return (shoal_size_change){.before = result->attack.sizes};
  case SHOAL_RESULT_RELEASE: return result->release.sizes;
  case SHOAL_RESULT_MEASURE: return result->measure.sizes;
  default: return (shoal_size_change){.before = {.n_records = 0}};
  }
}

shoal_measured shoal_result_measured(const shoal_result *result) {
  if (result->kind == SHOAL_RESULT_RELEASE) return result->release.measured;
  if (result->kind == SHOAL_RESULT_MEASURE) return result->measure.measured;
  return (shoal_measured){.utility = NULL};
}

const shoal_attack_outcomes *shoal_result_attacks(const shoal_result *result) {
  if (result->kind == SHOAL_RESULT_RELEASE) return result->release.attacks;
  if (result->kind == SHOAL_RESULT_CERTIFICATE) return &result->certificate->attacks;
  return result->kind == SHOAL_RESULT_ATTACK ? result->attack.attacks : NULL;
}

const char *shoal_result_output(const shoal_result *result) {
  if (result->kind == SHOAL_RESULT_RELEASE) return result->release.output;
  return result->kind == SHOAL_RESULT_MEASURE ? result->measure.output : NULL;
}

/* ------------------------------------------------------------ the verdict */

static bool is_same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

bool shoal_safety_lists(const shoal_safety *safety, shoal_risk_kind kind, const char *attack,
                        const char *attribute) {
  for (size_t i = 0; i < safety->n_risks; i++) {
    const shoal_risk_outcome *risk = &safety->risks[i];
    if (risk->kind == kind && is_same(risk->attack, attack) && is_same(risk->attribute, attribute))
      return true;
  }
  return false;
}

bool shoal_model_unknown(const shoal_model_outcome *model) {
  return model->unjudged && !(model->is_size && model->breaking_classes);
}

bool shoal_models_unjudged(const shoal_model_outcomes *models) {
  bool any = false;
  for (size_t i = 0; i < models->n_items; i++) {
    bool unknown = shoal_model_unknown(&models->items[i]);
    if (!models->items[i].holds && !unknown) return false;
    any = any || unknown;
  }
  return any;
}

size_t shoal_safety_open_risks(const shoal_safety *safety) {
  size_t n = 0;
  for (size_t i = 0; i < safety->n_risks; i++) n += !safety->risks[i].accepted;
  return n;
}

shoal_publication shoal_safety_verdict(const shoal_safety *safety) {
  if (!safety->is_judged) return SHOAL_NOT_JUDGED;
  if (!safety->models_hold || safety->n_undecided) return SHOAL_DO_NOT_PUBLISH;
  for (size_t i = 0; i < safety->n_risks; i++)
    if (safety->risks[i].blocks && !safety->risks[i].accepted) return SHOAL_DO_NOT_PUBLISH;
  return safety->n_risks ? SHOAL_HOLDS_WITH_RISKS : SHOAL_HOLDS;
}

const char *shoal_publication_name(shoal_publication verdict) {
  switch (verdict) {
  case SHOAL_HOLDS: return "holds";
  case SHOAL_HOLDS_WITH_RISKS: return "holds-with-risks";
  case SHOAL_DO_NOT_PUBLISH: return "do-not-publish";
  default: return NULL;
  }
}

/* ------------------------------------------------------------ class sizes */

/* A table, because branches on the sizes of small classes are mispredicted. */
static size_t bin_of(uint64_t size) {
  static const uint8_t small[20] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4};
  return size < 20 ? small[size] : SHOAL_SIZE_BINS - 1;
}

void shoal_class_sizes_add(shoal_class_sizes *sizes, uint64_t size) {
  sizes->records[bin_of(size)] += size;
  sizes->n_records += size;
  if (!sizes->n_classes++ || size < sizes->smallest) sizes->smallest = size;
}

void shoal_class_sizes_from_risk(shoal_class_sizes *sizes, const shoal_identity_risk *risk) {
  *sizes = (shoal_class_sizes){
      .n_records = risk->n_rows, .n_classes = risk->n_classes, .smallest = risk->smallest_class};
  for (size_t i = 0; i < SHOAL_N_SIZES; i++)
    sizes->records[i < SHOAL_SIZE_BINS ? i : SHOAL_SIZE_BINS - 1] += risk->sizes[i].n_rows;
}

/* ------------------------------------------------------------ renderings */

/*
 * Strings were escaped as they were added. Line by line once more, so that nothing but a line end
 * can get past.
 */
static char *printable(shoal_text *text) {
  shoal_text clean;
  shoal_text_init(&clean);
  for (size_t at = 0; at < text->size_bytes;) {
    const char *end = memchr(text->bytes + at, '\n', text->size_bytes - at);
    size_t size = end ? (size_t)(end - text->bytes) - at : text->size_bytes - at;
    shoal_text_add_escaped(&clean, text->bytes + at, size);
    if (end) shoal_text_add(&clean, "\n");
    at += size + (end != NULL);
  }
  clean.failed = clean.failed || text->failed;
  shoal_text_reset(text);
  return shoal_text_take(&clean);
}

static const struct {
  void (*text)(const shoal_result *result, shoal_text *text);
  json_t *(*json)(const shoal_result *result, shoal_json *json);
  bool has_page;
} renderers[] = {
    [SHOAL_RESULT_PROFILE] = {shoal_profile_text, shoal_profile_json, false},
    [SHOAL_RESULT_CHECK] = {shoal_check_text, shoal_check_json, true},
    [SHOAL_RESULT_CONDITIONS] = {shoal_conditions_text, shoal_conditions_json, false},
    [SHOAL_RESULT_LATTICE] = {shoal_lattice_text, shoal_lattice_json, true},
    [SHOAL_RESULT_DISTANCES] = {shoal_distances_text, shoal_distances_json, false},
    [SHOAL_RESULT_EXPLAIN] = {shoal_explain_text, shoal_explain_json, false},
    [SHOAL_RESULT_RELEASE] = {shoal_release_text, shoal_release_json, true},
    [SHOAL_RESULT_HIERARCHY] = {shoal_hierarchy_text, shoal_hierarchy_json, false},
    [SHOAL_RESULT_MEASURE] = {shoal_measure_text, shoal_measure_json, true},
    [SHOAL_RESULT_ATTACK] = {shoal_attack_text, shoal_attack_json, true},
    [SHOAL_RESULT_CERTIFICATE] = {shoal_certificate_text, shoal_certificate_json, true},
};

shoal_status shoal_render(const shoal_result *result, shoal_format format, char **out,
                          shoal_error *error) {
  if (format != SHOAL_TEXT && format != SHOAL_JSON && format != SHOAL_HTML &&
      result->kind != SHOAL_RESULT_LATTICE)
    return shoal_fail(error, SHOAL_BAD_INPUT, "only a lattice can be drawn: use text or json");
  if (format == SHOAL_HTML && !renderers[result->kind].has_page)
    return shoal_fail(error, SHOAL_BAD_INPUT, "this result has no page: use text or json");
  shoal_json json = {.failed = false};
  shoal_text text;
  shoal_text_init(&text);
  switch (format) {
  case SHOAL_CSV: shoal_render_lattice_csv(result, &text); break;
  case SHOAL_DOT: shoal_render_lattice_dot(result, &text); break;
  case SHOAL_SVG:
    text.add_string = shoal_markup_add;
    shoal_render_lattice_svg(result, &text);
    break;
  case SHOAL_HTML:
    text.add_string = shoal_markup_add;
    if (result->kind == SHOAL_RESULT_CERTIFICATE) shoal_render_certificate(result, &text);
    else shoal_render_html(result, &text);
    break;
  case SHOAL_JSON:
    *out = shoal_json_finish(&json, renderers[result->kind].json(result, &json));
    break;
  default:
    text.add_string = shoal_text_add_escaped;
    renderers[result->kind].text(result, &text);
    break;
  }
  if (format == SHOAL_TEXT) *out = printable(&text);
  else if (format != SHOAL_JSON) *out = shoal_text_take(&text);
  return *out ? SHOAL_OK : shoal_fail_memory(error);
}
