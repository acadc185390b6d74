/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/counter: rows counted by class and sensitive value, from a reader, or from several that
 * read parts of the file, whose counts are added up.
 *
 * A class is the tuple of a row's quasi-identifier cells; its key holds each cell's length before
 * the cell, so that no two different tuples have the same key. Keys, and the values of each
 * sensitive attribute, are numbered, and the rows of each pair (class, value) counted. Guarding
 * nodes are read from their own file, a row of it with each row of the release, and counted like a
 * value.
 */
#ifndef SHOAL_VERIFY_COUNTER_H
#define SHOAL_VERIFY_COUNTER_H

#include <stdatomic.h>

#include "verify/lines.h"
#include "verify/reader.h"
#include "verify/tables.h"
#include "verify/verify.h"

/* A byte string of a row, to be found in a dictionary. */
typedef struct shoal_verify_lookup {
  uint64_t hash;
  size_t at; /* in the batch's text */
  size_t size_bytes;
  shoal_verify_entry *found;
} shoal_verify_lookup;

/* A column whose values are counted by class: of a sensitive attribute, or of guarding nodes. */
typedef struct shoal_verify_values {
  size_t column; /* of the cells at hand */
  const shoal_verify_knowledge *known;
  shoal_verify_dictionary values; /* the missing spellings first, then the known values */
  uint32_t n_missing;
  shoal_verify_pairs pairs;
} shoal_verify_values;

typedef struct shoal_verify_counter {
  const shoal_verify_claim *claim;
  shoal_verify_cell *cells; /* of the row at hand, the guarding node behind the others */
  size_t *quasi;            /* columns of the quasi-identifiers */
  shoal_verify_dictionary classes;
  shoal_verify_values
      *counted; /* the sensitive attributes, then the guarding nodes if there are any */
  size_t n_counted;
  char *guard_column;         /* the header of their file */
  shoal_verify_lookup *batch; /* of each waiting row: its class, then each counted value */
  int32_t *batch_lines;       /* of each waiting row, or SHOAL_VERIFY_NO_LINE */
  size_t n_waiting;
  char *text; /* the bytes of the batch */
  size_t text_bytes;
  size_t text_capacity;
  shoal_verify_lines lines; /* counted already, and seen again: their rows are added at the end */
  uint64_t n_rows;          /* counted, without the waiting ones and those of the lines */
  uint8_t *formulas; /* by column: 1, it has a cell that a spreadsheet would run; NULL: not asked */
} shoal_verify_counter;

/* A zeroed counter with its claim may be reset, too. */
shoal_status shoal_verify_counter_init(shoal_verify_counter *count,
                                       shoal_error *error) SHOAL_MUST_CHECK;
void shoal_verify_counter_reset(shoal_verify_counter *count);

/* The release's header must be the claim's; that of the guarding nodes is kept. */
shoal_status shoal_verify_check_header(shoal_verify_counter *count, shoal_verify_reader *reader,
                                       shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_verify_guard_header(shoal_verify_counter *count, shoal_verify_reader *guards,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Counts rows to the reader's end, at most as many as the claim has. `guards` may be NULL; so may
 * `stop`, which ends the counting early once it is true.
 */
shoal_status shoal_verify_count_rows(shoal_verify_counter *count, shoal_verify_reader *reader,
                                     shoal_verify_reader *guards, const atomic_bool *stop,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/* Adds the counts of one counter to those of another. False: no memory. */
bool shoal_verify_counter_merge(shoal_verify_counter *into, const shoal_verify_counter *from);

/* Tells the claim's owner of formulas; where the claim is that they are quoted there must be none.
 */
shoal_status shoal_verify_check_formulas(const shoal_verify_counter *count,
                                         shoal_error *error) SHOAL_MUST_CHECK;

/* Are there as many rows as the claim has? */
shoal_status shoal_verify_check_rows(const shoal_verify_counter *count,
                                     shoal_error *error) SHOAL_MUST_CHECK;

#endif
