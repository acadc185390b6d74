/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/keys: every key of a policy, listed once. Each list becomes three tables: the rules that
 * read a mapping (SHOAL_KEY_RULE, beside the handlers), the writers of the canonical form
 * (SHOAL_KEY_WRITER of canonical.h) and the help (SHOAL_KEY_ENTRY, in api/catalog.c).
 *
 *     KEY(prefix, key, handler, parameters, summary)
 */
#ifndef SHOAL_POLICY_KEYS_H
#define SHOAL_POLICY_KEYS_H

#define SHOAL_KEY_RULE(before, key, handler, parameters, summary) {before key, key, handler},
#define SHOAL_KEY_ENTRY(before, key, handler, parameters, summary)                                 \
  {before key, parameters, summary},

#define SHOAL_TOP_KEYS(KEY)                                                                        \
  KEY("", "shoal", read_version, "1", "version of the policy language; required")                  \
  KEY("", "data", read_data, "{...}", "how the table is written")                                  \
  KEY("", "attributes", read_attributes, "{NAME: {...}, ...}",                                     \
      "the table's columns and what each one is; * in a name stands for any text; required")       \
  KEY("", "unlisted", read_unlisted, "drop|keep",                                                  \
      "columns that are not listed; default: an error")                                            \
  KEY("", "accept", read_accept, "{RISK: [NAME, ...], ...}",                                       \
      "risks that are known and accepted, by name; the report lists them as accepted")             \
  KEY("", "privacy", read_privacy, "{...}", "privacy models that the release must satisfy")        \
  KEY("", "method", read_method, "{...}", "how the release is made")

#define SHOAL_ACCEPT_KEYS(KEY)                                                                     \
  KEY("accept.", "unprotected", read_accepted, "[COLUMN, ...]",                                    \
      "sensitive columns that no model protects")                                                  \
  KEY("accept.", "kept", read_accepted, "[COLUMN, ...]",                                           \
      "kept columns that identify people, or single out many rows")                                \
  KEY("accept.", "repeats", read_accepted, "[COLUMN, ...]",                                        \
      "identifiers and pseudonyms whose values repeat: one person has several rows")               \
  KEY("accept.", "attacks", read_accepted, "[ATTACK, ...]", "simulated attacks that succeed")      \
  KEY("accept.", "single-rows", read_single_rows, "true|false",                                    \
      "single rows were suppressed; default false")

#define SHOAL_DATA_KEYS(KEY)                                                                       \
  KEY("data.", "delimiter", read_delimiter, "C|tab|comma|semicolon|pipe",                          \
      "one-byte field delimiter; default: detected")                                               \
  KEY("data.", "missing", read_missing, "[TEXT, ...]",                                             \
      "cells that mean a missing value; default [\"\"], [] for none")                              \
  KEY("data.", "fold", read_fold, "[case, space, unicode]",                                        \
      "differences of text that do not count: case, outer and repeated spaces, Unicode form")      \
  KEY("data.", "decimal", read_decimal, "\".\"|\",\"",                                             \
      "decimal mark of the table's numbers; the policy itself has points; default \".\"")          \
  KEY("data.", "thousands", read_thousands, "\",\"|\".\"|\"'\"|space",                             \
      "what separates groups of three digits in the table's numbers; default: nothing")            \
  KEY("data.", "encoding", read_encoding, "NAME",                                                  \
      "the table's encoding, such as latin1 or utf-16; a release is UTF-8; default: detected")     \
  KEY("data.", "labels", read_value_labels, "values|labels",                                       \
      "SPSS and Stata files: cells are codes (default) or, where there are some, value labels")

#define SHOAL_ATTRIBUTE_KEYS(KEY)                                                                  \
  KEY("attributes.NAME.", "role", read_role,                                                       \
      "identifier|quasi|sensitive|keep|pseudonym|person|household",                                \
      "never released, generalized, protected, released as it is or as a hash, or counted")        \
  KEY("attributes.NAME.", "decide", read_decide, "true|false",                                     \
      "true: the role is only a suggestion, and anonymize refuses until a person has decided")     \
  KEY("attributes.NAME.", "type", read_type, "text|number|date",                                   \
      "date: a day, released as YYYY-MM-DD; in local recoding an interval; default text")          \
  KEY("attributes.NAME.", "format", read_day_format, "FORMAT",                                     \
      "with type date: YYYY or YY, MM and DD, each once; a time may follow; default YYYY-MM-DD")   \
  KEY("attributes.NAME.", "pivot", read_day_pivot, "YEAR",                                         \
      "with type date and YY: the last year that it can mean; default: the current year")          \
  KEY("attributes.NAME.", "otherwise", read_otherwise, "missing",                                  \
      "cells that are not a number or date count as missing; default: they are refused")           \
  KEY("attributes.NAME.", "hierarchy", read_hierarchy, "{KIND: ...}",                              \
      "how values are generalized: exactly one of the kinds below")                                \
  KEY("attributes.NAME.", "protect", read_protect, "[LABEL, ...]",                                 \
      "labels that must stay distinguishable kinds (sensitive only); default: every value")        \
  KEY("attributes.NAME.", "categories", read_categories, "[[VALUE, ...], ...]|{file: FILE}",       \
      "categories of a sensitive attribute, most sensitive first")                                 \
  KEY("attributes.NAME.", "key", read_key, "{file: FILE}|{env: NAME}",                             \
      "pseudonyms: their key, of at least 16 bytes; never published")                              \
  KEY("attributes.NAME.", "person", read_person, "true|false",                                     \
      "pseudonyms: true counts people by it, as role person does; default false")                  \
  KEY("attributes.NAME.", "top-code", read_top_code, "NUMBER",                                     \
      "numbers from this one on are released as >=NUMBER; mandatory, in every release")            \
  KEY("attributes.NAME.", "bottom-code", read_bottom_code, "NUMBER",                               \
      "numbers up to this one are released as <=NUMBER; mandatory, in every release")              \
  KEY("attributes.NAME.", "rare", read_rare, "N",                                                  \
      "texts of fewer than N rows are released as (rare); mandatory, in every release")            \
  KEY("attributes.NAME.", "min-level", read_min_level, "LEVEL",                                    \
      "quasi: labels are of this level of the hierarchy or above; default 0")                      \
  KEY("attributes.NAME.", "max-level", read_max_level, "LEVEL",                                    \
      "quasi, full-domain: labels are of this level or below; default: the top")                   \
  KEY("attributes.NAME.", "snap", read_snap, "NUMBER",                                             \
      "local recoding: widens a number's intervals to multiples of this; default: none")           \
  KEY("attributes.NAME.", "recode", read_recode, "interval|hierarchy",                             \
      "local recoding: numbers and dates as smallest intervals (default) or as labels")            \
  KEY("attributes.NAME.", "anonymity", read_anonymity, "0..1",                                     \
      "only for datafly, rarely needed: 0 requires nothing of it alone, 1 its top; default 0")     \
  KEY("attributes.NAME.", "profile", read_profile, "0..1",                                         \
      "only for datafly, rarely needed: how likely the recipient can link by it; default 1")       \
  KEY("attributes.NAME.", "sensitivity", read_sensitivity, "0..3",                                 \
      "mu-argus: 3 most identifying, 2 more identifying, 1 identifying, 0 not")

#define SHOAL_HIERARCHY_KEYS(KEY)                                                                  \
  KEY("attributes.NAME.hierarchy.", "file", read_file, "FILE",                                     \
      "CSV rows value;level1;...;top, relative to the policy")                                     \
  KEY("attributes.NAME.hierarchy.", "tree", read_tree, "{LABEL: [VALUE, ...], ...}",               \
      "inline: nested labels down to the values; its top is *")                                    \
  KEY("attributes.NAME.hierarchy.", "levels", read_levels, "[[VALUE, LABEL, ..., TOP], ...]",      \
      "inline: the rows of such a file, for policies made by programs")                            \
  KEY("attributes.NAME.hierarchy.", "intervals", read_intervals, "[WIDTH, ...]|auto",              \
      "a level for each width, each a multiple of the one before; auto: round widths that fit")    \
  KEY("attributes.NAME.hierarchy.", "round", read_round, "WIDTH|[WIDTH, ...]",                     \
      "numbers rounded to multiples of this; a level for each width")                              \
  KEY("attributes.NAME.hierarchy.", "origin", read_origin, "NUMBER",                               \
      "with intervals: a bound of one of them; default 0")                                         \
  KEY("attributes.NAME.hierarchy.", "cuts", read_cuts, "[[BOUND, ...], ...]",                      \
      "a level for each list of bounds, each list a part of the one before: [[18, 40, 65], [40]]") \
  KEY("attributes.NAME.hierarchy.", "mask", read_mask, "right|left|code",                          \
      "a level for each masked character, from that side; code: first what follows the dot")       \
  KEY("attributes.NAME.hierarchy.", "char", read_char, "C",                                        \
      "with mask: replaces a character; default *")                                                \
  KEY("attributes.NAME.hierarchy.", "date", read_date, "[day, month, year, 5-years, decade]",      \
      "a level for each unit; some of these, in this order")                                       \
  KEY("attributes.NAME.hierarchy.", "format", read_format, "FORMAT",                               \
      "with date: YYYY or YY, MM and DD, each once; a time may follow; default YYYY-MM-DD")        \
  KEY("attributes.NAME.hierarchy.", "pivot", read_pivot, "YEAR",                                   \
      "with YY: the last year that it can mean; default: the current year")                        \
  KEY("attributes.NAME.hierarchy.", "sets", read_sets, "true",                                     \
      "local recoding: the values of the class, {a|b}; the default for text")                      \
  KEY("attributes.NAME.hierarchy.", "top", read_top, "true",                                       \
      "one level, *: keeps or hides the whole column")                                             \
  KEY("attributes.NAME.hierarchy.", "top-code", read_top_beside, "NUMBER",                         \
      "beside any kind: the same as the attribute's top-code")                                     \
  KEY("attributes.NAME.hierarchy.", "bottom-code", read_bottom_beside, "NUMBER",                   \
      "beside any kind: the same as the attribute's bottom-code")                                  \
  KEY("attributes.NAME.hierarchy.", "rare", read_rare_beside, "N",                                 \
      "beside any kind: the same as the attribute's rare")

#define SHOAL_CATEGORY_KEYS(KEY)                                                                   \
  KEY("attributes.NAME.categories.", "file", read_category_file, "FILE",                           \
      "CSV rows value;category, relative to the policy")

/* No writers: the canonical form has no key. */
#define SHOAL_PSEUDONYM_KEYS(KEY)                                                                  \
  KEY("attributes.NAME.key.", "file", read_key_file, "FILE",                                       \
      "file with the key, relative to the policy; only its owner may have access to it")           \
  KEY("attributes.NAME.key.", "env", read_key_env, "NAME",                                         \
      "environment variable with the key, instead of a file")                                      \
  KEY("attributes.NAME.key.", "context", read_key_context, "TEXT",                                 \
      "releases with the same key and context have the same pseudonyms; default: random")

#define SHOAL_PRIVACY_KEYS(KEY)                                                                    \
  KEY("privacy.", "k", read_k, "N",                                                                \
      "minimum rows of every class, or people if an attribute has role person; default 1")         \
  KEY("privacy.", "p", read_p, "N",                                                                \
      "minimum distinct values of every sensitive attribute in every class")                       \
  KEY("privacy.", "households", read_households, "N",                                              \
      "minimum distinct households (role: household) of every class")                              \
  KEY("privacy.", "models", read_models, "[MODEL|{MODEL: {PARAMETER: VALUE, ...}}, ...]",          \
      "more models; all must hold. Each may add over: [NAME, ...] or known: N")

#define SHOAL_METHOD_KEYS(KEY)                                                                     \
  KEY("method.", "algorithm", read_algorithm, "NAME", "search algorithm; default auto")            \
  KEY("method.", "labels", read_labels, "any|uniform",                                             \
      "uniform: one label per value everywhere (full-domain); default any")                        \
  KEY("method.", "max-suppression", read_max_suppression, "N|N%",                                  \
      "maximum suppressed rows; a share is rounded down: 1% of 60 rows is 0; default 0")           \
  KEY("method.", "suppressed", read_suppressed, "remove|blank",                                    \
      "how suppressed rows are written; default remove")                                           \
  KEY("method.", "prefer", read_prefer, "[NAME, ...]",                                             \
      "how to choose among minimal nodes: preferences or attributes, most important first")        \
  KEY("method.", "objective", read_objective, "NAME", "what optimal and flock minimize")           \
  KEY("method.", "effort", read_effort, "1..1000",                                                 \
      "flock, and theta that starts from it: multiplies the search budget (default: 1)")           \
  KEY("method.", "cuts", read_mondrian_cuts, "strict|relaxed",                                     \
      "mondrian: strict keeps rows of one value together; default strict")                         \
  KEY("method.", "start", read_start, "flock|sorted",                                              \
      "theta: its first classes: flock's (default), or sorted rows in runs of k")                  \
  KEY("method.", "satisfies", read_satisfies, "classes|matrix",                                    \
      "for experts, leave the default classes; matrix (k alone, small tables): distance vectors")  \
  KEY("method.", "slack", read_slack, "N",                                                         \
      "full-domain: a node N steps above a minimal one, against attacks on minimality")            \
  KEY("method.", "noise", read_noise, "refuse|N|N%", "theta: maximum noise rows; default refuse")  \
  KEY("method.", "weights", read_weights, "{NAME: NUMBER, ...}|inverse",                           \
      "weight of each attribute; default 1")                                                       \
  KEY("method.", "formulas", read_formulas, "keep|quote",                                          \
      "cells that a spreadsheet would run: keep (default), or quote with an apostrophe")           \
  KEY("method.", "seed", read_seed, "N",                                                           \
      "the same seed gives the same bytes; keep it secret: prefer --seed")

#endif
