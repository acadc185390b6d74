/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve/directory: files below the directory in which the server was started. A path is walked name
 * by name without following symbolic links, so it cannot lead out of the directory.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * `path` below `base` (both relative; base may be "") without ".", ".." and empty names. False if
 * it is absolute, leads out, or does not fit into `out`.
 */
bool serve_path_below(const char *base, const char *path, char *out, size_t size);

/* Opens a regular file below the directory for reading; -1 with errno if that is not possible. */
int serve_open_below(int directory, const char *path);

/* Tables and policies below the directory: [{"path": "a/b.csv", "kind": "data", "size": 1}], by
 * path. At most 500 files, 4 levels deep; hidden files are left out. */
json_t *serve_list_files(int directory);
