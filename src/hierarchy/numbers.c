/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/numbers: the kinds "intervals" and "cuts", and a column's values as numbers.
 *
 * All arithmetic is exact. Numbers, widths and bounds are integers of one common scale, at most
 * 9.3e18 x 1e18, which 128 bits hold with room for the few sums formed here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy/builder.h"
#include "table/bad_cells.h"

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/* ------------------------------------------------------------ a column as numbers */

static const shoal_cell_fault NOT_A_NUMBER = {
    "is not a number", "are not numbers",
    "correct it, list it under data.missing if it means unknown, or add 'otherwise: missing'; "
    "decimal commas need data: {decimal: \",\"}",
    "correct them, list them under data.missing if they mean unknown, or add 'otherwise: "
    "missing'; decimal commas need data: {decimal: \",\"}"};
static const shoal_cell_fault TOO_LONG = {"is a number of more than 18 digits",
                                          "are numbers of more than 18 digits", "round it",
                                          "round them"};
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
    shoal_number status = shoal_decimal_parse(bytes, size_bytes, &decimals[v]);
    bad[v] = (uint8_t)status;
    if (status == SHOAL_NUMBER_NOT || worst == SHOAL_NUMBER_OK) worst = status;
    if (decimals[v].scale > *scale) *scale = decimals[v].scale;
  }
  if (worst == SHOAL_NUMBER_OK) return SHOAL_OK;
  for (uint32_t v = 0; v < column->n_values; v++) bad[v] = bad[v] == worst;
  const shoal_cell_fault *fault = worst == SHOAL_NUMBER_NOT ? &NOT_A_NUMBER : &TOO_LONG;
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
  shoal_cell_fault fault = {is, are, advice, advice};
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
  int128 width;   /* INTERVALS */
  int128 *bounds; /* CUTS: ascending */
  size_t n_bounds;
} number_level;

typedef struct number_state {
  const int64_t *numbers; /* by value; times factor: of the common scale */
  int128 factor;
  unsigned scale; /* 0: all are whole numbers */
  int128 origin;
  number_level *levels;
} number_state;

static int128 power_of_ten(unsigned exponent) {
  int128 power = 1;
  while (exponent--) power *= 10;
  return power;
}

/* The decimals without trailing zeros: 50 x 10^-1 has none. */
static unsigned decimals_needed(shoal_decimal number) {
  while (number.scale && number.mantissa % 10 == 0) {
    number.mantissa /= 10;
    number.scale--;
  }
  return number.scale;
}

static int128 at_scale(shoal_decimal number, unsigned scale) {
  while (number.scale > scale) { /* drops zeros only */
    number.mantissa /= 10;
    number.scale--;
  }
  return number.mantissa * power_of_ten(scale - number.scale);
}

static void widen_scale(unsigned *scale, shoal_decimal number) {
  unsigned needed = decimals_needed(number);
  if (needed > *scale) *scale = needed;
}

/* Writes number x 10^-scale without trailing zeros, at most 41 bytes; returns its end. */
static char *print_number(char *out, int128 number, unsigned scale) {
  for (; scale && number % 10 == 0; scale--) number /= 10;
  uint128 rest = number < 0 ? -(uint128)number : (uint128)number;
  char digits[48]; /* in reverse */
  unsigned n = 0;
  for (unsigned position = 0; rest || position <= scale; position++) {
    if (scale && position == scale) digits[n++] = '.';
    digits[n++] = (char)('0' + (unsigned)(rest % 10));
    rest /= 10;
  }
  if (number < 0) *out++ = '-';
  while (n--) *out++ = digits[n];
  return out;
}

/* "[low-high]" of whole numbers, "low" if they are equal; otherwise "[low-end)". */
static shoal_label print_range(unsigned scale, int128 low, int128 end, char *scratch) {
  bool whole = scale == 0;
  if (whole && end - low == 1)
    return (shoal_label){scratch, (size_t)(print_number(scratch, low, 0) - scratch)};
  char *at = scratch;
  *at++ = '[';
  at = print_number(at, low, scale);
  *at++ = '-';
  at = print_number(at, whole ? end - 1 : end, scale);
  *at++ = whole ? ']' : ')';
  return (shoal_label){scratch, (size_t)(at - scratch)};
}

/* The multiple of `width` at or below the number. */
static int128 floor_to(int128 number, int128 width) {
  return (number / width - (number % width < 0)) * width;
}

/* Numbers and widths of one scale. */
typedef struct grid {
  unsigned scale;
  int128 factor; /* from the column's scale */
  int128 width;
} grid;

static grid grid_of(unsigned scale, shoal_decimal width) {
  unsigned common = scale;
  widen_scale(&common, width);
  return (grid){common, power_of_ten(common - scale), at_scale(width, common)};
}

size_t shoal_snapped_label(int64_t low, int64_t high, unsigned scale, shoal_decimal width,
                           char *out) {
  grid g = grid_of(scale, width);
  return print_range(g.scale, floor_to(low * g.factor, g.width),
                     floor_to(high * g.factor, g.width) + g.width, out)
      .size_bytes;
}

void shoal_snapped_ends(int64_t number, int64_t least, int64_t most, unsigned scale,
                        shoal_decimal width, uint64_t *low, uint64_t *high) {
  grid g = grid_of(scale, width);
  int128 first = least * g.factor, last = most * g.factor;
  int128 from = floor_to(number * g.factor, g.width);
  int128 to = from + g.width - (g.scale == 0); /* whole numbers: the label has the last one */
  unsigned dropped = 0;                        /* bits */
  while (last - first > (int128)UINT64_MAX << dropped) dropped++;
  *low = (uint64_t)((from > first ? from - first : 0) >> dropped);
  *high = (uint64_t)((to < last ? to - first : last - first) >> dropped);
}

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
  **state = (number_state){.numbers = numbers, .scale = scale};
  if (column_scale > scale) (*state)->scale = column_scale;
  (*state)->factor = power_of_ten((*state)->scale - column_scale);
  (*state)->levels = shoal_arena_alloc(&builder->arena, n_levels, sizeof *(*state)->levels);
  if (!(*state)->levels) return shoal_fail_memory(error);
  builder->state = *state;
  builder->height = (uint32_t)n_levels + 1;
  return SHOAL_OK;
}

/* An interval of one whole number: spelled as that number, not to be a second spelling of it. */
static bool is_value(const shoal_builder *builder, unsigned scale, int128 low, int128 end) {
  return builder->options->equality & SHOAL_EQUAL_NUMBERS && scale == 0 && end - low == 1;
}

/* ------------------------------------------------------------ intervals */

static shoal_label interval_label(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                                  char *scratch) {
  const number_state *state = builder->state;
  int128 width = state->levels[level - 1].width;
  int128 above = state->numbers[leaf] * state->factor - state->origin;
  int128 low = state->origin + floor_to(above, width);
  if (is_value(builder, state->scale, low, low + width))
    return shoal_strings_get(&builder->leaves, leaf);
  return print_range(state->scale, low, low + width, scratch);
}

shoal_status shoal_intervals_start(shoal_builder *builder, shoal_error *error) {
  const shoal_hierarchy_spec *spec = builder->spec;
  unsigned scale = 0;
  widen_scale(&scale, spec->origin);
  for (size_t i = 0; i < spec->n_widths; i++) {
    if (spec->widths[i].mantissa <= 0)
      return shoal_builder_fail(builder, error, "the width of an interval must be above 0");
    widen_scale(&scale, spec->widths[i]);
  }
  number_state *state;
  SHOAL_TRY(start_numbers(builder, scale, spec->n_widths, &state, error));
  state->origin = at_scale(spec->origin, state->scale);
  for (size_t i = 0; i < spec->n_widths; i++)
    state->levels[i] = (number_level){.width = at_scale(spec->widths[i], state->scale)};
  builder->label = interval_label;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ cuts */

static shoal_label cut_label(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                             char *scratch) {
  const number_state *state = builder->state;
  const number_level *cuts = &state->levels[level - 1];
  int128 number = state->numbers[leaf] * state->factor;
  size_t low = 0, high = cuts->n_bounds; /* number of bounds <= number */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (cuts->bounds[middle] <= number) low = middle + 1;
    else high = middle;
  }
  char *at = scratch;
  if (low == 0) {
    *at++ = '<';
    at = print_number(at, cuts->bounds[0], state->scale);
  } else if (low == cuts->n_bounds) {
    *at++ = '>';
    *at++ = '=';
    at = print_number(at, cuts->bounds[low - 1], state->scale);
  } else if (is_value(builder, state->scale, cuts->bounds[low - 1], cuts->bounds[low])) {
    return shoal_strings_get(&builder->leaves, leaf);
  } else {
    return print_range(state->scale, cuts->bounds[low - 1], cuts->bounds[low], scratch);
  }
  return (shoal_label){scratch, (size_t)(at - scratch)};
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
      level->bounds[b] = at_scale(asked->bounds[b], state->scale);
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
      widen_scale(&scale, spec->cuts[i].bounds[b]);
  }
  number_state *state;
  SHOAL_TRY(start_numbers(builder, scale, spec->n_cuts, &state, error));
  SHOAL_TRY(fill_cuts(builder, state, error));
  builder->label = cut_label;
  return SHOAL_OK;
}
