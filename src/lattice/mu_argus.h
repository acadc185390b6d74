/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/mu_argus: mu-Argus as Samarati 2001, section 7, describes it. It checks single
 * attributes, then combinations of two and three, and suppresses cells whose values occur in fewer
 * than k rows. The result may still violate k-anonymity. What mu-Argus missed is counted
 * afterwards, so that the caller can refuse it.
 *
 * Each quasi-identifier has a sensitivity: 3 most identifying, 2 more identifying, 1 identifying,
 * 0 not identifying (never suppressed). The paper only says that "the specified sensitivity values
 * guide the choice" of combinations. Hence two readings.
 */
#pragma once

#include "group/classes.h"

typedef enum shoal_mu_argus_reading {
  /*
   * Combinations of one attribute of each sensitivity (most x more x identifying). The cell of the
   * attribute with the most labels is suppressed; ties: the first column. This reading gives the
   * paper's Figure 12. Two attributes of equal sensitivity are never in one combination.
   */
  SHOAL_MU_ARGUS_RANKS,
  /*
   * All combinations of identifying attributes with at least one of sensitivity 2 or 3. The cell
   * of the most identifying attribute is suppressed; ties as above.
   */
  SHOAL_MU_ARGUS_WIDE
} shoal_mu_argus_reading;

typedef struct shoal_mu_argus_options {
  uint64_t k;                 /* the bin size */
  const uint8_t *sensitivity; /* by quasi-identifier, 0 to 3; NULL: 2 each */
  const uint32_t *levels;     /* to start from, chosen by the user; NULL: all 0 */
  bool generalize;            /* first generalize each attribute until its labels have k rows */
  shoal_mu_argus_reading reading;
} shoal_mu_argus_options;

/* A combination of attributes that still has values of fewer than k rows. */
typedef struct shoal_mu_argus_missed {
  size_t *attributes; /* ascending */
  size_t n_attributes;
  uint64_t n_rows; /* with such values, no cell of the combination suppressed */
  bool evaluated;  /* mu-Argus checked it; cells suppressed later made it unsafe */
} shoal_mu_argus_missed;

enum { SHOAL_MU_ARGUS_MAX_MISSED = 20 };

typedef struct shoal_mu_argus {
  size_t n_quasi;
  uint32_t *levels;         /* after generalizing, by quasi-identifier */
  uint8_t **suppressed;     /* by quasi-identifier: of each tuple, 1: the cell is suppressed */
  uint64_t n_combinations;  /* checked, including single attributes */
  uint64_t n_cells;         /* suppressed, in rows */
  uint64_t n_rows;          /* with a suppressed cell */
  uint32_t *class_of_tuple; /* by all quasi-identifiers; a suppressed cell is a value of its own */
  uint64_t *class_rows;
  uint32_t n_classes;
  shoal_mu_argus_missed missed[SHOAL_MU_ARGUS_MAX_MISSED]; /* smallest first, then ascending */
  size_t n_missed;
  shoal_arena arena; /* of the arrays */
} shoal_mu_argus;

/*
 * Runs mu-Argus on the distinct tuples. Cost: a grouping of the tuples for each combination.
 * SHOAL_BAD_INPUT for sensitivities above 3 and levels above an attribute's top. The caller resets
 * the result on success.
 */
shoal_status shoal_mu_argus_run(const shoal_frequency_set *frequency,
                                const shoal_mu_argus_options *options, const shoal_run *run,
                                shoal_mu_argus *result, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_mu_argus_reset(shoal_mu_argus *result);
