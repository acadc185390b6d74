/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/canonical: the sections of a policy as YAML. One mapping is a table of writers, made from
 * the same list of keys as the table of its readers.
 */
#include "policy/canonical.h"

#include <string.h>

#include "policy/keys.h"
#include "policy/yaml.h"

/* ---------------------------------------------------------------- parts */

void shoal_canonical_key(shoal_canonical *out, const char *key) {
  if (!out->indent && out->n_keys) shoal_text_add(out->text, ", ");
  out->n_keys++;
  shoal_yaml_add_key(out->text, out->indent, key);
}

void shoal_canonical_put(shoal_canonical *out, const shoal_key_writer *writers) {
  out->n_keys = 0;
  for (; writers->key; writers++) {
    size_t before = out->text->size_bytes;
    writers->put(out, writers->key);
    bool wrote = out->text->size_bytes > before;
    if (out->indent && wrote && out->text->bytes[out->text->size_bytes - 1] != '\n')
      shoal_text_add(out->text, "\n");
  }
}

void shoal_canonical_word(shoal_canonical *out, const char *key, const char *word) {
  shoal_canonical_key(out, key);
  shoal_yaml_add_scalar(out->text, word);
}

void shoal_canonical_number(shoal_text *text, shoal_decimal number) {
  char digits[32];
  shoal_decimal_print(number.mantissa, number.scale, digits);
  shoal_text_add(text, digits);
}

void shoal_canonical_decimal(shoal_canonical *out, const char *key, shoal_decimal number) {
  shoal_canonical_key(out, key);
  shoal_canonical_number(out->text, number);
}

static void put_count(shoal_canonical *out, const char *key, uint64_t number) {
  shoal_canonical_key(out, key);
  shoal_text_print(out->text, "%llu", (unsigned long long)number);
}

static void put_amount(shoal_canonical *out, const char *key, shoal_amount amount) {
  shoal_canonical_decimal(out, key, amount.number);
  if (amount.percent) shoal_text_add(out->text, "%");
}

/* A value of a model as it was written; numbers need no quotes. */
static void add_value(shoal_text *text, const char *value) {
  shoal_decimal number;
  if (shoal_decimal_parse(value, strlen(value), &number) == SHOAL_NUMBER_OK)
    shoal_text_add(text, value);
  else shoal_yaml_add_scalar(text, value);
}

/* A section: its name, and its keys in a block; nothing if every key has its default. */
static void put_section(shoal_canonical *out, const char *name, const shoal_key_writer *writers) {
  size_t begin = out->text->size_bytes;
  shoal_text_print(out->text, "%s:\n", name);
  shoal_canonical inner = *out;
  inner.indent = "  ";
  shoal_canonical_put(&inner, writers);
  if (!inner.n_keys) shoal_text_cut(out->text, begin);
}

/* ---------------------------------------------------------------- data */

static void put_read_delimiter(shoal_canonical *out, const char *key) {
  char delimiter[2] = {out->policy->delimiter, '\0'};
  if (!*delimiter) return;
  shoal_canonical_word(out, key, *delimiter == '\t' ? "tab" : delimiter);
}

static void put_read_missing(shoal_canonical *out, const char *key) {
  const shoal_policy *policy = out->policy;
  if (policy->n_missing == 1 && !policy->missing[0][0]) return;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "[");
  for (size_t i = 0; i < policy->n_missing; i++) {
    if (i) shoal_text_add(out->text, ", ");
    shoal_yaml_add_quoted(out->text, policy->missing[i]);
  }
  shoal_text_add(out->text, "]");
}

static void put_read_fold(shoal_canonical *out, const char *key) {
  static const struct {
    shoal_equality bit;
    const char *word;
  } folds[] = {
      {SHOAL_EQUAL_CASE, "case"}, {SHOAL_EQUAL_SPACE, "space"}, {SHOAL_EQUAL_UNICODE, "unicode"}};
  if (!out->policy->fold) return;
  shoal_canonical_key(out, key);
  const char *before = "[";
  for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) {
    if (!(out->policy->fold & folds[i].bit)) continue;
    shoal_text_print(out->text, "%s%s", before, folds[i].word);
    before = ", ";
  }
  shoal_text_add(out->text, "]");
}

static void put_read_decimal(shoal_canonical *out, const char *key) {
  if (out->policy->decimal != '.')
    shoal_canonical_word(out, key, (const char[]){out->policy->decimal, '\0'});
}

static void put_read_thousands(shoal_canonical *out, const char *key) {
  const char *thousands = out->policy->thousands;
  if (thousands) shoal_canonical_word(out, key, *thousands == ' ' ? "space" : thousands);
}

static void put_read_encoding(shoal_canonical *out, const char *key) {
  if (out->policy->encoding) shoal_canonical_word(out, key, out->policy->encoding);
}

static void put_read_value_labels(shoal_canonical *out, const char *key) {
  if (out->policy->value_labels) shoal_canonical_word(out, key, "labels");
}

/* ---------------------------------------------------------------- accept */

static void put_names(shoal_canonical *out, const char *key, const shoal_word *names, size_t n) {
  if (!n) return;
  shoal_canonical_key(out, key);
  for (size_t i = 0; i < n; i++) {
    shoal_text_add(out->text, i ? ", " : "[");
    shoal_yaml_add_scalar(out->text, names[i].text);
  }
  shoal_text_add(out->text, "]");
}

static void put_read_accepted(shoal_canonical *out, const char *key) {
  const shoal_accepted *accepted = &out->policy->accept[shoal_risk_named(key)];
  put_names(out, key, accepted->names, accepted->n_names);
}

static void put_read_single_rows(shoal_canonical *out, const char *key) {
  if (!out->policy->accept_single_rows) return;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "true");
}

/* ---------------------------------------------------------------- privacy */

static void put_read_k(shoal_canonical *out, const char *key) {
  if (out->policy->has_k) put_count(out, key, out->policy->k);
}

static void put_read_p(shoal_canonical *out, const char *key) {
  if (out->policy->has_p) put_count(out, key, out->policy->p);
}

static void put_read_households(shoal_canonical *out, const char *key) {
  if (out->policy->has_households) put_count(out, key, out->policy->households);
}

static void put_over(shoal_text *text, const shoal_model_request *model) {
  for (size_t i = 0; i < model->n_over; i++) {
    shoal_text_add(text, i ? ", " : "over: [");
    shoal_yaml_add_scalar(text, model->over[i].text);
  }
  if (model->n_over) shoal_text_add(text, "]");
  else shoal_text_print(text, "known: %llu", (unsigned long long)model->known_count);
}

static void put_model(shoal_text *text, const shoal_model_request *model) {
  size_t n = 0;
  bool over = model->n_over || model->known_count;
  shoal_text_add(text, "    - ");
  if (!model->n_parameters && !model->attribute.text && !over) {
    shoal_yaml_add_scalar(text, model->name.text);
    shoal_text_add(text, "\n");
    return;
  }
  shoal_yaml_add_key(text, NULL, model->name.text);
  shoal_text_add(text, "{");
  for (; n < model->n_parameters; n++) {
    if (n) shoal_text_add(text, ", ");
    shoal_yaml_add_key(text, NULL, model->parameters[n].text);
    add_value(text, model->values[n].text);
  }
  if (model->attribute.text) {
    shoal_text_add(text, n ? ", attribute: " : "attribute: ");
    shoal_yaml_add_scalar(text, model->attribute.text);
    n++;
  }
  if (over) {
    if (n) shoal_text_add(text, ", ");
    put_over(text, model);
  }
  shoal_text_add(text, "}\n");
}

static void put_read_models(shoal_canonical *out, const char *key) {
  if (!out->policy->n_models) return;
  shoal_canonical_key(out, key);
  shoal_text_cut(out->text, out->text->size_bytes - 1); /* the blank */
  shoal_text_add(out->text, "\n");
  for (size_t i = 0; i < out->policy->n_models; i++) put_model(out->text, &out->policy->models[i]);
}

/* ---------------------------------------------------------------- method */

static void put_read_algorithm(shoal_canonical *out, const char *key) {
  shoal_canonical_word(out, key, out->policy->algorithm.text);
}

static void put_read_labels(shoal_canonical *out, const char *key) {
  if (out->policy->uniform_labels) shoal_canonical_word(out, key, "uniform");
}

static void put_read_max_suppression(shoal_canonical *out, const char *key) {
  if (out->policy->max_suppression.number.mantissa)
    put_amount(out, key, out->policy->max_suppression);
}

static void put_read_suppressed(shoal_canonical *out, const char *key) {
  if (out->policy->blank_suppressed) shoal_canonical_word(out, key, "blank");
}

static void put_read_prefer(shoal_canonical *out, const char *key) {
  put_names(out, key, out->policy->prefer, out->policy->n_prefer);
}

static void put_read_objective(shoal_canonical *out, const char *key) {
  if (out->policy->objective.text) shoal_canonical_word(out, key, out->policy->objective.text);
}

static void put_read_effort(shoal_canonical *out, const char *key) {
  if (out->policy->has_effort) put_count(out, key, out->policy->effort);
}

static void put_read_mondrian_cuts(shoal_canonical *out, const char *key) {
  if (out->policy->has_cuts)
    shoal_canonical_word(out, key, out->policy->relaxed_cuts ? "relaxed" : "strict");
}

static void put_read_start(shoal_canonical *out, const char *key) {
  if (out->policy->has_start)
    shoal_canonical_word(out, key, out->policy->sorted_start ? "sorted" : "flock");
}

static void put_read_satisfies(shoal_canonical *out, const char *key) {
  if (out->policy->satisfies.text) shoal_canonical_word(out, key, out->policy->satisfies.text);
}

static void put_read_slack(shoal_canonical *out, const char *key) {
  if (out->policy->slack) put_count(out, key, out->policy->slack);
}

static void put_read_noise(shoal_canonical *out, const char *key) {
  if (out->policy->noise_allowed) put_amount(out, key, out->policy->noise);
}

static bool is_one(shoal_decimal number) {
  return shoal_power_of_ten(number.scale) == (uint64_t)number.mantissa;
}

static void put_read_weights(shoal_canonical *out, const char *key) {
  const shoal_policy *policy = out->policy;
  if (policy->weights_inverse) shoal_canonical_word(out, key, "inverse");
  shoal_canonical list = {.text = out->text};
  for (size_t i = 0; i < policy->n_attributes && !policy->weights_inverse; i++) {
    if (is_one(policy->attributes[i].weight)) continue;
    if (!list.n_keys) shoal_canonical_key(out, key);
    if (!list.n_keys) shoal_text_add(out->text, "{");
    shoal_canonical_decimal(&list, policy->attributes[i].name, policy->attributes[i].weight);
  }
  if (list.n_keys) shoal_text_add(out->text, "}");
}

static void put_read_formulas(shoal_canonical *out, const char *key) {
  if (out->policy->quote_formulas) shoal_canonical_word(out, key, "quote");
}

/* Whoever knows the seed can restore the order of the rows: it is never written. */
static void put_read_seed(shoal_canonical *out, const char *key) {
  (void)out;
  (void)key;
}

/* ---------------------------------------------------------------- all sections */

static const shoal_key_writer data_writers[] = {SHOAL_DATA_KEYS(SHOAL_KEY_WRITER){0}};
static const shoal_key_writer accept_writers[] = {SHOAL_ACCEPT_KEYS(SHOAL_KEY_WRITER){0}};
static const shoal_key_writer privacy_writers[] = {SHOAL_PRIVACY_KEYS(SHOAL_KEY_WRITER){0}};
static const shoal_key_writer method_writers[] = {SHOAL_METHOD_KEYS(SHOAL_KEY_WRITER){0}};

static void put_read_version(shoal_canonical *out, const char *key) {
  shoal_text_print(out->text, "%s: 1\n", key);
}

static void put_read_data(shoal_canonical *out, const char *key) {
  put_section(out, key, data_writers);
}

static void put_read_attributes(shoal_canonical *out, const char *key) {
  shoal_text_print(out->text, "%s:\n", key);
  for (size_t i = 0; i < out->policy->n_attributes; i++)
    shoal_canonical_attribute(out, &out->policy->attributes[i]);
}

static void put_read_unlisted(shoal_canonical *out, const char *key) {
  static const char *const words[] = {
      [SHOAL_UNLISTED_DROP] = "drop", [SHOAL_UNLISTED_KEEP] = "keep"};
  if (out->policy->unlisted != SHOAL_UNLISTED_REFUSE)
    shoal_text_print(out->text, "%s: %s\n", key, words[out->policy->unlisted]);
}

static void put_read_accept(shoal_canonical *out, const char *key) {
  put_section(out, key, accept_writers);
}

static void put_read_privacy(shoal_canonical *out, const char *key) {
  put_section(out, key, privacy_writers);
}

static void put_read_method(shoal_canonical *out, const char *key) {
  put_section(out, key, method_writers);
}

static const shoal_key_writer top_writers[] = {SHOAL_TOP_KEYS(SHOAL_KEY_WRITER){0}};

void shoal_policy_write(const shoal_policy *policy, const shoal_public_labels *labels,
                        shoal_text *text) {
  static const shoal_public_labels all = {0};
  shoal_canonical out = {.policy = policy, .labels = labels ? labels : &all, .text = text};
  out.indent = "";
  shoal_canonical_put(&out, top_writers);
}
