/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/writing_verify: what was written is read back as strings by the verifier, which shares no
 * code with the engine, and both must count the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "job/verify_request.h"
#include "job/verify_trace.h"
#include "job/writing.h"

/* ------------------------------------------------------------ formulas */

enum { MAX_NAMED = 8 }; /* columns that a warning names */

/* Warns about cells that a spreadsheet would run; `marks`: by column, 1 where it has some. */
static shoal_status warn_of_formulas(shoal_result *result, const shoal_csv_plan *out,
                                     const uint8_t *marks, shoal_error *error) {
  shoal_text list;
  shoal_text_init(&list);
  size_t n = 0;
  for (size_t c = 0; c < out->n_columns; c++) {
    const char *name = out->columns[c].column->name;
    if (!marks[c] && !shoal_is_formula(name, strlen(name))) continue;
    if (n++ < MAX_NAMED) shoal_text_print(&list, "%s'%.40s'", n > 1 ? ", " : "", name);
  }
  if (n > MAX_NAMED) shoal_text_print(&list, " and %zu more", n - MAX_NAMED);
  shoal_status status = list.failed ? shoal_fail_memory(error) : SHOAL_OK;
  if (n && status == SHOAL_OK)
    status = shoal_result_warn(result, error,
                               "column%s %s %s cells that a spreadsheet would run as formulas; "
                               "'--formulas quote' puts an apostrophe before them",
                               n == 1 ? "" : "s", list.bytes, n == 1 ? "has" : "have");
  shoal_text_reset(&list);
  return status;
}

/* ------------------------------------------------------------ proof */

/* Engine and verifier must count the same. */
static shoal_status compare(const shoal_release_report *released,
                            const shoal_verify_finding *finding, shoal_error *error) {
  bool same_people = !released->fewest_people || finding->fewest_people == released->fewest_people;
  if (finding->n_rows == released->output_rows && finding->n_classes == released->classes &&
      finding->smallest_class == released->smallest_class && same_people)
    return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED,
                    "the verifier counts %llu rows in %llu classes%s, the engine %llu in %llu: "
                    "nothing was written; this is a bug in shoal, please report it",
                    (unsigned long long)finding->n_rows, (unsigned long long)finding->n_classes,
                    same_people ? "" : ", and other people",
                    (unsigned long long)released->output_rows,
                    (unsigned long long)released->classes);
}

/* Where the engine lists no risk, no pseudonym may link classes, and each class has k people. */
static shoal_status compare_links(const shoal_writing *w, const shoal_verify_request *request,
                                  shoal_error *error) {
  shoal_result *result = w->release->result;
  for (size_t i = 0; i < request->n_pseudonyms; i++) {
    const char *name; /* as results have it */
    SHOAL_TRY(shoal_result_copy(result, request->pseudonyms[i], &name, error));
    if (request->pseudonym_links[i] &&
        !shoal_safety_lists(&result->safety, SHOAL_RISK_REPEATS, NULL, name))
      return shoal_fail(
          error, SHOAL_FAILED,
          "the verifier finds people by the pseudonyms of '%.200s', the engine does not: "
          "nothing was written; this is a bug in shoal, please report it",
          name);
  }
  return SHOAL_OK;
}

/* Is a model about proportions of sensitive values? */
static bool needs_histograms(const shoal_context *p) {
  for (size_t i = 0; i < p->requirements.n_items; i++)
    if (p->requirements.items[i].type->needs & SHOAL_NEEDS_HISTOGRAM) return true;
  return false;
}

/* Reads the file back. `columns` and `formulas` have room for the plan's columns. */
static shoal_status verify_columns(const shoal_writing *w, int fd, const char **columns,
                                   uint8_t *formulas, shoal_error *error) {
  const shoal_csv_plan *plan = &w->plan;
  shoal_owned_verify_request owned;
  shoal_verify_finding finding;
  for (size_t c = 0; c < plan->n_columns; c++) columns[c] = plan->columns[c].column->name;
  SHOAL_TRY(shoal_owned_verify_request_make(&owned, &w->release->context, plan->table,
                                            plan->delimiter, w->styled, plan->quote_formulas,
                                            columns, plan->n_columns, w->n_rows, error));
  owned.request.guards_fd = w->guards.fd;
  owned.request.people_fd = w->people.fd;
  owned.request.n_person = w->n_person;
  owned.request.n_household = w->n_household;
  const shoal_context *p = &w->release->context;
  bool noise = shoal_writing_has_noise(w);
  owned.request.asks_people = p->people.asked && !noise;
  owned.request.asks_households = p->policy->has_households && !noise;
  owned.request.person_hashes = p->people.hashes;
  owned.request.n_hashes = plan->table->n_rows;
  owned.request.by_person = w->n_person && needs_histograms(&w->release->context);
  owned.request.formulas = formulas;
  owned.request.trace = shoal_verify_trace_make(&owned.arena, w->release, plan, w->styled);
  shoal_status status = owned.request.trace
                            ? shoal_verify(fd, &owned.request, w->run, &finding, error)
                            : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = compare_links(w, &owned.request, error);
  shoal_owned_verify_request_reset(&owned);
  SHOAL_TRY(status);
  SHOAL_TRY(compare(&w->release->result->release, &finding, error));
  if (w->in_memory) return SHOAL_OK;
  return warn_of_formulas(w->release->result, plan, formulas, error);
}

shoal_status shoal_writing_verify(const shoal_writing *w, int fd, shoal_error *error) {
  const char **columns = shoal_alloc(w->plan.n_columns, sizeof *columns);
  uint8_t *formulas = shoal_alloc_zero(w->plan.n_columns, 1);
  shoal_status status = columns && formulas ? verify_columns(w, fd, columns, formulas, error)
                                            : shoal_fail_memory(error);
  free(columns);
  free(formulas);
  bool rejected = status == SHOAL_FAILED && error->status == SHOAL_FAILED;
  return rejected ? shoal_fail_as(error, status, SHOAL_NOT_VERIFIED) : status;
}
