/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/arrow: types and buffers of the Arrow C data interface
 * (https://arrow.apache.org/docs/format/CDataInterface.html).
 */
#include "read/arrow.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ types */

/* "d:10,2" or "d:10,2,256" */
static void read_decimal(const char *format, shoal_arrow_type *type) {
  char *end;
  long precision = strtol(format, &end, 10), scale, bits = 128;
  if (*end != ',') return;
  scale = strtol(end + 1, &end, 10);
  if (*end == ',') bits = strtol(end + 1, &end, 10);
  bool known = bits == 32 || bits == 64 || bits == 128 || bits == 256;
  if (*end || !known || precision < 1 || precision > 76 || scale < -300 || scale > 300) return;
  type->kind = SHOAL_ARROW_DECIMAL;
  type->width = (unsigned)bits / 8;
  type->scale = (int)scale;
}

/* Units a second of 's', 'm', 'u' and 'n'; 0: no unit. */
static uint64_t units_of(char unit) {
  return unit == 's'   ? 1
         : unit == 'm' ? 1000
         : unit == 'u' ? 1000000
         : unit == 'n' ? 1000000000
                       : 0;
}

static void read_temporal(const char *format, shoal_arrow_type *type) {
  char kind = format[0], unit = kind ? format[1] : '\0';
  uint64_t per_second = unit ? units_of(unit) : 0;
  bool ends = unit && !format[2];
  if (kind == 'd' && ends && (unit == 'D' || unit == 'm')) {
    type->kind = SHOAL_ARROW_DATE;
    type->width = unit == 'D' ? 4 : 8;
    type->per_second = unit == 'D' ? 0 : 1000;
  } else if (kind == 't' && ends && per_second) {
    type->kind = SHOAL_ARROW_TIME;
    type->width = per_second <= 1000 ? 4 : 8;
    type->per_second = per_second;
  } else if (kind == 's' && per_second && format[2] == ':') {
    type->kind = SHOAL_ARROW_TIMESTAMP;
    type->width = 8;
    type->per_second = per_second;
    type->has_zone = format[3] != '\0';
  }
}

static shoal_arrow_type plain_type(const char *format) {
  static const struct {
    const char *format;
    shoal_arrow_kind kind;
    unsigned width;
  } known[] = {
      {"n", SHOAL_ARROW_NULL, 0},        {"b", SHOAL_ARROW_BOOL, 0},  {"c", SHOAL_ARROW_INT, 1},
      {"s", SHOAL_ARROW_INT, 2},         {"i", SHOAL_ARROW_INT, 4},   {"l", SHOAL_ARROW_INT, 8},
      {"C", SHOAL_ARROW_UINT, 1},        {"S", SHOAL_ARROW_UINT, 2},  {"I", SHOAL_ARROW_UINT, 4},
      {"L", SHOAL_ARROW_UINT, 8},        {"e", SHOAL_ARROW_FLOAT, 2}, {"f", SHOAL_ARROW_FLOAT, 4},
      {"g", SHOAL_ARROW_FLOAT, 8},       {"u", SHOAL_ARROW_TEXT, 4},  {"U", SHOAL_ARROW_TEXT, 8},
      {"vu", SHOAL_ARROW_VIEWS, 16},     {"z", SHOAL_ARROW_BYTES, 4}, {"Z", SHOAL_ARROW_BYTES, 8},
      {"vz", SHOAL_ARROW_BYTE_VIEWS, 16}};
  shoal_arrow_type type = {.kind = SHOAL_ARROW_OPAQUE};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(format, known[i].format) == 0) {
      type.kind = known[i].kind;
      type.width = known[i].width;
    }
  if (strncmp(format, "d:", 2) == 0) read_decimal(format + 2, &type);
  if (format[0] == 't') read_temporal(format + 1, &type);
  return type;
}

bool shoal_arrow_type_of(const struct ArrowSchema *schema, shoal_arrow_type *type) {
  if (!schema || !schema->release || !schema->format) return false;
  *type = plain_type(schema->format);
  if (!schema->dictionary) return true;
  shoal_arrow_type index = *type;
  const struct ArrowSchema *values = schema->dictionary;
  if (!values->format || (index.kind != SHOAL_ARROW_INT && index.kind != SHOAL_ARROW_UINT))
    return false;
  if (values->dictionary) *type = (shoal_arrow_type){.kind = SHOAL_ARROW_OPAQUE};
  else *type = plain_type(values->format);
  type->index_width = index.width;
  type->index_signed = index.kind == SHOAL_ARROW_INT;
  return true;
}

/* ------------------------------------------------------------ buffers */

/* Integer `at` of `width` bytes. */
static uint64_t load(const void *values, unsigned width, uint64_t at, bool is_signed) {
  const char *from = (const char *)values + at * width;
  uint8_t one;
  uint16_t two;
  uint32_t four;
  uint64_t eight;
  switch (width) {
  case 1: memcpy(&one, from, 1); return is_signed ? (uint64_t)(int8_t)one : one;
  case 2: memcpy(&two, from, 2); return is_signed ? (uint64_t)(int16_t)two : two;
  case 4: memcpy(&four, from, 4); return is_signed ? (uint64_t)(int32_t)four : four;
  default: memcpy(&eight, from, 8); return eight;
  }
}

static const char *check_offsets(const struct ArrowArray *array, shoal_arrow_cells *cells) {
  cells->bytes = array->buffers[2];
  cells->end = shoal_arrow_offset(cells, cells->n);
  if (cells->end > 0 && !cells->bytes && shoal_arrow_offset(cells, 0) != cells->end)
    return "its data buffer is NULL";
  return NULL;
}

const char *shoal_arrow_cells_of(const struct ArrowArray *array, const shoal_arrow_type *type,
                                 shoal_arrow_cells *cells) {
  *cells = (shoal_arrow_cells){.type = *type};
  if (!array) return "it is NULL";
  if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX / 16 - array->offset)
    return "its length or offset is negative or too large";
  if (array->null_count < -1 || array->null_count > array->length)
    return "its number of nulls is impossible";
  cells->n = array->length;
  cells->offset = array->offset;
  int64_t n_buffers = type->kind == SHOAL_ARROW_NULL                                 ? 0
                      : shoal_arrow_has_offsets(type) || shoal_arrow_has_views(type) ? 3
                                                                                     : 2;
  bool enough = shoal_arrow_has_views(type) ? array->n_buffers >= 3 : array->n_buffers == n_buffers;
  if (!enough) return "its number of buffers is not that of its type";
  if (!n_buffers) return NULL;
  if (!array->buffers) return "its buffers are NULL";
  cells->valid = array->null_count == 0 ? NULL : array->buffers[0];
  if (array->null_count > 0 && !cells->valid) return "it has nulls, but no validity bitmap";
  cells->values = array->buffers[1];
  if (!cells->values && array->length > 0) return "its values are NULL";
  if (shoal_arrow_has_views(type)) {
    cells->n_data = array->n_buffers - 3;
    cells->data = array->buffers + 2;
    cells->data_sizes = array->buffers[array->n_buffers - 1];
    if (cells->n_data > 0 && !cells->data_sizes) return "the sizes of its data buffers are NULL";
    for (int64_t i = 0; i < cells->n_data; i++)
      if (cells->data_sizes[i] < 0 || (cells->data_sizes[i] && !cells->data[i]))
        return "a data buffer is NULL or has a negative size";
    return NULL;
  }
  return shoal_arrow_has_offsets(type) && array->length ? check_offsets(array, cells) : NULL;
}

const char *shoal_arrow_indices_of(const struct ArrowArray *array, const shoal_arrow_type *type,
                                   shoal_arrow_cells *indices) {
  shoal_arrow_type index = {.kind = type->index_signed ? SHOAL_ARROW_INT : SHOAL_ARROW_UINT,
                            .width = type->index_width};
  if (array && !array->dictionary) return "its dictionary is missing";
  return shoal_arrow_cells_of(array, &index, indices);
}

/* ------------------------------------------------------------ values */

uint64_t shoal_arrow_word(const shoal_arrow_cells *cells, int64_t i) {
  uint64_t at = (uint64_t)(cells->offset + i);
  bool is_signed = cells->type.kind != SHOAL_ARROW_UINT && cells->type.kind != SHOAL_ARROW_FLOAT;
  if (!cells->type.width) return ((const uint8_t *)cells->values)[at >> 3] >> (at & 7) & 1;
  return load(cells->values, cells->type.width, at, is_signed);
}

const char *shoal_arrow_text(const shoal_arrow_cells *cells, int64_t i, const char **bytes,
                             uint64_t *size_bytes) {
  uint64_t at = (uint64_t)(cells->offset + i);
  if (shoal_arrow_has_views(&cells->type)) {
    /* A view: its size, then up to 12 bytes, or 4 bytes, the number of a buffer and an offset. */
    const char *view = (const char *)cells->values + at * 16;
    int32_t size, buffer, offset;
    memcpy(&size, view, 4);
    memcpy(&buffer, view + 8, 4);
    memcpy(&offset, view + 12, 4);
    if (size < 0) return "has a negative size";
    *size_bytes = (uint64_t)size;
    *bytes = view + 4;
    if (size <= 12) return NULL;
    if (buffer < 0 || buffer >= cells->n_data || offset < 0 ||
        (int64_t)offset + size > cells->data_sizes[buffer])
      return "lies outside of its data buffer";
    *bytes = (const char *)cells->data[buffer] + offset;
    return NULL;
  }
  int64_t from = shoal_arrow_offset(cells, i), to = shoal_arrow_offset(cells, i + 1);
  if (from < 0 || to < from || to > cells->end) return "has offsets that are negative or descend";
  *size_bytes = (uint64_t)(to - from);
  *bytes = cells->bytes ? cells->bytes + from : "";
  return NULL;
}
