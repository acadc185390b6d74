/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/trace: labels against values, column by column on several threads, then the sum of the
 * rows' hashes, in ranges of rows on several threads.
 */
#include "verify/trace.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "verify/counter.h"
#include "verify/meaning.h"

uint64_t shoal_verify_cell_hash(size_t column, const char *bytes, size_t size_bytes) {
  uint64_t hash = shoal_hash_bytes(bytes, size_bytes);
  return shoal_hash_word(hash + (column + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint32_t code_at(const shoal_verify_source *source, uint64_t row) {
  switch (source->code_size) {
  case 1: return ((const uint8_t *)source->codes)[row];
  case 2: return ((const uint16_t *)source->codes)[row];
  default: return ((const uint32_t *)source->codes)[row];
  }
}

/* ---------------------------------------------------------------- labels cover values */

enum { MAX_KNOWN_BITS = 1 << 28 }; /* pairs of a label and a value that are remembered, in bits */

/* One quasi-identifier. */
typedef struct labels_check {
  const shoal_verify_trace *trace;
  const shoal_verify_source *source;
  shoal_verify_checker checker;
  shoal_verify_range *of_value, *of_label;    /* kinds with ranges (meaning.h) */
  uint8_t *has_value_range, *has_label_range; /* 0: it is no number or date, such as "*" */
  uint64_t *known; /* other kinds: bit label * n_values + value, the label covers it; NULL: none */
  bool no_memory;
} labels_check;

static bool labels_check_init(labels_check *c) {
  const shoal_verify_source *source = c->source;
  if (shoal_verify_has_ranges(source->meaning)) {
    const shoal_verify_strings *values = &c->source->values, *labels = &c->source->labels;
    c->of_value = shoal_alloc(values->n, sizeof *c->of_value);
    c->of_label = shoal_alloc(labels->n, sizeof *c->of_label);
    c->has_value_range = shoal_alloc(values->n, 1);
    c->has_label_range = shoal_alloc(labels->n, 1);
    if (!c->of_value || !c->of_label || !c->has_value_range || !c->has_label_range) return false;
    for (uint32_t v = 0; v < values->n; v++)
      c->has_value_range[v] =
          shoal_verify_value_range(&c->checker, shoal_verify_string_at(values, v), &c->of_value[v]);
    for (uint32_t l = 0; l < labels->n; l++)
      c->has_label_range[l] =
          shoal_verify_label_range(&c->checker, shoal_verify_string_at(labels, l), &c->of_label[l]);
    return true;
  }
  uint64_t bits = (uint64_t)source->labels.n * source->values.n;
  if (!source->label_of_group || bits > MAX_KNOWN_BITS) return true;
  c->known = shoal_alloc_zero((size_t)(bits / 64 + 1), sizeof *c->known);
  return c->known != NULL;
}

static void labels_check_reset(labels_check *c) {
  shoal_verify_checker_reset(&c->checker);
  free(c->of_value);
  free(c->of_label);
  free(c->has_value_range);
  free(c->has_label_range);
  free(c->known);
}

/* Does it? Reads both texts. */
static bool covers_text(labels_check *c, uint32_t label, uint32_t value) {
  bool covers;
  if (shoal_verify_covers(&c->checker, shoal_verify_string_at(&c->source->labels, label),
                          shoal_verify_string_at(&c->source->values, value), &covers))
    return covers;
  c->no_memory = true;
  return false;
}

static bool covers(labels_check *c, uint32_t label, uint32_t value) {
  if (c->of_value && c->has_value_range[value] && c->has_label_range[label])
    return shoal_verify_range_covers(&c->of_label[label], &c->of_value[value]);
  if (!c->known) return covers_text(c, label, value);
  uint64_t bit = (uint64_t)label * c->source->values.n + value;
  if (c->known[bit / 64] >> bit % 64 & 1) return true;
  if (!covers_text(c, label, value)) return false;
  c->known[bit / 64] |= UINT64_C(1) << bit % 64;
  return true;
}

/* Is the row's label written, rather than a star? */
static bool is_labelled(const labels_check *c, uint32_t group) {
  return c->trace->action_of_group[group] == SHOAL_VERIFY_KEPT &&
         !(c->source->stars && c->source->stars[group]);
}

/* Labels by code: one pair for each value. */
static bool check_values(labels_check *c) {
  for (uint32_t v = 0; v < c->source->values.n; v++)
    if (!covers(c, c->source->label_of_code[v], v)) return false;
  return true;
}

static bool check_rows(labels_check *c) {
  const shoal_verify_source *source = c->source;
  for (uint64_t row = 0; row < c->trace->n_rows; row++) {
    uint32_t group = c->trace->group_of_row[row];
    if (is_labelled(c, group) && !covers(c, source->label_of_group[group], code_at(source, row)))
      return false;
  }
  return true;
}

static shoal_status check_column(const shoal_verify_request *request, size_t column,
                                 shoal_error *error) {
  labels_check c = {.trace = request->trace, .source = &request->trace->sources[column]};
  shoal_verify_fold fold = {0};
  if (request->folds) fold = request->folds[column];
  fold.decimal = '.'; /* of values and labels; only the file has decimal commas */
  bool ready =
      shoal_verify_checker_init(&c.checker, c.source->meaning, &fold) && labels_check_init(&c);
  bool ok = ready && (c.source->label_of_group ? check_rows(&c) : check_values(&c));
  bool no_memory = !ready || c.no_memory;
  labels_check_reset(&c);
  if (no_memory) return shoal_fail_memory(error);
  if (ok) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED,
                    "column '%.200s' of the release has a label that does not cover the value of "
                    "its row, or is malformed; %s",
                    request->columns[column], SHOAL_VERIFY_FAULT);
}

/* ---------------------------------------------------------------- hashes of cells */

/* Decimal points as the release writes them: a mark between two digits. */
static void swap_marks(char *bytes, size_t size_bytes) {
  for (size_t i = 1; i + 1 < size_bytes; i++) {
    bool between =
        bytes[i - 1] >= '0' && bytes[i - 1] <= '9' && bytes[i + 1] >= '0' && bytes[i + 1] <= '9';
    if (between && bytes[i] == '.') bytes[i] = ',';
    else if (between && bytes[i] == ',') bytes[i] = '.';
  }
}

/*
 * Does a cell get an apostrophe? Formulas do, and what looks like one with an apostrophe already,
 * or like a signed number with one: different cells stay different.
 */
static bool is_quoted(shoal_verify_cell cell) {
  bool has_one = false;
  for (; cell.size_bytes && *cell.bytes == '\''; has_one = true, cell.size_bytes--) cell.bytes++;
  if (shoal_verify_is_formula(&cell)) return true;
  return has_one && cell.size_bytes && (*cell.bytes == '+' || *cell.bytes == '-');
}

/* The hash of a text as the release must spell it; scratch->failed: no memory. */
static uint64_t hash_text(const shoal_verify_request *request, size_t column,
                          shoal_verify_string text, shoal_text *scratch) {
  const shoal_verify_source *source = &request->trace->sources[column];
  if (!source->commas && !request->formulas_quoted)
    return shoal_verify_cell_hash(column, text.bytes, text.size_bytes);
  shoal_text_cut(scratch, 0);
  shoal_text_add(scratch, "'");
  shoal_text_add_bytes(scratch, text.bytes, text.size_bytes);
  if (scratch->failed) return 0;
  shoal_verify_cell cell = {.bytes = scratch->bytes + 1, .size_bytes = text.size_bytes};
  if (source->commas) swap_marks(cell.bytes, cell.size_bytes);
  if (request->formulas_quoted && is_quoted(cell))
    return shoal_verify_cell_hash(column, scratch->bytes, scratch->size_bytes);
  return shoal_verify_cell_hash(column, cell.bytes, cell.size_bytes);
}

/* The hashes of n strings, in the order of `of` if given. NULL: no memory. */
static uint64_t *hash_strings(const shoal_verify_request *request, size_t column,
                              const shoal_verify_strings *strings, const uint32_t *of, uint32_t n) {
  uint64_t *hashes = shoal_alloc(n, sizeof *hashes);
  shoal_text scratch;
  shoal_text_init(&scratch);
  for (uint32_t i = 0; hashes && i < n; i++)
    hashes[i] =
        hash_text(request, column, shoal_verify_string_at(strings, of ? of[i] : i), &scratch);
  bool failed = scratch.failed;
  shoal_wipe_free(scratch.bytes, scratch.capacity);
  if (!failed) return hashes;
  free(hashes);
  return NULL;
}

/* ---------------------------------------------------------------- the sum over all rows */

typedef struct summing {
  const shoal_verify_request *request;
  uint64_t **of_code; /* by column: hashes of its cells by code; NULL: in of_group, or left out */
  uint64_t *of_group; /* by group: sum of the cells that it chooses; NULL: none */
  uint64_t *of_star;  /* by column: the hash of "*"; 0: not a quasi-identifier */
  bool removes;       /* some groups are removed */
  bool stars;         /* some cells are stars whatever the code */
  unsigned n_parts;
  uint64_t *part_sums;
} summing;

/* Finds out what the loops over the rows need. False: no memory. */
static bool summing_init(summing *s, unsigned n_parts) {
  const shoal_verify_trace *trace = s->request->trace;
  size_t n_columns = s->request->n_columns;
  bool chooses = false;
  s->n_parts = n_parts;
  for (size_t c = 0; c < n_columns; c++) {
    chooses = chooses || trace->sources[c].label_of_group;
    s->stars = s->stars || trace->sources[c].stars;
  }
  for (uint32_t g = 0; g < trace->n_groups; g++) {
    s->removes = s->removes || trace->action_of_group[g] == SHOAL_VERIFY_REMOVED;
    s->stars = s->stars || trace->action_of_group[g] == SHOAL_VERIFY_BLANKED;
  }
  s->of_code = shoal_alloc_zero(n_columns, sizeof *s->of_code);
  s->of_star = shoal_alloc_zero(n_columns, sizeof *s->of_star);
  s->part_sums = shoal_alloc_zero(n_parts, sizeof *s->part_sums);
  if (chooses) s->of_group = shoal_alloc_zero(trace->n_groups, sizeof *s->of_group);
  return s->of_code && s->of_star && s->part_sums && (!chooses || s->of_group);
}

static void summing_reset(summing *s) {
  for (size_t c = 0; s->of_code && c < s->request->n_columns; c++) free(s->of_code[c]);
  free(s->of_code);
  free(s->of_group);
  free(s->of_star);
  free(s->part_sums);
}

/* Is the cell of a quasi-identifier a star, whatever its label? */
static bool is_star(const shoal_verify_trace *trace, const shoal_verify_source *source,
                    uint32_t group) {
  return trace->action_of_group[group] == SHOAL_VERIFY_BLANKED ||
         (source->stars && source->stars[group]);
}

/* Adds the hashes of labels that groups choose. */
static bool add_groups(summing *s, size_t column) {
  const shoal_verify_trace *trace = s->request->trace;
  const shoal_verify_source *source = &trace->sources[column];
  uint64_t *hashes = hash_strings(s->request, column, &source->labels, NULL, source->labels.n);
  for (uint32_t g = 0; hashes && g < trace->n_groups; g++)
    s->of_group[g] +=
        is_star(trace, source, g) ? s->of_star[column] : hashes[source->label_of_group[g]];
  free(hashes);
  return hashes != NULL;
}

static bool hash_columns(summing *s) {
  for (size_t c = 0; c < s->request->n_columns; c++) {
    const shoal_verify_source *source = &s->request->trace->sources[c];
    if (!source->codes) continue;
    if (source->meaning) s->of_star[c] = shoal_verify_cell_hash(c, "*", 1);
    if (source->label_of_group) {
      if (!add_groups(s, c)) return false;
      continue;
    }
    s->of_code[c] = hash_strings(s->request, c, source->meaning ? &source->labels : &source->values,
                                 source->meaning ? source->label_of_code : NULL, source->values.n);
    if (!s->of_code[c]) return false;
  }
  return true;
}

enum { BLOCK_ROWS = 512 };

#define ADD_CODES(type)                                                                            \
  for (size_t i = 0; i < n; i++) sums[i] += hashes[((const type *)source->codes)[first + i]]

static void add_codes(const shoal_verify_source *source, const uint64_t *hashes, uint64_t first,
                      size_t n, uint64_t *sums) {
  if (source->code_size == 1) ADD_CODES(uint8_t);
  else if (source->code_size == 2) ADD_CODES(uint16_t);
  else ADD_CODES(uint32_t);
}

static uint64_t sum_block(const summing *s, uint64_t first, size_t n) {
  const shoal_verify_trace *trace = s->request->trace;
  const uint32_t *groups = trace->group_of_row + first;
  uint64_t sums[BLOCK_ROWS] = {0}, total = 0;
  for (size_t i = 0; s->of_group && i < n; i++) sums[i] = s->of_group[groups[i]];
  for (size_t c = 0; c < s->request->n_columns; c++) {
    if (!s->of_code[c]) continue;
    if (trace->sources[c].meaning && s->stars) {
      /* Labels by code, in rows that may have stars instead. */
      const shoal_verify_source *source = &trace->sources[c];
      for (size_t i = 0; i < n; i++)
        sums[i] += is_star(trace, source, trace->group_of_row[first + i])
                       ? s->of_star[c]
                       : s->of_code[c][code_at(source, first + i)];
    } else add_codes(&trace->sources[c], s->of_code[c], first, n, sums);
  }
  for (size_t i = 0; i < n; i++) {
    if (s->removes && trace->action_of_group[groups[i]] == SHOAL_VERIFY_REMOVED) continue;
    uint64_t count = trace->counts && first + i < trace->n_rows ? trace->counts[first + i] : 1;
    total += shoal_verify_row_hash(sums[i]) * count;
  }
  return total;
}

static void sum_part(void *user, unsigned part) {
  summing *s = user;
  uint64_t n_all = s->request->trace->n_rows + s->request->trace->n_noise;
  uint64_t begin = n_all / s->n_parts * part, total = 0;
  uint64_t end = part + 1 < s->n_parts ? n_all / s->n_parts * (part + 1) : n_all;
  for (uint64_t at = begin; at < end; at += BLOCK_ROWS)
    total += sum_block(s, at, end - at < BLOCK_ROWS ? (size_t)(end - at) : BLOCK_ROWS);
  s->part_sums[part] = total;
}

/* ---------------------------------------------------------------- all of it */

/* Columns whose labels are checked, on several threads. */
typedef struct checking {
  const shoal_verify_request *request;
  atomic_size_t next;
  shoal_status *status; /* by column */
  shoal_error *errors;
} checking;

static void check_some(void *user, unsigned thread) {
  checking *work = user;
  (void)thread;
  for (size_t c; (c = atomic_fetch_add(&work->next, 1)) < work->request->n_columns;)
    if (work->request->trace->sources[c].meaning)
      work->status[c] = check_column(work->request, c, &work->errors[c]);
}

static shoal_status check_labels(const shoal_verify_request *request, unsigned n_threads,
                                 shoal_error *error) {
  checking work = {.request = request};
  work.status = shoal_alloc_zero(request->n_columns, sizeof *work.status);
  work.errors = shoal_alloc_zero(request->n_columns, sizeof *work.errors);
  shoal_status status = work.status && work.errors ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) shoal_parallel(n_threads, check_some, &work);
  for (size_t c = 0; status == SHOAL_OK && c < request->n_columns; c++) {
    status = work.status[c];
    if (status != SHOAL_OK && error) *error = work.errors[c];
  }
  free(work.status);
  free(work.errors);
  return status;
}

/* Every quasi-identifier must be there, and noise rows need labels by group. */
static shoal_status check_request(const shoal_verify_request *request, shoal_error *error) {
  const shoal_verify_trace *trace = request->trace;
  bool ok = trace->n_noise <= trace->max_noise;
  if (!ok)
    return shoal_fail(error, SHOAL_FAILED, "the release has more noise rows than allowed; %s",
                      SHOAL_VERIFY_FAULT);
  for (size_t q = 0; q < request->n_quasi; q++) {
    bool found = false;
    for (size_t c = 0; !found && c < request->n_columns; c++) {
      const shoal_verify_source *source = &trace->sources[c];
      found = strcmp(request->columns[c], request->quasi[q]) == 0 && source->codes &&
              source->meaning && (source->label_of_group || !trace->n_noise);
    }
    if (!found)
      return shoal_fail(error, SHOAL_FAILED,
                        "the labels of '%.200s' cannot be compared with the original; %s",
                        request->quasi[q], SHOAL_VERIFY_FAULT);
  }
  return SHOAL_OK;
}

shoal_status shoal_verify_trace_rows(const shoal_verify_request *request, const shoal_run *run,
                                     uint64_t *fingerprint, shoal_error *error) {
  enum { ROWS_PER_THREAD = 1 << 16 };
  uint64_t n_all = request->trace->n_rows + request->trace->n_noise;
  unsigned n_threads = shoal_run_threads(run);
  if (n_threads > n_all / ROWS_PER_THREAD) n_threads = (unsigned)(n_all / ROWS_PER_THREAD);
  if (n_threads < 1) n_threads = 1;
  SHOAL_TRY(check_request(request, error));
  SHOAL_TRY(check_labels(request, n_threads, error));
  summing s = {.request = request};
  bool ok = summing_init(&s, n_threads) && hash_columns(&s);
  *fingerprint = 0;
  if (ok) shoal_parallel(n_threads, sum_part, &s);
  for (unsigned i = 0; ok && i < n_threads; i++) *fingerprint += s.part_sums[i];
  summing_reset(&s);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}
