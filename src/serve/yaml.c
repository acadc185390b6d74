/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/yaml.h"

#include <libfyaml.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_DIGITS = 15 };

/* Is it a number that JSON writes in the same way, short enough for a double to hold it exactly?
 * 1.10 is not: it may be a code, and would come back as 1.1. */
static bool is_number(const char *text, size_t size) {
  size_t i = size && text[0] == '-', start = i;
  while (i < size && text[i] >= '0' && text[i] <= '9') i++;
  if (i == start || (text[start] == '0' && i > start + 1)) return false;
  if (i < size && text[i] == '.') {
    size_t point = ++i;
    while (i < size && text[i] >= '0' && text[i] <= '9') i++;
    if (i == point || text[i - 1] == '0') return false;
  }
  return i == size && size <= MAX_DIGITS && strncmp(text, "-0", size) != 0;
}

static json_t *scalar_value(struct fy_node *node) {
  size_t size = 0;
  const char *text = fy_node_get_scalar(node, &size);
  if (!text) return json_null();
  if (fy_node_get_style(node) == FYNS_PLAIN) {
    if (size == 4 && !memcmp(text, "true", 4)) return json_true();
    if (size == 5 && !memcmp(text, "false", 5)) return json_false();
    if (!size || (size == 1 && *text == '~') || (size == 4 && !memcmp(text, "null", 4)))
      return json_null();
    if (is_number(text, size)) return json_loadb(text, size, JSON_DECODE_ANY, NULL);
  }
  return json_stringn(text, size);
}

static json_t *value_of(struct fy_node *node, int depth);

static json_t *mapping_value(struct fy_node *node, int depth) {
  json_t *object = json_object();
  void *at = NULL;
  for (struct fy_node_pair *pair; object && (pair = fy_node_mapping_iterate(node, &at));) {
    size_t size = 0;
    const char *key = fy_node_get_scalar(fy_node_pair_key(pair), &size);
    char *name = key ? strndup(key, size) : NULL;
    json_t *value = name ? value_of(fy_node_pair_value(pair), depth + 1) : NULL;
    if (!value || json_object_set_new(object, name, value)) {
      json_decref(object);
      object = NULL;
    }
    free(name);
  }
  return object;
}

static json_t *sequence_value(struct fy_node *node, int depth) {
  json_t *array = json_array();
  void *at = NULL;
  for (struct fy_node *item; array && (item = fy_node_sequence_iterate(node, &at));) {
    json_t *value = value_of(item, depth + 1);
    if (!value || json_array_append_new(array, value)) {
      json_decref(array);
      array = NULL;
    }
  }
  return array;
}

static json_t *value_of(struct fy_node *node, int depth) {
  if (!node) return json_null();
  if (depth > MAX_DEPTH || fy_node_is_alias(node)) return NULL;
  switch (fy_node_get_type(node)) {
  case FYNT_MAPPING: return mapping_value(node, depth);
  case FYNT_SEQUENCE: return sequence_value(node, depth);
  default: return scalar_value(node);
  }
}

/* The parser quotes the text in its messages: nothing of it may be printed. */
static void drop_output(struct fy_diag *diag, void *user, const char *said, size_t size) {
  (void)diag;
  (void)user;
  (void)said;
  (void)size;
}

/* UTF-8 without control characters, as a policy must be. libfyaml 0.7 never returns from a
 * directive with other bytes. */
static bool is_text(const char *text, size_t size) {
  json_t *copy = json_stringn(text, size); /* NULL: not UTF-8 */
  json_decref(copy);
  for (size_t i = 0; copy && i < size; i++)
    if ((unsigned char)text[i] < 0x20 && (!text[i] || !strchr("\t\n\r", text[i]))) return false;
  return copy != NULL;
}

json_t *serve_yaml_to_json(const char *text, size_t size) {
  if (!is_text(text, size)) return NULL;
  struct fy_diag_cfg config;
  fy_diag_cfg_default(&config);
  config.fp = NULL;
  config.output_fn = drop_output;
  config.colorize = false;
  struct fy_diag *diag = fy_diag_create(&config);
  struct fy_parse_cfg quiet = {.flags = FYPCF_QUIET, .diag = diag};
  struct fy_document *document = diag ? fy_document_build_from_string(&quiet, text, size) : NULL;
  json_t *value = document ? value_of(fy_document_root(document), 0) : NULL;
  fy_document_destroy(document);
  fy_diag_destroy(diag);
  return value;
}
