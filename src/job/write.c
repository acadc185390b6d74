/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/write: a release becomes a file: written aside, verified as strings by code that shares
 * nothing with what made it, and only then given its name.
 */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "job/release.h"
#include "verify/verify.h"
#include "write/aside.h"
#include "write/csv.h"

/* ------------------------------------------------------------ cells */

static bool fill_labels(shoal_cells_out *cells, const shoal_csv_out *out,
                        const shoal_level *level) {
  for (uint32_t v = 0; v < cells->column->n_values; v++) {
    size_t size;
    const char *label = shoal_level_label(level, level->of_leaf[v], &size);
    if (!shoal_cells_out_add(cells, out, label, size)) return false;
  }
  return true;
}

static bool fill_values(shoal_cells_out *cells, const shoal_csv_out *out) {
  for (uint32_t v = 0; v < cells->column->n_values; v++) {
    size_t size;
    const char *value = shoal_column_value(cells->column, v, &size);
    if (!shoal_cells_out_add(cells, out, value, size)) return false;
  }
  return true;
}

/* The released columns: all but identifiers and what the policy drops. */
static bool prepare_columns(const shoal_release *release, shoal_csv_out *out) {
  const shoal_prepared *p = &release->prepared;
  out->columns = shoal_alloc_zero(p->table->n_columns, sizeof *out->columns);
  if (!out->columns) return false;
  for (size_t c = 0; c < p->table->n_columns; c++) {
    if (p->roles[c] == SHOAL_ROLE_IDENTIFIER || p->roles[c] == SHOAL_ROLE_DROP) continue;
    shoal_cells_out *cells = &out->columns[out->n_columns++];
    cells->column = &p->table->columns[c];
    cells->generalized = p->roles[c] == SHOAL_ROLE_QUASI;
    cells->offsets = shoal_alloc((size_t)cells->column->n_values + 1, sizeof *cells->offsets);
    if (!cells->offsets) return false;
  }
  size_t q = 0;
  for (size_t i = 0; i < out->n_columns; i++) {
    shoal_cells_out *cells = &out->columns[i];
    bool ok = cells->generalized
                  ? fill_labels(cells, out, &p->hierarchies[q]->levels[release->levels[q]])
                  : fill_values(cells, out);
    q += cells->generalized;
    if (!ok) return false;
  }
  return true;
}

static void reset_columns(shoal_csv_out *out) {
  for (size_t c = 0; out->columns && c < out->n_columns; c++)
    shoal_cells_out_reset(&out->columns[c]);
  free(out->columns);
}

/* ------------------------------------------------------------ the claim */

/* What the verifier is told: names and models as in the policy, nothing of the engine's codes. */
typedef struct claim_strings {
  shoal_arena arena;
  shoal_verify_claim claim;
} claim_strings;

static const char *number_text(shoal_arena *arena, uint64_t n) {
  char text[32];
  int size = snprintf(text, sizeof text, "%llu", (unsigned long long)n);
  return shoal_arena_copy(arena, text, (size_t)size);
}

static bool claim_models(claim_strings *strings, const shoal_prepared *p) {
  size_t n = p->demands.n_items;
  shoal_verify_model *models = shoal_arena_alloc(&strings->arena, n, sizeof *models);
  if (!models) return false;
  for (size_t i = 0; i < n; i++) {
    const shoal_demand *demand = &p->demands.items[i];
    size_t n_parameters = 0;
    while (demand->type->parameters[n_parameters].name) n_parameters++;
    shoal_verify_parameter *parameters =
        shoal_arena_alloc(&strings->arena, n_parameters, sizeof *parameters);
    if (!parameters) return false;
    for (size_t j = 0; j < n_parameters; j++) {
      parameters[j].name = demand->type->parameters[j].name;
      parameters[j].value = number_text(&strings->arena, demand->count[j]);
      if (!parameters[j].value) return false;
    }
    models[i] = (shoal_verify_model){
        .name = demand->type->name,
        .attribute = demand->sensitive == SHOAL_NO_ATTRIBUTE
                         ? NULL
                         : p->sensitive[demand->sensitive]->name,
        .parameters = parameters,
        .n_parameters = n_parameters};
  }
  strings->claim.models = models;
  strings->claim.n_models = n;
  return true;
}

static bool make_claim(claim_strings *strings, const shoal_prepared *p, const shoal_csv_out *out,
                       uint64_t n_rows) {
  const char **columns = shoal_arena_alloc(&strings->arena, out->n_columns, sizeof *columns);
  const char **quasi = shoal_arena_alloc(&strings->arena, p->n_quasi, sizeof *quasi);
  const char **sensitive =
      shoal_arena_alloc(&strings->arena, p->n_sensitive, sizeof *sensitive);
  if (!columns || !quasi || !sensitive) return false;
  for (size_t c = 0; c < out->n_columns; c++) columns[c] = out->columns[c].column->name;
  for (size_t q = 0; q < p->n_quasi; q++) quasi[q] = p->quasi[q]->name;
  for (size_t s = 0; s < p->n_sensitive; s++) sensitive[s] = p->sensitive[s]->name;
  strings->claim = (shoal_verify_claim){.delimiter = out->delimiter,
                                        .columns = columns,
                                        .n_columns = out->n_columns,
                                        .quasi = quasi,
                                        .n_quasi = p->n_quasi,
                                        .sensitive = sensitive,
                                        .n_sensitive = p->n_sensitive,
                                        .missing = p->policy->missing,
                                        .n_missing = p->policy->n_missing,
                                        .n_rows = n_rows};
  return claim_models(strings, p);
}

static shoal_status verify(const shoal_release *release, const shoal_csv_out *out,
                           uint64_t n_rows, int fd, const shoal_run *run, shoal_error *error) {
  claim_strings strings = {0};
  shoal_arena_init(&strings.arena);
  shoal_verify_finding finding;
  shoal_status status = make_claim(&strings, &release->prepared, out, n_rows)
                            ? shoal_verify(fd, &strings.claim, run, &finding, error)
                            : shoal_fail_memory(error);
  shoal_arena_reset(&strings.arena);
  SHOAL_TRY(status);
  const shoal_result *result = release->result;
  if (finding.n_rows == result->output_rows && finding.n_classes == result->classes &&
      finding.smallest_class == result->smallest_class)
    return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED,
                    "the verifier counts %llu rows in %llu classes, the engine %llu in %llu: "
                    "nothing was written; this is a fault of shoal, please report it",
                    (unsigned long long)finding.n_rows, (unsigned long long)finding.n_classes,
                    (unsigned long long)result->output_rows,
                    (unsigned long long)result->classes);
}

/* ------------------------------------------------------------ writing */

static shoal_status write_rows(const shoal_release *release, const shoal_csv_out *out, int fd,
                               const char *path, bool keep_order, const shoal_run *run,
                               uint64_t *n_rows, shoal_error *error) {
  const shoal_policy *policy = release->prepared.policy;
  shoal_random random;
  if (policy->has_seed)
    shoal_random_seed(&random, policy->seed);
  else if (!keep_order && !shoal_random_entropy(&random))
    return shoal_fail(error, SHOAL_FAILED,
                      "the system gives no randomness for the row order: give a seed");
  shoal_sink *sink;
  SHOAL_TRY(shoal_sink_open(fd, path, &sink, error));
  shoal_status status =
      shoal_csv_write(out, sink, keep_order ? NULL : &random, run, n_rows, error);
  shoal_sink_free(sink);
  return status;
}

static shoal_status write_aside(shoal_release *release, const char *path,
                                const shoal_write_options *options, const shoal_run *run,
                                shoal_aside *aside, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  shoal_csv_out out = {.table = p->table,
                       .delimiter = p->table->delimiter,
                       .group_of_row = p->frequency->tuple_of_row,
                       .fate = release->fate_of_tuple};
  double started = shoal_seconds();
  uint64_t n_rows = 0;
  shoal_status status =
      prepare_columns(release, &out) ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK)
    status = write_rows(release, &out, aside->fd, path, options->keep_order, run, &n_rows, error);
  double written = shoal_seconds();
  if (status == SHOAL_OK) status = verify(release, &out, n_rows, aside->fd, run, error);
  result->seconds_write = written - started;
  result->seconds_verify = shoal_seconds() - written;
  reset_columns(&out);
  return status;
}

static shoal_status check_path(const shoal_release *release, const char *path,
                               const shoal_write_options *options, shoal_error *error) {
  shoal_place place = {.file = path};
  if (shoal_same_file(path, options->avoid, options->n_avoid) < options->n_avoid)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "is the input or the policy: name another output");
  const shoal_policy *policy = release->prepared.policy;
  for (size_t a = 0; a < policy->n_attributes; a++) {
    const char *const file[] = {policy->attributes[a].hierarchy.file};
    if (policy->attributes[a].has_hierarchy && file[0] && shoal_same_file(path, file, 1) == 0)
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                           "is a hierarchy of the policy: name another output");
  }
  return SHOAL_OK;
}

shoal_status shoal_release_write(shoal_release *release, const char *path,
                                 const shoal_write_options *options, const shoal_run *run,
                                 shoal_error *error) {
  static const shoal_write_options defaults = {0};
  if (!options) options = &defaults;
  shoal_result *result = release->result;
  SHOAL_TRY(check_path(release, path, options, error));
  shoal_aside aside;
  SHOAL_TRY(shoal_aside_open(&aside, path, error));
  shoal_status status = write_aside(release, path, options, run, &aside, error);
  if (status == SHOAL_OK) status = shoal_aside_commit(&aside, error);
  shoal_aside_close(&aside);
  SHOAL_TRY(status);
  result->output = shoal_result_string(result, path, strlen(path));
  result->has_seed = release->prepared.policy->has_seed;
  result->seed = release->prepared.policy->seed;
  result->seconds_total =
      release->prepared.table->seconds_read + (shoal_seconds() - release->started);
  result->peak_memory_bytes = shoal_peak_memory();
  return result->output ? SHOAL_OK : shoal_fail_memory(error);
}
