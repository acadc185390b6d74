/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shoal: tables of personal records made safe to release.
 *
 * The way of the data:
 *
 *     policy + table  ->  job (check, conditions, lattice, explain, anonymize, profile, attack)  ->
 * result anonymize  ->  release  ->  file
 *
 * Every function that can fail returns a shoal_status and fills a shoal_error held by the caller
 * (which may be NULL). Nothing here prints, exits or aborts. Messages carry file, row and column,
 * never the content of a cell. Objects are opaque; each has a free function that accepts NULL.
 * Different objects may be used by different threads; one object by one thread at a time.
 */
#ifndef SHOAL_SHOAL_H
#define SHOAL_SHOAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOAL_VERSION "0.1.0"

#if defined(__GNUC__)
#define SHOAL_API __attribute__((visibility("default")))
#define SHOAL_MUST_CHECK __attribute__((warn_unused_result))
#else
#define SHOAL_API
#define SHOAL_MUST_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The values are the program's exit statuses, but for SHOAL_CANCELLED. */
typedef enum shoal_status {
  SHOAL_OK = 0,
  SHOAL_REFUSED = 1,   /* the property does not hold, or cannot be reached */
  SHOAL_BAD_INPUT = 2, /* usage, policy, hierarchy or data is wrong */
  SHOAL_FAILED = 3,    /* the machine failed, or the verifier disagreed with the engine */
  SHOAL_CANCELLED = 4  /* the progress callback asked to stop */
} shoal_status;

/* What went wrong, for a person: one line that says where and what to do. */
typedef struct shoal_error {
  shoal_status status;
  uint64_t row;     /* data row, the first after the header is 1; 0: none */
  char column[128]; /* "" : none */
  char message[4096];
} shoal_error;

/* How far a long job is. `total` is 0 where it is not known. */
typedef struct shoal_progress {
  /* "read", "group", "search", "cluster", "swap", "mend", "write", "verify", "attack", "link",
   * "compose" */
  const char *stage;
  uint64_t done;
  uint64_t total;
  const char *unit; /* "bytes", "rows", "nodes", "classes", "attacks", "people" */
} shoal_progress;

/* Called now and then from the thread that runs the job. Return true to cancel. */
typedef bool (*shoal_progress_fn)(void *user, const shoal_progress *progress);

/* How to run, not what to do: that is the policy's. Zero-initialized means the defaults. */
typedef struct shoal_run {
  unsigned n_threads; /* 0: as many as the machine has */
  shoal_progress_fn progress;
  void *progress_user;
  /*
   * Memory that should be enough; 0: no limit. A file whose rows would need more is read twice:
   * distinct rows are counted first, and released rows written in a second pass. The release is
   * the same.
   */
  uint64_t memory_bytes;
  /* `optimal` ends then with the best node found, not proven to be the best; 0: no limit. */
  double time_limit_seconds;
} shoal_run;

/* The library's version, such as "0.1.0". */
SHOAL_API const char *shoal_version(void);

/* ---------------------------------------------------------------- policy */

typedef struct shoal_policy shoal_policy;

/* Reads the YAML policy in `path`; hierarchy files are relative to it, and read later. */
SHOAL_API shoal_status shoal_policy_read(const char *path, shoal_policy **policy,
                                         shoal_error *error) SHOAL_MUST_CHECK;

/* The same from memory; `name` stands in messages, hierarchy files are relative to `directory`. */
SHOAL_API shoal_status shoal_policy_parse(const char *text, size_t size_bytes, const char *name,
                                          const char *directory, shoal_policy **policy,
                                          shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Overrides one setting, as the command line does. Keys: "k", "p", "algorithm", "max-suppression",
 * "effort", "seed", "suppressed", "formulas", "delimiter". `value` is written as in YAML.
 */
SHOAL_API shoal_status shoal_policy_set(shoal_policy *policy, const char *key, const char *value,
                                        shoal_error *error) SHOAL_MUST_CHECK;

SHOAL_API void shoal_policy_free(shoal_policy *policy);

/* ---------------------------------------------------------------- table */

typedef struct shoal_table shoal_table;

/* How a table is to be read. */
typedef enum shoal_purpose {
  SHOAL_FOR_RELEASE, /* raw data: every column of the policy must be there */
  SHOAL_FOR_REVIEW,  /* a release as well: identifiers may be gone, cells may be labels */
  SHOAL_FOR_LINKING  /* people from elsewhere: of any columns only quasi-identifiers are read */
} shoal_purpose;

/*
 * Reads a CSV file (also .gz, .zst; "-" is standard input) into columns of codes. `policy` may be
 * NULL (profile): then every column is kept as text. The table remembers nothing of the file but
 * its delimiter and name; but if the rows do not fit into run->memory_bytes, it has only distinct
 * rows and how often each stands there, and the file must stay as it is until the release is
 * written.
 */
SHOAL_API shoal_status shoal_table_read(const char *path, const shoal_policy *policy,
                                        shoal_purpose purpose, const char *delimiter,
                                        const shoal_run *run, shoal_table **table,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/* Text cells of one column, Arrow-like: cell i is bytes[offsets[i] .. offsets[i + 1]). */
typedef struct shoal_text_view {
  const char *bytes;
  const uint64_t *offsets; /* n_rows + 1 */
} shoal_text_view;

/* A table in memory: new, then chunks of rows, then finish. Names and cells are copied. */
SHOAL_API shoal_status shoal_table_new(const char *const *names, size_t n_columns,
                                       shoal_table **table, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Appends rows given by columns. `counts`, if not NULL, tells how often each row stands for a
 * record: distinct tuples with counts, what GROUP BY returns. A table takes either chunks with
 * counts or chunks without.
 */
SHOAL_API shoal_status shoal_table_append(shoal_table *table, const shoal_text_view *columns,
                                          size_t n_columns, size_t n_rows, const uint64_t *counts,
                                          shoal_error *error) SHOAL_MUST_CHECK;

/* No more rows: codes take their final width, the policy's missing values are marked. */
SHOAL_API shoal_status shoal_table_finish(shoal_table *table, const shoal_policy *policy,
                                          shoal_purpose purpose,
                                          shoal_error *error) SHOAL_MUST_CHECK;

SHOAL_API uint64_t shoal_table_rows(const shoal_table *table);
SHOAL_API size_t shoal_table_columns(const shoal_table *table);
/* Bytes held by the table's codes and dictionaries. */
SHOAL_API uint64_t shoal_table_bytes(const shoal_table *table);
SHOAL_API void shoal_table_free(shoal_table *table);

/* ---------------------------------------------------------------- jobs */

/* What a job found; as text for people, and as JSON for programs. */
typedef struct shoal_result shoal_result;

typedef enum shoal_format {
  SHOAL_TEXT,
  SHOAL_JSON,
  SHOAL_CSV, /* lattice only */
  SHOAL_DOT, /* lattice only */
  SHOAL_SVG, /* lattice only */
  SHOAL_HTML /* one page that stands alone, to be read, signed and filed */
} shoal_format;

/* Does what the job was asked about hold? (check: all models; lattice, explain: some node
 * satisfies; attack: none gets further than the policy allows.) */
SHOAL_API bool shoal_result_holds(const shoal_result *result);
/* Renders the result; the caller frees *text with free(). */
SHOAL_API shoal_status shoal_result_render(const shoal_result *result, shoal_format format,
                                           char **text, shoal_error *error) SHOAL_MUST_CHECK;
SHOAL_API void shoal_result_free(shoal_result *result);

/* Columns, types, distinct values, uniqueness; suggests roles and hierarchies. */
SHOAL_API shoal_status shoal_profile(const shoal_table *table, const shoal_run *run,
                                     shoal_result **result, shoal_error *error) SHOAL_MUST_CHECK;
/* The starting policy a profile suggests, as commented YAML; free() it. */
SHOAL_API shoal_status shoal_profile_policy(const shoal_result *profile, char **yaml,
                                            shoal_error *error) SHOAL_MUST_CHECK;

/* Does the table as it stands satisfy the policy's models? SHOAL_OK also where it does not. */
SHOAL_API shoal_status shoal_check(const shoal_table *table, const shoal_policy *policy,
                                   const shoal_run *run, shoal_result **result,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* The necessary conditions of Truta & Vinay 2006: max p, max groups. */
SHOAL_API shoal_status shoal_conditions(const shoal_table *table, const shoal_policy *policy,
                                        const shoal_run *run, shoal_result **result,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/* Every node of the generalization lattice. SHOAL_OK also where no node satisfies. */
SHOAL_API shoal_status shoal_lattice(const shoal_table *table, const shoal_policy *policy,
                                     const shoal_run *run, shoal_result **result,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Why the policy cannot be met or costs much, and the smallest changes of k, p and suppression that
 * would help, each tried. SHOAL_OK also where it cannot be met: shoal_result_holds tells.
 */
SHOAL_API shoal_status shoal_explain(const shoal_table *table, const shoal_policy *policy,
                                     const shoal_run *run, shoal_result **result,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/* What an intruder has beside the release, and how far attacks go. Zero-initialized: nothing. */
typedef struct shoal_attack_options {
  const shoal_table *external;        /* people with names, read SHOAL_FOR_LINKING; NULL: none */
  const shoal_table *original;        /* what the release was made from, read SHOAL_FOR_RELEASE */
  const shoal_table *const *previous; /* earlier releases of overlapping tables, FOR_REVIEW */
  size_t n_previous;
  const char *bound;       /* a guess counts above this probability; NULL: "0.5", or alpha-k's */
  unsigned rule_out;       /* values that an intruder can rule out; 0: 2 */
  unsigned min_categories; /* a class with fewer categories falls; 0: 3 */
  const char *mu;          /* of theta; NULL: the policy's, or "0.6" */
} shoal_attack_options;

/*
 * What an intruder learns from a release (read SHOAL_FOR_REVIEW), whoever made it. SHOAL_OK also
 * where an attack succeeds: shoal_result_holds tells. `options` may be NULL.
 */
SHOAL_API shoal_status shoal_attack_release(const shoal_table *masked, const shoal_policy *policy,
                                            const shoal_attack_options *options,
                                            const shoal_run *run, shoal_result **result,
                                            shoal_error *error) SHOAL_MUST_CHECK;

/* What `measure` is told beside the tables. Zero-initialized: the defaults. */
typedef struct shoal_measure_options {
  const shoal_table *population; /* people the records are of, read SHOAL_FOR_LINKING; or NULL */
  bool has_queries;              /* n_queries is given; else 1000 */
  uint64_t n_queries;            /* random COUNT queries; 0: none */
  uint32_t dimensions;           /* quasi-identifiers in each; 0: 2 */
  double selectivity;            /* share of the rows that each is to select; 0: 0.05 */
} shoal_measure_options;

/*
 * Utility and risk of a release, whoever made it. `original` is read SHOAL_FOR_RELEASE or
 * SHOAL_FOR_REVIEW, `masked` SHOAL_FOR_REVIEW; their rows need not correspond. SHOAL_BAD_INPUT
 * where a cell of the release can stand for no value of the original. `options` may be NULL.
 */
SHOAL_API shoal_status shoal_measure(const shoal_table *original, const shoal_table *masked,
                                     const shoal_policy *policy,
                                     const shoal_measure_options *options, const shoal_run *run,
                                     shoal_result **result, shoal_error *error) SHOAL_MUST_CHECK;

/* A release that satisfies the policy, not yet written anywhere. It borrows table and policy. */
typedef struct shoal_release shoal_release;

/* SHOAL_REFUSED, with the reason, where no release satisfies the policy. */
SHOAL_API shoal_status shoal_anonymize(const shoal_table *table, const shoal_policy *policy,
                                       const shoal_run *run, shoal_release **release,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* How much the result tells of a release once it is written. */
typedef enum shoal_detail {
  SHOAL_DETAIL_FIGURES, /* what making it gave */
  SHOAL_DETAIL_FACTS,   /* also what became of each column, settings and hashes; no cell */
  SHOAL_DETAIL_PAGE /* also what the release shows: ten rows, distributions, attacks, measures */
} shoal_detail;

typedef struct shoal_write_options {
  bool keep_order;          /* else rows are shuffled */
  const char *const *avoid; /* files that the output must not be, such as the input */
  size_t n_avoid;
  shoal_detail detail;
} shoal_write_options;

/*
 * Writes the release aside, re-reads and verifies it with code that shares nothing with the
 * engine, and only then gives it its name ("-": copies it to standard output). On any failure
 * nothing new stands under `path`.
 */
SHOAL_API shoal_status shoal_release_write(shoal_release *release, const char *path,
                                           const shoal_write_options *options, const shoal_run *run,
                                           shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Warns, in the release's result, where what was written (`masked`: the file, read again
 * SHOAL_FOR_REVIEW) together with earlier releases breaks the policy. SHOAL_OK also where it does.
 */
SHOAL_API shoal_status shoal_release_compare(shoal_release *release, const shoal_table *masked,
                                             const shoal_table *const *previous, size_t n_previous,
                                             const shoal_run *run,
                                             shoal_error *error) SHOAL_MUST_CHECK;

/* What was done and reached, to be rendered like any result. Owned by the release. */
SHOAL_API const shoal_result *shoal_release_result(const shoal_release *release);
SHOAL_API void shoal_release_free(shoal_release *release);

/* ---------------------------------------------------------------- hierarchies */

/*
 * Reads and validates a hierarchy. `source` is a hierarchy CSV file, or, with `policy`, the name
 * of an attribute (then `table`, if given, must be covered by it). SHOAL_TEXT draws the tree.
 */
SHOAL_API shoal_status shoal_hierarchy_describe(const char *source, const shoal_policy *policy,
                                                const shoal_table *table, shoal_result **result,
                                                shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Builds the hierarchy that `spec` (YAML, as in a policy: "{intervals: [5, 10]}") makes of one
 * column's values and returns it as hierarchy CSV; free() it.
 */
SHOAL_API shoal_status shoal_hierarchy_build(const char *spec, const shoal_table *table,
                                             const char *column, char **csv,
                                             shoal_error *error) SHOAL_MUST_CHECK;

/* ---------------------------------------------------------------- files */

/* A text file that comes to be whole or not at all: reports, policies, hierarchies. */
typedef struct shoal_file shoal_file;

/* Makes ready before the work begins, so that a wrong name is told at once. */
SHOAL_API shoal_status shoal_file_begin(const char *path, shoal_file **file,
                                        shoal_error *error) SHOAL_MUST_CHECK;
/* Writes the text, ended by a newline, and names the file. If it fails, nothing new is there. */
SHOAL_API shoal_status shoal_file_commit(shoal_file *file, const char *text,
                                         shoal_error *error) SHOAL_MUST_CHECK;
/* What was not committed is gone. */
SHOAL_API void shoal_file_free(shoal_file *file);

/* Is the path the policy's own file, or one that it names: a hierarchy, categories? */
SHOAL_API bool shoal_policy_names_file(const shoal_policy *policy, const char *path);

/* ---------------------------------------------------------------- what there is */

/* Tables that help texts and forms are made from. Each ends with an entry whose name is NULL. */
typedef struct shoal_entry {
  const char *name;
  const char *parameters;
  const char *summary;
} shoal_entry;

SHOAL_API const shoal_entry *shoal_models(void);
SHOAL_API const shoal_entry *shoal_algorithms(void);
SHOAL_API const shoal_entry *shoal_preferences(void);
SHOAL_API const shoal_entry *shoal_objectives(void);
SHOAL_API const shoal_entry *shoal_hierarchy_kinds(void);
SHOAL_API const shoal_entry *shoal_policy_keys(void);
/* `parameters` is what an attack needs, `summary` what the intruder knows. */
SHOAL_API const shoal_entry *shoal_attacks(void);

#ifdef __cplusplus
}
#endif

#endif
