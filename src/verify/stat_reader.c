/* SPDX-License-Identifier: Apache-2.0 */
/* verify/stat_reader: libreadstat hands over variables, then values row by row. */
#include "verify/stat_reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "verify/reader.h"

#if SHOAL_READSTAT

#include <readstat.h>

enum { FLUSH_BYTES = 1 << 16 };

typedef struct unpacking {
  const shoal_verify_stat *stat;
  int csv_fd;
  shoal_text csv;
  int n_columns;
  bool write_failed;
} unpacking;

static bool flush(unpacking *u) {
  size_t at = 0;
  while (at < u->csv.size_bytes) {
    ssize_t n = write(u->csv_fd, u->csv.bytes + at, u->csv.size_bytes - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    at += (size_t)n;
  }
  u->write_failed = at < u->csv.size_bytes;
  u->csv.size_bytes = 0;
  return !u->write_failed;
}

/* Every cell is quoted. */
static void add_cell(unpacking *u, int column, const char *text) {
  if (column) shoal_text_add_bytes(&u->csv, &u->stat->delimiter, 1);
  shoal_text_add(&u->csv, "\"");
  for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
    shoal_text_add_bytes(&u->csv, text, (size_t)(quote - text) + 1);
    shoal_text_add(&u->csv, "\"");
  }
  shoal_text_add(&u->csv, text);
  shoal_text_add(&u->csv, column + 1 == u->n_columns ? "\"\n" : "\"");
}

static int take_metadata(readstat_metadata_t *metadata, void *user) {
  ((unpacking *)user)->n_columns = readstat_get_var_count(metadata);
  return READSTAT_HANDLER_OK;
}

static int take_variable(int index, readstat_variable_t *variable, const char *labels, void *user) {
  (void)labels;
  add_cell(user, index, readstat_variable_get_name(variable));
  return READSTAT_HANDLER_OK;
}

static int take_value(int row, readstat_variable_t *variable, readstat_value_t value, void *user) {
  unpacking *u = user;
  int column = readstat_variable_get_index(variable);
  char number[40];
  (void)row;
  if (readstat_value_type_class(value) == READSTAT_TYPE_CLASS_STRING) {
    const char *text = readstat_string_value(value);
    add_cell(u, column, text ? text : "");
  } else if (readstat_value_is_missing(value, variable)) {
    add_cell(u, column, u->stat->missing);
  } else {
    double x = readstat_double_value(value);
    int digits = 14; /* the fewest digits, from 15 on, that give the number */
    do (void)shoal_print_double(number, sizeof number, "%.*g", ++digits, x);
    while (digits < 17 && shoal_parse_double(number, NULL) != x);
    add_cell(u, column, number);
  }
  if (u->csv.failed) return READSTAT_HANDLER_ABORT;
  return u->csv.size_bytes < FLUSH_BYTES || flush(u) ? READSTAT_HANDLER_OK : READSTAT_HANDLER_ABORT;
}

shoal_status shoal_verify_unpack(int fd, const shoal_verify_stat *stat, int csv_fd,
                                 shoal_error *error) {
  char path[40];
  unpacking u = {.stat = stat, .csv_fd = csv_fd};
  readstat_parser_t *parser = readstat_parser_init();
  if (!parser) return shoal_fail_memory(error);
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  (void)readstat_set_metadata_handler(parser, take_metadata);
  (void)readstat_set_variable_handler(parser, take_variable);
  (void)readstat_set_value_handler(parser, take_value);
  readstat_error_t code =
      stat->is_sav ? readstat_parse_sav(parser, path, &u) : readstat_parse_dta(parser, path, &u);
  readstat_parser_free(parser);
  bool ok = code == READSTAT_OK && flush(&u);
  bool no_memory = u.csv.failed || code == READSTAT_ERROR_MALLOC;
  shoal_wipe_free(u.csv.bytes, u.csv.capacity);
  if (no_memory) return shoal_fail_memory(error);
  if (u.write_failed)
    return shoal_fail(error, SHOAL_FAILED,
                      "the release cannot be read back: no room for its cells; nothing was "
                      "written. Check the disk, then retry");
  return ok ? SHOAL_OK
            : shoal_fail(error, SHOAL_FAILED, "the release cannot be read back: %s; %s",
                         readstat_error_message(code), SHOAL_VERIFY_FAULT);
}

#else

shoal_status shoal_verify_unpack(int fd, const shoal_verify_stat *stat, int csv_fd,
                                 shoal_error *error) {
  (void)fd;
  (void)stat;
  (void)csv_fd;
  return shoal_fail(error, SHOAL_FAILED,
                    "the release cannot be read back: shoal has no "
                    "libreadstat; nothing was written");
}

#endif
