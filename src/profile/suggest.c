/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/suggest: suggests a role, its reason and a hierarchy of one column, from its name, the
 * shape of its values and its statistics, and from what the other columns tell about the table
 * (suggest_table.c).
 *
 * A name with a known meaning decides, then the shape of the values, then counts. What nothing
 * tells is undecided, and its role is the safe one: not released, or generalized.
 */
#include <stdio.h>
#include <string.h>

#include "hierarchy/date.h"
#include "profile/profile.h"

enum {
  MODERATE = 100, /* more distinct values are unlikely to be known of other people */
  FEW_SHARE = 10, /* a value of fewer rows on average is shared by few */
  FEW_VALUES = 3, /* with at most 3 values only "*" helps */
  MAX_CODES = 12, /* so few whole numbers are codes, unless the name says otherwise; so few texts
                     may be findings, more are places, physicians or beds */
  MAX_YEARS = 30, /* so few can be years of school or work, or rooms: others may know them */
  MIN_KEY = 200,  /* numbers from 1 without gaps: more are keys of persons or things */
  MAX_KEY_SHARE = 50, /* a key occurs in at most 1 row in 50 */
  PLAIN_CODE = 5,     /* digits of a code; fewer may be years or counts */
  FIRST_YEAR = 1900,  /* of a birth or an event that others may know */
  LONGEST_CODE = 12   /* a mask has one level per character */
};

/* ------------------------------------------------------------ what the statistics tell */

/* Whether nearly every row is alone with its value. */
static bool nearly_unique(const shoal_column_stats *f) {
  return f->unique >= f->present - f->present / 10;
}

/* Values of fewer than FEW_SHARE rows each, on average. */
static bool shared_by_few(const shoal_column_stats *f) {
  return f->distinct > f->present / FEW_SHARE;
}

/* Few values, and each has several rows: 88 values in 103 rows are not few. */
static bool has_few_values(const shoal_column_stats *f) {
  return f->distinct <= MODERATE && f->distinct <= f->present - f->present / 2;
}

/* Does every value between the least and the greatest occur, or nearly? */
static bool has_no_gaps(const shoal_column_stats *f) {
  uint64_t range = (uint64_t)f->greatest - (uint64_t)f->least;
  return f->distinct > range - range / 10;
}

/* Whole numbers that nearly all differ: record numbers ascend, have no gaps or equal lengths. */
static bool is_record_number(const shoal_column_stats *f) {
  return f->scale == 0 && nearly_unique(f) && f->present >= SHOAL_FEW_ROWS &&
         (f->ascending || has_no_gaps(f) || f->digits >= PLAIN_CODE);
}

/*
 * Numbers of persons or things that have several rows: from 1 without gaps, all about as often; or
 * all in the same number of rows, as those of people who were asked every year are.
 */
static bool is_key(const shoal_column_stats *f) {
  if (f->scale || f->distinct <= MIN_KEY) return false;
  if (f->most_frequent > 1 && f->distinct == f->present / f->most_frequent)
    return f->distinct * f->most_frequent == f->present;
  return f->least == 1 && has_no_gaps(f) && f->most_frequent <= f->present / MAX_KEY_SHARE;
}

/* Do numbers only name categories? */
static bool are_codes(const shoal_column_stats *f, shoal_meaning meaning) {
  if (meaning == SHOAL_MEANS_CATEGORY || meaning == SHOAL_MEANS_CARE) return true;
  bool quantity = meaning == SHOAL_MEANS_COUNT || meaning == SHOAL_MEANS_AGE ||
                  meaning == SHOAL_MEANS_DATE || meaning == SHOAL_MEANS_DURATION;
  return !quantity && f->scale == 0 && f->distinct <= MAX_CODES;
}

/* Few whole numbers from about 0 on: years, counts of people or things, which others may know. */
static bool may_be_years(const shoal_column_stats *f) {
  return f->scale == 0 && f->distinct <= MAX_YEARS && f->least >= 0 && f->greatest <= 2 * MAX_YEARS;
}

/* Whole numbers that nearly all lie between FIRST_YEAR and the current year. */
static bool are_years(const shoal_column_stats *f) {
  return f->value_type == SHOAL_VALUE_NUMBER && f->scale == 0 && f->distinct > 1 &&
         f->low >= FIRST_YEAR && f->high <= (int64_t)shoal_date_pivot(0, 0);
}

/* ------------------------------------------------------------ roles */

static const char *consequence(shoal_role role) {
  switch (role) {
  case SHOAL_ROLE_IDENTIFIER: return "it can tell who a row is about";
  case SHOAL_ROLE_SENSITIVE: return "people want to keep that to themselves";
  case SHOAL_ROLE_KEEP: return "it tells little about a person";
  default: return "others may know it or can find it out";
  }
}

static void set_role(shoal_suggestion *s, shoal_role role, bool undecided, const char *why) {
  s->role = role;
  s->undecided = undecided;
  (void)snprintf(s->why, sizeof s->why, "%s", why);
}

bool shoal_may_be_kept(const char *name, const shoal_column_stats *f) {
  const char *why;
  return !shoal_identifies_people(name, f, &why) && f->rare <= f->present / 4;
}

/* A body has 2 to 300 kg or up to 700 pounds, and few decimals; other weights are a survey's. */
static bool is_body_weight(const shoal_column_stats *f) {
  uint64_t unit = f->scale <= 16 ? shoal_power_of_ten(f->scale) : 0; /* 700 of it fit */
  return unit && f->low >= 2 * (int64_t)unit && f->high <= 700 * (int64_t)unit;
}

static void suggest_by_name(const char *name, const shoal_name_hint *hint,
                            const shoal_column_stats *f, const shoal_table_traits *table,
                            shoal_suggestion *s) {
  bool number = f->value_type == SHOAL_VALUE_NUMBER;
  bool dates = f->value_type == SHOAL_VALUE_DATE || f->has_times || are_years(f);
  shoal_role role = hint->role;
  s->is_person_key = hint->meaning == SHOAL_MEANS_PERSON || hint->meaning == SHOAL_MEANS_HOUSEHOLD;
  s->names_person = shoal_name_is_of_people(name) || hint->strength == SHOAL_HINT_IF_KEYS ||
                    (hint->meaning == SHOAL_MEANS_PERSON && strcasecmp(name, "id") == 0);
  s->is_health = hint->meaning == SHOAL_MEANS_HEALTH || hint->meaning == SHOAL_MEANS_CARE;
  if (hint->meaning == SHOAL_MEANS_WEIGHT && number) {
    if (is_body_weight(f))
      set_role(s, SHOAL_ROLE_QUASI, false, "its name suggests a weight: others may see it");
    else if (shoal_may_be_kept(name, f))
      set_role(s, SHOAL_ROLE_KEEP, false,
               "the weight of a row in a survey: many rows share a value");
    else
      set_role(s, SHOAL_ROLE_IDENTIFIER, true,
               "the weight of a row in a survey, and few rows share a value: who knows how weights "
               "were made can tell rows apart. Round the weights, then keep them");
    return;
  }
  if (dates && role != SHOAL_ROLE_IDENTIFIER) {
    (void)snprintf(s->why, sizeof s->why,
                   "%s, and its name suggests %s: others may know when "
                   "something happened",
                   number ? "years" : "dates", hint->noun);
    s->role = SHOAL_ROLE_QUASI;
    return;
  }
  /* among findings, the event is a death or a relapse */
  if (hint->meaning == SHOAL_MEANS_CENSORED && table->is_health) role = SHOAL_ROLE_SENSITIVE;
  if (role == SHOAL_ROLE_KEEP && !shoal_may_be_kept(name, f)) role = SHOAL_ROLE_SENSITIVE;
  if (f->shape == SHOAL_SHAPE_PROSE && nearly_unique(f)) role = SHOAL_ROLE_IDENTIFIER;
  s->role = role;
  (void)snprintf(s->why, sizeof s->why, "its name suggests %s: %s", hint->noun, consequence(role));
}

static const struct {
  shoal_role role;
  const char *noun; /* NULL: the shape tells no role */
} shape_roles[] = {
    [SHOAL_SHAPE_EMAIL] = {SHOAL_ROLE_IDENTIFIER, "e-mail addresses"},
    [SHOAL_SHAPE_URL] = {SHOAL_ROLE_IDENTIFIER, "addresses of web pages"},
    [SHOAL_SHAPE_PHONE] = {SHOAL_ROLE_IDENTIFIER, "phone numbers"},
    [SHOAL_SHAPE_UUID] = {SHOAL_ROLE_IDENTIFIER, "unique numbers"},
    [SHOAL_SHAPE_PERSON] = {SHOAL_ROLE_IDENTIFIER, "names of people"},
    [SHOAL_SHAPE_ICD] = {SHOAL_ROLE_SENSITIVE, "ICD codes of diagnoses"},
    [SHOAL_SHAPE_ATC] = {SHOAL_ROLE_SENSITIVE, "ATC codes of drugs"},
    [SHOAL_SHAPE_MONEY] = {SHOAL_ROLE_SENSITIVE, "amounts of money"},
    [SHOAL_SHAPE_POSTCODE] = {SHOAL_ROLE_QUASI, "postal codes"},
    [SHOAL_SHAPE_PLACE] = {SHOAL_ROLE_IDENTIFIER, "exact places"},
    [SHOAL_SHAPE_DATE] = {SHOAL_ROLE_QUASI, "dates"},
    [SHOAL_SHAPE_FRACTION] =
        {SHOAL_ROLE_SENSITIVE,
         "quantities with more than 18 digits (round them, and they are numbers)"},
    [SHOAL_SHAPE_PROSE] = {SHOAL_ROLE_IDENTIFIER, "free text, where names may stand"},
};

/* Capitalized words and sentences are also names of places and answers of a questionnaire. */
static bool suggest_by_shape(const shoal_column_stats *f, shoal_suggestion *s) {
  const char *noun = f->shape ? shape_roles[f->shape].noun : NULL;
  bool loose = f->shape == SHOAL_SHAPE_PERSON || f->shape == SHOAL_SHAPE_PROSE;
  if (!noun || f->distinct < 2 || (loose && !shared_by_few(f))) return false;
  s->role = shape_roles[f->shape].role;
  s->is_health = f->shape == SHOAL_SHAPE_ICD || f->shape == SHOAL_SHAPE_ATC;
  (void)snprintf(s->why, sizeof s->why, "its values look like %s: %s", noun, consequence(s->role));
  return true;
}

static void suggest_text(const shoal_column_stats *f, const shoal_table_traits *table,
                         shoal_suggestion *s) {
  if (nearly_unique(f))
    set_role(s, SHOAL_ROLE_IDENTIFIER, false,
             "nearly every value stands in one row only, as names and record numbers do");
  else if (has_few_values(f) && f->distinct <= MAX_CODES && table->is_health)
    set_role(s, SHOAL_ROLE_SENSITIVE, false,
             "few values, in a table about health: findings that people keep to themselves");
  else if (has_few_values(f))
    set_role(s, SHOAL_ROLE_QUASI, false,
             "few values, as people know them of each other: together with other columns they "
             "can single somebody out");
  else if (f->distinct <= f->present / FEW_SHARE)
    set_role(s, SHOAL_ROLE_QUASI, false,
             "many values, but each in many rows: together with other columns they can single "
             "somebody out");
  else
    set_role(s, SHOAL_ROLE_IDENTIFIER, true,
             "many values, and nothing tells what they are: may others know them (quasi), are they "
             "to be protected (sensitive), can they be released as they are (keep), or not at all "
             "(identifier)?");
}

/* A number without a meaning: a key, a code, or a quantity. */
static void suggest_number(const char *name, const shoal_column_stats *f,
                           const shoal_table_traits *table, shoal_suggestion *s) {
  if (is_record_number(f))
    set_role(s, SHOAL_ROLE_IDENTIFIER, false,
             "whole numbers that nearly all differ, as record numbers do");
  else if (is_key(f))
    set_role(s, SHOAL_ROLE_IDENTIFIER, true,
             "whole numbers without gaps or all in as many rows, as numbers of persons, "
             "households or things are: a quantity would be another role");
  else if (are_years(f))
    set_role(s, SHOAL_ROLE_QUASI, false,
             "whole numbers from 1900 to this year, as years are: others may know when somebody "
             "was born or something happened");
  else if (table->is_health)
    set_role(s, SHOAL_ROLE_SENSITIVE, false,
             "a number in a table about health: a finding that people keep to themselves");
  else if (are_codes(f, SHOAL_MEANS_ANYTHING) && has_few_values(f))
    set_role(s, SHOAL_ROLE_QUASI, false,
             "few whole numbers, which look like codes: together with other columns they can "
             "single somebody out");
  else if (table->is_study && !may_be_years(f) && shoal_may_be_kept(name, f))
    set_role(s, SHOAL_ROLE_KEEP, false,
             "one of many quantities, and many rows share a value: others hardly know it");
  else
    set_role(s, SHOAL_ROLE_QUASI, true,
             "a quantity, and nothing tells what it is: may others know it (quasi), is it to be "
             "protected (sensitive), or can it be released as it is (keep)?");
  s->is_quantity =
      s->role != SHOAL_ROLE_IDENTIFIER && !are_years(f) && !are_codes(f, SHOAL_MEANS_ANYTHING);
}

static void suggest_role(const char *name, const shoal_name_hint *hint, const shoal_column_stats *f,
                         const shoal_table_traits *table, shoal_suggestion *s) {
  bool varies = f->distinct > 1 || (f->distinct == 1 && f->missing > 0);
  if (hint && (hint->role == SHOAL_ROLE_IDENTIFIER || varies))
    suggest_by_name(name, hint, f, table, s);
  else if (f->present == 0) set_role(s, SHOAL_ROLE_KEEP, false, "no row has a value");
  else if (!varies)
    set_role(s, SHOAL_ROLE_KEEP, false, "the same value in every row: it tells nobody apart");
  else if (f->value_type == SHOAL_VALUE_DATE || f->has_times)
    set_role(s, SHOAL_ROLE_QUASI, false, "dates: others may know when something happened");
  else if (suggest_by_shape(f, s)) return;
  else if (f->value_type == SHOAL_VALUE_NUMBER) suggest_number(name, f, table, s);
  else suggest_text(f, table, s);
}

/* ------------------------------------------------------------ hierarchies */

void shoal_suggest(const char *name, const shoal_column_stats *stats,
                   const shoal_table_traits *table, shoal_suggestion *suggestion) {
  memset(suggestion, 0, sizeof *suggestion);
  const shoal_name_hint *hint = shoal_name_hint_find(name, stats);
  shoal_meaning meaning = hint               ? hint->meaning
                          : are_years(stats) ? SHOAL_MEANS_DATE
                                             : SHOAL_MEANS_ANYTHING;
  suggest_role(name, hint, stats, table, suggestion);
  if (stats->value_type == SHOAL_VALUE_DATE) {
    /* With the pivot of this year the policy means the same next year. */
    bool iso = strcmp(stats->date_format, "YYYY-MM-DD") == 0;
    char pivot[32] = "";
    if (shoal_date_format_is_short(stats->date_format))
      (void)snprintf(pivot, sizeof pivot, ", pivot: %u", stats->pivot);
    (void)snprintf(suggestion->date, sizeof suggestion->date, "date%s%s%s",
                   iso ? "" : ", format: ", iso ? "" : stats->date_format, pivot);
  } else if (suggestion->role == SHOAL_ROLE_QUASI) {
    /*
     * Numbers, dates and categories need none: intervals and sets of a class lose less. So do sets
     * of postal codes, but they would list the places of single people. These get labels that many
     * people share.
     */
    char *out = suggestion->hierarchy;
    size_t size = sizeof suggestion->hierarchy;
    bool postcode = stats->shape == SHOAL_SHAPE_POSTCODE || meaning == SHOAL_MEANS_POSTCODE;
    if (stats->distinct > FEW_VALUES && postcode && stats->longest_bytes <= LONGEST_CODE)
      (void)snprintf(out, size, "{mask: right}");
  }
  suggestion->meaning = meaning;
  suggestion->by_name = hint != NULL;
  bool number = stats->value_type == SHOAL_VALUE_NUMBER;
  bool quasi = suggestion->role == SHOAL_ROLE_QUASI;
  suggestion->may_be_number = number && !are_codes(stats, meaning);
  suggestion->as_number = (quasi && suggestion->may_be_number && !suggestion->hierarchy[0]) ||
                          (suggestion->role == SHOAL_ROLE_SENSITIVE && number);
}

/* ------------------------------------------------------------ columns that identify people */

/* Would nearly unique values be an identifier, whatever the name? */
static bool is_identifying(const shoal_column_stats *f) {
  if (f->value_type == SHOAL_VALUE_NUMBER)
    return nearly_unique(f) && f->scale == 0 && f->present >= SHOAL_FEW_ROWS;
  return f->value_type == SHOAL_VALUE_TEXT && nearly_unique(f);
}

bool shoal_identifies_people(const char *name, const shoal_column_stats *f, const char **why) {
  bool tells_apart = f->distinct > 1;
  const shoal_name_hint *hint = shoal_name_hint_find(name, f);
  if (!tells_apart) return false;
  *why = f->has_times ? "exact times that few rows share"
         : f->value_type == SHOAL_VALUE_DATE
             ? "dates that nearly all differ"
             : "nearly every value stands in one row only, as names and record numbers do";
  if (f->has_times
          ? shared_by_few(f)
          : f->value_type == SHOAL_VALUE_DATE && nearly_unique(f) && f->present >= SHOAL_FEW_ROWS)
    return true;
  if (is_identifying(f)) return true;
  *why = "its name says that it identifies people, and few rows share a value";
  return hint && hint->role == SHOAL_ROLE_IDENTIFIER &&
         (f->distinct > MODERATE || shared_by_few(f));
}

bool shoal_others_may_know(const char *name, const shoal_column_stats *f) {
  const shoal_name_hint *hint = shoal_name_hint_find(name, f);
  return f->value_type == SHOAL_VALUE_DATE || f->has_times || are_years(f) ||
         (hint && hint->meaning == SHOAL_MEANS_AGE);
}
