/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/kernels: one core kernel of the engine on generated, seeded data, on one thread.
 *
 *     kernels NAME [ROWS]    runs it once and prints one JSON line
 *     kernels --list         the names
 *
 * Everything but the kernel is preparation; the kernel alone runs inside measured(), so that
 *
 *     valgrind --tool=callgrind --toggle-collect=measured kernels NAME
 *
 * counts its instructions and nothing else. Without ROWS the sizes are fixed, and so is the count.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/random.h"
#include "model/model.h"
#include "shoal/shoal.h"
#include "write/csv.h"

enum { QUASI = 8, COLUMNS = QUASI + 1, DENSE = 3, REPEATS = 10 };

/* Values of each column: a census in miniature. The last is the sensitive one. */
static const uint32_t domains[COLUMNS] = {2, 72, 5, 7, 16, 41, 7, 3, 14};
static const char *const hierarchies[QUASI] = {
    "{top: true}",
    "{intervals: [5, 10, 20]}",
    "{intervals: [2]}",
    "{intervals: [2, 4]}",
    "{intervals: [2, 4, 8]}",
    "{intervals: [5, 20]}",
    "{intervals: [3]}",
    "{top: true}",
};

typedef struct bench {
  uint64_t n_rows;
  int skew;
  char path[64]; /* the generated CSV; "": none */
  shoal_run run;
  shoal_table *table;
  const shoal_column *columns[COLUMNS];
  shoal_arena arena;
  shoal_hierarchy *compiled[QUASI];
  shoal_frequency_set *frequency;
  size_t n_quasi; /* grouped by */
  shoal_grouper grouper;
  shoal_classes classes;
  shoal_requirement requirement[2];
  shoal_requirements requirements;
  shoal_csv_plan out;
  uint8_t *action;
  shoal_sink *sink;
  int nowhere;    /* where the sink writes to; -1: not open */
  uint64_t units; /* what the kernel went over */
  uint64_t found; /* what came of it: it must not be optimized away */
  shoal_error error;
} bench;

/* ------------------------------------------------------------ data */

static shoal_status machine_failed(bench *b, const char *what) {
  return shoal_fail(&b->error, SHOAL_FAILED, "%s failed", what);
}

/* Skewed like people are: low values are the frequent ones; the more so, the fewer tuples. */
static uint32_t draw(uint64_t *state, uint32_t domain, int skew) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t u = *state >> 40; /* 24 bits */
  for (int i = 0; i < skew; i++) u = u * u >> 24;
  return (uint32_t)(u * domain >> 24);
}

static shoal_status generate(bench *b) {
  (void)snprintf(b->path, sizeof b->path, "/tmp/shoal-kernels-XXXXXX");
  int fd = mkstemp(b->path);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (!file) return machine_failed(b, "making a file");
  for (int c = 0; c < COLUMNS; c++) fprintf(file, "c%d%c", c, c == COLUMNS - 1 ? '\n' : ',');
  uint64_t state = 1;
  for (uint64_t row = 0; row < b->n_rows; row++)
    for (int c = 0; c < COLUMNS; c++)
      fprintf(file, "%u%c", 10 + draw(&state, domains[c], b->skew), c == COLUMNS - 1 ? '\n' : ',');
  return fclose(file) == 0 ? SHOAL_OK : machine_failed(b, "writing a file");
}

static shoal_status read_table(bench *b) {
  SHOAL_TRY(
      shoal_table_read(b->path, NULL, SHOAL_FOR_RELEASE, NULL, &b->run, &b->table, &b->error));
  for (size_t c = 0; c < COLUMNS; c++) b->columns[c] = &b->table->columns[c];
  return SHOAL_OK;
}

static shoal_status compile(bench *b) {
  for (size_t q = 0; q < QUASI; q++) {
    shoal_hierarchy_spec spec;
    shoal_hierarchy_options options = {.attribute = b->columns[q]->name, .number = true};
    SHOAL_TRY(shoal_policy_parse_hierarchy(hierarchies[q], ".", &b->arena, &spec, &b->error));
    SHOAL_TRY(shoal_hierarchy_compile(&spec, b->table, b->columns[q], &options, &b->compiled[q],
                                      &b->error));
  }
  return SHOAL_OK;
}

static shoal_status group(bench *b) {
  static const shoal_track track = SHOAL_TRACK_SET;
  return shoal_frequency_set_build(
      b->table, b->columns, (const shoal_hierarchy *const *)b->compiled, b->n_quasi,
      &b->columns[QUASI], &track, 1, &b->run, &b->frequency, &b->error);
}

static shoal_status prepare_table(bench *b) {
  SHOAL_TRY(generate(b));
  SHOAL_TRY(read_table(b));
  return compile(b);
}

/* ------------------------------------------------------------ kernels */

static shoal_status run_read(bench *b) {
  SHOAL_TRY(read_table(b));
  b->units = b->n_rows;
  b->found = shoal_table_bytes(b->table);
  return SHOAL_OK;
}

/*
 * Groups once and forgets it. Memory that a virtual machine touches for the first time comes from
 * its host, which takes longer than the grouping and differs from run to run.
 */
static shoal_status prepare_group(bench *b) {
  SHOAL_TRY(prepare_table(b));
  SHOAL_TRY(group(b));
  shoal_frequency_set_free(b->frequency);
  b->frequency = NULL;
  return SHOAL_OK;
}

static shoal_status prepare_dense(bench *b) {
  b->n_quasi = DENSE;
  return prepare_group(b);
}

static shoal_status prepare_few(bench *b) {
  b->skew = 4;
  return prepare_group(b);
}

static shoal_status run_group(bench *b) {
  SHOAL_TRY(group(b));
  b->units = b->n_rows;
  b->found = b->frequency->n_tuples;
  return SHOAL_OK;
}

static shoal_status prepare_tuples(bench *b) {
  SHOAL_TRY(prepare_table(b));
  return group(b);
}

/* A path up the lattice, each node from the one below it. */
static shoal_status run_roll_up(bench *b) {
  static const uint32_t path[][QUASI] = {
      {0, 1, 0, 0, 0, 0, 0, 0}, {0, 2, 0, 0, 1, 0, 0, 0}, {0, 2, 1, 0, 1, 1, 0, 0},
      {1, 2, 1, 1, 2, 1, 0, 0}, {1, 3, 1, 1, 2, 2, 1, 0}, {1, 4, 2, 2, 3, 2, 1, 1},
  };
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    const shoal_classes *from = &b->frequency->base;
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
      shoal_classes next;
      b->units += from->n_classes;
      SHOAL_TRY(
          shoal_classes_roll_up(b->frequency, from, path[i], &b->grouper, &next, NULL, &b->error));
      shoal_classes_reset(&b->classes);
      b->classes = next;
      from = &b->classes;
    }
    b->found = b->classes.n_classes;
  }
  return SHOAL_OK;
}

static const shoal_model_type *model(const char *name) {
  const shoal_model_type *const *type = shoal_model_types;
  while (strcmp((*type)->name, name) != 0) type++;
  return *type;
}

static shoal_status prepare_judge(bench *b) {
  b->requirement[0] = (shoal_requirement){.type = model("k-anonymity"),
                                          .sensitive = SHOAL_NO_ATTRIBUTE,
                                          .guard = SHOAL_NO_ATTRIBUTE,
                                          .count = {2},
                                          .k = 2};
  b->requirement[1] = (shoal_requirement){
      .type = model("p-sensitive"), .guard = SHOAL_NO_ATTRIBUTE, .count = {2}, .k = 2};
  b->requirements = (shoal_requirements){
      .items = b->requirement, .n_items = 2, .monotone = true, .k = 2, .whole_k = 2, .p = 2};
  SHOAL_TRY(prepare_tuples(b));
  static const uint32_t half_way[QUASI] = {0, 2, 1, 1, 1, 1, 1, 0}; /* classes of every size */
  return shoal_classes_roll_up(b->frequency, &b->frequency->base, half_way, &b->grouper,
                               &b->classes, NULL, &b->error);
}

static shoal_status run_judge(bench *b) {
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    shoal_judgement judged =
        shoal_judge(&b->requirements, b->frequency, &b->classes, UINT64_MAX, NULL);
    b->units += b->classes.n_classes;
    b->found = judged.suppressed;
  }
  return SHOAL_OK;
}

static shoal_status prepare_write(bench *b) {
  SHOAL_TRY(prepare_tuples(b));
  b->out = (shoal_csv_plan){
      .table = b->table, .delimiter = ',', .group_of_row = b->frequency->tuple_of_row};
  b->out.columns = shoal_alloc_zero(COLUMNS, sizeof *b->out.columns);
  b->action = shoal_alloc_zero(b->frequency->n_tuples, 1);
  if (!b->out.columns || !b->action) return shoal_fail_memory(&b->error);
  b->out.action = b->action;
  for (size_t c = 0; c < COLUMNS; c++) {
    shoal_csv_column *cells = &b->out.columns[b->out.n_columns++];
    cells->column = b->columns[c];
    cells->generalized = c < QUASI;
    cells->offsets = shoal_alloc((size_t)cells->column->n_values + 1, sizeof *cells->offsets);
    if (!cells->offsets) return shoal_fail_memory(&b->error);
    for (uint32_t v = 0; v < cells->column->n_values; v++) {
      const shoal_level *level = c < QUASI ? &b->compiled[c]->levels[1] : NULL;
      size_t size;
      const char *cell = level ? shoal_level_label(level, level->of_leaf[v], &size)
                               : shoal_column_value(cells->column, v, &size);
      if (!shoal_csv_column_add(cells, &b->out, cell, size)) return shoal_fail_memory(&b->error);
    }
  }
  b->nowhere = open("/dev/null", O_WRONLY);
  if (b->nowhere < 0) return machine_failed(b, "opening /dev/null");
  return shoal_sink_open(b->nowhere, "/dev/null", &b->sink, &b->error);
}

static shoal_status run_write(bench *b) {
  shoal_random random;
  shoal_random_seed(&random, 1);
  b->units = b->n_rows;
  SHOAL_TRY(shoal_csv_write(&b->out, b->sink, &random, &b->run, &b->found, &b->error));
  return shoal_sink_finish(b->sink, &b->error);
}

/* Of the processor, not of the clock: other work on the machine does not count. */
static double cpu_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------ the table of kernels */

typedef struct kernel {
  const char *name;
  uint64_t n_rows; /* unless others are asked for */
  shoal_status (*prepare)(bench *b);
  shoal_status (*run)(bench *b);
} kernel;

static const kernel kernels[] = {
    {"read", 50000, generate, run_read},
    {"group-dense", 200000, prepare_dense, run_group},
    {"group-hash", 200000, prepare_few, run_group},
    {"group-distinct", 100000, prepare_group, run_group}, /* nearly every row a tuple of its own */
    {"roll-up", 50000, prepare_tuples, run_roll_up},
    {"judge", 50000, prepare_judge, run_judge},
    {"write", 50000, prepare_write, run_write},
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

/* What callgrind collects. */
__attribute__((noinline)) shoal_status measured(const kernel *k, bench *b);
shoal_status measured(const kernel *k, bench *b) {
  shoal_status status = k->run(b);
  __asm__ volatile("" ::: "memory"); /* no tail call: the function must be seen to end */
  return status;
}

static void reset(bench *b) {
  if (b->path[0]) (void)unlink(b->path);
  shoal_sink_free(b->sink);
  if (b->nowhere >= 0) (void)close(b->nowhere);
  for (size_t c = 0; c < b->out.n_columns; c++) shoal_csv_column_reset(&b->out.columns[c]);
  free(b->out.columns);
  free(b->action);
  shoal_classes_reset(&b->classes);
  shoal_grouper_reset(&b->grouper);
  shoal_frequency_set_free(b->frequency);
  for (size_t q = 0; q < QUASI; q++) shoal_hierarchy_free(b->compiled[q]);
  shoal_arena_reset(&b->arena);
  shoal_table_free(b->table);
}

static int run(const kernel *k, uint64_t n_rows) {
  bench b = {.n_rows = n_rows, .skew = 1, .n_quasi = QUASI, .run = {.n_threads = 1}, .nowhere = -1};
  shoal_arena_init(&b.arena);
  shoal_grouper_init(&b.grouper);
  double seconds = 0;
  shoal_status status = k->prepare(&b);
  if (status == SHOAL_OK) {
    double start = cpu_seconds();
    status = measured(k, &b);
    seconds = cpu_seconds() - start;
  }
  if (status == SHOAL_OK)
    printf("{\"kernel\": \"%s\", \"rows\": %llu, \"units\": %llu, \"found\": %llu, "
           "\"seconds\": %.6f, \"million_units_a_second\": %.1f}\n",
           k->name, (unsigned long long)n_rows, (unsigned long long)b.units,
           (unsigned long long)b.found, seconds, (double)b.units / seconds / 1e6);
  else fprintf(stderr, "kernels: %s\n", b.error.message);
  reset(&b);
  return status == SHOAL_OK ? 0 : 1;
}

int main(int argc, char **argv) {
  for (int i = 0; argc == 2 && i < N_KERNELS && strcmp(argv[1], "--list") == 0; i++) {
    printf("%s\n", kernels[i].name);
    if (i == N_KERNELS - 1) return 0;
  }
  shoal_hash_key_seed(1); /* the count must not depend on the key of the process */
  uint64_t n_rows = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
  for (int i = 0; (argc == 2 || n_rows) && i < N_KERNELS; i++)
    if (strcmp(argv[1], kernels[i].name) == 0)
      return run(&kernels[i], n_rows ? n_rows : kernels[i].n_rows);
  fprintf(stderr, "usage: kernels NAME [ROWS], or kernels --list\n");
  return 2;
}
