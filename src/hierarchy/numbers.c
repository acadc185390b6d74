/* SPDX-License-Identifier: Apache-2.0 */
/* hierarchy/numbers: the kinds "intervals", "round" and "cuts", and a column's values as numbers.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy/builder.h"
#include "hierarchy/number_line.h"
#include "table/bad_cells.h"

typedef shoal_int128 int128;

/* ------------------------------------------------------------ a column as numbers */

static const shoal_cell_fault NOT_A_NUMBER = {
    "is not a number", "are not numbers",
    "correct it, list it under data.missing if it means unknown, or add 'otherwise: missing'; "
    "decimal commas need data: {decimal: \",\"}",
    "correct them, list them under data.missing if they mean unknown, or add 'otherwise: "
    "missing'; decimal commas need data: {decimal: \",\"}",
    "'type: number' and the hierarchies 'intervals', 'cuts' and 'round' are for columns of "
    "numbers, "
    "and this one has none: remove them, or add data: {decimal: \",\"} if it has decimal commas"};
static const shoal_cell_fault TOO_LONG = {"is a number of more than 18 digits",
                                          "are numbers of more than 18 digits", "round it",
                                          "round them", NULL};
static const shoal_cell_fault NOT_A_DAY = {"is not a date", "are not dates",
                                           "correct it, or list it under data.missing",
                                           "correct them, or list them under data.missing", NULL};
/* Parses every value; *scale: their largest scale. `bad` has room for all values. */
static shoal_status parse_values(const shoal_table *table, const shoal_column *column,
                                 shoal_decimal *decimals, unsigned *scale, uint8_t *bad,
                                 shoal_error *error) {
  shoal_number worst = SHOAL_NUMBER_OK;
  for (uint32_t v = 0; v < column->n_values; v++) {
    decimals[v] = (shoal_decimal){0, 0};
    bad[v] = SHOAL_NUMBER_OK;
    if (shoal_column_missing(column, v)) continue;
    size_t size_bytes;
    const char *bytes = shoal_column_value(column, v, &size_bytes);
    shoal_number status = shoal_coding_parse(&column->coding, bytes, size_bytes, &decimals[v]);
    bad[v] = (uint8_t)status;
    if (status == SHOAL_NUMBER_NOT || worst == SHOAL_NUMBER_OK) worst = status;
    if (decimals[v].scale > *scale) *scale = decimals[v].scale;
  }
  if (worst == SHOAL_NUMBER_OK) return SHOAL_OK;
  for (uint32_t v = 0; v < column->n_values; v++) bad[v] = bad[v] == worst;
  const shoal_cell_fault *fault = column->coding.dates        ? &NOT_A_DAY
                                  : worst == SHOAL_NUMBER_NOT ? &NOT_A_NUMBER
                                                              : &TOO_LONG;
  return shoal_bad_cells_fail(table, column, bad, fault, error);
}

static shoal_status rescale_values(const shoal_table *table, const shoal_column *column,
                                   const shoal_decimal *decimals, unsigned scale, uint8_t *bad,
                                   int64_t *numbers, shoal_error *error) {
  bool ok = true;
  for (uint32_t v = 0; v < column->n_values; v++) {
    bad[v] = !shoal_decimal_rescale(decimals[v], scale, &numbers[v]);
    ok = ok && !bad[v];
  }
  char is[80], are[80];
  (void)snprintf(is, sizeof is, "is too large for a column with %u decimals", scale);
  (void)snprintf(are, sizeof are, "are too large for a column with %u decimals", scale);
  static const char advice[] = "round the decimals of the column";
  shoal_cell_fault fault = {is, are, advice, advice, NULL};
  return ok ? SHOAL_OK : shoal_bad_cells_fail(table, column, bad, &fault, error);
}

shoal_status shoal_column_numbers(const shoal_table *table, const shoal_column *column,
                                  int64_t **numbers, unsigned *scale, shoal_error *error) {
  *numbers = NULL;
  *scale = 0;
  int64_t *made = shoal_alloc(column->n_values, sizeof *made);
  shoal_decimal *decimals = shoal_alloc(column->n_values, sizeof *decimals);
  uint8_t *bad = shoal_alloc(column->n_values, sizeof *bad);
  shoal_status status = SHOAL_OK;
  if (!made || !decimals || !bad) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = parse_values(table, column, decimals, scale, bad, error);
  if (status == SHOAL_OK)
    status = rescale_values(table, column, decimals, *scale, bad, made, error);
  free(decimals);
  free(bad);
  if (status != SHOAL_OK) {
    free(made);
    return status;
  }
  *numbers = made;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ at one common scale */

typedef struct number_level {
  int128 width;   /* INTERVALS, ROUND */
  int128 reach;   /* ROUND: from a multiple down to the least number that is rounded to it */
  int128 *bounds; /* CUTS: ascending */
  size_t n_bounds;
} number_level;

typedef struct number_state {
  const int64_t *numbers; /* by value; times the line's factor: on the line */
  shoal_number_line line;
  int128 origin;
  number_level *levels;
} number_state;

/* The column's numbers and n_levels empty levels, of at least `scale`. */
static shoal_status start_numbers(shoal_builder *builder, unsigned scale, size_t n_levels,
                                  number_state **state, shoal_error *error) {
  if (n_levels >= SHOAL_MAX_LEVELS)
    return shoal_builder_fail(builder, error, "the hierarchy has more than %d levels",
                              SHOAL_MAX_LEVELS);
  int64_t *numbers;
  unsigned column_scale;
  SHOAL_TRY(shoal_column_numbers(builder->table, builder->column, &numbers, &column_scale, error));
  builder->owned = numbers;
  *state = shoal_arena_alloc(&builder->arena, 1, sizeof **state);
  if (!*state) return shoal_fail_memory(error);
  **state = (number_state){.numbers = numbers,
                           .line = shoal_line_make(scale, column_scale, &builder->column->coding)};
  (*state)->levels = shoal_arena_alloc(&builder->arena, n_levels, sizeof *(*state)->levels);
  if (!(*state)->levels) return shoal_fail_memory(error);
  builder->state = *state;
  builder->height = (uint32_t)n_levels + 1;
  return SHOAL_OK;
}

/* An interval of one whole number: spelled as that number, not to be a second spelling of it. */
static bool is_value(const shoal_builder *builder, int128 low, int128 end) {
  const number_state *state = builder->state;
  return builder->options->equality & SHOAL_EQUAL_NUMBERS && state->line.scale == 0 &&
         end - low == 1;
}

/* ------------------------------------------------------------ intervals */

static shoal_label interval_label(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                                  char *scratch) {
  const number_state *state = builder->state;
  int128 width = state->levels[level - 1].width;
  int128 above = state->numbers[leaf] * state->line.factor - state->origin;
  int128 low = state->origin + shoal_line_floor(above, width);
  if (is_value(builder, low, low + width)) return shoal_strings_get(&builder->leaves, leaf);
  return shoal_line_label(&state->line, low, low + width, scratch);
}

/* ---- widths that suit the data */

enum { MOST_INTERVALS = 40, MAX_AUTO_LEVELS = 64 };

/* The range of the first n values that are not missing, and how many they are. */
static int128 measure_values(const shoal_builder *builder, uint32_t n, uint32_t *n_numbers) {
  const number_state *state = builder->state;
  int64_t least = INT64_MAX, most = INT64_MIN;
  *n_numbers = 0;
  for (uint32_t v = 0; v < n; v++) {
    if (shoal_column_missing(builder->column, v)) continue;
    ++*n_numbers;
    if (state->numbers[v] < least) least = state->numbers[v];
    if (state->numbers[v] > most) most = state->numbers[v];
  }
  return *n_numbers ? ((int128)most - least) * state->line.factor : 0;
}

/*
 * The first width is the least of 2, 5, 10, 20, 50, ... that makes at most 40 intervals, and at
 * most half as many as there are values. The next ones are 5 -> 10, 10 -> 20, 20 -> 100, as long as
 * they are below the range.
 */
static void choose_widths(shoal_builder *builder) {
  const number_state *state = builder->state;
  uint32_t n = builder->options->n_measured, n_numbers;
  if (n == 0 || n > builder->column->n_values) n = builder->column->n_values;
  int128 range = measure_values(builder, n, &n_numbers), width = 1;
  uint32_t most = n_numbers / 2 < MOST_INTERVALS ? n_numbers / 2 : MOST_INTERVALS;
  unsigned digit = 1; /* the first of the width: 1, 2 or 5 */
  while (width < 2 || (width < range && width * most < range)) {
    width = digit == 2 ? width / 2 * 5 : width * 2;
    digit = digit == 1 ? 2 : digit == 2 ? 5 : 1;
  }
  size_t n_levels = 0;
  while (width < range && n_levels < MAX_AUTO_LEVELS) {
    state->levels[n_levels++] = (number_level){.width = width};
    width *= digit == 2 ? 5 : 2;
    digit = digit == 1 ? 2 : 1;
  }
  builder->height = (uint32_t)n_levels + 1;
}

/* The scale that all widths need; with `halved`, also their halves. */
static shoal_status scale_of_widths(const shoal_builder *builder, bool halved, unsigned *scale,
                                    shoal_error *error) {
  const shoal_hierarchy_spec *spec = builder->spec;
  for (size_t i = 0; i < spec->n_widths; i++) {
    if (spec->widths[i].mantissa <= 0)
      return shoal_builder_fail(builder, error, "the width of an interval must be above 0");
    shoal_line_widen(scale, spec->widths[i]);
  }
  *scale += halved;
  return SHOAL_OK;
}

static void fill_widths(const number_state *state, const shoal_hierarchy_spec *spec) {
  for (size_t i = 0; i < spec->n_widths; i++)
    state->levels[i] = (number_level){.width = shoal_line_at(&state->line, spec->widths[i])};
}

shoal_status shoal_intervals_start(shoal_builder *builder, shoal_error *error) {
  const shoal_hierarchy_spec *spec = builder->spec;
  unsigned scale = 0;
  shoal_line_widen(&scale, spec->origin);
  SHOAL_TRY(scale_of_widths(builder, false, &scale, error));
  number_state *state = NULL;
  size_t n_levels = spec->auto_widths ? MAX_AUTO_LEVELS : spec->n_widths;
  SHOAL_TRY(start_numbers(builder, scale, n_levels, &state, error));
  assert(state);
  state->origin = shoal_line_at(&state->line, spec->origin);
  if (spec->auto_widths) choose_widths(builder);
  else fill_widths(state, spec);
  builder->label = interval_label;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ round */

/*
 * "[1200±50]": the numbers from 1150 to below 1250. Rounding in steps moves the borders of the
 * higher levels: 145 to 154 are 150 and then 200, so 200 has the numbers from 145 to below 245. Its
 * label "[200±55]" reaches at least that far on both sides.
 */
static shoal_label round_label(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                               char *scratch) {
  const number_state *state = builder->state;
  const number_level *at_level = &state->levels[level - 1];
  const shoal_number_line *line = &state->line;
  /* The nearest multiple of each width in turn; a half goes up. */
  int128 number = state->numbers[leaf] * line->factor;
  for (uint32_t l = 0; l < level; l++) {
    int128 width = state->levels[l].width;
    number = shoal_line_floor(2 * number + width, 2 * width) / 2;
  }
  int128 centre = number;
  int128 low = centre - at_level->reach, end = low + at_level->width;
  bool above = line->has_top && centre + at_level->reach > line->top;
  if (above || (line->has_bottom && low <= line->bottom)) /* its label would tell too much */
    return shoal_line_label(line, low, end, scratch);
  char *at = scratch;
  *at++ = '[';
  at = shoal_line_print(line, at, centre);
  memcpy(at, "\xc2\xb1", 2);
  at = shoal_line_print(line, at + 2, at_level->reach);
  *at++ = ']';
  return (shoal_label){scratch, (size_t)(at - scratch)};
}

shoal_status shoal_round_start(shoal_builder *builder, shoal_error *error) {
  const shoal_hierarchy_spec *spec = builder->spec;
  unsigned scale = 0;
  SHOAL_TRY(scale_of_widths(builder, true, &scale, error));
  if (scale > SHOAL_MAX_SCALE)
    return shoal_builder_fail(builder, error, "a width has more than %d decimals: use fewer",
                              SHOAL_MAX_SCALE - 1);
  number_state *state = NULL;
  SHOAL_TRY(start_numbers(builder, scale, spec->n_widths, &state, error));
  assert(state);
  fill_widths(state, spec);
  for (size_t i = 0; i < spec->n_widths; i++) {
    number_level *level = &state->levels[i];
    const number_level *below = i ? level - 1 : NULL;
    int128 shift = below ? below->reach - below->width / 2 : 0;
    if (below && level->width / below->width % 2 == 0) shift += below->width / 2;
    level->reach = level->width / 2 + shift;
  }
  builder->label = round_label;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ cuts */

static shoal_label cut_label(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                             char *scratch) {
  const number_state *state = builder->state;
  const number_level *cuts = &state->levels[level - 1];
  int128 number = state->numbers[leaf] * state->line.factor;
  size_t low = 0, high = cuts->n_bounds; /* number of bounds <= number */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (cuts->bounds[middle] <= number) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return shoal_line_below(&state->line, cuts->bounds[0], scratch);
  if (low == cuts->n_bounds) return shoal_line_from(&state->line, cuts->bounds[low - 1], scratch);
  if (is_value(builder, cuts->bounds[low - 1], cuts->bounds[low]))
    return shoal_strings_get(&builder->leaves, leaf);
  return shoal_line_label(&state->line, cuts->bounds[low - 1], cuts->bounds[low], scratch);
}

static shoal_status fill_cuts(shoal_builder *builder, const number_state *state,
                              shoal_error *error) {
  for (size_t i = 0; i < builder->spec->n_cuts; i++) {
    const shoal_cut_level *asked = &builder->spec->cuts[i];
    number_level *level = &state->levels[i];
    *level = (number_level){.n_bounds = asked->n_bounds};
    level->bounds = shoal_arena_alloc(&builder->arena, asked->n_bounds, sizeof *level->bounds);
    if (!level->bounds) return shoal_fail_memory(error);
    for (size_t b = 0; b < asked->n_bounds; b++) {
      level->bounds[b] = shoal_line_at(&state->line, asked->bounds[b]);
      if (b && level->bounds[b] <= level->bounds[b - 1])
        return shoal_builder_fail(
            builder, error, "bound %zu of level %zu is not above the one before it", b + 1, i + 1);
    }
  }
  return SHOAL_OK;
}

shoal_status shoal_cuts_start(shoal_builder *builder, shoal_error *error) {
  const shoal_hierarchy_spec *spec = builder->spec;
  unsigned scale = 0;
  for (size_t i = 0; i < spec->n_cuts; i++) {
    if (spec->cuts[i].n_bounds == 0)
      return shoal_builder_fail(builder, error, "level %zu has no bounds: give one or more", i + 1);
    for (size_t b = 0; b < spec->cuts[i].n_bounds; b++)
      shoal_line_widen(&scale, spec->cuts[i].bounds[b]);
  }
  number_state *state = NULL;
  SHOAL_TRY(start_numbers(builder, scale, spec->n_cuts, &state, error));
  assert(state);
  SHOAL_TRY(fill_cuts(builder, state, error));
  builder->label = cut_label;
  return SHOAL_OK;
}
