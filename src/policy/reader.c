/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/reader: the functions that every section of a policy is read with. A mapping is read by a
 * table of {key, handler}; scalars become settings, which the command line uses too.
 */
#include "policy/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* ---------------------------------------------------------------- words in messages */

shoal_quoted shoal_quote(const char *word) {
  shoal_quoted quoted;
  size_t at = 0, characters = 0;
  size_t left = strlen(word);
  while (left && characters < SHOAL_QUOTE_CHARACTERS) {
    size_t size = shoal_utf8_size(word, left);
    unsigned char lead = (unsigned char)word[0];
    if (size == 0 || lead < 0x20 || lead == 0x7f) {
      size = 1;
      at += (size_t)snprintf(quoted.text + at, 5, "\\x%02x", lead);
    } else {
      memcpy(quoted.text + at, word, size);
      at += size;
    }
    word += size;
    left -= size;
    characters++;
  }
  memcpy(quoted.text + at, left ? "..." : "", left ? 4 : 1);
  return quoted;
}

/* Appends the whole text, or nothing and returns false. */
static bool append_advice(shoal_advice *advice, size_t *at, const char *before, const char *word,
                          const char *after) {
  size_t left = sizeof advice->text - *at;
  int size = snprintf(advice->text + *at, left, "%s%s%s", before, shoal_quote(word).text, after);
  if (size >= 0 && (size_t)size < left) {
    *at += (size_t)size;
    return true;
  }
  advice->text[*at] = '\0';
  return false;
}

shoal_advice shoal_advise(const char *word, const char *const *words) {
  shoal_advice advice;
  size_t at = 0;
  const char *nearest = shoal_nearest_word(word, words);
  (void)append_advice(&advice, &at, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'?" : ".");
  for (size_t i = 0; words[i]; i++) {
    const char *before = i ? ", " : " Allowed here: ";
    const size_t reserved = sizeof ", ...";
    size_t start = at;
    if (append_advice(&advice, &at, before, words[i], "") && at + reserved < sizeof advice.text)
      continue;
    memcpy(advice.text + start, ", ...", reserved);
    break;
  }
  return advice;
}

/* ---------------------------------------------------------------- errors */

shoal_subject shoal_reader_subject(const shoal_policy_reader *reader) {
  shoal_subject subject;
  static const char before[] = "attributes.NAME";
  const char *name = reader->option ? reader->option
                     : reader->rule ? reader->rule->name
                                    : reader->whole;
  const char *rest = name + sizeof before - 1;
  if (strncmp(name, before, sizeof before - 1) != 0)
    (void)snprintf(subject.text, sizeof subject.text, "%s", name);
  else if (reader->attribute)
    (void)snprintf(subject.text, sizeof subject.text, "attributes.%s%s",
                   shoal_quote(reader->attribute).text, rest);
  else /* shoal_policy_parse_hierarchy: no attribute */
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
  const shoal_location location = {.file = reader->file, .line = mark.line, .at = mark.at};
  return shoal_fail_at(reader->error, SHOAL_BAD_INPUT, &location, "%s", message);
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

/* ---------------------------------------------------------------- mappings and lists */

shoal_status shoal_read_mapping(shoal_policy_reader *reader, const shoal_yaml *node,
                                const shoal_key_rule *rules, shoal_read_key *read, const char *such,
                                void *target) {
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
    if (!rule->key) {
      const char *words[SHOAL_MAX_RULES + 1] = {NULL};
      for (size_t i = 0; i < SHOAL_MAX_RULES && rules[i].key; i++) words[i] = rules[i].key;
      /* "{role:quasi}" is one word to YAML */
      bool glued = key->plain && strchr(key->text, ':') && shoal_yaml_is_null(key->next);
      return shoal_reader_fail(
          reader, key->mark, "unknown key '%s'%s%s", shoal_quote(key->text).text,
          glued ? ": a space is needed after ':'" : "", shoal_advise(key->text, words).text);
    }
    reader->rule = rule;
    reader->key = key;
    SHOAL_TRY(read(reader, (unsigned)(rule - rules), key->next, target));
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

/* ---------------------------------------------------------------- settings */

#define FAIL(setting, ...)                                                                         \
  shoal_fail_at((setting)->error, SHOAL_BAD_INPUT, &(setting)->location, __VA_ARGS__)

shoal_status shoal_setting_from(const shoal_policy_reader *reader, const shoal_yaml *node,
                                const char *what, shoal_setting *setting) {
  if (node->kind != SHOAL_YAML_SCALAR || shoal_yaml_is_null(node))
    return shoal_reader_expected(reader, node, what);
  *setting = (shoal_setting){
      .location = {.file = reader->file, .line = node->mark.line, .at = node->mark.at},
      .name = shoal_reader_subject(reader),
      .text = node->text,
      .error = reader->error};
  return SHOAL_OK;
}

/* "NAME: expected WHAT, found 'text'". */
static shoal_status expected(const shoal_setting *setting, const char *what) {
  return FAIL(setting, "%s: expected %s, found '%s'", setting->name.text, what,
              shoal_quote(setting->text).text);
}

shoal_status shoal_setting_whole(const shoal_setting *setting, uint64_t min, uint64_t *number) {
  bool negative = setting->text[0] == '-';
  const char *digits = setting->text + negative;
  uint64_t value = 0;
  bool fits = true;
  if (strspn(digits, "0123456789") != strlen(digits) || !*digits)
    return expected(setting, "a whole number");
  for (; *digits; digits++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(*digits - '0'), &value))
      fits = false;
  if (negative || (fits && value < min))
    return FAIL(setting, "%s must be at least %llu", setting->name.text, (unsigned long long)min);
  if (!fits)
    return FAIL(setting, "%s must be at most %llu", setting->name.text,
                (unsigned long long)UINT64_MAX);
  *number = value;
  return SHOAL_OK;
}

shoal_status shoal_setting_effort(const shoal_setting *setting, uint32_t *effort) {
  const char *digit = setting->text;
  uint32_t value = 0;
  while (*digit >= '0' && *digit <= '9' && value <= SHOAL_MAX_EFFORT)
    value = 10 * value + (uint32_t)(*digit++ - '0');
  if (*digit || value < 1 || value > SHOAL_MAX_EFFORT) return expected(setting, SHOAL_EFFORT_FORMS);
  *effort = value;
  return SHOAL_OK;
}

static shoal_status parse_decimal(const shoal_setting *setting, size_t size, const char *what,
                                  shoal_decimal *number) {
  switch (shoal_decimal_parse(setting->text, size, number)) {
  case SHOAL_NUMBER_OK: return SHOAL_OK;
  case SHOAL_NUMBER_TOO_LONG:
    return FAIL(setting, "%s: more than 18 digits in '%s'", setting->name.text,
                shoal_quote(setting->text).text);
  default: return expected(setting, what);
  }
}

shoal_status shoal_setting_decimal(const shoal_setting *setting, shoal_decimal *number) {
  return parse_decimal(setting, strlen(setting->text), "a number", number);
}

shoal_status shoal_setting_measure(const shoal_setting *setting, shoal_decimal *number) {
  SHOAL_TRY(shoal_setting_decimal(setting, number));
  if (number->mantissa < 0) return FAIL(setting, "%s must not be negative", setting->name.text);
  return SHOAL_OK;
}

shoal_status shoal_setting_amount(const shoal_setting *setting, const char *what,
                                  shoal_amount *amount) {
  size_t size = strlen(setting->text);
  bool percent = size && setting->text[size - 1] == '%';
  shoal_decimal number;
  SHOAL_TRY(parse_decimal(setting, size - percent, what, &number));
  if (number.mantissa < 0) return FAIL(setting, "%s must not be negative", setting->name.text);
  if (!percent && number.scale != 0) /* 10.0 has scale 0 */
    return FAIL(setting, "%s: expected a whole number of rows, or a share such as %s%%, found '%s'",
                setting->name.text, shoal_quote(setting->text).text,
                shoal_quote(setting->text).text);
  int64_t hundred;
  if (percent && shoal_decimal_rescale((shoal_decimal){100, 0}, number.scale, &hundred) &&
      number.mantissa > hundred)
    return FAIL(setting, "%s must be at most 100%%", setting->name.text);
  *amount = (shoal_amount){percent, number};
  return SHOAL_OK;
}

shoal_status shoal_setting_choice(const shoal_setting *setting, const char *const *words,
                                  size_t *choice) {
  for (size_t i = 0; words[i]; i++) {
    if (strcmp(words[i], setting->text) != 0) continue;
    *choice = i;
    return SHOAL_OK;
  }
  return FAIL(setting, "%s: unknown value '%s'%s", setting->name.text,
              shoal_quote(setting->text).text, shoal_advise(setting->text, words).text);
}

shoal_status shoal_read_choice(const shoal_policy_reader *reader, const shoal_yaml *node,
                               const char *const *words, size_t *choice) {
  char what[80] = ""; /* "a, b or c" */
  shoal_setting setting = {.text = ""};
  for (size_t i = 0, at = 0; words[i] && at < sizeof what; i++)
    at += (size_t)snprintf(what + at, sizeof what - at, "%s%s", words[i],
                           !words[i + 1]   ? ""
                           : !words[i + 2] ? " or "
                                           : ", ");
  SHOAL_TRY(shoal_setting_from(reader, node, what, &setting));
  return shoal_setting_choice(&setting, words, choice);
}

shoal_status shoal_read_either(const shoal_policy_reader *reader, const shoal_yaml *node,
                               const char *no_word, const char *yes_word, bool *yes) {
  const char *const words[] = {no_word, yes_word, NULL};
  size_t choice = 0;
  SHOAL_TRY(shoal_read_choice(reader, node, words, &choice));
  *yes = choice == 1;
  return SHOAL_OK;
}

shoal_status shoal_read_bool(const shoal_policy_reader *reader, const shoal_yaml *node,
                             bool *value) {
  return shoal_read_either(reader, node, "false", "true", value);
}

shoal_status shoal_setting_delimiter(const shoal_setting *setting, char *delimiter) {
  static const char *const names[] = {"tab", "comma", "semicolon", "pipe", NULL};
  static const char bytes[] = "\t,;|";
  const char *text = setting->text;
  if (text[0] && (unsigned char)text[0] < 0x80 && text[1] == '\0') {
    if (strchr("\"\n\r", text[0]))
      return FAIL(setting, "%s: a quote or a line break cannot stand between cells",
                  setting->name.text);
    *delimiter = text[0];
    return SHOAL_OK;
  }
  for (size_t i = 0; names[i]; i++) {
    if (strcmp(names[i], text) != 0 && !(i == 0 && strcmp(text, "\\t") == 0)) continue;
    *delimiter = bytes[i];
    return SHOAL_OK;
  }
  return FAIL(setting, "%s: expected one character of one byte, or its name, found '%s'%s",
              setting->name.text, shoal_quote(text).text, shoal_advise(text, names).text);
}
