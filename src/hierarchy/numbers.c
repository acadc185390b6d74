/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/numbers: the kinds "intervals" and "cuts", and a column's values as numbers.
 *
 * All arithmetic is exact. Numbers, widths and bounds are integers of one common scale, at most
 * 9.3e18 x 1e18, which 128 bits hold with room for the few sums formed here.
 */
#include <stdlib.h>
#include <string.h>

#include "hierarchy/builder.h"

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/* ------------------------------------------------------------ a column as numbers */

/* Parses every value; *scale: their largest scale. */
static shoal_status parse_values(const shoal_table *table, const shoal_column *column,
                                 shoal_decimal *decimals, unsigned *scale, shoal_error *error) {
  for (uint32_t v = 0; v < column->n_values; v++) {
    decimals[v] = (shoal_decimal){0, 0};
    if (shoal_column_missing(column, v)) continue;
    size_t size_bytes;
    const char *bytes = shoal_column_value(column, v, &size_bytes);
    switch (shoal_decimal_parse(bytes, size_bytes, &decimals[v])) {
    case SHOAL_NUMBER_OK: break;
    case SHOAL_NUMBER_NOT:
      return shoal_value_fail(table, column, v, error,
                              "the cell is not a number; correct it, or list it under data.missing "
                              "if it means unknown");
    case SHOAL_NUMBER_TOO_LONG:
      return shoal_value_fail(table, column, v, error,
                              "the cell is a number of more than 18 digits; round it");
    }
    if (decimals[v].scale > *scale) *scale = decimals[v].scale;
  }
  return SHOAL_OK;
}

static shoal_status rescale_values(const shoal_table *table, const shoal_column *column,
                                   const shoal_decimal *decimals, unsigned scale, int64_t *numbers,
                                   shoal_error *error) {
  for (uint32_t v = 0; v < column->n_values; v++)
    if (!shoal_decimal_rescale(decimals[v], scale, &numbers[v]))
      return shoal_value_fail(table, column, v, error,
                              "the cell is too large for a column with %u decimals; round the "
                              "decimals of the column",
                              scale);
  return SHOAL_OK;
}

shoal_status shoal_column_numbers(const shoal_table *table, const shoal_column *column,
                                  int64_t **numbers, unsigned *scale, shoal_error *error) {
  *numbers = NULL;
  *scale = 0;
  int64_t *made = shoal_alloc(column->n_values, sizeof *made);
  shoal_decimal *decimals = shoal_alloc(column->n_values, sizeof *decimals);
  shoal_status status = SHOAL_OK;
  if (!made || !decimals) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = parse_values(table, column, decimals, scale, error);
  if (status == SHOAL_OK) status = rescale_values(table, column, decimals, *scale, made, error);
  free(decimals);
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

size_t shoal_snapped_label(int64_t low, int64_t high, unsigned scale, shoal_decimal width,
                           char *out) {
  unsigned common = scale;
  widen_scale(&common, width);
  int128 factor = power_of_ten(common - scale), step = at_scale(width, common);
  return print_range(common, floor_to(low * factor, step), floor_to(high * factor, step) + step,
                     out)
      .size_bytes;
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
