/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/mask: the kind "mask": level i hides the i last (or first) characters and keeps the
 * value's length. Characters are UTF-8 code points; a byte that belongs to none counts as one.
 * Masking one character more depends only on the label below, so no label can get two parents.
 */
#include <string.h>

#include "hierarchy/builder.h"

_Static_assert(SHOAL_LABEL_SCRATCH >= 4 * SHOAL_MOST_MASKED, "a label of 4-byte characters fits");

/* Bytes of the character at `s`, of which `left` bytes are there. */
static size_t character_size(const unsigned char *s, size_t left) {
  size_t size = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 1;
  if (s[0] < 0xc2 || s[0] > 0xf4 || size > left) return 1;
  for (size_t i = 1; i < size; i++)
    if ((s[i] & 0xc0) != 0x80) return 1;
  bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  bool beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
  return overlong || beyond ? 1 : size;
}

/* Bytes of the first `n` characters; fewer if the value ends before. *counted: how many it has. */
static size_t front_bytes(shoal_label value, size_t n, size_t *counted) {
  const unsigned char *s = (const unsigned char *)value.bytes;
  size_t at = 0, count = 0;
  for (; at < value.size_bytes && count < n; count++)
    at += character_size(s + at, value.size_bytes - at);
  *counted = count;
  return at;
}

static shoal_label mask_label(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                              char *scratch) {
  shoal_label value = shoal_strings_get(&builder->leaves, leaf);
  const uint8_t *lengths = builder->state;
  size_t length = lengths[leaf];
  size_t hidden = level < length ? level : length;
  size_t counted;
  size_t cut = front_bytes(value, builder->spec->mask_left ? hidden : length - hidden, &counted);
  if (builder->spec->mask_left) {
    size_t kept = value.size_bytes - cut;
    memset(scratch, builder->spec->mask_char, hidden);
    if (kept) memcpy(scratch + hidden, value.bytes + cut, kept);
    return (shoal_label){scratch, hidden + kept};
  }
  if (cut) memcpy(scratch, value.bytes, cut);
  memset(scratch + cut, builder->spec->mask_char, hidden);
  return (shoal_label){scratch, cut + hidden};
}

shoal_status shoal_mask_start(shoal_builder *builder, shoal_error *error) {
  uint32_t n_values = builder->column->n_values;
  uint8_t *lengths = shoal_arena_alloc(&builder->arena, n_values, sizeof *lengths);
  if (!lengths) return shoal_fail_memory(error);
  builder->height = 1;
  for (uint32_t v = 0; v < n_values; v++) {
    lengths[v] = 0;
    if (shoal_column_missing(builder->column, v)) continue;
    size_t length;
    (void)front_bytes(shoal_strings_get(&builder->leaves, v), SHOAL_MOST_MASKED + 1, &length);
    if (length > SHOAL_MOST_MASKED)
      return shoal_value_fail(builder->table, builder->column, v, error,
                              "has more than %d characters, and a mask makes a level of each: use "
                              "another kind of hierarchy, such as a file",
                              SHOAL_MOST_MASKED);
    lengths[v] = (uint8_t)length;
    if (length > builder->height) builder->height = (uint32_t)length;
  }
  builder->state = lengths;
  builder->label = mask_label;
  return SHOAL_OK;
}
