/* SPDX-License-Identifier: Apache-2.0 */
/* hierarchy/number_line: numbers of one scale, labels of ranges, and intervals on a grid. */
#include "hierarchy/number_line.h"

#include <string.h>

#include "hierarchy/hierarchy.h"

static shoal_int128 power_of_ten(unsigned exponent) {
  shoal_int128 power = 1;
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

void shoal_line_widen(unsigned *scale, shoal_decimal number) {
  unsigned needed = decimals_needed(number);
  if (needed > *scale) *scale = needed;
}

shoal_int128 shoal_line_at(const shoal_number_line *line, shoal_decimal number) {
  while (number.scale > line->scale) { /* drops zeros only */
    number.mantissa /= 10;
    number.scale--;
  }
  return number.mantissa * power_of_ten(line->scale - number.scale);
}

shoal_number_line shoal_line_make(unsigned scale, unsigned column_scale,
                                  const shoal_coding *coding) {
  shoal_number_line line = {.scale = column_scale > scale ? column_scale : scale,
                            .has_top = coding->has_top,
                            .has_bottom = coding->has_bottom};
  if (line.has_top) shoal_line_widen(&line.scale, coding->top);
  if (line.has_bottom) shoal_line_widen(&line.scale, coding->bottom);
  line.factor = power_of_ten(line.scale - column_scale);
  if (line.has_top) line.top = shoal_line_at(&line, coding->top);
  if (line.has_bottom) line.bottom = shoal_line_at(&line, coding->bottom);
  return line;
}

shoal_int128 shoal_line_floor(shoal_int128 number, shoal_int128 width) {
  return (number / width - (number % width < 0)) * width;
}

char *shoal_line_print(const shoal_number_line *line, char *out, shoal_int128 number) {
  unsigned scale = line->scale;
  for (; scale && number % 10 == 0; scale--) number /= 10;
  shoal_uint128 rest = number < 0 ? -(shoal_uint128)number : (shoal_uint128)number;
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

/* ------------------------------------------------------------ labels */

/* The sign, then the number. */
static shoal_label print_bound(const shoal_number_line *line, const char *sign, shoal_int128 number,
                               char *out) {
  size_t size = strlen(sign);
  memcpy(out, sign, size);
  return (shoal_label){out, (size_t)(shoal_line_print(line, out + size, number) - out)};
}

static shoal_label print_star(char *out) {
  *out = '*';
  return (shoal_label){out, 1};
}

shoal_label shoal_line_below(const shoal_number_line *line, shoal_int128 end, char *out) {
  if (line->has_top && end > line->top) return print_star(out);
  return print_bound(line, "<", end, out);
}

shoal_label shoal_line_from(const shoal_number_line *line, shoal_int128 low, char *out) {
  if (line->has_bottom && low <= line->bottom) return print_star(out);
  return print_bound(line, ">=", low, out);
}

static shoal_label print_range(const shoal_number_line *line, shoal_int128 low, shoal_int128 end,
                               char *out) {
  bool whole = line->scale == 0;
  char *at = out;
  *at++ = '[';
  at = shoal_line_print(line, at, low);
  const char *between = low < 0 ? " to " : "-";
  memcpy(at, between, strlen(between));
  at = shoal_line_print(line, at + strlen(between), whole ? end - 1 : end);
  *at++ = whole ? ']' : ')';
  return (shoal_label){out, (size_t)(at - out)};
}

shoal_label shoal_line_label(const shoal_number_line *line, shoal_int128 low, shoal_int128 end,
                             char *out) {
  bool single = line->scale == 0 && end - low == 1;
  bool above = line->has_top && end > line->top, below = line->has_bottom && low <= line->bottom;
  if (above) return shoal_line_from(line, low, out);
  if (below && line->scale == 0) return print_bound(line, "<=", end - 1, out);
  if (below) return shoal_line_below(line, end, out);
  return single ? print_bound(line, "", low, out) : print_range(line, low, end, out);
}

/* ------------------------------------------------------------ intervals on a grid */

static shoal_number_line line_of(unsigned scale, shoal_decimal width, const shoal_coding *coding) {
  unsigned common = scale;
  shoal_line_widen(&common, width);
  return shoal_line_make(common, scale, coding);
}

size_t shoal_snapped_label(int64_t low, int64_t high, unsigned scale, shoal_decimal width,
                           const shoal_coding *coding, char *out) {
  shoal_number_line line = line_of(scale, width, coding);
  shoal_int128 step = shoal_line_at(&line, width);
  return shoal_line_label(&line, shoal_line_floor(low * line.factor, step),
                          shoal_line_floor(high * line.factor, step) + step, out)
      .size_bytes;
}

void shoal_snapped_ends(int64_t number, int64_t least, int64_t most, unsigned scale,
                        shoal_decimal width, uint64_t *low, uint64_t *high) {
  shoal_number_line line = line_of(scale, width, &(shoal_coding){0});
  shoal_int128 step = shoal_line_at(&line, width);
  shoal_int128 first = least * line.factor, last = most * line.factor;
  shoal_int128 from = shoal_line_floor(number * line.factor, step);
  shoal_int128 to = from + step - (line.scale == 0); /* whole numbers: the label has the last one */
  unsigned dropped = 0;                              /* bits */
  while (last - first > (shoal_int128)UINT64_MAX << dropped) dropped++;
  *low = (uint64_t)((from > first ? from - first : 0) >> dropped);
  *high = (uint64_t)((to < last ? to - first : last - first) >> dropped);
}
