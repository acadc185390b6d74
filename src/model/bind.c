/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/bind: the models that a policy asks for -> requirements on the table's sensitive
 * attributes. Every error has the policy's line and says what to use instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/types.h"

typedef struct binder {
  const shoal_policy *policy;
  const shoal_table *table;
  shoal_tracked *tracked;
  shoal_requirements *requirements;
  size_t capacity;
  const shoal_model_request **requests; /* by requirement: that has `over` or `known`; or NULL */
  size_t requests_capacity;
  shoal_error *error;
} binder;

void shoal_requirements_reset(shoal_requirements *requirements) {
  for (size_t i = 0; i < requirements->n_items; i++)
    if (requirements->items[i].type->release)
      requirements->items[i].type->release(requirements->items[i].own);
  for (size_t s = 0; s < requirements->n_pairs; s++) shoal_pairs_free(requirements->pairs[s]);
  free(requirements->pairs);
  for (size_t s = 0; s < requirements->n_sets; s++) free(requirements->sets[s].quasi);
  free(requirements->sets);
  free(requirements->covers);
  free(requirements->items);
  free(requirements->no_memory);
  memset(requirements, 0, sizeof *requirements);
}

bool shoal_requirement_failed(const shoal_requirement *requirement, bool failed) {
  if (failed && requirement->no_memory) atomic_store(requirement->no_memory, true);
  return failed;
}

shoal_status shoal_requirements_status(const shoal_requirements *requirements, shoal_error *error) {
  bool failed = requirements->no_memory && atomic_load(requirements->no_memory);
  return failed ? shoal_fail_memory(error) : SHOAL_OK;
}

/* "; did you mean 'x'?", or ".". A near word has fewer than 64 letters. */
static const char *advice(const char *word, const char *const *words, char *out, size_t size) {
  const char *near = shoal_nearest_word(word, words);
  if (near) (void)snprintf(out, size, "; did you mean '%s'?", near);
  else (void)snprintf(out, size, ".");
  return out;
}

/* NULL: unknown, and the error is set. */
static const shoal_model_type *find_type(const binder *b, const shoal_word *name) {
  const char *names[32] = {NULL};
  char near[128];
  const shoal_model_type *type = shoal_model_find(name->text);
  if (type) return type;
  for (size_t i = 0; shoal_model_types[i] && i + 1 < 32; i++) /* GCOVR_EXCL_BR_LINE: 12 */
    names[i] = shoal_model_types[i]->name;
  (void)shoal_policy_fail(b->policy, name->mark, b->error,
                          "unknown model '%.60s'%s See 'shoal help policy' for the list",
                          name->text, advice(name->text, names, near, sizeof near));
  return NULL;
}

/* ------------------------------------------------------------ parameters */

static const shoal_word *requested(const shoal_model_request *request, const char *name) {
  for (size_t i = 0; i < request->n_parameters; i++)
    if (strcmp(request->parameters[i].text, name) == 0) return &request->values[i];
  return NULL;
}

static shoal_status check_names(const binder *b, const shoal_model_type *type,
                                const shoal_model_request *request) {
  const char *names[SHOAL_MODEL_PARAMETERS + 4] = {NULL};
  char near[128];
  size_t n = 0;
  for (; type->parameters[n].name; n++) names[n] = type->parameters[n].name;
  if (type->on_attribute) names[n++] = "attribute";
  names[n++] = "over"; /* these two for suggestions: the policy has read them */
  names[n] = "known";
  for (size_t i = 0; i < request->n_parameters; i++) {
    const shoal_word *word = &request->parameters[i];
    size_t at = 0;
    while (names[at] && strcmp(names[at], word->text) != 0) at++;
    if (names[at]) continue;
    return shoal_policy_fail(b->policy, word->mark, b->error,
                             "%s has no parameter '%.60s'%s Use: %s", type->name, word->text,
                             advice(word->text, names, near, sizeof near), type->parameters_help);
  }
  return SHOAL_OK;
}

static bool in_range(const shoal_parameter *parameter, shoal_decimal number) {
  shoal_decimal bound;
  (void)shoal_decimal_parse(parameter->min, strlen(parameter->min), &bound);
  int order = shoal_decimal_compare(number, bound);
  if (order < 0 || (order == 0 && parameter->above_min)) return false;
  if (!parameter->max) return true;
  (void)shoal_decimal_parse(parameter->max, strlen(parameter->max), &bound);
  return shoal_decimal_compare(number, bound) <= 0;
}

/* Has it more digits than exact arithmetic allows? */
static bool is_too_long(const shoal_word *value) {
  shoal_decimal number;
  return shoal_decimal_parse(value->text, strlen(value->text), &number) == SHOAL_NUMBER_TOO_LONG;
}

static shoal_status parse_number(const binder *b, const shoal_model_type *type,
                                 const shoal_parameter *parameter, const shoal_word *value,
                                 shoal_decimal *number) {
  if (shoal_decimal_parse(value->text, strlen(value->text), number) == SHOAL_NUMBER_OK &&
      in_range(parameter, *number))
    return SHOAL_OK;
  if (is_too_long(value))
    return shoal_policy_fail(b->policy, value->mark, b->error,
                             "%s of %s has more than 18 digits: use fewer", parameter->name,
                             type->name);
  return shoal_policy_fail(
      b->policy, value->mark, b->error, "%s of %s must be a number %s%s%s%s", parameter->name,
      type->name, parameter->above_min ? "above " : "of at least ", parameter->min,
      parameter->max ? " and at most " : "", parameter->max ? parameter->max : "");
}

static shoal_status parse_count(const binder *b, const shoal_model_type *type,
                                const shoal_parameter *parameter, const shoal_word *value,
                                uint64_t *count) {
  shoal_decimal number;
  bool ok = shoal_decimal_parse(value->text, strlen(value->text), &number) == SHOAL_NUMBER_OK &&
            number.scale == 0 && number.mantissa >= 1;
  if (is_too_long(value))
    return shoal_policy_fail(b->policy, value->mark, b->error,
                             "%s of %s has more than 18 digits: use fewer", parameter->name,
                             type->name);
  if (!ok)
    return shoal_policy_fail(b->policy, value->mark, b->error,
                             "%s of %s must be a whole number of at least 1", parameter->name,
                             type->name);
  *count = (uint64_t)number.mantissa;
  return SHOAL_OK;
}

static shoal_status parse_word(const binder *b, const shoal_model_type *type,
                               const shoal_parameter *parameter, const shoal_word *value,
                               size_t *word) {
  char near[128];
  for (*word = 0; parameter->words[*word]; (*word)++)
    if (strcmp(parameter->words[*word], value->text) == 0) return SHOAL_OK;
  return shoal_policy_fail(b->policy, value->mark, b->error,
                           "%s of %s cannot be '%.60s'%s "
                           "Use: %s",
                           parameter->name, type->name, value->text,
                           advice(value->text, parameter->words, near, sizeof near),
                           type->parameters_help);
}

/* Of two ways to track a column, one that serves both. */
static shoal_track join_tracks(shoal_track a, shoal_track b) {
  if (a == SHOAL_TRACK_NONE || b == SHOAL_TRACK_NONE) return a == SHOAL_TRACK_NONE ? b : a;
  bool capped = shoal_track_cap(a) && shoal_track_cap(b);
  if (capped) return a > b ? a : b;
  return a == b ? a : SHOAL_TRACK_HISTOGRAM;
}

/* The index of a column among the tracked ones, to which it is added. */
static size_t track_column(shoal_tracked *tracked, const shoal_column *column, shoal_track track) {
  size_t index = 0;
  while (index < tracked->n_columns && tracked->columns[index] != column) index++;
  if (index == tracked->n_columns) {
    tracked->columns[index] = column;
    tracked->track[tracked->n_columns++] = SHOAL_TRACK_NONE;
  }
  tracked->track[index] = join_tracks(tracked->track[index], track);
  return index;
}

/* The column is added to the tracked ones. */
static shoal_status parse_column(const binder *b, const shoal_word *value, size_t *index) {
  shoal_tracked *tracked = b->tracked;
  const shoal_column *column = shoal_table_column(b->table, value->text);
  if (!column || !column->code_size)
    return shoal_policy_fail(b->policy, value->mark, b->error,
                             "%s has no column '%.60s'; correct 'column' of the model",
                             b->table->name, value->text);
  *index = track_column(tracked, column, SHOAL_TRACK_SET);
  for (size_t i = 0; i < b->requirements->n_items; i++) {
    size_t other = b->requirements->items[i].guard;
    if (other != SHOAL_NO_ATTRIBUTE && other != *index)
      return shoal_policy_fail(b->policy, value->mark, b->error,
                               "the policy names two guard columns: use one for all models");
  }
  return SHOAL_OK;
}

static shoal_status parse_given(const binder *b, shoal_requirement *requirement, size_t i,
                                const shoal_word *value) {
  const shoal_model_type *type = requirement->type;
  const shoal_parameter *parameter = &type->parameters[i];
  requirement->given[i] = true;
  requirement->text[i] = value->text;
  switch (parameter->kind) {
  case SHOAL_PARAMETER_NUMBER:
    return parse_number(b, type, parameter, value, &requirement->number[i]);
  case SHOAL_PARAMETER_WORD: return parse_word(b, type, parameter, value, &requirement->word[i]);
  case SHOAL_PARAMETER_COLUMN: return parse_column(b, value, &requirement->guard);
  default: return parse_count(b, type, parameter, value, &requirement->count[i]);
  }
}

static shoal_status parse_parameters(const binder *b, const shoal_model_request *request,
                                     shoal_requirement *requirement) {
  const shoal_model_type *type = requirement->type;
  SHOAL_TRY(check_names(b, type, request));
  for (size_t i = 0; type->parameters[i].name; i++) {
    const shoal_parameter *parameter = &type->parameters[i];
    const shoal_word *value = requested(request, parameter->name);
    const char *key = parameter->default_key;
    if (value) {
      SHOAL_TRY(parse_given(b, requirement, i, value));
    } else if (key && strcmp(key, "k") == 0 && b->policy->has_k) {
      requirement->count[i] = b->policy->k;
    } else if (key && strcmp(key, "p") == 0 && b->policy->has_p) {
      requirement->count[i] = b->policy->p;
    } else if (!parameter->optional) {
      return shoal_policy_fail(b->policy, request->name.mark, b->error,
                               "%s needs '%s': give it. Use: %s", type->name, parameter->name,
                               type->parameters_help);
    } else if (parameter->words) {
      requirement->text[i] = parameter->words[0];
    }
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ people */

/* A share or distribution of sensitive values, not a number of them. */
static bool is_proportion(const shoal_requirement *requirement) {
  shoal_distinct distinct;
  const shoal_model_type *type = requirement->type;
  return (type->needs & SHOAL_NEEDS_HISTOGRAM) &&
         !(type->distinct && type->distinct(requirement, &distinct));
}

/* Where people have several rows, sizes and proportions are theirs. */
static shoal_status bind_people(const binder *b, shoal_requirement *requirement) {
  const shoal_tracked *tracked = b->tracked;
  bool households = requirement->type == &shoal_model_households;
  bool proportion = requirement->type->on_attribute && is_proportion(requirement);
  const shoal_column *people = households ? tracked->household : tracked->person;
  if (!households && !proportion && !requirement->type->is_size) return SHOAL_OK;
  requirement->unjudged = households ? tracked->household_absent : tracked->person_absent;
  if (!people) return SHOAL_OK;
  if (proportion) {
    /* The pairs of the requirement's attribute are made once. */
    shoal_requirements *requirements = b->requirements;
    size_t n = tracked->n_sensitive, s = requirement->sensitive;
    if (!requirements->pairs) {
      requirements->pairs = shoal_alloc_zero(n, sizeof *requirements->pairs);
      if (!requirements->pairs) return shoal_fail_memory(b->error);
      requirements->n_pairs = n;
    }
    shoal_pairs **pairs = &requirements->pairs[s];
    if (!*pairs) *pairs = shoal_pairs_new(b->table, tracked->columns[s], tracked->person);
    if (!*pairs) return shoal_fail_memory(b->error);
    requirement->pairs = *pairs;
    requirement->pair_column = track_column(b->tracked, &(*pairs)->column, SHOAL_TRACK_HISTOGRAM);
    requirement->counts_people = requirement->type->of_people;
    if (requirement->type->of_people)
      requirement->people = track_column(b->tracked, tracked->person, SHOAL_TRACK_HISTOGRAM);
    return SHOAL_OK;
  }
  /* People, of whom a class lists up to as many as it needs. */
  uint64_t most = requirement->count[0] < UINT32_MAX ? requirement->count[0] : UINT32_MAX;
  requirement->counts_people = true;
  requirement->people = track_column(b->tracked, people, shoal_track_capped((uint32_t)most));
  return SHOAL_OK;
}

/* ------------------------------------------------------------ requirements */

static shoal_status add_requirement(binder *b, const shoal_model_request *request,
                                    const shoal_requirement *template_requirement) {
  shoal_requirements *requirements = b->requirements;
  size_t n = requirements->n_items + 1;
  if (!shoal_grow(&requirements->items, &b->capacity, n, sizeof *requirements->items) ||
      !shoal_grow(&b->requests, &b->requests_capacity, n, sizeof *b->requests))
    return shoal_fail_memory(b->error);
  bool some = request && (request->n_over || request->known_count);
  b->requests[requirements->n_items] = some ? request : NULL;
  shoal_requirement *requirement = &requirements->items[requirements->n_items++];
  *requirement = *template_requirement;
  SHOAL_TRY(bind_people(b, requirement));
  if (requirement->sensitive == SHOAL_NO_ATTRIBUTE) return SHOAL_OK;
  shoal_track *track = &b->tracked->track[requirement->sensitive];
  if ((requirement->type->needs & SHOAL_NEEDS_HISTOGRAM) && !requirement->pairs)
    *track = SHOAL_TRACK_HISTOGRAM;
  else if (*track == SHOAL_TRACK_NONE) *track = SHOAL_TRACK_SET;
  return SHOAL_OK;
}

/* The index of the attribute that a request names; SHOAL_NO_ATTRIBUTE: all of them. */
static shoal_status find_attribute(const binder *b, const shoal_word *name, size_t *index) {
  *index = SHOAL_NO_ATTRIBUTE;
  if (!name->text) return SHOAL_OK;
  for (size_t s = 0; s < b->tracked->n_sensitive; s++)
    if (strcmp(b->tracked->sensitive[s].column->name, name->text) == 0) *index = s;
  if (*index != SHOAL_NO_ATTRIBUTE) return SHOAL_OK;
  const char **names = shoal_alloc(b->tracked->n_sensitive + 1, sizeof *names);
  if (!names) return shoal_fail_memory(b->error);
  for (size_t s = 0; s < b->tracked->n_sensitive; s++)
    names[s] = b->tracked->sensitive[s].column->name;
  names[b->tracked->n_sensitive] = NULL;
  char near[192];
  shoal_status status =
      shoal_policy_fail(b->policy, name->mark, b->error,
                        "'%.60s' is not a sensitive attribute%s Give it 'role: sensitive', or name "
                        "another",
                        name->text, advice(name->text, names, near, sizeof near));
  free(names);
  return status;
}

static shoal_status bind_request(binder *b, const shoal_model_request *request) {
  shoal_requirement requirement = {.type = find_type(b, &request->name),
                                   .sensitive = SHOAL_NO_ATTRIBUTE,
                                   .guard = SHOAL_NO_ATTRIBUTE,
                                   .mark = request->name.mark};
  if (!requirement.type) return SHOAL_BAD_INPUT;
  SHOAL_TRY(parse_parameters(b, request, &requirement));
  if (!requirement.type->on_attribute) {
    if (request->attribute.text)
      return shoal_policy_fail(b->policy, request->attribute.mark, b->error,
                               "%s is not about an attribute: leave 'attribute' out",
                               requirement.type->name);
    return add_requirement(b, request, &requirement);
  }
  size_t wanted;
  SHOAL_TRY(find_attribute(b, &request->attribute, &wanted));
  if (b->tracked->n_sensitive == 0)
    return shoal_policy_fail(
        b->policy, request->name.mark, b->error,
        "%s needs a sensitive attribute; give one column 'role: sensitive', or "
        "remove the model",
        requirement.type->name);
  for (size_t s = 0; s < b->tracked->n_sensitive; s++) {
    if (wanted != SHOAL_NO_ATTRIBUTE && s != wanted) continue;
    requirement.sensitive = s;
    SHOAL_TRY(add_requirement(b, request, &requirement));
  }
  return SHOAL_OK;
}

/* privacy.k and privacy.p are short forms of k-anonymity and p-sensitive. */
static shoal_status bind_short_forms(binder *b) {
  shoal_model_request request = {.name = {"k-anonymity", b->policy->k_mark}};
  if (b->policy->has_k) SHOAL_TRY(bind_request(b, &request));
  request.name = (shoal_word){"p-sensitive", b->policy->p_mark};
  if (b->policy->has_p) SHOAL_TRY(bind_request(b, &request));
  if (b->policy->has_households) {
    const shoal_policy *policy = b->policy;
    if (!shoal_policy_has_role(policy, SHOAL_ROLE_HOUSEHOLD))
      return shoal_policy_fail(policy, policy->households_mark, b->error,
                               "privacy.households needs an attribute with 'role: household'; give "
                               "one column this role, or remove the key");
    shoal_requirement requirement = {.type = &shoal_model_households,
                                     .sensitive = SHOAL_NO_ATTRIBUTE,
                                     .guard = SHOAL_NO_ATTRIBUTE,
                                     .count = {policy->households},
                                     .mark = policy->households_mark};
    return add_requirement(b, NULL, &requirement);
  }
  for (size_t a = 0; a < b->policy->n_attributes; a++) {
    const shoal_attribute *attribute = &b->policy->attributes[a];
    if (attribute->role == SHOAL_ROLE_HOUSEHOLD)
      return shoal_policy_fail(b->policy, attribute->mark, b->error,
                               "%s: 'role: household' has no effect without 'privacy: {households: "
                               "N}'; add it, or use 'role: identifier'",
                               attribute->name);
  }
  return SHOAL_OK;
}

void shoal_requirements_summarize(shoal_requirements *requirements) {
  requirements->monotone = requirements->merges = true;
  requirements->k = requirements->whole_k = requirements->p = 1;
  for (size_t i = 0; i < requirements->n_items; i++) {
    const shoal_requirement *requirement = &requirements->items[i];
    uint64_t first = requirement->count[0];
    bool monotone = shoal_requirement_is_monotone(requirement);
    bool merges = monotone || (requirement->type->merges && !requirement->pairs);
    requirements->monotone = requirements->monotone && monotone;
    requirements->merges = requirements->merges && merges;
    if (requirement->type->is_p && first > requirements->p) requirements->p = first;
    if (!requirement->type->is_size) continue;
    if (first > requirements->k) requirements->k = first;
    if (shoal_requirement_is_whole(requirement) && first > requirements->whole_k)
      requirements->whole_k = first;
  }
}

static shoal_status bind_all(binder *b) {
  SHOAL_TRY(bind_short_forms(b));
  for (size_t i = 0; i < b->policy->n_models; i++)
    SHOAL_TRY(bind_request(b, &b->policy->models[i]));
  SHOAL_TRY(
      shoal_requirements_bind_sets(b->policy, b->tracked, b->requests, b->requirements, b->error));
  /* After all requests are read: k is known then. */
  shoal_requirements *requirements = b->requirements;
  /* The largest k of any entry; before the models are prepared. */
  uint64_t k = 1;
  for (size_t i = 0; i < requirements->n_items; i++)
    if (requirements->items[i].type->is_size && requirements->items[i].count[0] > k)
      k = requirements->items[i].count[0];
  for (size_t i = 0; i < requirements->n_items; i++) {
    shoal_requirement *requirement = &requirements->items[i];
    shoal_model_context context = {.policy = b->policy, .table = b->table};
    if (requirement->sensitive != SHOAL_NO_ATTRIBUTE)
      context.sensitive = &b->tracked->sensitive[requirement->sensitive];
    if (requirement->guard != SHOAL_NO_ATTRIBUTE)
      context.guard = b->tracked->columns[requirement->guard];
    requirement->k = k;
    requirement->no_memory = requirements->no_memory;
    if (requirement->type->prepare)
      SHOAL_TRY(requirement->type->prepare(requirement, &context, b->error));
  }
  shoal_requirements_summarize(requirements);
  return SHOAL_OK;
}

shoal_status shoal_requirements_check(const shoal_requirements *requirements,
                                      const shoal_policy *policy, shoal_error *error) {
  if (requirements->n_items == 0)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = policy->file},
                         "the policy asks for no protection; add 'privacy: {k: 5}'");
  return SHOAL_OK;
}

uint64_t shoal_requirement_k_beside(const shoal_requirements *requirements,
                                    const shoal_requirement *requirement) {
  uint64_t k = 0;
  for (size_t i = 0; i < requirements->n_items; i++) {
    const shoal_requirement *other = &requirements->items[i];
    if (other->type->is_size && other->count[0] > k &&
        memcmp(other->covers, requirement->covers, requirements->n_sets) == 0)
      k = other->count[0];
  }
  return k;
}

bool shoal_requirement_p_above_k(const shoal_requirements *requirements,
                                 const shoal_requirement *requirement) {
  uint64_t k = shoal_requirement_k_beside(requirements, requirement);
  return k && requirement->type->is_p && requirement->count[0] > k;
}

shoal_status shoal_requirements_check_p(const shoal_requirements *requirements,
                                        const shoal_policy *policy, shoal_error *error) {
  for (size_t i = 0; i < requirements->n_items; i++) {
    const shoal_requirement *requirement = &requirements->items[i];
    if (shoal_requirement_p_above_k(requirements, requirement))
      return shoal_policy_fail(
          policy, requirement->mark, error,
          "p is %llu, but k is %llu; set p to %llu or less, or raise k",
          (unsigned long long)requirement->count[0],
          (unsigned long long)shoal_requirement_k_beside(requirements, requirement),
          (unsigned long long)shoal_requirement_k_beside(requirements, requirement));
  }
  return SHOAL_OK;
}

shoal_status shoal_requirements_bind(const shoal_policy *policy, const shoal_table *table,
                                     shoal_tracked *tracked, shoal_requirements *requirements,
                                     shoal_error *error) {
  memset(requirements, 0, sizeof *requirements);
  tracked->n_columns = tracked->n_sensitive;
  for (size_t s = 0; s < tracked->n_sensitive; s++) {
    tracked->columns[s] = tracked->sensitive[s].column;
    tracked->track[s] = SHOAL_TRACK_NONE;
  }
  binder b = {.policy = policy,
              .table = table,
              .tracked = tracked,
              .requirements = requirements,
              .error = error};
  requirements->no_memory = shoal_alloc_zero(1, sizeof *requirements->no_memory);
  shoal_status status = requirements->no_memory ? bind_all(&b) : shoal_fail_memory(error);
  free(b.requests);
  if (status != SHOAL_OK) shoal_requirements_reset(requirements);
  return status;
}
