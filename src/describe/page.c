/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe/page: collects the data of the HTML report (report/page.h): how each column was handled,
 * settings and hashes to repeat the run, the lattice, and attacks and measures of the written file.
 * Nothing here depends on the time of day or on the number of threads.
 */
#include "describe/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attack/setup.h"
#include "decide/risks.h"
#include "input/input.h"

/* ------------------------------------------------------------ columns */

static const char *type_of(const shoal_attribute *attribute) {
  bool dates = attribute &&
               (attribute->coding.dates ||
                (attribute->has_hierarchy && attribute->hierarchy.kind == SHOAL_HIERARCHY_DATE));
  if (dates) return "date";
  if (attribute && attribute->type == SHOAL_TYPE_NUMBER) return "number";
  return "text";
}

static const struct {
  const char *role, *done;
  bool released;
} roles[] = {
    [SHOAL_ROLE_IDENTIFIER] = {"identifier", "removed: it identifies a person", false},
    [SHOAL_ROLE_QUASI] = {"quasi-identifier", "compared as it is", true},
    [SHOAL_ROLE_SENSITIVE] = {"sensitive", "released unchanged; protected by the models", true},
    [SHOAL_ROLE_KEEP] = {"kept", "released unchanged, not protected", true},
    [SHOAL_ROLE_PSEUDONYM] = {"pseudonym", "replaced by a keyed hash; links rows of a person",
                              true},
    [SHOAL_ROLE_PERSON] = {"person", "removed: it says who a row is about", false},
    [SHOAL_ROLE_HOUSEHOLD] = {"household", "removed: it says which household a row is about",
                              false},
    [SHOAL_ROLE_DROP] = {"unlisted", "removed: not listed in the policy", false},
};

static shoal_status name_columns(shoal_result *result, const shoal_context *p,
                                 shoal_html_report *page, shoal_error *error) {
  page->n_columns = p->table->n_columns;
  page->columns = shoal_arena_alloc(&result->arena, page->n_columns, sizeof *page->columns);
  if (!page->columns) return shoal_fail_memory(error);
  for (size_t c = 0; c < page->n_columns; c++) {
    const char *name = p->table->columns[c].name;
    char buffer[SHOAL_COLUMN_LABEL_BYTES];
    const char *label = shoal_context_column_label(p, c, buffer);
    shoal_html_report_column *column = &page->columns[c];
    *column = (shoal_html_report_column){.name = shoal_result_string(result, label, strlen(label)),
                                         .type = type_of(shoal_policy_attribute(p->policy, name)),
                                         .role = roles[p->roles[c]].role,
                                         .done = roles[p->roles[c]].done,
                                         .released = roles[p->roles[c]].released};
    if (!column->name) return shoal_fail_memory(error);
    if (shoal_safety_lists(&result->safety, SHOAL_RISK_UNPROTECTED, NULL, column->name))
      column->done = "released unchanged, NOT protected";
  }
  return SHOAL_OK;
}

/* How each quasi-identifier was handled. */
static shoal_status describe_done(shoal_release *release, shoal_html_report *page,
                                  shoal_error *error) {
  const shoal_context *p = &release->context;
  shoal_result *result = release->result;
  size_t q = 0;
  for (size_t c = 0; c < page->n_columns; c++) {
    if (p->roles[c] != SHOAL_ROLE_QUASI) continue;
    const shoal_attribute_outcome *outcome = &result->release.attributes[q++];
    uint32_t level = outcome->level, height = outcome->height;
    char words[120];
    if (!release->decision.levels)
      (void)snprintf(words, sizeof words, "%s",
                     outcome->loss > 0 ? "generalized, class by class"
                                       : "unchanged in every class");
    else if (!level) (void)snprintf(words, sizeof words, "unchanged (level 0 of %u)", height);
    else
      (void)snprintf(words, sizeof words, "generalized to level %u of %u%s", level, height,
                     level == height ? ", one label for all" : "");
    page->columns[c].done = shoal_result_string(result, words, strlen(words));
    if (!page->columns[c].done) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ settings */

static shoal_status add_setting(shoal_result *result, shoal_html_report *page, const char *name,
                                const char *value, shoal_error *error) {
  size_t n = page->n_settings;
  shoal_html_report_setting *grown = shoal_arena_alloc(&result->arena, n + 1, sizeof *grown);
  const char *own_name = shoal_result_string(result, name, strlen(name));
  const char *own_value = shoal_result_string(result, value, strlen(value));
  if (!grown || !own_name || !own_value) return shoal_fail_memory(error);
  if (n) memcpy(grown, page->settings, n * sizeof *grown);
  grown[n] = (shoal_html_report_setting){.name = own_name, .value = own_value};
  page->settings = grown;
  page->n_settings = n + 1;
  return SHOAL_OK;
}

/* "k = 3", "t = 0.2, distance = equal" */
static shoal_status add_requirement(shoal_result *result, const shoal_context *p,
                                    shoal_html_report *page, const shoal_requirement *requirement,
                                    shoal_error *error) {
  char name[200], value[200] = "";
  size_t used = 0;
  bool on = requirement->sensitive != SHOAL_NO_ATTRIBUTE;
  shoal_over over;
  SHOAL_TRY(shoal_result_over(result, p, requirement, &over, error));
  (void)snprintf(name, sizeof name, "%s%s%s%s%s", requirement->type->name, on ? " on " : "",
                 on ? p->sensitive[requirement->sensitive].column->name : "",
                 over.text ? " over " : "", over.text ? over.text : "");
  const shoal_parameter *parameter = requirement->type->parameters;
  for (size_t i = 0; i < SHOAL_MODEL_PARAMETERS && parameter[i].name; i++) {
    char count[24];
    const char *text = requirement->text[i]; /* NULL: privacy.k or privacy.p, or not given at all */
    (void)snprintf(count, sizeof count, "%llu", (unsigned long long)requirement->count[i]);
    if (used >= sizeof value || (!text && !requirement->count[i])) continue;
    used += (size_t)snprintf(value + used, sizeof value - used, "%s%s = %.60s", used ? ", " : "",
                             parameter[i].name, text ? text : count);
  }
  return add_setting(result, page, name, *value ? value : "no parameters", error);
}

/* "10 rows", "1% of the rows (23)" */
static void describe_amount(shoal_amount amount, uint64_t n_rows, char *out, size_t size) {
  shoal_amount_print(amount, out, size);
  size_t used = strlen(out);
  if (amount.percent)
    (void)snprintf(out + used, size - used, " (%llu)",
                   (unsigned long long)shoal_amount_rows(amount, n_rows));
}

static shoal_status add_settings(shoal_result *result, const shoal_context *p,
                                 shoal_html_report *page, shoal_error *error) {
  const shoal_policy *policy = p->policy;
  char value[160];
  for (size_t i = 0; i < p->requirements.n_items; i++)
    SHOAL_TRY(add_requirement(result, p, page, &p->requirements.items[i], error));
  SHOAL_TRY(add_setting(result, page, "algorithm asked for", policy->algorithm.text, error));
  const shoal_release_report *released =
      result->kind == SHOAL_RESULT_RELEASE ? &result->release : NULL;
  if (released) SHOAL_TRY(add_setting(result, page, "algorithm used", released->algorithm, error));
  for (size_t i = 0; i < policy->n_prefer; i++)
    SHOAL_TRY(add_setting(result, page, "prefer", policy->prefer[i].text, error));
  if (policy->objective.text)
    SHOAL_TRY(add_setting(result, page, "objective", policy->objective.text, error));
  if (released && released->method == SHOAL_METHOD_CLUSTERS && released->clusters.effort > 1) {
    (void)snprintf(value, sizeof value, "%u", released->clusters.effort);
    SHOAL_TRY(add_setting(result, page, "effort", value, error));
  }
  describe_amount(policy->max_suppression, p->table->n_records, value, sizeof value);
  SHOAL_TRY(add_setting(result, page, "max-suppression", value, error));
  SHOAL_TRY(add_setting(result, page, "suppressed rows",
                        policy->blank_suppressed ? "blank" : "remove", error));
  if (policy->noise_allowed) {
    describe_amount(policy->noise, p->table->n_records, value, sizeof value);
    SHOAL_TRY(add_setting(result, page, "noise", value, error));
  }
  if (!policy->has_seed)
    return add_setting(result, page, "seed", "none: the order of rows cannot be repeated", error);
  (void)snprintf(value, sizeof value, "%llu", (unsigned long long)policy->seed);
  SHOAL_TRY(add_setting(result, page, "seed", value, error));
  page->settings[page->n_settings - 1].secret = true; /* it can restore the order of the rows */
  return SHOAL_OK;
}

/* ------------------------------------------------------------ files */

static shoal_html_report_file *new_file(shoal_result *result, shoal_html_report *page,
                                        const char *use, const char *name) {
  size_t n = page->n_files;
  shoal_html_report_file *grown = shoal_arena_alloc(&result->arena, n + 1, sizeof *grown);
  const char *own = shoal_result_string(result, name, strlen(name));
  if (!grown || !own) return NULL;
  if (n) memcpy(grown, page->files, n * sizeof *grown);
  grown[n] = (shoal_html_report_file){.use = use, .name = own};
  page->files = grown;
  page->n_files = n + 1;
  return &grown[n];
}

static shoal_status add_file(shoal_result *result, shoal_html_report *page, const char *use,
                             const char *path, shoal_error *error) {
  shoal_html_report_file *file = new_file(result, page, use, path);
  if (!file) return shoal_fail_memory(error);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return shoal_fail_at(error, SHOAL_FAILED, &(shoal_location){.file = path},
                         "cannot be read again for the report: %s", strerror(errno));
  shoal_status status = shoal_sha256_fd(fd, path, NULL, file->sha256, error);
  (void)close(fd);
  return status;
}

/* ------------------------------------------------------------ the lattice */

/* More would take longer than the search itself; the page says that they are not drawn. */
static const uint64_t MAX_NODES = 5000, MAX_WORK = 200000000;

static shoal_status judge_nodes(shoal_release *release, shoal_search *search,
                                shoal_lattice_report *lattice, shoal_error *error) {
  shoal_result *result = release->result;
  const uint32_t *levels = release->decision.levels;
  shoal_node_list nodes = {0};
  shoal_status status = shoal_search_all(search, &nodes, error);
  lattice->nodes = shoal_arena_alloc(&result->arena, nodes.n_items, sizeof *lattice->nodes);
  if (status == SHOAL_OK && !lattice->nodes) status = shoal_fail_memory(error);
  for (size_t i = 0; status == SHOAL_OK && i < nodes.n_items; i++) {
    shoal_node_outcome *outcome = &lattice->nodes[i];
    status = shoal_result_add_node(result, &search->space, &nodes.items[i], outcome, error);
    if (status != SHOAL_OK) break;
    outcome->chosen = memcmp(outcome->levels, levels, search->space.n * sizeof *levels) == 0;
    lattice->n_nodes = i + 1;
  }
  shoal_node_list_reset(&nodes);
  return status;
}

/* ------------------------------------------------------------ attacks and measures */

shoal_status shoal_release_read_back(const shoal_release *release, int fd, const shoal_run *run,
                                     shoal_table **masked, shoal_error *error) {
  const shoal_context *p = &release->context;
  char path[40];
  const char delimiter[2] = {p->table->delimiter, '\0'};
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return shoal_input_read(path, p->policy, SHOAL_FOR_REVIEW, delimiter, run, masked, error);
}

static bool has_attack(const shoal_result *result) {
  bool found = false;
  for (size_t i = 0; i < result->safety.n_risks; i++)
    found = found || result->safety.risks[i].kind == SHOAL_RISK_ATTACKS;
  return found;
}

static shoal_status run_attacks(shoal_release *release, const shoal_table *masked,
                                const shoal_run *run, shoal_error *error) {
  shoal_attack_setup setup = {0};
  bool withstands; /* not used: the page reports attack by attack */
  shoal_attack_options options = {.original = shoal_context_original(&release->context)};
  shoal_result *result = release->result;
  shoal_status status =
      shoal_attack_setup_init(&setup, masked, release->context.policy, &options, run, error);
  if (status == SHOAL_OK)
    status = shoal_attack_setup_run(&setup, &result->arena, &result->release.attacks, &withstands,
                                    error);
  /* The page shows them, so its verdict must not be better. Those that the classes show are listed
   * already, and linking with the original succeeds with them. */
  if (status == SHOAL_OK && !has_attack(result))
    status =
        shoal_risks_of_attacks(result, release->context.policy, result->release.attacks, error);
  shoal_attack_setup_reset(&setup);
  return status;
}

static shoal_status study(shoal_release *release, int fd, const shoal_run *run,
                          shoal_error *error) {
  shoal_table *masked = NULL;
  shoal_error found = {0}; /* a column may be missing: a guard column is never released */
  shoal_status status = shoal_unless_bad_input(
      shoal_release_read_back(release, fd, run, &masked, &found), &found, error);
  if (status != SHOAL_OK || !masked) return status;
  status = shoal_unless_bad_input(run_attacks(release, masked, run, &found), &found, error);
  shoal_release_report *r = &release->result->release;
  shoal_release_origin origin = {.local = r->method == SHOAL_METHOD_CLUSTERS,
                                 .cells = r->method == SHOAL_METHOD_CELLS,
                                 .max_blanked = r->blanked,
                                 .exact = true};
  if (status == SHOAL_OK)
    status = shoal_unless_bad_input(shoal_result_measure(release->result, &release->context, masked,
                                                         &origin, NULL, &r->measured, &found),
                                    &found, error);
  shoal_table_delete(masked);
  return status;
}

/* ------------------------------------------------------------ all of it */

shoal_status shoal_html_report_begin(shoal_result *result, const shoal_context *p,
                                     shoal_error *error) {
  shoal_html_report *page = shoal_arena_alloc(&result->arena, 1, sizeof *page);
  if (!page) return shoal_fail_memory(error);
  *page = (shoal_html_report){.k = p->requirements.k};
  SHOAL_TRY(name_columns(result, p, page, error));
  SHOAL_TRY(add_settings(result, p, page, error));
  shoal_html_report_file *policy = new_file(result, page, "policy", p->policy->file);
  if (!policy) return shoal_fail_memory(error);
  memcpy(policy->sha256, p->policy->sha256, sizeof policy->sha256);
  result->page = page;
  return SHOAL_OK;
}

shoal_status shoal_html_report_fill(shoal_release *release, int fd, const char *path,
                                    const shoal_write_options *options, const shoal_run *run,
                                    shoal_error *error) {
  shoal_result *result = release->result;
  SHOAL_TRY(shoal_html_report_begin(result, &release->context, error));
  shoal_html_report *page = result->page;
  SHOAL_TRY(add_setting(result, page, "order of rows",
                        options->keep_order ? "that of the input" : "shuffled", error));
  SHOAL_TRY(describe_done(release, page, error));
  /* Hierarchies and categories in files of their own: the policy's hash does not cover them. */
  const shoal_policy *policy = release->context.policy;
  for (size_t a = 0; a < policy->n_attributes; a++) {
    const shoal_attribute *attribute = &policy->attributes[a];
    const char *tree = attribute->has_hierarchy ? attribute->hierarchy.file : NULL;
    if (tree) SHOAL_TRY(add_file(release->result, page, "hierarchy", tree, error));
    if (attribute->categories.file)
      SHOAL_TRY(add_file(release->result, page, "categories", attribute->categories.file, error));
  }
  if (path) {
    const char *name = strcmp(path, "-") == 0 ? "(standard output)" : path;
    shoal_html_report_file *file = new_file(release->result, page, "release", name);
    if (!file) return shoal_fail_memory(error);
    memcpy(file->sha256, release->sha256, sizeof file->sha256);
  }
  if (options->detail != SHOAL_DETAIL_HTML) return SHOAL_OK;
  SHOAL_TRY(shoal_html_report_sample(release, page, error));
  SHOAL_TRY(shoal_html_report_attributes(release, page, error));
  SHOAL_TRY(study(release, fd, run, error));
  const shoal_context *p = &release->context;
  const shoal_node_report *node = &result->release.node;
  if (result->release.method != SHOAL_METHOD_NODE || node->lattice_nodes > MAX_NODES ||
      node->lattice_nodes * p->frequency->n_tuples > MAX_WORK)
    return SHOAL_OK;
  shoal_lattice_report *lattice = shoal_arena_alloc(&result->arena, 1, sizeof *lattice);
  if (!lattice) return shoal_fail_memory(error);
  *lattice = (shoal_lattice_report){.max_suppression = result->release.max_suppression};
  shoal_search search;
  SHOAL_TRY(shoal_context_search(p, false, &search, error));
  shoal_status status = judge_nodes(release, &search, lattice, error);
  shoal_search_reset(&search);
  if (status == SHOAL_OK) page->lattice = lattice;
  return status;
}
