/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of databases and what messages show of them; the query that counts violating classes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/sqlite.h"
#include "write/database.h"

static void check_address(const char *path, const char *database, const char *table,
                          const char *query, const char *shown) {
  shoal_address address;
  shoal_error error;
  assert_int_equal(shoal_address_parse(path, &address, &error), SHOAL_OK);
  assert_string_equal(address.database, database);
  assert_int_equal(shoal_address_has_table(path), table || query);
  if (table) assert_string_equal(address.table, table);
  else assert_null(address.table);
  if (query) assert_string_equal(address.query, query);
  else assert_null(address.query);
  assert_string_equal(address.name, shown);
  shoal_address_reset(&address);
}

static void test_addresses(void **state) {
  (void)state;
  check_address("sqlite:a.db", "sqlite:a.db", NULL, NULL, "sqlite:a.db");
  check_address("sqlite:a#b.db#t", "sqlite:a#b.db", "t", NULL, "sqlite:a#b.db#t");
  check_address("sqlite:a.db#table=t", "sqlite:a.db", "t", NULL, "sqlite:a.db#t");
  check_address("sqlite:a.db#query=SELECT '#7'", "sqlite:a.db", NULL, "SELECT '#7'",
                "sqlite:a.db#query");
#if SHOAL_POSTGRESQL
  check_address("postgresql://u:secret@h:1/d#s.t", "postgresql://u:secret@h:1/d", "s.t", NULL,
                "postgresql://h:1/d#s.t");
  check_address("postgres://u:a#b@h/d#t", "postgres://u:a#b@h/d", "t", NULL, "postgresql://h/d#t");
  check_address("postgresql://u:a#b@h/d", "postgresql://u:a#b@h/d", NULL, NULL, "postgresql://h/d");
  check_address("postgresql://u:a/b@h/d", "postgresql://u:a/b@h/d", NULL, NULL, "postgresql:");
  check_address("postgresql://u:a@b@h/d", "postgresql://u:a@b@h/d", NULL, NULL, "postgresql:");
  check_address("postgresql://h:p/d", "postgresql://h:p/d", NULL, NULL, "postgresql:");
  check_address("postgresql:///d?password=a#b", "postgresql:///d?password=a", "b", NULL,
                "postgresql:///d");
#endif
  shoal_address address;
  shoal_error error;
  assert_int_equal(shoal_address_parse("sqlite:a.db#", &address, &error), SHOAL_BAD_INPUT);
  shoal_address_reset(&address);
}

static void test_files_behind_paths(void **state) {
  (void)state;
  static const char *const pairs[][2] = {{"a.csv", "a.csv"},
                                         {"a#b.csv", "a#b.csv"},
                                         {"sqlite:a.db", "a.db"},
                                         {"sqlite:a.db#t", "a.db"},
                                         {"postgresql://h/d#t", "postgresql://h/d#t"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    char buffer[64];
    const char *file = shoal_file_of_path(pairs[i][0], buffer, sizeof buffer);
    assert_string_equal(file, pairs[i][1]);
  }
  char small[4]; /* no room for the name: the address stays as it is */
  assert_string_equal(shoal_file_of_path("sqlite:a.db", small, sizeof small), "sqlite:a.db");
  assert_true(shoal_is_database("sqlite:a"));
  assert_true(shoal_is_database("postgres://"));
  assert_false(shoal_is_database("postgresql"));
  assert_false(shoal_is_database("-"));
}

#if SHOAL_SQLITE
static void add_name(const void *user, shoal_text *sql, const char *name) {
  (void)user;
  shoal_sqlite_add_name(sql, name);
}

/* Violating classes of the rows, by k, p of s and p of t. */
static uint64_t violating(const char *rows, uint64_t k, uint64_t p_of_s, uint64_t p_of_t) {
  const shoal_sink_column columns[] = {{.name = "q", .is_quasi = true},
                                       {.name = "s \"1\"", .min_distinct = p_of_s},
                                       {.name = "r", .is_quasi = true},
                                       {.name = "t", .min_distinct = p_of_t}};
  const shoal_sink_plan plan = {.columns = columns, .n_columns = 4, .k = k};
  sqlite3 *db;
  sqlite3_stmt *statement;
  shoal_text sql;
  shoal_text_init(&sql);
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  shoal_text_print(&sql, "CREATE TABLE x (q, \"s \"\"1\"\"\", r, t); INSERT INTO x VALUES %s",
                   rows);
  assert_int_equal(sqlite3_exec(db, sql.bytes, NULL, NULL, NULL), SQLITE_OK);
  shoal_text_cut(&sql, 0);
  shoal_sink_add_check(&sql, &plan, "x", add_name, NULL);
  assert_int_equal(sqlite3_prepare_v2(db, sql.bytes, -1, &statement, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
  uint64_t n = (uint64_t)sqlite3_column_int64(statement, 0);
  (void)sqlite3_finalize(statement);
  (void)sqlite3_close(db);
  shoal_text_reset(&sql);
  return n;
}

static void test_violating_classes_are_counted(void **state) {
  (void)state;
  static const char good[] = "('a','x',1,1),('a','y',1,1),('a','x',1,2),"
                             "('b','x',1,1),('b','y',1,2),('b','y',1,NULL)";
  assert_int_equal(violating(good, 3, 0, 0), 0);
  assert_int_equal(violating(good, 4, 0, 0), 2);
  assert_int_equal(violating(good, 3, 2, 2), 0);
  assert_int_equal(violating(good, 4, 2, 0), 2); /* k alone is violated */
  assert_int_equal(violating(good, 3, 3, 0), 2);
  assert_int_equal(violating(good, 3, 3, 3), 4); /* by two columns: NULL is no value */
  assert_int_equal(violating("('a','x',1,1),('a','x',1,2),('a','y',2,1),('a','y',2,2)", 2, 2, 2),
                   2);
  assert_int_equal(violating("('a','x',1,1),('a','x',1,2),('a','y',2,1)", 2, 0, 0), 1);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_addresses),
    cmocka_unit_test(test_files_behind_paths),
#if SHOAL_SQLITE
    cmocka_unit_test(test_violating_classes_are_counted),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
