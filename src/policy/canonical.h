/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/canonical: a policy as YAML that may be published: the effective settings, overrides
 * applied, one order and one spelling, without what equals a default. Never in it: comments, the
 * seed, keys and other secrets, directories of files. Reading the text gives the same policy if
 * every label is allowed and the files are beside it.
 *
 *     keys.h  ->  one switch over the keys of each mapping: a key without a case does not compile
 *                 (canonical.c: sections; canonical_attributes.c: attributes)
 */
#pragma once

#include "base/text.h"
#include "policy/policy.h"

/* Labels of trees, categories and `protect` that may be written. */
typedef struct shoal_public_labels {
  bool (*has)(void *user, const char *attribute, const char *label); /* NULL: all */
  void *user;
} shoal_public_labels;

/*
 * Appends the policy. Labels that are not public are left out: nodes below them move up, and the
 * line ends with a comment that says so.
 */
void shoal_policy_write(const shoal_policy *policy, const shoal_public_labels *labels,
                        shoal_text *text);

/* ---- for the files of this directory */

typedef struct shoal_canonical {
  const shoal_policy *policy;
  const shoal_public_labels *labels;
  shoal_text *text;
  const shoal_attribute *attribute; /* being written */
  const char *indent;               /* of a block mapping; NULL: a flow mapping */
  size_t n_keys;                    /* of this mapping, so far */
  bool incomplete;                  /* a label was left out of this attribute */
} shoal_canonical;

/* Writes one key of a mapping and its value, or nothing if it has its default. */
typedef void shoal_put_key(shoal_canonical *out, unsigned id, const char *key);

/* Writes the keys of one mapping, ended by NULL; a key's id is its index. */
void shoal_canonical_put(shoal_canonical *out, const char *const *keys, shoal_put_key *put);
/* Begins a key of the mapping. */
void shoal_canonical_key(shoal_canonical *out, const char *key);
/* Each writes a key and its value if `given`. */
void shoal_canonical_true(shoal_canonical *out, const char *key, bool given);
void shoal_canonical_word(shoal_canonical *out, const char *key, bool given, const char *word);
void shoal_canonical_count(shoal_canonical *out, const char *key, bool given, uint64_t number);
void shoal_canonical_decimal(shoal_canonical *out, const char *key, bool given,
                             shoal_decimal number);
/* A number without a key, in its shortest spelling. */
void shoal_canonical_number(shoal_text *text, shoal_decimal number);

/* Writes one attribute: its name, its keys, and the comment. */
void shoal_canonical_attribute(shoal_canonical *out, const shoal_attribute *attribute);
