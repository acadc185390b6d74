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

/* Begins the comments that shoal writes: those of others are kept. */
#define MARK "shoal " SHOAL_VERSION ": "

static void add_name(const void *user, shoal_text *sql, const char *name) {
  shoal_pg_add_name(user, sql, name);
}

/* The names of the table, and the one that exists. The schema is the first of the search path. */
static const char FIND[] =
    "SELECT pg_catalog.quote_ident(s) || '.' || pg_catalog.quote_ident(t), "
    "pg_catalog.quote_ident(t), c.oid, "
    "pg_catalog.concat_ws('/', d.oid, d.datname, c.oid), c.relkind, "
    "pg_catalog.quote_ident(s) || '.shoal_release_' || c.oid FROM "
    "(SELECT CASE cardinality(p) WHEN 1 THEN pg_catalog.current_schema() ELSE p[1] END AS s, "
    "p[cardinality(p)] AS t FROM pg_catalog.parse_ident($1) AS p "
    "WHERE cardinality(p) <= 2) AS named "
    "JOIN pg_catalog.pg_database d ON d.datname = pg_catalog.current_database() "
    "LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = s "
    "LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t";

shoal_status shoal_pg_sink_find(shoal_pg_sink *s, bool replace, const char *identity,
                                shoal_error *error) {
  PGresult *found = NULL;
  const char *parameter = s->address->table;
  SHOAL_TRY(shoal_pg_query(&s->pg, FIND, &parameter, 1, &found, error));
  shoal_location location = {.file = s->pg.name};
  shoal_status status = SHOAL_OK;
  if (PQntuples(found) != 1 || PQgetisnull(found, 0, 0)) {
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "is not the name of a table; write SCHEMA.NAME, and names with "
                           "capitals, dots or blanks in double quotes");
  } else {
    bool exists = !PQgetisnull(found, 0, 2);
    s->final = strdup(PQgetvalue(found, 0, 0));
    s->name = strdup(PQgetvalue(found, 0, 1));
    s->table = strdup(PQgetvalue(found, 0, exists ? 5 : 0));
    bool same = exists && identity && strcmp(identity, PQgetvalue(found, 0, 3)) == 0;
    if (exists) s->old_id = strdup(PQgetvalue(found, 0, 2));
    if (!s->table || !s->final || !s->name || (exists && !s->old_id))
      status = shoal_fail_memory(error);
    else if (exists && (!replace || same)) status = shoal_sink_exists(s->address, same, error);
    else if (exists && strcmp(PQgetvalue(found, 0, 4), "r") != 0)
      status = shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                             "is not a plain table and cannot be replaced: choose another");
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

static shoal_status create(shoal_pg_sink *s, const shoal_sink_plan *plan, shoal_error *error) {
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

/* Statements that give the new table the rights and comments of the old one ($1). */
static const char INHERIT[] =
    "SELECT pg_catalog.format('GRANT %s ON TABLE %s TO %s%s', privilege_type, $2::text, "
    "CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident("
    "pg_catalog.pg_get_userbyid(grantee)) END, "
    "CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) "
    "FROM pg_catalog.pg_class, pg_catalog.aclexplode(relacl) WHERE oid = $1::oid "
    "AND grantee <> relowner "
    "UNION ALL SELECT pg_catalog.format('GRANT %s (%I) ON TABLE %s TO %s', privilege_type, "
    "a.attname, $2::text, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident("
    "pg_catalog.pg_get_userbyid(grantee)) END) FROM pg_catalog.pg_attribute a "
    "JOIN pg_catalog.pg_attribute b ON b.attname = a.attname AND b.attnum > 0 "
    "AND b.attrelid = $2::regclass, pg_catalog.aclexplode(a.attacl) WHERE a.attrelid = $1::oid "
    "UNION ALL SELECT CASE objsubid WHEN 0 THEN "
    "pg_catalog.format('COMMENT ON TABLE %s IS %L', $2::text, description) ELSE "
    "pg_catalog.format('COMMENT ON COLUMN %s.%I IS %L', $2::text, a.attname, description) END "
    "FROM pg_catalog.pg_description LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = objoid "
    "AND a.attnum = objsubid LEFT JOIN pg_catalog.pg_attribute b ON b.attname = a.attname "
    "AND b.attnum > 0 AND b.attrelid = $2::regclass "
    "WHERE objoid = $1::oid AND classoid = 'pg_catalog.pg_class'::regclass "
    "AND description NOT LIKE 'shoal %.%.%: %' AND (objsubid = 0 OR b.attname IS NOT NULL)";

static shoal_status inherit(shoal_pg_sink *s, shoal_error *error) {
  if (!s->old_id) return SHOAL_OK;
  PGresult *found = NULL;
  const char *const parameters[] = {s->old_id, s->table};
  SHOAL_TRY(shoal_pg_query(&s->pg, INHERIT, parameters, 2, &found, error));
  shoal_status status = SHOAL_OK;
  for (int i = 0; status == SHOAL_OK && i < PQntuples(found); i++)
    status = shoal_pg_run(&s->pg, PQgetvalue(found, i, 0), error);
  PQclear(found);
  SHOAL_TRY(status);
  shoal_text sql;
  shoal_text_init(&sql);
  shoal_text_print(&sql, "DROP TABLE %s; ALTER TABLE %s RENAME TO %s", s->final, s->table, s->name);
  return shoal_pg_run_text(&s->pg, &sql, error);
}

shoal_status shoal_pg_sink_commit(void *state, shoal_error *error) {
  shoal_pg_sink *s = state;
  SHOAL_TRY(inherit(s, error));
  return shoal_pg_run(&s->pg, "COMMIT", error);
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
