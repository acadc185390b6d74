/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/policy: writes the suggested policy as commented YAML. The comments state the content of
 * each column and the evidence for its role, so that a person can review it. Comments have only
 * numbers and fixed texts, no names: a name may contain a line end.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/yaml.h"
#include "profile/profile.h"

enum {
  START_P = 2,
  LINE = 98,   /* bytes of a comment */
  MOSTLY = 10, /* p is not asked of columns where fewer than 1 row in 10 differs from the mode */
  ENTRY = 44,  /* column where a comment behind an entry begins */
  NARROW = 30, /* columns; wider tables get one line for each entry */
  MAX_MODELS = 20,
  THREE = 3, /* digits of a postal code that are left */
  OLDEST = 90
};

typedef struct writer {
  const shoal_result *profile;
  const shoal_preset *preset; /* NULL: none */
  bool safe;
  shoal_text *text;
} writer;

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

/* Lines that end in a line end, as comments. */
static void add_lines(shoal_text *text, const char *lines) {
  while (*lines) {
    size_t size = strcspn(lines, "\n");
    shoal_text_add(text, "# ");
    shoal_text_add_bytes(text, lines, size + 1);
    lines += size + 1;
  }
}

static void add_head(writer *w) {
  shoal_text *text = w->text;
  const shoal_result *profile = w->profile;
  shoal_text_add(
      text,
      "# A starting policy that `shoal profile` guessed from names and counts of the columns.\n"
      "# You decide: review every column before you release anything.\n"
      "#\n"
      "#   identifier   says who the person is; never released\n"
      "#   person       says who a row is about; never released; k counts people\n"
      "#   quasi        others may know it; generalized\n"
      "#   sensitive    released unchanged; p makes it hard to link to a person\n"
      "#   keep         released unchanged\n");
  if (!w->safe)
    shoal_text_add(text, "#   decide: true  decide the role, then remove it; anonymize refuses "
                         "until then\n");
  shoal_text_add(text, "#\n# ");
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
                "No quasi-identifier was found: give that role to what others may know of a "
                "person. Without one there is nothing to anonymize by.");
  }
  if (!w->preset) return;
  shoal_text_print(text, "#\n# Preset %s, %s:\n", w->preset->name, w->preset->summary);
  add_lines(text, w->preset->source);
}

/* ------------------------------------------------------------ columns */

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

/* Rules of the preset that a person must not undo. */
static void add_rules(const writer *w, const shoal_column_outcome *column) {
  const shoal_preset *preset = w->preset;
  if (!preset) return;
  bool text = strcmp(column->type, "text") == 0 && has_role(column, "sensitive");
  /* so that p: 2 can be reached: one value is left beside the label, or another one */
  if (preset->rare_findings && text && column->distinct >= START_P &&
      column->most_frequent >= preset->k)
    shoal_text_print(w->text, ", rare: %u", preset->k);
  if (!has_role(column, "quasi")) return;
  if (preset->top_coded_ages && column->is_age && column->as_number)
    shoal_text_print(w->text, ", top-code: %d", OLDEST);
  if (preset->years_only && column->as_date) shoal_text_add(w->text, ", min-level: 1");
  if (preset->short_postcodes && column->is_postcode && column->longest_bytes > THREE)
    shoal_text_print(w->text, ", min-level: %zu", column->longest_bytes - THREE);
}

static void add_entry(const writer *w, const shoal_column_outcome *column,
                      const shoal_profile_entry *entry) {
  shoal_text *text = w->text;
  if (entry->name_bytes) {
    shoal_text name;
    shoal_text_init(&name);
    shoal_text_add_bytes(&name, column->name, entry->name_bytes);
    shoal_text_add(&name, "*");
    if (name.failed) text->failed = true;
    else shoal_yaml_add_key(text, "  ", name.bytes);
    shoal_text_reset(&name);
  } else {
    shoal_yaml_add_key(text, "  ", column->name);
  }
  shoal_text_print(text, "{role: %s", column->role);
  if (column->undecided && !w->safe) shoal_text_add(text, ", decide: true");
  if (column->as_number) shoal_text_add(text, ", type: number");
  if (column->as_number && column->bad_cells) shoal_text_add(text, ", otherwise: missing");
  if (has_role(column, "quasi")) {
    /* Dates have intervals, but a preset may leave only years. */
    bool years_only = w->preset && w->preset->years_only;
    if (column->as_date && years_only)
      shoal_text_print(w->text, ", hierarchy: {date: [year, 5-years, decade]%s}",
                       column->as_date + strlen("date"));
    else if (column->as_date) shoal_text_print(w->text, ", type: %s", column->as_date);
    if (column->hierarchy) shoal_text_print(w->text, ", hierarchy: %s", column->hierarchy);
  }
  add_rules(w, column);
  shoal_text_add(text, "}");
}

/* p: 2 allows at most as many classes as rows differ from the most frequent value. */
static bool is_protected(const shoal_column_outcome *column, uint64_t n_rows) {
  return column->distinct >= START_P && column->most_frequent <= n_rows - n_rows / MOSTLY;
}

/* One line, with the evidence up to its first colon. */
static void add_line(const writer *w, const shoal_column_outcome *column,
                     const shoal_profile_entry *entry) {
  shoal_text *text = w->text;
  size_t start = text->size_bytes;
  add_entry(w, column, entry);
  while (text->size_bytes - start < ENTRY && !text->failed) shoal_text_add(text, " ");
  shoal_text_add(text, "  # ");
  if (entry->n_columns > 1) add_amount(text, entry->n_columns, "column", "columns");
  else add_amount(text, column->distinct, "value", "values");
  shoal_text_add(text, "; ");
  shoal_text_add_bytes(text, column->why, strcspn(column->why, ":"));
  shoal_text_add(text, "\n");
}

static bool add_columns(const writer *w) {
  const shoal_profile_report *profile = &w->profile->profile;
  size_t n_entries = 0;
  shoal_profile_entry *entries = shoal_alloc(profile->n_columns, sizeof *entries);
  bool ok = entries && shoal_profile_merge(profile, w->safe, entries, &n_entries);
  if (ok && profile->n_columns > NARROW) shoal_text_add(w->text, "\n");
  for (size_t i = 0; ok && i < n_entries; i++) {
    const shoal_column_outcome *column = &profile->columns[entries[i].column];
    if (profile->n_columns > NARROW) add_line(w, column, &entries[i]);
    else {
      /* Three or four lines for each column. */
      const shoal_profile_entry *entry = &entries[i];
      shoal_text *text = w->text;
      shoal_text_add(text, "\n");
      add_figures(text, column);
      add_comment(text, "  ", column->why);
      if (has_role(column, "sensitive") && !is_protected(column, w->profile->input_rows))
        add_comment(text, "  ",
                    "Nearly all rows have one value: p would ask every class for one of the few "
                    "others, and that can cost much.");
      add_entry(w, column, entry);
      shoal_text_add(text, "\n");
    }
  }
  free(entries);
  return ok;
}

/* ------------------------------------------------------------ requirements */

/* One model for each protected column; with many, for those whose names tell their meaning. */
static void add_models(const writer *w, size_t n_protected) {
  const shoal_profile_report *profile = &w->profile->profile;
  size_t room = MAX_MODELS;
  shoal_text_add(w->text,
                 "  models:                # each class has at least p different values\n");
  for (int by_name = 1; by_name >= 0; by_name--)
    for (size_t c = 0; c < profile->n_columns && room; c++) {
      const shoal_column_outcome *column = &profile->columns[c];
      bool wanted = has_role(column, "sensitive") && column->by_name == (bool)by_name;
      if (!wanted || !is_protected(column, w->profile->input_rows)) continue;
      shoal_text_print(w->text, "    - p-sensitive: {p: %d, attribute: ", START_P);
      shoal_yaml_add_scalar(w->text, column->name);
      shoal_text_add(w->text, "}\n");
      room--;
    }
  if (n_protected > MAX_MODELS)
    shoal_text_print(w->text, "    # and the same for %zu more columns, if they need protection\n",
                     n_protected - MAX_MODELS);
}

/* p for every sensitive column, or for those where it does not cost much. */
static void add_p(const writer *w) {
  const shoal_profile_report *profile = &w->profile->profile;
  size_t n_sensitive = 0, n_protected = 0;
  for (size_t c = 0; c < profile->n_columns; c++) {
    if (!has_role(&profile->columns[c], "sensitive")) continue;
    n_sensitive++;
    n_protected += is_protected(&profile->columns[c], w->profile->input_rows);
  }
  size_t n_skewed = n_sensitive - n_protected;
  if (n_skewed)
    shoal_text_print(w->text,
                     "  # %zu sensitive column%s nearly one value in all rows: p: %d there would "
                     "cost much,\n  # and the report lists %s as unprotected.\n",
                     n_skewed, n_skewed == 1 ? " has" : "s have", START_P,
                     n_skewed == 1 ? "it" : "them");
  if (n_protected && n_skewed) add_models(w, n_protected);
  else if (n_protected)
    shoal_text_print(w->text,
                     "  p: %d                   # each class has at least p different "
                     "sensitive values\n",
                     START_P);
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

static void add_privacy(const writer *w) {
  uint64_t wanted = w->preset ? w->preset->k : SHOAL_PROFILE_K, n_rows = w->profile->input_rows;
  uint64_t k = n_rows < wanted ? n_rows : wanted;
  shoal_text_print(w->text,
                   "\nprivacy:\n"
                   "  k: %-19llu # every row looks like at least k - 1 others\n",
                   (unsigned long long)k);
  if (k >= START_P) add_p(w);
  shoal_text_add(w->text, "\nmethod:\n"
                          "  max-suppression: 1%    # at most 1% of the rows may be "
                          "removed\n");
}

static shoal_status find_preset(const char *name, const shoal_preset **preset, shoal_error *error) {
  *preset = NULL;
  if (!name) return SHOAL_OK;
  for (const shoal_preset *p = shoal_presets; p->name; p++)
    if (strcmp(p->name, name) == 0) *preset = p;
  if (*preset) return SHOAL_OK;
  return shoal_fail(error, SHOAL_BAD_INPUT,
                    "unknown preset '%.60s': give public, research or hipaa-safe-harbor", name);
}

shoal_status shoal_profile_yaml(const shoal_result *profile, bool safe, const char *preset,
                                char **yaml, shoal_error *error) {
  if (profile->kind != SHOAL_RESULT_PROFILE)
    return shoal_fail(error, SHOAL_BAD_INPUT, "a starting policy is made from a profile only");
  shoal_text text;
  writer w = {.profile = profile, .safe = safe, .text = &text};
  SHOAL_TRY(find_preset(preset, &w.preset, error));
  shoal_text_init(&text);
  add_head(&w);
  shoal_text_print(&text, "shoal: 1\n\ndata:\n  missing: %s    # cells that mean: not known\n",
                   profile->profile.missing_marks);
  add_style(&text, &profile->profile);
  shoal_text_add(&text, "\nattributes:");
  bool ok = add_columns(&w);
  add_privacy(&w);
  *yaml = shoal_text_take(&text);
  if (ok && *yaml) return SHOAL_OK;
  free(*yaml);
  *yaml = NULL;
  return shoal_fail_memory(error);
}
