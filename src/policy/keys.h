/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/keys: every key of a policy, listed once. Each list makes two tables: the rules that read
 * a mapping (SHOAL_KEY_RULE, where the handlers are), and the help (SHOAL_KEY_ENTRY, in keys.c).
 *
 *     KEY(names before it, key, handler, parameters, summary)
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
      "the table's columns and what each one is; required")                                        \
  KEY("", "unlisted", read_unlisted, "drop|keep",                                                  \
      "what happens to columns not named here; an error unless given")                             \
  KEY("", "privacy", read_privacy, "{...}", "what the release must satisfy")                       \
  KEY("", "method", read_method, "{...}", "how the release is made")

#define SHOAL_DATA_KEYS(KEY)                                                                       \
  KEY("data.", "delimiter", read_delimiter, "C|tab|comma|semicolon|pipe",                          \
      "one byte between cells; found by itself unless given")                                      \
  KEY("data.", "missing", read_missing, "[TEXT, ...]",                                             \
      "cells that mean a missing value; [\"\"] unless given, [] for none")

#define SHOAL_ATTRIBUTE_KEYS(KEY)                                                                  \
  KEY("attributes.NAME.", "role", read_role, "identifier|quasi|sensitive|keep",                    \
      "never released, generalized, protected, or released as it is; required")                    \
  KEY("attributes.NAME.", "type", read_type, "text|number", "text unless given")                   \
  KEY("attributes.NAME.", "hierarchy", read_hierarchy, "{KIND: ...}",                              \
      "how values become coarser: exactly one of the kinds below")                                 \
  KEY("attributes.NAME.", "protect", read_protect, "[LABEL, ...]",                                 \
      "nodes of a sensitive attribute's hierarchy to tell apart; each leaf unless given")          \
  KEY("attributes.NAME.", "categories", read_categories, "[[VALUE, ...], ...]|{file: FILE}",       \
      "categories of a sensitive attribute, most sensitive first")                                 \
  KEY("attributes.NAME.", "snap", read_snap, "NUMBER",                                             \
      "local recoding: ends of a number's intervals go to multiples of this; none unless given")   \
  KEY("attributes.NAME.", "recode", read_recode, "interval|hierarchy",                             \
      "local recoding: a number as its class's smallest interval, unless given, or as a label")    \
  KEY("attributes.NAME.", "anonymity", read_anonymity, "0..1",                                     \
      "datafly: 0 asks nothing of the attribute alone, 1 its top; 0 unless given")                 \
  KEY("attributes.NAME.", "profile", read_profile, "0..1",                                         \
      "datafly: how likely the recipient can link by it; 1 unless given")                          \
  KEY("attributes.NAME.", "sensitivity", read_sensitivity, "0..3",                                 \
      "mu-argus: 3 most identifying, 2 more identifying, 1 identifying, 0 not")

#define SHOAL_HIERARCHY_KEYS(KEY)                                                                  \
  KEY("attributes.NAME.hierarchy.", "file", read_file, "FILE",                                     \
      "CSV rows value;level1;...;top, relative to the policy")                                     \
  KEY("attributes.NAME.hierarchy.", "tree", read_tree, "{LABEL: [VALUE, ...], ...}",               \
      "inline: nested labels down to the values; its top is *")                                    \
  KEY("attributes.NAME.hierarchy.", "intervals", read_intervals, "[WIDTH, ...]",                   \
      "a level for each width, each a multiple of the one before")                                 \
  KEY("attributes.NAME.hierarchy.", "origin", read_origin, "NUMBER",                               \
      "with intervals: where one begins; 0 unless given")                                          \
  KEY("attributes.NAME.hierarchy.", "cuts", read_cuts, "[[BOUND, ...], ...]",                      \
      "a level for each list of bounds, each list taken from the one before")                      \
  KEY("attributes.NAME.hierarchy.", "mask", read_mask, "right|left",                               \
      "a level for each character hidden, from that side")                                         \
  KEY("attributes.NAME.hierarchy.", "char", read_char, "C",                                        \
      "with mask: what hides a character; * unless given")                                         \
  KEY("attributes.NAME.hierarchy.", "date", read_date, "[day, month, year, 5-years, decade]",      \
      "a level for each unit; some of these, in this order")                                       \
  KEY("attributes.NAME.hierarchy.", "format", read_format, "FORMAT",                               \
      "with date: YYYY or YY, MM and DD, each once; YYYY-MM-DD unless given")                      \
  KEY("attributes.NAME.hierarchy.", "top", read_top, "true", "one level: *")

#define SHOAL_CATEGORY_KEYS(KEY)                                                                   \
  KEY("attributes.NAME.categories.", "file", read_category_file, "FILE",                           \
      "CSV rows value;category, relative to the policy")

#define SHOAL_PRIVACY_KEYS(KEY)                                                                    \
  KEY("privacy.", "k", read_k, "N", "rows that every class must have; 1 unless given")             \
  KEY("privacy.", "p", read_p, "N",                                                                \
      "distinct values of every sensitive attribute that every class must have")                   \
  KEY("privacy.", "models", read_models, "[MODEL|{MODEL: {PARAMETER: VALUE, ...}}, ...]",          \
      "more models; all must hold together")

#define SHOAL_METHOD_KEYS(KEY)                                                                     \
  KEY("method.", "algorithm", read_algorithm, "NAME", "how to search; auto unless given")          \
  KEY("method.", "max-suppression", read_max_suppression, "N|N%",                                  \
      "rows that may be suppressed; 0 unless given")                                               \
  KEY("method.", "suppressed", read_suppressed, "remove|blank",                                    \
      "what becomes of suppressed rows; remove unless given")                                      \
  KEY("method.", "prefer", read_prefer, "[NAME, ...]",                                             \
      "how to choose among minimal nodes: preferences or attributes, first things first")          \
  KEY("method.", "objective", read_objective, "NAME", "what optimal and flock minimize")           \
  KEY("method.", "effort", read_effort, "1..1000",                                                 \
      "flock, and theta that starts from it: multiplies the search budget (default: 1)")        \
  KEY("method.", "cuts", read_cuts, "strict|relaxed",                                              \
      "mondrian: whether rows of one value stay together; strict, they do, unless given")          \
  KEY("method.", "start", read_start, "flock|sorted",                                              \
      "theta: its first classes: flock's (unless given), or sorted rows in runs of k")             \
  KEY("method.", "satisfies", read_satisfies, "classes|matrix",                                    \
      "how a node is judged: by its classes, or (k alone, small tables) by distance vectors")      \
  KEY("method.", "slack", read_slack, "N",                                                         \
      "full-domain: a node N steps above a minimal one, against attacks on minimality")            \
  KEY("method.", "noise", read_noise, "refuse|N|N%",                                               \
      "theta only: rows that may be added; refuse unless given")                                   \
  KEY("method.", "weights", read_weights, "{NAME: NUMBER, ...}|inverse",                           \
      "how much each attribute counts; 1 unless given")                                            \
  KEY("method.", "formulas", read_formulas, "keep|quote",                                          \
      "cells that a spreadsheet would run: kept, unless given, or with an apostrophe before them") \
  KEY("method.", "seed", read_seed, "N", "the same seed gives the same bytes")

#endif
