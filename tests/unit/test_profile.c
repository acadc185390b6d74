/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the job `profile`: figures, types, missing values, suggested roles and hierarchies,
 * and the job itself.
 */
#include "profile_fixture.h"

/* ------------------------------------------------------------ figures */

static void figures_of_columns(void **state) {
  (void)state;
  const char *const names[] = {"age", "town", "illness"};
  shoal_result *profile = profile_cells(names, 3,
                                        ROWS("30", "Ulm", "flu", "30", "Ulm", "?", "31", "", "flu",
                                             "?", "Bonn", "flu", "30", "Ulm", "gout"));
  assert_int_equal(profile->kind, SHOAL_RESULT_PROFILE);
  assert_true(profile->holds);
  assert_int_equal(profile->input_rows, 5);
  assert_int_equal(profile->input_columns, 3);
  assert_int_equal(profile->profile.n_columns, 3);
  const shoal_column_outcome *age = &profile->profile.columns[0],
                             *town = &profile->profile.columns[1];
  assert_string_equal(age->name, "age");
  assert_string_equal(age->type, "number");
  assert_int_equal(age->distinct, 2);
  assert_int_equal(age->missing, 1);
  assert_int_equal(age->unique, 1);
  assert_int_equal(age->most_frequent, 3);
  assert_string_equal(age->missing_marks, "[\"?\"]");
  assert_string_equal(age->role, "quasi");
  assert_string_equal(town->type, "text");
  assert_int_equal(town->missing, 1);
  assert_string_equal(town->missing_marks, "[\"\"]");
  assert_string_equal(profile->profile.columns[2].role, "sensitive");
  assert_null(profile->profile.columns[2].hierarchy);
  assert_string_equal(profile->profile.missing_marks, "[\"\", \"?\"]");
  /* age and town: 30 Ulm three times, and two rows alone */
  assert_int_equal(profile->n_quasi, 2);
  assert_string_equal(profile->quasi[1], "town");
  assert_int_equal(profile->profile.n_distinct_rows, 3);
  assert_int_equal(profile->profile.n_unique_rows, 2);
  shoal_result_free(profile);
}

static void counts_are_rows(void **state) {
  (void)state;
  const char *const names[] = {"age", "sex"};
  const uint64_t counts[] = {3, 1, UINT64_C(5000000000), 1};
  shoal_result *profile = profile_of(make_table(
      names, 2, ROWS("30", "m", "31", "f", "32", "m", "?", "f"), counts, &(shoal_load_options){0}));
  assert_int_equal(profile->input_rows, UINT64_C(5000000005));
  assert_int_equal(profile->profile.columns[0].most_frequent, UINT64_C(5000000000));
  assert_int_equal(profile->profile.columns[0].unique, 1);
  assert_int_equal(profile->profile.columns[0].missing, 1);
  assert_int_equal(profile->profile.columns[1].unique, 0);
  assert_int_equal(profile->profile.n_distinct_rows, 4);
  assert_int_equal(profile->profile.n_unique_rows, 2);
  shoal_result_free(profile);
}

static void types(void **state) {
  (void)state;
  assert_type("number", ROWS("1", "-2.5", "+3e2", "NA", "", "0", "0.5"));
  assert_type("text", ROWS("1", "2", "x"));
  assert_type("text", ROWS("007", "123"));                  /* codes */
  assert_type("text", ROWS("1234567890123456789"));         /* too long for a number */
  assert_type("text", ROWS("0.001", "123456789012345678")); /* for one scale */
  assert_type("text", ROWS("123456789012345678", "0.001"));
  assert_type("text", ROWS("", "?"));
  assert_type("date", ROWS("2024-02-29", "1900-12-31", ""));
  assert_type("date", ROWS("31.12.1999", "01.01.2000"));
  assert_type("date", ROWS("12/31/1999"));
  assert_type("text", ROWS("2023-02-29"));
  assert_type("text", ROWS("1900-02-29"));
  assert_type("text", ROWS("2024-00-10"));
  assert_type("text", ROWS("2024-01-01", "01.01.2024"));
  assert_type("date", ROWS("2024-1-1"));
  assert_type("date", ROWS("2024-01-01 10:00", "2024-01-02"));
  assert_type("text", ROWS("2024-01-01 25:00"));
  assert_type("date", ROWS("12/31/99", "1/1/00"));
}

static void dashes(void **state) {
  (void)state;
  assert_type("number", ROWS("-", "1", "-", "2"));
  shoal_result *profile = profile_column("x", ROWS("-", "1", "-", "2"));
  assert_int_equal(profile->profile.columns[0].missing, 2);
  assert_int_equal(profile->profile.columns[0].distinct, 2);
  shoal_result_free(profile);
  profile = profile_column("x", ROWS("-", "a", "b")); /* not rare: a value */
  assert_int_equal(profile->profile.columns[0].missing, 0);
  assert_int_equal(profile->profile.columns[0].distinct, 3);
  assert_null(profile->profile.columns[0].missing_marks);
  assert_string_equal(profile->profile.missing_marks, "[\"\"]");
  shoal_result_free(profile);
  profile = profile_column("x", ROWS("-", "-")); /* nothing else */
  assert_int_equal(profile->profile.columns[0].distinct, 1);
  shoal_result_free(profile);
  const char *rare[100], *finding[100];
  for (size_t r = 0; r < 100; r++) {
    rare[r] = r == 7 ? "-" : r % 2 ? "a" : "b";
    finding[r] = r == 7 ? "-" : r % 2 ? "+" : "b";
  }
  profile = profile_column("x", rare, 100);
  assert_int_equal(profile->profile.columns[0].missing, 1);
  assert_string_equal(profile->profile.columns[0].missing_marks, "[\"-\"]");
  shoal_result_free(profile);
  profile = profile_column("x", finding, 100);
  assert_int_equal(profile->profile.columns[0].missing, 0);
  shoal_result_free(profile);
}

static void all_missing_marks(void **state) {
  (void)state;
  shoal_result *profile =
      profile_column("x", ROWS("", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "Null", "NULL",
                               "#N/A", "\\N", ".", "-", "1", "2"));
  assert_int_equal(profile->profile.columns[0].missing, 14);
  assert_string_equal(profile->profile.columns[0].type, "number");
  shoal_policy *policy = policy_of(profile);
  assert_int_equal(policy->n_missing, 14);
  for (size_t m = 0; shoal_missing_marks[m]; m++)
    assert_string_equal(policy->missing[m], shoal_missing_marks[m]);
  shoal_policy_free(policy);
  shoal_result_free(profile);
}

/* ------------------------------------------------------------ roles */

/* Text of ten values in 200 rows; then text that differs in each row. */
static void names_tell_roles(void **state) {
  (void)state;
  static const struct {
    const char *name, *shared, *different;
  } cases[] = {
      {"name", "identifier", "identifier"},
      {"Patient_ID", "identifier", "identifier"},
      {"patientId", "identifier", "identifier"},
      {"SSN", "identifier", "identifier"},
      {"E-Mail", "identifier", "identifier"},
      {"homePhone", "identifier", "identifier"},
      {"Vorname", "identifier", "identifier"},
      {"pr\xc3\xa9nom", "identifier", "identifier"},
      {"id", "identifier", "identifier"},
      {"Stra\xc3\x9f"
       "e",
       "identifier", "identifier"},
      {"family name", "identifier", "identifier"},
      {"comments", "identifier", "identifier"},
      {"drug name", "sensitive", "sensitive"},
      {"ward_id", "quasi", "identifier"},
      {"ward name", "quasi", "identifier"},
      {"number of visits", "quasi", "identifier"},
      {"age", "quasi", "quasi"},
      {"AGE_GROUP", "quasi", "quasi"},
      {"ageAtDiagnosis", "quasi", "quasi"},
      {"language", "quasi", "quasi"},
      {"message", "quasi", "identifier"},
      {"dateOfBirth", "quasi", "quasi"},
      {"ZIPCode", "quasi", "quasi"},
      {"Postleitzahl", "quasi", "quasi"},
      {"marital-status", "quasi", "quasi"},
      {"native-country", "quasi", "quasi"},
      {"Geschlecht", "quasi", "quasi"},
      {"\xc3\x89tat civil", "quasi", "quasi"},
      {"race", "quasi", "quasi"},
      {"occupation", "quasi", "quasi"},
      {"Staatsangeh\xc3\xb6rigkeit", "quasi", "quasi"},
      {"country_id", "quasi", "quasi"},
      {"salary-class", "sensitive", "sensitive"},
      {"ICD10", "sensitive", "sensitive"},
      {"HIVStatus", "sensitive", "sensitive"},
      {"religi\xc3\xb3n", "sensitive", "sensitive"},
      {"sexual orientation", "sensitive", "sensitive"},
      {"sex", "quasi", "quasi"},
      {"migraine", "quasi", "identifier"},
      {"count", "quasi", "identifier"},
      {"\xe5\x90\x8d", "quasi", "identifier"},
      {"_", "quasi", "identifier"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool postcode = strcmp(cases[i].name, "ZIPCode") == 0 || cases[i].name[0] == 'P';
    bool quasi = strcmp(cases[i].shared, "quasi") == 0;
    const char *hierarchy = postcode ? "{mask: right}" : CATEGORY;
    assert_suggested(profile_series(cases[i].name, TEXT, 100, 1, 10, 200), cases[i].shared,
                     quasi ? hierarchy : NULL);
    quasi = strcmp(cases[i].different, "quasi") == 0;
    assert_suggested(profile_series(cases[i].name, TEXT, 100, 1, 200, 200), cases[i].different,
                     !quasi     ? NULL
                     : postcode ? hierarchy
                                : "{top: true}");
  }
}

static void figures_tell_roles(void **state) {
  (void)state;
  assert_suggested(profile_series("x", TEXT, 0, 1, 300, 300), "identifier", NULL);
  assert_suggested(profile_series("x", WHOLE, 0, 7, 300, 300), "identifier", NULL);
  /* others may know a quantity that few rows share: it is not released unchanged */
  assert_suggested(profile_series("x", WHOLE, 0, 7, 10, 10), "quasi", NULL);
  assert_suggested(profile_series("x", TEXT, 0, 1, 100, 300), "quasi", CATEGORY);
  assert_suggested(profile_series("x", DECIMAL, 100, 3, 300, 300), "quasi", NULL);
  assert_suggested(profile_series("income", DECIMAL, 100, 3, 300, 300), "sensitive", NULL);
  assert_suggested(profile_column("x", ROWS("a", "a", "a")), "keep", NULL);
  assert_suggested(profile_column("disease", ROWS("a", "a", "a")), "keep", NULL);
  assert_suggested(profile_column("disease", ROWS("a", "a", "?")), "sensitive", NULL);
  assert_suggested(profile_column("name", ROWS("a", "a", "a")), "identifier", NULL);
  assert_suggested(profile_column("age", ROWS("?", "")), "keep", NULL);
  assert_suggested(profile_column("seen", ROWS("2024-05-01", "2024-05-02")), "quasi", "date");
  /* many values that nothing explains: the steward must decide, and the policy says so */
  shoal_result *profile = profile_series("x", TEXT, 100, 1, 150, 300);
  assert_string_equal(profile->profile.columns[0].role, "identifier");
  assert_true(profile->profile.columns[0].undecided);
  assert_int_equal(profile->n_warnings, 2); /* and there is no quasi-identifier */
  assert_non_null(strstr(profile->warnings[0], "decide on 'x'"));
  char *yaml = policy_text(profile);
  assert_non_null(strstr(yaml, "  x: {role: identifier, decide: true}\n"));
  assert_non_null(strstr(yaml, "No quasi-identifier was found"));
  free(yaml);
  shoal_result_free(profile);
}

/* Each fault was observed on a real table. */
static void observed_faults(void **state) {
  (void)state;
  /* nominal codes got intervals */
  assert_suggested(profile_series("roof_type", WHOLE, 1, 1, 5, 500), "quasi", CATEGORY);
  assert_suggested(profile_series("marital", WHOLE, 1, 1, 6, 500), "quasi", CATEGORY);
  /* money and survival times were taken for record numbers */
  assert_suggested(profile_series("price paid", WHOLE, 9000, 37, 400, 400), "sensitive", NULL);
  assert_suggested(profile_series("time", WHOLE, 3, 7, 400, 400), "sensitive", NULL);
  assert_suggested(profile_series("income", WHOLE, 20000, 13, 400, 400), "sensitive", NULL);
  /* keys, times and titles were kept */
  assert_suggested(profile_series("household_id", WHOLE, 1, 1, 150, 400), "identifier", NULL);
  assert_suggested(profile_series("utility_id", WHOLE, 1, 1, 60, 400), "identifier", NULL);
  assert_suggested(profile_series("movieId", WHOLE, 1, 1, 250, 1000), "identifier", NULL);
  assert_suggested(profile_series("title", TEXT, 1, 1, 250, 1000), "identifier", NULL);
  assert_suggested(
      profile_column("when", ROWS("2024-05-01 10:00:01", "2024-05-02 10:00:02", "2024-05-02 1:00")),
      "quasi", "date");
  /* a test result became a quasi-identifier */
  assert_suggested(profile_column("test result", ROWS("pos", "neg", "neg", "neg")), "sensitive",
                   NULL);
  /* 88 values in 103 rows were few */
  assert_suggested(profile_series("x", TEXT, 0, 1, 88, 103), "identifier", NULL);
  assert_suggested(profile_series("x", DECIMAL, 0, 7, 88, 103), "quasi", NULL);
}

static void shapes_tell_roles(void **state) {
  (void)state;
  assert_suggested(profile_column("x", ROWS("a@b.org", "c@d.org", "a@b.org", "c@d.org")),
                   "identifier", NULL);
  assert_suggested(profile_column("x", ROWS("+49 228 1234", "+49 30 55667", "+49 228 1234")),
                   "identifier", NULL);
  assert_suggested(profile_column("x", ROWS("Jane Doe", "Roe, Richard", "Ann B. Lee")),
                   "identifier", NULL);
  assert_suggested(profile_column("x", ROWS("E11.9", "I10", "E11.9", "J45.0")), "sensitive", NULL);
  assert_suggested(profile_column("x", ROWS("A10BA02", "C07AB02", "A10BA02")), "sensitive", NULL);
  assert_suggested(profile_column("x", ROWS("$1,200", "$90.50", "$1,200", "$7")), "sensitive",
                   NULL);
  assert_suggested(profile_column("x", ROWS("1012 AB", "3511 XY", "9711 KL", "1012 AA")), "quasi",
                   "{mask: right}");
  assert_suggested(profile_column("x", ROWS("52.52, 13.40", "48.85, 2.35")), "identifier", NULL);
  assert_suggested(profile_column("x", ROWS("5 Mar 2024", "17 Apr 2023")), "quasi", CATEGORY);
}

/* One bad cell does not make a column of numbers text; the rows are named. */
static void bad_cells_of_numbers(void **state) {
  (void)state;
  static char numbers[200][8];
  const char *cells[200];
  for (unsigned r = 0; r < 200; r++) {
    (void)snprintf(numbers[r], sizeof numbers[r], "%u", 20 + r % 60);
    cells[r] = numbers[r];
  }
  cells[6] = "SECRET";
  shoal_result *profile = profile_column("age", cells, 200);
  assert_string_equal(profile->profile.columns[0].type, "number");
  assert_string_equal(profile->profile.columns[0].role, "quasi");
  assert_non_null(strstr(profile->warnings[0], "a number except in 1 cell (data row 7)"));
  assert_null(strstr(profile->warnings[0], "SECRET"));
  shoal_result_free(profile);
  cells[7] = cells[8] = cells[9] = "more";
  profile = profile_column("age", cells, 200);
  assert_string_equal(profile->profile.columns[0].type, "text");
  shoal_result_free(profile);
}

static void languages(void **state) {
  (void)state;
  static const struct {
    const char *role, *names[8];
  } cases[] = {
      {"sensitive", {"Einkommen", "revenu", "ingresos", "reddito", "inkomen", "Gehalt"}},
      {"sensitive", {"Diagnose", "maladie", "enfermedad", "malattia", "ziekte", "Krankheit"}},
      {"sensitive", {"Religion", "Konfession", "croyance", "partido", "partito", "geloof"}},
      {"sensitive", {"Straftat", "delit", "delito", "reato", "misdrijf", "offence"}},
      {"quasi", {"Alter", "naissance", "edad", "eta", "leeftijd", "Geburtsdatum"}},
      {"quasi", {"Beruf", "metier", "empleo", "lavoro", "beroep", "occupation"}},
      {"quasi", {"Wohnort", "ville", "ciudad", "citta", "gemeente", "Landkreis"}},
      {"identifier", {"Nachname", "prenom", "apellidos", "cognome", "achternaam", "surname"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t n = 0; cases[i].names[n]; n++) {
      shoal_result *profile = profile_series(cases[i].names[n], TEXT, 0, 1, 10, 200);
      if (strcmp(profile->profile.columns[0].role, cases[i].role) != 0)
        fail_msg("'%s' is '%s'", cases[i].names[n], profile->profile.columns[0].role);
      shoal_result_free(profile);
    }
}

/* Fills `rows` of `columns` cells: column c has the text of make(c, r). */
static shoal_result *profile_made(const char *const *names, size_t columns, size_t rows,
                                  unsigned (*make)(size_t c, size_t r), const char *before) {
  char(*texts)[24] = calloc(columns * rows, sizeof *texts);
  const char **cells = calloc(columns * rows, sizeof *cells);
  for (size_t i = 0; i < columns * rows; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "%s%u", before, make(i % columns, i / columns));
    cells[i] = texts[i];
  }
  shoal_result *profile = profile_cells(names, columns, cells, columns * rows);
  free(cells);
  free(texts);
  return profile;
}

static unsigned many_values(size_t c, size_t r) { return (unsigned)(r * (c + 1) % 150); }

/* At most five questions; the other columns have the safe role. */
static void few_questions(void **state) {
  (void)state;
  enum { COLUMNS = 8, N_ROWS = 303 };
  const char *const names[COLUMNS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  shoal_result *profile = profile_made(names, COLUMNS, N_ROWS, many_values, "v ");
  size_t n_undecided = 0;
  for (size_t c = 0; c < COLUMNS; c++) {
    n_undecided += profile->profile.columns[c].undecided;
    assert_string_not_equal(profile->profile.columns[c].role, "keep");
  }
  assert_in_range(n_undecided, 1, 5);
  shoal_result_free(profile);
}

static unsigned answers(size_t c, size_t r) { return 1 + (unsigned)((r * 7 + r / 3 * c) % 6); }
static unsigned with_key(size_t c, size_t r) {
  return c == 0 ? (unsigned)(r / 3) : c == 1 ? 5000 - (unsigned)(r / 3) * 7 : (unsigned)(r % 40);
}

/* Answers to one questionnaire are kept; a column that stands for a key is one too. */
static void columns_together(void **state) {
  (void)state;
  const char *const items[] = {"Q1", "Q2", "Q3", "Q4", "Q5", "sex"};
  shoal_result *profile = profile_made(items, 6, 300, answers, "");
  for (size_t c = 0; c < 5; c++) assert_string_equal(profile->profile.columns[c].role, "keep");
  assert_string_equal(profile->profile.columns[5].role, "quasi");
  shoal_result_free(profile);
  const char *const keys[] = {"patient_id", "x", "age"};
  profile = profile_made(keys, 3, 300, with_key, "");
  assert_string_equal(profile->profile.columns[1].role, "identifier");
  assert_non_null(strstr(profile->profile.columns[1].why, "belongs to one value of an identifier"));
  shoal_result_free(profile);
}

static void repeated_persons_are_warned_of(void **state) {
  (void)state;
  shoal_result *profile = profile_column("patient_id", ROWS("a", "b", "a", "c"));
  assert_non_null(strstr(profile->warnings[0], "column 'patient_id': 2 rows share"));
  shoal_result_free(profile);
  profile = profile_column("surname", ROWS("a", "b", "a", "c"));
  assert_int_equal(profile->n_warnings, 1);
  shoal_result_free(profile);
}

/* ------------------------------------------------------------ hierarchies */

/* A number has none: local recoding gives it the intervals of its classes. */
static void hierarchies(void **state) {
  (void)state;
  assert_suggested(profile_series("age", WHOLE, 17, 1, 74, 500), "quasi", NULL);
  assert_suggested(profile_series("x", WHOLE, 1, 1, 16, 500), "quasi", NULL);
  assert_suggested(profile_series("x", WHOLE, 1, 1, 5, 500), "quasi", CATEGORY);
  assert_suggested(profile_series("x", WHOLE, 1, 1, 3, 500), "quasi", CATEGORY);
  assert_suggested(profile_series("children", WHOLE, 0, 1, 6, 500), "quasi", NULL);
  assert_suggested(profile_series("x", DECIMAL, 1850, 25, 90, 500), "quasi", NULL);
  assert_suggested(profile_series("zip", "410", 10, 1, 80, 500), "quasi", "{mask: right}");
  assert_suggested(profile_series("plz", "0", 1000, 1, 80, 500), "quasi", "{mask: right}");
  assert_suggested(profile_series("x", "0", 1000, 1, 80, 500), "quasi", CATEGORY);
  assert_suggested(profile_series("x", "190", 10, 1, 75, 500), "quasi", CATEGORY);
  assert_suggested(profile_series("birth_year", WHOLE, 1930, 1, 75, 500), "quasi", NULL);
  assert_suggested(profile_series("race", WHOLE, 1, 1, 9, 500), "quasi", CATEGORY);
  assert_suggested(profile_column("born", ROWS("31.12.1999", "01.02.1980", "?")), "quasi",
                   "date, format: DD.MM.YYYY");
  assert_suggested(profile_column("born", ROWS("12/31/1999", "02/01/1980")), "quasi",
                   "date, format: MM/DD/YYYY");
  assert_suggested(profile_column("born", ROWS("31/12/1999", "02/01/1980")), "quasi",
                   "date, format: DD/MM/YYYY");
}

static void date_forms(void **state) {
  (void)state;
  static const struct {
    const char *cells[3], *hierarchy;
  } cases[] = {
      {{"31-12-1999", "01-02-1980"}, "date, format: DD-MM-YYYY"},
      {{"12-31-1999", "01-02-1980"}, "date, format: MM-DD-YYYY"},
      {{"1999.12.31", "1980.02.01"}, "date, format: YYYY.MM.DD"},
      {{"1999/12/31", "1980/02/01"}, "date, format: YYYY/MM/DD"},
      {{"19991231", "19800201"}, "date, format: YYYYMMDD"},
      {{"01.02.1980", "02.01.1980"}, "date, format: DD.MM.YYYY"},
      {{"01/02/1980", "02/01/1980"}, "date, format: MM/DD/YYYY"},
      {{"1999-12-31T10:00:01Z", "1980-02-01T10:00:01Z"}, "date"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_suggested(profile_column("born", cases[i].cells, 2), "quasi", cases[i].hierarchy);
  assert_type("number", ROWS("19991331", "19800201"));
  assert_type("text", ROWS("31-12-1999", "01.02.1980"));
}

static void dates_with_times_and_short_years(void **state) {
  (void)state;
  shoal_column_stats stats = {.present = 9,
                              .distinct = 9,
                              .unique = 9,
                              .value_type = SHOAL_VALUE_DATE,
                              .date_format = "MM/DD/YY",
                              .pivot = 2026};
  shoal_suggestion suggestion;
  shoal_suggest("born", &stats, &(shoal_table_traits){0}, &suggestion);
  assert_string_equal(suggestion.date, "date, format: MM/DD/YY, pivot: 2026");
  assert_suggested(profile_column("born", ROWS("9/30/1990 0:00:00", "12/1/1980 0:00:00")), "quasi",
                   "date, format: MM/DD/YYYY");
}

/* The widest numbers do not overflow. */
static void ranges(void **state) {
  (void)state;
  assert_suggested(profile_column("weight", ROWS("-999999999999999999", "0", "1", "2", "0", "1",
                                                 "2", "999999999999999999")),
                   "identifier", NULL);
  /* a body's, in pounds that were turned into kilograms; a survey's would be kept */
  assert_suggested(profile_column("wt82", ROWS("68.9460402434", "68.9460402434", "68.9460402434",
                                               "68.9460402434", "68.9460402434", "55.7918600000",
                                               "55.7918600000", "55.7918600000", "55.7918600000",
                                               "55.7918600000")),
                   "quasi", NULL);
  assert_suggested(
      profile_column("x", ROWS("-922337203685477580", "0.1", "1", "2", "922337203685477580")),
      "quasi", NULL);
  assert_suggested(profile_column("x", ROWS("0", "0.0000000000000001", "0.0000000000000002",
                                            "0.0000000000000003")),
                   "quasi", NULL);
}

static unsigned years_from_3(size_t c, size_t r) {
  return (unsigned)(c < 3 ? r % 3 : 1990 + r * (c + 1) % 17);
}

/* Years of birth were a quantity that others hardly know, and released unchanged. */
static void years(void **state) {
  (void)state;
  assert_suggested(profile_series("x", WHOLE, 1930, 1, 86, 250), "quasi", NULL);
  assert_suggested(profile_series("Diagnose", WHOLE, 1930, 1, 86, 250), "quasi", NULL);
  assert_suggested(profile_series("Diagnose", WHOLE, 1890, 1, 86, 250), "sensitive", NULL);
  shoal_result *profile = profile_series("x", WHOLE, 2001, 1, 9, 250); /* no codes */
  assert_true(profile->profile.columns[0].as_number);
  assert_false(profile->profile.columns[0].undecided);
  shoal_result_free(profile);
  const char *const names[] = {"Jg", "Jahrgang", "GebJ", "gebjahr", "yob", "annee", "anno"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_suggested(profile_series(names[i], WHOLE, 30, 1, 60, 250), "quasi", NULL);
  /* in a table about health, and as answers of one questionnaire */
  const char *const health[] = {"Diagnose", "Therapie", "sex", "Y1", "Y2", "Y3", "Y4"};
  profile = profile_made(health, 7, 300, years_from_3, "");
  for (size_t c = 3; c < 7; c++) assert_string_equal(profile->profile.columns[c].role, "quasi");
  shoal_result_free(profile);
}

static unsigned physicians(size_t c, size_t r) { return (unsigned)(r % (c < 4 ? 3 : 15)); }

/* Physicians, beds and cantons in a table about health were findings, and released unchanged. */
static void findings_are_few(void **state) {
  (void)state;
  const char *const names[] = {"Diagnose", "Therapie", "sex", "x", "Hausarzt", "Kt"};
  static const char *const roles[] = {"sensitive", "sensitive", "quasi",
                                      "sensitive", "quasi",     "quasi"};
  shoal_result *profile = profile_made(names, 6, 300, physicians, "v ");
  for (size_t c = 0; c < 6; c++) assert_string_equal(profile->profile.columns[c].role, roles[c]);
  shoal_result_free(profile);
}

/* Sets of values that nearly all differ would be refused: see decide/gates.h. */
static void labels_that_show_values(void **state) {
  (void)state;
  assert_suggested(profile_series("town", TEXT, 0, 1, 300, 300), "quasi", "{top: true}");
  assert_suggested(profile_series("town", TEXT, 0, 1, 100, 300), "quasi", NULL);
  assert_suggested(profile_series("town", TEXT, 0, 1, 19, 19), "quasi", NULL);
}

/* ------------------------------------------------------------ the job */

static void nothing_of_the_cells(void **state) {
  (void)state;
  const char *const names[] = {"name", "age", "town", "note"};
  shoal_result *profile = profile_cells(
      names, 4,
      ROWS("SECRET1", "770021", "SECRET2", "SECRET3", "SECRET4", "770099", "SECRET5", "SECRET3"));
  char *json, *yaml = policy_text(profile);
  shoal_error error;
  check(shoal_render(profile, SHOAL_JSON, &json, &error), &error);
  assert_null(strstr(json, "SECRET"));
  assert_null(strstr(json, "7700"));
  assert_null(strstr(yaml, "SECRET"));
  assert_null(strstr(yaml, "7700"));
  free(json);
  free(yaml);
  shoal_result_free(profile);
}

static bool stop(void *user, const shoal_progress *progress) {
  (void)progress;
  return --*(int *)user < 0;
}

static void threads_and_cancelling(void **state) {
  (void)state;
  size_t n_cells = sizeof wide_cells / sizeof *wide_cells;
  shoal_table *table =
      make_table(wide_names, 7, wide_cells, n_cells, NULL, &(shoal_load_options){0});
  shoal_error error;
  char *yaml[3];
  for (unsigned threads = 1; threads <= 3; threads++) {
    shoal_result *profile;
    check(shoal_profile(table, &(shoal_run){.n_threads = threads}, &profile, &error), &error);
    yaml[threads - 1] = policy_text(profile);
    shoal_result_free(profile);
  }
  assert_string_equal(yaml[0], yaml[1]);
  assert_string_equal(yaml[0], yaml[2]);
  for (size_t i = 0; i < 3; i++) free(yaml[i]);
  for (int calls = 0; calls < 8; calls++) { /* seven columns, then the grouping */
    int left = calls;
    shoal_run run = {.n_threads = 1, .progress = stop, .progress_user = &left};
    shoal_result *profile = (shoal_result *)&left;
    assert_int_equal(shoal_profile(table, &run, &profile, &error), SHOAL_CANCELLED);
    assert_null(profile);
  }
  shoal_table_free(table);
}

static void unfit_tables_are_refused(void **state) {
  (void)state;
  const char *const names[] = {"age", "sex"};
  shoal_table *table;
  shoal_result *profile;
  shoal_error error;
  check(shoal_table_new(names, 2, &table, &error), &error);
  assert_int_equal(shoal_profile(table, NULL, &profile, &error), SHOAL_BAD_INPUT);
  assert_null(profile);
  append(table, 2, ROWS("1", "m"), NULL);
  check(shoal_table_finalize(table, &(shoal_load_options){0}, &error), &error);
  table->columns[1].code_size = 0; /* as a policy that drops it would leave it */
  assert_int_equal(shoal_profile(table, NULL, &profile, &error), SHOAL_BAD_INPUT);
  assert_non_null(strstr(error.message, "column 'sex': its cells were not kept"));
  shoal_table_free(table);
  shoal_result *other = shoal_result_new(SHOAL_RESULT_CHECK);
  char *yaml;
  assert_int_equal(shoal_profile_policy(other, &yaml, &error), SHOAL_BAD_INPUT);
  assert_null(yaml);
  shoal_result_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_of_columns),
      cmocka_unit_test(counts_are_rows),
      cmocka_unit_test(types),
      cmocka_unit_test(dashes),
      cmocka_unit_test(all_missing_marks),
      cmocka_unit_test(names_tell_roles),
      cmocka_unit_test(figures_tell_roles),
      cmocka_unit_test(observed_faults),
      cmocka_unit_test(shapes_tell_roles),
      cmocka_unit_test(bad_cells_of_numbers),
      cmocka_unit_test(languages),
      cmocka_unit_test(few_questions),
      cmocka_unit_test(columns_together),
      cmocka_unit_test(repeated_persons_are_warned_of),
      cmocka_unit_test(hierarchies),
      cmocka_unit_test(date_forms),
      cmocka_unit_test(dates_with_times_and_short_years),
      cmocka_unit_test(ranges),
      cmocka_unit_test(years),
      cmocka_unit_test(findings_are_few),
      cmocka_unit_test(labels_that_show_values),
      cmocka_unit_test(nothing_of_the_cells),
      cmocka_unit_test(threads_and_cancelling),
      cmocka_unit_test(unfit_tables_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
