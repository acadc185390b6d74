/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program needs beside shoal.h: names of files that must not be overwritten, and reports
 * that are written as a whole. It is not installed, and may change at any time.
 */
#ifndef SHOAL_PROGRAM_H
#define SHOAL_PROGRAM_H

#include <shoal/shoal.h>

/* True if `path` is the policy's own file or one that the policy reads (hierarchy, categories). */
SHOAL_API bool shoal_policy_names_file(const shoal_policy *policy, const char *path);

/* Is it the address of a database, not a file? */
SHOAL_API bool shoal_path_is_database(const char *path);

/* Does the address of a database name a table or query? */
SHOAL_API bool shoal_path_has_table(const char *address);

/* The file behind a path: that of "sqlite:FILE#TABLE", written into `buffer`, or else the path. */
SHOAL_API const char *shoal_path_file(const char *path, char *buffer, size_t size);

/* Connects to the database, and looks whether a release can become the table of `address`: a bad
 * address, or a table that exists, fails early. */
SHOAL_API shoal_status shoal_path_try_table(const char *address, bool replace, const shoal_run *run,
                                            shoal_error *error) SHOAL_MUST_CHECK;

/* Files that must not be overwritten, such as the input. */
typedef struct shoal_avoided {
  const char *const *paths;
  size_t n;
} shoal_avoided;

/* As shoal_release_write; SHOAL_BAD_INPUT if an output would be one of these files. */
SHOAL_API shoal_status shoal_release_write_beside(shoal_release *release, const char *path,
                                                  const shoal_avoided *avoided,
                                                  const shoal_write_options *options,
                                                  const shoal_run *run,
                                                  shoal_error *error) SHOAL_MUST_CHECK;

/* A text file that is written as a whole or not at all: a report, policy or hierarchy. */
typedef struct shoal_file shoal_file;

/* Creates the temporary file. Call it before long work, so that a bad path fails early. */
SHOAL_API shoal_status shoal_file_begin(const char *path, shoal_file **file,
                                        shoal_error *error) SHOAL_MUST_CHECK;
/* Writes the text, adds a final newline if it has none, and renames the file into place. On failure
 * the path is unchanged. A file can be committed once, also if that fails. */
SHOAL_API shoal_status shoal_file_commit(shoal_file *file, const char *text,
                                         shoal_error *error) SHOAL_MUST_CHECK;
/* Removes the file if it was not committed. */
SHOAL_API void shoal_file_free(shoal_file *file);

#endif
