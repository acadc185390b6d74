/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small random problem from bytes: a table of up to 24 rows, its policy, its hierarchies. Every
 * choice is one byte, so that a fuzzer can change one thing at a time; all algorithms and models of
 * the tables can be chosen.
 */
#ifndef SHOAL_TESTS_MAKE_H
#define SHOAL_TESTS_MAKE_H

#include <stdarg.h>
#include <stdbool.h>

#include "fuzz.h"
#include "shoal/shoal.h"

enum { MAX_ROWS = 24, MAX_QUASI = 3, N_VALUES = 6 };

typedef struct problem {
  char yaml[4096], csv[2048];
  size_t n_yaml, n_csv;
  size_t n_rows, n_quasi, n_released;
  unsigned k, p, noise;
  unsigned sensitive[MAX_ROWS]; /* 0: missing; else 1 + letter */
  unsigned n_threads;
  uint64_t memory_bytes;
  bool keep_order, measured;
} problem;

__attribute__((format(printf, 4, 5))) static inline void
add(char *text, size_t *size, size_t capacity, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text + *size, capacity - *size, format, args);
  va_end(args);
  MUST(n >= 0 && *size + (size_t)n < capacity);
  *size += (size_t)n;
}

#define YAML(made, ...) add((made)->yaml, &(made)->n_yaml, sizeof(made)->yaml, __VA_ARGS__)
#define CSV(made, ...) add((made)->csv, &(made)->n_csv, sizeof(made)->csv, __VA_ARGS__)

/* Kinds of quasi-identifiers; their cells fit all of their hierarchies. */
static const struct {
  const char *attribute;
  bool number; /* cells are numbers, else letters */
} quasi_kinds[] = {
    {"{role: quasi, type: number, hierarchy: {intervals: [5, 10, 20]}}", true},
    {"{role: quasi, type: number}", true}, /* local recoding only */
    {"{role: quasi, type: number, hierarchy: {cuts: [[10, 20, 30], [20]]}}", true},
    {"{role: quasi, type: number, hierarchy: {intervals: [3, 9]}, recode: hierarchy}", true},
    {"{role: quasi, type: number, hierarchy: {intervals: [10]}, snap: 5}", true},
    {"{role: quasi, type: number, top-code: 25, bottom-code: 3}", true},
    {"{role: quasi, type: number, hierarchy: {intervals: auto, top-code: 30}}", true},
    {"{role: quasi, type: number, hierarchy: {round: [2, 10], bottom-code: 4}, recode: hierarchy, "
     "min-level: 1}",
     true},
    {"{role: quasi, hierarchy: {mask: code}}", true},
    {"{role: quasi, hierarchy: {mask: right}}", true},
    {"{role: quasi, hierarchy: {mask: right}, rare: 3}", true},
    {"{role: quasi, rare: 2}", false},
    {"{role: quasi, hierarchy: {mask: left, char: \"#\"}}", true},
    {"{role: quasi, hierarchy: {top: true}}", false},
    {"{role: quasi, hierarchy: {tree: {A: [ta, tb], B: [tc, td], C: [te, tf, tg, th]}}}", false},
    {"{role: quasi, hierarchy: {tree: {A: {A1: [ta], A2: [tb, tc]}, B: {B1: [td, te, tf], B2: [tg, "
     "th]}}}}",
     false},
};

static const char *const sensitive_kinds[] = {
    "{role: sensitive}",
    "{role: sensitive, hierarchy: {tree: {G: [sa, sb, sc], H: [sd, se, sf]}}}",
    "{role: sensitive, hierarchy: {tree: {G: [sa, sb, sc], H: [sd, se, sf]}}, protect: [G], "
    "categories: [[sa, sb], [sc, sd], [se, sf]]}",
    "{role: sensitive, hierarchy: {tree: {G: [sa, sb, sc], H: [sd, se, sf]}}, "
    "categories: [[sa], [sb, sc], [sd, se, sf]]}",
    "{role: sensitive, categories: [[sa, sb], [sc, sd], [se, sf]]}", /* noise rows may use all */
};

static const char *const models[] = {
    "",
    "",
    "{l-diversity: {kind: distinct, l: 2}}",
    "{l-diversity: {kind: entropy, l: 2}}",
    "{l-diversity: {kind: recursive, l: 2, c: 3}}",
    "{t-closeness: {t: 0.4}}",
    "{t-closeness: {t: 0.5, distance: ordered}}",
    "{t-closeness: {t: 0.5, distance: hierarchical}}",
    "{alpha-k: {alpha: 0.6}}",
    "{extended-p-sensitive: {p: 2}}",
    "{p-plus-sensitive: {p: 2}}",
    "{p-alpha-sensitive: {p: 2, alpha: 1}}",
    "{balanced-p-plus: {p: 2}}",
    "{balanced-p-alpha: {p: 2, alpha: 0.5}}",
    "{theta-sensitive: {mu: 0.2}}",
    "{personalized: {column: guard, breach: 0.5}}",
    /* Few partitions satisfy these: rows are exchanged and suppressed one by one. */
    "{alpha-k: {alpha: 0.4}}",
    "{balanced-p-plus: {p: 3}}",
    "{theta-sensitive: {mu: 0.8}}",
    "{theta-sensitive: {mu: 0.6}}, {balanced-p-alpha: {p: 3, alpha: 1}}",
    "{personalized: {column: guard, breach: 0.3}}, {alpha-k: {alpha: 0.5}}",
};

#define N(array) (sizeof(array) / sizeof *(array))

static inline void make_method(problem *made, pieces *from) {
  size_t n_algorithms = 0, n_objectives = 0;
  const shoal_entry *algorithms = shoal_algorithms(), *objectives = shoal_objectives();
  while (algorithms[n_algorithms].name) n_algorithms++;
  while (objectives[n_objectives].name) n_objectives++;
  YAML(made, "method:\n  algorithm: %s\n",
       algorithms[take_below(from, (unsigned)n_algorithms)].name);
  YAML(made, "  max-suppression: %u\n", take_below(from, 6));
  unsigned more = take_byte(from);
  YAML(made, "  suppressed: %s\n", more & 1 ? "blank" : "remove");
  if (more & 2) YAML(made, "  objective: %s\n", objectives[more / 4 % n_objectives].name);
  unsigned options = take_byte(from);
  made->keep_order = options & 1;
  made->measured = options & 2;
  made->n_threads = options & 4 ? 2 : 1;
  made->memory_bytes = options & 8 ? 1 : 0;
  made->noise = options & 16 ? options / 32 : 0;
  if (options & 16) YAML(made, "  noise: %u\n", made->noise);
  YAML(made, "  seed: %u\n", options);
}

static inline void make_policy(problem *made, pieces *from, const unsigned *kinds) {
  unsigned model = take_below(from, N(models));
  YAML(made, "shoal: 1\nattributes:\n");
  for (size_t q = 0; q < made->n_quasi; q++)
    YAML(made, "  q%zu: %s\n", q, quasi_kinds[kinds[q]].attribute);
  YAML(made, "  ill: %s\n", sensitive_kinds[take_below(from, N(sensitive_kinds))]);
  YAML(made, "  guard: {role: identifier}\n  name: {role: identifier}\n");
  made->k = 1 + take_below(from, 5);
  made->p = take_below(from, 4);
  YAML(made, "privacy:\n  k: %u\n", made->k);
  if (made->p) YAML(made, "  p: %u\n", made->p);
  if (models[model][0]) YAML(made, "  models: [%s]\n", models[model]);
  make_method(made, from);
}

static inline void make_row(problem *made, pieces *from, const unsigned *kinds, size_t row) {
  static const char *const guards[] = {"", "G", "H", "sa", "*"};
  for (size_t q = 0; q < made->n_quasi; q++) {
    unsigned byte = take_byte(from);
    if (byte == 255) CSV(made, ",");
    else if (quasi_kinds[kinds[q]].number) CSV(made, "%u,", 10 + byte % 40);
    else CSV(made, "t%c,", 'a' + byte % 8);
  }
  unsigned value = take_byte(from);
  made->sensitive[row] = value >= 250 ? 0 : 1 + value % N_VALUES;
  if (made->sensitive[row]) CSV(made, "s%c", 'a' + made->sensitive[row] - 1);
  CSV(made, ",%s,n%zu\n", guards[value / 8 % N(guards)], row);
}

static inline void problem_make(problem *made, pieces from) {
  unsigned kinds[MAX_QUASI];
  made->n_yaml = made->n_csv = 0;
  made->n_quasi = 1 + take_below(&from, MAX_QUASI);
  made->n_released = made->n_quasi + 1;
  made->n_rows = 1 + take_below(&from, MAX_ROWS);
  for (size_t q = 0; q < made->n_quasi; q++) kinds[q] = take_below(&from, N(quasi_kinds));
  make_policy(made, &from, kinds);
  for (size_t q = 0; q < made->n_quasi; q++) CSV(made, "q%zu,", q);
  CSV(made, "ill,guard,name\n");
  for (size_t row = 0; row < made->n_rows; row++) make_row(made, &from, kinds, row);
}

#endif
