/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/verify_table: proves a release that was made elsewhere, by joins or on a cluster. Its
 * columns, or the distinct tuples of a GROUP BY, are written as CSV to a file in memory, a line for
 * each row of the table. The verifier reads them as text and counts each line as often as the table
 * says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/input.h"
#include "job/job.h"
#include "job/release_columns.h"
#include "job/verify_request.h"
#include "verify/reader.h"

/* Some columns of the release, on their way to a file. */
typedef struct picked {
  shoal_table table; /* borrows columns; no counts: a line for each row */
  int fd;
} picked;

static shoal_status picked_init(picked *p, const shoal_table *masked, shoal_error *error) {
  p->fd = -1;
  p->table = (shoal_table){.name = masked->name,
                           .n_rows = masked->n_rows,
                           .n_records = masked->n_rows,
                           .columns = shoal_alloc(masked->n_columns, sizeof *p->table.columns)};
  return p->table.columns ? SHOAL_OK : shoal_fail_memory(error);
}

static void picked_reset(picked *p) {
  free(p->table.columns);
  if (p->fd >= 0) (void)close(p->fd);
}

static shoal_status pick(picked *p, const shoal_table *masked, const char *name,
                         shoal_error *error) {
  const shoal_column *column = shoal_table_column(masked, name);
  if (!column || !column->code_size)
    return shoal_fail_at(error, SHOAL_BAD_INPUT,
                         &(shoal_location){.file = masked->name, .column = name},
                         "is needed for the proof, and the table lacks its cells");
  p->table.columns[p->table.n_columns++] = *column;
  return SHOAL_OK;
}

static shoal_status write_picked(picked *p, const shoal_run *run, shoal_error *error) {
  uint64_t n_rows;
  if (!p->table.n_columns) return SHOAL_OK;
  p->fd = memfd_create("shoal-release", MFD_CLOEXEC);
  if (p->fd < 0)
    return shoal_fail(error, SHOAL_FAILED, "cannot make a file in memory for the verifier: %s",
                      strerror(errno));
  return shoal_table_write_csv(&p->table, ',', p->fd, run, &n_rows, error);
}

/* What is proven, and the files that it is proven of. */
typedef struct proof {
  const shoal_table *masked;
  const shoal_context *context; /* of the original, or of the release if there is none */
  bool has_original;
  const shoal_run *run;
  picked release, guards, people;
  size_t n_person, n_household;
} proof;

static size_t pick_keys(proof *p, shoal_role role, shoal_status *status, shoal_error *error) {
  size_t before = p->people.table.n_columns;
  const shoal_context *c = p->context;
  for (size_t i = 0; *status == SHOAL_OK && i < c->table->n_columns; i++)
    if (shoal_attribute_is_key(&c->attributes[i], role) &&
        shoal_table_column(p->masked, c->table->columns[i].name))
      *status = pick(&p->people, p->masked, c->table->columns[i].name, error);
  return p->people.table.n_columns - before;
}

static shoal_status pick_all(proof *p, shoal_error *error) {
  const shoal_context *c = p->context;
  shoal_status status = SHOAL_OK;
  SHOAL_TRY(picked_init(&p->release, p->masked, error));
  SHOAL_TRY(picked_init(&p->guards, p->masked, error));
  SHOAL_TRY(picked_init(&p->people, p->masked, error));
  for (size_t i = 0; i < c->table->n_columns; i++)
    if (c->roles[i] == SHOAL_ROLE_QUASI || c->roles[i] == SHOAL_ROLE_SENSITIVE)
      SHOAL_TRY(pick(&p->release, p->masked, c->table->columns[i].name, error));
  for (size_t i = 0; i < c->requirements.n_items; i++) {
    size_t guard = c->requirements.items[i].guard;
    if (guard != SHOAL_NO_ATTRIBUTE && !p->guards.table.n_columns)
      SHOAL_TRY(pick(&p->guards, p->masked, c->tracked.columns[guard]->name, error));
  }
  p->n_person = pick_keys(p, SHOAL_ROLE_PERSON, &status, error);
  if (c->policy->has_households)
    p->n_household = pick_keys(p, SHOAL_ROLE_HOUSEHOLD, &status, error);
  SHOAL_TRY(status);
  SHOAL_TRY(write_picked(&p->release, p->run, error));
  SHOAL_TRY(write_picked(&p->guards, p->run, error));
  return write_picked(&p->people, p->run, error);
}

/* Is a model about proportions of sensitive values? */
static bool needs_histograms(const shoal_context *c) {
  for (size_t i = 0; i < c->requirements.n_items; i++)
    if (c->requirements.items[i].type->needs & SHOAL_NEEDS_HISTOGRAM) return true;
  return false;
}

/* Does a model count people with a value? Then the verifier knows people of the original. */
static bool counts_people(const shoal_context *c) {
  for (size_t i = 0; i < c->requirements.n_items; i++)
    if (c->requirements.items[i].pairs) return true;
  return false;
}

/* The rows that the release may have: a join that repeats rows makes classes larger. */
static shoal_status check_rows(const proof *p, uint64_t max_added, shoal_error *error) {
  uint64_t n = p->masked->n_records, most = p->context->table->n_records;
  if (!p->has_original || n <= most || n - most <= max_added) return SHOAL_OK;
  (void)shoal_fail(error, SHOAL_FAILED,
                   "the release has %llu rows, and the original %llu (does a join repeat rows?)",
                   (unsigned long long)n, (unsigned long long)most);
  return shoal_fail_as(error, SHOAL_FAILED, SHOAL_NOT_VERIFIED);
}

static shoal_status ask(const proof *p, const char **names, shoal_verify_finding *finding,
                        shoal_error *error) {
  const shoal_context *c = p->context;
  const shoal_policy *policy = c->policy;
  const shoal_table *release = &p->release.table;
  shoal_owned_verify_request owned;
  uint64_t max_added =
      policy->noise_allowed ? shoal_amount_rows(policy->noise, c->table->n_records) : 0;
  for (size_t i = 0; i < release->n_columns; i++) names[i] = release->columns[i].name;
  SHOAL_TRY(shoal_owned_verify_request_make(&owned, c, c->table, ',', false, false, names,
                                            release->n_columns, p->masked->n_records, error));
  shoal_verify_request *request = &owned.request;
  request->counts = p->masked->counts;
  request->n_counts = (size_t)p->masked->n_rows;
  request->guards_fd = p->guards.fd;
  request->people_fd = p->people.fd;
  request->n_person = p->n_person;
  request->n_household = p->n_household;
  request->asks_people = c->people.asked;
  request->asks_households = c->policy->has_households;
  request->by_person = p->n_person && needs_histograms(c);
  request->values_known = p->has_original;
  request->rows_known = p->has_original && !counts_people(c);
  request->max_added = max_added;
  request->n_pseudonyms = 0; /* not among the columns */
  shoal_status status = shoal_verify(p->release.fd, request, p->run, finding, error);
  shoal_owned_verify_request_reset(&owned);
  return status == SHOAL_OK ? check_rows(p, max_added, error) : status;
}

static shoal_status prove(proof *p, shoal_verify_finding *finding, shoal_error *error) {
  shoal_status status = pick_all(p, error);
  const char **names = shoal_alloc(p->masked->n_columns, sizeof *names);
  if (status == SHOAL_OK) status = names ? ask(p, names, finding, error) : shoal_fail_memory(error);
  free(names);
  picked_reset(&p->release);
  picked_reset(&p->guards);
  picked_reset(&p->people);
  return status;
}

/* Here a proof that fails is no bug of the engine, which did not make the release. */
static shoal_status reject(shoal_status status, shoal_error *error) {
  if (status != SHOAL_FAILED || error->status != SHOAL_FAILED) return status;
  char *end = strstr(error->message, "; " SHOAL_VERIFY_FAULT);
  if (end) *end = '\0';
  return shoal_fail_as(error, status, SHOAL_NOT_VERIFIED);
}

shoal_status shoal_job_verify(const shoal_table *masked, const shoal_table *original,
                              const shoal_policy *policy, const shoal_run *run,
                              shoal_verified *found, shoal_error *error) {
  shoal_context context;
  SHOAL_TRY(shoal_input_check(masked, policy, SHOAL_FOR_REVIEW, error));
  if (original) SHOAL_TRY(shoal_input_check(original, policy, SHOAL_FOR_COMPARISON, error));
  SHOAL_TRY(shoal_context_init(&context, original ? original : masked, policy,
                               SHOAL_CONTEXT_REQUIREMENTS, run, error));
  proof p = {.masked = masked, .context = &context, .has_original = original != NULL, .run = run};
  p.release.fd = p.guards.fd = p.people.fd = -1;
  shoal_verify_finding finding;
  shoal_status status = reject(prove(&p, &finding, error), error);
  shoal_context_reset(&context);
  if (status == SHOAL_OK && found)
    *found = (shoal_verified){.n_rows = finding.n_rows,
                              .n_classes = finding.n_classes,
                              .smallest_class = finding.smallest_class,
                              .fewest_people = finding.fewest_people};
  return status;
}
