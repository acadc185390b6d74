/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/hierarchy: the kinds built from a column's values: intervals, cuts, mask and
 * date; their labels, and what they refuse.
 */
#include "hierarchy/date.h"
#include "hierarchy_fixture.h"

/* ------------------------------------------------------------ numbers */

static void intervals_of_whole_numbers(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("34", "0", "-1", "-10", "39", "?", "40", "+7.0"));
  const shoal_decimal widths[] = {{1, 0}, {5, 0}, {100, 1}};
  shoal_hierarchy_spec spec = intervals(widths, 3, (shoal_decimal){0, 0});
  compile_ok(&f, &spec);
  assert_csv(&f, "34;34;[30-34];[30-39];*\n0;0;[0-4];[0-9];*\n-1;-1;[-5 to -1];[-10 to -1];*\n"
                 "-10;-10;[-10 to -6];[-10 to -1];*\n39;39;[35-39];[30-39];*\n?;?;?;?;*\n"
                 "40;40;[40-44];[40-49];*\n+7.0;7;[5-9];[0-9];*\n");
  assert_consistent(&f);
  assert_drawn(&f, 5,
               "* (8 values)\n├── [-10 to -1] (2 values)\n│   ├── [-10 to -6] (1 value)\n"
               "│   │   └── -10 (1 value)\n│   └── [-5 to -1] (1 value)\n... and 15 more\n");
  spec = intervals(widths + 1, 1, (shoal_decimal){3, 0});
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 1), "0|[-2 to 2]|*");
  assert_string_equal(leaf_path(&f, 0), "34|[33-37]|*");
  spec = intervals(NULL, 0, (shoal_decimal){0, 0});
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 0), "34|*");
  teardown(&f);
}

/* Extreme numbers are the values of their codes, and no label tells where an interval ends there.
 */
static void codes_end_intervals(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES(">=90", "<=5", "89", "6", "50", "?"));
  f.column.coding =
      (shoal_coding){.has_top = true, .has_bottom = true, .top = {90, 0}, .bottom = {5, 0}};
  const shoal_decimal widths[] = {{1, 0}, {5, 0}, {20, 0}, {100, 0}};
  shoal_hierarchy_spec spec = intervals(widths, 4, (shoal_decimal){0, 0});
  compile_ok(&f, &spec);
  assert_csv(&f, ">=90;>=90;>=90;>=80;*;*\n<=5;<=5;<=9;<=19;*;*\n89;89;[85-89];>=80;*;*\n"
                 "6;6;<=9;<=19;*;*\n50;50;[50-54];[40-59];*;*\n?;?;?;?;?;*\n");
  const shoal_decimal low[] = {{3, 0}, {50, 0}, {95, 0}}, high[] = {{95, 0}};
  const shoal_cut_level cuts[] = {{low, 3}, {high, 1}};
  spec = (shoal_hierarchy_spec){.kind = SHOAL_HIERARCHY_CUTS, .cuts = cuts, .n_cuts = 2};
  compile_ok(&f, &spec);
  assert_csv(&f, ">=90;>=50;*;*\n<=5;<=49;*;*\n89;>=50;*;*\n6;<=49;*;*\n50;>=50;*;*\n?;?;?;*\n");
  teardown(&f);
}

static void codes_are_cut_at_the_dot(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("E11.9", "E11", "E11.65", "J4.0.1", "?", "E1*"));
  shoal_hierarchy_spec spec = {.kind = SHOAL_HIERARCHY_MASK, .mask_code = true, .mask_char = '*'};
  compile_ok(&f, &spec);
  assert_csv(&f, "E11.9;E11.*;E1*;E**;*\nE11;E11.*;E1*;E**;*\nE11.65;E11.*;E1*;E**;*\n"
                 "J4.0.1;J4.*;J*;**;*\n?;?;?;?;*\nE1*;E1*;E1*;E**;*\n");
  teardown(&f);
  setup(&f, VALUES("2221", "22")); /* without a dot: as a mask from the right */
  compile_ok(&f, &spec);
  assert_csv(&f, "2221;222*;22**;2***;*\n22;2*;**;**;*\n");
  teardown(&f);
}

static void numbers_are_rounded(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("144", "145", "154", "155", "-145", "-146", "244.5", "245", "?"));
  const shoal_decimal widths[] = {{10, 0}, {100, 0}, {300, 0}};
  shoal_hierarchy_spec spec = {.kind = SHOAL_HIERARCHY_ROUND, .widths = widths, .n_widths = 3};
  compile_ok(&f, &spec);
  assert_csv(&f, "144;[140±5];[100±55];[0±155];*\n145;[150±5];[200±55];[300±155];*\n"
                 "154;[150±5];[200±55];[300±155];*\n155;[160±5];[200±55];[300±155];*\n"
                 "-145;[-140±5];[-100±55];[0±155];*\n-146;[-150±5];[-100±55];[0±155];*\n"
                 "244.5;[240±5];[200±55];[300±155];*\n245;[250±5];[300±55];[300±155];*\n"
                 "?;?;?;?;*\n");
  teardown(&f);
}

static void widths_suit_the_data(void **state) {
  (void)state;
  static const struct {
    const char *values[8];
    const char *path; /* of the first */
  } cases[] = {
      {{"17", "90", "20", "31", "44", "58", "60", NULL}, "17|[0-49]|*"},
      {{"1", "2", "3", "4", "5", "6", "7", NULL}, "1|[0-1]|*"},
      {{"1", "9", NULL}, "1|*"},
      {{"7", NULL}, "7|*"},
      {{"0.5", "0.75", "1", "2", "2.25", "3", NULL}, "0.5|[0-1)|[0-2)|*"},
      {{"-8", "9", "1", "2", NULL}, "-8|[-10 to -1]|*"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    setup(&f, cases[i].values);
    shoal_hierarchy_spec spec = {.kind = SHOAL_HIERARCHY_INTERVALS, .auto_widths = true};
    compile_ok(&f, &spec);
    assert_string_equal(leaf_path(&f, 0), cases[i].path);
    teardown(&f);
  }
}

static void intervals_of_decimals(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("0.3", "-0.05", "1e1", "0.2"));
  const shoal_decimal widths[] = {{1, 1}, {1, 0}};
  shoal_hierarchy_spec spec = intervals(widths, 2, (shoal_decimal){0, 0});
  compile_ok(&f, &spec);
  assert_csv(&f, "0.3;[0.3-0.4);[0-1);*\n-0.05;[-0.1 to 0);[-1 to 0);*\n1e1;[10-10.1);[10-11);*\n"
                 "0.2;[0.2-0.3);[0-1);*\n");
  teardown(&f);
  setup(&f, VALUES("12")); /* whole values, but the width is not */
  const shoal_decimal half[] = {{25, 1}};
  spec = intervals(half, 1, (shoal_decimal){0, 0});
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 0), "12|[10-12.5)|*");
  teardown(&f);
}

static void intervals_do_not_overflow(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("999999999999999999", "-999999999999999999"));
  const shoal_decimal widths[] = {{1, 18}, {INT64_C(900000000000000000), 0}};
  shoal_hierarchy_spec spec = intervals(widths, 2, (shoal_decimal){1, 18});
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 0),
                      "999999999999999999|"
                      "[999999999999999999-999999999999999999.000000000000000001)|"
                      "[900000000000000000.000000000000000001-"
                      "1800000000000000000.000000000000000001)|*");
  assert_string_equal(leaf_path(&f, 1),
                      "-999999999999999999|"
                      "[-999999999999999999 to -999999999999999998.999999999999999999)|"
                      "[-1799999999999999999.999999999999999999 to "
                      "-899999999999999999.999999999999999999)|*");
  teardown(&f);
}

static void numbers_are_refused_with_their_row(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("1", "?", "secret"));
  const shoal_decimal widths[] = {{5, 0}, {7, 0}, {0, 0}};
  shoal_hierarchy_spec spec = intervals(widths, 1, (shoal_decimal){0, 0});
  refuse(&f, &spec,
         VALUES("data.csv: row 13, column 'col'", "the cell is not a number",
                "correct it, list it under data.missing if it means unknown, or add"));
  assert_null(strstr(f.error.message, "secret"));
  teardown(&f);
  setup(&f, VALUES("1", "1234567890123456789"));
  refuse(&f, &spec, VALUES("data.csv: row 12", "more than 18 digits"));
  teardown(&f);
  setup(&f, VALUES("0.001", "123456789012345678"));
  refuse(&f, &spec, VALUES("data.csv: row 12", "too large for a column with 3 decimals"));
  teardown(&f);
  setup(&f, VALUES("4", "6", "8"));
  spec = intervals(widths, 2, (shoal_decimal){0, 0}); /* 5-9 is torn apart by 7 */
  refuse(&f, &spec,
         VALUES("policy.yaml:5:9", "a label of level 1 has two parents on level 2",
                "data rows 12 and 13"));
  spec = intervals(widths + 2, 1, (shoal_decimal){0, 0});
  refuse(&f, &spec, VALUES("policy.yaml:5:9", "above 0"));
  teardown(&f);
}

static void column_numbers(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("1.5", "?", "-20", "0.25"));
  int64_t *numbers;
  unsigned scale;
  assert_int_equal(shoal_column_numbers(&f.table, &f.column, &numbers, &scale, &f.error), SHOAL_OK);
  assert_int_equal(scale, 2);
  assert_int_equal(numbers[0], 150);
  assert_int_equal(numbers[1], 0);
  assert_int_equal(numbers[2], -2000);
  assert_int_equal(numbers[3], 25);
  free(numbers);
  teardown(&f);
}

static void cuts_between_bounds(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("17", "18", "64", "65", "30", "?", "-3"));
  const shoal_decimal fine[] = {{18, 0}, {19, 0}, {40, 0}, {65, 0}}, coarse[] = {{18, 0}, {65, 0}};
  const shoal_cut_level levels[] = {{fine, 4}, {coarse, 2}};
  shoal_hierarchy_spec spec = cuts(levels, 2);
  compile_ok(&f, &spec);
  assert_csv(&f, "17;<18;<18;*\n18;18;[18-64];*\n64;[40-64];[18-64];*\n65;>=65;>=65;*\n"
                 "30;[19-39];[18-64];*\n?;?;?;*\n-3;<18;<18;*\n");
  assert_consistent(&f);
  assert_drawn(&f, 100,
               "* (7 values)\n├── <18 (2 values)\n├── [18-64] (3 values)\n"
               "│   ├── 18 (1 value)\n│   ├── [19-39] (1 value)\n"
               "│   └── [40-64] (1 value)\n├── >=65 (1 value)\n└── ? (1 value)\n");
  teardown(&f);
  setup(&f, VALUES("36.9", "37", "38.5"));
  const shoal_decimal fever[] = {{37, 0}, {385, 1}};
  const shoal_cut_level degrees[] = {{fever, 2}};
  spec = cuts(degrees, 1);
  compile_ok(&f, &spec);
  assert_csv(&f, "36.9;<37;*\n37;[37-38.5);*\n38.5;>=38.5;*\n");
  teardown(&f);
}

static void cuts_refusals(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("1", "12", "17", "30"));
  const shoal_decimal bounds[] = {{10, 0}, {20, 0}, {15, 0}};
  const shoal_cut_level torn[] = {{bounds, 2}, {bounds + 2, 1}};
  shoal_hierarchy_spec spec = cuts(torn, 2);
  refuse(&f, &spec, VALUES("policy.yaml:6:2", "two parents", "data rows 12 and 13"));
  const shoal_cut_level falling[] = {{bounds, 3}};
  spec = cuts(falling, 1);
  refuse(&f, &spec, VALUES("policy.yaml:6:2", "bound 3 of level 1"));
  const shoal_cut_level none[] = {{bounds, 0}};
  spec = cuts(none, 1);
  refuse(&f, &spec, VALUES("policy.yaml:6:2", "level 1 has no bounds"));
  teardown(&f);
  setup(&f, VALUES("<10", "?")); /* a label of a release is no number */
  spec = cuts(torn, 1);
  refuse(&f, &spec, VALUES("data.csv: row 11", "is not a number"));
  teardown(&f);
}

/* ------------------------------------------------------------ mask */

static void mask_hides_characters(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("4107", "41", "?", ""));
  shoal_hierarchy_spec spec = mask(false, '*');
  compile_ok(&f, &spec);
  assert_csv(&f, "4107;410*;41**;4***;*\n41;4*;**;**;*\n?;?;?;?;*\n;;;;*\n");
  assert_consistent(&f);
  spec = mask(true, '#');
  compile_ok(&f, &spec);
  assert_csv(&f, "4107;#107;##07;###7;*\n41;#1;##;##;*\n?;?;?;?;*\n;;;;*\n");
  teardown(&f);
  setup(&f, VALUES("F", "M", "?"));
  compile_ok(&f, &spec);
  assert_csv(&f, "F;*\nM;*\n?;*\n");
  teardown(&f);
}

static void mask_counts_code_points(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("Köln",
                   "\xf0\x9f\x90\x9f"
                   "ab",
                   "\xff\xc3x", "\xe2\x82"));
  shoal_hierarchy_spec spec = mask(false, '*');
  compile_ok(&f, &spec);
  assert_int_equal(shoal_hierarchy_height(f.hierarchy), 4);
  assert_string_equal(leaf_path(&f, 0), "Köln|Köl*|Kö**|K***|*");
  assert_string_equal(leaf_path(&f, 1), "\xf0\x9f\x90\x9f"
                                        "ab|\xf0\x9f\x90\x9f"
                                        "a*|"
                                        "\xf0\x9f\x90\x9f**|***|*");
  assert_string_equal(leaf_path(&f, 2), "\xff\xc3x|\xff\xc3*|\xff**|***|*");
  assert_string_equal(leaf_path(&f, 3), "\xe2\x82|\xe2*|**|**|*");
  spec = mask(true, '*');
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 0), "Köln|*öln|**ln|***n|*");
  teardown(&f);
}

static void mask_takes_the_mask_character_itself(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("12*", "123", "1**", "*"));
  shoal_hierarchy_spec spec = mask(false, '*');
  compile_ok(&f, &spec);
  assert_csv(&f, "12*;12*;1**;*\n123;12*;1**;*\n1**;1**;1**;*\n*;*;*;*\n");
  assert_consistent(&f);
  teardown(&f);
}

static void mask_refusals(void **state) {
  (void)state;
  fixture f;
  char text[66];
  memset(text, 'x', 65);
  text[65] = '\0';
  setup(&f, VALUES(text + 1, "ab", text));
  shoal_hierarchy_spec spec = mask(false, '*');
  refuse(&f, &spec,
         VALUES("data.csv: row 13, column 'col'", "more than 64 characters",
                "another kind of hierarchy"));
  f.column.n_values = 2;
  compile_ok(&f, &spec);
  assert_int_equal(shoal_hierarchy_height(f.hierarchy), 64);
  teardown(&f);
  setup(&f, VALUES("ab", "cdef"));
  add_value(&f.column, "??", true);
  spec = mask(false, '?');
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 2), "??|??|??|??|*"); /* with "ab" from level 2 on */
  add_value(&f.column, "a?", true); /* level 1 of "ab", but it has another parent */
  refuse(&f, &spec, VALUES("policy.yaml:8:1", "missing value is spelled like a label of level 1"));
  teardown(&f);
}

/* ------------------------------------------------------------ date */

static void dates_by_unit(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("1964-02-29", "2000-02-29", "?", "1999-12-31"));
  shoal_hierarchy_spec spec = dates(0, 5, "YYYY-MM-DD");
  compile_ok(&f, &spec);
  assert_csv(&f, "1964-02-29;1964-02;1964;[1960-1964];[1960-1969];*\n"
                 "2000-02-29;2000-02;2000;[2000-2004];[2000-2009];*\n?;?;?;?;?;*\n"
                 "1999-12-31;1999-12;1999;[1995-1999];[1990-1999];*\n");
  assert_consistent(&f);
  spec = dates(0, 1, "YYYY-MM-DD");
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 0), "1964-02-29|*");
  teardown(&f);
  setup(&f, VALUES("1.31/68", "1.31/69"));
  spec = dates(2, 1, "1.DD/YY");
  spec.pivot = 2068;
  compile_ok(&f, &spec);
  assert_csv(&f, "1.31/68;2068;*\n1.31/69;1969;*\n");
  teardown(&f);
}

/* Samarati's dates (2001, Figure 6), and both ends of the hundred years. */
static void two_digits_of_a_year_end_at_the_pivot(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("09/27/64", "12/31/26", "01/01/27", "02/29/00"));
  shoal_hierarchy_spec spec = dates(1, 2, "MM/DD/YY");
  spec.pivot = 2026;
  compile_ok(&f, &spec);
  assert_csv(&f, "09/27/64;1964-09;1964;*\n12/31/26;2026-12;2026;*\n01/01/27;1927-01;1927;*\n"
                 "02/29/00;2000-02;2000;*\n");
  spec.pivot = 1999;
  refuse(&f, &spec, VALUES("the cell is not a date MM/DD/YY")); /* 1900 was no leap year */
  spec.pivot = 0; /* no date lies after the current year */
  f.options.current_year = 2063;
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 0), "09/27/64|1964-09|1964|*");
  f.options.current_year = 2064;
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 0), "09/27/64|2064-09|2064|*");
  teardown(&f);
  assert_int_equal(shoal_date_pivot(2001, 2026), 2001);
  assert_int_equal(shoal_date_pivot(0, 2026), 2026);
  assert_true(shoal_date_pivot(0, 0) > 2020);
}

/* With a time, or in several spellings, a day is a level of its own. */
static void dates_may_have_times_and_single_digits(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("9/30/1990 0:00:00", "09/30/1990", "9/30/1990 11:59 PM", "?"));
  shoal_hierarchy_spec spec = dates(0, 2, "MM/DD/YYYY");
  compile_ok(&f, &spec);
  assert_csv(&f, "9/30/1990 0:00:00;1990-09-30;1990-09;*\n09/30/1990;1990-09-30;1990-09;*\n"
                 "9/30/1990 11:59 PM;1990-09-30;1990-09;*\n?;?;?;*\n");
  assert_consistent(&f);
  spec = dates(1, 1, "MM/DD/YYYY");
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 0), "9/30/1990 0:00:00|1990-09|*");
  teardown(&f);
  static const char *const good[] = {"2024-02-29",
                                     "2024-2-29",
                                     "2024-02-29 0:00",
                                     "2024-02-29T23:59:60Z",
                                     "2024-2-29 1:02am",
                                     "2024-02-29T01:02:03.456789+02:00",
                                     "2024-02-29 01:02-0930",
                                     "2024-02-29 01:02+14"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    shoal_date date = {0};
    shoal_label text = {good[i], strlen(good[i])};
    assert_true(shoal_date_read("YYYY-MM-DD", 2026, text, &date));
    assert_int_equal(date.year * 10000 + date.month * 100 + date.day, 20240229);
    assert_int_equal(date.exact, i == 0);
  }
  static const char *const bad[] = {
      "2024-02-29 ",      "2024-02-29 24:00",    "2024-02-29 0:60",       "2024-02-29 0:00:61",
      "2024-02-29 0:0",   "2024-02-29x0:00",     "2024-02-29 13:00 pm",   "2024-02-29 0:00 am",
      "2024-02-29 0:00x", "2024-02-29 0:00:00.", "2024-02-29T0:00+15:00", "2024-02-29T0:00+1",
      "2024-02-29 12",    "2024-02-29 1:00 a",   "2024-002-29",           "2024--29"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    shoal_date date;
    shoal_label text = {bad[i], strlen(bad[i])};
    assert_false(shoal_date_read("YYYY-MM-DD", 2026, text, &date));
  }
  shoal_date date;
  assert_false(shoal_date_read("YYYYMMDD", 2026, (shoal_label){"2024229", 7}, &date));
  assert_false(shoal_date_read("YY.MMDD", 2026, (shoal_label){"24.022", 6}, &date));
  assert_false(shoal_date_read("DD1MM1YY", 2026, (shoal_label){"211124", 6}, &date));
}

static void dates_must_exist(void **state) {
  (void)state;
  static const char *const bad[] = {"1900-02-29",  "2023-02-29", "2024-02-30", "2024-13-01",
                                    "2024-00-10",  "2024-04-31", "2024-01-00", "2024--01",
                                    "2024-01-01 ", "2024/01/01", "20240101",   "",
                                    "2024-01-0x"};
  shoal_hierarchy_spec spec = dates(1, 2, "YYYY-MM-DD");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    fixture f;
    setup(&f, VALUES("2024-02-29", bad[i]));
    refuse(&f, &spec,
           VALUES("data.csv: row 12, column 'col'", "the cell is not a date YYYY-MM-DD"));
    teardown(&f);
  }
}

static void date_formats_are_checked(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("2024"));
  shoal_hierarchy_spec spec = dates(1, 2, "YYYY");
  refuse(&f, &spec, VALUES("policy.yaml:9:3", "no MM"));
  spec = dates(2, 1, "MM-DD");
  refuse(&f, &spec, VALUES("policy.yaml:9:3", "YYYY or YY once"));
  spec = dates(2, 1, "YYYY-YY");
  refuse(&f, &spec, VALUES("YYYY or YY once"));
  spec = dates(2, 3, "YYYY");
  compile_ok(&f, &spec);
  assert_string_equal(leaf_path(&f, 0), "2024|2024|[2020-2024]|[2020-2029]|*");
  const shoal_date_unit many[9] = {SHOAL_DATE_YEAR, SHOAL_DATE_YEAR, SHOAL_DATE_YEAR,
                                   SHOAL_DATE_YEAR, SHOAL_DATE_YEAR, SHOAL_DATE_YEAR,
                                   SHOAL_DATE_YEAR, SHOAL_DATE_YEAR, SHOAL_DATE_YEAR};
  spec.units = many;
  spec.n_units = 9;
  refuse(&f, &spec, VALUES("policy.yaml:9:3", "each unit of the date once"));
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_of_whole_numbers),
      cmocka_unit_test(intervals_of_decimals),
      cmocka_unit_test(codes_end_intervals),
      cmocka_unit_test(codes_are_cut_at_the_dot),
      cmocka_unit_test(numbers_are_rounded),
      cmocka_unit_test(widths_suit_the_data),
      cmocka_unit_test(intervals_do_not_overflow),
      cmocka_unit_test(numbers_are_refused_with_their_row),
      cmocka_unit_test(column_numbers),
      cmocka_unit_test(cuts_between_bounds),
      cmocka_unit_test(cuts_refusals),
      cmocka_unit_test(mask_hides_characters),
      cmocka_unit_test(mask_counts_code_points),
      cmocka_unit_test(mask_takes_the_mask_character_itself),
      cmocka_unit_test(mask_refusals),
      cmocka_unit_test(dates_by_unit),
      cmocka_unit_test(two_digits_of_a_year_end_at_the_pivot),
      cmocka_unit_test(dates_may_have_times_and_single_digits),
      cmocka_unit_test(dates_must_exist),
      cmocka_unit_test(date_formats_are_checked),
  };
  return cmocka_run_group_tests_name("hierarchy kinds", tests, NULL, NULL);
}
