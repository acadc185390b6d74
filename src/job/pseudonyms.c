/* SPDX-License-Identifier: Apache-2.0 */
/* job/pseudonyms: reads keys, and makes pseudonyms of the values of a column. */
#include "job/pseudonyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hmac.h"
#include "base/random.h"

/* ------------------------------------------------------------ keys */

enum { MIN_KEY_BYTES = 16, MAX_KEY_BYTES = 4096 };

typedef struct secret {
  char bytes[MAX_KEY_BYTES + 1]; /* room to see that there are more */
  size_t size_bytes;
} secret;

/* A system error, at the policy's line. */
static shoal_status fail_reading(const shoal_policy *policy, const shoal_attribute *attribute,
                                 int code, shoal_error *error) {
  shoal_location location = {
      .file = policy->file, .line = attribute->mark.line, .at = attribute->mark.at};
  return shoal_fail_at(error, SHOAL_FAILED, &location, "%s: cannot read the key of '%s': %s",
                       attribute->key.file, attribute->name, strerror(code));
}

static shoal_status check_file(const shoal_policy *policy, const shoal_attribute *attribute, int fd,
                               shoal_error *error) {
  struct stat info;
  const char *file = attribute->key.file;
  if (fstat(fd, &info) != 0) return fail_reading(policy, attribute, errno, error);
  if (!S_ISREG(info.st_mode))
    return shoal_policy_fail(policy, attribute->mark, error, "%s: the key is not a regular file",
                             file);
  if (info.st_mode & 077)
    return shoal_policy_fail(policy, attribute->mark, error,
                             "%s: other users may have access to the key: use 'chmod 600' on it, "
                             "and replace it if they had",
                             file);
  return SHOAL_OK;
}

/* Reads the file, up to one byte more than a key may have. */
static shoal_status read_file(const shoal_policy *policy, const shoal_attribute *attribute,
                              secret *key, shoal_error *error) {
  const char *file = attribute->key.file;
  int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
    return shoal_policy_fail(policy, attribute->mark, error,
                             "%s: there is no such key: correct the path, or make the file", file);
  if (fd < 0) return fail_reading(policy, attribute, errno, error);
  shoal_status status = check_file(policy, attribute, fd, error);
  ssize_t got = 1;
  while (status == SHOAL_OK && got && key->size_bytes < sizeof key->bytes) {
    got = read(fd, key->bytes + key->size_bytes, sizeof key->bytes - key->size_bytes);
    if (got > 0) key->size_bytes += (size_t)got;
    else if (got < 0 && errno != EINTR) status = fail_reading(policy, attribute, errno, error);
  }
  (void)close(fd);
  return status;
}

static shoal_status read_variable(const shoal_policy *policy, const shoal_attribute *attribute,
                                  secret *key, shoal_error *error) {
  const char *text = getenv(attribute->key.env);
  if (!text)
    return shoal_policy_fail(policy, attribute->mark, error,
                             "the environment variable '%.200s' is not set: set it to the key of "
                             "'%.200s'",
                             attribute->key.env, attribute->name);
  key->size_bytes = strnlen(text, sizeof key->bytes);
  memcpy(key->bytes, text, key->size_bytes);
  return SHOAL_OK;
}

/* The caller wipes the key, also after an error. */
static shoal_status read_key(const shoal_policy *policy, const shoal_attribute *attribute,
                             secret *key, shoal_error *error) {
  key->size_bytes = 0;
  if (!attribute->key.file && !attribute->key.env)
    return shoal_policy_fail(policy, attribute->mark, error,
                             "the pseudonym '%.200s' has no key: add 'key: {file: FILE}' or 'key: "
                             "{env: NAME}'",
                             attribute->name);
  SHOAL_TRY(attribute->key.file ? read_file(policy, attribute, key, error)
                                : read_variable(policy, attribute, key, error));
  if (key->size_bytes && key->bytes[key->size_bytes - 1] == '\n') { /* editors add one */
    key->size_bytes--;
    if (key->size_bytes && key->bytes[key->size_bytes - 1] == '\r') key->size_bytes--;
  }
  if (key->size_bytes >= MIN_KEY_BYTES && key->size_bytes <= MAX_KEY_BYTES) return SHOAL_OK;
  return shoal_policy_fail(policy, attribute->mark, error,
                           "the key of the pseudonym '%.200s' has %s than %d bytes: 'openssl rand "
                           "-hex 32' prints a good one",
                           attribute->name, key->size_bytes < MIN_KEY_BYTES ? "fewer" : "more",
                           key->size_bytes < MIN_KEY_BYTES ? MIN_KEY_BYTES : MAX_KEY_BYTES);
}

shoal_status shoal_pseudonyms_check(const shoal_table *table, const shoal_policy *policy,
                                    shoal_error *error) {
  for (size_t c = 0; c < table->n_columns; c++) {
    const shoal_column *column = &table->columns[c];
    const shoal_attribute *attribute = shoal_policy_attribute(policy, column->name);
    if (!attribute || attribute->role != SHOAL_ROLE_PSEUDONYM) continue;
    if (policy->noise_allowed)
      return shoal_policy_fail(policy, attribute->mark, error,
                               "noise rows are about nobody and can have no pseudonym: remove "
                               "'noise', or give '%.200s' the role identifier",
                               attribute->name);
    if (!column->code_size)
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = table->name},
                           "its rows do not fit into the memory allowed, and pseudonyms need them "
                           "all: raise --memory, or give '%.200s' the role identifier",
                           column->name);
    secret key;
    shoal_status status = read_key(policy, attribute, &key, error);
    explicit_bzero(&key, sizeof key);
    SHOAL_TRY(status);
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ pseudonyms */

/* Adds the policy's context to the message, or 128 random bits, and the byte that ends it. */
static shoal_status add_context(shoal_hmac *hmac, const shoal_attribute *attribute,
                                shoal_error *error) {
  const char *given = attribute->key.context;
  if (given) {
    shoal_hmac_add(hmac, given, strlen(given) + 1);
    return SHOAL_OK;
  }
  shoal_random random;
  char drawn[33];
  if (!shoal_random_entropy(&random))
    return shoal_fail(error, SHOAL_FAILED,
                      "the system gives no randomness for pseudonyms: give 'key.context'");
  uint64_t high = shoal_random_next(&random), low = shoal_random_next(&random);
  (void)snprintf(drawn, sizeof drawn, "%016llx%016llx", (unsigned long long)high,
                 (unsigned long long)low);
  shoal_hmac_add(hmac, drawn, sizeof drawn);
  explicit_bzero(&random, sizeof random);
  explicit_bzero(drawn, sizeof drawn);
  explicit_bzero(&high, sizeof high);
  explicit_bzero(&low, sizeof low);
  return SHOAL_OK;
}

static void hash_identifier(shoal_hmac hmac, const char *identifier, size_t size,
                            char text[SHOAL_PSEUDONYM_BYTES]) {
  unsigned char digest[SHOAL_SHA256_BYTES];
  shoal_hmac_add(&hmac, identifier, size);
  shoal_hmac_finish(&hmac, digest);
  shoal_base32(digest, sizeof digest, text, SHOAL_PSEUDONYM_BYTES);
}

static shoal_status add_pseudonyms(const shoal_hmac *keyed, const shoal_attribute *attribute,
                                   const shoal_column *column, shoal_strings *pseudonyms,
                                   shoal_error *error) {
  for (uint32_t v = 0; v < column->n_values; v++) {
    char text[SHOAL_PSEUDONYM_BYTES];
    shoal_label value = {text, sizeof text};
    size_t size;
    const char *identifier = shoal_column_value(column, v, &size);
    if (shoal_column_missing(column, v)) value = (shoal_label){identifier, size};
    else hash_identifier(*keyed, identifier, size, text);
    uint32_t number = shoal_strings_intern(pseudonyms, value);
    if (number == SHOAL_NONE) return shoal_fail_memory(error);
    if (number != v) /* of 2^32 identifiers with a probability of 2^-37 */
      return shoal_fail(
          error, SHOAL_FAILED, "two identifiers of column '%.200s' have the same pseudonym: %s",
          column->name, attribute->key.context ? "choose another 'key.context'" : "run again");
  }
  return SHOAL_OK;
}

shoal_status shoal_pseudonyms_make(const shoal_policy *policy, const shoal_attribute *attribute,
                                   const shoal_column *column, shoal_strings *pseudonyms,
                                   shoal_error *error) {
  secret key;
  shoal_hmac hmac;
  memset(pseudonyms, 0, sizeof *pseudonyms);
  shoal_status status = read_key(policy, attribute, &key, error);
  if (status == SHOAL_OK) shoal_hmac_init(&hmac, key.bytes, key.size_bytes);
  explicit_bzero(&key, sizeof key);
  if (status == SHOAL_OK) status = add_context(&hmac, attribute, error);
  if (status == SHOAL_OK && !shoal_strings_init(pseudonyms)) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = add_pseudonyms(&hmac, attribute, column, pseudonyms, error);
  explicit_bzero(&hmac, sizeof hmac);
  return status;
}
