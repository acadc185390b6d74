/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe/facts: what was done to each value, class and row of a release, as data. The mapping
 * file (mapping.h) has the same as text. Labels and values are spelled as in the release.
 */
#pragma once

#include "decide/release.h"

/* A value of a quasi-identifier that has one label everywhere, or "*" in some rows. */
typedef struct shoal_mapped_value {
  size_t q;
  uint32_t code;
  uint32_t group; /* some group that has it */
  bool is_starred;
  uint64_t rows, suppressed;
} shoal_mapped_value;

typedef struct shoal_fact_class {
  uint32_t group; /* the first of its groups */
  uint64_t rows, noise;
} shoal_fact_class;

struct shoal_facts {
  const shoal_release *release;
  shoal_arena arena;
  const char **label_bytes, **value_bytes; /* by quasi-identifier: in the release's spelling */
  shoal_fact_class *classes;
  uint32_t n_classes;
  uint32_t *class_of_row;
  uint64_t n_rows;
  shoal_mapped_value *values;
  size_t n_values;
  shoal_share_fact *shares; /* of a table with counts, by row */
  size_t n_shares;
  shoal_count_fact *counts;     /* the histograms that were asked for last */
  const char **sensitive_bytes; /* by sensitive column: in the release's spelling */
};

/* Fills zeroed facts, which borrow the release. The caller resets them, also after an error. */
shoal_status shoal_facts_make(shoal_facts *facts, const shoal_release *release,
                              shoal_error *error) SHOAL_MUST_CHECK;
void shoal_facts_reset(shoal_facts *facts);

/* The label of a class, and of a value. */
shoal_label shoal_facts_class_label(const shoal_facts *facts, uint32_t c, size_t q);
shoal_label shoal_facts_value_label(const shoal_facts *facts, const shoal_mapped_value *value);
shoal_label shoal_facts_value_text(const shoal_facts *facts, const shoal_mapped_value *value);
/* The sensitive cell of a row of the caller's table. */
shoal_label shoal_facts_sensitive_cell(const shoal_facts *facts, size_t sensitive, uint64_t row);
/* Counts the sensitive values of each class, into facts->counts. */
shoal_status shoal_facts_count(shoal_facts *facts, size_t sensitive, size_t *n,
                               shoal_error *error) SHOAL_MUST_CHECK;
