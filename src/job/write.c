/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/write: a release becomes a file: written aside, verified as strings by code that shares
 * nothing with what made it, and only then given its name.
 */
#include <stdlib.h>
#include <string.h>

#include "job/claim.h"
#include "job/page.h"
#include "job/release.h"
#include "job/warn.h"
#include "table/count.h"
#include "write/again.h"
#include "write/aside.h"

/* ------------------------------------------------------------ cells */

static bool reserve(shoal_cells_out *cells, uint32_t n_cells) {
  cells->offsets = shoal_alloc((size_t)n_cells + 1, sizeof *cells->offsets);
  return cells->offsets != NULL;
}

static bool fill_labels(shoal_cells_out *cells, const shoal_csv_out *out,
                        const shoal_level *level) {
  if (!reserve(cells, cells->column->n_values)) return false;
  for (uint32_t v = 0; v < cells->column->n_values; v++) {
    size_t size;
    const char *label = shoal_level_label(level, level->of_leaf[v], &size);
    if (!shoal_cells_out_add(cells, out, label, size)) return false;
  }
  return true;
}

static bool fill_values(shoal_cells_out *cells, const shoal_csv_out *out) {
  if (!reserve(cells, cells->column->n_values)) return false;
  for (uint32_t v = 0; v < cells->column->n_values; v++) {
    size_t size;
    const char *value = shoal_column_value(cells->column, v, &size);
    if (!shoal_cells_out_add(cells, out, value, size)) return false;
  }
  return true;
}

/* Labels of classes: the class chooses the cell. */
static bool fill_strings(shoal_cells_out *cells, const shoal_csv_out *out,
                         const shoal_strings *strings) {
  if (!reserve(cells, strings->n_strings)) return false;
  for (uint32_t i = 0; i < strings->n_strings; i++) {
    shoal_label label = shoal_strings_get(strings, i);
    if (!shoal_cells_out_add(cells, out, label.bytes, label.size_bytes)) return false;
  }
  return true;
}

/* A quasi-identifier's cells. */
static bool fill_generalized(const shoal_release *release, size_t q, shoal_cells_out *cells,
                             const shoal_csv_out *out) {
  if (release->class_of_row) {
    cells->cell_of_group = release->labels.of_group[q];
    return fill_strings(cells, out, &release->labels.strings[q]);
  }
  if (release->hidden) cells->hidden = release->hidden[q];
  cells->code_of_group = release->prepared.frequency->codes[q];
  return fill_labels(cells, out, &release->prepared.hierarchies[q]->levels[release->levels[q]]);
}

/* The released columns: all but identifiers and what the policy drops. */
static bool prepare_columns(const shoal_release *release, shoal_csv_out *out) {
  const shoal_prepared *p = &release->prepared;
  const shoal_table *table = out->table;
  out->columns = shoal_alloc_zero(table->n_columns, sizeof *out->columns);
  if (!out->columns) return false;
  for (size_t c = 0; c < table->n_columns; c++) {
    if (p->roles[c] == SHOAL_ROLE_IDENTIFIER || p->roles[c] == SHOAL_ROLE_DROP) continue;
    shoal_cells_out *cells = &out->columns[out->n_columns++];
    cells->column = &table->columns[c];
    cells->generalized = p->roles[c] == SHOAL_ROLE_QUASI;
  }
  size_t q = 0;
  for (size_t i = 0; i < out->n_columns; i++) {
    shoal_cells_out *cells = &out->columns[i];
    bool ok = cells->generalized          ? fill_generalized(release, q, cells, out)
              : !cells->column->code_size ? reserve(cells, 0) /* it comes from the file itself */
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

/* ------------------------------------------------------------ rows */

/* Rows of a table that has them all, or of its file, read again. `path`: where the release goes. */
static shoal_status write_rows(const shoal_csv_out *out, int fd, const char *name, const char *path,
                               const shoal_random *order, const shoal_run *run, uint64_t *n_rows,
                               shoal_error *error) {
  shoal_random copy, *random = NULL;
  if (order) {
    copy = *order;
    random = &copy;
  }
  shoal_sink *sink;
  shoal_aside spool = {.fd = -1};
  SHOAL_TRY(shoal_sink_open(fd, name, &sink, error));
  shoal_status status = SHOAL_OK;
  if (!out->table->origin) {
    status = shoal_csv_write(out, sink, random, run, n_rows, error);
  } else {
    if (random) status = shoal_aside_spool(&spool, path, error);
    if (status == SHOAL_OK)
      status = shoal_csv_write_again(out, sink, spool.fd, random, run, n_rows, error);
    shoal_aside_close(&spool);
  }
  shoal_sink_free(sink);
  return status;
}

/* ------------------------------------------------------------ verifying */

static const shoal_column *guard_column(const shoal_prepared *p) {
  for (size_t i = 0; i < p->demands.n_items; i++)
    if (p->demands.items[i].guard != SHOAL_NO_ATTRIBUTE)
      return p->tracked.columns[p->demands.items[i].guard];
  return NULL;
}

/*
 * Guarding nodes are not released, yet the verifier needs them row by row: they are written to a
 * file without a name, in the order of the release, which is gone when it is closed.
 */
static shoal_status spool_guards(const shoal_release *release, const shoal_csv_out *released,
                                 const char *path, const shoal_random *order, const shoal_run *run,
                                 shoal_aside *spool, shoal_error *error) {
  const shoal_column *guard = guard_column(&release->prepared);
  if (!guard) return SHOAL_OK;
  shoal_cells_out cells = {.column = released->table->columns +
                                     (guard - release->prepared.table->columns)};
  shoal_csv_out out = *released;
  out.columns = &cells;
  out.n_columns = 1;
  uint64_t n_rows;
  SHOAL_TRY(shoal_aside_open(spool, "-", error));
  shoal_status status = fill_values(&cells, &out) ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK)
    status = write_rows(&out, spool->fd, "guards", path, order, run, &n_rows, error);
  shoal_cells_out_reset(&cells);
  return status;
}

static shoal_status compare(const shoal_result *result, const shoal_verify_finding *finding,
                            shoal_error *error) {
  if (finding->n_rows == result->output_rows && finding->n_classes == result->classes &&
      finding->smallest_class == result->smallest_class)
    return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED,
                    "the verifier counts %llu rows in %llu classes, the engine %llu in %llu: "
                    "nothing was written; this is a fault of shoal, please report it",
                    (unsigned long long)finding->n_rows, (unsigned long long)finding->n_classes,
                    (unsigned long long)result->output_rows, (unsigned long long)result->classes);
}

/* `formulas`: filled, by column: has it cells that a spreadsheet would run? */
static shoal_status prove(const shoal_release *release, const shoal_csv_out *out,
                          const char *const *columns, uint64_t n_rows, int fd, int guards_fd,
                          uint8_t *formulas, const shoal_run *run, shoal_error *error) {
  shoal_claim claim;
  shoal_verify_finding finding;
  SHOAL_TRY(shoal_claim_make(&claim, &release->prepared, out->delimiter, columns, out->n_columns,
                             n_rows, error));
  claim.claim.guards_fd = guards_fd;
  claim.claim.formulas = formulas;
  shoal_status status = shoal_verify(fd, &claim.claim, run, &finding, error);
  shoal_claim_reset(&claim);
  return status == SHOAL_OK ? compare(release->result, &finding, error) : status;
}

static shoal_status verify(shoal_release *release, const shoal_csv_out *out, uint64_t n_rows,
                           int fd, int guards_fd, const shoal_run *run, shoal_error *error) {
  const char **columns = shoal_alloc(out->n_columns, sizeof *columns);
  uint8_t *formulas = shoal_alloc_zero(out->n_columns, 1);
  shoal_status status = columns && formulas ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    for (size_t c = 0; c < out->n_columns; c++) columns[c] = out->columns[c].column->name;
    status = prove(release, out, columns, n_rows, fd, guards_fd, formulas, run, error);
  }
  if (status == SHOAL_OK) status = shoal_release_warn_of_formulas(release, out, formulas, error);
  free(columns);
  free(formulas);
  return status;
}

/* ------------------------------------------------------------ what goes on beside verifying */

typedef struct proving {
  shoal_release *release;
  const shoal_csv_out *out;
  const shoal_aside *aside;
  const char *path;
  const shoal_run *run;
  uint64_t n_rows;
  int guards_fd;
  bool hashed; /* the report tells the file's hash */
  double verified;
  shoal_status status, hash_status;
  shoal_error error, hash_error;
  atomic_bool stop;
} proving;

enum { VERIFY, FLUSH, HASH, N_BESIDE };

/* The verifier reads the file back; meanwhile it goes to the disk, and is hashed. */
static void prove_beside(void *user, unsigned what) {
  proving *p = user;
  int fd = p->aside->fd;
  if (what == VERIFY) {
    p->status = verify(p->release, p->out, p->n_rows, fd, p->guards_fd, p->run, &p->error);
    p->verified = shoal_seconds();
    atomic_store(&p->stop, p->status != SHOAL_OK);
  } else if (what == FLUSH) {
    shoal_aside_flush(p->aside);
  } else if (p->hashed) {
    p->hash_status = shoal_sha256_fd(fd, p->path, &p->stop, p->release->sha256, &p->hash_error);
  }
}

static shoal_status prove_written(proving *p, shoal_error *error) {
  if (shoal_run_threads(p->run) > 1) {
    shoal_parallel(N_BESIDE, prove_beside, p);
  } else {
    prove_beside(p, VERIFY);
    prove_beside(p, HASH);
  }
  bool verified = p->status == SHOAL_OK;
  if (error) *error = verified ? p->hash_error : p->error;
  return verified ? p->hash_status : p->status;
}

/* ------------------------------------------------------------ writing */

/* The order of the rows: from the seed, or from the kernel's entropy. */
static shoal_status start_random(const shoal_policy *policy, shoal_random *random,
                                 shoal_error *error) {
  if (policy->has_seed) shoal_random_seed(random, policy->seed);
  else if (!shoal_random_entropy(random))
    return shoal_fail(error, SHOAL_FAILED,
                      "the system gives no randomness for the row order: give a seed");
  return SHOAL_OK;
}

static shoal_status write_and_verify(shoal_release *release, const shoal_csv_out *out,
                                     const char *path, const shoal_random *order, bool hashed,
                                     const shoal_run *run, const shoal_aside *aside,
                                     shoal_error *error) {
  shoal_result *result = release->result;
  shoal_aside guards = {.fd = -1};
  proving p = {.release = release,
               .out = out,
               .aside = aside,
               .path = path,
               .run = run,
               .hashed = hashed,
               .status = SHOAL_OK,
               .hash_status = SHOAL_OK};
  double started = shoal_seconds();
  shoal_status status = write_rows(out, aside->fd, path, path, order, run, &p.n_rows, error);
  double written = shoal_seconds();
  if (status == SHOAL_OK) status = spool_guards(release, out, path, order, run, &guards, error);
  p.guards_fd = guards.fd;
  if (status == SHOAL_OK) status = prove_written(&p, error);
  shoal_aside_close(&guards);
  result->seconds_write = written - started;
  result->seconds_verify = p.verified - written;
  return status;
}

static shoal_status write_aside(shoal_release *release, const char *path,
                                const shoal_write_options *options, const shoal_run *run,
                                const shoal_aside *aside, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_csv_out out = {.table = release->written ? release->written : p->table,
                       .delimiter = p->table->delimiter,
                       .group_of_row = release->group_of_row,
                       .fate = release->fate_of_group,
                       .quote_formulas = p->policy->quote_formulas};
  if (!release->class_of_row) {
    out.n_groups = p->frequency->n_tuples;
    out.rows_of_group = p->frequency->base.n_rows;
  }
  shoal_random order;
  uint32_t *kept = NULL;
  if (!options->keep_order) SHOAL_TRY(start_random(p->policy, &order, error));
  else if (release->written && !(kept = shoal_release_kept_order(release)))
    return shoal_fail_memory(error);
  out.order = kept;
  shoal_status status = prepare_columns(release, &out) ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = shoal_release_check_names(release, &out, error);
  if (status == SHOAL_OK)
    status = write_and_verify(release, &out, path, options->keep_order ? NULL : &order,
                              options->detail != SHOAL_DETAIL_FIGURES, run, aside, error);
  reset_columns(&out);
  free(kept);
  return status;
}

bool shoal_policy_names_file(const shoal_policy *policy, const char *path) {
  const char *const own[] = {policy->file};
  if (shoal_same_file(path, own, 1) == 0) return true;
  for (size_t a = 0; a < policy->n_attributes; a++) {
    const shoal_attribute *attribute = &policy->attributes[a];
    const char *const files[] = {attribute->has_hierarchy ? attribute->hierarchy.file : NULL,
                                 attribute->categories.file};
    if (shoal_same_file(path, files, 2) < 2) return true;
  }
  return false;
}

static shoal_status check_path(const shoal_release *release, const char *path,
                               const shoal_write_options *options, shoal_error *error) {
  shoal_place place = {.file = path};
  if (shoal_same_file(path, options->avoid, options->n_avoid) < options->n_avoid)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "is the input or the policy: name another output");
  if (shoal_policy_names_file(release->prepared.policy, path))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "is a file that the policy uses: name another output");
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
  if (status == SHOAL_OK && options->detail != SHOAL_DETAIL_FIGURES)
    status = shoal_page_fill(release, aside.fd, path, options, run, error);
  if (status == SHOAL_OK) { /* nothing may fail once the release has its name */
    result->output = shoal_result_string(result, path, strlen(path));
    status = result->output ? shoal_aside_commit(&aside, error) : shoal_fail_memory(error);
  }
  shoal_aside_close(&aside);
  SHOAL_TRY(status);
  result->order = options->keep_order                  ? "kept"
                  : release->prepared.policy->has_seed ? "seeded"
                                                       : "random";
  result->has_seed = release->prepared.policy->has_seed;
  result->seed = release->prepared.policy->seed;
  result->seconds_total =
      release->prepared.table->seconds_read + (shoal_seconds() - release->started);
  result->peak_memory_bytes = shoal_peak_memory();
  return SHOAL_OK;
}
