/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small problem with everything in it: a table, files beside it, releases of it, and policies of
 * every kind. For tests that let every job run while the machine fails.
 */
#ifndef SHOAL_TESTS_LOWMEM_PROBLEM_H
#define SHOAL_TESTS_LOWMEM_PROBLEM_H

/* ---------------------------------------------------------------- the files */

static const char DATA[] =
    "name,age,town,zip,born,ill,ward,guard\n"
    "n1,31,a,4711,1991-05-06,flu,=x,viral\nn2,32,a,4712,1991-05-07,hiv,\"y,\",viral\n"
    "n3,33,a,4711,1991-06-06,lung,z,*\nn4,34,a,4721,1992-05-06,colon,x,*\n"
    "n5,41,b,4722,1981-05-06,flu,x,lung\nn6,42,b,4722,1981-05-06,hiv,y,hiv\n"
    "n7,43,b,4712,1982-05-06,lung,z,colon\nn8,44,b,,1983-05-06,colon,,*\n"
    "n9,51,a,4711,1971-05-06,flu,x,*\nn10,52,c,4712,1972-05-06,hiv,y,*\n"
    "n11,53,c,4711,,lung,z,*\nn12,54,a,4711,1973-05-06,colon,x,*\nn13,55,b,4711,1974-05-06,,,\n"
    "n14,31.0,a,4711,1991-05-06,flu,x,viral\nn15,41,b,4722,1981-05-06,lung,X,lung\n";

static const struct {
  const char *name, *text;
} files[] = {
    {"data.csv", DATA},
    {"town.csv", "a;west;*\nb;west;*\nc;east;*\nd;east;*\n"},
    {"ill.csv", "flu;light\nhiv;grave\nlung;grave\ncolon;some\n"},
    {"people.csv", "name,age,town,zip,born\nn1,31,a,4711,1991-05-06\nn2,32,a,4712,1991-05-07\n"
                   "x,77,d,9999,1950-01-01\nn15,41,b,4722,1981-05-06\n"},
    {"masked.csv", "age,town,zip,born,ill,ward\n[30-39],*,47**,*,flu,x\n[30-39],*,47**,*,hiv,y\n"
                   "[30-39],*,47**,*,lung,z\n[30-39],*,47**,*,colon,x\n[40-49],*,*,*,flu,x\n"
                   "[40-49],*,*,*,lung,x\n[40-49],*,*,*,hiv,x\n[50-59],*,*,*,hiv,x\n"
                   "[50-59],*,*,*,lung,x\n[50-59],*,*,*,flu,x\n"},
    {"older.csv", "age,town,zip,born,ill,ward\n[30-39],*,47**,*,flu,x\n[30-39],*,47**,*,flu,y\n"
                  "[40-49],west,*,*,hiv,x\n[40-49],west,*,*,lung,x\n[50-59],*,*,*,hiv,x\n"},
};

/* ---------------------------------------------------------------- the policies */

#define BEGIN                                                                                      \
  "shoal: 1\ndata: {delimiter: comma, missing: [\"\", NA]}\nattributes:\n  name: {role: "          \
  "identifier}\n"
#define PLAIN                                                                                      \
  "  age: {role: quasi, type: number, hierarchy: {intervals: [10, 20]}}\n"                         \
  "  town: {role: quasi, hierarchy: {file: town.csv}}\n"                                           \
  "  zip: {role: quasi, hierarchy: {mask: right}}\n"                                               \
  "  born: {role: quasi, hierarchy: {date: [year, decade]}}\n"
#define KINDS                                                                                      \
  "  age: {role: quasi, type: number, hierarchy: {cuts: [[30, 40, 50], [40]]}, snap: 5,"           \
  " anonymity: 0.5, profile: 0.9, sensitivity: 2}\n"                                               \
  "  town: {role: quasi, hierarchy: {tree: {west: [a, b], east: [c, d]}}, sensitivity: 3}\n"       \
  "  zip: {role: quasi, hierarchy: {mask: left, char: \"#\"}, sensitivity: 1}\n"                   \
  "  born: {role: quasi, hierarchy: {top: true}}\n"
#define ILL "  ill: {role: sensitive}\n"
#define TREE                                                                                       \
  "  ill: {role: sensitive, protect: [viral, lung, colon], hierarchy: {tree: {viral: [flu, hiv],"  \
  " cancer: [lung, colon]}}}\n"
#define SORTS "  ill: {role: sensitive, categories: {file: ill.csv}}\n"
#define REST "  ward: {role: keep}\n  guard: {role: identifier}\n"
#define METHOD "method: {seed: 7, max-suppression: 40%"

static const char K_ONLY[] = BEGIN PLAIN ILL REST "privacy: {k: 2}\n" METHOD "}\n";
static const char OF_P[] = BEGIN PLAIN ILL REST "privacy: {k: 2, p: 2}\n" METHOD "}\n";
static const char BY_CLASSES[] =
    BEGIN PLAIN ILL REST "privacy: {k: 2, p: 2}\n" METHOD ", objective: dm}\n";
static const char QUOTED[] =
    BEGIN KINDS ILL REST "privacy: {k: 3, p: 2}\n" METHOD ", suppressed: blank, formulas: quote}\n";
static const char PREFERS[] = BEGIN KINDS SORTS REST
    "privacy: {k: 2, models: [p-plus-sensitive: {p: 2}, p-alpha-sensitive: {p: 2, alpha: "
    "0.5}]}\n" METHOD ", prefer: [town, min-suppression, max-distribution], slack: 1, "
    "weights: {age: 2, town: 0.5, zip: 1, born: 0}}\n";
static const char GUARDED[] = BEGIN PLAIN TREE REST
    "privacy: {k: 2, models: [extended-p-sensitive: {p: 2}, t-closeness: {t: 0.9, distance: "
    "hierarchical}, personalized: {column: guard, breach: 0.95}]}\n" METHOD ", weights: inverse}\n";
static const char FOLDED[] =
    "shoal: 1\ndata: {fold: [case, space, unicode], missing: [\"\", na]}\n"
    "attributes:\n  name: {role: identifier}\n" PLAIN "  ill: {role: sensitive, protect: [VIRAL], "
    "hierarchy: {tree: {viral: [Flu, HIV], cancer: [\" lung\", Colon]}}}\n" REST
    "privacy: {k: 2, models: [extended-p-sensitive: {p: 2}, personalized: {column: guard, breach: "
    "0.95}]}\n" METHOD "}\n";
static const char SPELLED[] =
    "shoal: 1\ndata: {fold: [case]}\n"
    "attributes:\n  name: {role: identifier}\n" PLAIN
    "  ill: {role: sensitive, categories: [[HIV], [LUNG, colon], [FLU]]}\n" REST
    "privacy: {k: 2, models: [p-plus-sensitive: {p: 2}]}\n" METHOD "}\n";
static const char TREED[] = BEGIN PLAIN TREE REST
    "privacy: {k: 2, models: [extended-p-sensitive: {p: 2}, t-closeness: {t: 0.9, distance: "
    "hierarchical}]}\n" METHOD "}\n";
static const char ARGUS[] =
    "shoal: 1\nunlisted: drop\nattributes:\n  age: {role: quasi, type: number, sensitivity: 3, "
    "hierarchy: {intervals: [20]}}\n  town: {role: quasi, sensitivity: 2, hierarchy: {top: "
    "true}}\n  ill: {role: sensitive}\nprivacy: {k: 2}\n" METHOD "}\n";
static const char DIVERSE[] = BEGIN PLAIN ILL REST
    "privacy: {k: 2, models: [l-diversity: {l: 2, kind: entropy}, l-diversity: {l: 2, kind: "
    "recursive, c: 3}, alpha-k: {alpha: 0.7}]}\n" METHOD "}\n";
/* People have several rows, and each row is another household. */
static const char OF_PEOPLE[] =
    "shoal: 1\nunlisted: drop\nattributes:\n  name: {role: household}\n  town: {role: person}\n"
    "  age: {role: quasi, type: number, hierarchy: {intervals: [10, 20]}}\n"
    "  zip: {role: quasi, hierarchy: {mask: right}}\n" ILL
    "privacy: {k: 2, p: 2, households: 2, models: [alpha-k: {alpha: 0.9}, l-diversity: {l: 1.5, "
    "kind: "
    "entropy}]}\n" METHOD "}\n";
static const char OF_THETA[] = BEGIN PLAIN ILL REST
    "privacy: {k: 4, models: [theta-sensitive: {mu: 0.3}]}\n" METHOD ", noise: 40%}\n";
static const char BY_MATRIX[] =
    BEGIN PLAIN ILL REST "privacy: {k: 2}\n" METHOD ", satisfies: matrix, prefer: [least-peak]}\n";
static const char RELAXED[] =
    BEGIN PLAIN ILL REST "privacy: {k: 2, p: 2}\n" METHOD ", cuts: relaxed, algorithm: mondrian}\n";
static const char SORTED[] = BEGIN PLAIN ILL REST
    "privacy: {k: 4, models: [theta-sensitive: {mu: 0.1}]}\n" METHOD ", start: sorted}\n";
static const char UNMET[] =
    BEGIN PLAIN ILL REST "privacy: {k: 9, p: 4, models: [alpha-k: {alpha: 0.1}]}\n"
                         "method: {seed: 7, max-suppression: 0}\n";
static const char LISTS[] =
    "shoal: 1\nunlisted: drop\nattributes:\n  age: {role: quasi, type: number, recode: hierarchy, "
    "hierarchy: {intervals: [7], origin: 3}}\n  town: {role: quasi, hierarchy: {top: true}}\n"
    "  ill: {role: sensitive, categories: [[hiv], [lung, colon], [flu]], hierarchy: {tree: {v: "
    "[flu, hiv], c: [lung, colon, other]}}}\nprivacy: {k: 2, p: 2, models: [balanced-p-plus: {p: "
    "2}, t-closeness: {t: 0.9}]}\n" METHOD "}\n";

#endif
