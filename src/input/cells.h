/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input/cells: how the cells of numbers and dates are read, before values are compared. In the
 * engine every number has a decimal point and no thousands separators; a release has the decimal
 * mark of its table again (shoal_swap_marks). Cells that are not a number or date are refused
 * together, or with `otherwise: missing` become the first spelling of data.missing. Private to
 * input/.
 */
#pragma once

#include "base/text.h"
#include "policy/policy.h"
#include "table/table.h"

/*
 * Reads the cells of the column that is `attribute`, and adds a note on cells that became missing.
 * SHOAL_BAD_INPUT: cells that the policy does not allow, all of the column in one message. Cost: a
 * pass over the values; over the rows only if cells are changed or bad.
 */
shoal_status shoal_cells_read(shoal_table *table, shoal_column *column, const shoal_policy *policy,
                              const shoal_attribute *attribute, shoal_purpose purpose,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* Does a release spell the attribute's numbers with decimal commas? */
bool shoal_cells_have_commas(const shoal_policy *policy, const shoal_attribute *attribute);

/*
 * Exchanges points and commas between digits: a label of the engine becomes one of the release, and
 * a label of the release one of the engine. Twice is nothing.
 */
void shoal_swap_marks(char *bytes, size_t size_bytes);

/*
 * A table that is read without a policy: detects its style of numbers (table/number_style.h), gives
 * columns of such numbers the engine's spelling, and adds notes on it and on columns that are
 * numbers except in a few cells. Cost: a pass over the values.
 */
shoal_status shoal_cells_detect(shoal_table *table, shoal_error *error) SHOAL_MUST_CHECK;
