/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/suggest: suggests a role, its reason and a hierarchy from the name and statistics of a
 * column.
 *
 * A name with a known meaning decides. Otherwise the statistics decide, on the safe side: a column
 * whose values are nearly all unique becomes an identifier and is not released; one with few enough
 * values to be shared and known becomes a quasi-identifier; the rest is kept and marked as
 * undecided.
 */
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

enum {
  MODERATE = 100,        /* more distinct values are unlikely to be known of other people */
  FEW_SHARE = 10,        /* a value of fewer rows on average is shared by few */
  FEW_ROWS = 20,         /* with fewer rows, distinct numbers prove nothing */
  FEW_VALUES = 3,        /* with at most 3 values only "*" helps */
  WANTED_INTERVALS = 20, /* maximum number of intervals on the first level */
  SHORTEST_CODE = 3,
  PLAIN_CODE = 5,   /* digits of a code; fewer may be years or counts */
  LONGEST_CODE = 12 /* a mask has one level per character */
};

/* ------------------------------------------------------------ roles */

static const char *consequence(shoal_role role) {
  switch (role) {
  case SHOAL_ROLE_IDENTIFIER: return "it can tell who a row is about";
  case SHOAL_ROLE_SENSITIVE: return "people want to keep that to themselves";
  default: return "others may know it or can find it out";
  }
}

static void set_role(shoal_suggestion *s, shoal_role role, bool undecided, const char *why) {
  s->role = role;
  s->undecided = undecided;
  (void)snprintf(s->why, sizeof s->why, "%s", why);
}

/* Whether nearly every row is alone with its value. */
static bool nearly_unique(const shoal_column_stats *f) {
  return f->unique >= f->present - f->present / 10;
}

static void suggest_role_by_figures(const shoal_column_stats *f, shoal_suggestion *s) {
  bool number = f->value_type == SHOAL_VALUE_NUMBER;
  if (f->value_type == SHOAL_VALUE_DATE)
    set_role(s, SHOAL_ROLE_QUASI, false, "dates: others may know when something happened");
  else if (nearly_unique(f) && !number)
    set_role(s, SHOAL_ROLE_IDENTIFIER, false,
             "nearly every value stands in one row only, as names and record numbers do");
  else if (nearly_unique(f) && f->scale == 0 && f->present >= FEW_ROWS)
    set_role(s, SHOAL_ROLE_IDENTIFIER, false,
             "whole numbers that nearly all differ, as record numbers do");
  else if (f->distinct <= MODERATE)
    set_role(s, SHOAL_ROLE_QUASI, false,
             "few values, as people know them of each other: together with other columns they "
             "can single somebody out");
  else
    set_role(s, SHOAL_ROLE_IDENTIFIER, true,
             "many values, and nothing tells what they are: may others know them (quasi), are they "
             "to be protected (sensitive), can they be released as they are (keep), or not at all "
             "(identifier)?");
}

static void suggest_role(const shoal_name_hint *hint, const shoal_column_stats *f,
                         shoal_suggestion *s) {
  bool by_name = hint && (hint->role == SHOAL_ROLE_IDENTIFIER || f->distinct > 1 ||
                          (f->distinct == 1 && f->missing > 0));
  if (by_name) {
    s->role = hint->role;
    s->is_person_key = hint->meaning == SHOAL_MEANS_PERSON;
    (void)snprintf(s->why, sizeof s->why, "its name suggests %s: %s", hint->noun,
                   consequence(hint->role));
  } else if (f->present == 0) {
    set_role(s, SHOAL_ROLE_KEEP, false, "no row has a value");
  } else if (f->distinct == 1 && f->missing == 0) {
    set_role(s, SHOAL_ROLE_KEEP, false, "the same value in every row: it tells nobody apart");
  } else {
    suggest_role_by_figures(f, s);
  }
}

/* ------------------------------------------------------------ hierarchies */

/* The smallest of 2, 5, 10, 20, 50, ... that makes at most WANTED_INTERVALS intervals. */
static uint64_t round_width(uint64_t range) {
  static const unsigned factors[] = {2, 5, 10};
  uint64_t min_width = range / WANTED_INTERVALS + (range % WANTED_INTERVALS != 0);
  for (uint64_t power = 1;; power *= 10)
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++)
      if (power * factors[f] >= min_width) return power * factors[f];
}

/*
 * {intervals: [w, 2w, 4w]}, as far as these are within the range; false: the range is too narrow.
 */
static bool suggest_intervals(const shoal_column_stats *f, shoal_meaning meaning, char *out,
                              size_t size) {
  uint64_t range = (uint64_t)f->high - (uint64_t)f->low;
  uint64_t width = round_width(range);
  if (meaning == SHOAL_MEANS_AGE && f->scale == 0 && range > 5) width = 5;
  if (width > range) return false;
  size_t at = (size_t)snprintf(out, size, "{intervals: [");
  for (unsigned times = 1; times <= 4; times *= 2) {
    if (times > 1 && width * times > range) break;
    char number[32];
    shoal_decimal_print((int64_t)(width * times), f->scale, number);
    at += (size_t)snprintf(out + at, size - at, "%s%s", times > 1 ? ", " : "", number);
  }
  (void)snprintf(out + at, size - at, "]}");
  return true;
}

/* Codes are masked from the right, one character per level, as postal codes are. */
static bool is_code(const shoal_column_stats *f, shoal_meaning meaning) {
  if (meaning == SHOAL_MEANS_AGE) return false;
  if (meaning == SHOAL_MEANS_POSTCODE) return f->longest_bytes <= LONGEST_CODE;
  if (f->digits > LONGEST_CODE) return false;
  bool as_names = meaning == SHOAL_MEANS_CATEGORY || f->value_type == SHOAL_VALUE_TEXT;
  return f->digits >= PLAIN_CODE || (as_names && f->digits >= SHORTEST_CODE);
}

static void suggest_hierarchy(const shoal_column_stats *f, shoal_meaning meaning, char *out,
                              size_t size) {
  bool iso = f->date_format && strcmp(f->date_format, "YYYY-MM-DD") == 0;
  if (f->value_type == SHOAL_VALUE_DATE)
    (void)snprintf(out, size, "{date: [month, year, decade]%s%s}",
                   iso ? "" : ", format: ", iso ? "" : f->date_format);
  else if (f->distinct > FEW_VALUES && is_code(f, meaning))
    (void)snprintf(out, size, "{mask: right}");
  else if (f->value_type != SHOAL_VALUE_NUMBER || meaning == SHOAL_MEANS_CATEGORY ||
           f->distinct <= FEW_VALUES || !suggest_intervals(f, meaning, out, size))
    (void)snprintf(out, size, "{top: true}");
}

void shoal_suggest(const char *name, const shoal_column_stats *stats,
                   shoal_suggestion *suggestion) {
  memset(suggestion, 0, sizeof *suggestion);
  bool mostly_differ = stats->distinct >= stats->present - stats->present / 2;
  const shoal_name_hint *hint = shoal_name_hint_find(name, mostly_differ);
  suggest_role(hint, stats, suggestion);
  if (suggestion->role == SHOAL_ROLE_QUASI)
    suggest_hierarchy(stats, hint ? hint->meaning : SHOAL_MEANS_ANYTHING, suggestion->hierarchy,
                      sizeof suggestion->hierarchy);
}

/* ------------------------------------------------------------ columns that identify people */

/* Values of fewer than FEW_SHARE rows each, on average. */
static bool shared_by_few(const shoal_column_stats *f) {
  return f->distinct > f->present / FEW_SHARE;
}

bool shoal_identifies_people(const char *name, const shoal_column_stats *f, const char **why) {
  bool tells_apart = f->distinct > 1;
  bool mostly_differ = f->distinct >= f->present - f->present / 2;
  const shoal_name_hint *hint = shoal_name_hint_find(name, mostly_differ);
  shoal_suggestion by_figures = {.undecided = true};
  if (!tells_apart) return false;
  suggest_role_by_figures(f, &by_figures);
  *why = f->has_times ? "exact times that few rows share"
         : f->value_type == SHOAL_VALUE_DATE
             ? "dates that nearly all differ"
             : "nearly every value stands in one row only, as names and record numbers do";
  if (f->has_times
          ? shared_by_few(f)
          : f->value_type == SHOAL_VALUE_DATE && nearly_unique(f) && f->present >= FEW_ROWS)
    return true;
  if (by_figures.role == SHOAL_ROLE_IDENTIFIER && !by_figures.undecided) return true;
  *why = "its name says that it identifies people, and few rows share a value";
  return hint && hint->role == SHOAL_ROLE_IDENTIFIER &&
         (f->distinct > MODERATE || shared_by_few(f));
}
