/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of read/csv: what a block splits into, compared on hundreds of thousands of random
 * blocks with a splitter that reads RFC 4180 byte by byte; where records end; what delimiter a
 * header has; what is said of faults.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "read/csv.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- byte by byte */

enum { MAX_BYTES = 1 << 16 };

/* Cells one behind the other: cell i is bytes[end[i - 1] .. end[i]). */
typedef struct reference {
  char bytes[MAX_BYTES];
  size_t end[MAX_BYTES + 1], n_cells;
  size_t row_end[MAX_BYTES + 1], n_rows;
  shoal_csv_problem problem;
} reference;

static bool ends_line(const char *s, size_t size, size_t at) { return at == size || s[at] == '\n'; }

/* One cell from `at` on; returns the place of what ends it. */
static size_t reference_cell(const char *s, size_t size, char delimiter, size_t at, reference *out,
                             size_t *end) {
  if (at < size && s[at] == '"') {
    for (at++; at < size && (s[at] != '"' || (at + 1 < size && s[at + 1] == '"')); at++) {
      if (s[at] == '"') at++; /* the first of two */
      out->bytes[(*end)++] = s[at];
    }
    if (at++ == size) out->problem.fault = SHOAL_CSV_UNCLOSED;
    else if (at < size && s[at] == '\r' && ends_line(s, size, at + 1)) at++;
    if (at < size && s[at] != delimiter && s[at] != '\n') out->problem.fault = SHOAL_CSV_STRAY;
    return at;
  }
  size_t start = *end;
  for (; !ends_line(s, size, at) && s[at] != delimiter; at++) out->bytes[(*end)++] = s[at];
  if (ends_line(s, size, at) && *end > start && out->bytes[*end - 1] == '\r') (*end)--;
  return at;
}

static void reference_split(const char *s, size_t size, char delimiter, size_t n_columns,
                            reference *out) {
  out->n_cells = out->n_rows = 0;
  out->problem = (shoal_csv_problem){SHOAL_CSV_OK, 0, 0};
  size_t end = 0;
  for (size_t at = 0, stop; at < size; out->n_rows++) {
    size_t first = out->n_cells;
    do {
      stop = reference_cell(s, size, delimiter, at, out, &end);
      out->problem.row = out->n_rows;
      if (out->problem.fault != SHOAL_CSV_OK) return;
      out->end[out->n_cells++] = end;
      at = stop + 1;
    } while (!ends_line(s, size, stop));
    out->row_end[out->n_rows] = out->n_cells;
    size_t found = out->n_cells - first;
    if (n_columns && found != n_columns) {
      out->problem = (shoal_csv_problem){SHOAL_CSV_RAGGED, out->n_rows, found};
      return;
    }
  }
}

/* ---------------------------------------------------------------- comparing */

static reference expected;
static shoal_cells cells; /* kept from block to block, as the loader does */

static void show_and_fail(const char *block, size_t size, size_t n_columns, const char *what) {
  char shown[4 * 256 + 1];
  size_t at = 0;
  for (size_t i = 0; i < size && i < 256; i++) {
    const char *escape = block[i] == '\n' ? "\\n" : block[i] == '\r' ? "\\r" : NULL;
    at += (size_t)sprintf(shown + at, escape ? "%s" : "%.1s", escape ? escape : block + i);
  }
  fail_msg("%s differ with %zu columns: [%s]", what, n_columns, shown);
}

static void compare_cells(const char *block, size_t size, size_t n_columns) {
  if (cells.n_rows != expected.n_rows) show_and_fail(block, size, n_columns, "rows");
  if (cells.n_cells != expected.n_cells) show_and_fail(block, size, n_columns, "cells");
  for (size_t i = 0, start = 0; i < cells.n_cells; start = expected.end[i++]) {
    size_t length = cells.end[i] - cells.begin[i];
    if (length != expected.end[i] - start ||
        memcmp(cells.bytes + cells.begin[i], expected.bytes + start, length) != 0)
      show_and_fail(block, size, n_columns, "contents");
  }
  if (n_columns == 0 && cells.n_rows &&
      memcmp(cells.row_end, expected.row_end, cells.n_rows * sizeof *cells.row_end) != 0)
    show_and_fail(block, size, n_columns, "ends of rows");
}

/* The copy ends where its slack does, so that reading on is seen; the slack is of no account. */
static shoal_csv_problem check_split_by(shoal_scan_way way, const char *block, size_t size,
                                        char delimiter, size_t n_columns) {
  static const char *const slacks = "\n,\"a;\0\r";
  char *copy = malloc(size + SHOAL_CSV_SLACK);
  assert_non_null(copy);
  if (size) memcpy(copy, block, size);
  memset(copy + size, slacks[size % 7], SHOAL_CSV_SLACK);
  shoal_csv_problem problem = shoal_csv_split_by(way, copy, size, delimiter, n_columns, &cells);
  if (problem.fault != expected.problem.fault) show_and_fail(block, size, n_columns, "faults");
  if (problem.fault == SHOAL_CSV_OK) compare_cells(block, size, n_columns);
  else if (problem.row != expected.problem.row)
    show_and_fail(block, size, n_columns, "rows of the fault");
  if (problem.fault == SHOAL_CSV_RAGGED && problem.n_found != expected.problem.n_found)
    show_and_fail(block, size, n_columns, "numbers of cells found");
  free(copy);
  return problem;
}

/* Every way of scanning that this machine has, against the reference. */
static shoal_csv_problem check_split(const char *block, size_t size, char delimiter,
                                     size_t n_columns) {
  shoal_csv_problem problem = {0};
  reference_split(block, size, delimiter, n_columns, &expected);
  for (int way = 0; way < SHOAL_SCAN_WAYS; way++)
    if (shoal_scan_has((shoal_scan_way)way))
      problem = check_split_by((shoal_scan_way)way, block, size, delimiter, n_columns);
  return problem;
}

static int start_cells(void **state UNUSED) {
  shoal_cells_init(&cells);
  return 0;
}

static int end_cells(void **state UNUSED) {
  shoal_cells_reset(&cells);
  return 0;
}

/* ---------------------------------------------------------------- splitting */

static void fill(shoal_random *random, const char *alphabet, char *block, size_t size) {
  size_t n = strlen(alphabet);
  for (size_t i = 0; i < size; i++) block[i] = alphabet[shoal_random_below(random, n)];
}

static void random_small_blocks_split_as_byte_by_byte(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 21);
  unsigned seen[SHOAL_CSV_MEMORY + 1] = {0}, n_all = 200000;
  char block[16];
  for (unsigned i = 0; i < n_all; i++) {
    size_t size = shoal_random_below(&random, sizeof block + 1);
    fill(&random, i % 4 == 0 ? "ab,;\r\n" : i % 4 == 1 ? "a,\"\n" : "ab,;\"\r\n", block, size);
    char delimiter = shoal_random_below(&random, 4) ? ',' : ';';
    seen[check_split(block, size, delimiter, shoal_random_below(&random, 4)).fault]++;
  }
  assert_true(seen[SHOAL_CSV_OK] > n_all / 10); /* every outcome was put to the test */
  assert_true(seen[SHOAL_CSV_RAGGED] > n_all / 10);
  assert_true(seen[SHOAL_CSV_UNCLOSED] > n_all / 50);
  assert_true(seen[SHOAL_CSV_STRAY] > n_all / 50);
  assert_int_equal(seen[SHOAL_CSV_NUL] + seen[SHOAL_CSV_MEMORY], 0);
}

/* All blocks of up to 6 bytes over the bytes that mean something. */
static void all_small_blocks_split_as_byte_by_byte(void **state UNUSED) {
  static const char alphabet[] = {'a', ',', '"', '\r', '\n'};
  char block[6];
  for (size_t size = 0, n = 1; size <= sizeof block; size++, n *= sizeof alphabet) {
    for (size_t number = 0; number < n; number++) {
      for (size_t i = 0, rest = number; i < size; i++, rest /= sizeof alphabet)
        block[i] = alphabet[rest % sizeof alphabet];
      for (size_t n_columns = 0; n_columns < 3; n_columns++)
        (void)check_split(block, size, ',', n_columns);
    }
  }
}

/* Rows of n_columns cells, so that most blocks are right as a whole. */
static size_t fill_rows(shoal_random *random, bool quotes, size_t n_columns, char *block,
                        size_t size) {
  static const char *const plain[] = {"", "a", "bb", "long cell of a row", "\"", "a\"b", "\r"};
  static const char *const quoted[] = {"\"\"", "\"a,\"", "\"\"\"\"", "\"x\ny\"", "\"\r\n\""};
  size_t at = 0, cell = 0;
  while (at + 24 < size) {
    bool quote = quotes && shoal_random_below(random, 3) == 0;
    const char *text = quote ? quoted[shoal_random_below(random, COUNT(quoted))]
                             : plain[shoal_random_below(random, quotes ? COUNT(plain) : 4)];
    bool opens = !quote && text[0] == '"'; /* at the front of a cell it would be an opening one */
    at += (size_t)sprintf(block + at, "%s%s", opens ? "x" : "", text);
    bool last = ++cell % n_columns == 0;
    at += (size_t)sprintf(block + at, "%s", !last ? "," : cell % 3 ? "\n" : "\r\n");
  }
  while (cell++ % n_columns) block[at++] = cell % n_columns ? ',' : '\n';
  return at;
}

static void larger_blocks_of_whole_rows_split_as_byte_by_byte(void **state UNUSED) {
  static char block[4096];
  shoal_random random;
  shoal_random_seed(&random, 22);
  for (unsigned i = 0; i < 20000; i++) {
    size_t n_columns = 1 + i % 5, room = 40 + shoal_random_below(&random, i % 50 ? 300 : 4000);
    size_t size = fill_rows(&random, i % 2, n_columns, block, room);
    assert_int_equal(check_split(block, size, ',', n_columns).fault, SHOAL_CSV_OK);
    assert_true(cells.n_cells == cells.n_rows * n_columns);
    (void)check_split(block, size, ',', 0);
    (void)check_split(block, size - 1, ',', n_columns); /* the last record lacks its newline */
    (void)check_split(block, size / 2, ',', n_columns); /* cut anywhere */
    (void)check_split(block, size, ';', 0);
  }
}

/* Blocks without quotes are scanned 64 bytes at a time: all that can lie at its ends. */
static void blocks_around_64_bytes_split_as_byte_by_byte(void **state UNUSED) {
  static const char alphabet[] = {'a', ',', '\r', '\n'};
  char block[200];
  for (size_t size = 60; size < 196; size += size == 68 || size == 132 ? 56 : 1) {
    for (unsigned number = 0; number < 256; number++) {
      memset(block, 'a', sizeof block);
      block[size - 1] = alphabet[number & 3];
      block[size - 2] = alphabet[number >> 2 & 3];
      block[size > 64 ? 64 : size - 3] = alphabet[number >> 4 & 3];
      block[63 < size ? 63 : 0] = alphabet[number >> 6];
      for (size_t n_columns = 0; n_columns < 3; n_columns++)
        (void)check_split(block, size, ',', n_columns);
      block[size / 2] = '"'; /* the same cells by the other way */
      (void)check_split(block, size, ',', 0);
    }
  }
}

static void blocks_of_ends_only_split_as_byte_by_byte(void **state UNUSED) {
  static char block[5000];
  for (size_t size = 0; size < sizeof block; size += size < 200 ? 1 : 997) {
    memset(block, ',', sizeof block);
    assert_int_equal(check_split(block, size, ',', size + 1).fault, SHOAL_CSV_OK);
    assert_int_equal(cells.n_cells, size ? size + 1 : 0);
    memset(block, '\n', sizeof block);
    assert_int_equal(check_split(block, size, ',', 1).fault, SHOAL_CSV_OK);
    assert_int_equal(cells.n_rows, size);
    memset(block, '"', sizeof block);
    (void)check_split(block, size, ',', 1);
  }
}

/* ---------------------------------------------------------------- NUL bytes */

/* In a block that is right but for the NUL, the row is the one that the bytes before it end in. */
static void a_nul_is_found_in_its_row(void **state UNUSED) {
  static char block[600];
  shoal_random random;
  shoal_random_seed(&random, 23);
  unsigned n_quoted = 0;
  for (unsigned i = 0; i < 20000; i++) {
    size_t size = fill_rows(&random, i % 2, 3, block, 50 + shoal_random_below(&random, 400));
    size_t position = shoal_random_below(&random, size);
    if (strchr("\",\r\n", block[position])) continue; /* it would change the rows */
    reference_split(block, position, ',', 0, &expected);
    size_t row = expected.problem.row;
    bool begins = position && block[position - 1] == '\n' && expected.problem.fault == SHOAL_CSV_OK;
    n_quoted += expected.problem.fault == SHOAL_CSV_UNCLOSED;
    block[position] = '\0';
    shoal_csv_problem problem = shoal_csv_split(block, size, ',', 3, &cells);
    assert_int_equal(problem.fault, SHOAL_CSV_NUL);
    assert_int_equal(problem.row, begins ? row + 1 : row);
  }
  assert_true(n_quoted > 100);
}

static void a_fault_of_an_earlier_row_is_told_before_a_nul(void **state UNUSED) {
  static const char *const rows[] = {"a,b\nc\nd,\0\n", "\"a\",b\nc\nd,\0\n"}; /* both ways */
  for (size_t i = 0; i < COUNT(rows); i++) {
    char block[16 + SHOAL_CSV_SLACK] = {0};
    size_t size = strlen(rows[i]) + 2;
    memcpy(block, rows[i], size);
    shoal_csv_problem problem = shoal_csv_split(block, size, ',', 2, &cells);
    assert_true(problem.fault == SHOAL_CSV_RAGGED && problem.row == 1 && problem.n_found == 1);
    memcpy(block, rows[i], size);
    problem = shoal_csv_split(block, size, ',', 0, &cells);
    assert_true(problem.fault == SHOAL_CSV_NUL && problem.row == 2);
  }
}

/* ---------------------------------------------------------------- whole records */

/* The end of the last newline that is not inside quotes. */
static size_t reference_whole(const char *s, size_t size, char delimiter) {
  size_t whole = 0;
  bool quoted = false, front = true; /* front: of a cell, where a quote opens */
  for (size_t at = 0; at < size; at++) {
    bool doubled = quoted && s[at] == '"' && at + 1 < size && s[at + 1] == '"';
    if (doubled) at++;
    else if (s[at] == '"' && (quoted || front)) quoted = !quoted;
    else if (s[at] == '\n' && !quoted) whole = at + 1;
    front = !quoted && (s[at] == delimiter || s[at] == '\n');
  }
  return whole;
}

static void check_whole(const char *block, size_t size, char delimiter) {
  char *copy = malloc(size + 1); /* no slack is asked for here */
  assert_non_null(copy);
  char *bytes = copy + 1; /* ends where the memory does */
  memcpy(bytes, block, size);
  size_t whole = shoal_csv_whole_records(bytes, size, delimiter);
  if (whole != reference_whole(block, size, delimiter))
    show_and_fail(block, size, whole, "whole records");
  free(copy);
}

static void whole_records_end_at_the_last_newline_outside_quotes(void **state UNUSED) {
  static char block[2000];
  shoal_random random;
  shoal_random_seed(&random, 24);
  unsigned n_none = 0;
  for (unsigned i = 0; i < 200000; i++) {
    size_t size = shoal_random_below(&random, 17);
    fill(&random, "ab,;\"\r\n\n", block, size);
    check_whole(block, size, i % 4 ? ',' : ';');
    n_none += reference_whole(block, size, ',') == 0;
  }
  assert_in_range(n_none, 20000, 180000);
  for (unsigned i = 0; i < 5000; i++) {
    size_t size = fill_rows(&random, true, 3, block, 50 + shoal_random_below(&random, 1500));
    assert_int_equal(shoal_csv_whole_records(block, size, ','), size);
    check_whole(block, shoal_random_below(&random, size), ',');
  }
}

/* As many bytes as are needed for some of them to be whole records. */
static void the_first_record_ends_at_the_first_newline_outside_quotes(void **state UNUSED) {
  char block[16];
  shoal_random random;
  shoal_random_seed(&random, 26);
  for (unsigned i = 0; i < 100000; i++) {
    size_t size = shoal_random_below(&random, sizeof block + 1), first = 0;
    fill(&random, "ab,;\"\r\n", block, size);
    for (size_t end = 1; end <= size && !first; end++) first = reference_whole(block, end, ',');
    if (shoal_csv_first_record(block, size, ',') != first)
      show_and_fail(block, size, first, "first records");
  }
}

/* A block cut at its whole records has the rows of the block that is not cut. */
static void cutting_at_whole_records_loses_nothing(void **state UNUSED) {
  static char block[2000], copy[2000 + SHOAL_CSV_SLACK];
  shoal_random random;
  shoal_random_seed(&random, 25);
  for (unsigned i = 0; i < 5000; i++) {
    size_t size = fill_rows(&random, true, 4, block, 50 + shoal_random_below(&random, 1500));
    size_t whole = shoal_csv_whole_records(block, shoal_random_below(&random, size), ',');
    size_t n_rows = 0, parts[] = {0, whole, size};
    for (size_t part = 0; part < 2; part++) {
      memcpy(copy, block + parts[part], parts[part + 1] - parts[part]);
      assert_int_equal(shoal_csv_split(copy, parts[part + 1] - parts[part], ',', 4, &cells).fault,
                       SHOAL_CSV_OK);
      n_rows += cells.n_rows;
    }
    reference_split(block, size, ',', 4, &expected);
    assert_int_equal(n_rows, expected.n_rows);
  }
}

/* ---------------------------------------------------------------- delimiters, messages */

/* ---------------------------------------------------------------- quotes and steps of 64 bytes */

/* A cell of up to `most` bytes: bare, or quoted with all that quotes can hold; now and then wrong.
 */
static size_t add_cell(shoal_random *random, char *to, size_t most) {
  static const char inside[] = "aaaaaaab,;\r\n";
  size_t size = 0, n = shoal_random_below(random, most + 1);
  uint64_t kind = shoal_random_below(random, 100);
  if (kind < 55) {
    for (; size < n; size++) to[size] = kind < 2 ? "ab\"\r"[shoal_random_below(random, 4)] : 'c';
    return size;
  }
  to[size++] = '"';
  for (size_t i = 0; i < n; i++) {
    if (shoal_random_below(random, 12) == 0) {
      to[size++] = '"';
      if (kind < 98 || shoal_random_below(random, 2)) to[size++] = '"';
    } else {
      to[size++] = inside[shoal_random_below(random, sizeof inside - 1)];
    }
  }
  to[size++] = '"';
  return size;
}

/* Cells that end at, before and behind the borders between steps; LF and CRLF; a NUL sometimes. */
static void quoted_rows_split_as_byte_by_byte_at_every_border(void **state UNUSED) {
  static char block[4096];
  shoal_random random;
  shoal_random_seed(&random, 640);
  unsigned n_fine = 0, n_faults = 0;
  for (unsigned i = 0; i < 30000; i++) {
    size_t size = 0, n_rows = 1 + shoal_random_below(&random, 6), n_columns = 1 + i % 4;
    size_t most = (size_t[]){3, 10, 62, 130}[shoal_random_below(&random, 4)];
    for (size_t row = 0; row < n_rows; row++) {
      for (size_t c = 0; c < n_columns; c++) {
        size += add_cell(&random, block + size, most);
        block[size++] = c + 1 < n_columns ? ',' : '\n';
      }
      if (i % 3 == 0) { /* a carriage return before the newline */
        block[size - 1] = '\r';
        block[size++] = '\n';
      }
    }
    if (i % 5 == 0) size--; /* the last newline is missing */
    if (i % 50 == 0) block[shoal_random_below(&random, size)] = '\0';
    if (i % 50) {
      shoal_csv_problem problem = check_split(block, size, ',', i % 7 ? n_columns : 0);
      n_fine += problem.fault == SHOAL_CSV_OK;
      n_faults += problem.fault != SHOAL_CSV_OK;
      check_whole(block, size, ',');
      check_whole(block, shoal_random_below(&random, size + 1), ',');
    } else if (memchr(block, '\0', size)) { /* all ways find the same, whatever it is */
      char copy[sizeof block + SHOAL_CSV_SLACK] = {0};
      memcpy(copy, block, size);
      shoal_csv_problem first =
          shoal_csv_split_by(SHOAL_SCAN_PORTABLE, copy, size, ',', n_columns, &cells);
      memcpy(copy, block, size);
      shoal_csv_problem best = shoal_csv_split(copy, size, ',', n_columns, &cells);
      assert_true(first.fault == best.fault && first.row == best.row);
      assert_int_not_equal(first.fault, SHOAL_CSV_OK);
    }
  }
  assert_in_range(n_fine, 5000, 29000);
  assert_in_range(n_faults, 1000, 24000);
}

/* What the scan finds is the same in every way, on bytes of any kind. */
static void every_way_of_scanning_finds_the_same(void **state UNUSED) {
  static char block[1000];
  static uint32_t ends[SHOAL_SCAN_WAYS][1000 + 64];
  shoal_random random;
  shoal_random_seed(&random, 641);
  for (unsigned i = 0; i < 20000; i++) {
    size_t size = shoal_random_below(&random, i % 10 ? 200 : sizeof block);
    for (size_t at = 0; at < size; at++)
      block[at] = i % 2 ? (char)shoal_random_below(&random, 256)
                        : "aaaa,\"\"\n\r"[shoal_random_below(&random, 9)];
    shoal_scan first = shoal_scan_block(SHOAL_SCAN_PORTABLE, block, size, ',', ends[0]);
    for (int way = 1; way < SHOAL_SCAN_WAYS; way++) {
      if (!shoal_scan_has((shoal_scan_way)way)) continue;
      shoal_scan scan = shoal_scan_block((shoal_scan_way)way, block, size, ',', ends[way]);
      assert_int_equal(scan.nul, first.nul);
      if (scan.nul) continue;
      assert_int_equal(scan.irregular, first.irregular);
      assert_int_equal(scan.unclosed, first.unclosed);
      assert_int_equal(scan.n_ends, first.n_ends);
      assert_int_equal(scan.n_newlines, first.n_newlines);
      assert_int_equal(scan.after_last, first.after_last);
      assert_memory_equal(ends[way], ends[0], scan.n_ends * sizeof **ends);
    }
  }
}

static void guesses(const char *header, char delimiter) {
  char guess = shoal_csv_guess_delimiter(header, strlen(header));
  if (guess != delimiter) fail_msg("'%c' is guessed for: %s", guess, header);
}

static void the_delimiter_is_the_most_frequent_outside_quotes(void **state UNUSED) {
  guesses("a,b,c\n", ',');
  guesses("a;b,c;d\n", ';');
  guesses("a\tb\tc", '\t');
  guesses("a|b", '|');
  guesses("a;\"b,c,d,e\";f\n", ';');
  guesses("\"a,\"\",b\n,,\";c\n", ';');
  guesses("a;b\n,,,,,,\n", ';');                    /* the header's only */
  guesses("weight, kg;height, m\n3,5;1,80\n", ';'); /* row 1 has one ';', too */
  guesses("a;b\n3,5;1,80\n", ';');
  guesses("a,b\n\"3;5\",1\n", ',');
  guesses("a", ',');
  guesses("", ',');
  guesses("a,b;c", ','); /* the first of equals */
}

/* A quote in the middle of an unquoted cell is taken as it is: csv.h. */
static void a_quote_inside_a_cell_hides_no_delimiter(void **state UNUSED) {
  guesses("width 5\";height;depth\n1;2;3\n", ';');
}

static void faults_are_explained(void **state UNUSED) {
  char text[256];
  shoal_csv_explain((shoal_csv_problem){SHOAL_CSV_RAGGED, 3, 1}, 9, text, sizeof text);
  assert_non_null(strstr(text, "has 1 cell, the header has 9"));
  shoal_csv_explain((shoal_csv_problem){SHOAL_CSV_RAGGED, 3, 8}, 9, text, sizeof text);
  assert_non_null(strstr(text, "has 8 cells, the header has 9"));
  static const char *const words[] = {[SHOAL_CSV_UNCLOSED] = "not closed",
                                      [SHOAL_CSV_STRAY] = "double the quotes",
                                      [SHOAL_CSV_NUL] = "NUL",
                                      [SHOAL_CSV_MEMORY] = "memory"};
  for (size_t fault = SHOAL_CSV_UNCLOSED; fault < COUNT(words); fault++) {
    shoal_csv_explain((shoal_csv_problem){(shoal_csv_fault)fault, 0, 0}, 9, text, sizeof text);
    assert_non_null(strstr(text, words[fault]));
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_cells, end_cells)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(random_small_blocks_split_as_byte_by_byte),
      TEST(all_small_blocks_split_as_byte_by_byte),
      TEST(larger_blocks_of_whole_rows_split_as_byte_by_byte),
      TEST(blocks_around_64_bytes_split_as_byte_by_byte),
      TEST(blocks_of_ends_only_split_as_byte_by_byte),
      TEST(a_nul_is_found_in_its_row),
      TEST(a_fault_of_an_earlier_row_is_told_before_a_nul),
      TEST(whole_records_end_at_the_last_newline_outside_quotes),
      TEST(the_first_record_ends_at_the_first_newline_outside_quotes),
      TEST(cutting_at_whole_records_loses_nothing),
      TEST(quoted_rows_split_as_byte_by_byte_at_every_border),
      TEST(every_way_of_scanning_finds_the_same),
      TEST(the_delimiter_is_the_most_frequent_outside_quotes),
      TEST(a_quote_inside_a_cell_hides_no_delimiter),
      TEST(faults_are_explained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
