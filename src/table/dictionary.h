/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/dictionary: the values of one column as one thread reads them: cell -> code, in order of
 * first appearance, each with the position of its first row.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shoal_slot {
  uint64_t key; /* the cell itself if it has at most 8 bytes, else its hash */
  uint32_t size_bytes;
  uint32_t code_plus_1; /* 0: empty */
} shoal_slot;

/* A slot that holds the beginning of the cell itself. */
typedef struct shoal_near_slot {
  uint64_t words[4]; /* its first 32 bytes, zeros after its end */
  uint32_t size_bytes;
  uint32_t code_plus_1; /* 0: empty */
} shoal_near_slot;

typedef struct shoal_dictionary {
  shoal_near_slot *near; /* up to 1,024 values; then NULL, and `slots` is used */
  shoal_slot *slots;
  unsigned bits; /* 2^bits slots, near: at most an eighth of them full, else half */
  bool avx2;     /* use it to find cells; tests turn it off */
  uint32_t n_values;
  char *bytes;
  size_t bytes_capacity;
  uint64_t *offsets; /* n_values + 1 */
  size_t offsets_capacity;
  uint64_t *first_position; /* by value */
  size_t position_capacity;
} shoal_dictionary;

bool shoal_dictionary_init(shoal_dictionary *dictionary);
void shoal_dictionary_reset(shoal_dictionary *dictionary);

/* Bytes from a cell's start that must be readable, whatever its size. */
enum { SHOAL_DICTIONARY_SLACK = 32 };

/*
 * The code of a cell; a new cell gets the next code and `position`. SHOAL_NONE: no memory, or
 * 2^32 - 1 values.
 */
uint32_t shoal_dictionary_code(shoal_dictionary *dictionary, const char *bytes, uint32_t size_bytes,
                               uint64_t position);

/* The code of a cell, or SHOAL_NONE. Thread-safe while nothing is added. */
uint32_t shoal_dictionary_find(const shoal_dictionary *dictionary, const char *bytes,
                               uint32_t size_bytes);

/* Codes of n_rows cells: row r's is bytes[begin[r * stride] .. end[r * stride]). False: no memory.
 */
bool shoal_dictionary_encode(shoal_dictionary *dictionary, const char *bytes, const uint32_t *begin,
                             const uint32_t *end, size_t stride, size_t n_rows,
                             uint64_t first_position, uint32_t *codes);
/* The same for known cells; false: one is unknown. Thread-safe while nothing is added. */
bool shoal_dictionary_look_up(const shoal_dictionary *dictionary, const char *bytes,
                              const uint32_t *begin, const uint32_t *end, size_t stride,
                              size_t n_rows, uint32_t *codes);
