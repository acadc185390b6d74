/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/cover_bring: values that a label brings into a domain which the columns do not complete.
 * Nobody gave the original; still "[20-29]" is part of "[0-49]", "1999-05" of "1999", "4310*" of
 * "43***". Each label brings one or two values that it surely stands for; the hierarchy is then
 * built above them, and what one label covers of another follows from these.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "measure/cover_parts.h"

static shoal_status intern(shoal_strings *known, shoal_label value, shoal_error *error) {
  return shoal_strings_intern(known, value) == SHOAL_NO_ID ? shoal_fail_memory(error) : SHOAL_OK;
}

static shoal_status bring_number(shoal_strings *known, shoal_decimal number, shoal_error *error) {
  char text[32];
  shoal_decimal_print(number.mantissa, number.scale, text);
  return intern(known, (shoal_label){text, strlen(text)}, error);
}

/* One away from an end: a number of a range that has no other end. */
static shoal_decimal step_from(shoal_decimal end, bool up) {
  int64_t one = (int64_t)shoal_power_of_ten(end.scale);
  end.mantissa += up ? one : -one;
  return end;
}

/* A number between two ends: exact, as the sum of both at one more decimal, times 5. */
static bool middle(const shoal_range *range, shoal_decimal *number) {
  unsigned scale = range->low.scale > range->high.scale ? range->low.scale : range->high.scale;
  int64_t low, high, sum;
  if (scale >= 18 || !shoal_decimal_rescale(range->low, scale, &low) ||
      !shoal_decimal_rescale(range->high, scale, &high) ||
      __builtin_add_overflow(low, high, &sum) || __builtin_mul_overflow(sum, (int64_t)5, &sum))
    return false;
  *number = (shoal_decimal){sum, scale + 1};
  return true;
}

/* The ends that are part of the range; where none is, a number inside. */
static shoal_status bring_range(shoal_strings *known, const shoal_range *range,
                                shoal_error *error) {
  bool low = range->has_low && !range->low_open, high = range->has_high && !range->high_open;
  if (low) SHOAL_TRY(bring_number(known, range->low, error));
  if (high) SHOAL_TRY(bring_number(known, range->high, error));
  if (low || high) return SHOAL_OK;
  shoal_decimal inside;
  if (range->has_low && range->has_high)
    return middle(range, &inside) ? bring_number(known, inside, error) : SHOAL_OK;
  inside = range->has_low ? step_from(range->low, true) : step_from(range->high, false);
  return bring_number(known, inside, error);
}

static bool digits(const char *bytes, size_t n, unsigned *number) {
  *number = 0;
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] < '0' || bytes[i] > '9') return false;
    *number = *number * 10 + (unsigned)(bytes[i] - '0');
  }
  return true;
}

/* "1999", "1999-05", "[1995-1999]": the first month of it. */
static bool read_period(shoal_label label, unsigned *year, unsigned *month) {
  *month = 1;
  const char *s = label.bytes;
  switch (label.size_bytes) {
  case 4: return digits(s, 4, year);
  case 7: return digits(s, 4, year) && s[4] == '-' && digits(s + 5, 2, month);
  case 11: return s[0] == '[' && digits(s + 1, 4, year) && s[5] == '-' && s[10] == ']';
  default: return false;
  }
}

/* The first day of a month, as the format writes it; 0: it does not fit. */
static size_t print_date(const char *format, unsigned year, unsigned month, char *out,
                         size_t room) {
  size_t at = 0;
  while (*format && at + 5 < room) {
    size_t took = 1;
    if (strncmp(format, "YYYY", 4) == 0) {
      at += (size_t)snprintf(out + at, room - at, "%04u", year % 10000);
      took = 4;
    } else if (strncmp(format, "YY", 2) == 0) {
      at += (size_t)snprintf(out + at, room - at, "%02u", year % 100);
      took = 2;
    } else if (strncmp(format, "MM", 2) == 0 || strncmp(format, "DD", 2) == 0) {
      at += (size_t)snprintf(out + at, room - at, "%02u", *format == 'M' ? month % 100 : 1);
      took = 2;
    } else {
      out[at++] = *format;
    }
    format += took;
  }
  return *format ? 0 : at;
}

/* Only what the hierarchy takes for a date is brought: the rest stays unknown. */
static shoal_status bring_date(const shoal_domain_request *request, shoal_label label,
                               shoal_strings *known, shoal_error *error) {
  char text[256];
  unsigned year, month;
  if (read_period(label, &year, &month)) {
    size_t size =
        print_date(request->attribute->hierarchy.date_format, year, month, text, sizeof text);
    if (size == 0) return SHOAL_OK;
    label = (shoal_label){text, size};
  }
  uint64_t offsets[2] = {0, label.size_bytes};
  shoal_column one = {.name = request->attribute->name,
                      .n_values = 1,
                      .bytes = (char *)label.bytes,
                      .offsets = offsets};
  shoal_hierarchy_options options = shoal_domain_hierarchy_options(request);
  shoal_hierarchy *hierarchy;
  shoal_error ignored;
  shoal_status status = shoal_hierarchy_compile(&request->attribute->hierarchy, NULL, &one,
                                                &options, &hierarchy, &ignored);
  if (status == SHOAL_FAILED) return shoal_fail_memory(error);
  if (status != SHOAL_OK) return SHOAL_OK;
  shoal_hierarchy_free(hierarchy);
  return intern(known, label, error);
}

shoal_status shoal_label_bring(const shoal_domain_request *request, shoal_label label,
                               shoal_strings *known, shoal_error *error) {
  const shoal_attribute *attribute = request->attribute;
  shoal_hierarchy_kind kind = attribute->hierarchy.kind;
  bool tree = attribute->has_hierarchy;
  if (shoal_spec_has_leaves(attribute)) return SHOAL_OK;
  if (tree && kind == SHOAL_HIERARCHY_DATE) return bring_date(request, label, known, error);
  bool number = attribute->type == SHOAL_TYPE_NUMBER ||
                (tree && (kind == SHOAL_HIERARCHY_INTERVALS || kind == SHOAL_HIERARCHY_CUTS));
  if (!number) return intern(known, label, error);
  shoal_spelling spelling = shoal_label_parse(label.bytes, label.size_bytes);
  if (spelling.form == SHOAL_FORM_NUMBER || spelling.form == SHOAL_FORM_INTERVAL)
    return bring_range(known, &spelling.range, error);
  return SHOAL_OK;
}
