/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/variants: warns about values of a text column that differ only in case, spaces or Unicode
 * form. Unless `data.fold` makes them equal they count as different values, so a class can have p
 * of them that all mean the same. `profile` and `check` warn.
 */
#include "profile/profile.h"
#include "report/result.h"
#include "table/fold.h"

static void add_word(shoal_text *list, const char *word) {
  shoal_text_print(list, "%s%s", list->size_bytes ? ", " : "", word);
}

shoal_status shoal_warn_of_variants(shoal_result *result, const shoal_table *table,
                                    const shoal_column *column, const char *name,
                                    shoal_equality folded, shoal_error *error) {
  shoal_variants v;
  shoal_text list;
  if (!shoal_column_variants(table, column, &v)) return shoal_fail_memory(error);
  if (!v.n_values) return SHOAL_OK;
  bool mixed = !v.n_case && !v.n_space && !v.n_unicode; /* they differ in several at once */
  shoal_text_init(&list);
  if (v.n_case || mixed || folded & SHOAL_EQUAL_CASE) add_word(&list, "case");
  if (v.n_space || mixed || folded & SHOAL_EQUAL_SPACE) add_word(&list, "space");
  if (v.n_unicode || mixed || folded & SHOAL_EQUAL_UNICODE) add_word(&list, "unicode");
  shoal_status status =
      list.failed
          ? shoal_fail_memory(error)
          : shoal_result_warn(
                result, error,
                "column '%.200s': %llu values, in %llu rows, equal another value but for case, "
                "spaces or Unicode form (only case: %llu, only spaces: %llu, only Unicode form: "
                "%llu). Each counts as a value of its own; 'data: {fold: [%s]}' makes equal ones "
                "one value",
                name, (unsigned long long)v.n_values, (unsigned long long)v.n_rows,
                (unsigned long long)v.n_case, (unsigned long long)v.n_space,
                (unsigned long long)v.n_unicode, list.bytes);
  shoal_text_reset(&list);
  return status;
}
