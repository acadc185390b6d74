/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/arrow_codes: what a slice of a chunk does to a column; private to arrow*.c. A slice is a
 * piece of the only part (load.h).
 *
 *     codes       text        cells are looked up where they are, or in a copy with slack
 *                 numbers     recent values have their code in a cache; others are printed
 *                 dictionary  each index gets the code of its value when a row first has it
 *     identity    a hash of each cell
 *     sample      texts; numbers and values of a dictionary with their rows
 */
#pragma once

#include <stdatomic.h>

#include "read/arrow.h"
#include "table/load.h"

enum { SHOAL_ARROW_CACHE_BITS = 11 };

/* A number, in the place that its hash says. */
typedef struct shoal_arrow_cached {
  uint64_t word;
  uint32_t n; /* its code + 1, or its rows that are not yet in the sample; 0: empty */
} shoal_arrow_cached;

typedef struct shoal_arrow_column {
  shoal_use use;
  shoal_arrow_type type;
  shoal_arrow_cached *cache; /* of numbers; NULL: of another type, or hashed */
  shoal_arrow_cells cells;   /* of the chunk, or of its dictionary */
  shoal_arrow_cells indices;
  uint32_t *map; /* by index: code + 1, or rows of the slice */
  size_t map_capacity;
  bool has_map; /* is the map worth its size? */
  char *bytes;  /* cells of a tile, with slack */
  size_t bytes_capacity;
  uint32_t n_checked; /* values that are known to be text */
  const char *fault;  /* what is wrong */
  uint64_t fault_row; /* from 1; 0: no row */
  bool no_memory;
} shoal_arrow_column;

typedef struct shoal_arrow_loader {
  const char *null_text;
  size_t null_size;
  const shoal_sampling *sampling;
  shoal_table *table;
  shoal_arrow_column *columns;
  shoal_use *uses;
  shoal_load_part part;
  shoal_piece *pieces;
  size_t n_pieces, pieces_capacity;
  int64_t first, n; /* the slice, within the chunk */
  atomic_size_t next_column;
} shoal_arrow_loader;

/* Has the type cells that are text or can be printed? */
bool shoal_arrow_has_text(const shoal_arrow_type *type);
/* Is the column only sampled? */
bool shoal_arrow_is_sampled(const shoal_arrow_loader *self, const shoal_arrow_column *column);
/* Is the column coded, hashed or sampled? Other ones are not opened. */
bool shoal_arrow_is_read(const shoal_arrow_loader *self, const shoal_arrow_column *column);
/* Reads the slice of each column, on one of the threads; faults are left in the columns. */
void shoal_arrow_add_columns(void *user, unsigned thread);
