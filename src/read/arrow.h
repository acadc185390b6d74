/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/arrow: columns of the Arrow C data interface -> cells of text, the same text that a CSV file
 * of the table has:
 *
 *     integers      digits                    -12
 *     floats        the shortest decimal      0.1  12.0  1e-07  inf     NaN: missing
 *                   that reads back
 *     booleans      true  false
 *     decimals      with all of their scale   12.50
 *     dates         YYYY-MM-DD
 *     times         HH:MM:SS[.fraction]
 *     timestamps    the date, a space and the time; at midnight the date alone
 *                   with a zone: in UTC       2024-02-29 12:00:00+00:00
 *     text          itself
 *     null          the policy's spelling of a missing value
 *
 * Nothing that a producer says is trusted further than it can be checked: lengths, offsets, indices
 * and pointers are compared with one another before a cell is read. The sizes of most buffers are
 * not part of the interface, so a producer that lies about them cannot be found out.
 */
#pragma once

#include <string.h>

#include "base/error.h"

typedef enum shoal_arrow_kind {
  SHOAL_ARROW_OPAQUE, /* nested, or of a type that has no text */
  SHOAL_ARROW_NULL,
  SHOAL_ARROW_BOOL,
  SHOAL_ARROW_INT,
  SHOAL_ARROW_UINT,
  SHOAL_ARROW_FLOAT,
  SHOAL_ARROW_DECIMAL,
  SHOAL_ARROW_DATE,
  SHOAL_ARROW_TIME,
  SHOAL_ARROW_TIMESTAMP,
  SHOAL_ARROW_TEXT,  /* offsets of 4 or 8 bytes */
  SHOAL_ARROW_VIEWS, /* text views of 16 bytes */
  SHOAL_ARROW_BYTES, /* as text, but not text */
  SHOAL_ARROW_BYTE_VIEWS
} shoal_arrow_kind;

typedef struct shoal_arrow_type {
  shoal_arrow_kind kind;
  unsigned width;       /* bytes of a value, or of an offset */
  int scale;            /* of a decimal */
  uint64_t per_second;  /* units of a time or timestamp; 0: they are days */
  bool has_zone;        /* of a timestamp */
  unsigned index_width; /* bytes of an index into a dictionary; 0: there is none */
  bool index_signed;    /* may be negative, which is an error */
  bool is_rough;        /* long floats as any text that no other float has: fast, for samples */
} shoal_arrow_type;

/* The type of a column; a type that is not known is SHOAL_ARROW_OPAQUE. False: not a schema. */
bool shoal_arrow_type_of(const struct ArrowSchema *schema, shoal_arrow_type *type);

static inline bool shoal_arrow_is_number(const shoal_arrow_type *type) {
  return type->kind >= SHOAL_ARROW_INT && type->kind <= SHOAL_ARROW_DECIMAL;
}
/* Are its values at most 8 bytes wide, so that a word stands for a value? */
static inline bool shoal_arrow_is_word(const shoal_arrow_type *type) {
  return (type->kind >= SHOAL_ARROW_BOOL && type->kind <= SHOAL_ARROW_TIMESTAMP &&
          type->kind != SHOAL_ARROW_DECIMAL);
}
static inline bool shoal_arrow_has_views(const shoal_arrow_type *type) {
  return type->kind == SHOAL_ARROW_VIEWS || type->kind == SHOAL_ARROW_BYTE_VIEWS;
}
static inline bool shoal_arrow_has_offsets(const shoal_arrow_type *type) {
  return type->kind == SHOAL_ARROW_TEXT || type->kind == SHOAL_ARROW_BYTES;
}

/* Values of one array, checked as far as that is possible without a pass over them. */
typedef struct shoal_arrow_cells {
  shoal_arrow_type type;   /* of the values */
  const uint8_t *valid;    /* a bit a value; NULL: none is null */
  const void *values;      /* numbers, offsets or views */
  const char *bytes;       /* of text */
  int64_t end;             /* of the text: the last offset */
  const void *const *data; /* of views */
  const int64_t *data_sizes;
  int64_t n_data;
  int64_t n;      /* values */
  int64_t offset; /* of value 0 */
} shoal_arrow_cells;

/*
 * The values of `array`, or of its dictionary. Returns NULL, or what is wrong with it. `type` says
 * how to read the array itself: for a dictionary, pass its values' type without an index.
 */
const char *shoal_arrow_cells_of(const struct ArrowArray *array, const shoal_arrow_type *type,
                                 shoal_arrow_cells *cells);

/* The indices of an array with a dictionary, as integers. */
const char *shoal_arrow_indices_of(const struct ArrowArray *array, const shoal_arrow_type *type,
                                   shoal_arrow_cells *indices);

static inline bool shoal_arrow_is_null(const shoal_arrow_cells *cells, int64_t i) {
  uint64_t at = (uint64_t)(cells->offset + i);
  return cells->type.kind == SHOAL_ARROW_NULL ||
         (cells->valid && !(cells->valid[at >> 3] >> (at & 7) & 1));
}

/* Offset i of texts, up to the end of the last. Buffers may be unaligned: a producer can share
 * bytes of a file. */
static inline int64_t shoal_arrow_offset(const shoal_arrow_cells *cells, int64_t i) {
  const char *at = (const char *)cells->values + (uint64_t)(cells->offset + i) * cells->type.width;
  int32_t narrow;
  int64_t wide;
  if (cells->type.width == 4) {
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
  }
  memcpy(&wide, at, sizeof wide);
  return wide;
}

/* A value of up to 8 bytes; signed ones are extended. Booleans are 0 and 1. */
uint64_t shoal_arrow_word(const shoal_arrow_cells *cells, int64_t i);

/* Where the text of value i is. Returns NULL, or what is wrong with it. */
const char *shoal_arrow_text(const shoal_arrow_cells *cells, int64_t i, const char **bytes,
                             uint64_t *size_bytes);

enum { SHOAL_ARROW_PRINTED = 400 }; /* a decimal of 76 digits with a scale of up to 300 */

/* Prints a value as text; returns its size. 0: it is missing (NaN). */
size_t shoal_arrow_print_word(const shoal_arrow_type *type, uint64_t word, char *out);
size_t shoal_arrow_print_decimal(const shoal_arrow_type *type, const void *value, char *out);
