/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/kinds: the table of kinds. Each row says what the policy calls a kind, what it takes,
 * what it does, and which file's function starts it; help texts and the compiler read the same
 * rows. A new kind is a file and a row here.
 */
#include "hierarchy/builder.h"

#define KINDS(ROW)                                                                                 \
  ROW(FILE, "file", "PATH", "rows value;level1;...;top of a CSV file without header", true,        \
      shoal_file_start)                                                                            \
  ROW(TREE, "tree", "{LABEL: [VALUE, ...], ...}", "a tree written in the policy, under *", true,   \
      shoal_tree_start)                                                                            \
  ROW(INTERVALS, "intervals", "[WIDTH, ...], origin: NUMBER",                                      \
      "numbers in intervals such as [20-29], each width a multiple of the one before; then *",     \
      false, shoal_intervals_start)                                                                \
  ROW(CUTS, "cuts", "[[BOUND, ...], ...]", "numbers between the bounds given a level; then *",     \
      false, shoal_cuts_start)                                                                     \
  ROW(MASK, "mask", "right|left, char: C", "a level for each character, hidden from one side",     \
      false, shoal_mask_start)                                                                     \
  ROW(DATE, "date", "[day, month, year, 5-years, decade], format: YYYY-MM-DD",                     \
      "dates by coarser and coarser units; then *", false, shoal_date_start)                       \
  ROW(TOP, "top", "true", "only *: as it is, or hidden", false, shoal_top_start)

#define AS_ENTRY(kind, name, parameters, summary, from_paths, start) {name, parameters, summary},
#define AS_KIND(kind, name, parameters, summary, from_paths, start)                                \
  {SHOAL_HIERARCHY_##kind, from_paths, start},

static const shoal_entry entries[] = {KINDS(AS_ENTRY){NULL, NULL, NULL}};
static const shoal_kind kinds[] = {KINDS(AS_KIND)};

const shoal_entry *shoal_hierarchy_kinds(void) { return entries; }

const shoal_kind *shoal_kind_find(shoal_hierarchy_kind kind) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (kinds[i].kind == kind) return &kinds[i];
  return NULL;
}

/* The kind "top" has nothing to build: the compiler makes the top of every kind. */
shoal_status shoal_top_start(shoal_builder *builder, shoal_error *error) {
  (void)error;
  builder->height = 1;
  return SHOAL_OK;
}
