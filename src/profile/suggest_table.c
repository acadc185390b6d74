/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/suggest_table: suggestions for all columns of a table together.
 *
 *     each column by itself -> traits of the table -> each column again, with them
 *     -> batteries (answers of one questionnaire) are kept -> logarithms and squares of columns
 *     -> columns that stand for an identifier
 *     -> at least one quasi-identifier -> labels that show no identifying value
 *     -> a limited number of questions
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "profile/profile.h"

enum {
  MIN_HEALTH = 2,  /* columns about health */
  MIN_STUDY = 10,  /* quantities without a meaning */
  MIN_BATTERY = 4, /* columns of one questionnaire */
  MIN_ANSWERS = 3, /* values of an answer; yes and no may be one category, spread over columns */
  MAX_ANSWERS = 20,
  QUESTIONS = 5,
  MORE_QUESTIONS = 20, /* columns for each further question */
  SAMPLE_ROWS = 20000
};

/* ------------------------------------------------------------ batteries */

/* Bytes of the name before the digits at its end; 0: it ends in none. */
static size_t stem_of(const char *name) {
  size_t size = strlen(name), stem = size;
  while (stem && name[stem - 1] >= '0' && name[stem - 1] <= '9') stem--;
  return stem < size ? stem : 0;
}

static bool is_answer(const shoal_column_stats *stats, const shoal_suggestion *s) {
  return !s->by_name && s->meaning != SHOAL_MEANS_DATE && stats->distinct >= MIN_ANSWERS &&
         stats->distinct <= MAX_ANSWERS &&
         (s->role == SHOAL_ROLE_QUASI || s->role == SHOAL_ROLE_SENSITIVE);
}

/* Columns A1, A2, ... with few values each are answers to one questionnaire. */
static void keep_batteries(const shoal_table *table, const shoal_column_stats *stats,
                           shoal_suggestion *suggestions) {
  for (size_t c = 0; c < table->n_columns; c++) {
    const char *name = table->columns[c].name;
    size_t stem = stem_of(name), n_alike = 0;
    if (!stem || !is_answer(&stats[c], &suggestions[c])) continue;
    for (size_t i = 0; i < table->n_columns && n_alike < MIN_BATTERY; i++)
      n_alike += stem_of(table->columns[i].name) == stem && stats[i].distinct >= MIN_ANSWERS &&
                 stats[i].distinct <= MAX_ANSWERS &&
                 strncmp(table->columns[i].name, name, stem) == 0;
    if (n_alike < MIN_BATTERY || !shoal_may_be_kept(name, &stats[c])) continue;
    suggestions[c] = (shoal_suggestion){
        .role = SHOAL_ROLE_KEEP,
        .why = "one of several columns of the same kind, as answers to one questionnaire are"};
  }
}

/* ------------------------------------------------------------ columns that stand for others */

/* Is the name that of `of` with "l", "ln" or "log" before it, or "sq" behind it? */
static bool is_derived_name(const char *name, const char *of) {
  static const char *const before[] = {"l", "ln", "log", "l_", "ln_", "log_"};
  static const char *const behind[] = {"sq", "_sq"};
  size_t size = strlen(of);
  if (!size) return false;
  for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
    size_t n = strlen(before[i]);
    if (strncasecmp(name, before[i], n) == 0 && strcasecmp(name + n, of) == 0) return true;
  }
  for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
    if (strncasecmp(name, of, size) == 0 && strcasecmp(name + size, behind[i]) == 0) return true;
  return false;
}

/* A logarithm or a square tells what the column itself tells. Names without a meaning only. */
static void follow_others(const shoal_table *table, const shoal_column_stats *stats,
                          shoal_suggestion *suggestions) {
  for (size_t c = 0; c < table->n_columns; c++) {
    shoal_suggestion *s = &suggestions[c];
    if (s->by_name || stats[c].value_type != SHOAL_VALUE_NUMBER || stats[c].distinct < 2) continue;
    for (size_t k = 0; k < table->n_columns; k++) {
      shoal_role role = suggestions[k].role;
      bool released = role == SHOAL_ROLE_QUASI || role == SHOAL_ROLE_SENSITIVE;
      if (!released || !is_derived_name(table->columns[c].name, table->columns[k].name)) continue;
      s->role = role;
      s->undecided = suggestions[k].undecided;
      s->as_number = role == SHOAL_ROLE_SENSITIVE || s->may_be_number;
      (void)snprintf(s->why, sizeof s->why,
                     "the logarithm or square of another column: it tells the same");
      break;
    }
  }
}

/* Have any two of the first rows the same code in both columns, or different codes in both? */
static bool stand_for_each_other(const shoal_table *table, const shoal_column *a,
                                 const shoal_column *b) {
  uint64_t n = table->n_rows < SAMPLE_ROWS ? table->n_rows : SAMPLE_ROWS;
  uint32_t seen[2 * SAMPLE_ROWS / 4], n_seen = sizeof seen / sizeof *seen;
  memset(seen, 0xff, sizeof seen);
  for (uint64_t row = 0; row < n; row++) {
    uint32_t key = shoal_column_code(a, row), value = shoal_column_code(b, row);
    if (key >= n_seen) break; /* codes count values in the order of their appearance */
    if (seen[key] == UINT32_MAX) seen[key] = value;
    if (seen[key] != value) return false;
  }
  return true;
}

/*
 * A column whose name says that it tells people apart, and that repeats: k must count people. One
 * such column is the key; with others it would tell more people apart than there are. A name such
 * as patient_id comes before "id", which may number other things: then k counts these, and a class
 * still has at least k rows.
 */
static void find_person(const shoal_table *table, const shoal_column_stats *stats,
                        shoal_suggestion *suggestions) {
  size_t key = table->n_columns;
  for (size_t c = table->n_columns; c-- > 0;) {
    const shoal_suggestion *s = &suggestions[c];
    bool repeats = stats[c].distinct > SHOAL_FEW_CODES && stats[c].unique < stats[c].present;
    bool complete = stats[c].present == table->n_records;
    if (!s->names_person || s->role != SHOAL_ROLE_IDENTIFIER || !repeats || !complete) continue;
    if (key == table->n_columns || shoal_name_is_of_people(table->columns[c].name) ||
        !shoal_name_is_of_people(table->columns[key].name))
      key = c;
  }
  if (key == table->n_columns) return;
  suggestions[key].role = SHOAL_ROLE_PERSON;
  (void)snprintf(suggestions[key].why, sizeof suggestions[key].why,
                 "it tells people apart, and some have several rows: k counts people");
}

/* ------------------------------------------------------------ limits */

static size_t count_role(const shoal_suggestion *suggestions, size_t n, shoal_role role) {
  size_t n_found = 0;
  for (size_t c = 0; c < n; c++) n_found += suggestions[c].role == role;
  return n_found;
}

/*
 * Without a quasi-identifier nothing can be generalized. Kept columns become ones, or sensitive
 * columns, first those whose names tell nothing.
 */
static void need_quasi(const shoal_table *table, const shoal_column_stats *stats,
                       shoal_suggestion *suggestions) {
  static const struct {
    shoal_role role;
    bool by_name; /* also those */
  } rounds[] = {
      {SHOAL_ROLE_KEEP, true}, {SHOAL_ROLE_SENSITIVE, false}, {SHOAL_ROLE_SENSITIVE, true}};
  size_t n = table->n_columns, n_varying = 0;
  for (size_t c = 0; c < n; c++)
    n_varying += suggestions[c].role != SHOAL_ROLE_IDENTIFIER && stats[c].distinct > 1;
  for (size_t r = n_varying > 1 ? 0 : 3; r < 3 && !count_role(suggestions, n, SHOAL_ROLE_QUASI);
       r++)
    for (size_t c = 0; c < n; c++) {
      shoal_suggestion *s = &suggestions[c];
      if (s->role != rounds[r].role || stats[c].distinct < 2) continue;
      if (s->by_name && !rounds[r].by_name) continue;
      s->role = SHOAL_ROLE_QUASI;
      s->as_number = s->may_be_number;
      s->hierarchy[0] = '\0';
      (void)snprintf(s->why, sizeof s->why,
                     "no column looks like one that others know, and one is needed: give this "
                     "role to those that they may know");
    }
}

/* Sets of values that identify people are refused (decide/gates.h): only `*` is left of them. */
static void hide_values(const shoal_table *table, const shoal_column_stats *stats,
                        shoal_suggestion *suggestions) {
  for (size_t c = 0; c < table->n_columns; c++) {
    shoal_suggestion *s = &suggestions[c];
    const char *why;
    if (s->role == SHOAL_ROLE_QUASI && !s->as_number && !s->date[0] && !s->hierarchy[0] &&
        stats[c].present >= SHOAL_FEW_ROWS &&
        shoal_identifies_people(table->columns[c].name, &stats[c], &why))
      (void)snprintf(s->hierarchy, sizeof s->hierarchy, "{top: true}");
  }
}

void shoal_suggest_table(const shoal_table *table, const shoal_column_stats *stats,
                         shoal_suggestion *suggestions) {
  size_t n = table->n_columns;
  shoal_table_traits traits = {0};
  for (int round = 0; round < 2; round++) {
    for (size_t c = 0; c < n; c++)
      shoal_suggest(table->columns[c].name, &stats[c], &traits, &suggestions[c]);
    size_t n_health = 0, n_quantities = 0;
    for (size_t c = 0; c < n; c++) {
      n_health += suggestions[c].is_health;
      n_quantities += suggestions[c].is_quantity;
    }
    traits = (shoal_table_traits){n_health >= MIN_HEALTH && n_health >= n / 20,
                                  n_quantities >= MIN_STUDY};
  }
  keep_batteries(table, stats, suggestions);
  follow_others(table, stats, suggestions);
  /* A column with as many values as a key of persons, and one for each, says who they are too. */
  for (size_t k = 0; k < table->n_columns; k++) {
    bool repeats = stats[k].distinct > SHOAL_FEW_CODES && stats[k].unique < stats[k].present;
    if (!suggestions[k].is_person_key || !repeats) continue;
    for (size_t c = 0; c < table->n_columns; c++) {
      bool as_many = stats[c].distinct == stats[k].distinct && c != k;
      if (!as_many || suggestions[c].role == SHOAL_ROLE_IDENTIFIER) continue;
      if (!stand_for_each_other(table, &table->columns[k], &table->columns[c])) continue;
      suggestions[c] = (shoal_suggestion){
          .role = SHOAL_ROLE_IDENTIFIER,
          .why = "each value belongs to one value of an identifier: it says who the row is about"};
    }
  }
  find_person(table, stats, suggestions);
  need_quasi(table, stats, suggestions);
  hide_values(table, stats, suggestions);
  /* The first undecided identifiers stay questions, then others; the rest keeps the safe role. */
  size_t room = QUESTIONS + (n > MORE_QUESTIONS ? (n - MORE_QUESTIONS) / MORE_QUESTIONS : 0);
  for (int identifiers = 1; identifiers >= 0; identifiers--)
    for (size_t c = 0; c < n; c++) {
      bool is_identifier = suggestions[c].role == SHOAL_ROLE_IDENTIFIER;
      if (!suggestions[c].undecided || is_identifier != (bool)identifiers) continue;
      if (room) room--;
      else suggestions[c].undecided = false;
    }
}
