/* SPDX-License-Identifier: Apache-2.0 */
/* table/share: one worker's share of a table while it is loaded; see load.h. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "table/count.h"
#include "table/dictionary.h"
#include "table/load.h"

enum { TILE_ROWS = 256 }; /* rows encoded column by column while their bytes are in the cache */

bool shoal_share_init(shoal_share *share, const shoal_use *uses, size_t n_columns) {
  memset(share, 0, sizeof *share);
  share->dictionaries = shoal_alloc_zero(n_columns, sizeof *share->dictionaries);
  share->codes = shoal_alloc_zero(n_columns, sizeof *share->codes);
  share->hashes = shoal_alloc_zero(n_columns, sizeof *share->hashes);
  share->hash_capacity = shoal_alloc_zero(n_columns, sizeof *share->hash_capacity);
  bool ok = share->dictionaries && share->codes && share->hashes && share->hash_capacity;
  for (size_t c = 0; ok && c < n_columns; c++)
    ok = !shoal_use_has_codes(uses[c]) || shoal_dictionary_init(&share->dictionaries[c]);
  if (!ok) shoal_share_reset(share, n_columns);
  return ok;
}

void shoal_share_reset(shoal_share *share, size_t n_columns) {
  for (size_t c = 0; c < n_columns; c++) {
    if (share->dictionaries) shoal_dictionary_reset(&share->dictionaries[c]);
    if (share->codes) free(share->codes[c].codes);
    if (share->hashes) free(share->hashes[c]);
  }
  free(share->dictionaries);
  free(share->codes);
  free(share->hashes);
  free(share->hash_capacity);
  free(share->marks);
  shoal_tuples_free(share->tuples);
  memset(share, 0, sizeof *share);
}

static unsigned size_for(uint32_t n_values) {
  return n_values <= UINT8_MAX + 1u ? 1 : n_values <= UINT16_MAX + 1u ? 2 : 4;
}

/* Rewrites the codes with more bytes each, from the end so that nothing is overwritten. */
static void widen(shoal_code_vector *vector, unsigned to) {
  for (size_t i = vector->n_codes; i-- > 0;) {
    uint32_t code =
        vector->code_size == 1 ? ((uint8_t *)vector->codes)[i] : ((uint16_t *)vector->codes)[i];
    if (to == 2) ((uint16_t *)vector->codes)[i] = (uint16_t)code;
    else ((uint32_t *)vector->codes)[i] = code;
  }
  vector->code_size = to;
}

bool shoal_code_vector_append(shoal_code_vector *vector, const uint32_t *codes, size_t n,
                              uint32_t n_values) {
  unsigned size = size_for(n_values);
  if (size < vector->code_size) size = vector->code_size;
  if (!shoal_grow(&vector->codes, &vector->capacity_bytes, (vector->n_codes + n) * size, 1))
    return false;
  if (vector->code_size == 0) vector->code_size = size;
  if (vector->code_size != size) widen(vector, size);
  size_t at = vector->n_codes;
  if (size == 1) {
    uint8_t *to = (uint8_t *)vector->codes + at;
    for (size_t i = 0; i < n; i++) to[i] = (uint8_t)codes[i];
  } else if (size == 2) {
    uint16_t *to = (uint16_t *)vector->codes + at;
    for (size_t i = 0; i < n; i++) to[i] = (uint16_t)codes[i];
  } else {
    memcpy((uint32_t *)vector->codes + at, codes, n * sizeof *codes);
  }
  vector->n_codes += n;
  return true;
}

static bool add_hashes(shoal_share *share, size_t column, const char *bytes, const uint32_t *begin,
                       const uint32_t *end, size_t stride, size_t n_rows, size_t at) {
  if (!shoal_grow(&share->hashes[column], &share->hash_capacity[column], at + n_rows,
                  sizeof(uint64_t)))
    return false;
  uint64_t *to = share->hashes[column] + at;
  for (size_t row = 0; row < n_rows; row++) {
    uint32_t from = begin[row * stride];
    to[row] = shoal_hash_bytes(bytes + from, end[row * stride] - from);
  }
  return true;
}

bool shoal_share_add(shoal_share *share, const shoal_use *uses, size_t n_columns, const char *bytes,
                     const uint32_t *begin, const uint32_t *end, size_t n_rows, size_t number) {
  uint32_t codes[TILE_ROWS];
  if (share->tuples)
    return shoal_share_add_counted(share, uses, n_columns, bytes, begin, end, n_rows, number);
  if (!shoal_grow(&share->marks, &share->marks_capacity, share->n_marks + 1, sizeof *share->marks))
    return false;
  share->marks[share->n_marks++] = (shoal_piece_mark){share->n_rows, number};
  for (size_t row = 0; row < n_rows; row += TILE_ROWS) {
    size_t n = n_rows - row < TILE_ROWS ? n_rows - row : TILE_ROWS;
    for (size_t c = 0; c < n_columns; c++) {
      size_t cell = row * n_columns + c;
      if (uses[c] == SHOAL_USE_IDENTITY &&
          !add_hashes(share, c, bytes, begin + cell, end + cell, n_columns, n, share->n_rows + row))
        return false;
      if (!shoal_use_has_codes(uses[c])) continue;
      shoal_dictionary *dictionary = &share->dictionaries[c];
      uint64_t place = (uint64_t)number << 32 | row;
      if (!shoal_dictionary_encode(dictionary, bytes, begin + cell, end + cell, n_columns, n, place,
                                   codes) ||
          !shoal_code_vector_append(&share->codes[c], codes, n, dictionary->n_values))
        return false;
    }
  }
  share->n_rows += n_rows;
  return true;
}
