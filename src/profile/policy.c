/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/policy: writes the suggested policy as commented YAML. The comments state the content of
 * each column and the reason for its role, so that a person can review it. Comments have only
 * numbers and fixed texts, no names: a name may contain a line end.
 */
#include <string.h>

#include "policy/yaml.h"
#include "profile/profile.h"
#include "report/result.h"

enum {
  START_K = 5,
  START_P = 2,
  LINE = 98,  /* bytes of a comment */
  MOSTLY = 10 /* a warning if fewer than one row in 10 has another value than the most frequent */
};

/* ------------------------------------------------------------ the policy's parts */

static bool has_role(const shoal_column_outcome *column, const char *role) {
  return strcmp(column->role, role) == 0;
}

static void add_amount(shoal_text *text, uint64_t n, const char *one, const char *many) {
  shoal_text_add_count(text, n);
  shoal_text_print(text, " %s", n == 1 ? one : many);
}

/* A comment, wrapped at words. */
static void add_comment(shoal_text *text, const char *indent, const char *words) {
  while (*words) {
    size_t room = LINE - strlen(indent) - 2, size = strlen(words);
    if (size > room)
      for (size = room; size > 1 && words[size] != ' ';) size--;
    shoal_text_print(text, "%s# ", indent);
    shoal_text_add_bytes(text, words, size);
    shoal_text_add(text, "\n");
    words += size;
    words += strspn(words, " ");
  }
}

static void add_head(shoal_text *text, const shoal_result *profile) {
  shoal_text_add(
      text,
      "# A starting policy that `shoal profile` guessed from names and counts of the columns.\n"
      "# You decide: review every column before you release anything.\n"
      "#\n"
      "#   identifier   says who the person is; never released\n"
      "#   quasi        others may know it; generalized along its hierarchy\n"
      "#   sensitive    released unchanged; p makes it hard to link to a person\n"
      "#   keep         released unchanged\n"
      "#   decide: true  decide the role, then remove it; anonymize refuses until then\n"
      "#\n"
      "# The hierarchy {top: true} keeps the value or hides it; use {file: ...} or "
      "{tree: ...}\n"
      "# to lose less.\n"
      "#\n# ");
  add_amount(text, profile->input_columns, "column", "columns");
  shoal_text_add(text, ", ");
  add_amount(text, profile->input_rows, "row", "rows");
  if (profile->n_quasi) {
    shoal_text_add(text, "; ");
    add_amount(text, profile->n_quasi, "quasi-identifier", "quasi-identifiers");
    shoal_text_add(text, " with ");
    add_amount(text, profile->profile.n_distinct_rows, "combination", "combinations");
    shoal_text_add(text, " of values;\n# ");
    add_amount(text, profile->profile.n_unique_rows, "row is alone with its",
               "rows are alone with theirs");
    shoal_text_add(text, ".\n");
  } else {
    shoal_text_add(text, ".\n");
    add_comment(text, "",
                "No quasi-identifier was found: give that role, and a hierarchy, to what others "
                "may know of a person. Without one there is nothing to anonymize by.");
  }
}

static void add_figures(shoal_text *text, const shoal_column_outcome *column) {
  shoal_text_print(text, "  # %s: ", column->type);
  add_amount(text, column->distinct, "value", "values");
  if (column->distinct) {
    shoal_text_add(text, ", the most frequent in ");
    add_amount(text, column->most_frequent, "row", "rows");
    shoal_text_add(text, "; ");
    add_amount(text, column->unique, "row alone with its", "rows alone with theirs");
  }
  if (column->missing) {
    shoal_text_add(text, "; missing in ");
    add_amount(text, column->missing, "row", "rows");
  }
  shoal_text_add(text, "\n");
}

static void add_column(shoal_text *text, const shoal_column_outcome *column, uint64_t n_rows) {
  bool quasi = has_role(column, "quasi");
  bool intervals = quasi && strncmp(column->hierarchy, "{intervals", 10) == 0;
  bool number = strcmp(column->type, "number") == 0;
  shoal_text_add(text, "\n");
  add_figures(text, column);
  add_comment(text, "  ", column->why);
  if (has_role(column, "sensitive") && column->most_frequent > n_rows - n_rows / MOSTLY)
    add_comment(text, "  ",
                "Nearly all rows have one value: with p, every class needs one of the few others, "
                "and that can cost much.");
  shoal_yaml_add_key(text, "  ", column->name);
  shoal_text_print(text, "{role: %s", column->role);
  if (column->undecided) shoal_text_add(text, ", decide: true");
  if (intervals || (number && has_role(column, "sensitive")))
    shoal_text_add(text, ", type: number");
  if (quasi) shoal_text_print(text, ", hierarchy: %s", column->hierarchy);
  shoal_text_add(text, "}\n");
}

/* p: 2 needs two values of each sensitive column; it is omitted if one has fewer. */
static void add_privacy(shoal_text *text, const shoal_result *profile) {
  size_t n_sensitive = 0, n_poor = 0;
  for (size_t c = 0; c < profile->profile.n_columns; c++) {
    if (!has_role(&profile->profile.columns[c], "sensitive")) continue;
    n_sensitive++;
    n_poor += profile->profile.columns[c].distinct < START_P;
  }
  uint64_t k = profile->input_rows < START_K ? profile->input_rows : START_K;
  shoal_text_print(text,
                   "\nprivacy:\n"
                   "  k: %llu                   # every row looks like at least k - 1 others\n",
                   (unsigned long long)k);
  if (n_sensitive && n_poor)
    shoal_text_add(text, "  # p: 2 would ask for two values of every sensitive column in every "
                         "class; one has only one.\n");
  else if (n_sensitive && k >= START_P)
    shoal_text_print(text,
                     "  p: %d                   # each class has at least p different "
                     "sensitive values\n",
                     START_P);
  shoal_text_add(text, "\nmethod:\n"
                       "  max-suppression: 1%    # at most 1% of the rows may be "
                       "removed\n");
}

/* How the file spells numbers and text, where that is not the default. */
static void add_style(shoal_text *text, const shoal_profile_report *profile) {
  if (profile->decimal)
    shoal_text_print(text, "  decimal: %s         # mark of the table's numbers\n",
                     profile->decimal);
  if (profile->thousands)
    shoal_text_print(text, "  thousands: %s       # between groups of three digits\n",
                     profile->thousands);
  if (profile->encoding) shoal_text_print(text, "  encoding: %s\n", profile->encoding);
}

shoal_status shoal_profile_yaml(const shoal_result *profile, char **yaml, shoal_error *error) {
  if (profile->kind != SHOAL_RESULT_PROFILE)
    return shoal_fail(error, SHOAL_BAD_INPUT, "a starting policy is made from a profile only");
  shoal_text text;
  shoal_text_init(&text);
  add_head(&text, profile);
  shoal_text_print(&text, "shoal: 1\n\ndata:\n  missing: %s    # cells that mean: not known\n",
                   profile->profile.missing_marks);
  add_style(&text, &profile->profile);
  shoal_text_add(&text, "\nattributes:");
  for (size_t c = 0; c < profile->profile.n_columns; c++)
    add_column(&text, &profile->profile.columns[c], profile->input_rows);
  add_privacy(&text, profile);
  *yaml = shoal_text_take(&text);
  return *yaml ? SHOAL_OK : shoal_fail_memory(error);
}
