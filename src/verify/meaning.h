/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/meaning: does a label cover a value? The request says what kind of labels a
 * quasi-identifier has (shoal_verify_meaning); the reading of each kind is the verifier's own.
 *
 * Every kind has the label "*", which covers any value, and the value itself. Values and labels
 * have decimal points here, and no apostrophes before formulas.
 */
#pragma once

#include "base/text.h"
#include "verify/range.h"
#include "verify/tables.h"
#include "verify/verify.h"

typedef struct shoal_verify_string {
  const char *bytes;
  size_t size_bytes;
} shoal_verify_string;

static inline shoal_verify_string shoal_verify_string_at(const shoal_verify_strings *strings,
                                                         uint32_t i) {
  return (shoal_verify_string){strings->bytes + strings->offsets[i],
                               (size_t)(strings->offsets[i + 1] - strings->offsets[i])};
}

/* One quasi-identifier. */
typedef struct shoal_verify_checker {
  const shoal_verify_meaning *meaning;
  const shoal_verify_fold *fold;
  shoal_verify_dictionary leaves; /* trees: keys of the leaves, numbered as they are */
  shoal_text value_key, label_key, scratch;
} shoal_verify_checker;

/* Borrows its arguments. False: no memory. Reset it in either case. */
bool shoal_verify_checker_init(shoal_verify_checker *checker, const shoal_verify_meaning *meaning,
                               const shoal_verify_fold *fold);
void shoal_verify_checker_reset(shoal_verify_checker *checker);

static inline bool shoal_verify_is_star(shoal_verify_string label) {
  return label.size_bytes == 1 && label.bytes[0] == '*';
}

/*
 * Do labels of this kind stand for ranges of numbers, dates as their day numbers? The two functions
 * read a label and a value as such. False: it is none; then _covers decides. If both are ranges,
 * the label covers the value if its range does.
 */
bool shoal_verify_has_ranges(const shoal_verify_meaning *meaning);
bool shoal_verify_label_range(const shoal_verify_checker *checker, shoal_verify_string label,
                              shoal_verify_range *range);
bool shoal_verify_value_range(const shoal_verify_checker *checker, shoal_verify_string value,
                              shoal_verify_range *range);

/* *covers: by the kind's reading. False: no memory. */
bool shoal_verify_covers(shoal_verify_checker *checker, shoal_verify_string label,
                         shoal_verify_string value, bool *covers);
