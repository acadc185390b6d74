/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/yaml: YAML text -> nodes with line and column. The only user of libfyaml, of which it
 * takes events, not documents, to enforce its own limits.
 *
 * Rejected, with line and column: text that is not YAML or not UTF-8, or has a NUL; aliases and
 * tags; values of more than one line; keys that are not scalars, and duplicate keys; more than one
 * document, 64 levels or 16 MiB.
 */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "policy/policy.h"

enum { SHOAL_YAML_MAX_BYTES = 16 << 20 };

/* The message for text that is not even a mapping, such as a table. It does not quote it. */
#define SHOAL_YAML_NOT_A_POLICY                                                                    \
  "this does not look like a policy, which begins with 'shoal: 1': give the policy, not the table"

typedef enum shoal_yaml_kind {
  SHOAL_YAML_SCALAR,
  SHOAL_YAML_LIST,
  SHOAL_YAML_MAPPING
} shoal_yaml_kind;

typedef struct shoal_yaml {
  shoal_yaml_kind kind;
  bool plain; /* SCALAR: written without quotes */
  bool flow;  /* LIST, MAPPING: written with brackets */
  shoal_mark mark;
  const char *text;         /* SCALAR: without its quotes, ended by its only NUL */
  size_t n;                 /* LIST: items; MAPPING: pairs */
  struct shoal_yaml *first; /* LIST: items; MAPPING: key, value, key, value, ... */
  struct shoal_yaml *next;
} shoal_yaml;

/*
 * Parses one document. The nodes live in `arena` and do not refer to `bytes`; `file` is for
 * messages. SHOAL_BAD_INPUT for text that is rejected, SHOAL_FAILED without memory.
 */
shoal_status shoal_yaml_parse(const char *bytes, size_t size_bytes, const char *file,
                              shoal_arena *arena, const shoal_yaml **root,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* Written as nothing, ~ or null. */
bool shoal_yaml_is_null(const shoal_yaml *node);

/*
 * The first scalar, in the order of the file, whose text repeats that of another one, which is
 * written to *earlier; NULL: none. Sorts `nodes`.
 */
const shoal_yaml *shoal_yaml_repeated(const shoal_yaml **nodes, size_t n,
                                      const shoal_yaml **earlier);

/* ---- writing (yaml_write.c) */

/* Adds a string as a YAML scalar: plain if it is unambiguous, else in double quotes. */
void shoal_yaml_add_scalar(shoal_text *text, const char *string);
/* The same, always in double quotes. */
void shoal_yaml_add_quoted(shoal_text *text, const char *string);
/* A key and its colon, in a block mapping of that indent; indent NULL: in a flow mapping. */
void shoal_yaml_add_key(shoal_text *text, const char *indent, const char *string);
