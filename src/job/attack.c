/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/attack: a release, whoever made it, against an intruder; and a release just made against
 * earlier ones. The siege brings together the released classes, tables of people and earlier
 * releases, with what each label can stand for; attack/ does the rest.
 */
#include "job/attack.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "job/release.h"

/* ------------------------------------------------------------ options */

static shoal_status read_share(const char *text, const char *what, shoal_decimal *number,
                               shoal_error *error) {
  bool ok = shoal_decimal_parse(text, strlen(text), number) == SHOAL_NUMBER_OK &&
            number->mantissa >= 0 &&
            (uint64_t)number->mantissa <= shoal_power_of_ten(number->scale);
  if (ok) return SHOAL_OK;
  return shoal_fail(error, SHOAL_BAD_INPUT, "%s must be a number from 0 to 1, such as 0.5", what);
}

static shoal_status read_bounds(const shoal_attack_options *options, shoal_attack_bounds *bounds,
                                shoal_error *error) {
  SHOAL_TRY(read_share(options->bound ? options->bound : "0.5", "the bound of a guess",
                       &bounds->guess, error));
  SHOAL_TRY(read_share(options->mu ? options->mu : "0.6", "mu", &bounds->mu, error));
  bounds->guess_asked = options->bound != NULL;
  bounds->mu_asked = options->mu != NULL;
  bounds->rule_out = options->rule_out ? options->rule_out : 2;
  bounds->categories = options->min_categories ? options->min_categories : 3;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ releases */

/* The earlier release's quasi-identifiers in the order of the attacked one's. */
static void align_columns(const shoal_prepared *with, shoal_prepared *p) {
  shoal_frequency *f = p->frequency;
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
}

static shoal_status prepare_releases(shoal_siege *siege, const shoal_table *masked,
                                     const shoal_policy *policy,
                                     const shoal_attack_options *options, const shoal_run *run,
                                     shoal_error *error) {
  size_t n = options->n_previous;
  SHOAL_TRY(shoal_prepare(&siege->prepared, masked, policy, SHOAL_PREPARE_COUNTS, run, error));
  siege->earlier_prepared = shoal_alloc_zero(n, sizeof *siege->earlier_prepared);
  siege->earlier = shoal_alloc_zero(n, sizeof *siege->earlier);
  if (!siege->earlier_prepared || !siege->earlier) return shoal_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    shoal_prepared *p = &siege->earlier_prepared[i];
    SHOAL_TRY(shoal_prepare(p, options->previous[i], policy, SHOAL_PREPARE_COUNTS, run, error));
    siege->n_earlier = i + 1;
    align_columns(&siege->prepared, p);
    siege->earlier[i] = (shoal_earlier){options->previous[i], p->frequency};
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ what labels stand for */

static const shoal_column *read_column(const shoal_table *table, const char *name) {
  const shoal_column *column = table ? shoal_table_column(table, name) : NULL;
  return column && column->code_size ? column : NULL;
}

/* Adds a table's column to the raw ones, if it has it; its number there, or SIZE_MAX. */
static size_t add_raw(shoal_source_column *raw, size_t *n_raw, const shoal_table *table,
                      const char *name) {
  const shoal_column *column = read_column(table, name);
  if (!column) return SIZE_MAX;
  raw[*n_raw] = (shoal_source_column){table, column};
  return (*n_raw)++;
}

/*
 * Where nothing is compared, labels are only read to tell which of them may be shown: one that
 * cannot be read is not shown, and that is all.
 */
static shoal_status lay_domain(shoal_siege *siege, size_t q, size_t *raw_of, shoal_error *error) {
  const shoal_prepared *p = &siege->prepared;
  const char *name = p->quasi[q]->name;
  shoal_source_column raw[2], *released = shoal_alloc(siege->n_earlier + 1, sizeof *released);
  if (!released) return shoal_fail_memory(error);
  released[0] = (shoal_source_column){p->table, p->quasi[q]};
  for (size_t i = 0; i < siege->n_earlier; i++)
    released[i + 1] =
        (shoal_source_column){siege->earlier[i].table, siege->earlier[i].frequency->quasi[q]};
  shoal_domain_request request = {.policy = p->policy,
                                  .attribute = p->quasi_attributes[q],
                                  .released = released,
                                  .n_released = siege->n_earlier + 1,
                                  .raw = raw};
  raw_of[0] = add_raw(raw, &request.n_raw, siege->original_table, name);
  raw_of[1] = add_raw(raw, &request.n_raw, siege->external_table, name);
  bool needed = siege->n_earlier || siege->original_table || siege->external_table;
  shoal_error ignored;
  shoal_status status = shoal_domain_init(&siege->domains[q], &request, needed ? error : &ignored);
  siege->has_domain[q] = status == SHOAL_OK;
  free(released);
  if (!needed && status == SHOAL_BAD_INPUT) return SHOAL_OK;
  if (!needed && status != SHOAL_OK && error) *error = ignored;
  return status;
}

static shoal_status find_people(shoal_siege *siege, size_t *const *raw_of, shoal_error *error) {
  shoal_attack_case *attacked = &siege->attacked;
  size_t n = siege->prepared.n_quasi;
  if (siege->original_table) {
    SHOAL_TRY(shoal_people_build(&siege->original, siege->original_table, siege->domains, n,
                                 raw_of[0], false, error));
    siege->original.whose = "people: everyone in the original table";
    attacked->original = &siege->original;
  }
  if (siege->external_table) {
    SHOAL_TRY(shoal_people_build(&siege->external, siege->external_table, siege->domains, n,
                                 raw_of[1], true, error));
    siege->external.whose = "people: those of the external table";
    attacked->external = &siege->external;
  }
  return SHOAL_OK;
}

static shoal_status lay_domains(shoal_siege *siege, shoal_error *error) {
  size_t n = siege->prepared.n_quasi;
  size_t *raw_of[2] = {shoal_alloc(n, sizeof **raw_of), shoal_alloc(n, sizeof **raw_of)};
  siege->domains = shoal_alloc_zero(n, sizeof *siege->domains);
  siege->has_domain = shoal_alloc_zero(n, sizeof *siege->has_domain);
  bool ok = raw_of[0] && raw_of[1] && siege->domains && siege->has_domain;
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t q = 0; status == SHOAL_OK && q < n; q++) {
    size_t raw[2] = {0, 0};
    status = lay_domain(siege, q, raw, error);
    raw_of[0][q] = raw[0];
    raw_of[1][q] = raw[1];
  }
  if (status == SHOAL_OK)
    status = shoal_siege_merge_spellings(siege, siege->prepared.frequency, 0, error);
  for (size_t i = 0; status == SHOAL_OK && i < siege->n_earlier; i++)
    status = shoal_siege_merge_spellings(siege, siege->earlier_prepared[i].frequency, i + 1, error);
  if (status == SHOAL_OK) status = find_people(siege, raw_of, error);
  free(raw_of[0]);
  free(raw_of[1]);
  return status;
}

/* ------------------------------------------------------------ the siege */

shoal_status shoal_siege_lay(shoal_siege *siege, const shoal_table *masked,
                             const shoal_policy *policy, const shoal_attack_options *options,
                             const shoal_run *run, shoal_error *error) {
  memset(siege, 0, sizeof *siege);
  siege->external_table = options->external;
  siege->original_table = options->original;
  shoal_attack_case *attacked = &siege->attacked;
  SHOAL_TRY(read_bounds(options, &attacked->bounds, error));
  SHOAL_TRY(prepare_releases(siege, masked, policy, options, run, error));
  SHOAL_TRY(lay_domains(siege, error));
  const shoal_prepared *p = &siege->prepared;
  attacked->policy = policy;
  attacked->table = masked;
  attacked->frequency = p->frequency;
  attacked->demands = &p->demands;
  attacked->sensitive = p->sensitive;
  attacked->n_sensitive = p->n_sensitive;
  attacked->original_table = options->original;
  attacked->earlier = siege->earlier;
  attacked->n_earlier = siege->n_earlier;
  attacked->domains = siege->domains;
  attacked->run = run;
  return SHOAL_OK;
}

void shoal_siege_reset(shoal_siege *siege) {
  shoal_attack_findings_reset(&siege->findings);
  shoal_people_reset(&siege->external);
  shoal_people_reset(&siege->original);
  for (size_t q = 0; siege->domains && siege->has_domain && q < siege->prepared.n_quasi; q++)
    if (siege->has_domain[q]) shoal_domain_reset(&siege->domains[q]);
  free(siege->domains);
  free(siege->has_domain);
  for (size_t i = 0; i < siege->n_earlier; i++) shoal_prepared_reset(&siege->earlier_prepared[i]);
  free(siege->earlier_prepared);
  free(siege->earlier);
  shoal_prepared_reset(&siege->prepared);
}

static shoal_status attack(shoal_siege *siege, shoal_result *result, shoal_error *error) {
  SHOAL_TRY(shoal_siege_find_minimality(siege, error));
  SHOAL_TRY(shoal_attacks_run(&siege->attacked, &siege->findings, error));
  return shoal_siege_report(siege, result, error);
}

shoal_status shoal_attack_release(const shoal_table *masked, const shoal_policy *policy,
                                  const shoal_attack_options *options, const shoal_run *run,
                                  shoal_result **out, shoal_error *error) {
  static const shoal_attack_options nothing = {0};
  *out = NULL;
  shoal_siege siege;
  shoal_result *result = shoal_result_new(SHOAL_RESULT_ATTACK);
  if (!result) return shoal_fail_memory(error);
  shoal_status status =
      shoal_siege_lay(&siege, masked, policy, options ? options : &nothing, run, error);
  if (status == SHOAL_OK) status = attack(&siege, result, error);
  shoal_siege_reset(&siege);
  if (status == SHOAL_OK) *out = result;
  else shoal_result_free(result);
  return status;
}

/* ------------------------------------------------------------ a release and earlier ones */

static shoal_status warn(shoal_result *result, const shoal_siege *siege,
                         const shoal_attack_finding *finding, shoal_error *error) {
  const char *name = siege->earlier[finding->earlier].table->name;
  if (finding->attack == &shoal_attack_order)
    return shoal_result_warn(
        result, error,
        "the rows are in the same order as in %s, so that each row of the one "
        "is linked with one of the other: release without --keep-order, and with "
        "another seed",
        name);
  return shoal_result_warn(
      result, error,
      "together with %s the release breaks the policy for %llu people: %llu are left among fewer "
      "than %llu, %llu with fewer different sensitive values than asked for, and of %llu one is "
      "learnt for certain. Who has both files learns more than from either",
      name, (unsigned long long)finding->n_rows, (unsigned long long)finding->below_k,
      (unsigned long long)siege->prepared.demands.k, (unsigned long long)finding->below_p,
      (unsigned long long)finding->certain);
}

static shoal_status compare(shoal_siege *siege, shoal_result *result, shoal_error *error) {
  shoal_attack_findings *findings = &siege->findings;
  static const shoal_attack *const attacks[] = {&shoal_attack_repeated, &shoal_attack_order};
  for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
    SHOAL_TRY(attacks[i]->run(attacks[i], &siege->attacked, findings, error));
  for (size_t i = 0; i < findings->n_items; i++)
    if (findings->items[i].succeeds) SHOAL_TRY(warn(result, siege, &findings->items[i], error));
  return SHOAL_OK;
}

shoal_status shoal_release_compare(shoal_release *release, const shoal_table *masked,
                                   const shoal_table *const *previous, size_t n_previous,
                                   const shoal_run *run, shoal_error *error) {
  if (!n_previous) return SHOAL_OK;
  shoal_attack_options options = {
      .original = release->prepared.table, .previous = previous, .n_previous = n_previous};
  shoal_siege siege;
  shoal_error found = {0};
  shoal_status status =
      shoal_siege_lay(&siege, masked, release->prepared.policy, &options, run, &found);
  if (status == SHOAL_OK) status = compare(&siege, release->result, error);
  else if (status == SHOAL_BAD_INPUT) /* the release stands: that is told, and no failure */
    status = shoal_result_warn(release->result, error,
                               "the release was not compared with earlier ones: %s", found.message);
  else if (error) *error = found;
  shoal_siege_reset(&siege);
  return status;
}

/* ------------------------------------------------------------ the list */

static shoal_entry entries[16];

static void fill_entries(void) {
  for (size_t i = 0; shoal_attack_types[i] && i + 1 < sizeof entries / sizeof *entries; i++)
    entries[i] = (shoal_entry){shoal_attack_types[i]->name,
                               shoal_attack_types[i]->needs ? shoal_attack_types[i]->needs : "",
                               shoal_attack_types[i]->knowledge};
}

const shoal_entry *shoal_attacks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, fill_entries);
  return entries;
}
