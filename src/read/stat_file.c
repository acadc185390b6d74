/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/stat_file: callbacks of libreadstat. A callback that fails keeps its status and aborts the
 * parser; libreadstat's own errors become messages.
 */
#include "read/stat_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/text.h"
#include "read/stat_cell.h"

shoal_stat_kind shoal_stat_kind_of(const char *path) {
  static const unsigned char sas[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc2, 0xea, 0x81, 0x60};
  unsigned char first[16] = {0};
  struct stat info;
  if (strcmp(path, "-") == 0) return SHOAL_STAT_NONE;
  /* the writer of a pipe starts when it is opened, and fails when it is closed */
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return SHOAL_STAT_NONE;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return SHOAL_STAT_NONE;
  ssize_t n = -1;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) n = pread(fd, first, sizeof first, 0);
  (void)close(fd);
  if (n < (ssize_t)sizeof first) return SHOAL_STAT_NONE;
  if (memcmp(first, "$FL2", 4) == 0 || memcmp(first, "$FL3", 4) == 0) return SHOAL_STAT_SAV;
  if (memcmp(first, "<stata_dta>", 11) == 0) return SHOAL_STAT_DTA;
  /* formats 104 to 115: the version, the byte order, the type, and a zero */
  if (first[0] >= 104 && first[0] <= 115 && (first[1] == 1 || first[1] == 2) && first[2] == 1 &&
      first[3] == 0)
    return SHOAL_STAT_DTA;
  return memcmp(first, sas, sizeof sas) == 0 ? SHOAL_STAT_SAS : SHOAL_STAT_NONE;
}

shoal_stat_kind shoal_stat_kind_by_name(const char *path) {
  if (shoal_ends_with(path, ".sav")) return SHOAL_STAT_SAV;
  return shoal_ends_with(path, ".dta") ? SHOAL_STAT_DTA : SHOAL_STAT_NONE;
}

#if SHOAL_READSTAT

#include <readstat.h>

enum { CHUNK_ROWS = 4096 };

/* Cells of one variable that wait to be handed over. */
typedef struct variable {
  char *name;
  char *label_set; /* NULL: none */
  shoal_stat_clock clock;
  shoal_text bytes;
  uint64_t *offsets; /* CHUNK_ROWS + 1 */
} variable;

typedef struct reader {
  const char *file;
  shoal_stat_kind kind;
  const shoal_stat_options *options;
  const shoal_stat_target *target;
  const shoal_run *run;
  bool values; /* the second pass */
  bool says_utf8;
  const char *encoding; /* NULL: as the file says */
  variable *variables;
  size_t n_variables, capacity;
  shoal_strings keys;   /* "set\0value": with its label at the same number in `labels` */
  shoal_strings labels; /* may repeat: shoal_strings_load */
  size_t n_rows;        /* in the chunk */
  uint64_t row;         /* of the file */
  shoal_status status;
  shoal_error error;
} reader;

static int stop(reader *r, shoal_status status) {
  r->status = status;
  return READSTAT_HANDLER_ABORT;
}

static int stop_memory(reader *r) { return stop(r, shoal_fail_memory(&r->error)); }

static bool is_valid_utf8(const char *s, size_t size) {
  for (size_t at = 0, n; at < size; at += n)
    if (!(n = shoal_utf8_size(s + at, size - at))) return false;
  return true;
}

/* ------------------------------------------------------------ first pass */

/* Read before the passes: does the file say that it is UTF-8? */
static int take_metadata(readstat_metadata_t *metadata, void *user) {
  enum { FIRST_UTF8_DTA = 118 };
  reader *r = user;
  const char *encoding = readstat_get_file_encoding(metadata);
  r->says_utf8 = r->kind == SHOAL_STAT_DTA
                     ? readstat_get_file_format_version(metadata) >= FIRST_UTF8_DTA
                     : encoding && strcasecmp(encoding, "UTF-8") == 0;
  return READSTAT_HANDLER_ABORT;
}

static shoal_stat_clock clock_of(const reader *r, const char *format) {
  if (!format) format = "";
  switch (r->kind) {
  case SHOAL_STAT_SAV: return shoal_stat_clock_of_sav(format);
  case SHOAL_STAT_DTA: return shoal_stat_clock_of_dta(format);
  default: return shoal_stat_clock_of_sas(format);
  }
}

static int take_variable(int index, readstat_variable_t *v, const char *label_set, void *user) {
  reader *r = user;
  (void)index;
  if (r->values) return READSTAT_HANDLER_OK;
  if (!shoal_grow(&r->variables, &r->capacity, r->n_variables + 1, sizeof *r->variables))
    return stop_memory(r);
  variable *made = &r->variables[r->n_variables];
  *made = (variable){.clock = clock_of(r, readstat_variable_get_format(v))};
  r->n_variables++;
  const char *name = readstat_variable_get_name(v);
  made->name = strdup(name ? name : "");
  made->offsets = shoal_alloc_zero(CHUNK_ROWS + 1, sizeof *made->offsets);
  if (label_set && *label_set) made->label_set = strdup(label_set);
  if (!made->name || !made->offsets || (label_set && *label_set && !made->label_set))
    return stop_memory(r);
  if (!is_valid_utf8(made->name, strlen(made->name)))
    return stop(r, shoal_fail_at(&r->error, SHOAL_BAD_INPUT, &(shoal_location){.file = r->file},
                                 "the name of variable %zu is not UTF-8: set data.encoding",
                                 r->n_variables));
  return READSTAT_HANDLER_OK;
}

/* The value as text, dates as numbers: labels are found by it. */
static void add_plain(shoal_text *out, readstat_value_t value) {
  switch (readstat_value_type(value)) {
  case READSTAT_TYPE_STRING:
  case READSTAT_TYPE_STRING_REF: {
    const char *text = readstat_string_value(value);
    shoal_text_add(out, text ? text : "");
    break;
  }
  case READSTAT_TYPE_INT8:
    shoal_text_print(out, "%d", (signed char)readstat_int8_value(value));
    break;
  case READSTAT_TYPE_INT16: shoal_text_print(out, "%d", readstat_int16_value(value)); break;
  case READSTAT_TYPE_INT32: shoal_text_print(out, "%d", readstat_int32_value(value)); break;
  case READSTAT_TYPE_FLOAT: shoal_stat_add_float(out, readstat_float_value(value)); break;
  default: shoal_stat_add_number(out, readstat_double_value(value)); break;
  }
}

/* The key of a value's label: the set, a NUL, and the value. */
static void add_key(shoal_text *key, const char *set, readstat_value_t value) {
  key->size_bytes = 0;
  shoal_text_add(key, set);
  shoal_text_add_bytes(key, "", 1);
  add_plain(key, value);
}

static int take_label(const char *set, readstat_value_t value, const char *label, void *user) {
  reader *r = user;
  if (r->values || !r->options->labels || !label || !*label) return READSTAT_HANDLER_OK;
  if (readstat_value_is_system_missing(value) || readstat_value_is_tagged_missing(value))
    return READSTAT_HANDLER_OK;
  shoal_text key;
  shoal_text_init(&key);
  add_key(&key, set, value);
  uint32_t n = r->keys.n_strings;
  uint32_t id = key.failed
                    ? SHOAL_NONE
                    : shoal_strings_intern(&r->keys, (shoal_label){key.bytes, key.size_bytes});
  shoal_text_reset(&key);
  if (id == n && !shoal_strings_load(&r->labels, label, (const uint64_t[]){0, strlen(label)}, 1))
    return stop_memory(r);
  return id == SHOAL_NONE ? stop_memory(r) : READSTAT_HANDLER_OK;
}

/* ------------------------------------------------------------ second pass */

static shoal_status hand_over(reader *r) {
  shoal_text_view *views = shoal_alloc(r->n_variables, sizeof *views);
  if (!views) return shoal_fail_memory(&r->error);
  for (size_t v = 0; v < r->n_variables; v++)
    views[v] = (shoal_text_view){r->variables[v].bytes.bytes, r->variables[v].offsets};
  shoal_status status =
      r->target->rows(r->target->user, views, r->n_variables, r->n_rows, &r->error);
  free(views);
  for (size_t v = 0; v < r->n_variables; v++) r->variables[v].bytes.size_bytes = 0;
  r->n_rows = 0;
  return status;
}

/* The label of a value; bytes NULL: it has none. */
static shoal_label find_label(reader *r, const variable *v, readstat_value_t value) {
  shoal_label none = {NULL, 0};
  if (!r->options->labels || !v->label_set || !r->keys.n_strings) return none;
  shoal_text key;
  shoal_text_init(&key);
  add_key(&key, v->label_set, value);
  uint32_t id = key.failed ? SHOAL_NONE
                           : shoal_strings_find(&r->keys, (shoal_label){key.bytes, key.size_bytes});
  shoal_wipe_free(key.bytes, key.capacity);
  return id == SHOAL_NONE ? none : shoal_strings_get(&r->labels, id);
}

static void add_cell(reader *r, variable *v, readstat_variable_t *of, readstat_value_t value) {
  bool is_text = readstat_value_type_class(value) == READSTAT_TYPE_CLASS_STRING;
  if (readstat_value_is_missing(value, of)) {
    shoal_text_add(&v->bytes, r->options->missing);
    return;
  }
  shoal_label label = find_label(r, v, value);
  if (label.bytes) shoal_text_add_bytes(&v->bytes, label.bytes, label.size_bytes);
  else if (is_text || v->clock.time == SHOAL_STAT_NUMBER) add_plain(&v->bytes, value);
  else shoal_stat_add_time(&v->bytes, v->clock, readstat_double_value(value));
}

static int take_value(int row, readstat_variable_t *of, readstat_value_t value, void *user) {
  reader *r = user;
  size_t index = (size_t)readstat_variable_get_index(of);
  if (row < 0 || index >= r->n_variables) /* a damaged file */
    return READSTAT_HANDLER_ABORT;
  variable *v = &r->variables[index];
  if (index == 0 && r->n_rows == CHUNK_ROWS) {
    shoal_status status = hand_over(r);
    if (status != SHOAL_OK) return stop(r, status);
  }
  if (index == 0) {
    r->n_rows++;
    r->row++;
  }
  if (!r->n_rows) return READSTAT_HANDLER_ABORT;
  size_t before = v->bytes.size_bytes;
  shoal_text_add(&v->bytes, ""); /* empty cells need an address too */
  add_cell(r, v, of, value);
  if (v->bytes.failed) return stop_memory(r);
  size_t size = v->bytes.size_bytes - before;
  if (!is_valid_utf8(v->bytes.bytes + before, size)) {
    shoal_location location = {.file = r->file, .row = r->row, .column = v->name};
    return stop(r,
                shoal_fail_at(&r->error, SHOAL_BAD_INPUT, &location,
                              "the text is not UTF-8: set data.encoding to the file's encoding"));
  }
  v->offsets[r->n_rows] = v->bytes.size_bytes;
  return READSTAT_HANDLER_OK;
}

static int take_progress(double progress, void *user) {
  reader *r = user;
  enum { STEPS = 1000 };
  if (!r->values) return READSTAT_HANDLER_OK;
  shoal_status status =
      shoal_run_report(r->run, "read", (uint64_t)(progress * STEPS), STEPS, "parts", &r->error);
  return status == SHOAL_OK ? READSTAT_HANDLER_OK : stop(r, status);
}

/* ------------------------------------------------------------ both */

static shoal_status explain(reader *r, readstat_error_t code, shoal_error *error) {
  if (r->status != SHOAL_OK) {
    if (error) *error = r->error;
    return r->status;
  }
  shoal_location location = {.file = r->file};
  if (code == READSTAT_ERROR_MALLOC) return shoal_fail_memory(error);
  if (code == READSTAT_ERROR_CONVERT_BAD_STRING || code == READSTAT_ERROR_UNSUPPORTED_CHARSET ||
      code == READSTAT_ERROR_CONVERT)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "its text cannot be decoded: set data.encoding to the file's encoding");
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                       "cannot be read (%s): export it again, or as CSV",
                       readstat_error_message(code));
}

static readstat_error_t parse_kind(reader *r, readstat_parser_t *parser, const char *path) {
  switch (r->kind) {
  case SHOAL_STAT_SAV: return readstat_parse_sav(parser, path, r);
  case SHOAL_STAT_DTA: return readstat_parse_dta(parser, path, r);
  default: return readstat_parse_sas7bdat(parser, path, r);
  }
}

/* A file that says it is UTF-8 is: releases are, also under a policy for an older file. */
static shoal_status find_encoding(reader *r, const char *path, shoal_error *error) {
  readstat_parser_t *parser = readstat_parser_init();
  if (!parser) return shoal_fail_memory(error);
  (void)readstat_set_metadata_handler(parser, take_metadata);
  (void)parse_kind(r, parser, path); /* faults are found again */
  readstat_parser_free(parser);
  if (!r->says_utf8) r->encoding = r->options->encoding;
  return SHOAL_OK;
}

static shoal_status parse(reader *r, const char *path, shoal_error *error) {
  readstat_parser_t *parser = readstat_parser_init();
  if (!parser) return shoal_fail_memory(error);
  (void)readstat_set_variable_handler(parser, take_variable);
  (void)readstat_set_progress_handler(parser, take_progress);
  (void)readstat_set_value_label_handler(parser, take_label);
  if (r->values) (void)readstat_set_value_handler(parser, take_value);
  if (r->encoding) (void)readstat_set_file_character_encoding(parser, r->encoding);
  readstat_error_t code = parse_kind(r, parser, path);
  readstat_parser_free(parser);
  return code == READSTAT_OK ? SHOAL_OK : explain(r, code, error);
}

static shoal_status name_columns(reader *r, shoal_error *error) {
  const char **names = shoal_alloc(r->n_variables, sizeof *names);
  if (!names) return shoal_fail_memory(error);
  for (size_t v = 0; v < r->n_variables; v++) names[v] = r->variables[v].name;
  shoal_status status = r->target->names(r->target->user, names, r->n_variables, error);
  free(names);
  return status;
}

static shoal_status read_both(reader *r, const char *path, shoal_error *error) {
  shoal_location location = {.file = r->file};
  SHOAL_TRY(find_encoding(r, path, error));
  SHOAL_TRY(parse(r, path, error));
  if (!r->n_variables)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "has no variables: export it again");
  SHOAL_TRY(name_columns(r, error));
  r->values = true;
  SHOAL_TRY(parse(r, path, error));
  if (!r->row)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "has no rows: give it at least one");
  shoal_status status = hand_over(r);
  if (status != SHOAL_OK && error) *error = r->error;
  return status;
}

static void reader_reset(reader *r) {
  for (size_t v = 0; v < r->n_variables; v++) {
    free(r->variables[v].name);
    free(r->variables[v].label_set);
    free(r->variables[v].offsets);
    shoal_wipe_free(r->variables[v].bytes.bytes, r->variables[v].bytes.capacity);
  }
  free(r->variables);
  shoal_strings_reset(&r->keys);
  shoal_strings_reset(&r->labels);
}

shoal_status shoal_stat_read(const char *path, const char *file, shoal_stat_kind kind,
                             const shoal_stat_options *options, const shoal_stat_target *target,
                             const shoal_run *run, const char **assumed, shoal_error *error) {
  *assumed = NULL;
  reader r = {.file = file, .kind = kind, .options = options, .target = target, .run = run};
  bool ok = shoal_strings_init(&r.keys) && shoal_strings_init(&r.labels);
  shoal_status status = ok ? read_both(&r, path, error) : shoal_fail_memory(error);
  if (kind == SHOAL_STAT_DTA && !r.says_utf8 && !r.encoding) *assumed = "Windows-1252";
  reader_reset(&r);
  return status;
}

#else

shoal_status shoal_stat_read(const char *path, const char *file, shoal_stat_kind kind,
                             const shoal_stat_options *options, const shoal_stat_target *target,
                             const shoal_run *run, const char **assumed, shoal_error *error) {
  static const char *const names[] = {"", "an SPSS", "a Stata", "a SAS"};
  (void)path;
  (void)options;
  (void)target;
  (void)run;
  *assumed = NULL;
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = file},
                       "is %s file, and this shoal was built without libreadstat: export it as CSV",
                       names[kind]);
}

#endif
