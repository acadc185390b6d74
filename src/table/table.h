/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table: columns of small integer codes. A cell is the code of its value in the column's
 * dictionary, 1, 2 or 4 bytes wide. Codes are assigned by first appearance, so they do not depend
 * on threads. Frozen after loading, then shared by threads.
 */
#pragma once

#include "base/decimal.h"
#include "base/error.h"
#include "base/memory.h"
#include "table/coding.h"
#include "table/equality.h"

/* The name of a file's only column without one; an identifier unless the policy says otherwise. */
#define SHOAL_ROW_NAMES "row_names"

typedef struct shoal_column {
  const char *name;
  uint32_t n_values;       /* distinct values, missing ones included */
  unsigned code_size;      /* bytes a code: 1, 2 or 4; 0: the column's cells are not kept */
  void *codes;             /* one a row */
  char *bytes;             /* value v is bytes[offsets[v] .. offsets[v + 1]) */
  uint64_t *offsets;       /* n_values + 1 */
  uint8_t *is_missing;     /* by value; NULL: no value is missing */
  uint64_t *first_row;     /* by value: row of its first appearance, 0-based; NULL if not kept */
  uint64_t n_repeated;     /* identifiers: rows whose value another row has too */
  bool is_identity;        /* n_repeated was counted */
  uint64_t *hashes;        /* of identifiers that all differ: of each row, ascending; may be NULL */
  bool is_number;          /* every value was found to be a number */
  shoal_equality equality; /* spellings that were merged (fold.h) */
  shoal_coding coding;     /* extreme numbers and rare values have the labels of codes (coding.h) */
  bool collects_rare;      /* rare values were collected, not only their label recognized */
  uint64_t n_top_coded, n_bottom_coded; /* rows that were read with a number under a code */
  uint64_t n_rare_values, n_rare_rows;  /* that were collected as rare, and their rows */
  bool is_left;           /* released unchanged from the file: no codes (SHOAL_USE_COPY) */
  bool is_outside;        /* released unchanged by the caller, who has its cells: no codes */
  bool has_plain_numbers; /* its cells were numbers, not spellings: they have no style */
  /* How its file spells its values, if writing reads it again (fold.h); NULL: as here. */
  struct shoal_spellings *spellings;
  /* Rows by spelling, if a value has several (fold.h); NULL: none has. */
  struct shoal_folded *folded;
  struct shoal_value_sample *sample; /* of a kept column without codes; NULL: not measured */
} shoal_column;

struct shoal_table {
  char *name; /* of the file, for messages */
  char delimiter;
  bool from_file;                     /* names are row 1 of a file, which may lack a header */
  uint64_t n_rows;                    /* stored rows: records, or distinct tuples with counts */
  uint64_t n_records;                 /* sum of the counts; n_rows without counts */
  uint64_t *counts;                   /* NULL: each row is one record */
  uint64_t *first_row;                /* by row: its first row in the file; NULL: its own number */
  struct shoal_spelled_rows *spelled; /* of a counted table with folded columns (fold.h); or NULL */
  const uint32_t *row_of;             /* by row: its row before sorting (order.h); NULL: its own */
  struct shoal_table_source *source;  /* the file, which writing reads again; NULL: it need not */
  /* Names and types of its columns in its database; NULL: it is from elsewhere. */
  struct shoal_database_columns *columns_in_database;
  size_t n_columns;
  shoal_column *columns;
  bool finished;
  bool plain_numbers; /* its file has numbers, not spellings: no style */
  char decimal;       /* detected style of its numbers (number_style.h); 0: not looked for */
  const char *thousands;
  const char *detected_encoding; /* of its file, if not UTF-8 and not given; else NULL */
  char **notes; /* how its file was read, for reports: lines without cells; table.c */
  size_t n_notes;
  double seconds_read;         /* time to load */
  struct shoal_loader *loader; /* while rows are being added */
  struct shoal_whole *whole;   /* the table is a part of another (whole.h); NULL: it is not */
  bool borrows_whole;
};

/* A table filled from memory: create, add rows, finalize (load.h). See shoal_table_new. */
shoal_status shoal_table_create(const char *const *names, size_t n_columns, shoal_table **table,
                                shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_table_add_rows(shoal_table *table, const shoal_text_view *columns,
                                  size_t n_columns, size_t n_rows, const uint64_t *counts,
                                  shoal_error *error) SHOAL_MUST_CHECK;
void shoal_table_delete(shoal_table *table); /* NULL: nothing */

/* Adds a line to the table's notes. */
shoal_status shoal_table_note(shoal_table *table, shoal_error *error, const char *format, ...)
    SHOAL_PRINTF(3, 4);

/* Bytes of codes, dictionaries and counts. */
uint64_t shoal_table_memory(const shoal_table *table);

/* The column of that name, or NULL. */
const shoal_column *shoal_table_column(const shoal_table *table, const char *name);

/* A table with counts as one of single records, with dictionaries of its own. */
shoal_status shoal_table_expand(const shoal_table *table, shoal_table **expanded,
                                shoal_error *error) SHOAL_MUST_CHECK;

static inline uint32_t shoal_column_code(const shoal_column *column, uint64_t row) {
  switch (column->code_size) {
  case 1: return ((const uint8_t *)column->codes)[row];
  case 2: return ((const uint16_t *)column->codes)[row];
  default: return ((const uint32_t *)column->codes)[row];
  }
}

static inline const char *shoal_column_value(const shoal_column *column, uint32_t value,
                                             size_t *size_bytes) {
  *size_bytes = (size_t)(column->offsets[value + 1] - column->offsets[value]);
  return column->bytes + column->offsets[value];
}

static inline bool shoal_column_missing(const shoal_column *column, uint32_t value) {
  return column->is_missing && column->is_missing[value];
}

/* Does no hierarchy cover it, so that it is its own label on every level below the top? */
static inline bool shoal_column_is_bare(const shoal_column *column, uint32_t value) {
  size_t size_bytes;
  const char *bytes = shoal_column_value(column, value, &size_bytes);
  return shoal_column_missing(column, value) ||
         shoal_coding_find(&column->coding, bytes, size_bytes) == SHOAL_CODED_RARE;
}

/* Were the rows of its file counted, because they do not fit into memory? */
static inline bool shoal_table_is_counted(const shoal_table *table) {
  return table->source && table->counts;
}

/* Were columns left in its file? They have no codes. */
static inline bool shoal_table_leaves_columns(const shoal_table *table) {
  return table->source && !table->counts;
}

/* The row of the file, from 0, in which this row occurs first. */
static inline uint64_t shoal_table_file_row(const shoal_table *table, uint64_t row) {
  if (table->row_of) row = table->row_of[row];
  return table->first_row ? table->first_row[row] : row;
}

static inline uint64_t shoal_table_count(const shoal_table *table, uint64_t row) {
  return table->counts ? table->counts[row] : 1;
}
