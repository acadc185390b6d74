/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/keys: every key of a policy, listed once. Each list becomes the rules of a mapping
 * (SHOAL_KEY_RULE), numbers for its keys (SHOAL_KEY_ID), its names in the canonical form
 * (SHOAL_KEY_NAME) and the help (SHOAL_KEY_ENTRY, in api/catalog.c). One function reads the keys of
 * a mapping and one writes them, each a switch over the numbers.
 *
 *     KEY(prefix, key, id, parameters, summary)
 */
#pragma once

#define SHOAL_KEY_RULE(before, key, id, parameters, summary) {before key, key},
#define SHOAL_KEY_ENTRY(before, key, id, parameters, summary) {before key, parameters, summary},
#define SHOAL_KEY_NAME(before, key, id, parameters, summary) key,
#define SHOAL_KEY_ID(before, key, id, parameters, summary) SHOAL_KEY_##id,

#define SHOAL_TOP_KEYS(KEY)                                                                        \
  KEY("", "shoal", VERSION, "1", "version of the policy language; required")                       \
  KEY("", "data", DATA, "{...}", "how the table is written")                                       \
  KEY("", "attributes", ATTRIBUTES, "{NAME: {...}, ...}",                                          \
      "the table's columns and what each one is; * in a name stands for any text; required")       \
  KEY("", "unlisted", UNLISTED, "drop|keep", "columns that are not listed; default: an error")     \
  KEY("", "accept", ACCEPT, "{RISK: [NAME, ...], ...}",                                            \
      "risks that are known and accepted, by name; the report lists them as accepted")             \
  KEY("", "privacy", PRIVACY, "{...}", "privacy models that the release must satisfy")             \
  KEY("", "method", METHOD, "{...}", "how the release is made")

#define SHOAL_ACCEPT_KEYS(KEY)                                                                     \
  KEY("accept.", "unprotected", ACCEPT_UNPROTECTED, "[COLUMN, ...]",                               \
      "sensitive columns that no model protects")                                                  \
  KEY("accept.", "kept", ACCEPT_KEPT, "[COLUMN, ...]",                                             \
      "kept columns that identify people, or single out many rows")                                \
  KEY("accept.", "repeats", ACCEPT_REPEATS, "[COLUMN, ...]",                                       \
      "identifiers and pseudonyms whose values repeat: one person has several rows")               \
  KEY("accept.", "attacks", ACCEPT_ATTACKS, "[ATTACK, ...]", "simulated attacks that succeed")     \
  KEY("accept.", "single-rows", ACCEPT_SINGLE_ROWS, "true|false",                                  \
      "single rows were suppressed; default false")

#define SHOAL_DATA_KEYS(KEY)                                                                       \
  KEY("data.", "delimiter", DELIMITER, "C|tab|comma|semicolon|pipe",                               \
      "one-byte field delimiter; default: detected")                                               \
  KEY("data.", "missing", MISSING, "[TEXT, ...]",                                                  \
      "cells that mean a missing value; default [\"\"], [] for none")                              \
  KEY("data.", "fold", FOLD, "[case, space, unicode]",                                             \
      "differences of text that do not count: case, outer and repeated spaces, Unicode form")      \
  KEY("data.", "decimal", DECIMAL, "\".\"|\",\"",                                                  \
      "decimal mark of the table's numbers; the policy itself has points; default \".\"")          \
  KEY("data.", "thousands", THOUSANDS, "\",\"|\".\"|\"'\"|space",                                  \
      "what separates groups of three digits in the table's numbers; default: nothing")            \
  KEY("data.", "encoding", ENCODING, "NAME",                                                       \
      "the table's encoding, such as latin1 or utf-16; a release is UTF-8; default: detected")     \
  KEY("data.", "labels", VALUE_LABELS, "values|labels",                                            \
      "SPSS and Stata files: cells are codes (default) or, where there are some, value labels")

#define SHOAL_ATTRIBUTE_KEYS(KEY)                                                                  \
  KEY("attributes.NAME.", "role", ROLE,                                                            \
      "identifier|quasi|sensitive|keep|pseudonym|person|household",                                \
      "never released, generalized, protected, released as it is or as a hash, or counted")        \
  KEY("attributes.NAME.", "decide", DECIDE, "true|false",                                          \
      "true: the role is only a suggestion, and anonymize refuses until a person has decided")     \
  KEY("attributes.NAME.", "type", TYPE, "text|number|date",                                        \
      "date: a day, released as YYYY-MM-DD; in local recoding an interval; default text")          \
  KEY("attributes.NAME.", "format", DAY_FORMAT, "FORMAT",                                          \
      "with type date: YYYY or YY, MM and DD, each once; a time may follow; default YYYY-MM-DD")   \
  KEY("attributes.NAME.", "pivot", DAY_PIVOT, "YEAR",                                              \
      "with type date and YY: the last year that it can mean; default: the current year")          \
  KEY("attributes.NAME.", "otherwise", OTHERWISE, "missing",                                       \
      "cells that are not a number or date count as missing; default: they are refused")           \
  KEY("attributes.NAME.", "hierarchy", HIERARCHY, "{KIND: ...}",                                   \
      "how values are generalized: exactly one of the kinds below")                                \
  KEY("attributes.NAME.", "protect", PROTECT, "[LABEL, ...]",                                      \
      "labels that must stay distinguishable kinds (sensitive only); default: every value")        \
  KEY("attributes.NAME.", "categories", CATEGORIES, "[[VALUE, ...], ...]|{file: FILE}",            \
      "categories of a sensitive attribute, most sensitive first")                                 \
  KEY("attributes.NAME.", "key", PSEUDONYM, "{file: FILE}|{env: NAME}",                            \
      "pseudonyms: their key, of at least 16 bytes; never published")                              \
  KEY("attributes.NAME.", "person", PERSON, "true|false",                                          \
      "pseudonyms: true counts people by it, as role person does; default false")                  \
  KEY("attributes.NAME.", "top-code", TOP_CODE, "NUMBER",                                          \
      "numbers from this one on are released as >=NUMBER; mandatory, in every release")            \
  KEY("attributes.NAME.", "bottom-code", BOTTOM_CODE, "NUMBER",                                    \
      "numbers up to this one are released as <=NUMBER; mandatory, in every release")              \
  KEY("attributes.NAME.", "rare", RARE, "N",                                                       \
      "texts of fewer than N rows are released as (rare); mandatory, in every release")            \
  KEY("attributes.NAME.", "min-level", MIN_LEVEL, "LEVEL",                                         \
      "quasi: labels are of this level of the hierarchy or above; default 0")                      \
  KEY("attributes.NAME.", "max-level", MAX_LEVEL, "LEVEL",                                         \
      "quasi, full-domain: labels are of this level or below; default: the top")                   \
  KEY("attributes.NAME.", "snap", SNAP, "NUMBER",                                                  \
      "local recoding: widens a number's intervals to multiples of this; default: none")           \
  KEY("attributes.NAME.", "recode", RECODE, "interval|hierarchy",                                  \
      "local recoding: numbers and dates as smallest intervals (default) or as labels")            \
  KEY("attributes.NAME.", "anonymity", ANONYMITY, "0..1",                                          \
      "only for datafly, rarely needed: 0 requires nothing of it alone, 1 its top; default 0")     \
  KEY("attributes.NAME.", "profile", PROFILE, "0..1",                                              \
      "only for datafly, rarely needed: how likely the recipient can link by it; default 1")       \
  KEY("attributes.NAME.", "sensitivity", SENSITIVITY, "0..3",                                      \
      "mu-argus: 3 most identifying, 2 more identifying, 1 identifying, 0 not")

#define SHOAL_HIERARCHY_KEYS(KEY)                                                                  \
  KEY("attributes.NAME.hierarchy.", "file", FILE, "FILE",                                          \
      "CSV rows value;level1;...;top, relative to the policy")                                     \
  KEY("attributes.NAME.hierarchy.", "tree", TREE, "{LABEL: [VALUE, ...], ...}",                    \
      "inline: nested labels down to the values; its top is *")                                    \
  KEY("attributes.NAME.hierarchy.", "levels", LEVELS, "[[VALUE, LABEL, ..., TOP], ...]",           \
      "inline: the rows of such a file, for policies made by programs")                            \
  KEY("attributes.NAME.hierarchy.", "intervals", INTERVALS, "[WIDTH, ...]|auto",                   \
      "a level for each width, each a multiple of the one before; auto: round widths that fit")    \
  KEY("attributes.NAME.hierarchy.", "round", ROUND, "WIDTH|[WIDTH, ...]",                          \
      "numbers rounded to multiples of this; a level for each width")                              \
  KEY("attributes.NAME.hierarchy.", "origin", ORIGIN, "NUMBER",                                    \
      "with intervals: a bound of one of them; default 0")                                         \
  KEY("attributes.NAME.hierarchy.", "cuts", CUTS, "[[BOUND, ...], ...]",                           \
      "a level for each list of bounds, each list a part of the one before: [[18, 40, 65], [40]]") \
  KEY("attributes.NAME.hierarchy.", "mask", MASK, "right|left|code",                               \
      "a level for each masked character, from that side; code: first what follows the dot")       \
  KEY("attributes.NAME.hierarchy.", "char", CHAR, "C",                                             \
      "with mask: replaces a character; default *")                                                \
  KEY("attributes.NAME.hierarchy.", "date", DATE, "[day, month, year, 5-years, decade]",           \
      "a level for each unit; some of these, in this order")                                       \
  KEY("attributes.NAME.hierarchy.", "format", FORMAT, "FORMAT",                                    \
      "with date: YYYY or YY, MM and DD, each once; a time may follow; default YYYY-MM-DD")        \
  KEY("attributes.NAME.hierarchy.", "pivot", PIVOT, "YEAR",                                        \
      "with YY: the last year that it can mean; default: the current year")                        \
  KEY("attributes.NAME.hierarchy.", "sets", SETS, "true",                                          \
      "local recoding: the values of the class, {a|b}; the default for text")                      \
  KEY("attributes.NAME.hierarchy.", "top", TOP, "true",                                            \
      "one level, *: keeps or hides the whole column")                                             \
  KEY("attributes.NAME.hierarchy.", "top-code", TOP_BESIDE, "NUMBER",                              \
      "beside any kind: the same as the attribute's top-code")                                     \
  KEY("attributes.NAME.hierarchy.", "bottom-code", BOTTOM_BESIDE, "NUMBER",                        \
      "beside any kind: the same as the attribute's bottom-code")                                  \
  KEY("attributes.NAME.hierarchy.", "rare", RARE_BESIDE, "N",                                      \
      "beside any kind: the same as the attribute's rare")

#define SHOAL_CATEGORY_KEYS(KEY)                                                                   \
  KEY("attributes.NAME.categories.", "file", CATEGORY_FILE, "FILE",                                \
      "CSV rows value;category, relative to the policy")

/* No writers: the canonical form has no key. */
#define SHOAL_PSEUDONYM_KEYS(KEY)                                                                  \
  KEY("attributes.NAME.key.", "file", KEY_FILE, "FILE",                                            \
      "file with the key, relative to the policy; only its owner may have access to it")           \
  KEY("attributes.NAME.key.", "env", KEY_ENV, "NAME",                                              \
      "environment variable with the key, instead of a file")                                      \
  KEY("attributes.NAME.key.", "context", KEY_CONTEXT, "TEXT",                                      \
      "releases with the same key and context have the same pseudonyms; default: random")

#define SHOAL_PRIVACY_KEYS(KEY)                                                                    \
  KEY("privacy.", "k", K, "N",                                                                     \
      "minimum rows of every class, or people if an attribute has role person; default 1")         \
  KEY("privacy.", "p", P, "N",                                                                     \
      "minimum distinct values of every sensitive attribute in every class")                       \
  KEY("privacy.", "households", HOUSEHOLDS, "N",                                                   \
      "minimum distinct households (role: household) of every class")                              \
  KEY("privacy.", "models", MODELS, "[MODEL|{MODEL: {PARAMETER: VALUE, ...}}, ...]",               \
      "more models; all must hold. Each may add over: [NAME, ...] or known: N")

#define SHOAL_METHOD_KEYS(KEY)                                                                     \
  KEY("method.", "algorithm", ALGORITHM, "NAME", "search algorithm; default auto")                 \
  KEY("method.", "labels", LABELS, "any|uniform",                                                  \
      "uniform: one label per value everywhere (full-domain); default any")                        \
  KEY("method.", "max-suppression", MAX_SUPPRESSION, "N|N%",                                       \
      "maximum suppressed rows; a share is rounded down: 1% of 60 rows is 0; default 0")           \
  KEY("method.", "suppressed", SUPPRESSED, "remove|blank",                                         \
      "how suppressed rows are written; default remove")                                           \
  KEY("method.", "prefer", PREFER, "[NAME, ...]",                                                  \
      "how to choose among minimal nodes: preferences or attributes, most important first")        \
  KEY("method.", "objective", OBJECTIVE, "NAME", "what optimal and flock minimize")                \
  KEY("method.", "effort", EFFORT, "1..1000",                                                      \
      "flock, and theta that starts from it: multiplies the search budget (default: 1)")           \
  KEY("method.", "cuts", MONDRIAN_CUTS, "strict|relaxed",                                          \
      "mondrian: strict keeps rows of one value together; default strict")                         \
  KEY("method.", "start", START, "flock|sorted",                                                   \
      "theta: its first classes: flock's (default), or sorted rows in runs of k")                  \
  KEY("method.", "mu-argus", MU_ARGUS, "generalize|suppress",                                      \
      "mu-argus: raise columns with rare labels first (default), or only suppress cells")          \
  KEY("method.", "satisfies", SATISFIES, "classes|matrix",                                         \
      "for experts, leave the default classes; matrix (k alone, small tables): distance vectors")  \
  KEY("method.", "slack", SLACK, "N",                                                              \
      "full-domain: a node N steps above a minimal one, against attacks on minimality")            \
  KEY("method.", "noise", NOISE, "refuse|N|N%", "theta: maximum noise rows; default refuse")       \
  KEY("method.", "weights", WEIGHTS, "{NAME: NUMBER, ...}|inverse",                                \
      "weight of each attribute; default 1")                                                       \
  KEY("method.", "formulas", FORMULAS, "keep|quote",                                               \
      "cells that a spreadsheet would run: keep (default), or quote with an apostrophe")           \
  KEY("method.", "seed", SEED, "N",                                                                \
      "the same seed gives the same bytes; keep it secret: prefer --seed")

enum shoal_top_key { SHOAL_TOP_KEYS(SHOAL_KEY_ID) };
enum shoal_accept_key { SHOAL_ACCEPT_KEYS(SHOAL_KEY_ID) };
enum shoal_data_key { SHOAL_DATA_KEYS(SHOAL_KEY_ID) };
enum shoal_attribute_key { SHOAL_ATTRIBUTE_KEYS(SHOAL_KEY_ID) };
enum shoal_hierarchy_key { SHOAL_HIERARCHY_KEYS(SHOAL_KEY_ID) };
enum shoal_category_key { SHOAL_CATEGORY_KEYS(SHOAL_KEY_ID) };
enum shoal_pseudonym_key_id { SHOAL_PSEUDONYM_KEYS(SHOAL_KEY_ID) };
enum shoal_privacy_key { SHOAL_PRIVACY_KEYS(SHOAL_KEY_ID) };
enum shoal_method_key { SHOAL_METHOD_KEYS(SHOAL_KEY_ID) };
