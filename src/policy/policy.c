/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy: reads a policy from a file or from memory, and applies the overrides of the command line:
 *
 *     bytes -> yaml.c (nodes with line and column) -> sections.c, attributes.c, hierarchy_spec.c
 *     (by the key tables of keys.h) -> shoal_policy
 *     option and its value -> shoal_policy_override -> the same struct
 *
 * Everything a policy refers to, strings of the YAML file included, lives in its arena.
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
#include "table/table.h"

/* ---------------------------------------------------------------- from memory */

static shoal_status fill(shoal_policy *policy, const char *text, size_t size_bytes,
                         const char *name, const char *directory, shoal_error *error) {
  static const char *const empty_cell[] = {""};
  policy->file = shoal_arena_copy(&policy->arena, name, strlen(name));
  policy->directory = shoal_arena_copy(&policy->arena, directory, strlen(directory));
  if (!policy->file || !policy->directory) return shoal_fail_memory(error);
  policy->missing = empty_cell;
  policy->n_missing = 1;
  policy->decimal = '.';
  policy->k = 1;
  policy->effort = 1;
  policy->algorithm.text = "auto";
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

shoal_status shoal_policy_load_text(const char *text, size_t size_bytes, const char *name,
                                    const char *directory, shoal_policy **policy,
                                    shoal_error *error) {
  shoal_policy *parsed = shoal_alloc_zero(1, sizeof *parsed);
  if (!parsed) return shoal_fail_memory(error);
  shoal_arena_init(&parsed->arena);
  shoal_status status = fill(parsed, text, size_bytes, name, directory, error);
  if (status != SHOAL_OK) {
    shoal_policy_delete(parsed);
    return status;
  }
  *policy = parsed;
  return SHOAL_OK;
}

void shoal_policy_delete(shoal_policy *policy) {
  if (!policy) return;
  shoal_strings_reset(&policy->names);
  shoal_arena_reset(&policy->arena);
  free(policy);
}

/* ---------------------------------------------------------------- from a file */

/* SHOAL_BAD_INPUT for a wrong path, SHOAL_FAILED for system errors. */
static shoal_status system_fail(const char *path, int reason, const char *doing,
                                shoal_error *error) {
  const shoal_location location = {.file = path};
  switch (reason) {
  case ENOENT:
  case ENOTDIR:
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "the policy file does not exist; check the name");
  case EACCES:
  case EPERM:
    return shoal_fail_at(error, SHOAL_FAILED, &location, "no permission to read this policy file");
  case EISDIR:
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "is a directory; give the policy file in it");
  case ELOOP:
  case ENAMETOOLONG:
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "cannot %s the policy: %s", doing,
                         strerror(reason));
  default:
    return shoal_fail_at(error, SHOAL_FAILED, &location, "cannot %s the policy: %s", doing,
                         strerror(reason));
  }
}

/* Reads to the end, or more than SHOAL_YAML_MAX_BYTES. The caller frees *bytes. */
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

/* The path without its last component. The caller frees *directory. */
static shoal_status directory_of(const char *path, char **directory, shoal_error *error) {
  const char *slash = strrchr(path, '/');
  size_t size = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);
  *directory = shoal_alloc(size + 1, 1);
  if (!*directory) return shoal_fail_memory(error);
  memcpy(*directory, slash ? path : ".", size);
  (*directory)[size] = '\0';
  return SHOAL_OK;
}

shoal_status shoal_policy_load(const char *path, shoal_policy **policy, shoal_error *error) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_fail(path, errno, "open", error);
  char *bytes = NULL, *directory = NULL;
  size_t size_bytes = 0;
  shoal_status status = read_bytes(file, path, &bytes, &size_bytes, error);
  (void)close(file);
  if (status == SHOAL_OK) status = directory_of(path, &directory, error);
  if (status == SHOAL_OK)
    status = shoal_policy_load_text(bytes, size_bytes, path, directory, policy, error);
  free(directory);
  free(bytes);
  return status;
}

/* ---------------------------------------------------------------- queries */

const char *const shoal_role_names[] = {
    [SHOAL_ROLE_IDENTIFIER] = "identifier", [SHOAL_ROLE_QUASI] = "quasi",
    [SHOAL_ROLE_SENSITIVE] = "sensitive",   [SHOAL_ROLE_KEEP] = "keep",
    [SHOAL_ROLE_PSEUDONYM] = "pseudonym",   [SHOAL_ROLE_PERSON] = "person",
    [SHOAL_ROLE_HOUSEHOLD] = "household",   [SHOAL_ROLE_DROP] = NULL};

const char *const shoal_risk_names[SHOAL_N_RISKS] = {
    [SHOAL_RISK_UNPROTECTED] = "unprotected", [SHOAL_RISK_KEPT] = "kept",
    [SHOAL_RISK_REPEATS] = "repeats",         [SHOAL_RISK_ATTACKS] = "attacks",
    [SHOAL_RISK_SINGLE_ROWS] = "single-rows",
};

shoal_risk_kind shoal_risk_named(const char *name) {
  size_t kind = 0;
  while (kind + 1 < SHOAL_N_RISKS && strcmp(shoal_risk_names[kind], name) != 0) kind++;
  return (shoal_risk_kind)kind;
}

bool shoal_policy_has_role(const shoal_policy *policy, shoal_role role) {
  for (size_t i = 0; i < policy->n_attributes; i++)
    if (shoal_attribute_is_key(&policy->attributes[i], role)) return true;
  return false;
}

bool shoal_policy_guards_by(const shoal_policy *policy, const char *column) {
  for (size_t i = 0; i < policy->n_models; i++) {
    const shoal_model_request *request = &policy->models[i];
    for (size_t j = 0; j < request->n_parameters; j++)
      if (strcmp(request->parameters[j].text, "column") == 0 &&
          strcmp(request->values[j].text, column) == 0)
        return true;
  }
  return false;
}

bool shoal_policy_accepts(const shoal_policy *policy, shoal_risk_kind kind, const char *name) {
  if (kind == SHOAL_RISK_SINGLE_ROWS) return policy->accept_single_rows;
  const shoal_accepted *accepted = &policy->accept[kind];
  for (size_t i = 0; i < accepted->n_names; i++)
    if (strcmp(accepted->names[i].text, name) == 0) return true;
  return false;
}

uint64_t shoal_amount_rows(shoal_amount amount, uint64_t n_rows) {
  if (amount.percent) return shoal_decimal_percent(amount.number, n_rows);
  uint64_t rows = (uint64_t)amount.number.mantissa; /* shoal_setting_amount checked it */
  return rows < n_rows ? rows : n_rows;
}

void shoal_amount_print(shoal_amount amount, char *out, size_t size) {
  char number[64];
  shoal_decimal_print(amount.number.mantissa, amount.number.scale, number);
  (void)snprintf(out, size, amount.percent ? "%s%% of the rows" : "%s rows", number);
}

shoal_status shoal_policy_fail(const shoal_policy *policy, shoal_mark mark, shoal_error *error,
                               const char *format, ...) {
  char message[sizeof error->message];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(message, sizeof message, format, args);
  va_end(args);
  const shoal_location location = {
      .file = mark.line ? policy->file : "command line", .line = mark.line, .at = mark.at};
  return shoal_fail_as(error, shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "%s", message),
                       SHOAL_BAD_POLICY);
}

shoal_status shoal_policy_find_file(const shoal_policy *policy, const shoal_attribute *attribute,
                                    const char *file, shoal_error *error) {
  if (!file || access(file, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)) return SHOAL_OK;
  return shoal_policy_fail(policy, attribute->mark, error,
                           "'%s': the file %s does not exist; correct the path (it is relative to "
                           "the policy), or make the file",
                           attribute->name, file);
}

/* ---------------------------------------------------------------- overrides of the command line */

static const struct {
  const char *key, *option;
} overrides[] = {
    {"k", "-k"},
    {"p", "-p"},
    {"algorithm", "--algorithm"},
    {"max-suppression", "--max-suppression"},
    {"prefer", "--prefer"},
    {"seed", "--seed"},
    {"effort", "--effort"},
    {"suppressed", "--suppressed"},
    {"formulas", "--formulas"},
    {"delimiter", "--delimiter"},
};

enum { N_OVERRIDES = sizeof overrides / sizeof *overrides };

shoal_status shoal_policy_override(shoal_policy *policy, const char *key, const char *value,
                                   shoal_error *error) {
  const char *keys[N_OVERRIDES + 1] = {NULL};
  for (size_t i = 0; i < N_OVERRIDES; i++) {
    if (strcmp(overrides[i].key, key) == 0) {
      shoal_policy_reader reader = {
          .arena = &policy->arena, .error = error, .option = overrides[i].option};
      return shoal_read_option(&reader, key, value, policy);
    }
    keys[i] = overrides[i].key;
  }
  return shoal_fail(error, SHOAL_BAD_INPUT, "unknown setting '%s'%s", shoal_quote(key).text,
                    shoal_advise(key, keys).text);
}
