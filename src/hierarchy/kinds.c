/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/kinds: the table of kinds, and the two shortest, "top" and "mask". A row has the kind's
 * name in the policy, its parameters, its help text and its start function; help and compiler read
 * the same rows. A new kind is a start function and a row here.
 */
#include <string.h>

#include "base/text.h"
#include "hierarchy/builder.h"
#include "hierarchy/set_label.h"
#include "table/bad_cells.h"

#define KINDS(ROW)                                                                                 \
  ROW(FILE, "file", "PATH", "rows value;level1;...;top of a CSV file without header", true,        \
      shoal_file_start)                                                                            \
  ROW(TREE, "tree", "{LABEL: [VALUE, ...], ...}", "a tree written in the policy, under *", true,   \
      shoal_tree_start)                                                                            \
  ROW(LEVELS, "levels", "[[VALUE, LABEL, ..., TOP], ...]",                                         \
      "the rows of such a file, written in the policy", true, shoal_levels_start)                  \
  ROW(INTERVALS, "intervals", "[WIDTH, ...]|auto, origin: NUMBER",                                 \
      "numbers in intervals such as [20-29], each width a multiple of the one before; then *",     \
      false, shoal_intervals_start)                                                                \
  ROW(CUTS, "cuts", "[[BOUND, ...], ...]",                                                         \
      "numbers between bounds, a list of bounds for each level; then *", false, shoal_cuts_start)  \
  ROW(ROUND, "round", "[WIDTH, ...]",                                                              \
      "numbers rounded to multiples of each width, such as [1200\xc2\xb1"                          \
      "50]; then *",                                                                               \
      false, shoal_round_start)                                                                    \
  ROW(MASK, "mask", "right|left|code, char: C",                                                    \
      "a level for each character, masked from one side; code: first what follows the dot", false, \
      shoal_mask_start)                                                                            \
  ROW(DATE, "date", "[day, month, year, 5-years, decade], format: FORMAT, pivot: YEAR",            \
      "dates by month, year and so on; then *", false, shoal_date_start)                           \
  ROW(SETS, "sets", "true",                                                                        \
      "local recoding: the values of the class, such as {a|b}, up to 16, else *; otherwise as "    \
      "top",                                                                                       \
      false, shoal_top_start)                                                                      \
  ROW(TOP, "top", "true", "one level: *", false, shoal_top_start)

_Static_assert(SHOAL_MAX_SET == 16, "the summary has the number");

#define AS_ENTRY(kind, name, parameters, summary, from_paths, start) {name, parameters, summary},
#define AS_KIND(kind, name, parameters, summary, from_paths, start)                                \
  {SHOAL_HIERARCHY_##kind, from_paths, start},

const shoal_entry shoal_hierarchy_kind_entries[] = {KINDS(AS_ENTRY){NULL, NULL, NULL}};
static const shoal_kind kinds[] = {KINDS(AS_KIND)};

const shoal_kind *shoal_kind_find(shoal_hierarchy_kind kind) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (kinds[i].kind == kind) return &kinds[i];
  return NULL;
}

/* The kind "top" builds nothing: compile.c adds the top of every kind. */
shoal_status shoal_top_start(shoal_builder *builder, shoal_error *error) {
  (void)error;
  builder->height = 1;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ kind "mask" */

/*
 * Level i masks the last (or first) i characters; the number of characters stays. Characters are
 * UTF-8; a byte that is not UTF-8 counts as one. A label depends only on the label below it, so no
 * label has two parents. Of codes, level 1 masks all from the dot on, and the others the characters
 * before it.
 */
_Static_assert(SHOAL_LABEL_SCRATCH >= 4 * SHOAL_MAX_MASKED + 2,
               "a label of 4-byte characters fits");

/* Bytes of the first n characters; *counted: how many of them the value has. */
static size_t front_bytes(shoal_label value, size_t n, size_t *counted) {
  size_t at = 0, count = 0;
  for (; at < value.size_bytes && count < n; count++) {
    size_t size = shoal_utf8_size(value.bytes + at, value.size_bytes - at);
    at += size ? size : 1;
  }
  *counted = count;
  return at;
}

/* The text that is masked: a folded value's key, so that labels of equal beginnings are equal. */
static shoal_label masked_text(const shoal_builder *builder, uint32_t leaf) {
  bool folded = builder->options->equality != SHOAL_EQUAL_BYTES;
  return shoal_strings_get(folded ? &builder->names.keys : &builder->leaves, leaf);
}

typedef struct mask_state {
  uint8_t *lengths; /* characters of each value; of a code, before its dot */
  bool has_dot;     /* "code": level 1 masks what follows the dot */
} mask_state;

/* The part of a code before its first dot; otherwise the whole text. */
static shoal_label masked_part(const shoal_builder *builder, uint32_t leaf) {
  shoal_label value = masked_text(builder, leaf);
  const char *dot = builder->spec->mask_code && value.size_bytes
                        ? memchr(value.bytes, '.', value.size_bytes)
                        : NULL;
  if (dot) value.size_bytes = (size_t)(dot - value.bytes);
  return value;
}

/*
 * "E11.*" for E11.9, E11.65 and E11. What ends in the mask already, and has no dot, is a label of a
 * higher level that was read from a release.
 */
static shoal_label code_label(const shoal_builder *builder, uint32_t leaf, char *scratch) {
  shoal_label value = masked_text(builder, leaf), part = masked_part(builder, leaf);
  char mask = builder->spec->mask_char;
  bool has_dot = part.size_bytes < value.size_bytes;
  if (!has_dot && value.size_bytes && value.bytes[value.size_bytes - 1] == mask) return value;
  if (part.size_bytes) memcpy(scratch, part.bytes, part.size_bytes);
  scratch[part.size_bytes] = '.';
  scratch[part.size_bytes + 1] = mask;
  return (shoal_label){scratch, part.size_bytes + 2};
}

static shoal_label mask_label(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                              char *scratch) {
  const mask_state *state = builder->state;
  if (state->has_dot && level == 1) return code_label(builder, leaf, scratch);
  shoal_label value = masked_part(builder, leaf);
  size_t length = state->lengths[leaf], hidden = level - state->has_dot;
  size_t masked = hidden < length ? hidden : length;
  size_t counted;
  size_t cut = front_bytes(value, builder->spec->mask_left ? masked : length - masked, &counted);
  if (builder->spec->mask_left) {
    size_t kept = value.size_bytes - cut;
    memset(scratch, builder->spec->mask_char, masked);
    if (kept) memcpy(scratch + masked, value.bytes + cut, kept);
    return (shoal_label){scratch, masked + kept};
  }
  if (cut) memcpy(scratch, value.bytes, cut);
  memset(scratch + cut, builder->spec->mask_char, masked);
  return (shoal_label){scratch, cut + masked};
}

_Static_assert(SHOAL_MAX_MASKED == 64, "the message has the number");
static const shoal_cell_fault TOO_MANY = {"has more than 64 characters, the maximum for a mask",
                                          "have more than 64 characters, the maximum for a mask",
                                          "use another kind of hierarchy, such as a file",
                                          "use another kind of hierarchy, such as a file", NULL};

shoal_status shoal_mask_start(shoal_builder *builder, shoal_error *error) {
  uint32_t n_values = builder->column->n_values;
  uint8_t *lengths = shoal_arena_alloc(&builder->arena, n_values, sizeof *lengths);
  mask_state *state = shoal_arena_alloc(&builder->arena, 1, sizeof *state);
  if (!lengths || !state) return shoal_fail_memory(error);
  *state = (mask_state){.lengths = lengths};
  uint32_t longest = 1;
  uint8_t *bad = shoal_arena_alloc(&builder->arena, n_values, sizeof *bad);
  if (!bad) return shoal_fail_memory(error);
  bool ok = true;
  for (uint32_t v = 0; v < n_values; v++) {
    lengths[v] = bad[v] = 0;
    if (shoal_column_is_bare(builder->column, v)) continue;
    size_t length;
    shoal_label part = masked_part(builder, v);
    state->has_dot = state->has_dot || part.size_bytes < masked_text(builder, v).size_bytes;
    (void)front_bytes(part, SHOAL_MAX_MASKED + 1, &length);
    bad[v] = length > SHOAL_MAX_MASKED;
    ok = ok && !bad[v];
    lengths[v] = (uint8_t)length;
    if (length > longest) longest = (uint32_t)length;
  }
  if (!ok) return shoal_bad_cells_fail(builder->table, builder->column, bad, &TOO_MANY, error);
  builder->height = longest + state->has_dot;
  builder->state = state;
  builder->label = mask_label;
  return SHOAL_OK;
}
