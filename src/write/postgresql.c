/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/postgresql: a release as a table of PostgreSQL. The table has its name from the start, but
 * nobody sees it before the commit. If it replaces another, it has a temporary name: the old table
 * can be read until the last moment, when its rights and comments go to the new one, and it is
 * dropped.
 */
#include "write/postgresql.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#if SHOAL_POSTGRESQL

enum { MAX_NAME_BYTES = 63 };

/* Begins the comments that shoal writes: those of others are kept. */
#define MARK "shoal " SHOAL_VERSION ": "

static void add_name(const void *user, shoal_text *sql, const char *name) {
  shoal_pg_add_name(user, sql, name);
}

/* The names of the table, and the one that exists. The schema is the first of the search path. */
static const char FIND[] =
    "SELECT pg_catalog.quote_ident(s) || '.' || pg_catalog.quote_ident(t), "
    "pg_catalog.quote_ident(t), c.oid, "
    "pg_catalog.concat_ws('/', d.oid, d.datname, c.oid), c.relkind, c.relrowsecurity, "
    "pg_catalog.quote_ident(s) || '.shoal_release_' || c.oid::text FROM "
    "(SELECT CASE pg_catalog.array_length(p, 1) WHEN 1 THEN pg_catalog.current_schema()::text "
    "ELSE p[1] END AS s, p[pg_catalog.array_length(p, 1)] AS t "
    "FROM pg_catalog.parse_ident($1) AS p WHERE pg_catalog.array_length(p, 1) <= 2) AS named "
    "JOIN pg_catalog.pg_database d ON d.datname = pg_catalog.current_database() "
    "LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = s "
    "LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t "
    "WHERE pg_catalog.octet_length(t) <= 63"; /* longer names would be cut */

enum { FINAL, NAME, ID, IDENTITY, KIND, ROW_SECURITY, TEMPORARY };

/* May the table that exists be replaced? Row security would be lost with it. */
static shoal_status check_old(const shoal_pg_sink *s, const PGresult *found, bool replace,
                              const char *identity, shoal_error *error) {
  shoal_location location = {.file = s->pg.name};
  bool same = shoal_database_reads(identity, PQgetvalue(found, 0, IDENTITY));
  if (!replace || same) return shoal_sink_exists(s->address, same, error);
  if (strcmp(PQgetvalue(found, 0, KIND), "r") != 0)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "is not a plain table and cannot be replaced: choose another");
  if (strcmp(PQgetvalue(found, 0, ROW_SECURITY), "t") == 0)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "has row-level security, which a new table would not have: choose another "
                         "output table");
  return SHOAL_OK;
}

shoal_status shoal_pg_sink_find(shoal_pg_sink *s, bool replace, const char *identity,
                                shoal_error *error) {
  PGresult *found = NULL;
  const char *parameter = s->address->table;
  shoal_location location = {.file = s->pg.name};
  shoal_status status = shoal_pg_query(&s->pg, FIND, &parameter, 1, &found, error);
  bool bad_name = status == SHOAL_OK ? PQntuples(found) != 1 || PQgetisnull(found, 0, FINAL)
                                     : strcmp(s->pg.state, "22023") == 0;
  if (bad_name) {
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "is not the name of a table; write SCHEMA.NAME of at most 63 bytes, and "
                           "names with capitals, dots or blanks in double quotes");
  } else if (status == SHOAL_OK) {
    bool exists = !PQgetisnull(found, 0, ID);
    s->final = strdup(PQgetvalue(found, 0, FINAL));
    s->name = strdup(PQgetvalue(found, 0, NAME));
    s->table = strdup(PQgetvalue(found, 0, exists ? TEMPORARY : FINAL));
    if (exists) s->old_id = strdup(PQgetvalue(found, 0, ID));
    if (!s->table || !s->final || !s->name || (exists && !s->old_id))
      status = shoal_fail_memory(error);
    else if (exists) status = check_old(s, found, replace, identity, error);
  }
  PQclear(found);
  return status;
}

static shoal_status open_sink(const shoal_address *address, bool replace, const char *identity,
                              shoal_patience patience, void **out, shoal_error *error) {
  shoal_pg_sink *s = shoal_alloc_zero(1, sizeof *s);
  if (!s) return shoal_fail_memory(error);
  *out = s;
  s->address = address;
  SHOAL_TRY(shoal_pg_open(&s->pg, address, patience, error));
  SHOAL_TRY(shoal_pg_run(&s->pg, "BEGIN", error));
  return shoal_pg_sink_find(s, replace, identity, error);
}

/* ------------------------------------------------------------ the table */

/* A type of the source that this database lacks becomes text. */
static shoal_status add_type(shoal_pg_sink *s, shoal_text *sql, const char *type,
                             shoal_error *error) {
  PGresult *found = NULL;
  if (type)
    SHOAL_TRY(shoal_pg_query(&s->pg,
                             "SELECT 1 WHERE pg_catalog.to_regtype(pg_catalog.regexp_replace($1, "
                             "'\\(.*\\)', '')) IS NOT NULL",
                             &type, 1, &found, error));
  shoal_text_add(sql, type && PQntuples(found) ? type : "text");
  PQclear(found);
  return SHOAL_OK;
}

/* The server would cut a longer name. */
static shoal_status check_name(const shoal_pg_sink *s, const char *name, shoal_error *error) {
  if (strlen(name) <= MAX_NAME_BYTES) return SHOAL_OK;
  return shoal_fail_at(error, SHOAL_BAD_INPUT,
                       &(shoal_location){.file = s->pg.name, .column = name},
                       "PostgreSQL takes names of at most 63 bytes: rename the column");
}

static shoal_status create(shoal_pg_sink *s, const shoal_sink_plan *plan, shoal_error *error) {
  for (size_t c = 0; c < plan->n_columns; c++)
    SHOAL_TRY(check_name(s, plan->columns[c].name, error));
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_print(&sql, "CREATE TABLE %s (", s->table);
  shoal_status status = SHOAL_OK;
  for (size_t c = 0; status == SHOAL_OK && c < plan->n_columns; c++) {
    if (c) shoal_text_add(&sql, ", ");
    shoal_pg_add_name(&s->pg, &sql, plan->columns[c].name);
    shoal_text_add(&sql, " ");
    bool known = plan->kind == &shoal_postgresql_kind;
    status = add_type(s, &sql, known ? plan->columns[c].type : NULL, error);
  }
  shoal_text_add(&sql, ")");
  if (status == SHOAL_OK) return shoal_pg_run_text(&s->pg, &sql, error);
  shoal_text_reset(&sql);
  return status;
}

static shoal_status copy_rows(shoal_pg_sink *s, const shoal_sink_plan *plan, int csv_fd,
                              shoal_error *error) {
  enum { PIECE_BYTES = 1 << 18 };
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_print(&sql, "COPY %s FROM STDIN", s->table);
  shoal_text force; /* quoted cells of a missing value are NULL too */
  shoal_text_init(&force);
  for (size_t c = 0; c < plan->n_columns; c++) {
    shoal_text_add(&force, c ? ", " : ", HEADER, FORCE_NULL (");
    shoal_pg_add_name(&s->pg, &force, plan->columns[c].name);
  }
  shoal_text_add(&force, ")");
  sql.failed |= force.failed;
  if (!sql.failed) shoal_pg_add_format(&s->pg, &sql, plan->delimiter, plan->null_cell, force.bytes);
  shoal_text_reset(&force);
  SHOAL_TRY(shoal_pg_copy_in(&s->pg, &sql, error));
  char *bytes = shoal_alloc(PIECE_BYTES, 1);
  shoal_status status = bytes ? SHOAL_OK : shoal_fail_memory(error);
  uint64_t offset = 0;
  for (size_t size = 1; status == SHOAL_OK && size;) {
    status = shoal_sink_read_file(csv_fd, &offset, bytes, PIECE_BYTES, &size, error);
    if (status == SHOAL_OK && size) status = shoal_pg_copy_put(&s->pg, bytes, size, error);
  }
  free(bytes);
  return status == SHOAL_OK ? shoal_pg_copy_end(&s->pg, error) : status;
}

shoal_status shoal_pg_sink_comment(shoal_pg_sink *s, const shoal_sink_plan *plan,
                                   shoal_error *error) {
  shoal_text sql;
  shoal_text_init(&sql);
  for (size_t c = 0; c <= plan->n_columns; c++) { /* the table comes last */
    const char *text = c < plan->n_columns ? plan->columns[c].comment : plan->comment;
    if (!text) continue;
    shoal_text marked;
    shoal_text_init(&marked);
    shoal_text_print(&marked, MARK "%s", text);
    shoal_text_print(&sql, "COMMENT ON %s %s", c < plan->n_columns ? "COLUMN" : "TABLE", s->table);
    if (c < plan->n_columns) {
      shoal_text_add(&sql, ".");
      shoal_pg_add_name(&s->pg, &sql, plan->columns[c].name);
    }
    shoal_text_add(&sql, " IS ");
    if (!marked.failed) shoal_pg_add_string(&s->pg, &sql, marked.bytes);
    sql.failed |= marked.failed;
    shoal_text_reset(&marked);
    shoal_text_add(&sql, "; ");
  }
  if (sql.size_bytes) return shoal_pg_run_text(&s->pg, &sql, error);
  return SHOAL_OK;
}

static shoal_status fill(void *state, const shoal_sink_plan *plan, int csv_fd, shoal_error *error) {
  shoal_pg_sink *s = state;
  SHOAL_TRY(create(s, plan, error));
  SHOAL_TRY(copy_rows(s, plan, csv_fd, error));
  return shoal_pg_sink_comment(s, plan, error);
}

shoal_status shoal_pg_sink_check(void *state, const shoal_sink_plan *plan, uint64_t *n_violating,
                                 shoal_error *error) {
  shoal_pg_sink *s = state;
  PGresult *found = NULL;
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_sink_add_check(&sql, plan, s->table, add_name, &s->pg);
  shoal_status status = sql.failed ? shoal_fail_memory(error)
                                   : shoal_pg_query(&s->pg, sql.bytes, NULL, 0, &found, error);
  shoal_text_reset(&sql);
  SHOAL_TRY(status);
  *n_violating = strtoull(PQgetvalue(found, 0, 0), NULL, 10);
  PQclear(found);
  return SHOAL_OK;
}

static shoal_status read_back(void *state, const shoal_sink_plan *plan, int csv_fd,
                              shoal_error *error) {
  shoal_pg_sink *s = state;
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_add(&sql, "COPY (SELECT ");
  for (size_t c = 0; c < plan->n_columns; c++) {
    if (c) shoal_text_add(&sql, ", ");
    shoal_pg_add_name(&s->pg, &sql, plan->columns[c].name);
    shoal_text_add(&sql, "::text");
  }
  shoal_text_print(&sql, " FROM %s) TO STDOUT", s->table);
  shoal_pg_add_format(&s->pg, &sql, plan->delimiter, plan->null_cell, "");
  return shoal_pg_copy_file(&s->pg, &sql, csv_fd, NULL, error);
}

/* ------------------------------------------------------------ the end */

/*
 * Statements that give the new table the rights, owner and comments of the old one, in this order:
 * rights that every new table gets by default are revoked first. $1: the old table, $2: the new.
 */
#define GRANTEE "CASE grantee WHEN '0'::oid THEN 'PUBLIC' ELSE grantee::regrole::text END"
static const char INHERIT[] =
    "WITH t AS (SELECT c.*, $2::text AS new FROM pg_catalog.pg_class c WHERE oid = $1::oid), "
    "kept AS (SELECT o.attname, o.attnum, o.attacl FROM pg_catalog.pg_attribute o "
    "JOIN pg_catalog.pg_attribute a ON a.attname = o.attname AND a.attnum > 0 "
    "AND a.attrelid = $2::regclass::oid WHERE o.attrelid = $1::oid AND o.attnum > 0) "
    "SELECT pg_catalog.format('REVOKE ALL ON TABLE %s FROM %s', $2::text, " GRANTEE ") AS sql, "
    "1 AS step FROM pg_catalog.pg_class n, pg_catalog.aclexplode(n.relacl) "
    "WHERE n.oid = $2::regclass::oid AND grantee <> n.relowner "
    "UNION ALL SELECT pg_catalog.format('GRANT %s ON TABLE %s TO %s%s', privilege_type, "
    "new, " GRANTEE ", CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END), 3 "
    "FROM t, pg_catalog.aclexplode(relacl) WHERE grantee <> relowner "
    "UNION ALL SELECT pg_catalog.format('GRANT %s (%I) ON TABLE %s TO %s%s', privilege_type, "
    "attname, new, " GRANTEE ", CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END), 3 "
    "FROM t, kept, pg_catalog.aclexplode(attacl) WHERE grantee <> relowner "
    "UNION ALL SELECT CASE WHEN attname IS NULL THEN "
    "pg_catalog.format('COMMENT ON TABLE %s IS %L', new, description) ELSE "
    "pg_catalog.format('COMMENT ON COLUMN %s.%I IS %L', new, attname, description) END, 4 "
    "FROM t JOIN pg_catalog.pg_description d ON objoid = t.oid "
    "AND classoid = 'pg_catalog.pg_class'::regclass::oid LEFT JOIN kept ON attnum = objsubid "
    "WHERE description NOT LIKE 'shoal %.%.%: %' AND (objsubid = 0 OR attname IS NOT NULL) "
    "UNION ALL SELECT pg_catalog.format('ALTER TABLE %s OWNER TO %s', new, "
    "relowner::regrole::text), 2 FROM t "
    "WHERE relowner <> (SELECT n.relowner FROM pg_catalog.pg_class n "
    "WHERE n.oid = $2::regclass::oid) "
    "ORDER BY step";

static shoal_status inherit(shoal_pg_sink *s, shoal_error *error) {
  if (!s->old_id) return SHOAL_OK;
  PGresult *found = NULL;
  const char *const names[] = {s->old_id, s->final}, *const parameters[] = {s->old_id, s->table};
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_print(&sql, "LOCK TABLE %s", s->final);
  SHOAL_TRY(shoal_pg_run_text(&s->pg, &sql, error));
  SHOAL_TRY(shoal_pg_query(&s->pg, "SELECT 1 WHERE $1::oid = $2::regclass::oid", names, 2, &found,
                           error));
  bool same = PQntuples(found) == 1;
  PQclear(found);
  if (!same)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = s->pg.name},
                         "another program replaced the table meanwhile: run again");
  SHOAL_TRY(shoal_pg_query(&s->pg, INHERIT, parameters, 2, &found, error));
  shoal_status status = SHOAL_OK;
  for (int i = 0; status == SHOAL_OK && i < PQntuples(found); i++)
    status = shoal_pg_run(&s->pg, PQgetvalue(found, i, 0), error);
  PQclear(found);
  SHOAL_TRY(status);
  shoal_text_init(&sql);
  shoal_text_print(&sql, "DROP TABLE %s; ALTER TABLE %s RENAME TO %s", s->final, s->table, s->name);
  return shoal_pg_run_text(&s->pg, &sql, error);
}

shoal_status shoal_pg_sink_commit(void *state, shoal_error *error) {
  shoal_pg_sink *s = state;
  SHOAL_TRY(inherit(s, error));
  s->pg.patience = (shoal_patience){0}; /* a cancelled commit may or may not have happened */
  shoal_status status = shoal_pg_run(&s->pg, "COMMIT", error);
  if (status == SHOAL_OK || *s->pg.state) return status;
  return shoal_fail_at(error, SHOAL_FAILED, &(shoal_location){.file = s->pg.name},
                       "the connection was lost while the server committed: the table is complete "
                       "or absent; look before you run again");
}

void shoal_pg_sink_reset(shoal_pg_sink *s) {
  shoal_pg_close(&s->pg);
  free(s->table);
  free(s->final);
  free(s->name);
  free(s->old_id);
}

static void close_sink(void *state) {
  shoal_pg_sink_reset(state);
  free(state);
}

const shoal_sink_kind shoal_postgresql_sink = {.database = &shoal_postgresql_kind,
                                               .open = open_sink,
                                               .fill = fill,
                                               .check = shoal_pg_sink_check,
                                               .read = read_back,
                                               .commit = shoal_pg_sink_commit,
                                               .close = close_sink};

#else

static shoal_status open_sink(const shoal_address *address, bool replace, const char *identity,
                              shoal_patience patience, void **out, shoal_error *error) {
  (void)address, (void)replace, (void)identity, (void)patience, (void)out;
  return shoal_database_absent("libpq", error);
}

const shoal_sink_kind shoal_postgresql_sink = {.database = &shoal_postgresql_kind,
                                               .open = open_sink};

#endif
