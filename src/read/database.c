/* SPDX-License-Identifier: Apache-2.0 */
/* read/database: the table of kinds of databases, and their addresses. */
#include "read/database.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static const shoal_database_kind *const kinds[] = {&shoal_postgresql_kind, &shoal_sqlite_kind};

static const shoal_database_kind *kind_of(const char *path) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (size_t p = 0; p < 2 && kinds[i]->prefixes[p]; p++)
      if (strncmp(path, kinds[i]->prefixes[p], strlen(kinds[i]->prefixes[p])) == 0) return kinds[i];
  return NULL;
}

bool shoal_is_database(const char *path) { return kind_of(path) != NULL; }

/* The name of the database, and of the table. A query may contain values: it is not shown. */
static char *make_name(const shoal_address *address) {
  assert(address->kind);
  char *database = address->kind->display(address->database);
  shoal_text name;
  shoal_text_init(&name);
  if (database) shoal_text_add(&name, database);
  /* behind a password it may be the rest of it */
  bool unsure = strstr(address->database, "password=") != NULL;
  if (address->table && !unsure) shoal_text_print(&name, "#%s", address->table);
  if (address->query) shoal_text_add(&name, "#query");
  name.failed |= !database;
  free(database);
  return shoal_text_take(&name);
}

/* The '#' before the table or query. A password may have one too: "postgresql://USER:PASSWORD@". */
static const char *find_mark(const char *path) {
  const char *authority = strstr(path, "://");
  size_t size = authority ? 3 + strcspn(authority + 3, "@/") : 0;
  if (authority && authority[size] == '@') path = authority + size;
  const char *mark = strstr(path, "#query="); /* a query may have a '#' of its own */
  return mark ? mark : strrchr(path, '#');
}

shoal_status shoal_address_parse(const char *path, shoal_address *address, shoal_error *error) {
  static const char TABLE[] = "table=", QUERY[] = "query=";
  *address = (shoal_address){.kind = kind_of(path)};
  const char *mark = find_mark(path);
  const char *rest = mark ? mark + 1 : NULL;
  bool is_query = rest && strncmp(rest, QUERY, sizeof QUERY - 1) == 0;
  if (is_query) rest += sizeof QUERY - 1;
  else if (rest && strncmp(rest, TABLE, sizeof TABLE - 1) == 0) rest += sizeof TABLE - 1;
  address->database = strndup(path, mark ? (size_t)(mark - path) : strlen(path));
  if (rest) *(is_query ? &address->query : &address->table) = strdup(rest);
  if (!address->database || (rest && !address->query && !address->table) ||
      !(address->name = make_name(address)))
    return shoal_fail_memory(error);
  if (rest && !*rest)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = address->name},
                         "nothing follows the '#': name a table");
  return SHOAL_OK;
}

void shoal_address_reset(shoal_address *address) {
  free(address->database);
  free(address->table);
  free(address->query);
  free(address->name);
  memset(address, 0, sizeof *address);
}

char *shoal_display_path(const char *path) {
  if (!shoal_is_database(path)) {
    /* another kind of address may have a password, too */
    size_t scheme = strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789+.-");
    if (strncmp(path + scheme, "://", 3) == 0) return strndup(path, scheme + 3);
    return strdup(strcmp(path, "-") == 0 ? "standard input" : path);
  }
  shoal_address address;
  shoal_error error;
  (void)!shoal_address_parse(path, &address, &error);
  char *name = address.name;
  address.name = NULL;
  shoal_address_reset(&address);
  return name;
}

bool shoal_address_has_table(const char *path) { return find_mark(path) != NULL; }

const char *shoal_file_of_path(const char *path, char *buffer, size_t size) {
  if (kind_of(path) != &shoal_sqlite_kind) return path;
  const char *file = path + strlen(shoal_sqlite_kind.prefixes[0]), *mark = find_mark(file);
  size_t n = mark ? (size_t)(mark - file) : strlen(file);
  if (n >= size) return path; /* no file has a name of this length */
  memcpy(buffer, file, n);
  buffer[n] = '\0';
  return buffer;
}

void shoal_database_columns_reset(shoal_database_columns *columns) {
  for (size_t i = 0; i < columns->n; i++) {
    free(columns->items[i].name);
    free(columns->items[i].type);
  }
  free(columns->items);
  free(columns->identity);
  memset(columns, 0, sizeof *columns);
}

bool shoal_database_reads(const char *identity, const char *table) {
  size_t size = strlen(table);
  for (const char *line = identity; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, table, size) == 0 && (line[size] == '\n' || !line[size])) return true;
  }
  return false;
}

shoal_status shoal_database_columns_add(shoal_database_columns *columns, const char *name,
                                        const char *type, bool is_number, shoal_error *error) {
  if (!shoal_grow(&columns->items, &columns->capacity, columns->n + 1, sizeof *columns->items))
    return shoal_fail_memory(error);
  shoal_database_column *column = &columns->items[columns->n++];
  *column = (shoal_database_column){strdup(name), strdup(type), is_number};
  return column->name && column->type ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_database_absent(const char *library, shoal_error *error) {
  return shoal_fail(error, SHOAL_BAD_INPUT,
                    "shoal was built without %s: build it with that library, or export the table "
                    "as CSV",
                    library);
}
