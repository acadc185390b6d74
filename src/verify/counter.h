/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/counter: counts rows by class and sensitive value. Input: one reader, or several that read
 * parts of the file and whose counters are merged.
 *
 * A class is the tuple of a row's quasi-identifier cells. Its key has each cell's length before the
 * cell, so different tuples have different keys. Keys and the values of each sensitive attribute
 * are numbered, and the rows of each pair (class, value) are counted. Guarding nodes come from a
 * separate file with one row for each row of the release, and are counted like a sensitive value.
 * People and households are counted in the same way (people.c).
 */
#pragma once

#include <stdatomic.h>

#include "base/text.h"
#include "verify/line_cache.h"
#include "verify/reader.h"
#include "verify/tables.h"
#include "verify/verify.h"

/* A byte string of a row, to be looked up in a dictionary. */
typedef struct shoal_verify_lookup {
  uint64_t hash;
  size_t at; /* in the batch's text */
  size_t size_bytes;
  shoal_verify_entry *found;
} shoal_verify_lookup;

/* A column whose values are counted by class: of a sensitive attribute, or of guarding nodes. */
typedef struct shoal_verify_values {
  size_t column; /* index into shoal_verify_counter.cells */
  const shoal_verify_knowledge *known;
  shoal_verify_dictionary values; /* the missing spellings first, then the known values */
  uint32_t n_missing;
  uint32_t *number_of; /* folded columns: by value; UINT32_MAX: missing. NULL: in their order */
  uint32_t n_numbers;
  shoal_verify_pairs pairs;
  shoal_ids by_person;       /* a value and a person -> number; with people */
  shoal_verify_pairs people; /* pairs of a class and such a number */
} shoal_verify_values;

/* Which of the counted columns are not sensitive attributes. */
typedef struct shoal_verify_extras {
  size_t guards, people, households; /* SIZE_MAX: none */
} shoal_verify_extras;

typedef struct shoal_verify_counter {
  const shoal_verify_request *request;
  shoal_verify_cell *cells; /* of the current row; then guarding node, person and household */
  size_t *quasi;            /* columns of the quasi-identifiers */
  shoal_verify_dictionary classes;
  shoal_verify_values *counted; /* sensitive attributes, then `extras` */
  size_t n_counted;
  shoal_verify_extras extras;
  shoal_verify_reader *people;     /* open while rows are counted, if the request has people */
  shoal_verify_cell *people_cells; /* of the current row */
  shoal_text person_key, household_key;
  char *guard_column;         /* the header of the guarding nodes' file */
  shoal_verify_lookup *batch; /* of each waiting row: its class, then its counted values */
  int32_t *batch_lines;       /* of each waiting row, or SHOAL_VERIFY_NO_LINE */
  size_t n_waiting;
  uint64_t *batch_rows;  /* of each waiting row: the rows that it stands for */
  uint64_t rows_waiting; /* their sum */
  size_t n_lines;        /* read */
  char *text;            /* the bytes of the batch */
  size_t text_bytes;
  size_t text_capacity;
  shoal_verify_line_cache lines; /* repeated lines: their rows are added at the end */
  uint64_t n_rows;               /* counted; without waiting rows and repeated lines */
  /* If the request has a trace (verify/trace.h): */
  size_t *others; /* columns that are neither a quasi-identifier nor counted, */
  size_t n_others;
  uint64_t *batch_sums; /* and the sum of their cells' hashes: of each waiting row; */
  uint64_t *line_sums;  /* of each cached line, the sum of all cells' hashes */
  size_t line_sums_capacity;
  uint64_t fingerprint;           /* of the counted rows */
  uint8_t *formulas;              /* by column: 1 if it has a formula; NULL: not requested */
  struct shoal_verify_rare *rare; /* NULL: no column has rare values */
} shoal_verify_counter;

/* Set `request` and zero the rest before init. Reset it also if init failed. */
shoal_status shoal_verify_counter_init(shoal_verify_counter *count,
                                       shoal_error *error) SHOAL_MUST_CHECK;
void shoal_verify_counter_reset(shoal_verify_counter *count);

/* Read the header rows. That of the release must be request->columns. */
shoal_status shoal_verify_check_header(shoal_verify_counter *count, shoal_verify_reader *reader,
                                       shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_verify_guard_header(shoal_verify_counter *count, shoal_verify_reader *guards,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Counts all rows of the reader; more than request->n_rows are SHOAL_FAILED. `guards` is NULL if
 * the request has no guarding nodes. `stop` may be NULL; once it is true, counting ends early.
 */
shoal_status shoal_verify_count_rows(shoal_verify_counter *count, shoal_verify_reader *reader,
                                     shoal_verify_reader *guards, const atomic_bool *stop,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/* Reads the length of the next cell of a class's key, and moves *at behind it. */
size_t shoal_verify_key_length(const char **at);
/* SHOAL_FAILED if rows may be about one person or household, and these are not counted. */
shoal_status shoal_verify_check_people(const shoal_verify_request *request,
                                       shoal_error *error) SHOAL_MUST_CHECK;
/* Reads the header of the people's file. */
shoal_status shoal_verify_people_header(shoal_verify_counter *count,
                                        shoal_error *error) SHOAL_MUST_CHECK;
/* Reads the person and the household of the current row; after the last row there must be none. */
shoal_status shoal_verify_read_people(shoal_verify_counter *count, bool wanted,
                                      shoal_error *error) SHOAL_MUST_CHECK;
/* Counts a person once for each value in the class. False: no memory. */
bool shoal_verify_count_person(shoal_verify_values *counted, uint32_t class_id, uint32_t value,
                               uint32_t person);

/*
 * Counts the people and households of each class, and people by class and value, if the request has
 * them. `new_of`: the tally's class of each class of the counter; NULL: the same. Needs the tally's
 * attributes and class numbers. False: no memory. Reset it in any case.
 */
struct shoal_verify_tally;
bool shoal_verify_tally_people(const shoal_verify_counter *count, const uint32_t *new_of,
                               struct shoal_verify_tally *tally);
void shoal_verify_tally_people_reset(struct shoal_verify_tally *tally);

/* Adds the counts of `from` to `into`. False: no memory. */
bool shoal_verify_counter_merge(shoal_verify_counter *into, const shoal_verify_counter *from);

/* Fills request->formulas; SHOAL_FAILED if formulas must be quoted and one is not. */
shoal_status shoal_verify_check_formulas(const shoal_verify_counter *count,
                                         shoal_error *error) SHOAL_MUST_CHECK;

/* SHOAL_FAILED if a sensitive value was invented: see request->values_known. */
shoal_status shoal_verify_check_values(const shoal_verify_counter *count,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* SHOAL_FAILED unless the release has request->n_rows rows, and at least one. */
shoal_status shoal_verify_check_rows(const shoal_verify_counter *count,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Does a spreadsheet run the cell instead of showing it? True for a first character of =, @, tab
 * and carriage return, and of + and - unless the cell is a number.
 */
bool shoal_verify_is_formula(const shoal_verify_cell *cell);

/*
 * Counts all rows of the file into an empty counter, in parts on several threads (parts.c).
 * *counted is false and the counter still empty if one reader must do it: the file is small or
 * compressed, there is one thread, or the file has an error, which one reader describes better.
 */
shoal_status shoal_verify_count_parts(shoal_verify_counter *count, int fd, const char *name,
                                      const shoal_run *run, bool *counted,
                                      shoal_error *error) SHOAL_MUST_CHECK;
