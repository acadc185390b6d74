/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/reader: reads YAML nodes into the structs of policy.h. A mapping has a table of its keys
 * (keys.h), the only list of them: unknown keys, suggestions and help come from it. Settings are
 * scalars with a meaning, read alike from the policy and from the command line.
 */
#pragma once

#include "policy/policy.h"
#include "policy/yaml.h"

typedef struct shoal_policy_reader shoal_policy_reader;

/* A row of a table of keys, which ends with a row whose key is NULL (see keys.h). */
typedef struct shoal_key_rule {
  const char *name; /* dotted: "attributes.NAME.role" */
  const char *key;  /* its last word */
} shoal_key_rule;

/* Reads the value of key `id`, the index of its rule, into the struct that the mapping becomes. */
typedef shoal_status shoal_read_key(shoal_policy_reader *reader, unsigned id,
                                    const shoal_yaml *value, void *target);

enum { SHOAL_MAX_RULES = 24 }; /* keys of one mapping */

struct shoal_policy_reader {
  const char *file;
  const char *directory;
  shoal_arena *arena;
  shoal_error *error;
  const char *whole;          /* what is read: "the policy" */
  const shoal_key_rule *rule; /* the key being read; NULL at the top */
  const shoal_yaml *key;      /* its node */
  const char *attribute;      /* replaces NAME in messages, or NULL */
  const char *option;         /* of the command line, instead of the rule; NULL: a file is read */
};

/* The name of a setting in messages: "attributes.age.role". */
typedef struct shoal_subject {
  char text[320];
} shoal_subject;

shoal_subject shoal_reader_subject(const shoal_policy_reader *reader);

/* Fails with SHOAL_BAD_INPUT at a line and column of the file. */
shoal_status shoal_reader_fail(const shoal_policy_reader *reader, shoal_mark mark,
                               const char *format, ...) SHOAL_PRINTF(3, 4);

/* "privacy.k: expected a value, found a list", at the node. */
shoal_status shoal_reader_expected(const shoal_policy_reader *reader, const shoal_yaml *node,
                                   const char *what);

/* Reads a mapping; null is an empty one. `such` is an example for messages. */
shoal_status shoal_read_mapping(shoal_policy_reader *reader, const shoal_yaml *node,
                                const shoal_key_rule *rules, shoal_read_key *read, const char *such,
                                void *target) SHOAL_MUST_CHECK;

/* A list, or a scalar as a list of one. Read n items from `first`. */
typedef struct shoal_items {
  const shoal_yaml *first;
  size_t n;
} shoal_items;

shoal_status shoal_read_items(const shoal_policy_reader *reader, const shoal_yaml *node,
                              const char *such, shoal_items *items) SHOAL_MUST_CHECK;

/* The node must be a scalar, and quoted if it is empty. */
shoal_status shoal_read_scalar(const shoal_policy_reader *reader, const shoal_yaml *node,
                               const char *what) SHOAL_MUST_CHECK;

/* A name or a list of names, with line and column. */
shoal_status shoal_read_words(const shoal_policy_reader *reader, const shoal_yaml *node,
                              const char *such, const shoal_word **words,
                              size_t *n) SHOAL_MUST_CHECK;

/* One of `words` (ended by NULL), as its index. */
shoal_status shoal_read_choice(const shoal_policy_reader *reader, const shoal_yaml *node,
                               const char *const *words, size_t *choice) SHOAL_MUST_CHECK;

/* One of two words; *yes: the second. */
shoal_status shoal_read_either(const shoal_policy_reader *reader, const shoal_yaml *node,
                               const char *no_word, const char *yes_word,
                               bool *yes) SHOAL_MUST_CHECK;

/* true or false. */
shoal_status shoal_read_bool(const shoal_policy_reader *reader, const shoal_yaml *node,
                             bool *value) SHOAL_MUST_CHECK;

/* A path, relative to the policy's directory unless absolute. */
shoal_status shoal_read_path(const shoal_policy_reader *reader, const shoal_yaml *node,
                             const char **path) SHOAL_MUST_CHECK;

/* ---- words in messages: those of the policy, never of the data */

enum { SHOAL_QUOTE_CHARACTERS = 60, SHOAL_ADVICE_BYTES = 640 };

/* A word for a one-line message: at most 60 characters, control bytes as \xNN. */
typedef struct shoal_quoted {
  char text[SHOAL_QUOTE_CHARACTERS * 4 + 8];
} shoal_quoted;

/* Used inside a call: printf("'%s'", shoal_quote(word).text). */
shoal_quoted shoal_quote(const char *word);

/* "; did you mean 'models'? Here one of: k, p, models", or ". Here one of: ...". */
typedef struct shoal_advice {
  char text[SHOAL_ADVICE_BYTES];
} shoal_advice;

/* Suggests the nearest of `words` (ended by NULL) and lists them all. */
shoal_advice shoal_advise(const char *word, const char *const *words);

/* ---- settings: a scalar of the policy, or the value of an option */

typedef struct shoal_setting {
  shoal_location location; /* empty for the command line */
  shoal_subject name;      /* "privacy.k" or "-k" */
  const char *text;
  shoal_error *error;
} shoal_setting;

/* The setting being read; `node` must be a scalar and not null. */
shoal_status shoal_setting_from(const shoal_policy_reader *reader, const shoal_yaml *node,
                                const char *what, shoal_setting *setting) SHOAL_MUST_CHECK;

shoal_status shoal_setting_whole(const shoal_setting *setting, uint64_t min,
                                 uint64_t *number) SHOAL_MUST_CHECK;
shoal_status shoal_setting_decimal(const shoal_setting *setting,
                                   shoal_decimal *number) SHOAL_MUST_CHECK;
/* The same, but not below zero. */
shoal_status shoal_setting_measure(const shoal_setting *setting,
                                   shoal_decimal *number) SHOAL_MUST_CHECK;
/* "10" or "1.5%"; `what` is the expected form, for messages. */
shoal_status shoal_setting_amount(const shoal_setting *setting, const char *what,
                                  shoal_amount *amount) SHOAL_MUST_CHECK;
/* The index of the text in `words`, ended by NULL. */
shoal_status shoal_setting_choice(const shoal_setting *setting, const char *const *words,
                                  size_t *choice) SHOAL_MUST_CHECK;
/* A one-byte delimiter, or its name. */
shoal_status shoal_setting_delimiter(const shoal_setting *setting,
                                     char *delimiter) SHOAL_MUST_CHECK;
/* The search budget's factor, 1 .. SHOAL_MAX_EFFORT. */
shoal_status shoal_setting_effort(const shoal_setting *setting, uint32_t *effort) SHOAL_MUST_CHECK;

#define SHOAL_EFFORT_FORMS "a whole number from 1 to 1000"
#define SHOAL_AMOUNT_FORMS "a number of rows such as 10, or a share such as 1%"

/* ---- sections */

/*
 * Reads the hierarchy of an attribute, or a single one (shoal_policy_parse_hierarchy). `coding`:
 * the attribute's codes so far, or NULL; with codes the kind may be absent.
 */
shoal_status shoal_read_hierarchy(shoal_policy_reader *reader, const shoal_yaml *node,
                                  const shoal_coding *coding, shoal_hierarchy_spec *spec,
                                  bool *has_kind) SHOAL_MUST_CHECK;
/* Reads top-code (or bottom-code) into `coding`. */
shoal_status shoal_read_code(shoal_policy_reader *reader, const shoal_yaml *node, bool top,
                             shoal_coding *coding) SHOAL_MUST_CHECK;

/* Reads rare into `coding`. */
shoal_status shoal_read_date_format(shoal_policy_reader *reader, const shoal_yaml *node,
                                    const char **format) SHOAL_MUST_CHECK;
shoal_status shoal_read_pivot(shoal_policy_reader *reader, const shoal_yaml *node,
                              unsigned *pivot) SHOAL_MUST_CHECK;
shoal_status shoal_read_rare(shoal_policy_reader *reader, const shoal_yaml *node,
                             shoal_coding *coding) SHOAL_MUST_CHECK;

/* Reads `attributes` into *attributes, in the file's order. */
shoal_status shoal_read_attributes(shoal_policy_reader *reader, const shoal_yaml *node,
                                   shoal_attribute **attributes, size_t *n) SHOAL_MUST_CHECK;

/* Reads a whole policy over its defaults. */
shoal_status shoal_read_policy(shoal_policy_reader *reader, const shoal_yaml *root,
                               shoal_policy *policy) SHOAL_MUST_CHECK;

/* Reads the value of an option as that of the key; the policy changes only if it is valid. */
shoal_status shoal_read_option(shoal_policy_reader *reader, const char *key, const char *value,
                               shoal_policy *policy) SHOAL_MUST_CHECK;
