/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * shoal: anonymizes tables of personal records.
 *
 *     policy --+--> shoal_check, _conditions, _lattice, _explain,   -->  shoal_result
 *              |    _measure, _attack_release                              |
 *     table  --+                                                     shoal_result_render
 *              |                                                     (text, JSON, HTML)
 *              +--> shoal_anonymize  -->  shoal_release  -->  shoal_release_write (a CSV file)
 *
 *     policy, CSV file of a release --> shoal_certificate -->  shoal_result (a page to publish)
 *
 *     table  -----> shoal_profile    -->  shoal_result   -->  shoal_profile_policy (a policy)
 *
 * Errors: a function that can fail returns a shoal_status and fills a shoal_error that the caller
 * holds; pass NULL if you do not need it. On failure, output pointers are NULL. Messages name file,
 * row and column, and never quote a cell. The library does not print, exit or abort.
 *
 * Memory: objects are opaque. Each type has a free function, which accepts NULL. Strings returned
 * as char ** are freed with shoal_free().
 *
 * Versions: option structs begin with their size. Set struct_size to sizeof the struct, or to 0 for
 * the struct of version 0.1, and zero all fields that you do not use: later versions add fields at
 * the end, and 0 is always what earlier versions did. Another size gives SHOAL_BAD_INPUT.
 * Compare shoal_abi_version() with SHOAL_ABI_VERSION if you load the library at run time.
 *
 * Arguments: a NULL that is not allowed, or a value out of range, gives SHOAL_BAD_INPUT. Functions
 * without a status accept NULL and return false, 0 or NULL.
 *
 * Threads: any number of threads may run jobs at the same time. What they may share:
 *
 *     policy   by all functions that take it as const; not while shoal_policy_set changes it
 *     table    once it is read or finished: it does not change any more
 *     result   by all functions that take it as const
 *     release  by one thread at a time; so too the result that it owns
 *     run, options, error   each call needs its own error; a run or options may be shared if the
 *              progress function may be called by several threads at once
 *
 * A job starts threads of its own (shoal_run.n_threads) and ends them before it returns.
 *
 * Lifetimes: a call keeps none of its arguments, except that a release borrows the table and the
 * policy of shoal_anonymize: free it before them, and do not change the policy meanwhile. Results
 * and errors borrow nothing. Lists and their strings are static.
 *
 * Process: the library installs no signal handlers, changes no locale, umask, environment or
 * standard stream, and keeps no state between calls, except constants that it computes once. Numbers
 * are read and printed with a decimal point in every locale. A child of fork() may use the library,
 * but not objects that another thread used at the moment of the fork. Writing to a pipe without a
 * reader raises SIGPIPE, as write(2) does: ignore it if you write releases to pipes.
 */
/* clang-format on */
#ifndef SHOAL_SHOAL_H
#define SHOAL_SHOAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOAL_VERSION "0.1.0" /* the only place of the version; meson.build reads it here */

#define SHOAL_VERSION_NUMBER 1000 /* 1000000 * major + 1000 * minor + patch */
#define SHOAL_ABI_VERSION 1       /* changes with every incompatible change */

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

/* What a function returns, and error.status. The program exits with 1 to 3 (its manual says when).
 */
typedef enum shoal_status {
  SHOAL_OK = 0,
  SHOAL_REFUSED = 1,     /* no release satisfies the policy */
  SHOAL_BAD_INPUT = 2,   /* an argument or the data is wrong */
  SHOAL_FAILED = 3,      /* system error, such as I/O */
  SHOAL_CANCELLED = 4,   /* the progress callback returned true */
  SHOAL_BAD_POLICY = 5,  /* the policy or a hierarchy is wrong, or does not fit the data */
  SHOAL_NO_MEMORY = 6,   /* out of memory */
  SHOAL_NOT_VERIFIED = 7 /* the verifier rejected the release, or could not read it: a bug */
} shoal_status;

/* An error. The message is one printable line: where, what is wrong, what to do. */
typedef struct shoal_error {
  shoal_status status;
  uint64_t row;     /* data row; the first row after the header is 1; 0: none */
  char column[128]; /* "": none */
  char message[4096];
} shoal_error;

/* Progress of a job. */
typedef struct shoal_progress {
  /* "read", "group", "search", "matrix", "missed", "cluster", "swap", "repair", "write", "verify",
   * "attack", "link", "compose" */
  const char *stage;
  uint64_t done;
  uint64_t total;   /* 0: unknown */
  const char *unit; /* "bytes", "rows", "nodes", "outliers", "combinations", "classes", "attacks",
                       "people" */
} shoal_progress;

/* Called repeatedly on the thread that runs the job. Return true to cancel. It may use other
 * objects, but not those of the job. */
typedef bool (*shoal_progress_fn)(void *user, const shoal_progress *progress);

/* Run-time options of one call. Only time_limit_seconds and memory_bytes can change the release.
 * Zero-initialize for defaults; NULL for a `run` parameter means the same. */
typedef struct shoal_run {
  size_t
      struct_size; /* sizeof(shoal_run); 0: that of version 0.1. The same in all option structs */
  unsigned n_threads; /* 0: one per processor */
  shoal_progress_fn progress;
  void *progress_user;
  /*
   * Memory target; 0: none. If the rows of a file need more, the file is read twice: the first pass
   * counts distinct rows, the second writes the release. A full-domain release is the same; `auto`
   * makes only that.
   */
  uint64_t memory_bytes;
  /* `optimal` then returns the best node found, which may not be the optimum; 0: a bound on work.
   */
  double time_limit_seconds;
  bool quick; /* shoal_anonymize: computes no alternatives */
} shoal_run;

/* The version of the library that is linked, for example "0.1.0", and as SHOAL_VERSION_NUMBER. */
SHOAL_API const char *shoal_version(void);
SHOAL_API unsigned shoal_version_number(void);
/* The SHOAL_ABI_VERSION of the library that is linked. */
SHOAL_API unsigned shoal_abi_version(void);

/* Frees a string that a function returned. Accepts NULL. */
SHOAL_API void shoal_free(void *memory);

/*
 * Copies `text` to `out`, of `size` bytes (at least 1), as one line that is safe to show:
 * characters that could control a terminal, end a line, reorder or hide text become \xNN or
 * \u{NNNN}. What does not fit is cut. Messages of errors and text reports are such text already.
 * Returns `out`.
 */
SHOAL_API const char *shoal_printable(const char *text, char *out, size_t size);

/* ---------------------------------------------------------------- policy */

typedef struct shoal_policy shoal_policy;

/* Reads a YAML policy. Paths in it are relative to its directory; their files are read later. */
SHOAL_API shoal_status shoal_policy_read(const char *path, shoal_policy **policy,
                                         shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Parses a YAML policy from memory. `name` is used in messages (NULL: "policy"); paths in the
 * policy are relative to `directory` (NULL: ".").
 */
SHOAL_API shoal_status shoal_policy_parse(const char *text, size_t size_bytes, const char *name,
                                          const char *directory, shoal_policy **policy,
                                          shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Overrides one setting, as an option of the command line does. Keys: "k", "p", "algorithm",
 * "max-suppression", "effort", "seed", "suppressed", "formulas", "delimiter". `value` is written as
 * in YAML. If it is invalid, the policy does not change.
 */
SHOAL_API shoal_status shoal_policy_set(shoal_policy *policy, const char *key, const char *value,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The role of a column, as policies spell it ("drop": it is not released). NULL: the policy does
 * not name the column, and refuses tables that have it.
 */
SHOAL_API const char *shoal_policy_role(const shoal_policy *policy, const char *column);
/* The algorithm that the policy asks for; "auto" if it does not say. Borrowed from the policy. */
SHOAL_API const char *shoal_policy_algorithm(const shoal_policy *policy);
/* The cell of a missing value in a release, borrowed from the policy. NULL: no cell is missing. */
SHOAL_API const char *shoal_policy_missing(const shoal_policy *policy);

SHOAL_API void shoal_policy_free(shoal_policy *policy);

/* ---------------------------------------------------------------- table */

/*
 * A table may be used with other policies and for other purposes than those it was read with, if
 * reading it with them would give the same: it has the cells that the job needs, the same cells are
 * missing, and the same columns are identifiers. Otherwise jobs return SHOAL_BAD_INPUT.
 */
typedef struct shoal_table shoal_table;

/* What a table is read for. This decides which columns must be present and which are kept. */
typedef enum shoal_purpose {
  SHOAL_FOR_RELEASE,    /* raw data: every column of the policy must be present */
  SHOAL_FOR_REVIEW,     /* a release: identifiers may be absent, cells may be labels */
  SHOAL_FOR_LINKING,    /* other people: only quasi-identifiers are read */
  SHOAL_FOR_COMPARISON, /* the original of a release: as for review, rare values are collected */
  SHOAL_FOR_TUPLES      /* raw data without columns that stay with the caller: see below */
} shoal_purpose;

/*
 * Reads a CSV file (also .gz, .zst; "-" is standard input) or a table of a database:
 * "postgresql://HOST/DATABASE#SCHEMA.TABLE", "sqlite:FILE#TABLE", and with a query
 * "sqlite:FILE#query=SELECT ..". NULL is a missing value. `policy` may be NULL: then every column
 * is kept, as shoal_profile needs it. `delimiter` is one character; NULL: the policy's, or
 * detected.
 *
 * If the rows do not fit into run->memory_bytes, the table has distinct rows with counts, and
 * shoal_release_write reads the file again: it must not change until then.
 */
SHOAL_API shoal_status shoal_table_read(const char *path, const shoal_policy *policy,
                                        shoal_purpose purpose, const char *delimiter,
                                        const shoal_run *run, shoal_table **table,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/* The structs of the Arrow C data and stream interfaces, as Arrow defines them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif

/*
 * Reads a table of an Arrow stream: pandas, polars, pyarrow, DuckDB and others export one. The
 * stream is consumed and released in every case, also if the call fails. `policy` may be NULL as in
 * shoal_table_read. A cell is the text that it has in a CSV file (docs/library.md); null and NaN
 * are missing values. Dictionaries stay dictionaries; identifiers are not encoded.
 *
 * Columns that the policy keeps unchanged stay with the caller. They are measured as in a file, but
 * a release has only the numbers of their rows. A nested column must be accepted under `accept:
 * {kept: [..]}`, since nothing can measure it; other roles need text.
 *
 * What can be checked is checked: lengths, offsets, indices, NULL, UTF-8. SHOAL_BAD_INPUT names row
 * and column. Messages of the producer are not passed on, as they may quote cells.
 */
SHOAL_API shoal_status shoal_table_from_arrow(struct ArrowArrayStream *stream,
                                              const shoal_policy *policy, shoal_purpose purpose,
                                              const shoal_run *run, shoal_table **table,
                                              shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The same of counted tuples, as GROUP BY returns them: counts[i] records have row i of the stream.
 * All columns must be quasi-identifiers, sensitive, or tell people apart: others stay with the
 * caller (shoal_table_outside).
 */
SHOAL_API shoal_status shoal_table_from_tuples(struct ArrowArrayStream *stream,
                                               const uint64_t *counts, size_t n_counts,
                                               const shoal_policy *policy, shoal_purpose purpose,
                                               const shoal_run *run, shoal_table **table,
                                               shoal_error *error) SHOAL_MUST_CHECK;

/* Cells of one column, as in Arrow: cell i is bytes[offsets[i] .. offsets[i + 1]). */
typedef struct shoal_text_view {
  const char *bytes;
  const uint64_t *offsets; /* n_rows + 1, not decreasing */
} shoal_text_view;

/* Makes an empty table: append chunks of rows, then finish it. Names and cells are copied. */
SHOAL_API shoal_status shoal_table_new(const char *const *names, size_t n_columns,
                                       shoal_table **table, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Appends n_rows rows. `counts`, if not NULL, has the number of records of each row, as GROUP BY
 * returns them. Give counts with every chunk of a table or with none.
 */
SHOAL_API shoal_status shoal_table_append(shoal_table *table, const shoal_text_view *columns,
                                          size_t n_columns, size_t n_rows, const uint64_t *counts,
                                          shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Ends a table made by shoal_table_new. Every table must be finished before a job uses it. Values
 * that are equal by the policy (`type: number`, `data.fold`) become one value in one spelling, also
 * in tables that are read from a file: use a table with the policy it was finished or read with.
 */
SHOAL_API shoal_status shoal_table_finish(shoal_table *table, const shoal_policy *policy,
                                          shoal_purpose purpose,
                                          shoal_error *error) SHOAL_MUST_CHECK;

/* What the cells of a column are. */
typedef enum shoal_cell_kind {
  SHOAL_CELLS_TEXT,
  SHOAL_CELLS_WHOLE,   /* whole numbers */
  SHOAL_CELLS_DECIMAL, /* other numbers */
  SHOAL_CELLS_DATE,
  SHOAL_CELLS_TIME /* a date with a time of day */
} shoal_cell_kind;

/* What aggregates tell about a column. Missing cells count nowhere. */
typedef struct shoal_column_figures {
  size_t struct_size;
  shoal_cell_kind cells;
  /* n_values[i] distinct values have n_rows[i] records each. In SQL:
   * SELECT n, count(*) FROM (SELECT count(*) n FROM t WHERE c IS NOT NULL GROUP BY c) GROUP BY n */
  const uint64_t *n_rows, *n_values;
  size_t n;
} shoal_column_figures;

/*
 * Adds a column whose cells stay with the caller to a table that was finished or read
 * SHOAL_FOR_TUPLES: an identifier, a column that the policy keeps, or one that it drops. Do this
 * for each of them before the first job; jobs need every column of the policy. Gates and risks are
 * judged by the figures. `figures` NULL: nothing was measured; a kept column must then be accepted
 * under `accept: {kept: [..]}`.
 */
SHOAL_API shoal_status shoal_table_outside(shoal_table *table, const char *name,
                                           const shoal_column_figures *figures,
                                           shoal_error *error) SHOAL_MUST_CHECK;

/*
 * For work in parts: gives a finished table, before its first job, all values of a column of the
 * whole table that it is a part of, each with its records there (people, if a model counts people
 * and they have several rows). Ranges of numbers, trees, sets and masks are then those of the
 * whole, and t-closeness compares with the whole. Do this for quasi-identifiers and sensitive
 * columns; shoal_table_value and shoal_table_count_values give these of the whole. Missing values
 * are ignored. max-suppression in percent is that of the part; shares of a number are set by
 * shoal_policy_set. Classes of two parts with equal labels are one class: judge it again
 * (shoal_verify_release).
 */
SHOAL_API shoal_status shoal_table_whole(shoal_table *table, const shoal_policy *policy,
                                         const char *column, const shoal_text_view *values,
                                         const uint64_t *counts, size_t n,
                                         shoal_error *error) SHOAL_MUST_CHECK;

/* Cuts of a table into parts of similar rows and sizes: a binary tree. */
typedef struct shoal_cuts shoal_cuts;

/*
 * Cuts the rows, or counted tuples, into n_parts; fewer if too many rows are alike. A value that
 * the table lacks belongs to one side of each cut too, so tuples of a sample can cut the whole.
 */
SHOAL_API shoal_status shoal_table_cuts(const shoal_table *table, const shoal_policy *policy,
                                        size_t n_parts, const shoal_run *run, shoal_cuts **cuts,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/* A node of the tree: a part, or a cut of one column. Texts are borrowed from the cuts. */
typedef struct shoal_cut {
  bool is_part;
  size_t part;     /* from 0 */
  uint64_t n_rows; /* records below it */
  const char *column;
  bool is_number; /* numbers or dates up to `bound` are below `lower`; else the values of
                     shoal_cuts_value */
  const char *bound;
  size_t bound_bytes;
  size_t lower, upper; /* nodes; all other values, and missing numbers, are below `upper` */
} shoal_cut;

SHOAL_API size_t shoal_cuts_parts(const shoal_cuts *cuts);
/* Nodes; number 0 is the root. */
SHOAL_API size_t shoal_cuts_nodes(const shoal_cuts *cuts);
SHOAL_API bool shoal_cuts_node(const shoal_cuts *cuts, size_t number, shoal_cut *cut);
/* A value below `lower` of a cut that is not of numbers; NULL after the last. */
SHOAL_API const char *shoal_cuts_value(const shoal_cuts *cuts, size_t number, size_t value,
                                       size_t *size_bytes);
/* The part of each row of the table. */
SHOAL_API const uint32_t *shoal_cuts_part_of_rows(const shoal_cuts *cuts, uint64_t *n_rows);
SHOAL_API void shoal_cuts_free(shoal_cuts *cuts);

/* Records: rows, or the sum of their counts. */
SHOAL_API uint64_t shoal_table_rows(const shoal_table *table);
SHOAL_API size_t shoal_table_columns(const shoal_table *table);
/* Bytes of the table's codes, dictionaries and counts. */
SHOAL_API uint64_t shoal_table_bytes(const shoal_table *table);
SHOAL_API void shoal_table_free(shoal_table *table);

/*
 * What a table read without a policy has, to be shown to whoever may see raw data. Texts are
 * borrowed from the table and end in no zero byte. NULL: the column or value does not exist, or the
 * table does not keep it.
 */
SHOAL_API const char *shoal_table_name(const shoal_table *table, size_t column, size_t *size_bytes);
/* Distinct values of a column, missing ones included. */
SHOAL_API size_t shoal_table_values(const shoal_table *table, size_t column);
SHOAL_API const char *shoal_table_value(const shoal_table *table, size_t column, size_t value,
                                        size_t *size_bytes);
/* The number of the value in a stored row, from 0; SIZE_MAX: there is no such cell. */
SHOAL_API size_t shoal_table_cell(const shoal_table *table, size_t column, uint64_t row);
/* counts[v] receives the records with value v; it has shoal_table_values entries. Cost: a pass over
 * the rows. */
SHOAL_API shoal_status shoal_table_count_values(const shoal_table *table, size_t column,
                                                uint64_t *counts,
                                                shoal_error *error) SHOAL_MUST_CHECK;

/* ---------------------------------------------------------------- jobs */

/* The outcome of a job. It borrows nothing from table or policy. */
typedef struct shoal_result shoal_result;

typedef enum shoal_format {
  SHOAL_TEXT,
  SHOAL_JSON,
  SHOAL_CSV, /* lattice only */
  SHOAL_DOT, /* lattice only */
  SHOAL_SVG, /* lattice only */
  SHOAL_HTML /* self-contained page: for sign-off of check, lattice, attack, measure and releases;
                the public page of a certificate */
} shoal_format;

/*
 * True if the property that the job tests holds. check: every model holds; conditions: every
 * model's bound can be met, and p is at most k; lattice, explain: some node satisfies the policy;
 * attack: no attack exceeds what the policy allows; certificate: the verdict is not
 * do-not-publish. Always true for other jobs.
 */
SHOAL_API bool shoal_result_holds(const shoal_result *result);
/* May the table be published? The JSON and the text of a result give the reasons. */
typedef enum shoal_publication {
  SHOAL_NOT_JUDGED,
  SHOAL_HOLDS,            /* every model holds, and no risk is known */
  SHOAL_HOLDS_WITH_RISKS, /* every model holds; open or accepted risks are listed */
  SHOAL_DO_NOT_PUBLISH    /* a model does not hold, or a column must be decided or accepted first */
} shoal_publication;

/* The verdict of anonymize, check, measure, attack and certificate; SHOAL_NOT_JUDGED for other
 * results. */
SHOAL_API shoal_publication shoal_result_verdict(const shoal_result *result);
/* The number of risks that the policy does not accept; 0 if the verdict is SHOAL_HOLDS. */
SHOAL_API size_t shoal_result_open_risks(const shoal_result *result);
/* Renders the result; free *text with shoal_free(). */
SHOAL_API shoal_status shoal_result_render(const shoal_result *result, shoal_format format,
                                           char **text, shoal_error *error) SHOAL_MUST_CHECK;
SHOAL_API void shoal_result_free(shoal_result *result);

/*
 * Counts types, distinct values and unique rows of each column, and suggests roles and hierarchies.
 * The table must be read without a policy.
 */
SHOAL_API shoal_status shoal_profile(const shoal_table *table, const shoal_run *run,
                                     shoal_result **result, shoal_error *error) SHOAL_MUST_CHECK;
/* The policy that a profile suggests, as commented YAML; free *yaml with shoal_free(). */
SHOAL_API shoal_status shoal_profile_policy(const shoal_result *profile, char **yaml,
                                            shoal_error *error) SHOAL_MUST_CHECK;

/* How a suggested policy is written. Zero-initialize for defaults. */
typedef struct shoal_policy_style {
  size_t struct_size;
  bool decided;       /* nothing is left to decide: columns without evidence keep their safe role */
  const char *preset; /* "public", "research" or "hipaa-safe-harbor"; NULL: none */
} shoal_policy_style;

SHOAL_API shoal_status shoal_profile_policy_as(const shoal_result *profile,
                                               const shoal_policy_style *style, char **yaml,
                                               shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Tests whether the table, unchanged, satisfies the policy's models. Returns SHOAL_OK in both
 * cases: see shoal_result_holds.
 */
SHOAL_API shoal_status shoal_check(const shoal_table *table, const shoal_policy *policy,
                                   const shoal_run *run, shoal_result **result,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Upper bounds on p and on the number of classes for each model (Truta & Vinay 2006), without a
 * search. Returns SHOAL_OK also if a model requires more: see shoal_result_holds.
 */
SHOAL_API shoal_status shoal_conditions(const shoal_table *table, const shoal_policy *policy,
                                        const shoal_run *run, shoal_result **result,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/* Evaluates every node of the generalization lattice. SHOAL_OK also if no node satisfies. */
SHOAL_API shoal_status shoal_lattice(const shoal_table *table, const shoal_policy *policy,
                                     const shoal_run *run, shoal_result **result,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The distance vectors of all pairs of distinct tuples (Samarati 2001, section 5). SHOAL_BAD_INPUT
 * for more than 2,000 distinct tuples.
 */
SHOAL_API shoal_status shoal_distances(const shoal_table *table, const shoal_policy *policy,
                                       const shoal_run *run, shoal_result **result,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Single nodes of the lattice, for sliders: the rows are grouped once, then a node takes
 * milliseconds. It borrows table and policy. One thread at a time may use it. Levels are given for
 * each quasi-identifier, in column order.
 */
typedef struct shoal_explorer shoal_explorer;

typedef struct shoal_explored_node {
  uint32_t height;
  uint64_t rows, suppressed, classes, smallest_class; /* of the release at this node */
  double highest_risk; /* 1 / smallest_class: that somebody whose class is known is found */
  double average_risk; /* classes / rows */
  double loss;         /* mean of a released cell, from 0 to 1: `nil` of a release */
  bool satisfies;      /* suppressed rows are within the policy's limit, and a row is released */
} shoal_explored_node;

/* SHOAL_BAD_INPUT if a quasi-identifier has no hierarchy of uniform height, as shoal_lattice. */
SHOAL_API shoal_status shoal_explorer_new(const shoal_table *table, const shoal_policy *policy,
                                          const shoal_run *run, shoal_explorer **explorer,
                                          shoal_error *error) SHOAL_MUST_CHECK;
/* The number of quasi-identifiers; the name and the highest level of each. */
SHOAL_API size_t shoal_explorer_quasi(const shoal_explorer *explorer);
SHOAL_API const char *shoal_explorer_name(const shoal_explorer *explorer, size_t quasi);
SHOAL_API unsigned shoal_explorer_top(const shoal_explorer *explorer, size_t quasi);
SHOAL_API shoal_status shoal_explorer_node(shoal_explorer *explorer, const unsigned *levels,
                                           shoal_explored_node *figures,
                                           shoal_error *error) SHOAL_MUST_CHECK;
/* One class at a node. Labels do not end in a zero byte; all pointers are valid during the visit.
 */
typedef struct shoal_explored_class {
  uint64_t rows;
  bool violates;             /* a release at this node lacks it */
  uint32_t fewest_values;    /* the least number of distinct values of a sensitive column that a
                                model counts; UINT32_MAX: no model counts one */
  const char *const *labels; /* by quasi-identifier */
  const size_t *label_bytes;
} shoal_explored_class;

typedef void shoal_visit_class(void *context, const shoal_explored_class *seen);

/* Visits every class at a node, in an order that depends on the rows only. */
SHOAL_API shoal_status shoal_explorer_classes(shoal_explorer *explorer, const unsigned *levels,
                                              shoal_visit_class *visit, void *context,
                                              shoal_error *error) SHOAL_MUST_CHECK;
SHOAL_API void shoal_explorer_free(shoal_explorer *explorer);

/*
 * Explains why no node satisfies the policy, or which requirements cost most, and finds the
 * smallest changes of k, p and suppression that help. Every change was tried. SHOAL_OK also if no
 * node satisfies.
 */
SHOAL_API shoal_status shoal_explain(const shoal_table *table, const shoal_policy *policy,
                                     const shoal_run *run, shoal_result **result,
                                     shoal_error *error) SHOAL_MUST_CHECK;

#define SHOAL_MAX_KNOWN_RECORDS 64
#define SHOAL_MAX_RULE_OUT 9999 /* each number up to it is an attack of its own */

/* What the attacker has besides the release, and limits of attacks. Zero-initialize for defaults.
 */
typedef struct shoal_attack_options {
  size_t struct_size;
  const shoal_table *external;        /* named people, read SHOAL_FOR_LINKING; NULL: none */
  const shoal_table *original;        /* the raw table, read SHOAL_FOR_RELEASE; NULL: none */
  const shoal_table *const *previous; /* earlier releases, read SHOAL_FOR_REVIEW */
  size_t n_previous;
  const char *bound;       /* a guess above this probability succeeds; NULL: alpha-k's, or "0.5" */
  unsigned rule_out;       /* sensitive values that the attacker can rule out, at most
                              SHOAL_MAX_RULE_OUT; 0: 2 */
  unsigned known_records;  /* records of one person that the attacker knows, at most
                              SHOAL_MAX_KNOWN_RECORDS; 0: no such attack */
  unsigned min_categories; /* a class with fewer categories is attacked successfully; 0: 3 */
  const char *mu;          /* of theta-sensitive; NULL: the policy's, or "0.6" */
} shoal_attack_options;

/*
 * Simulates attacks on a release made by any tool, read SHOAL_FOR_REVIEW. SHOAL_OK also if an
 * attack succeeds or finds nobody to attack. `options` may be NULL.
 */
SHOAL_API shoal_status shoal_attack_release(const shoal_table *masked, const shoal_policy *policy,
                                            const shoal_attack_options *options,
                                            const shoal_run *run, shoal_result **result,
                                            shoal_error *error) SHOAL_MUST_CHECK;

/* Options of shoal_measure. Zero-initialize for defaults. */
typedef struct shoal_measure_options {
  size_t struct_size;
  const shoal_table *population; /* read SHOAL_FOR_LINKING; NULL: none */
  bool has_queries;              /* use n_queries; false: 1000 queries */
  uint64_t n_queries;            /* random COUNT queries; 0: none */
  uint32_t dimensions;           /* quasi-identifiers per query; 0: 2 */
  double selectivity;            /* share of rows that a query selects; 0: 0.05 */
} shoal_measure_options;

/*
 * Measures utility and re-identification risk of a release made by any tool. `original` is read
 * SHOAL_FOR_RELEASE or SHOAL_FOR_COMPARISON (SHOAL_FOR_REVIEW too, if the policy has no `rare`),
 * `masked` SHOAL_FOR_REVIEW; rows may be in different order.
 * SHOAL_BAD_INPUT if a label of the release covers no value of the original. `options` may be NULL.
 */
SHOAL_API shoal_status shoal_measure(const shoal_table *original, const shoal_table *masked,
                                     const shoal_policy *policy,
                                     const shoal_measure_options *options, const shoal_run *run,
                                     shoal_result **result, shoal_error *error) SHOAL_MUST_CHECK;

/* What the verifier counted. */
typedef struct shoal_verified {
  uint64_t n_rows, n_classes, smallest_class;
  uint64_t fewest_people; /* of a class; rows if the policy names no people */
} shoal_verified;

/*
 * Proves by the independent verifier that a finished release satisfies every model: SHOAL_OK if it
 * does, SHOAL_NOT_VERIFIED with the model if not. `masked` is read SHOAL_FOR_REVIEW: the columns of
 * the release, or with counts its GROUP BY over quasi-identifiers and sensitive columns; where
 * models count people, also over the columns that tell them apart. `original` is read
 * SHOAL_FOR_COMPARISON or SHOAL_FOR_TUPLES: its sensitive values are those that the release may
 * have, in no more rows than there (noise aside), and its distribution is what t-closeness compares
 * with. NULL: that of the release itself. Not proven: that labels cover the values of their rows,
 * as nothing tells which row was which. `found` may be NULL.
 */
SHOAL_API shoal_status shoal_verify_release(const shoal_table *masked, const shoal_table *original,
                                            const shoal_policy *policy, const shoal_run *run,
                                            shoal_verified *found,
                                            shoal_error *error) SHOAL_MUST_CHECK;

/* A release in memory that satisfies the policy. It borrows table and policy, not the run. */
typedef struct shoal_release shoal_release;

/*
 * Finds a release. SHOAL_REFUSED, with the reason, if none that satisfies the policy was found; the
 * message begins with "no release can satisfy the policy" if it is proven that there is none.
 */
SHOAL_API shoal_status shoal_anonymize(const shoal_table *table, const shoal_policy *policy,
                                       const shoal_run *run, shoal_release **release,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* How much shoal_release_write adds to the result. */
typedef enum shoal_detail {
  SHOAL_DETAIL_FIGURES, /* counts and measures of the search */
  SHOAL_DETAIL_FACTS,   /* also columns, settings and file hashes; no cell */
  SHOAL_DETAIL_HTML     /* also ten released rows, distributions, attacks and measures */
} shoal_detail;

typedef struct shoal_write_options {
  size_t struct_size;
  bool keep_order; /* false: rows are shuffled */
  bool strict;     /* SHOAL_REFUSED if a risk is open (shoal_result_open_risks) */
  /* Earlier releases, read SHOAL_FOR_REVIEW: compared as shoal_release_compare does, but before the
   * file is renamed. */
  const shoal_table *const *previous;
  size_t n_previous;
  shoal_detail detail;
  const char *certificate; /* file of the public certificate, see shoal_certificate; NULL: none */
  /* File that says what was done to each value and class (docs/report.md); NULL: none. It is
   * internal, because it has original values, and gets mode 0600. */
  const char *mapping;
  bool replace; /* a table of a database that exists */
} shoal_write_options;

/*
 * Writes the release to a temporary file, re-reads it with the independent verifier, and renames it
 * to `path` if every model holds ("-": copies it to standard output). On failure `path` is
 * unchanged. `path` may name a table of a database, as in shoal_table_read: the table is filled and
 * compared with the verified rows in one transaction. If a certificate or mapping is asked for and
 * cannot be written, the release is not written either. `options` may be NULL.
 */
SHOAL_API shoal_status shoal_release_write(shoal_release *release, const char *path,
                                           const shoal_write_options *options, const shoal_run *run,
                                           shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Makes a release inside of PostgreSQL: `source` is a table or query, `output` a table of the same
 * database. The server sends quasi-identifiers and sensitive values as counted tuples, and builds
 * the release; identifiers and kept columns stay there. Labels are uniform. `options` has no
 * certificate, no mapping and no earlier releases, and its detail is SHOAL_DETAIL_FIGURES.
 * *release is for the result; it borrows the policy.
 */
SHOAL_API shoal_status shoal_anonymize_inside(const char *source, const char *output,
                                              const shoal_policy *policy,
                                              const shoal_write_options *options,
                                              const shoal_run *run, shoal_release **release,
                                              shoal_error *error) SHOAL_MUST_CHECK;

/* Takes bytes of a release; false: it cannot, and the call fails with SHOAL_FAILED. */
typedef bool (*shoal_write_fn)(void *user, const void *bytes, size_t size_bytes);

/*
 * The same for streams: writes the release as CSV to an unnamed temporary file, and hands it to
 * `write` in pieces if every model holds. Nothing is handed out before that. `options` has no
 * certificate and no mapping.
 */
SHOAL_API shoal_status shoal_release_write_to(shoal_release *release, shoal_write_fn write,
                                              void *user, const shoal_write_options *options,
                                              const shoal_run *run,
                                              shoal_error *error) SHOAL_MUST_CHECK;

/* Options of shoal_release_to_arrow. Zero-initialize for defaults. */
typedef struct shoal_arrow_options {
  size_t struct_size;
  bool keep_order;     /* false: rows are shuffled, as in a file with the same seed */
  bool strict;         /* SHOAL_REFUSED if a risk is open */
  bool kept;           /* also the columns that the policy keeps, if the table has their cells */
  shoal_detail detail; /* of the result, as in shoal_write_options */
} shoal_arrow_options;

/*
 * Makes an Arrow stream of the release, with one chunk: quasi-identifiers, sensitive columns and
 * pseudonyms as dictionary arrays of text, with only labels that a row has, each once. Missing
 * values are null. The independent verifier has read every cell as text before the call returns;
 * otherwise *out has no release function. The stream owns its memory and may outlive the release.
 *
 * Kept columns, and sensitive values in their own type, are taken from the caller's table by row
 * number (shoal_release_row_numbers): this copies nothing through shoal. Take sensitive values so
 * only if the policy neither folds nor codes them (`fold`, `type: number`, `rare`, `top-code`):
 * their spellings would differ from the released ones; and never those of noise rows, which are
 * invented (`method.noise`).
 */
SHOAL_API shoal_status shoal_release_to_arrow(shoal_release *release,
                                              const shoal_arrow_options *options,
                                              const shoal_run *run, struct ArrowArrayStream *out,
                                              shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The row of the table that each released row was made of, from 0, in the order of the last release
 * that was written or exported. A noise row has the number of the row of its class whose kept cells
 * it shows: other cells would tell it apart. *rows is owned by the release, until it is written or
 * exported again. They link the release to the original: do not publish them. SHOAL_BAD_INPUT
 * before the first, or if the rows of a file did not fit into run->memory_bytes.
 */
SHOAL_API shoal_status shoal_release_row_numbers(shoal_release *release, const uint64_t **rows,
                                                 uint64_t *n, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Compares a written release with earlier ones and adds a warning to its result for each that
 * breaks the policy together with it. `masked` is the written file, read SHOAL_FOR_REVIEW, as are
 * `previous`. SHOAL_OK also if there are warnings.
 */
SHOAL_API shoal_status shoal_release_compare(shoal_release *release, const shoal_table *masked,
                                             const shoal_table *const *previous, size_t n_previous,
                                             const shoal_run *run,
                                             shoal_error *error) SHOAL_MUST_CHECK;

/* The outcome, to be rendered. Owned by the release. */
SHOAL_API const shoal_result *shoal_release_result(const shoal_release *release);
SHOAL_API void shoal_release_free(shoal_release *release);

/* ---------------------------------------------------------------- facts */

/*
 * What was done to each value, class and row, as data: with it a database or cluster can apply a
 * decision by joins. It says which rows and values the labels stand for: do not publish it. Texts
 * are spelled as in the release, end in no zero byte, and are borrowed from the facts. A number
 * that does not exist gives false or NULL.
 */
typedef struct shoal_facts shoal_facts;

/* Borrows the release: free the facts before it. Cost: a pass over the rows. */
SHOAL_API shoal_status shoal_facts_new(const shoal_release *release, shoal_facts **facts,
                                       shoal_error *error) SHOAL_MUST_CHECK;
SHOAL_API void shoal_facts_free(shoal_facts *facts);

/* The quasi-identifiers, in the order of the table's columns. */
SHOAL_API size_t shoal_facts_quasi(const shoal_facts *facts);
SHOAL_API const char *shoal_facts_name(const shoal_facts *facts, size_t quasi);

typedef enum shoal_fate { SHOAL_RELEASED, SHOAL_REMOVED, SHOAL_BLANKED } shoal_fate;

typedef struct shoal_class_fact {
  uint64_t n_rows;  /* records of the table */
  uint64_t n_noise; /* noise rows that were added */
  shoal_fate fate;
} shoal_class_fact;

/* Classes: rows with equal labels, released or not; in local recoding the clusters. Those that are
 * removed or blanked are the suppressed tuples of labels. */
SHOAL_API size_t shoal_facts_classes(const shoal_facts *facts);
SHOAL_API bool shoal_facts_class(const shoal_facts *facts, size_t number, shoal_class_fact *fact);
SHOAL_API const char *shoal_facts_label(const shoal_facts *facts, size_t number, size_t quasi,
                                        size_t *size_bytes);
/* The class of each row of the table; in local recoding of a table with counts, of each record: the
 * first counts[0] are those of row 0. */
SHOAL_API const uint32_t *shoal_facts_class_of_rows(const shoal_facts *facts, uint64_t *n_rows);

/* How many records of a row of the table are in a class. */
typedef struct shoal_share_fact {
  uint64_t row;
  uint32_t class_number;
  uint64_t n_rows;
} shoal_share_fact;

/*
 * Of a table with counts: where the records of each row went, by row. In local recoding they may go
 * to several classes. NULL: the table has no counts.
 */
SHOAL_API const shoal_share_fact *shoal_facts_shares(const shoal_facts *facts, size_t *n);

/* The sensitive columns, and the cell that a row of the table has there, in the release's spelling.
 */
SHOAL_API size_t shoal_facts_sensitive(const shoal_facts *facts);
SHOAL_API const char *shoal_facts_sensitive_name(const shoal_facts *facts, size_t sensitive);
SHOAL_API const char *shoal_facts_cell(const shoal_facts *facts, size_t sensitive, uint64_t row,
                                       size_t *size_bytes);

/* How many records of a class have a sensitive value; noise rows are not counted. */
typedef struct shoal_count_fact {
  uint32_t class_number;
  const char *value;
  size_t value_bytes;
  uint64_t n_rows;
} shoal_count_fact;

/*
 * The histograms of all classes over one sensitive column, by class. *counts is owned by the facts,
 * until the next call. Cost: sorts the rows.
 */
SHOAL_API shoal_status shoal_facts_histograms(shoal_facts *facts, size_t sensitive,
                                              const shoal_count_fact **counts, size_t *n,
                                              shoal_error *error) SHOAL_MUST_CHECK;

/* A value and its label. */
typedef struct shoal_value_fact {
  size_t quasi;
  const char *value;
  size_t value_bytes;
  const char *label;
  size_t label_bytes;
  unsigned level;
  bool is_star; /* mu-Argus: these rows have "*" instead of the label */
  uint64_t n_rows, n_suppressed;
} shoal_value_fact;

/* Values with one label everywhere; none in local recoding, where the class decides. */
SHOAL_API size_t shoal_facts_values(const shoal_facts *facts);
SHOAL_API bool shoal_facts_value(const shoal_facts *facts, size_t number, shoal_value_fact *fact);

/* A requirement of the policy and what was reached. Strings are borrowed from the result. */
typedef struct shoal_model_fact {
  const char *model, *attribute; /* attribute NULL: none */
  const char *summary;           /* what it requires, in words */
  double required, reached;
  bool at_most; /* `reached` may not be above `required`; else not below */
  bool holds;
  bool is_judged; /* false: it counts people, and the table does not say who they are */
  uint64_t violating_rows, violating_classes;
} shoal_model_fact;

/* Models of a check, release, measurement or certificate; none of other results. */
SHOAL_API size_t shoal_result_n_models(const shoal_result *result);
SHOAL_API bool shoal_result_model(const shoal_result *result, size_t number,
                                  shoal_model_fact *fact);

/* A node of the lattice. `levels` is borrowed from the result. */
typedef struct shoal_node_fact {
  const uint32_t *levels; /* by quasi-identifier, in column order */
  size_t n_levels;
  uint32_t height;
  uint64_t suppressed, classes; /* rows to suppress; classes before that */
  bool satisfies, minimal;
  bool chosen; /* by a full-domain release */
} shoal_node_fact;

/* All nodes of a lattice; the minimal and the chosen ones of a full-domain release; none of other
 * results. */
SHOAL_API size_t shoal_result_n_nodes(const shoal_result *result);
SHOAL_API bool shoal_result_node(const shoal_result *result, size_t number, shoal_node_fact *fact);

/* A risk that models do not rule out. Strings are borrowed from the result; NULL: none. */
typedef struct shoal_risk_fact {
  const char *kind; /* as under `accept`: "kept", "repeats", ... */
  const char *column, *attack;
  const char *why;
  bool is_accepted; /* by the policy */
  bool blocks;      /* unless accepted, nothing may be published */
} shoal_risk_fact;

SHOAL_API size_t shoal_result_n_risks(const shoal_result *result);
SHOAL_API bool shoal_result_risk(const shoal_result *result, size_t number, shoal_risk_fact *fact);

/*
 * Makes the public certificate of the release in the CSV file `path` (also .gz, .zst). Rendered as
 * SHOAL_HTML it is the page that may be published, byte for byte the one that shoal_release_write
 * makes with the same policy. `left_out` is the number of suppressed rows: "none", "few" (1 to
 * max(k, 10) - 1) or a number, which is rounded down to a multiple of max(k, 10) and to two
 * significant digits. SHOAL_OK also if the release does not satisfy the policy: see
 * shoal_result_holds.
 */
SHOAL_API shoal_status shoal_certificate(const char *path, const shoal_policy *policy,
                                         const char *left_out, const shoal_run *run,
                                         shoal_result **result,
                                         shoal_error *error) SHOAL_MUST_CHECK;

/* ---------------------------------------------------------------- hierarchies */

/*
 * Validates hierarchies; rendered as SHOAL_TEXT, draws them. Without `policy`, `source` is a
 * hierarchy CSV file. With it, `source` is the name of an attribute (NULL: all that have one); a
 * `table`, if given, must have no value that the hierarchy lacks.
 */
SHOAL_API shoal_status shoal_hierarchy_describe(const char *source, const shoal_policy *policy,
                                                const shoal_table *table, shoal_result **result,
                                                shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Builds a hierarchy of one column's values from `spec` (YAML as in a policy, such as
 * "{intervals: [5, 10]}") and returns it as hierarchy CSV; free *csv with shoal_free().
 */
SHOAL_API shoal_status shoal_hierarchy_build(const char *spec, const shoal_table *table,
                                             const char *column, char **csv,
                                             shoal_error *error) SHOAL_MUST_CHECK;

/* ---------------------------------------------------------------- lists */

/* Entries of the lists below, for help texts and forms. The last entry of a list has name NULL. */
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
/* parameters: what the attack needs; summary: what the attacker knows. */
SHOAL_API const shoal_entry *shoal_attacks(void);

#ifdef __cplusplus
}
#endif

#endif
