/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context: a table and a policy, prepared for work. It has each column's role, the requirements of
 * the policy bound to the table, compiled hierarchies, and the rows grouped into a frequency set.
 * Searches, clusterings, measures, attacks and jobs start from it.
 */
#pragma once

#include "base/thread.h"
#include "context/people.h"
#include "lattice/lattice.h"
#include "model/bounds.h"
#include "table/order.h"

typedef struct shoal_context {
  const shoal_table *table;     /* scope SORTED: that of `ordered` */
  shoal_ordered_table *ordered; /* scope SORTED; else NULL */
  const shoal_policy *policy;
  const shoal_run *run;        /* of the running call; a release between two calls has none */
  shoal_role *roles;           /* by column of the table */
  shoal_attribute *attributes; /* by column: its entry of the policy, under the column's own name */
  bool knows_header;           /* the policy knows at least half of the names: row 1 is no data */
  size_t n_quasi;
  const shoal_column **quasi; /* in column order */
  const shoal_attribute **quasi_attributes;
  shoal_hierarchy **hierarchies; /* by quasi-identifier; NULL where none was compiled */
  shoal_decimal *weights;        /* by quasi-identifier */
  bool weighted;                 /* some weight is not 1 */
  size_t n_sensitive;
  shoal_sensitive *sensitive;        /* in column order */
  shoal_hierarchy **sensitive_trees; /* owned; NULL where an attribute has none */
  shoal_people people, households;
  shoal_tracked tracked; /* sensitive attributes, guard columns, people */
  shoal_requirements requirements;
  shoal_frequency_set *frequency;
  shoal_arena arena; /* of the arrays */
} shoal_context;

/* How far to prepare. */
typedef enum shoal_context_scope {
  SHOAL_CONTEXT_REQUIREMENTS, /* roles and requirements */
  SHOAL_CONTEXT_CLASSES,      /* also rows, grouped by their values */
  SHOAL_CONTEXT_COUNTS,       /* also rows of each value of every sensitive attribute */
  SHOAL_CONTEXT_LOCAL,        /* rows, and hierarchies: maybe ragged; a number needs none */
  SHOAL_CONTEXT_SORTED,       /* the same, with rows and codes sorted by value (table/order.h) */
  SHOAL_CONTEXT_LATTICE       /* rows, and a hierarchy of uniform height for each */
} shoal_context_scope;

/*
 * Borrows table, policy and run. SHOAL_BAD_INPUT for errors in the policy and for data that do not
 * fit its hierarchies; the context is then reset. Cost: a pass over the rows from CLASSES on.
 */
shoal_status shoal_context_init(shoal_context *context, const shoal_table *table,
                                const shoal_policy *policy, shoal_context_scope scope,
                                const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_context_reset(shoal_context *context);

/* The table as it was read. Its codes are not those of scope SORTED. */
const shoal_table *shoal_context_original(const shoal_context *context);


/* The name of the attribute that the requirement is about; "": of none. */
const char *shoal_context_attribute(const shoal_context *context,
                                    const shoal_requirement *requirement);

enum { SHOAL_COLUMN_LABEL_BYTES = 32 };

/*
 * How reports name column c of the table: by its name, or "column 3" if that may be a cell of a
 * file without a header and is not released. `out` is used for the latter.
 */
const char *shoal_context_column_label(const shoal_context *context, size_t c,
                                       char out[SHOAL_COLUMN_LABEL_BYTES]);

/* Has every quasi-identifier a hierarchy of uniform height? Known from scope LOCAL on. */
bool shoal_context_has_lattice(const shoal_context *context);

/*
 * Starts a search of the lattice; the context has a lattice and outlives it. SHOAL_BAD_INPUT if
 * the nodes cannot be counted; _any accepts such lattices too, for shoal_search_optimal.
 */
shoal_status shoal_context_search_any(const shoal_context *context, bool needs_rows,
                                      shoal_search *search, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_context_search(const shoal_context *context, bool needs_rows,
                                  shoal_search *search, shoal_error *error) SHOAL_MUST_CHECK;
