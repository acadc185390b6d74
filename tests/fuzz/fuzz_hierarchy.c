/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: hierarchy files. What is accepted satisfies the definition (one parent each, a
 * single top, levels that agree), covers the column, is drawn, and written as CSV and read again is
 * the same hierarchy. The first byte says what column it is compiled for.
 */
#include "fuzz.h"
#include "hierarchy/hierarchy.h"
#include "read/magic.h"
#include "shoal/shoal.h"

/* A column with values a, b, 1, 22 and one that is missing. */
static shoal_table *small_table(void) {
  static const char *const name = "column";
  static const uint64_t offsets[] = {0, 1, 2, 3, 5, 5};
  const shoal_text_view view = {"ab122", offsets};
  shoal_error error;
  shoal_table *table = NULL;
  MUST(shoal_table_new(&name, 1, &table, &error) == SHOAL_OK);
  MUST(shoal_table_append(table, &view, 1, 5, NULL, &error) == SHOAL_OK);
  shoal_policy *policy = NULL;
  static const char yaml[] = "{shoal: 1, attributes: {column: {role: quasi}}, privacy: {k: 2}}";
  MUST(shoal_policy_parse(yaml, sizeof yaml - 1, "p", ".", &policy, &error) == SHOAL_OK);
  MUST(shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, &error) == SHOAL_OK);
  shoal_policy_free(policy);
  return table;
}

static void check_level(const shoal_hierarchy *h, uint32_t l) {
  const shoal_level *level = &h->levels[l];
  bool top = l + 1 == h->n_levels;
  uint64_t below = 0;
  MUST(level->n_labels > 0 && (!top || level->n_labels == 1));
  for (uint32_t leaf = 0; leaf < h->n_leaves; leaf++) {
    uint32_t label = level->of_leaf[leaf];
    MUST(label < level->n_labels);
    if (!top) MUST(level->parent[label] == h->levels[l + 1].of_leaf[leaf]);
  }
  for (uint32_t label = 0; label < level->n_labels; label++) {
    MUST(level->n_leaves[label] > 0 && level->node_height[label] <= h->tree_height);
    below += level->n_leaves[label];
  }
  MUST(below == h->n_leaves);
}

static void check_hierarchy(const shoal_hierarchy *h) {
  MUST(h->n_levels >= 1 && h->n_leaves >= h->n_values && h->tree_height < h->n_levels);
  for (uint32_t l = 0; l < h->n_levels; l++) check_level(h, l);
}

static shoal_status compile(const char *bytes, size_t size, const shoal_table *table, bool ragged,
                            shoal_hierarchy **out, shoal_error *error) {
  memory_file file = memory_file_new(bytes, size);
  const shoal_hierarchy_spec spec = {.kind = SHOAL_HIERARCHY_FILE, .file = file.path};
  const shoal_hierarchy_options options = {.attribute = "column", .ragged = ragged};
  shoal_status status = shoal_hierarchy_compile(
      &spec, table, table ? shoal_table_column(table, "column") : NULL, &options, out, error);
  (void)close(file.fd);
  return status;
}

/* Written and read again. */
static void check_round_trip(const shoal_hierarchy *h, const shoal_table *table) {
  char *csv = NULL;
  shoal_error error;
  shoal_hierarchy *again = NULL;
  MUST(shoal_hierarchy_csv(h, &csv, &error) == SHOAL_OK);
  if (shoal_magic_advice(csv, strlen(csv))) { /* behind a byte order mark it was text */
    free(csv);
    return;
  }
  shoal_status status = compile(csv, strlen(csv), table, true, &again, &error);
  if (status != SHOAL_OK) (void)fprintf(stderr, "%s\n", error.message);
  MUST(status == SHOAL_OK);
  check_hierarchy(again);
  MUST(again->n_leaves == h->n_leaves && again->n_levels == h->n_levels);
  for (uint32_t l = 0; l < h->n_levels; l++)
    MUST(again->levels[l].n_labels == h->levels[l].n_labels);
  shoal_hierarchy_free(again);
  free(csv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static shoal_table *table; /* made once */
  if (!table) table = small_table();
  if (size < 1 || size > 4096) return 0;
  bool with_column = data[0] & 1, ragged = data[0] & 2;
  shoal_hierarchy *h = NULL;
  shoal_error error = {0};
  const shoal_table *used = with_column ? table : NULL;
  shoal_status status = compile((const char *)data + 1, size - 1, used, ragged, &h, &error);
  MUST(status == SHOAL_OK || (status == SHOAL_BAD_INPUT && error.message[0]));
  MUST((h != NULL) == (status == SHOAL_OK));
  if (!h) return 0;
  check_hierarchy(h);
  char *text = NULL;
  MUST(shoal_hierarchy_draw(h, NULL, 100, &text, &error) == SHOAL_OK);
  free(text);
  if (!with_column) check_round_trip(h, used);
  shoal_hierarchy_free(h);
  return 0;
}
