/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/page: see page.h. From a prepared table and a release to the facts of a page: what became of
 * each column, the settings and hashes that let the run be repeated, and the lattice to be drawn.
 * Nothing here depends on the time of day or on the number of threads.
 */
#include "job/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------ columns */

static const char *type_of(const shoal_attribute *attribute) {
  if (attribute && attribute->type == SHOAL_TYPE_NUMBER) return "number";
  if (attribute && attribute->has_hierarchy && attribute->hierarchy.kind == SHOAL_HIERARCHY_DATE)
    return "date";
  return "text";
}

static const struct {
  const char *role, *done;
  bool released;
} roles[] = {
    [SHOAL_ROLE_IDENTIFIER] = {"identifier", "left out: it names a person", false},
    [SHOAL_ROLE_QUASI] = {"quasi-identifier", "grouped by, as it stands", true},
    [SHOAL_ROLE_SENSITIVE] = {"sensitive", "released as it was; the models protect it", true},
    [SHOAL_ROLE_KEEP] = {"kept", "released as it was, not protected", true},
    [SHOAL_ROLE_DROP] = {"unlisted", "left out: the policy does not list it", false},
};

static shoal_status name_columns(shoal_result *result, const shoal_prepared *p, shoal_page *page,
                                 shoal_error *error) {
  page->n_columns = p->table->n_columns;
  page->columns = shoal_arena_alloc(&result->arena, page->n_columns, sizeof *page->columns);
  if (!page->columns) return shoal_fail_memory(error);
  for (size_t c = 0; c < page->n_columns; c++) {
    const char *name = p->table->columns[c].name;
    shoal_page_column *column = &page->columns[c];
    *column = (shoal_page_column){.name = shoal_result_string(result, name, strlen(name)),
                                  .type = type_of(shoal_policy_attribute(p->policy, name)),
                                  .role = roles[p->roles[c]].role,
                                  .done = roles[p->roles[c]].done,
                                  .released = roles[p->roles[c]].released};
    if (!column->name) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

/* What became of each quasi-identifier. */
static shoal_status tell_done(shoal_release *release, shoal_page *page, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  size_t q = 0;
  for (size_t c = 0; c < page->n_columns; c++) {
    if (p->roles[c] != SHOAL_ROLE_QUASI) continue;
    const shoal_attribute_outcome *outcome = &result->attributes[q++];
    uint32_t level = outcome->level, height = outcome->height;
    char words[120];
    if (release->class_of_row)
      (void)snprintf(words, sizeof words, "%s",
                     outcome->loss > 0 ? "made coarser, each class by itself"
                                       : "kept as it was in every class");
    else if (!level) (void)snprintf(words, sizeof words, "kept as it was (level 0 of %u)", height);
    else
      (void)snprintf(words, sizeof words, "made coarser: level %u of %u%s", level, height,
                     level == height ? ", one label for all" : "");
    page->columns[c].done = shoal_result_string(result, words, strlen(words));
    if (!page->columns[c].done) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ settings */

static shoal_status add_setting(shoal_result *result, shoal_page *page, const char *name,
                                const char *value, shoal_error *error) {
  size_t n = page->n_settings;
  shoal_page_setting *grown = shoal_arena_alloc(&result->arena, n + 1, sizeof *grown);
  const char *own_name = shoal_result_string(result, name, strlen(name));
  const char *own_value = shoal_result_string(result, value, strlen(value));
  if (!grown || !own_name || !own_value) return shoal_fail_memory(error);
  if (n) memcpy(grown, page->settings, n * sizeof *grown);
  grown[n] = (shoal_page_setting){.name = own_name, .value = own_value};
  page->settings = grown;
  page->n_settings = n + 1;
  return SHOAL_OK;
}

/* "k = 3", "t = 0.2, distance = equal" */
static shoal_status add_demand(shoal_result *result, const shoal_prepared *p, shoal_page *page,
                               const shoal_demand *demand, shoal_error *error) {
  char name[200], value[200] = "";
  size_t used = 0;
  bool on = demand->sensitive != SHOAL_NO_ATTRIBUTE;
  (void)snprintf(name, sizeof name, "%s%s%s", demand->type->name, on ? " on " : "",
                 on ? p->sensitive[demand->sensitive].column->name : "");
  const shoal_parameter *parameter = demand->type->parameters;
  for (size_t i = 0; i < SHOAL_MODEL_PARAMETERS && parameter[i].name; i++) {
    char count[24];
    const char *text = demand->text[i]; /* NULL: privacy.k or privacy.p, or not given at all */
    (void)snprintf(count, sizeof count, "%llu", (unsigned long long)demand->count[i]);
    if (used >= sizeof value || (!text && !demand->count[i])) continue;
    used += (size_t)snprintf(value + used, sizeof value - used, "%s%s = %.60s", used ? ", " : "",
                             parameter[i].name, text ? text : count);
  }
  return add_setting(result, page, name, *value ? value : "as asked for", error);
}

static void print_amount(shoal_amount amount, uint64_t n_rows, char *out, size_t size) {
  char number[64];
  shoal_decimal_print(amount.number.mantissa, amount.number.scale, number);
  if (amount.percent)
    (void)snprintf(out, size, "%s%% (%llu rows)", number,
                   (unsigned long long)shoal_amount_rows(amount, n_rows));
  else (void)snprintf(out, size, "%s rows", number);
}

static shoal_status add_settings(shoal_result *result, const shoal_prepared *p, shoal_page *page,
                                 shoal_error *error) {
  const shoal_policy *policy = p->policy;
  char value[160];
  for (size_t i = 0; i < p->demands.n_items; i++)
    SHOAL_TRY(add_demand(result, p, page, &p->demands.items[i], error));
  SHOAL_TRY(add_setting(result, page, "algorithm asked for", policy->algorithm.text, error));
  if (result->algorithm)
    SHOAL_TRY(add_setting(result, page, "algorithm used", result->algorithm, error));
  for (size_t i = 0; i < policy->n_prefer; i++)
    SHOAL_TRY(add_setting(result, page, "prefer", policy->prefer[i].text, error));
  if (policy->objective.text)
    SHOAL_TRY(add_setting(result, page, "objective", policy->objective.text, error));
  if (result->effort > 1) {
    (void)snprintf(value, sizeof value, "%u", result->effort);
    SHOAL_TRY(add_setting(result, page, "effort", value, error));
  }
  print_amount(policy->max_suppression, p->table->n_records, value, sizeof value);
  SHOAL_TRY(add_setting(result, page, "max-suppression", value, error));
  SHOAL_TRY(add_setting(result, page, "suppressed rows",
                        policy->blank_suppressed ? "blank" : "remove", error));
  if (policy->noise_allowed) {
    print_amount(policy->noise, p->table->n_records, value, sizeof value);
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

static shoal_page_file *new_file(shoal_result *result, shoal_page *page, const char *use,
                                 const char *name) {
  size_t n = page->n_files;
  shoal_page_file *grown = shoal_arena_alloc(&result->arena, n + 1, sizeof *grown);
  const char *own = shoal_result_string(result, name, strlen(name));
  if (!grown || !own) return NULL;
  if (n) memcpy(grown, page->files, n * sizeof *grown);
  grown[n] = (shoal_page_file){.use = use, .name = own};
  page->files = grown;
  page->n_files = n + 1;
  return &grown[n];
}

static shoal_status add_file(shoal_result *result, shoal_page *page, const char *use,
                             const char *path, shoal_error *error) {
  shoal_page_file *file = new_file(result, page, use, path);
  if (!file) return shoal_fail_memory(error);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return shoal_fail_at(error, SHOAL_FAILED, &(shoal_place){.file = path},
                         "cannot be read again for the report: %s", strerror(errno));
  shoal_status status = shoal_sha256_fd(fd, path, NULL, file->sha256, error);
  (void)close(fd);
  return status;
}

/* Hierarchies and categories in files of their own: the policy's hash does not cover them. */
static shoal_status add_policy_files(shoal_release *release, shoal_page *page, shoal_error *error) {
  const shoal_policy *policy = release->prepared.policy;
  for (size_t a = 0; a < policy->n_attributes; a++) {
    const shoal_attribute *attribute = &policy->attributes[a];
    const char *tree = attribute->has_hierarchy ? attribute->hierarchy.file : NULL;
    if (tree) SHOAL_TRY(add_file(release->result, page, "hierarchy", tree, error));
    if (attribute->categories.file)
      SHOAL_TRY(add_file(release->result, page, "categories", attribute->categories.file, error));
  }
  return SHOAL_OK;
}

static shoal_status add_release(shoal_release *release, shoal_page *page, const char *path,
                                shoal_error *error) {
  const char *name = strcmp(path, "-") == 0 ? "(standard output)" : path;
  shoal_page_file *file = new_file(release->result, page, "release", name);
  if (!file) return shoal_fail_memory(error);
  memcpy(file->sha256, release->sha256, sizeof file->sha256);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the lattice */

/* More would take longer than the search itself; the page says that they are not drawn. */
static const uint64_t MOST_NODES = 5000, MOST_WORK = 200000000;

static shoal_status judge_nodes(shoal_release *release, shoal_search *search, shoal_result *lattice,
                                shoal_error *error) {
  shoal_result *result = release->result;
  shoal_node_list nodes = {0};
  shoal_status status = shoal_search_all(search, &nodes, error);
  lattice->nodes = shoal_arena_alloc(&result->arena, nodes.n_items, sizeof *lattice->nodes);
  if (status == SHOAL_OK && !lattice->nodes) status = shoal_fail_memory(error);
  for (size_t i = 0; status == SHOAL_OK && i < nodes.n_items; i++) {
    shoal_node_outcome *outcome = &lattice->nodes[i];
    status = shoal_result_node(result, &search->space, &nodes.items[i], outcome, error);
    if (status != SHOAL_OK) break;
    outcome->chosen =
        memcmp(outcome->levels, release->levels, search->space.n * sizeof *release->levels) == 0;
    lattice->n_nodes = i + 1;
  }
  shoal_node_list_reset(&nodes);
  return status;
}

shoal_status shoal_page_lattice(shoal_release *release, shoal_page *page, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  if (release->class_of_row || release->hidden || result->lattice_nodes > MOST_NODES ||
      result->lattice_nodes * p->frequency->n_tuples > MOST_WORK)
    return SHOAL_OK;
  shoal_result *lattice = shoal_arena_alloc(&result->arena, 1, sizeof *lattice);
  if (!lattice) return shoal_fail_memory(error);
  *lattice = (shoal_result){.kind = SHOAL_RESULT_LATTICE,
                            .input_rows = result->input_rows,
                            .max_suppression = result->max_suppression,
                            .quasi = result->quasi,
                            .heights = result->heights,
                            .n_quasi = result->n_quasi,
                            .k = result->k};
  shoal_search search;
  SHOAL_TRY(shoal_prepared_search(p, false, &search, error));
  shoal_status status = judge_nodes(release, &search, lattice, error);
  shoal_search_reset(&search);
  if (status == SHOAL_OK) page->lattice = lattice;
  return status;
}

/* ------------------------------------------------------------ all of it */

shoal_status shoal_page_begin(shoal_result *result, const shoal_prepared *p, shoal_error *error) {
  shoal_page *page = shoal_arena_alloc(&result->arena, 1, sizeof *page);
  if (!page) return shoal_fail_memory(error);
  *page = (shoal_page){.k = p->demands.k};
  SHOAL_TRY(name_columns(result, p, page, error));
  SHOAL_TRY(add_settings(result, p, page, error));
  shoal_page_file *policy = new_file(result, page, "policy", p->policy->file);
  if (!policy) return shoal_fail_memory(error);
  memcpy(policy->sha256, p->policy->sha256, sizeof policy->sha256);
  result->page = page;
  return SHOAL_OK;
}

shoal_status shoal_page_fill(shoal_release *release, int fd, const char *path,
                             const shoal_write_options *options, const shoal_run *run,
                             shoal_error *error) {
  shoal_result *result = release->result;
  SHOAL_TRY(shoal_page_begin(result, &release->prepared, error));
  shoal_page *page = result->page;
  SHOAL_TRY(add_setting(result, page, "order of rows",
                        options->keep_order ? "that of the data" : "shuffled", error));
  SHOAL_TRY(tell_done(release, page, error));
  SHOAL_TRY(add_policy_files(release, page, error));
  SHOAL_TRY(add_release(release, page, path, error));
  if (options->detail != SHOAL_DETAIL_PAGE) return SHOAL_OK;
  SHOAL_TRY(shoal_page_sample(release, page, error));
  SHOAL_TRY(shoal_page_attributes(release, page, error));
  SHOAL_TRY(shoal_page_study(release, fd, run, error));
  return shoal_page_lattice(release, page, error);
}
