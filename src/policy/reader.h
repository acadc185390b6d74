/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/reader: walks a YAML mapping by a table of {key, handler}. The table is the only list of
 * the keys: what is unknown, which word is nearest and what the help says all come from it.
 */
#ifndef SHOAL_POLICY_READER_H
#define SHOAL_POLICY_READER_H

#include "policy/policy.h"
#include "policy/yaml.h"

typedef struct shoal_policy_reader shoal_policy_reader;

/* Reads one key's value into `target`, the struct that the key's mapping becomes. */
typedef shoal_status (*shoal_key_handler)(shoal_policy_reader *reader, const shoal_yaml *value,
                                          void *target);

/* A row of a table of keys, which ends with a row whose key is NULL (see keys.h). */
typedef struct shoal_key_rule {
  const char *name; /* dotted: "attributes.NAME.role" */
  const char *key;  /* its last word */
  shoal_key_handler read;
} shoal_key_rule;

enum { SHOAL_MAX_RULES = 16 }; /* keys of one mapping */

struct shoal_policy_reader {
  const char *file;
  const char *directory;
  shoal_arena *arena;
  shoal_error *error;
  const char *whole;          /* what is read: "the policy" */
  const shoal_key_rule *rule; /* the key being read; NULL at the top */
  const shoal_yaml *key;      /* where it stands */
  const char *attribute;      /* stands for NAME, or NULL */
};

/* The name of a setting in messages: "attributes.age.role". */
typedef struct shoal_subject {
  char text[320];
} shoal_subject;

shoal_subject shoal_reader_subject(const shoal_policy_reader *reader);

/* Fails with SHOAL_BAD_INPUT at a place of the file. */
shoal_status shoal_reader_fail(const shoal_policy_reader *reader, shoal_mark mark,
                               const char *format, ...) SHOAL_PRINTF(3, 4);

/* "privacy.k: expected a value, found a list", at the node. */
shoal_status shoal_reader_expected(const shoal_policy_reader *reader, const shoal_yaml *node,
                                   const char *what);

/* Reads a mapping (nothing at all is an empty one); `such` is an example for messages. */
shoal_status shoal_read_mapping(shoal_policy_reader *reader, const shoal_yaml *node,
                                const shoal_key_rule *rules, const char *such,
                                void *target) SHOAL_MUST_CHECK;

/* A list, or a single scalar that stands for a list of one. Walk n items from `first`. */
typedef struct shoal_items {
  const shoal_yaml *first;
  size_t n;
} shoal_items;

shoal_status shoal_read_items(const shoal_policy_reader *reader, const shoal_yaml *node,
                              const char *such, shoal_items *items) SHOAL_MUST_CHECK;

/* The node must be a scalar with something in it ("" in quotes will do). */
shoal_status shoal_read_scalar(const shoal_policy_reader *reader, const shoal_yaml *node,
                               const char *what) SHOAL_MUST_CHECK;

/* A name or a list of names, as words with their places. */
shoal_status shoal_read_words(const shoal_policy_reader *reader, const shoal_yaml *node,
                              const char *such, const shoal_word **words,
                              size_t *n) SHOAL_MUST_CHECK;

/* A path, relative to the policy's directory unless absolute. */
shoal_status shoal_read_path(const shoal_policy_reader *reader, const shoal_yaml *node,
                             const char **path) SHOAL_MUST_CHECK;

/* Reads the hierarchy of an attribute (or of its own, see shoal_policy_parse_hierarchy). */
shoal_status shoal_read_hierarchy(shoal_policy_reader *reader, const shoal_yaml *node,
                                  shoal_hierarchy_spec *spec) SHOAL_MUST_CHECK;

/* Reads `attributes` into *attributes, in the file's order. */
shoal_status shoal_read_attributes(shoal_policy_reader *reader, const shoal_yaml *node,
                                   shoal_attribute **attributes, size_t *n) SHOAL_MUST_CHECK;

/* Reads a whole policy over its defaults. */
shoal_status shoal_read_policy(shoal_policy_reader *reader, const shoal_yaml *root,
                               shoal_policy *policy) SHOAL_MUST_CHECK;

#endif
