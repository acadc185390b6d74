/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After a table is freed, none of its values is in the heap any more: neither in freed dictionaries
 * nor in buffers that the file went through. The test looks at all its own memory but the stack,
 * for a mark that every value begins with and that is nowhere written out in full.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "table/load.h"

#define UNUSED __attribute__((unused))

enum { MARK_BYTES = 14, N_VALUES = 3000, PIECE_BYTES = 1 << 16 };
static const unsigned long LARGEST = 1UL << 28; /* shadows of sanitizers are larger */

/* "WIPEME-SECRET-", each byte one less. */
static const char shifted[] = "VHODLD,RDBQDS,";
static char path[64];
static shoal_error error;

static void put_mark(char *to) {
  for (size_t i = 0; i < MARK_BYTES; i++) to[i] = (char)(shifted[i] + 1);
}

static bool is_mark(const char *at) {
  for (size_t i = 0; i < MARK_BYTES; i++)
    if (at[i] != shifted[i] + 1) return false;
  return true;
}

/* Every value is new, so that dictionaries grow several times. */
static int start(void **state UNUSED) {
  (void)snprintf(path, sizeof path, "/tmp/shoal-wipe-XXXXXX");
  int fd = mkstemp(path);
  bool ok = fd >= 0 && write(fd, "a,b\n", 4) == 4;
  for (int i = 0; ok && i < N_VALUES; i++) {
    char row[80] = {0};
    put_mark(row);
    int n = snprintf(row + MARK_BYTES, sizeof row - MARK_BYTES, "%d,%d-and-what-makes-it-longer\n",
                     i, i % 7);
    ok = write(fd, row, MARK_BYTES + (size_t)n) == MARK_BYTES + n;
    explicit_bzero(row, sizeof row);
  }
  return ok && close(fd) == 0 ? 0 : -1;
}

static int end(void **state UNUSED) { return unlink(path); }

static size_t marks_between(int fd, unsigned long begin, unsigned long stop) {
  static char piece[PIECE_BYTES + MARK_BYTES];
  size_t found = 0;
  for (unsigned long at = begin; at < stop; at += PIECE_BYTES) {
    size_t want = stop - at < sizeof piece ? stop - at : sizeof piece;
    ssize_t n = pread(fd, piece, want, (off_t)at);
    const char *end_of_starts =
        piece + (n < PIECE_BYTES ? (n > MARK_BYTES ? n - MARK_BYTES : 0) : PIECE_BYTES);
    for (const char *i = piece; i < end_of_starts; i++) {
      i = memchr(i, shifted[0] + 1, (size_t)(end_of_starts - i));
      if (!i) break;
      found += is_mark(i);
    }
    explicit_bzero(piece, sizeof piece);
  }
  return found;
}

/* Marks in writable memory of this process that belongs to no file and is no stack. */
static size_t count_marks(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  int fd = open("/proc/self/mem", O_RDONLY);
  assert_true(maps && fd >= 0);
  char line[512];
  size_t found = 0;
  while (fgets(line, sizeof line, maps)) {
    unsigned long begin, stop;
    char rights[8] = "", name[256] = "";
    int n = sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &begin, &stop, rights, name);
    if (n < 3 || rights[1] != 'w' || rights[3] != 'p' || stop - begin > LARGEST) continue;
    if (name[0] && strcmp(name, "[heap]") != 0) continue;
    found += marks_between(fd, begin, stop);
  }
  (void)fclose(maps);
  (void)close(fd);
  return found;
}

static void read_and_free(unsigned n_threads) {
  shoal_table *table;
  shoal_load_options options = {0};
  shoal_run run = {.n_threads = n_threads};
  assert_int_equal(shoal_table_load(path, &options, &run, &table, &error), SHOAL_OK);
  assert_true(count_marks() >= N_VALUES); /* they can be found */
  shoal_table_free(table);
  assert_int_equal(count_marks(), 0);
}

static void nothing_stays_of_a_file(void **state UNUSED) {
  read_and_free(1);
  read_and_free(2);
}

static void nothing_stays_of_a_table_in_memory(void **state UNUSED) {
  static char bytes[N_VALUES * 24];
  static uint64_t offsets[N_VALUES + 1];
  const char *const names[] = {"a"};
  shoal_table *table;
  for (size_t i = 0; i < N_VALUES; i++) {
    char *cell = bytes + offsets[i];
    put_mark(cell);
    int n = snprintf(cell + MARK_BYTES, 10, "%zu", i);
    offsets[i + 1] = offsets[i] + MARK_BYTES + (uint64_t)n;
  }
  const shoal_text_view view = {bytes, offsets};
  assert_int_equal(shoal_table_new(names, 1, &table, &error), SHOAL_OK);
  assert_int_equal(shoal_table_append(table, &view, 1, N_VALUES, NULL, &error), SHOAL_OK);
  explicit_bzero(bytes, sizeof bytes);
  assert_int_equal(shoal_table_finish(table, NULL, SHOAL_FOR_RELEASE, &error), SHOAL_OK);
  assert_true(count_marks() >= N_VALUES);
  shoal_table_free(table);
  assert_int_equal(count_marks(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_stays_of_a_file),
      cmocka_unit_test(nothing_stays_of_a_table_in_memory),
  };
  return cmocka_run_group_tests(tests, start, end);
}
