/* SPDX-License-Identifier: Apache-2.0 */
/* policy/setting: see setting.h. */
#include "policy/setting.h"

#include <string.h>

#include "policy/words.h"

#define FAIL(setting, ...)                                                                         \
  shoal_fail_at((setting)->error, SHOAL_BAD_INPUT, &(setting)->place, __VA_ARGS__)

shoal_status shoal_setting_from(const shoal_policy_reader *reader, const shoal_yaml *node,
                                const char *what, shoal_setting *setting) {
  if (node->kind != SHOAL_YAML_SCALAR || shoal_yaml_is_null(node))
    return shoal_reader_expected(reader, node, what);
  *setting =
      (shoal_setting){.place = {.file = reader->file, .line = node->mark.line, .at = node->mark.at},
                      .name = shoal_reader_subject(reader),
                      .text = node->text,
                      .error = reader->error};
  return SHOAL_OK;
}

shoal_status shoal_setting_expected(const shoal_setting *setting, const char *what) {
  return FAIL(setting, "%s: expected %s, found '%s'", setting->name.text, what,
              shoal_quote(setting->text).text);
}

shoal_status shoal_setting_whole(const shoal_setting *setting, uint64_t least, uint64_t *number) {
  bool negative = setting->text[0] == '-';
  const char *digits = setting->text + negative;
  uint64_t value = 0;
  bool fits = true;
  if (strspn(digits, "0123456789") != strlen(digits) || !*digits)
    return shoal_setting_expected(setting, "a whole number");
  for (; *digits; digits++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(*digits - '0'), &value))
      fits = false;
  if (negative || (fits && value < least))
    return FAIL(setting, "%s must be at least %llu", setting->name.text, (unsigned long long)least);
  if (!fits)
    return FAIL(setting, "%s must be at most %llu", setting->name.text,
                (unsigned long long)UINT64_MAX);
  *number = value;
  return SHOAL_OK;
}

shoal_status shoal_setting_effort(const shoal_setting *setting, uint32_t *effort) {
  const char *digit = setting->text;
  uint32_t value = 0;
  while (*digit >= '0' && *digit <= '9' && value <= SHOAL_MOST_EFFORT)
    value = 10 * value + (uint32_t)(*digit++ - '0');
  if (*digit || value < 1 || value > SHOAL_MOST_EFFORT)
    return shoal_setting_expected(setting, SHOAL_EFFORT_FORMS);
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
  default: return shoal_setting_expected(setting, what);
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
  return FAIL(setting, "%s: unknown word '%s'%s", setting->name.text,
              shoal_quote(setting->text).text, shoal_advise(setting->text, words).text);
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

shoal_status shoal_setting_suppressed(const shoal_setting *setting, bool *blank) {
  static const char *const words[] = {"remove", "blank", NULL};
  size_t choice = 0;
  SHOAL_TRY(shoal_setting_choice(setting, words, &choice));
  *blank = choice == 1;
  return SHOAL_OK;
}

shoal_status shoal_setting_formulas(const shoal_setting *setting, bool *quote) {
  static const char *const words[] = {"keep", "quote", NULL};
  size_t choice = 0;
  SHOAL_TRY(shoal_setting_choice(setting, words, &choice));
  *quote = choice == 1;
  return SHOAL_OK;
}
