/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/canonical: a policy as YAML that may be published: the effective settings, overrides
 * applied, one order and one spelling, without what equals a default. Never in it: comments, the
 * seed, keys and other secrets, directories of files. Reading the text gives the same policy if
 * every label is allowed and the files are beside it.
 *
 *     keys.h  ->  one writer per key, named put_ and the key's reader: a key without one does not
 *                 compile (canonical.c: sections; canonical_attributes.c: attributes)
 */
#ifndef SHOAL_POLICY_CANONICAL_H
#define SHOAL_POLICY_CANONICAL_H

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

/* A key and the function that writes its value; it writes nothing for a default. */
typedef struct shoal_key_writer {
  const char *key;
  void (*put)(shoal_canonical *out, const char *key);
} shoal_key_writer;

#define SHOAL_KEY_WRITER(before, key, handler, parameters, summary) {key, put_##handler},

/* Writes the keys of one mapping; ended by a row without a key. */
void shoal_canonical_put(shoal_canonical *out, const shoal_key_writer *writers);
/* Begins a key of the mapping. */
void shoal_canonical_key(shoal_canonical *out, const char *key);
void shoal_canonical_word(shoal_canonical *out, const char *key, const char *word);
void shoal_canonical_decimal(shoal_canonical *out, const char *key, shoal_decimal number);
/* A number without a key, in its shortest spelling. */
void shoal_canonical_number(shoal_text *text, shoal_decimal number);

/* Writes one attribute: its name, its keys, and the comment. */
void shoal_canonical_attribute(shoal_canonical *out, const shoal_attribute *attribute);

#endif
