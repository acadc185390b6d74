/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a table while the machine fails: each read fails, is interrupted, or gives a single byte;
 * each allocation fails; packed files end too early or have a wrong byte; nothing comes through a
 * pipe. The table is the right one, or there is none, with a reason.
 */
#include "lowmem_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "base/text.h"
#include "shoal/shoal.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { ROWS = 3000, MANY_ROWS = 900000 };

/* ---------------------------------------------------------------- reads that fail */

static long reads_left = -1; /* below 0: all go well */
static int failing_code;     /* 0: that read and those behind it give one byte each */

ssize_t read(int fd, void *bytes, size_t n) {
  if (reads_left > 0) reads_left--;
  else if (reads_left == 0 && failing_code) {
    reads_left = -1;
    errno = failing_code;
    return -1;
  } else if (reads_left == 0 && n > 1) n = 1;
  return syscall(SYS_read, fd, bytes, n);
}

/* ---------------------------------------------------------------- the files */

enum { PLAIN, GZIP, GZIP_PARTS, ZSTD, N_FORMS };
static const char *const ends[N_FORMS] = {"", ".gz", ".gz", ".zst"};
static char folder[64], path[96];
static shoal_text plain;
static shoal_error error;
static size_t packed_size;
static char packed[1 << 16];

static int start(void **state UNUSED) {
  (void)snprintf(folder, sizeof folder, "/tmp/shoal-read-XXXXXX");
  shoal_text_init(&plain);
  shoal_text_add(&plain, "a,b\n");
  for (unsigned i = 0; i < ROWS; i++) shoal_text_print(&plain, "%u,x%u\n", i % 100, i % 9);
  return mkdtemp(folder) && !plain.failed ? 0 : -1;
}

static int end(void **state UNUSED) {
  shoal_text_reset(&plain);
  return rmdir(folder);
}

static size_t gzip(const char *bytes, size_t size, char *out, size_t room) {
  z_stream stream = {0};
  assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = (Bytef *)(uintptr_t)bytes;
  stream.avail_in = (uInt)size;
  stream.next_out = (Bytef *)out;
  stream.avail_out = (uInt)room;
  assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
  size_t made = stream.total_out;
  assert_int_equal(deflateEnd(&stream), Z_OK);
  return made;
}

/* The rows in that form, in `packed`, and the name they are to have. */
static void pack(int form) {
  size_t half = plain.size_bytes / 2;
  (void)snprintf(path, sizeof path, "%s/data.csv%s", folder, ends[form]);
  if (form == PLAIN) {
    packed_size = plain.size_bytes;
    memcpy(packed, plain.bytes, packed_size);
  } else if (form == GZIP) {
    packed_size = gzip(plain.bytes, plain.size_bytes, packed, sizeof packed);
  } else if (form == GZIP_PARTS) { /* as by `cat a.gz b.gz` */
    packed_size = gzip(plain.bytes, half, packed, sizeof packed);
    packed_size += gzip(plain.bytes + half, plain.size_bytes - half, packed + packed_size,
                        sizeof packed - packed_size);
  } else {
    packed_size = ZSTD_compress(packed, sizeof packed, plain.bytes, plain.size_bytes, 3);
    assert_false(ZSTD_isError(packed_size));
  }
}

static void put(const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_true(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* ---------------------------------------------------------------- reading */

static bool stops(void *user, const shoal_progress *progress UNUSED) { return *(bool *)user; }

static shoal_status read_table(const char *from, bool stopped, uint64_t *n_rows) {
  shoal_run run = {.n_threads = 1, .progress = stops, .progress_user = &stopped};
  shoal_table *table = NULL;
  error = (shoal_error){0};
  shoal_status status = shoal_table_read(from, NULL, SHOAL_FOR_REVIEW, NULL, &run, &table, &error);
  *n_rows = status == SHOAL_OK ? shoal_table_rows(table) : 0;
  shoal_table_free(table);
  if (status != SHOAL_OK) {
    assert_int_equal(error.status, status);
    assert_true(error.message[0] != '\0');
  }
  return status;
}

static void every_read_may_fail(void **state UNUSED) {
  static const int codes[] = {EIO, EINTR, 0};
  uint64_t n_rows;
  for (int form = 0; form < N_FORMS; form++) {
    pack(form);
    put(packed, packed_size);
    for (size_t c = 0; c < COUNT(codes); c++)
      for (long n = 0, ended = 0; !ended; n++) {
        reads_left = n;
        failing_code = codes[c];
        shoal_status status = read_table(path, false, &n_rows);
        ended = reads_left > 0 || n == 40;
        bool fails = codes[c] == EIO && reads_left < 0;
        reads_left = -1;
        assert_int_equal(status, fails ? SHOAL_FAILED : SHOAL_OK);
        if (fails) assert_non_null(strstr(error.message, "cannot be read"));
        else assert_int_equal(n_rows, ROWS);
      }
    assert_int_equal(unlink(path), 0);
  }
}

static void every_allocation_may_fail(void **state UNUSED) {
  uint64_t n_rows;
  fails_once = true;
  for (int form = 0; form < N_FORMS; form++) {
    pack(form);
    put(packed, packed_size);
    for (long n = 0, ended = 0; !ended; n++) {
      allocations_left = n;
      shoal_status status = read_table(path, false, &n_rows);
      ended = allocations_left >= 0;
      allocations_left = -1;
      if (status == SHOAL_OK) assert_int_equal(n_rows, ROWS);
      else assert_int_equal(status, SHOAL_FAILED);
    }
    assert_int_equal(unlink(path), 0);
  }
}

/* A packed file that lacks its end, or has a wrong byte, is never taken for a shorter table. */
static void broken_files_are_refused(void **state UNUSED) {
  uint64_t n_rows;
  for (int form = GZIP; form < N_FORMS; form++) {
    pack(form);
    for (size_t size = 1; size < packed_size; size += 1 + packed_size / 90) {
      put(packed, size);
      shoal_status status = read_table(path, false, &n_rows);
      if (status != SHOAL_BAD_INPUT) fail_msg("form %d, %zu bytes: %d", form, size, (int)status);
    }
    for (size_t at = 0; at < packed_size; at += 1 + packed_size / 90) {
      packed[at] ^= 0x55;
      put(packed, packed_size);
      packed[at] ^= 0x55;
      shoal_status status = read_table(path, false, &n_rows);
      if (status == SHOAL_OK) assert_int_equal(n_rows, ROWS); /* such as the time in gzip's head */
      else assert_int_equal(status, SHOAL_BAD_INPUT);
    }
    put("", 0);
    assert_int_equal(read_table(path, false, &n_rows), SHOAL_BAD_INPUT);
    put("a,b\n1,2\n", 8);
    assert_int_equal(read_table(path, false, &n_rows), SHOAL_BAD_INPUT);
    assert_non_null(strstr(error.message, "is named"));
    assert_int_equal(unlink(path), 0);
  }
}

/* ---------------------------------------------------------------- stopped */

/* Some bytes have come through the pipe, and no more come. */
static void waiting_can_be_stopped(void **state UNUSED) {
  uint64_t n_rows;
  for (int form = 0; form < N_FORMS; form++)
    for (int part = 0; part < 3; part++) {
      int ends_of[2];
      char name[40];
      pack(form);
      assert_int_equal(pipe(ends_of), 0);
      size_t size = packed_size * (size_t)part / 3;
      assert_int_equal(write(ends_of[1], packed, size), size);
      (void)snprintf(name, sizeof name, "/dev/fd/%d", ends_of[0]);
      assert_int_equal(read_table(name, true, &n_rows), SHOAL_CANCELLED);
      (void)close(ends_of[0]);
      (void)close(ends_of[1]);
    }
}

/* What is unpacked ahead has nowhere to go any more. */
static void unpacking_can_be_stopped(void **state UNUSED) {
  uint64_t n_rows;
  shoal_text many;
  shoal_text_init(&many);
  for (unsigned i = 0; i < MANY_ROWS; i++) shoal_text_add(&many, "aaaa,b\n");
  (void)snprintf(path, sizeof path, "%s/data.csv.gz", folder);
  put(packed, gzip(many.bytes, many.size_bytes, packed, sizeof packed));
  shoal_text_reset(&many);
  assert_int_equal(read_table(path, true, &n_rows), SHOAL_CANCELLED);
  put("", 0);
  assert_int_equal(unlink(path), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_read_may_fail),      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(broken_files_are_refused), cmocka_unit_test(waiting_can_be_stopped),
      cmocka_unit_test(unpacking_can_be_stopped),
  };
  return cmocka_run_group_tests(tests, start, end);
}
