/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the verifier reads: releases of many classes while memory runs out, compressed ones while
 * zlib and zstd fail, large ones that are cut into parts in the middle of huge rows, while reads
 * fail, while the file changes, or until somebody cancels. A release is proven if all of it was
 * read, and else not.
 */
#include "lowmem_memory.h"
#include "lowmem_packing.h"
#include "lowmem_system.h"

#include <setjmp.h>
#include <stddef.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/text.h"
#include "verify/same.h"
#include "verify/verify.h"
#include "verify_request.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

static const char *const columns[] = {"age", "ill"};
static const char *const missing[] = {"?"};
static shoal_verify_parameter k = {"k", "1"};
static const shoal_verify_model model = {
    .name = "k-anonymity", .parameters = &k, .n_parameters = 1};
static shoal_verify_request request;
static shoal_verify_finding finding;
static shoal_error error;

static void ask(uint64_t n_rows) {
  k.value = "1";
  request = request_on(columns, 2, &model);
  request.n_rows = n_rows;
}

static int file_of(const void *bytes, size_t size) {
  int fd = memfd_create("test", 0);
  assert_true(fd >= 0);
  for (size_t at = 0; at < size;) {
    ssize_t n = write(fd, (const char *)bytes + at, size - at);
    assert_true(n > 0);
    at += (size_t)n;
  }
  return fd;
}

static shoal_status prove_fd(int fd, const shoal_run *run) {
  error = (shoal_error){0};
  finding = (shoal_verify_finding){0};
  return shoal_verify(fd, &request, run, &finding, &error);
}

static shoal_status prove(const void *bytes, size_t size) {
  int fd = file_of(bytes, size);
  shoal_status status = prove_fd(fd, NULL);
  assert_int_equal(close(fd), 0);
  return status;
}

static void fails_with(const char *release, const char *message) {
  assert_int_equal(prove(release, strlen(release)), SHOAL_FAILED);
  if (!strstr(error.message, message)) fail_msg("%s", error.message);
}

/* ---------------------------------------------------------------- small releases */

static void another_header_proves_nothing(void **state UNUSED) {
  ask(1);
  assert_int_equal(prove("age,ill\n1,a\n", 12), SHOAL_OK);
  fails_with("agf,ill\n1,a\n", "the wrong header");
  fails_with("age,il\n1,a\n", "the wrong header");
  fails_with("\x1fge,ill\n1,a\n", "the wrong header"); /* nearly gzip */
  fails_with("(ge,ill\n1,a\n", "the wrong header");    /* nearly zstd */
}

static void a_cell_that_a_spreadsheet_would_run_is_seen(void **state UNUSED) {
  uint8_t marks[2] = {0};
  ask(2);
  request.formulas_quoted = true;
  fails_with("age,ill\n=1,a\n,b\n", "column 'age'");
  assert_int_equal(prove("age,ill\n'=1,a\n,b\n", 16), SHOAL_OK);
  request.formulas_quoted = false;
  request.formulas = marks;
  assert_int_equal(prove("age,ill\n1,@a\n,\n", 15), SHOAL_OK);
  assert_true(!marks[0] && marks[1]);
}

static void claims_that_fit_no_memory_prove_nothing(void **state UNUSED) {
  ask(1);
  request.n_columns = SIZE_MAX;
  assert_int_equal(prove("age,ill\n1,a\n", 12), SHOAL_FAILED);
  ask(1);
  request.n_sensitive = SIZE_MAX / 64;
  assert_int_equal(prove("age,ill\n1,a\n", 12), SHOAL_FAILED);
}

/* A number, behind these bytes, that the first table of the verifier keeps in its last slot. */
static void find_last(char before, char *text, size_t room) {
  for (unsigned i = 1000;; i++) {
    (void)snprintf(text, room, "%c%u", before, i);
    if (shoal_hash_bytes(text, strlen(text)) >> 54 == 1023) return;
  }
}

/* The last slot of each table is looked at, too: that of a class, and that of a guarding node. */
static void what_lies_in_the_last_slot_counts(void **state UNUSED) {
  char key[16], label[16], text[64];
  const char *path[] = {label, "*", NULL};
  const shoal_verify_value value = {.value = "a", .path = path};
  const shoal_verify_knowledge known = {.values = &value, .n_values = 1};
  shoal_verify_parameter guarded[] = {{"column", "guard"}, {"breach", "1"}};
  shoal_verify_model models[] = {
      model, {.name = "personalized", .parameters = guarded, .n_parameters = 2}};
  find_last(4, key, sizeof key); /* a class: the length of its cell, and the cell */
  assert_int_equal(strlen(key), 5);
  find_last('g', label, sizeof label);
  ask(2);
  request.attributes = &known;
  request.models = models;
  request.n_models = 2;
  (void)snprintf(text, sizeof text, "guard\n%s\n%s\n", label, label);
  request.guards_fd = file_of(text, strlen(text));
  (void)snprintf(text, sizeof text, "age,ill\n%s,a\n%s,a\n", key + 1, key + 1);
  k.value = "2";
  assert_int_equal(prove(text, strlen(text)), SHOAL_OK);
  assert_true(finding.n_classes == 1 && finding.smallest_class == 2);
  k.value = "3";
  fails_with(text, "violates k-anonymity (k = 3): 1 class, 2 rows");
  k.value = "2";
  guarded[1].value = "0.99";
  fails_with(text, "violates personalized");
  assert_int_equal(close(request.guards_fd), 0);
}

/* ---------------------------------------------------------------- memory */

enum { MANY = 1600 };

/* As many classes as values, more than the first tables have slots for. */
static void many_classes_without_memory_prove_nothing(void **state UNUSED) {
  static char names[MANY][8];
  static shoal_verify_value values[MANY];
  static const shoal_verify_knowledge known = {.values = values, .n_values = MANY};
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, "age,ill\n");
  for (unsigned r = 0; r < MANY; r++) {
    (void)snprintf(names[r], sizeof names[r], "v%u", r);
    values[r].value = names[r];
    shoal_text_print(&text, "%u,v%u\n", r, r);
  }
  assert_false(text.failed);
  fails_once = true;
  for (unsigned way = 0; way < 3; way++) {
    ask(MANY);
    if (way > 0) request.attributes = &known;
    if (way > 1) request.missing = missing;
    request.n_missing = way > 1;
    long n = 0;
    for (bool ended = false; !ended; n++) {
      allocations_left = n;
      shoal_status status = prove(text.bytes, text.size_bytes);
      ended = allocations_left >= 0;
      allocations_left = -1;
      assert_int_equal(status, ended ? SHOAL_OK : SHOAL_FAILED);
    }
    assert_true(n > 15 && finding.n_classes == MANY);
  }
  shoal_text_reset(&text);
}

/* ---------------------------------------------------------------- compressed releases */

enum { PACKED_ROWS = 1000, HUGE_CELL = 5 << 18 };

/* Rows, and one that is larger than the reader's window. */
static void make_content(shoal_text *text) {
  shoal_text_init(text);
  shoal_text_add(text, "age,ill\n");
  for (unsigned r = 0; r < PACKED_ROWS; r++)
    shoal_text_print(text, "%0400u,v%u\n", r * 2654435761u, r % 7);
  char *cell = malloc(HUGE_CELL);
  assert_non_null(cell);
  uint32_t noise = 1;
  for (size_t i = 0; i < HUGE_CELL; i++) {
    noise = noise * 1664525u + 1013904223u;
    cell[i] = (char)('a' + (noise >> 24) % 26);
  }
  shoal_text_add_bytes(text, cell, HUGE_CELL);
  shoal_text_add(text, ",v1\n");
  free(cell);
  assert_false(text->failed);
}

static size_t pack_gzip(const shoal_text *text, unsigned char *to, size_t room) {
  z_stream gzip = {0};
  assert_int_equal(deflateInit2(&gzip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  gzip.next_in = (Bytef *)text->bytes;
  gzip.avail_in = (uInt)text->size_bytes;
  gzip.next_out = to;
  gzip.avail_out = (uInt)room;
  assert_int_equal(deflate(&gzip, Z_FINISH), Z_STREAM_END);
  size_t size = room - gzip.avail_out;
  assert_int_equal(deflateEnd(&gzip), Z_OK);
  return size;
}

static size_t pack(bool zstd, const shoal_text *text, unsigned char *to, size_t room) {
  if (!zstd) return pack_gzip(text, to, room);
  size_t size = ZSTD_compress(to, room, text->bytes, text->size_bytes, 1);
  assert_false(ZSTD_isError(size));
  return size;
}

static void check_faults(bool zstd, const unsigned char *packed, size_t size) {
  static const enum packing_fault faults[] = {PACKING_NO_INIT, PACKING_NO_RESET, PACKING_NO_WORK};
  for (size_t i = 0; i < (zstd ? 1 : COUNT(faults)); i++) {
    packing_fault = faults[i];
    assert_int_equal(prove(packed, size), SHOAL_FAILED);
  }
  packing_fault = PACKING_LATE_END;
  assert_int_equal(prove(packed, size), SHOAL_OK);
  packing_fault = PACKING_SOUND;
}

static void compressed_releases_are_read_whole_or_not_proven(void **state UNUSED) {
  shoal_text text;
  make_content(&text);
  size_t room = text.size_bytes + (1 << 16);
  unsigned char *packed = malloc(room);
  assert_non_null(packed);
  for (int zstd = 0; zstd < 2; zstd++) {
    size_t size = pack(zstd, &text, packed, room);
    ask(PACKED_ROWS + 1);
    assert_int_equal(prove(packed, size), SHOAL_OK);
    assert_int_equal(finding.n_rows, PACKED_ROWS + 1);
    check_faults(zstd, packed, size);
    static const size_t cut[] = {1, 4, 9, 100, 3000, 70000};
    for (size_t i = 0; i < COUNT(cut); i++) {
      assert_int_equal(prove(packed, size - cut[i]), SHOAL_FAILED);
      assert_non_null(strstr(error.message, "unexpected end of file"));
    }
    if (zstd) packed[4] |= 0x08; /* a bit that must not be set */
    else memset(packed + size / 2, 0xff, 100);
    assert_int_equal(prove(packed, size), SHOAL_FAILED);
    assert_non_null(strstr(error.message, "cannot be decompressed again"));
  }
  free(packed);
  shoal_text_reset(&text);
}

static void compressed_releases_without_memory_prove_nothing(void **state UNUSED) {
  shoal_text text;
  make_content(&text);
  size_t room = text.size_bytes + (1 << 16);
  unsigned char *packed = malloc(room);
  assert_non_null(packed);
  size_t size = pack(true, &text, packed, room);
  ask(PACKED_ROWS + 1);
  fails_once = true;
  long n = 0;
  for (bool ended = false; !ended; n++) {
    allocations_left = n;
    shoal_status status = prove(packed, size);
    ended = allocations_left >= 0;
    allocations_left = -1;
    assert_int_equal(status, ended ? SHOAL_OK : SHOAL_FAILED);
  }
  for (long call = 4; call < 8; call++) { /* the first only asks whether there can be parts */
    n_calls = 0;
    call_that_fails = call / 2;
    failing_code = call % 2 ? EIO : EINTR;
    int fd = file_of(packed, size);
    counts_calls = true;
    shoal_status status = prove_fd(fd, NULL);
    counts_calls = false;
    assert_int_equal(status, call % 2 ? SHOAL_FAILED : SHOAL_OK);
    assert_int_equal(close(fd), 0);
  }
  free(packed);
  shoal_text_reset(&text);
}

/* ---------------------------------------------------------------- parts */

enum { MEGABYTE = 1 << 20, LABEL = 2000 };

/* Rows of long labels, two a class, up to so many bytes in all. */
static void add_rows(shoal_text *text, size_t up_to, unsigned *n_rows) {
  for (; text->size_bytes < up_to || *n_rows % 2; ++*n_rows)
    shoal_text_print(text, "%0*u,v%u\n", (int)LABEL, *n_rows / 2, *n_rows % 2);
}

static void add_huge_row(shoal_text *text, size_t size, unsigned *n_rows) {
  char *cell = malloc(size);
  assert_non_null(cell);
  memset(cell, 'x', size);
  shoal_text_add_bytes(text, cell, size);
  shoal_text_add(text, ",v0\n");
  free(cell);
  ++*n_rows;
}

/* 3.5 MB of rows, a row of 6 MB, 3.5 MB of rows: the second third has no end of a row. */
static unsigned make_three_parts(shoal_text *text) {
  unsigned n_rows = 0;
  shoal_text_init(text);
  shoal_text_add(text, "age,ill\n");
  add_rows(text, 7 * MEGABYTE / 2, &n_rows);
  add_huge_row(text, 6 * MEGABYTE, &n_rows);
  add_rows(text, 13 * MEGABYTE, &n_rows);
  assert_false(text->failed);
  return n_rows;
}

static off_t changing_at;
static unsigned times_read;

/* Before a place is read, which is when a part's first row is sought there, a row ends there. */
static void change_file(int fd, off_t at) {
  if (at == changing_at && ++times_read == 1)
    assert_int_equal(syscall(SYS_pwrite64, fd, "\n", 1, at), 1);
}

static void a_row_larger_than_a_part_is_read_once(void **state UNUSED) {
  static const shoal_run three = {.n_threads = 3};
  uint8_t marks[2] = {0};
  shoal_text text;
  unsigned n_rows = make_three_parts(&text);
  uint64_t part = text.size_bytes / 3;
  ask(n_rows);
  request.formulas = marks;
  int fd = file_of(text.bytes, text.size_bytes);
  assert_int_equal(prove_fd(fd, &three), SHOAL_OK);
  assert_int_equal(finding.n_rows, n_rows);
  static const int codes[] = {EINTR, EIO};
  for (size_t i = 0; i < 4;
       i++) { /* while quotes are looked for, and when a row's start is sought */
    n_calls = 0;
    call_that_fails = i < 2 ? 3 : 5;
    failing_code = codes[i % 2];
    counts_calls = true;
    assert_int_equal(prove_fd(fd, &three), SHOAL_OK);
    counts_calls = false;
    assert_int_equal(finding.n_rows, n_rows);
  }
  changing_at = (off_t)(2 * part);
  times_read = 0;
  before_pread = change_file;
  assert_int_equal(prove_fd(fd, &three), SHOAL_FAILED);
  before_pread = NULL;
  assert_int_equal(times_read, 1);
  assert_non_null(strstr(error.message, "fewer cells"));
  assert_int_equal(close(fd), 0);
  shoal_text_reset(&text);
}

/* Quotes are counted where some are near a cut; if that fails, one reader goes over all. */
static void quotes_that_cannot_be_counted_leave_one_part(void **state UNUSED) {
  static const shoal_run three = {.n_threads = 3};
  unsigned n_rows = 0;
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, "age,ill\n");
  for (; text.size_bytes < 13 * MEGABYTE || n_rows % 2; n_rows++)
    shoal_text_print(&text, "\"%0*u\",v%u\n", (int)LABEL, n_rows / 2, n_rows % 2);
  assert_false(text.failed);
  ask(n_rows);
  int fd = file_of(text.bytes, text.size_bytes);
  for (long call = 0; call < 8; call++) { /* 0: none fails */
    n_calls = 0;
    call_that_fails = call;
    failing_code = EIO;
    only_call = "pread";
    counts_calls = true;
    assert_int_equal(prove_fd(fd, &three), SHOAL_OK);
    counts_calls = false;
    only_call = NULL;
    assert_int_equal(finding.n_rows, n_rows);
  }
  assert_int_equal(close(fd), 0);
  shoal_text_reset(&text);
}

static bool cancel(void *user, const shoal_progress *progress) {
  (void)progress;
  return ++*(unsigned *)user > 0;
}

/* The last row is huge and has no end: one reader can tell better. */
static void a_last_row_without_an_end_is_read(void **state UNUSED) {
  unsigned n_rows = 0, n_reports = 0;
  const shoal_run two = {.n_threads = 2};
  const shoal_run cancelled = {.n_threads = 2, .progress = cancel, .progress_user = &n_reports};
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, "age,ill\n");
  add_rows(&text, 7 * MEGABYTE / 2, &n_rows);
  add_huge_row(&text, 5 * MEGABYTE, &n_rows);
  assert_false(text.failed);
  ask(n_rows);
  int fd = file_of(text.bytes, text.size_bytes - 1);
  assert_int_equal(prove_fd(fd, &two), SHOAL_OK);
  assert_int_equal(finding.n_rows, n_rows);
  assert_int_equal(close(fd), 0);
  fd = file_of(text.bytes, text.size_bytes);
  assert_int_equal(prove_fd(fd, &cancelled), SHOAL_CANCELLED);
  assert_int_equal(error.status, SHOAL_CANCELLED);
  assert_int_equal(shoal_verify(fd, &request, &cancelled, &finding, NULL), SHOAL_CANCELLED);
  assert_int_equal(n_reports, 2);
  assert_int_equal(close(fd), 0);
  shoal_text_reset(&text);
}

/* The last allocations are those of adding the parts up, and of the verdict. */
static void parts_that_cannot_be_added_up_prove_nothing(void **state UNUSED) {
  static const shoal_run two = {.n_threads = 2};
  enum { LAST = 16, PLENTY = 1000000 };
  unsigned n_rows = 0, n_failed = 0;
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_add(&text, "age,ill\n");
  add_rows(&text, 8 * MEGABYTE + 4096, &n_rows);
  assert_false(text.failed);
  ask(n_rows);
  k.value = "2";
  int fd = file_of(text.bytes, text.size_bytes);
  fails_once = true;
  allocations_left = PLENTY;
  assert_int_equal(prove_fd(fd, &two), SHOAL_OK);
  long n_all = PLENTY - allocations_left;
  for (long n = n_all - 1; n >= 0 && n >= n_all - LAST; n--) {
    allocations_left = n;
    shoal_status status = prove_fd(fd, &two);
    allocations_left = -1;
    n_failed += status == SHOAL_FAILED;
    assert_true(status == SHOAL_FAILED || finding.n_rows == n_rows);
  }
  assert_true(n_failed > 8);
  assert_int_equal(close(fd), 0);
  shoal_text_reset(&text);
}

/* ------------------------------------------------------------ rows that a database returned */

static shoal_status compare(const char *verified, const char *returned, bool counted) {
  error = (shoal_error){0};
  int fd = file_of(verified, strlen(verified)), other = file_of(returned, strlen(returned));
  shoal_status status = shoal_verify_same_rows(fd, other, ',', 2, counted, NULL, &error);
  assert_int_equal(status == SHOAL_OK ? SHOAL_OK : SHOAL_NOT_VERIFIED,
                   status == SHOAL_OK ? SHOAL_OK : error.status);
  (void)close(fd);
  (void)close(other);
  return status;
}

static void returned_rows_are_the_verified_ones_in_any_order(void **state UNUSED) {
  static const char verified[] = "age,ill\n30,flu\n30,flu\n41,cold\n,\n";
  static const struct {
    const char *rows, *counted;
    bool same;
  } cases[] = {
      {"30,flu\n30,flu\n41,cold\n,\n", "2,30,flu\n1,41,cold\n1,,\n", true},
      {",\n41,cold\n30,flu\n30,flu\n", "1,30,flu\n1,,\n1,41,cold\n1,30,flu\n", true},
      {"\"30\",flu\n30,\"flu\"\n41,cold\n\"\",\n", "\"2\",30,flu\n1,41,cold\n1,,\n", true},
      {"30,flu\n41,cold\n,\n", "1,30,flu\n1,41,cold\n1,,\n", false},          /* one is absent */
      {"30,flu\n41,cold\n41,cold\n,\n", "1,30,flu\n2,41,cold\n1,,\n", false}, /* or another */
      {"30,flu\n30,cold\n41,flu\n,\n", "1,30,flu\n1,30,cold\n1,41,flu\n1,,\n", false},
      {"flu,30\n30,flu\n41,cold\n,\n", "1,flu,30\n1,30,flu\n1,41,cold\n1,,\n", false},
      {"30,flu\n30,flu\n41,cold\n,\n,\n", "2,30,flu\n1,41,cold\n2,,\n", false}, /* one more */
      {"30f,lu\n30,flu\n41,cold\n,\n", "1,30f,lu\n1,30,flu\n1,41,cold\n1,,\n", false},
      {"30,flu \n30,flu\n41,cold\n,\n", "1,30,flu \n1,30,flu\n1,41,cold\n1,,\n", false},
      {"", "", false},
      {"", "x,30,flu\n1,41,cold\n1,,\n", false}, /* counts that are none */
      {"", "2.0,30,flu\n1,41,cold\n1,,\n", false},
      {"", "-2,30,flu\n1,41,cold\n1,,\n", false},
      {"", "18446744073709551618,30,flu\n1,41,cold\n1,,\n", false}, /* 2 modulo 2^64 */
      {"", "5,30,flu\n1,41,cold\n18446744073709551614,,\n", false},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    assert_int_equal(compare(verified, cases[i].rows, false) == SHOAL_OK, cases[i].same);
    assert_int_equal(compare(verified, cases[i].counted, true) == SHOAL_OK, cases[i].same);
  }
  assert_int_equal(compare("age,ill\n", "", false), SHOAL_OK);
  error = (shoal_error){0};
  int fd = file_of("age,ill\n30,flu\n", 15), broken = file_of("30\n", 3);
  assert_int_not_equal(shoal_verify_same_rows(fd, broken, ',', 2, false, NULL, &error), SHOAL_OK);
  assert_int_not_equal(shoal_verify_same_rows(broken, fd, ',', 2, false, NULL, &error), SHOAL_OK);
  (void)close(fd);
  (void)close(broken);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(returned_rows_are_the_verified_ones_in_any_order),
      cmocka_unit_test(another_header_proves_nothing),
      cmocka_unit_test(a_cell_that_a_spreadsheet_would_run_is_seen),
      cmocka_unit_test(claims_that_fit_no_memory_prove_nothing),
      cmocka_unit_test(what_lies_in_the_last_slot_counts),
      cmocka_unit_test(many_classes_without_memory_prove_nothing),
      cmocka_unit_test(compressed_releases_are_read_whole_or_not_proven),
      cmocka_unit_test(compressed_releases_without_memory_prove_nothing),
      cmocka_unit_test(a_row_larger_than_a_part_is_read_once),
      cmocka_unit_test(quotes_that_cannot_be_counted_leave_one_part),
      cmocka_unit_test(a_last_row_without_an_end_is_read),
      cmocka_unit_test(parts_that_cannot_be_added_up_prove_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
