/* SPDX-License-Identifier: Apache-2.0 */
/* policy/canonical: the sections of a policy as YAML, in the order of keys.h. */
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

void shoal_canonical_put(shoal_canonical *out, const char *const *keys, shoal_put_key *put) {
  out->n_keys = 0;
  for (unsigned id = 0; keys[id]; id++) {
    size_t before = out->text->size_bytes;
    put(out, id, keys[id]);
    bool wrote = out->text->size_bytes > before;
    if (out->indent && wrote && out->text->bytes[out->text->size_bytes - 1] != '\n')
      shoal_text_add(out->text, "\n");
  }
}

void shoal_canonical_word(shoal_canonical *out, const char *key, bool given, const char *word) {
  if (!given) return;
  shoal_canonical_key(out, key);
  shoal_yaml_add_scalar(out->text, word);
}

void shoal_canonical_number(shoal_text *text, shoal_decimal number) {
  char digits[32];
  shoal_decimal_print(number.mantissa, number.scale, digits);
  shoal_text_add(text, digits);
}

void shoal_canonical_decimal(shoal_canonical *out, const char *key, bool given,
                             shoal_decimal number) {
  if (!given) return;
  shoal_canonical_key(out, key);
  shoal_canonical_number(out->text, number);
}

void shoal_canonical_true(shoal_canonical *out, const char *key, bool given) {
  if (!given) return;
  shoal_canonical_key(out, key);
  shoal_text_add(out->text, "true");
}

void shoal_canonical_count(shoal_canonical *out, const char *key, bool given, uint64_t number) {
  if (!given) return;
  shoal_canonical_key(out, key);
  shoal_text_print(out->text, "%llu", (unsigned long long)number);
}

static void put_amount(shoal_canonical *out, const char *key, bool given, shoal_amount amount) {
  shoal_canonical_decimal(out, key, given, amount.number);
  if (given && amount.percent) shoal_text_add(out->text, "%");
}

/* A section: its name, and its keys in a block; nothing if every key has its default. */
static void put_section(shoal_canonical *out, const char *name, const char *const *keys,
                        shoal_put_key *put) {
  size_t begin = out->text->size_bytes;
  shoal_text_print(out->text, "%s:\n", name);
  shoal_canonical inner = *out;
  inner.indent = "  ";
  shoal_canonical_put(&inner, keys, put);
  if (!inner.n_keys) shoal_text_cut(out->text, begin);
}

static void put_names(shoal_canonical *out, const char *key, const shoal_word *names, size_t n) {
  if (!n) return;
  shoal_canonical_key(out, key);
  for (size_t i = 0; i < n; i++) {
    shoal_text_add(out->text, i ? ", " : "[");
    shoal_yaml_add_scalar(out->text, names[i].text);
  }
  shoal_text_add(out->text, "]");
}

/* ---------------------------------------------------------------- data and accept */

static void put_missing(shoal_canonical *out, const char *key) {
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

static void put_fold(shoal_canonical *out, const char *key) {
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

static const char *const data_keys[] = {SHOAL_DATA_KEYS(SHOAL_KEY_NAME) NULL};

static void put_data_key(shoal_canonical *out, unsigned id, const char *key) {
  const shoal_policy *policy = out->policy;
  const char delimiter[] = {policy->delimiter, '\0'}, decimal[] = {policy->decimal, '\0'};
  const char *thousands = policy->thousands;
  bool spaced = thousands && *thousands == ' ';
  switch ((enum shoal_data_key)id) {
  case SHOAL_KEY_DELIMITER:
    shoal_canonical_word(out, key, *delimiter, *delimiter == '\t' ? "tab" : delimiter);
    break;
  case SHOAL_KEY_MISSING: put_missing(out, key); break;
  case SHOAL_KEY_FOLD: put_fold(out, key); break;
  case SHOAL_KEY_DECIMAL: shoal_canonical_word(out, key, *decimal != '.', decimal); break;
  case SHOAL_KEY_THOUSANDS:
    shoal_canonical_word(out, key, thousands, spaced ? "space" : thousands);
    break;
  case SHOAL_KEY_ENCODING:
    shoal_canonical_word(out, key, policy->encoding, policy->encoding);
    break;
  case SHOAL_KEY_VALUE_LABELS:
    shoal_canonical_word(out, key, policy->value_labels, "labels");
    break;
  }
}

static const char *const accept_keys[] = {SHOAL_ACCEPT_KEYS(SHOAL_KEY_NAME) NULL};

/* Each key but single-rows is the name of a risk. */
static void put_accept_key(shoal_canonical *out, unsigned id, const char *key) {
  (void)id;
  if (strcmp(key, "single-rows") == 0) {
    shoal_canonical_true(out, key, out->policy->accept_single_rows);
  } else {
    const shoal_accepted *accepted = &out->policy->accept[shoal_risk_named(key)];
    put_names(out, key, accepted->names, accepted->n_names);
  }
}

/* ---------------------------------------------------------------- privacy */

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
    /* A value of a model as it was written; numbers need no quotes. */
    const char *value = model->values[n].text;
    shoal_decimal number;
    if (shoal_decimal_parse(value, strlen(value), &number) == SHOAL_NUMBER_OK)
      shoal_text_add(text, value);
    else shoal_yaml_add_scalar(text, value);
  }
  if (model->attribute.text) {
    shoal_text_add(text, n ? ", attribute: " : "attribute: ");
    shoal_yaml_add_scalar(text, model->attribute.text);
    n++;
  }
  if (over) {
    if (n) shoal_text_add(text, ", ");
    for (size_t i = 0; i < model->n_over; i++) {
      shoal_text_add(text, i ? ", " : "over: [");
      shoal_yaml_add_scalar(text, model->over[i].text);
    }
    if (model->n_over) shoal_text_add(text, "]");
    else shoal_text_print(text, "known: %llu", (unsigned long long)model->known_count);
  }
  shoal_text_add(text, "}\n");
}

static void put_models(shoal_canonical *out, const char *key) {
  if (!out->policy->n_models) return;
  shoal_canonical_key(out, key);
  shoal_text_cut(out->text, out->text->size_bytes - 1); /* the blank */
  shoal_text_add(out->text, "\n");
  for (size_t i = 0; i < out->policy->n_models; i++) put_model(out->text, &out->policy->models[i]);
}

static const char *const privacy_keys[] = {SHOAL_PRIVACY_KEYS(SHOAL_KEY_NAME) NULL};

static void put_privacy_key(shoal_canonical *out, unsigned id, const char *key) {
  const shoal_policy *policy = out->policy;
  switch ((enum shoal_privacy_key)id) {
  case SHOAL_KEY_K: shoal_canonical_count(out, key, policy->has_k, policy->k); break;
  case SHOAL_KEY_P: shoal_canonical_count(out, key, policy->has_p, policy->p); break;
  case SHOAL_KEY_HOUSEHOLDS:
    shoal_canonical_count(out, key, policy->has_households, policy->households);
    break;
  case SHOAL_KEY_MODELS: put_models(out, key); break;
  }
}

/* ---------------------------------------------------------------- method */

static void put_weights(shoal_canonical *out, const char *key) {
  const shoal_policy *policy = out->policy;
  shoal_canonical_word(out, key, policy->weights_inverse, "inverse");
  shoal_canonical list = {.text = out->text};
  for (size_t i = 0; i < policy->n_attributes && !policy->weights_inverse; i++) {
    shoal_decimal number = policy->attributes[i].weight;
    if (shoal_power_of_ten(number.scale) == (uint64_t)number.mantissa) continue;
    if (!list.n_keys) shoal_canonical_key(out, key);
    if (!list.n_keys) shoal_text_add(out->text, "{");
    shoal_canonical_decimal(&list, policy->attributes[i].name, true, number);
  }
  if (list.n_keys) shoal_text_add(out->text, "}");
}

static const char *const method_keys[] = {SHOAL_METHOD_KEYS(SHOAL_KEY_NAME) NULL};

static void put_method_key(shoal_canonical *out, unsigned id, const char *key) {
  const shoal_policy *policy = out->policy;
  const char *objective = policy->objective.text, *satisfies = policy->satisfies.text;
  const shoal_amount max = policy->max_suppression;
  switch ((enum shoal_method_key)id) {
  case SHOAL_KEY_ALGORITHM: shoal_canonical_word(out, key, true, policy->algorithm.text); break;
  case SHOAL_KEY_LABELS: shoal_canonical_word(out, key, policy->uniform_labels, "uniform"); break;
  case SHOAL_KEY_MAX_SUPPRESSION: put_amount(out, key, max.number.mantissa, max); break;
  case SHOAL_KEY_SUPPRESSED:
    shoal_canonical_word(out, key, policy->blank_suppressed, "blank");
    break;
  case SHOAL_KEY_PREFER: put_names(out, key, policy->prefer, policy->n_prefer); break;
  case SHOAL_KEY_OBJECTIVE: shoal_canonical_word(out, key, objective, objective); break;
  case SHOAL_KEY_EFFORT: shoal_canonical_count(out, key, policy->has_effort, policy->effort); break;
  case SHOAL_KEY_MONDRIAN_CUTS:
    shoal_canonical_word(out, key, policy->has_cuts, policy->relaxed_cuts ? "relaxed" : "strict");
    break;
  case SHOAL_KEY_START:
    shoal_canonical_word(out, key, policy->has_start, policy->sorted_start ? "sorted" : "flock");
    break;
  case SHOAL_KEY_MU_ARGUS:
    shoal_canonical_word(out, key, policy->has_mu_argus,
                         policy->only_cells ? "suppress" : "generalize");
    break;
  case SHOAL_KEY_SATISFIES: shoal_canonical_word(out, key, satisfies, satisfies); break;
  case SHOAL_KEY_SLACK: shoal_canonical_count(out, key, policy->slack, policy->slack); break;
  case SHOAL_KEY_NOISE: put_amount(out, key, policy->noise_allowed, policy->noise); break;
  case SHOAL_KEY_WEIGHTS: put_weights(out, key); break;
  case SHOAL_KEY_FORMULAS: shoal_canonical_word(out, key, policy->quote_formulas, "quote"); break;
  case SHOAL_KEY_SEED: break; /* whoever knows it can restore the order of the rows */
  }
}

/* ---------------------------------------------------------------- all sections */

static const char *const top_keys[] = {SHOAL_TOP_KEYS(SHOAL_KEY_NAME) NULL};

static void put_top_key(shoal_canonical *out, unsigned id, const char *key) {
  const shoal_policy *policy = out->policy;
  switch ((enum shoal_top_key)id) {
  case SHOAL_KEY_VERSION: shoal_text_print(out->text, "%s: 1\n", key); break;
  case SHOAL_KEY_DATA: put_section(out, key, data_keys, put_data_key); break;
  case SHOAL_KEY_ATTRIBUTES:
    shoal_text_print(out->text, "%s:\n", key);
    for (size_t i = 0; i < policy->n_attributes; i++)
      shoal_canonical_attribute(out, &policy->attributes[i]);
    break;
  case SHOAL_KEY_UNLISTED:
    if (policy->unlisted != SHOAL_UNLISTED_REFUSE)
      shoal_text_print(out->text, "%s: %s\n", key,
                       policy->unlisted == SHOAL_UNLISTED_KEEP ? "keep" : "drop");
    break;
  case SHOAL_KEY_ACCEPT: put_section(out, key, accept_keys, put_accept_key); break;
  case SHOAL_KEY_PRIVACY: put_section(out, key, privacy_keys, put_privacy_key); break;
  case SHOAL_KEY_METHOD: put_section(out, key, method_keys, put_method_key); break;
  }
}

void shoal_policy_write(const shoal_policy *policy, const shoal_public_labels *labels,
                        shoal_text *text) {
  static const shoal_public_labels all = {0};
  shoal_canonical out = {
      .policy = policy, .labels = labels ? labels : &all, .text = text, .indent = ""};
  shoal_canonical_put(&out, top_keys, put_top_key);
}
