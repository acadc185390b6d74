/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/sample: the distinct values of a column and the rows of each, in bounded memory, for
 * columns that get no codes. Up to 10,000 values it has all of them. Beyond that it is a sample of
 * at most 1,024: the values whose key is below 2^(64 - level) (adaptive sampling: Flajolet 1990). A
 * value of the sample was in it from its first row on, so its rows are exact, and 2^level values
 * stand behind each.
 *
 *      level 0   |oooooooooooooooooooooooooooooooooo|   all keys
 *      level 1   |ooooooooooooooooo|                    keys below 2^63
 *      level 2   |oooooooo|                             keys below 2^62
 *
 * The key of a value is the same in every run, and the sample depends on the set of values alone:
 * neither on the order of rows nor on the number of parts that are merged. Only slots depend on the
 * key of the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHOAL_SAMPLE_EXACT = 10000, SHOAL_SAMPLE_VALUES = 1024 };

/*
 * Zero-initialized: no value yet. The slots are what every cell touches, and small for the cache:
 *
 *      slots[i]   | lower half of the key | rows, at most 2^32 - 1 |   0: empty
 */
typedef struct shoal_value_sample {
  uint64_t *slots;
  uint64_t *keys;   /* by slot */
  uint32_t *traits; /* by slot: what the caller's function said of the value */
  uint64_t factor;  /* random and odd: times a key, the upper bits choose a slot */
  unsigned bits;    /* 2^bits slots; 0: none yet */
  uint32_t n_values;
  unsigned level; /* 0: it has every value */
} shoal_value_sample;

/* The rows of the value in a slot; 0: it is empty. */
static inline uint32_t shoal_value_sample_rows(const shoal_value_sample *sample, size_t slot) {
  return (uint32_t)sample->slots[slot];
}

/* How values are described. `traits` is called once for each value that enters a sample. */
typedef struct shoal_sampling {
  uint32_t (*traits)(const void *user, const char *bytes, size_t size_bytes);
  const void *user;
} shoal_sampling;

/*
 * Adds n cells, bytes[begin[i * stride] .. end[i * stride]); at least 8 bytes after each can be
 * read. False: no memory.
 */
bool shoal_value_sample_add(shoal_value_sample *sample, const shoal_sampling *sampling,
                            const char *bytes, const uint32_t *begin, const uint32_t *end,
                            size_t stride, size_t n);
/* Adds one value that `times` rows have; 8 bytes after it can be read. */
bool shoal_value_sample_add_value(shoal_value_sample *sample, const shoal_sampling *sampling,
                                  const char *bytes, size_t size_bytes, uint64_t times);
/* Adds all of another sample. */
bool shoal_value_sample_merge(shoal_value_sample *sample, const shoal_value_sample *other);
void shoal_value_sample_reset(shoal_value_sample *sample);
