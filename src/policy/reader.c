/* SPDX-License-Identifier: Apache-2.0 */
/* policy/reader: see reader.h. */
#include "policy/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy/words.h"

shoal_subject shoal_reader_subject(const shoal_policy_reader *reader) {
  shoal_subject subject;
  static const char before[] = "attributes.NAME";
  const char *name = reader->rule ? reader->rule->name : reader->whole;
  const char *rest = name + sizeof before - 1;
  if (strncmp(name, before, sizeof before - 1) != 0)
    (void)snprintf(subject.text, sizeof subject.text, "%s", name);
  else if (reader->attribute)
    (void)snprintf(subject.text, sizeof subject.text, "attributes.%s%s",
                   shoal_quote(reader->attribute).text, rest);
  else /* a hierarchy of its own: the attribute goes unsaid */
    (void)snprintf(subject.text, sizeof subject.text, "%s", rest + 1);
  return subject;
}

shoal_status shoal_reader_fail(const shoal_policy_reader *reader, shoal_mark mark,
                               const char *format, ...) {
  char message[sizeof reader->error->message];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(message, sizeof message, format, args);
  va_end(args);
  const shoal_place place = {.file = reader->file, .line = mark.line, .at = mark.at};
  return shoal_fail_at(reader->error, SHOAL_BAD_INPUT, &place, "%s", message);
}

shoal_status shoal_reader_expected(const shoal_policy_reader *reader, const shoal_yaml *node,
                                   const char *what) {
  const char *found = node->kind == SHOAL_YAML_LIST      ? "a list"
                      : node->kind == SHOAL_YAML_MAPPING ? "a mapping"
                      : shoal_yaml_is_null(node)         ? "nothing"
                                                         : NULL;
  const shoal_subject subject = shoal_reader_subject(reader);
  if (found)
    return shoal_reader_fail(reader, node->mark, "%s: expected %s, found %s", subject.text, what,
                             found);
  return shoal_reader_fail(reader, node->mark, "%s: expected %s, found '%s'", subject.text, what,
                           shoal_quote(node->text).text);
}

static shoal_status unknown_key(const shoal_policy_reader *reader, const shoal_yaml *key,
                                const shoal_key_rule *rules) {
  const char *words[SHOAL_MAX_RULES + 1] = {NULL};
  for (size_t i = 0; i < SHOAL_MAX_RULES && rules[i].key; i++) words[i] = rules[i].key;
  /* "{role:quasi}" is one word to YAML */
  bool glued = key->plain && strchr(key->text, ':') && shoal_yaml_is_null(key->next);
  return shoal_reader_fail(reader, key->mark, "unknown key '%s'%s%s", shoal_quote(key->text).text,
                           glued ? ": a space is needed after ':'" : "",
                           shoal_advise(key->text, words).text);
}

shoal_status shoal_read_mapping(shoal_policy_reader *reader, const shoal_yaml *node,
                                const shoal_key_rule *rules, const char *such, void *target) {
  if (shoal_yaml_is_null(node)) return SHOAL_OK;
  if (node->kind != SHOAL_YAML_MAPPING) {
    char what[160];
    (void)snprintf(what, sizeof what, "a mapping such as %s", such);
    return shoal_reader_expected(reader, node, what);
  }
  const shoal_key_rule *outer_rule = reader->rule;
  const shoal_yaml *outer_key = reader->key;
  for (const shoal_yaml *key = node->first; key; key = key->next->next) {
    const shoal_key_rule *rule = rules;
    while (rule->key && strcmp(rule->key, key->text) != 0) rule++;
    if (!rule->key) return unknown_key(reader, key, rules);
    reader->rule = rule;
    reader->key = key;
    SHOAL_TRY(rule->read(reader, key->next, target));
    reader->rule = outer_rule;
    reader->key = outer_key;
  }
  return SHOAL_OK;
}

shoal_status shoal_read_items(const shoal_policy_reader *reader, const shoal_yaml *node,
                              const char *such, shoal_items *items) {
  if (node->kind == SHOAL_YAML_LIST) {
    *items = (shoal_items){node->first, node->n};
    return SHOAL_OK;
  }
  if (node->kind == SHOAL_YAML_SCALAR && !shoal_yaml_is_null(node)) {
    *items = (shoal_items){node, 1};
    return SHOAL_OK;
  }
  char what[160];
  (void)snprintf(what, sizeof what, "a list such as %s", such);
  return shoal_reader_expected(reader, node, what);
}

shoal_status shoal_read_scalar(const shoal_policy_reader *reader, const shoal_yaml *node,
                               const char *what) {
  if (node->kind != SHOAL_YAML_SCALAR || (node->plain && node->text[0] == '\0'))
    return shoal_reader_expected(reader, node, what);
  return SHOAL_OK;
}

shoal_status shoal_read_words(const shoal_policy_reader *reader, const shoal_yaml *node,
                              const char *such, const shoal_word **words, size_t *n) {
  shoal_items items = {NULL, 0};
  SHOAL_TRY(shoal_read_items(reader, node, such, &items));
  shoal_word *read = shoal_arena_alloc(reader->arena, items.n, sizeof *read);
  if (!read) return shoal_fail_memory(reader->error);
  const shoal_yaml *item = items.first;
  for (size_t i = 0; i < items.n; i++, item = item->next) {
    SHOAL_TRY(shoal_read_scalar(reader, item, "a name"));
    read[i] = (shoal_word){item->text, item->mark};
  }
  *words = read;
  *n = items.n;
  return SHOAL_OK;
}

shoal_status shoal_read_path(const shoal_policy_reader *reader, const shoal_yaml *node,
                             const char **path) {
  if (node->kind != SHOAL_YAML_SCALAR || shoal_yaml_is_null(node) || node->text[0] == '\0')
    return shoal_reader_expected(reader, node, "the name of a file");
  const char *directory = reader->directory;
  *path = node->text;
  if (node->text[0] == '/' || strcmp(directory, ".") == 0 || directory[0] == '\0') return SHOAL_OK;
  size_t before = strlen(directory), after = strlen(node->text);
  bool slash = directory[before - 1] != '/';
  char *joined = shoal_arena_alloc(reader->arena, before + slash + after + 1, 1);
  if (!joined) return shoal_fail_memory(reader->error);
  memcpy(joined, directory, before);
  if (slash) joined[before] = '/';
  memcpy(joined + before + slash, node->text, after);
  joined[before + slash + after] = '\0';
  *path = joined;
  return SHOAL_OK;
}
