/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/sections: the nodes of a YAML policy -> shoal_policy, by one table of keys per mapping.
 * Keys come in any order, so `weights` are assigned to their attributes at the end.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/keys.h"
#include "policy/reader.h"
#include "read/encoding.h"

/* A policy while its keys are read. */
typedef struct policy_target {
  shoal_policy *policy;
  bool has_version;
  shoal_attribute *attributes;
  const shoal_yaml *weights; /* NULL: not given */
  shoal_mark thousands_mark;
} policy_target;

/* ---------------------------------------------------------------- data */

static shoal_status read_missing(const shoal_policy_reader *reader, const shoal_yaml *node,
                                 shoal_policy *policy) {
  shoal_items items = {node, 1};
  if (!shoal_yaml_is_null(node)) SHOAL_TRY(shoal_read_items(reader, node, "[\"?\", \"\"]", &items));
  const char **missing = shoal_arena_alloc(reader->arena, items.n, sizeof *missing);
  if (!missing) return shoal_fail_memory(reader->error);
  const shoal_yaml *item = items.first;
  for (size_t i = 0; i < items.n; i++, item = item->next) {
    if (item->kind != SHOAL_YAML_SCALAR)
      return shoal_reader_expected(reader, item, "a cell's text");
    missing[i] = shoal_yaml_is_null(item) ? "" : item->text;
  }
  policy->missing = missing;
  policy->n_missing = items.n;
  return SHOAL_OK;
}

static shoal_status read_fold(const shoal_policy_reader *reader, const shoal_yaml *node,
                              shoal_policy *policy) {
  static const char *const words[] = {"case", "space", "unicode", NULL};
  static const shoal_equality folds[] = {SHOAL_EQUAL_CASE, SHOAL_EQUAL_SPACE, SHOAL_EQUAL_UNICODE};
  shoal_items items;
  SHOAL_TRY(shoal_read_items(reader, node, "[case, space, unicode]", &items));
  const shoal_yaml *item = items.first;
  for (size_t i = 0; i < items.n; i++, item = item->next) {
    size_t choice = 0;
    SHOAL_TRY(shoal_read_choice(reader, item, words, &choice));
    policy->fold |= folds[choice];
  }
  return SHOAL_OK;
}

static const shoal_key_rule data_rules[] = {SHOAL_DATA_KEYS(SHOAL_KEY_RULE){0}};

static shoal_status read_data_key(shoal_policy_reader *reader, unsigned id, const shoal_yaml *node,
                                  void *into) {
  static const char *const marks[] = {".", ",", NULL};
  static const char *const separators[] = {",", ".", "'", "space", NULL};
  policy_target *target = into;
  shoal_policy *policy = target->policy;
  shoal_setting setting;
  size_t choice = 0;
  switch ((enum shoal_data_key)id) {
  case SHOAL_KEY_DELIMITER:
    SHOAL_TRY(shoal_setting_from(reader, node, "one character, such as \";\"", &setting));
    return shoal_setting_delimiter(&setting, &policy->delimiter);
  case SHOAL_KEY_MISSING: return read_missing(reader, node, policy);
  case SHOAL_KEY_FOLD: return read_fold(reader, node, policy);
  case SHOAL_KEY_DECIMAL:
    SHOAL_TRY(shoal_read_choice(reader, node, marks, &choice));
    policy->decimal = *marks[choice];
    return SHOAL_OK;
  case SHOAL_KEY_THOUSANDS:
    SHOAL_TRY(shoal_read_choice(reader, node, separators, &choice));
    policy->thousands = choice == 3 ? " " : separators[choice];
    target->thousands_mark = node->mark;
    return SHOAL_OK;
  case SHOAL_KEY_ENCODING:
    if (node->kind != SHOAL_YAML_SCALAR || shoal_yaml_is_null(node) ||
        !shoal_encoding_exists(node->text))
      return shoal_reader_expected(reader, node,
                                   "an encoding, such as utf-8, latin1, windows-1252 or utf-16");
    policy->encoding = node->text;
    return SHOAL_OK;
  case SHOAL_KEY_VALUE_LABELS:
    return shoal_read_either(reader, node, "values", "labels", &policy->value_labels);
  }
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- accept */

static const shoal_key_rule accept_rules[] = {SHOAL_ACCEPT_KEYS(SHOAL_KEY_RULE){0}};

/* The keys but single-rows are the names of the risks. */
static shoal_status read_accept_key(shoal_policy_reader *reader, unsigned id,
                                    const shoal_yaml *node, void *into) {
  static const char *const such[] = {[SHOAL_RISK_UNPROTECTED] = "[result]",
                                     [SHOAL_RISK_KEPT] = "[ward]",
                                     [SHOAL_RISK_REPEATS] = "[patient]",
                                     [SHOAL_RISK_ATTACKS] = "[homogeneity]"};
  shoal_policy *policy = ((policy_target *)into)->policy;
  if (id == SHOAL_KEY_ACCEPT_SINGLE_ROWS)
    return shoal_read_bool(reader, node, &policy->accept_single_rows);
  shoal_risk_kind kind = shoal_risk_named(reader->rule->key);
  shoal_accepted *accepted = &policy->accept[kind];
  if (shoal_yaml_is_null(node)) return SHOAL_OK;
  return shoal_read_words(reader, node, such[kind], &accepted->names, &accepted->n_names);
}

/* ---------------------------------------------------------------- privacy */

static shoal_status read_positive(const shoal_policy_reader *reader, const shoal_yaml *node,
                                  uint64_t *number, shoal_mark *mark, bool *given) {
  shoal_setting setting;
  SHOAL_TRY(shoal_setting_from(reader, node, "a whole number", &setting));
  SHOAL_TRY(shoal_setting_whole(&setting, 1, number));
  *mark = node->mark;
  *given = true;
  return SHOAL_OK;
}

/* The parameters of every model; model/bind.c reads the others. *read: it was one of them. */
static shoal_status read_common(const shoal_policy_reader *reader, const shoal_yaml *key,
                                shoal_model_request *request, bool *read) {
  const shoal_yaml *value = key->next;
  *read = true;
  if (strcmp(key->text, "over") == 0) {
    static const shoal_key_rule self = {"privacy.models.over", "over"};
    shoal_policy_reader inner = *reader;
    inner.rule = &self;
    SHOAL_TRY(shoal_read_words(&inner, value, "[age, zip]", &request->over, &request->n_over));
    if (!request->n_over)
      return shoal_reader_fail(
          reader, value->mark,
          "'over' names no quasi-identifier: name at least one, or leave 'over' "
          "out for all of them");
    for (size_t i = 0; i < request->n_over; i++)
      for (size_t j = 0; j < i; j++)
        if (strcmp(request->over[i].text, request->over[j].text) == 0)
          return shoal_reader_fail(reader, request->over[i].mark,
                                   "'over' names '%s' twice: name it once",
                                   shoal_quote(request->over[i].text).text);
    return SHOAL_OK;
  }
  if (strcmp(key->text, "known") == 0) {
    static const shoal_key_rule self = {"privacy.models.known", "known"};
    shoal_policy_reader inner = *reader;
    shoal_setting setting;
    inner.rule = &self;
    SHOAL_TRY(shoal_setting_from(&inner, value, "a whole number", &setting));
    SHOAL_TRY(shoal_setting_whole(&setting, 1, &request->known_count));
    request->known = (shoal_word){value->text, value->mark};
    return SHOAL_OK;
  }
  *read = false;
  if (value->kind != SHOAL_YAML_SCALAR || shoal_yaml_is_null(value))
    return shoal_reader_expected(reader, value, "a number or a word for each parameter");
  if (strcmp(key->text, "attribute") != 0) return SHOAL_OK;
  *read = true;
  request->attribute = (shoal_word){value->text, value->mark};
  return SHOAL_OK;
}

static shoal_status read_parameters(const shoal_policy_reader *reader, const shoal_yaml *node,
                                    shoal_model_request *request) {
  if (shoal_yaml_is_null(node)) return SHOAL_OK;
  if (node->kind != SHOAL_YAML_MAPPING)
    return shoal_reader_expected(reader, node,
                                 "a mapping of the model's parameters, such as {p: 2}");
  shoal_word *names = shoal_arena_alloc(reader->arena, node->n, sizeof *names);
  shoal_word *values = shoal_arena_alloc(reader->arena, node->n, sizeof *values);
  if (!names || !values) return shoal_fail_memory(reader->error);
  size_t n = 0;
  for (const shoal_yaml *key = node->first; key; key = key->next->next) {
    bool read;
    SHOAL_TRY(read_common(reader, key, request, &read));
    if (read) continue;
    names[n] = (shoal_word){key->text, key->mark};
    values[n++] = (shoal_word){key->next->text, key->next->mark};
  }
  if (request->over && request->known.text)
    return shoal_reader_fail(reader, request->known.mark,
                             "a model has either 'over' or 'known', not both: make two entries");
  request->parameters = names;
  request->values = values;
  request->n_parameters = n;
  return SHOAL_OK;
}

static shoal_status read_models(const shoal_policy_reader *reader, const shoal_yaml *node,
                                shoal_policy *policy) {
  static const char form[] = "a model's name, or one 'name: {parameter: value}'";
  if (shoal_yaml_is_null(node)) return SHOAL_OK;
  if (node->kind != SHOAL_YAML_LIST)
    return shoal_reader_expected(reader, node, "a list such as [l-diversity: {l: 2}]");
  shoal_model_request *models = shoal_arena_alloc(reader->arena, node->n, sizeof *models);
  if (!models) return shoal_fail_memory(reader->error);
  policy->models = models;
  policy->n_models = node->n;
  for (const shoal_yaml *item = node->first; item; item = item->next, models++) {
    bool pair = item->kind == SHOAL_YAML_MAPPING && item->n == 1;
    const shoal_yaml *name = pair ? item->first : item;
    if (name->kind != SHOAL_YAML_SCALAR || name->text[0] == '\0')
      return shoal_reader_expected(reader, item, form);
    *models = (shoal_model_request){.name = {name->text, name->mark}};
    if (pair) SHOAL_TRY(read_parameters(reader, name->next, models));
  }
  return SHOAL_OK;
}

static const shoal_key_rule privacy_rules[] = {SHOAL_PRIVACY_KEYS(SHOAL_KEY_RULE){0}};

static shoal_status read_privacy_key(shoal_policy_reader *reader, unsigned id,
                                     const shoal_yaml *node, void *into) {
  shoal_policy *policy = ((policy_target *)into)->policy;
  switch ((enum shoal_privacy_key)id) {
  case SHOAL_KEY_K: return read_positive(reader, node, &policy->k, &policy->k_mark, &policy->has_k);
  case SHOAL_KEY_P: return read_positive(reader, node, &policy->p, &policy->p_mark, &policy->has_p);
  case SHOAL_KEY_HOUSEHOLDS:
    return read_positive(reader, node, &policy->households, &policy->households_mark,
                         &policy->has_households);
  case SHOAL_KEY_MODELS: return read_models(reader, node, policy);
  }
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- method */

static shoal_status read_name(const shoal_policy_reader *reader, const shoal_yaml *node,
                              shoal_word *word) {
  if (node->kind != SHOAL_YAML_SCALAR || shoal_yaml_is_null(node) || node->text[0] == '\0')
    return shoal_reader_expected(reader, node, "a name");
  *word = (shoal_word){node->text, node->mark};
  return SHOAL_OK;
}

/* The names of --prefer, separated by commas, as a list. */
static shoal_status split_names(const shoal_policy_reader *reader, const char *names,
                                shoal_policy *policy) {
  size_t n = 1, at = 0;
  for (const char *c = names; *c; c++) n += *c == ',';
  shoal_word *words = shoal_arena_alloc(reader->arena, n, sizeof *words);
  if (!words) return shoal_fail_memory(reader->error);
  for (size_t i = 0; i < n; i++) {
    size_t size = strcspn(names + at, ",");
    if (!(words[i].text = shoal_arena_copy(reader->arena, names + at, size)))
      return shoal_fail_memory(reader->error);
    words[i].mark = (shoal_mark){0};
    at += size + 1;
  }
  policy->prefer = words;
  policy->n_prefer = n;
  return SHOAL_OK;
}

static shoal_status read_noise(const shoal_policy_reader *reader, const shoal_yaml *node,
                               shoal_policy *policy) {
  static const char forms[] = "refuse, " SHOAL_AMOUNT_FORMS;
  shoal_setting setting;
  SHOAL_TRY(shoal_setting_from(reader, node, forms, &setting));
  if (strcmp(setting.text, "refuse") == 0) return SHOAL_OK;
  policy->noise_allowed = true;
  return shoal_setting_amount(&setting, forms, &policy->noise);
}

static shoal_status read_weights(const shoal_policy_reader *reader, const shoal_yaml *node,
                                 policy_target *target) {
  target->policy->weights_inverse =
      node->kind == SHOAL_YAML_SCALAR && strcmp(node->text, "inverse") == 0;
  if (target->policy->weights_inverse || shoal_yaml_is_null(node)) return SHOAL_OK;
  if (node->kind != SHOAL_YAML_MAPPING)
    return shoal_reader_expected(reader, node, "the word inverse, or a mapping such as {age: 2}");
  target->weights = node;
  return SHOAL_OK;
}

static const shoal_key_rule method_rules[] = {SHOAL_METHOD_KEYS(SHOAL_KEY_RULE){0}};

static shoal_status read_method_key(shoal_policy_reader *reader, unsigned id,
                                    const shoal_yaml *node, void *into) {
  policy_target *target = into;
  shoal_policy *policy = target->policy;
  shoal_setting setting;
  switch ((enum shoal_method_key)id) {
  case SHOAL_KEY_ALGORITHM: return read_name(reader, node, &policy->algorithm);
  case SHOAL_KEY_LABELS:
    policy->labels_mark = node->mark;
    return shoal_read_either(reader, node, "any", "uniform", &policy->uniform_labels);
  case SHOAL_KEY_MAX_SUPPRESSION:
    SHOAL_TRY(shoal_setting_from(reader, node, SHOAL_AMOUNT_FORMS, &setting));
    return shoal_setting_amount(&setting, SHOAL_AMOUNT_FORMS, &policy->max_suppression);
  case SHOAL_KEY_SUPPRESSED:
    return shoal_read_either(reader, node, "remove", "blank", &policy->blank_suppressed);
  case SHOAL_KEY_PREFER:
    if (reader->option) return split_names(reader, node->text, policy);
    return shoal_read_words(reader, node, "[min-suppression]", &policy->prefer, &policy->n_prefer);
  case SHOAL_KEY_OBJECTIVE: return read_name(reader, node, &policy->objective);
  case SHOAL_KEY_EFFORT:
    SHOAL_TRY(shoal_setting_from(reader, node, SHOAL_EFFORT_FORMS, &setting));
    SHOAL_TRY(shoal_setting_effort(&setting, &policy->effort));
    policy->has_effort = true;
    return SHOAL_OK;
  case SHOAL_KEY_MONDRIAN_CUTS:
    policy->has_cuts = true;
    return shoal_read_either(reader, node, "strict", "relaxed", &policy->relaxed_cuts);
  case SHOAL_KEY_START:
    policy->has_start = true;
    return shoal_read_either(reader, node, "flock", "sorted", &policy->sorted_start);
  case SHOAL_KEY_MU_ARGUS:
    policy->has_mu_argus = true;
    policy->mu_argus_mark = node->mark;
    return shoal_read_either(reader, node, "generalize", "suppress", &policy->only_cells);
  case SHOAL_KEY_SATISFIES: return read_name(reader, node, &policy->satisfies);
  case SHOAL_KEY_SLACK:
    SHOAL_TRY(shoal_setting_from(reader, node, "a whole number", &setting));
    policy->slack_mark = node->mark;
    return shoal_setting_whole(&setting, 0, &policy->slack);
  case SHOAL_KEY_NOISE: return read_noise(reader, node, policy);
  case SHOAL_KEY_WEIGHTS: return read_weights(reader, node, target);
  case SHOAL_KEY_FORMULAS:
    return shoal_read_either(reader, node, "keep", "quote", &policy->quote_formulas);
  case SHOAL_KEY_SEED:
    SHOAL_TRY(shoal_setting_from(reader, node, "a whole number", &setting));
    SHOAL_TRY(shoal_setting_whole(&setting, 0, &policy->seed));
    policy->has_seed = true;
    policy->seed_in_text = !reader->option;
    return SHOAL_OK;
  }
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- all sections */

/* For pattern.c. Names are distinct: they are keys of a mapping. */
static bool index_attributes(shoal_policy *policy) {
  policy->patterns =
      shoal_arena_alloc(&policy->arena, policy->n_attributes, sizeof *policy->patterns);
  if (!policy->patterns || !shoal_strings_init(&policy->names)) return false;
  for (size_t i = 0; i < policy->n_attributes; i++) {
    const char *name = policy->attributes[i].name;
    if (shoal_strings_intern(&policy->names, (shoal_label){name, strlen(name)}) == SHOAL_NONE)
      return false;
    if (shoal_name_is_pattern(name)) policy->patterns[policy->n_patterns++] = i;
  }
  return true;
}

static const shoal_key_rule top_rules[] = {SHOAL_TOP_KEYS(SHOAL_KEY_RULE){0}};

static shoal_status read_top_key(shoal_policy_reader *reader, unsigned id, const shoal_yaml *node,
                                 void *into) {
  static const char *const unlisted[] = {"drop", "keep", NULL};
  policy_target *target = into;
  shoal_policy *policy = target->policy;
  size_t choice = 0;
  switch ((enum shoal_top_key)id) {
  case SHOAL_KEY_VERSION:
    if (node->kind != SHOAL_YAML_SCALAR || strcmp(node->text, "1") != 0)
      return shoal_reader_expected(reader, node, "1, the only supported policy version");
    target->has_version = true;
    return SHOAL_OK;
  case SHOAL_KEY_DATA:
    SHOAL_TRY(
        shoal_read_mapping(reader, node, data_rules, read_data_key, "{delimiter: \";\"}", into));
    if (policy->thousands && *policy->thousands == policy->decimal)
      return shoal_reader_fail(
          reader, target->thousands_mark,
          "data.thousands: '%s' is the decimal mark too: choose another, or set "
          "'decimal'",
          policy->thousands);
    return SHOAL_OK;
  case SHOAL_KEY_ATTRIBUTES:
    SHOAL_TRY(shoal_read_attributes(reader, node, &target->attributes, &policy->n_attributes));
    policy->attributes = target->attributes;
    return index_attributes(policy) ? SHOAL_OK : shoal_fail_memory(reader->error);
  case SHOAL_KEY_UNLISTED:
    SHOAL_TRY(shoal_read_choice(reader, node, unlisted, &choice));
    policy->unlisted = choice == 0 ? SHOAL_UNLISTED_DROP : SHOAL_UNLISTED_KEEP;
    return SHOAL_OK;
  case SHOAL_KEY_ACCEPT:
    return shoal_read_mapping(reader, node, accept_rules, read_accept_key, "{kept: [ward]}", into);
  case SHOAL_KEY_PRIVACY:
    return shoal_read_mapping(reader, node, privacy_rules, read_privacy_key, "{k: 3}", into);
  case SHOAL_KEY_METHOD:
    return shoal_read_mapping(reader, node, method_rules, read_method_key, "{max-suppression: 1%}",
                              into);
  }
  return SHOAL_OK;
}

static shoal_status assign_weights(shoal_policy_reader *reader, policy_target *target) {
  static const shoal_key_rule self = {"method.weights", "weights"};
  if (!target->weights) return SHOAL_OK;
  reader->rule = &self;
  for (const shoal_yaml *name = target->weights->first; name; name = name->next->next) {
    const shoal_attribute *attribute = shoal_policy_entry(target->policy, name->text);
    if (!attribute) {
      const shoal_policy *policy = target->policy;
      const char **names = shoal_alloc(policy->n_attributes + 1, sizeof *names);
      if (!names) return shoal_fail_memory(reader->error);
      for (size_t i = 0; i < policy->n_attributes; i++) names[i] = policy->attributes[i].name;
      names[policy->n_attributes] = NULL;
      shoal_status status = shoal_reader_fail(
          reader, name->mark, "%s: unknown attribute '%s'%s", shoal_reader_subject(reader).text,
          shoal_quote(name->text).text, shoal_advise(name->text, names).text);
      free(names);
      return status;
    }
    shoal_setting setting;
    SHOAL_TRY(shoal_setting_from(reader, name->next, "a number", &setting));
    shoal_decimal *weight = &target->attributes[attribute - target->attributes].weight;
    SHOAL_TRY(shoal_setting_measure(&setting, weight));
  }
  return SHOAL_OK;
}

/* What becomes missing needs a spelling. */
static shoal_status check_missing(const shoal_policy *policy, shoal_error *error) {
  for (size_t i = 0; !policy->n_missing && i < policy->n_attributes; i++)
    if (policy->attributes[i].otherwise_missing)
      return shoal_policy_fail(policy, policy->attributes[i].mark, error,
                               "attributes.%s: 'otherwise: missing' needs a spelling in "
                               "data.missing: add \"\"",
                               shoal_quote(policy->attributes[i].name).text);
  return SHOAL_OK;
}

shoal_status shoal_read_policy(shoal_policy_reader *reader, const shoal_yaml *root,
                               shoal_policy *policy) {
  policy_target target = {.policy = policy};
  if (root->kind == SHOAL_YAML_SCALAR) /* it may be a line of the data: not quoted */
    return shoal_reader_fail(reader, root->mark, SHOAL_YAML_NOT_A_POLICY);
  SHOAL_TRY(shoal_read_mapping(reader, root, top_rules, read_top_key, "{shoal: 1, ...}", &target));
  if (!target.has_version)
    return shoal_reader_fail(
        reader, root->mark,
        "the key 'shoal' is missing; write 'shoal: 1', the only supported policy "
        "version");
  if (!target.attributes)
    return shoal_reader_fail(reader, root->mark,
                             "the key 'attributes' is missing: name the table's "
                             "columns, such as attributes: {age: {role: quasi}}");
  SHOAL_TRY(check_missing(policy, reader->error));
  return assign_weights(reader, &target);
}

shoal_status shoal_read_option(shoal_policy_reader *reader, const char *key, const char *value,
                               shoal_policy *policy) {
  static const struct {
    const shoal_key_rule *rules;
    shoal_read_key *read;
  } sections[] = {{privacy_rules, read_privacy_key},
                  {method_rules, read_method_key},
                  {data_rules, read_data_key}};
  policy_target target = {.policy = policy};
  /* quoted: an empty value is no null */
  shoal_yaml node = {.kind = SHOAL_YAML_SCALAR,
                     .text = shoal_arena_copy(reader->arena, value, strlen(value))};
  if (!node.text) return shoal_fail_memory(reader->error);
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    for (unsigned id = 0; sections[i].rules[id].key; id++)
      if (strcmp(sections[i].rules[id].key, key) == 0)
        return sections[i].read(reader, id, &node, &target);
  assert(false); /* an option has a key of these sections */
  return SHOAL_FAILED;
}
