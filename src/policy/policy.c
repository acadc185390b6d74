/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy: see policy.h. From a file or memory to a checked struct:
 *
 *     bytes -> yaml (a tree with places) -> sections, attributes, hierarchy_spec (by the key
 *     tables of keys.h) -> shoal_policy;  the command line -> override -> the same struct
 *
 * Everything a policy holds, the tree's words too, lives in its arena.
 */
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/reader.h"
#include "policy/yaml.h"

/* ---------------------------------------------------------------- from memory */

static shoal_status set_defaults(shoal_policy *policy, const char *name, const char *directory,
                                 shoal_error *error) {
  static const char *const empty_cell[] = {""};
  policy->file = shoal_arena_copy(&policy->arena, name, strlen(name));
  policy->directory = shoal_arena_copy(&policy->arena, directory, strlen(directory));
  if (!policy->file || !policy->directory) return shoal_fail_memory(error);
  policy->missing = empty_cell;
  policy->n_missing = 1;
  policy->k = 1;
  policy->effort = 1;
  policy->algorithm.text = "auto";
  return SHOAL_OK;
}

static shoal_status fill(shoal_policy *policy, const char *text, size_t size_bytes,
                         const char *name, const char *directory, shoal_error *error) {
  SHOAL_TRY(set_defaults(policy, name, directory, error));
  shoal_sha256 hash;
  shoal_sha256_init(&hash);
  shoal_sha256_add(&hash, text, size_bytes);
  shoal_sha256_finish(&hash, policy->sha256);
  const shoal_yaml *root;
  SHOAL_TRY(shoal_yaml_parse(text, size_bytes, policy->file, &policy->arena, &root, error));
  shoal_policy_reader reader = {.file = policy->file,
                                .directory = policy->directory,
                                .arena = &policy->arena,
                                .error = error,
                                .whole = "the policy"};
  return shoal_read_policy(&reader, root, policy);
}

shoal_status shoal_policy_parse(const char *text, size_t size_bytes, const char *name,
                                const char *directory, shoal_policy **policy, shoal_error *error) {
  *policy = NULL;
  shoal_policy *parsed = shoal_alloc_zero(1, sizeof *parsed);
  if (!parsed) return shoal_fail_memory(error);
  shoal_arena_init(&parsed->arena);
  shoal_status status =
      fill(parsed, text, size_bytes, name ? name : "policy", directory ? directory : ".", error);
  if (status != SHOAL_OK) {
    shoal_policy_free(parsed);
    return status;
  }
  *policy = parsed;
  return SHOAL_OK;
}

void shoal_policy_free(shoal_policy *policy) {
  if (!policy) return;
  shoal_arena_reset(&policy->arena);
  free(policy);
}

/* ---------------------------------------------------------------- from a file */

/* A path that is wrong is the caller's to mend; anything else is the machine's doing. */
static shoal_status system_fail(const char *path, int reason, const char *doing,
                                shoal_error *error) {
  const shoal_place place = {.file = path};
  switch (reason) {
  case ENOENT:
  case ENOTDIR:
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "there is no such policy file: check the path");
  case EACCES:
  case EPERM:
    return shoal_fail_at(error, SHOAL_FAILED, &place, "no permission to read this policy file");
  case EISDIR:
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "this is a directory: give the policy file in it");
  case ELOOP:
  case ENAMETOOLONG:
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "cannot %s the policy: %s", doing,
                         strerror(reason));
  default:
    return shoal_fail_at(error, SHOAL_FAILED, &place, "cannot %s the policy: %s", doing,
                         strerror(reason));
  }
}

/* Reads to the end, or one byte more than a policy may have; *bytes is freed by the caller. */
static shoal_status read_bytes(int file, const char *path, char **bytes, size_t *size_bytes,
                               shoal_error *error) {
  size_t capacity = 0;
  while (*size_bytes <= SHOAL_YAML_MAX_BYTES) {
    if (!shoal_grow(bytes, &capacity, *size_bytes + 4096, 1)) return shoal_fail_memory(error);
    ssize_t got = read(file, *bytes + *size_bytes, capacity - *size_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_fail(path, errno, "read", error);
    if (got == 0) break;
    *size_bytes += (size_t)got;
  }
  return SHOAL_OK;
}

/* The part of the path before its last name; *directory is freed by the caller. */
static shoal_status directory_of(const char *path, char **directory, shoal_error *error) {
  const char *slash = strrchr(path, '/');
  size_t size = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);
  *directory = shoal_alloc(size + 1, 1);
  if (!*directory) return shoal_fail_memory(error);
  memcpy(*directory, slash ? path : ".", size);
  (*directory)[size] = '\0';
  return SHOAL_OK;
}

shoal_status shoal_policy_read(const char *path, shoal_policy **policy, shoal_error *error) {
  *policy = NULL;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_fail(path, errno, "open", error);
  char *bytes = NULL, *directory = NULL;
  size_t size_bytes = 0;
  shoal_status status = read_bytes(file, path, &bytes, &size_bytes, error);
  (void)close(file);
  if (status == SHOAL_OK) status = directory_of(path, &directory, error);
  if (status == SHOAL_OK)
    status = shoal_policy_parse(bytes, size_bytes, path, directory, policy, error);
  free(directory);
  free(bytes);
  return status;
}

/* ---------------------------------------------------------------- what others ask of it */

const shoal_attribute *shoal_policy_attribute(const shoal_policy *policy, const char *name) {
  for (size_t i = 0; i < policy->n_attributes; i++)
    if (strcmp(policy->attributes[i].name, name) == 0) return &policy->attributes[i];
  return NULL;
}

uint64_t shoal_amount_rows(shoal_amount amount, uint64_t n_rows) {
  if (amount.percent) return shoal_decimal_percent(amount.number, n_rows);
  uint64_t rows = (uint64_t)amount.number.mantissa; /* whole and not negative: it was checked */
  return rows < n_rows ? rows : n_rows;
}

shoal_status shoal_policy_fail(const shoal_policy *policy, shoal_mark mark, shoal_error *error,
                               const char *format, ...) {
  char message[sizeof error->message];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(message, sizeof message, format, args);
  va_end(args);
  const shoal_place place = {
      .file = mark.line ? policy->file : "command line", .line = mark.line, .at = mark.at};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "%s", message);
}
