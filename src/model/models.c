/* SPDX-License-Identifier: Apache-2.0 */
/* model/models: the table of privacy models, and binding a policy's requests to it. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/model.h"
#include "model/types.h"

const shoal_model_type *const shoal_model_types[] = {
    &shoal_model_k_anonymity,
    &shoal_model_p_sensitive,
    NULL,
};

const shoal_entry *shoal_models(void) {
  static shoal_entry entries[sizeof shoal_model_types / sizeof *shoal_model_types];
  for (size_t i = 0; shoal_model_types[i]; i++)
    entries[i] = (shoal_entry){shoal_model_types[i]->name, shoal_model_types[i]->parameters_help,
                               shoal_model_types[i]->summary};
  return entries;
}

void shoal_demands_reset(shoal_demands *demands) {
  free(demands->items);
  memset(demands, 0, sizeof *demands);
}

/* What binding needs at hand. */
typedef struct binder {
  const shoal_policy *policy;
  const shoal_column *const *sensitive;
  size_t n_sensitive;
  shoal_demands *demands;
  size_t capacity;
  shoal_track *track;
  shoal_error *error;
} binder;

static shoal_status find_type(const binder *b, const shoal_word *name,
                              const shoal_model_type **type) {
  const char *names[sizeof shoal_model_types / sizeof *shoal_model_types] = {NULL};
  for (size_t i = 0; shoal_model_types[i]; i++) {
    names[i] = shoal_model_types[i]->name;
    if (strcmp(names[i], name->text) == 0) {
      *type = shoal_model_types[i];
      return SHOAL_OK;
    }
  }
  const char *near = shoal_nearest_word(name->text, names);
  return shoal_policy_fail(b->policy, name->mark, b->error, "unknown model '%.60s'%s%s%s",
                           name->text, near ? "; did you mean '" : "", near ? near : "",
                           near ? "'?" : "");
}

static shoal_status parse_count(const binder *b, const char *model, const char *parameter,
                                const shoal_word *value, uint64_t *count) {
  shoal_decimal number;
  bool ok = shoal_decimal_parse(value->text, strlen(value->text), &number) == SHOAL_NUMBER_OK &&
            number.scale == 0 && number.mantissa >= 1;
  if (!ok)
    return shoal_policy_fail(b->policy, value->mark, b->error,
                             "%s of %s must be a whole number of at least 1", parameter, model);
  *count = (uint64_t)number.mantissa;
  return SHOAL_OK;
}

static const shoal_word *requested(const shoal_model_request *request, const char *name) {
  for (size_t i = 0; i < request->n_parameters; i++)
    if (strcmp(request->parameters[i].text, name) == 0) return &request->values[i];
  return NULL;
}

static shoal_status check_parameter_names(const binder *b, const shoal_model_type *type,
                                          const shoal_model_request *request) {
  const char *names[SHOAL_MODEL_PARAMETERS + 2] = {NULL};
  size_t n = 0;
  for (; type->parameters[n].name; n++) names[n] = type->parameters[n].name;
  if (type->on_attribute) names[n] = "attribute";
  for (size_t i = 0; i < request->n_parameters; i++) {
    const shoal_word *word = &request->parameters[i];
    size_t at = 0;
    while (names[at] && strcmp(names[at], word->text) != 0) at++;
    if (names[at]) continue;
    const char *near = shoal_nearest_word(word->text, names);
    return shoal_policy_fail(b->policy, word->mark, b->error,
                             "%s has no parameter '%.60s'%s%s%s; it takes %s", type->name,
                             word->text, near ? "; did you mean '" : "", near ? near : "",
                             near ? "'?" : "", type->parameters_help);
  }
  return SHOAL_OK;
}

static shoal_status parse_parameters(const binder *b, const shoal_model_request *request,
                                     shoal_demand *demand) {
  const shoal_model_type *type = demand->type;
  SHOAL_TRY(check_parameter_names(b, type, request));
  for (size_t i = 0; type->parameters[i].name; i++) {
    const shoal_parameter *parameter = &type->parameters[i];
    const shoal_word *value = requested(request, parameter->name);
    const char *key = parameter->default_key;
    if (value) {
      SHOAL_TRY(parse_count(b, type->name, parameter->name, value, &demand->count[i]));
    } else if (key && strcmp(key, "k") == 0 && b->policy->has_k) {
      demand->count[i] = b->policy->k;
    } else if (key && strcmp(key, "p") == 0 && b->policy->has_p) {
      demand->count[i] = b->policy->p;
    } else {
      return shoal_policy_fail(b->policy, request->name.mark, b->error, "%s needs '%s'",
                               type->name, parameter->name);
    }
  }
  return SHOAL_OK;
}

static shoal_status add_demand(binder *b, const shoal_demand *demand) {
  shoal_demands *demands = b->demands;
  if (!shoal_grow(&demands->items, &b->capacity, demands->n_items + 1, sizeof *demand))
    return shoal_fail_memory(b->error);
  demands->items[demands->n_items++] = *demand;
  demands->monotone = demands->monotone && demand->type->monotone;
  if (demand->sensitive == SHOAL_NO_ATTRIBUTE) return SHOAL_OK;
  shoal_track *track = &b->track[demand->sensitive];
  if (demand->type->needs & SHOAL_NEEDS_HISTOGRAM) *track = SHOAL_TRACK_HISTOGRAM;
  else if (*track == SHOAL_TRACK_NONE) *track = SHOAL_TRACK_SET;
  return SHOAL_OK;
}

/* The attribute a request names, as an index; SHOAL_NO_ATTRIBUTE: every one. */
static shoal_status find_attribute(const binder *b, const shoal_word *name, size_t *index) {
  *index = SHOAL_NO_ATTRIBUTE;
  if (!name->text) return SHOAL_OK;
  for (size_t s = 0; s < b->n_sensitive; s++)
    if (strcmp(b->sensitive[s]->name, name->text) == 0) *index = s;
  if (*index != SHOAL_NO_ATTRIBUTE) return SHOAL_OK;
  return shoal_policy_fail(b->policy, name->mark, b->error,
                           "'%.60s' is no sensitive attribute: give it 'role: sensitive' or name "
                           "another",
                           name->text);
}

static shoal_status bind_request(binder *b, const shoal_model_request *request) {
  shoal_demand demand = {.sensitive = SHOAL_NO_ATTRIBUTE, .mark = request->name.mark};
  SHOAL_TRY(find_type(b, &request->name, &demand.type));
  SHOAL_TRY(parse_parameters(b, request, &demand));
  if (!demand.type->on_attribute) {
    if (request->attribute.text)
      return shoal_policy_fail(b->policy, request->attribute.mark, b->error,
                               "%s is not about an attribute: leave 'attribute' out",
                               demand.type->name);
    return add_demand(b, &demand);
  }
  size_t wanted;
  SHOAL_TRY(find_attribute(b, &request->attribute, &wanted));
  if (b->n_sensitive == 0)
    return shoal_policy_fail(b->policy, request->name.mark, b->error,
                             "%s needs a sensitive attribute: give one 'role: sensitive'",
                             demand.type->name);
  for (size_t s = 0; s < b->n_sensitive; s++) {
    if (wanted != SHOAL_NO_ATTRIBUTE && s != wanted) continue;
    demand.sensitive = s;
    SHOAL_TRY(add_demand(b, &demand));
  }
  return SHOAL_OK;
}

/* privacy.k and privacy.p are short for the two models of their names. */
static shoal_status bind_short_forms(binder *b) {
  shoal_model_request request = {.name = {"k-anonymity", b->policy->k_mark}};
  if (b->policy->has_k) SHOAL_TRY(bind_request(b, &request));
  request.name = (shoal_word){"p-sensitive", b->policy->p_mark};
  if (b->policy->has_p) SHOAL_TRY(bind_request(b, &request));
  return SHOAL_OK;
}

static shoal_status check_together(const binder *b) {
  const shoal_demands *demands = b->demands;
  if (demands->n_items == 0)
    return shoal_fail_at(b->error, SHOAL_BAD_INPUT, &(shoal_place){.file = b->policy->file},
                         "the policy asks for no protection: give 'privacy: {k: 3}' or more");
  return SHOAL_OK;
}

static shoal_status bind_all(binder *b) {
  SHOAL_TRY(bind_short_forms(b));
  for (size_t i = 0; i < b->policy->n_models; i++)
    SHOAL_TRY(bind_request(b, &b->policy->models[i]));
  shoal_demands *demands = b->demands;
  for (size_t i = 0; i < demands->n_items; i++) {
    const shoal_demand *demand = &demands->items[i];
    uint64_t *largest = demand->type == &shoal_model_k_anonymity   ? &demands->k
                        : demand->type == &shoal_model_p_sensitive ? &demands->p
                                                                   : NULL;
    if (largest && demand->count[0] > *largest) *largest = demand->count[0];
  }
  return check_together(b);
}

shoal_status shoal_demands_check(const shoal_demands *demands, const shoal_policy *policy,
                                 shoal_error *error) {
  bool has_k = false;
  for (size_t i = 0; i < demands->n_items; i++)
    has_k = has_k || demands->items[i].type == &shoal_model_k_anonymity;
  for (size_t i = 0; has_k && i < demands->n_items; i++) {
    const shoal_demand *demand = &demands->items[i];
    if (demand->type == &shoal_model_p_sensitive && demand->count[0] > demands->k)
      return shoal_policy_fail(policy, demand->mark, error,
                               "p is %llu but k only %llu: a class of k rows cannot have more "
                               "than k values; raise k or lower p",
                               (unsigned long long)demand->count[0],
                               (unsigned long long)demands->k);
  }
  return SHOAL_OK;
}

shoal_status shoal_demands_bind(const shoal_policy *policy, const shoal_column *const *sensitive,
                                size_t n_sensitive, shoal_demands *demands, shoal_track *track,
                                shoal_error *error) {
  memset(demands, 0, sizeof *demands);
  demands->monotone = true;
  demands->k = 1;
  demands->p = 1;
  for (size_t s = 0; s < n_sensitive; s++) track[s] = SHOAL_TRACK_NONE;
  binder b = {.policy = policy,
              .sensitive = sensitive,
              .n_sensitive = n_sensitive,
              .demands = demands,
              .track = track,
              .error = error};
  shoal_status status = bind_all(&b);
  if (status != SHOAL_OK) shoal_demands_reset(demands);
  return status;
}
