/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/setup: brings together what attacks need: the classes of the attacked release and of
 * earlier ones, the people of other tables, and the values that each released label can cover.
 */
#include "attack/setup.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ options */

static shoal_status read_share(const char *text, const char *what, shoal_decimal *number,
                               shoal_error *error) {
  bool ok = shoal_decimal_parse(text, strlen(text), number) == SHOAL_NUMBER_OK &&
            number->mantissa >= 0 &&
            (uint64_t)number->mantissa <= shoal_power_of_ten(number->scale);
  if (ok) return SHOAL_OK;
  return shoal_fail(error, SHOAL_BAD_INPUT, "%s must be a number from 0 to 1, such as 0.5", what);
}

/* ------------------------------------------------------------ releases */

static shoal_status prepare_releases(shoal_attack_setup *setup, const shoal_table *masked,
                                     const shoal_policy *policy,
                                     const shoal_attack_options *options, const shoal_run *run,
                                     shoal_error *error) {
  size_t n = options->n_previous;
  SHOAL_TRY(shoal_context_init(&setup->context, masked, policy, SHOAL_CONTEXT_COUNTS, run, error));
  setup->previous_context = shoal_alloc_zero(n, sizeof *setup->previous_context);
  setup->previous = shoal_alloc_zero(n, sizeof *setup->previous);
  if (!setup->previous_context || !setup->previous) return shoal_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    shoal_context *p = &setup->previous_context[i];
    SHOAL_TRY(
        shoal_context_init(p, options->previous[i], policy, SHOAL_CONTEXT_COUNTS, run, error));
    setup->n_previous = i + 1;
    /* Puts the earlier release's quasi-identifiers into the order of the attacked one's. */
    const shoal_context *with = &setup->context;
    shoal_frequency_set *f = p->frequency;
    for (size_t q = 0; q < with->n_quasi; q++) {
      size_t at = q;
      while (strcmp(f->quasi[at]->name, with->quasi[q]->name) != 0) at++;
      const shoal_column *column = f->quasi[q];
      shoal_codes codes = f->codes[q];
      f->quasi[q] = p->quasi[q] = f->quasi[at];
      f->codes[q] = f->codes[at];
      f->quasi[at] = p->quasi[at] = column;
      f->codes[at] = codes;
    }
    setup->previous[i] = (shoal_previous_release){options->previous[i], p->frequency};
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ domains of labels */

static const shoal_column *read_column(const shoal_table *table, const char *name) {
  const shoal_column *column = table ? shoal_table_column(table, name) : NULL;
  return column && column->code_size ? column : NULL;
}

/* Appends a table's column to the raw ones and returns its number; SIZE_MAX: the table lacks it. */
static size_t add_raw(shoal_source_column *raw, size_t *n_raw, const shoal_table *table,
                      const char *name) {
  const shoal_column *column = read_column(table, name);
  if (!column) return SIZE_MAX;
  raw[*n_raw] = (shoal_source_column){table, column};
  return (*n_raw)++;
}

/*
 * Without other tables, labels are parsed only to decide which of them may be shown. A column whose
 * labels cannot be parsed is then not an error: its labels are not shown.
 */
static shoal_status init_domain(shoal_attack_setup *setup, size_t q, size_t *raw_of,
                                shoal_error *error) {
  const shoal_context *p = &setup->context;
  const char *name = p->quasi[q]->name;
  shoal_source_column raw[2], *released = shoal_alloc(setup->n_previous + 1, sizeof *released);
  if (!released) return shoal_fail_memory(error);
  released[0] = (shoal_source_column){p->table, p->quasi[q]};
  for (size_t i = 0; i < setup->n_previous; i++)
    released[i + 1] =
        (shoal_source_column){setup->previous[i].table, setup->previous[i].frequency->quasi[q]};
  shoal_domain_request request = {.policy = p->policy,
                                  .attribute = p->quasi_attributes[q],
                                  .released = released,
                                  .n_released = setup->n_previous + 1,
                                  .raw = raw};
  raw_of[0] = add_raw(raw, &request.n_raw, setup->original_table, name);
  raw_of[1] = add_raw(raw, &request.n_raw, setup->external_table, name);
  bool needed = setup->n_previous || setup->original_table || setup->external_table;
  shoal_error unused_error;
  shoal_status status =
      shoal_domain_init(&setup->domains[q], &request, needed ? error : &unused_error);
  setup->has_domain[q] = status == SHOAL_OK;
  free(released);
  if (!needed && status == SHOAL_BAD_INPUT) return SHOAL_OK;
  if (!needed && status != SHOAL_OK && error) *error = unused_error;
  return status;
}

static shoal_status link_people_tables(shoal_attack_setup *setup, size_t *const *raw_of,
                                       shoal_error *error) {
  shoal_attack_case *attacked = &setup->attacked;
  size_t n = setup->context.n_quasi;
  if (setup->original_table) {
    SHOAL_TRY(shoal_linked_people_build(&setup->original, setup->original_table, setup->domains, n,
                                        raw_of[0], false, error));
    setup->original.whose = "people: everyone in the original table";
    attacked->original = &setup->original;
  }
  if (setup->external_table) {
    SHOAL_TRY(shoal_linked_people_build(&setup->external, setup->external_table, setup->domains, n,
                                        raw_of[1], true, error));
    setup->external.whose = "people: those of the external table";
    attacked->external = &setup->external;
  }
  return SHOAL_OK;
}

static shoal_status init_domains(shoal_attack_setup *setup, shoal_error *error) {
  size_t n = setup->context.n_quasi;
  size_t *raw_of[2] = {shoal_alloc(n, sizeof **raw_of), shoal_alloc(n, sizeof **raw_of)};
  setup->domains = shoal_alloc_zero(n, sizeof *setup->domains);
  setup->has_domain = shoal_alloc_zero(n, sizeof *setup->has_domain);
  bool ok = raw_of[0] && raw_of[1] && setup->domains && setup->has_domain;
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t q = 0; status == SHOAL_OK && q < n; q++) {
    size_t raw[2] = {0, 0};
    status = init_domain(setup, q, raw, error);
    raw_of[0][q] = raw[0];
    raw_of[1][q] = raw[1];
  }
  if (status == SHOAL_OK)
    status = shoal_attack_setup_merge_spellings(setup, setup->context.frequency, 0, error);
  for (size_t i = 0; status == SHOAL_OK && i < setup->n_previous; i++)
    status = shoal_attack_setup_merge_spellings(setup, setup->previous_context[i].frequency, i + 1,
                                                error);
  if (status == SHOAL_OK) status = link_people_tables(setup, raw_of, error);
  free(raw_of[0]);
  free(raw_of[1]);
  return status;
}

/* ------------------------------------------------------------ all of it */

shoal_status shoal_attack_setup_init(shoal_attack_setup *setup, const shoal_table *masked,
                                     const shoal_policy *policy,
                                     const shoal_attack_options *options, const shoal_run *run,
                                     shoal_error *error) {
  memset(setup, 0, sizeof *setup);
  setup->external_table = options->external;
  setup->original_table = options->original;
  shoal_attack_case *attacked = &setup->attacked;
  shoal_attack_bounds *bounds = &attacked->bounds;
  SHOAL_TRY(read_share(options->bound ? options->bound : "0.5", "--bound", &bounds->guess, error));
  SHOAL_TRY(read_share(options->mu ? options->mu : "0.6", "--mu", &bounds->mu, error));
  bounds->guess_given = options->bound != NULL;
  bounds->mu_given = options->mu != NULL;
  bounds->rule_out = options->rule_out ? options->rule_out : 2;
  bounds->records = options->known_records;
  bounds->categories = options->min_categories ? options->min_categories : 3;
  SHOAL_TRY(prepare_releases(setup, masked, policy, options, run, error));
  SHOAL_TRY(init_domains(setup, error));
  const shoal_context *p = &setup->context;
  attacked->policy = policy;
  attacked->table = masked;
  attacked->frequency = p->frequency;
  attacked->requirements = &p->requirements;
  attacked->sensitive = p->sensitive;
  attacked->n_sensitive = p->n_sensitive;
  attacked->people_absent = p->people.absent;
  attacked->original_table = options->original;
  attacked->previous = setup->previous;
  attacked->n_previous = setup->n_previous;
  attacked->domains = setup->domains;
  attacked->run = run;
  return SHOAL_OK;
}

void shoal_attack_setup_reset(shoal_attack_setup *setup) {
  shoal_attack_findings_reset(&setup->findings);
  shoal_linked_people_reset(&setup->external);
  shoal_linked_people_reset(&setup->original);
  for (size_t q = 0; setup->domains && setup->has_domain && q < setup->context.n_quasi; q++)
    if (setup->has_domain[q]) shoal_domain_reset(&setup->domains[q]);
  free(setup->domains);
  free(setup->has_domain);
  for (size_t i = 0; i < setup->n_previous; i++) shoal_context_reset(&setup->previous_context[i]);
  free(setup->previous_context);
  free(setup->previous);
  shoal_context_reset(&setup->context);
}
