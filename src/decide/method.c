/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/method: binds a policy to rows of the tables of algorithms and objectives, full-domain and
 * local, and lists both for help and messages.
 */
#include "decide/method.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/types.h"

static const shoal_local_objective local_objectives[] = {
    {"il", NULL, SHOAL_OBJECTIVE_IL, SHOAL_LOSS_HEIGHT}, /* default */
    {"avg", NULL, SHOAL_OBJECTIVE_AVG, SHOAL_LOSS_HEIGHT},
    {"dm", NULL, SHOAL_OBJECTIVE_DM, SHOAL_LOSS_HEIGHT},
    {"balanced", "least information loss with nearly as many classes as there can be",
     SHOAL_OBJECTIVE_BALANCED, SHOAL_LOSS_HEIGHT},
    {"loss", NULL, SHOAL_OBJECTIVE_IL, SHOAL_LOSS_LEAVES},
    {NULL, NULL, SHOAL_OBJECTIVE_IL, SHOAL_LOSS_HEIGHT},
};

static const shoal_local_objective *find_local_objective(const char *name) {
  for (const shoal_local_objective *o = local_objectives; o->name; o++)
    if (strcmp(o->name, name) == 0) return o;
  return NULL;
}

static const shoal_objective *find_node_objective(const char *name) {
  for (const shoal_objective *o = shoal_objective_types; o->name; o++)
    if (strcmp(o->name, name) == 0) return o;
  return NULL;
}

static const shoal_algorithm *find_node(const char *name) {
  for (const shoal_algorithm *a = shoal_algorithm_types; a->name; a++)
    if (strcmp(a->name, name) == 0) return a;
  return NULL;
}

static const shoal_local_algorithm *find_local(const char *name) {
  for (const shoal_local_algorithm *a = shoal_local_algorithms; a->name; a++)
    if (strcmp(a->name, name) == 0) return a;
  return NULL;
}

/* ------------------------------------------------------------ the lists */

enum { MAX_NAMES = 32, SUMMARY_BYTES = 120 };

static shoal_entry algorithms[MAX_NAMES], objectives[MAX_NAMES];
static char summaries[MAX_NAMES][SUMMARY_BYTES];

/* The summary says which algorithms have the objective. */
static void add_objective(size_t *n, const char *name, const char *summary) {
  if (*n == MAX_NAMES - 1) return;
  bool node = find_node_objective(name), local = find_local_objective(name);
  (void)snprintf(summaries[*n], SUMMARY_BYTES, "%s; %s%s%s", summary, node ? "optimal" : "",
                 node && local ? " and " : "", local ? "flock" : "");
  objectives[*n] = (shoal_entry){name, "", summaries[*n]};
  (*n)++;
}

static void fill_lists(void) {
  size_t n = 0;
  algorithms[n++] = (shoal_entry){"auto", "", "the better of flock and optimal by release loss"};
  for (const shoal_algorithm *a = shoal_algorithm_types; a->name && n < MAX_NAMES - 1; a++)
    algorithms[n++] = (shoal_entry){a->name, "", a->summary};
  for (const shoal_local_algorithm *a = shoal_local_algorithms; a->name && n < MAX_NAMES - 1; a++)
    algorithms[n++] = (shoal_entry){a->name, "", a->summary};
  n = 0;
  for (const shoal_objective *o = shoal_objective_types; o->name; o++)
    add_objective(&n, o->name, o->summary);
  for (const shoal_local_objective *o = local_objectives; o->name; o++)
    if (o->summary) add_objective(&n, o->name, o->summary);
}

static pthread_once_t lists_once = PTHREAD_ONCE_INIT;

const shoal_entry *shoal_method_algorithms(void) {
  (void)pthread_once(&lists_once, fill_lists);
  return algorithms;
}

const shoal_entry *shoal_method_objectives(void) {
  (void)pthread_once(&lists_once, fill_lists);
  return objectives;
}

/* ------------------------------------------------------------ objectives */

/* "; did you mean 'flock'?", or nothing; `out` holds 120 bytes. */
static const char *advise(const char *name, const shoal_entry *entries, char *out) {
  const char *names[MAX_NAMES] = {NULL};
  for (size_t i = 0; entries[i].name; i++) names[i] = entries[i].name;
  const char *near = shoal_nearest_word(name, names);
  *out = '\0';
  if (near) (void)snprintf(out, SUMMARY_BYTES, "; did you mean '%s'?", near);
  return out;
}

/* Names of the objectives of one kind, or of both: "il, avg, dm". */
static void list_objectives(bool node, bool local, char *out, size_t capacity) {
  size_t at = 0;
  *out = '\0';
  for (const shoal_entry *e = shoal_method_objectives(); e->name && at < capacity; e++) {
    if (!(node && find_node_objective(e->name)) && !(local && find_local_objective(e->name)))
      continue;
    at += (size_t)snprintf(out + at, capacity - at, "%s%s", at ? ", " : "", e->name);
  }
}

/* ------------------------------------------------------------ choosing */

static void explain(shoal_method *method, const char *reason, const char *name) {
  (void)snprintf(method->reason, sizeof method->reason, "%s%.80s", reason, name);
}

/* Only full-domain methods know distance vectors. */
static bool wants_matrix(const shoal_policy *policy) {
  return policy->satisfies.text && strcmp(policy->satisfies.text, "classes") != 0;
}

static bool is_only_of_nodes(const char *objective) {
  return objective && find_node_objective(objective) && !find_local_objective(objective);
}

static bool is_only_local(const char *objective) {
  return objective && find_local_objective(objective) && !find_node_objective(objective);
}

static bool is_interval(const shoal_attribute *attribute) {
  return attribute->type == SHOAL_TYPE_NUMBER && !attribute->recode_hierarchy;
}

/* A limit of levels that local recoding cannot keep. */
static bool limits_levels(const shoal_policy *policy) {
  for (size_t i = 0; i < policy->n_attributes; i++) {
    const shoal_attribute *a = &policy->attributes[i];
    if (a->has_max_level || (a->min_level && is_interval(a))) return true;
  }
  return false;
}

/* The setting that requires one label per value everywhere; NULL: none. */
static const char *uniform_setting(const shoal_policy *policy) {
  if (policy->uniform_labels) return "labels: uniform";
  if (policy->n_prefer) return "prefer";
  if (policy->slack) return "slack";
  if (wants_matrix(policy)) return "satisfies";
  if (limits_levels(policy)) return "limits of levels";
  return is_only_of_nodes(policy->objective.text) ? policy->objective.text : NULL;
}

/* The first model with `over` or `known`; NULL: there is none. */
static const shoal_model_request *model_over_sets(const shoal_policy *policy) {
  for (size_t i = 0; i < policy->n_models; i++)
    if (policy->models[i].n_over || policy->models[i].known_count) return &policy->models[i];
  return NULL;
}

/* The local algorithm of "auto": theta has its own, which counts rows of classes over all
 * quasi-identifiers. */
static const shoal_local_algorithm *best_local(const shoal_policy *policy) {
  bool people = shoal_policy_has_role(policy, SHOAL_ROLE_PERSON) ||
                shoal_policy_has_role(policy, SHOAL_ROLE_HOUSEHOLD);
  bool flock = people || model_over_sets(policy);
  for (size_t i = 0; !flock && i < policy->n_models; i++)
    if (strcmp(policy->models[i].name.text, shoal_model_theta_sensitive.name) == 0)
      return find_local("theta");
  return find_local("flock");
}

/* The full-domain algorithm of "auto". `prefer` and `slack` count steps from minimal nodes. */
static const shoal_algorithm *best_node(const shoal_policy *policy) {
  bool steps = policy->slack || wants_matrix(policy);
  bool minimal = policy->n_prefer || (steps && !policy->objective.text);
  return find_node(minimal ? "samarati" : "optimal");
}

static const shoal_attribute *number_without_hierarchy(const shoal_policy *policy) {
  for (size_t i = 0; i < policy->n_attributes; i++) {
    const shoal_attribute *a = &policy->attributes[i];
    if (a->role == SHOAL_ROLE_QUASI && a->type == SHOAL_TYPE_NUMBER && !a->has_hierarchy) return a;
  }
  return NULL;
}

/* What "auto" tries: local recoding and, where there can be a lattice, full-domain. */
static void choose(const shoal_policy *policy, shoal_methods *methods) {
  const shoal_attribute *number = number_without_hierarchy(policy);
  const char *objective = policy->objective.text, *setting = uniform_setting(policy);
  shoal_method local = {.local = best_local(policy), .automatic = true};
  shoal_method node = {.node = best_node(policy), .automatic = true};
  if (setting) {
    /* Objectives of classes are exact up to their limit of nodes: there is no other release. */
    const shoal_objective *cost = find_node_objective(objective ? objective : "il");
    node.bounded = cost && cost->level_cost;
    explain(&node, "uniform labels: the policy has ", setting);
    methods->items[methods->n++] = node;
    return;
  }
  node.bounded = true;
  if (number) explain(&local, "local recoding: no hierarchy is given for ", number->name);
  else if (is_only_local(objective))
    explain(&local, "local recoding: the policy asks for the objective ", objective);
  else explain(&local, "local recoding", "");
  explain(&node, "uniform labels", "");
  methods->items[methods->n++] = local;
  if (!number && !is_only_local(objective)) methods->items[methods->n++] = node;
}

/* ------------------------------------------------------------ binding */

static shoal_status check_sets(const shoal_policy *policy, const shoal_method *method,
                               shoal_error *error) {
  const shoal_model_request *model = model_over_sets(policy);
  if (!model) return SHOAL_OK;
  const char *word = model->n_over ? "over" : "known";
  if (method->kind == SHOAL_METHOD_CELLS || (method->local && method->local->has_noise))
    return shoal_policy_fail(policy, model->name.mark, error, "%s does not support '%s'; use %s",
                             method->name, word,
                             method->local ? "flock or optimal" : "samarati or optimal");
  if (policy->blank_suppressed)
    return shoal_policy_fail(policy, model->name.mark, error,
                             "'suppressed: blank' cannot be combined with '%s': blanked rows would "
                             "be in a class over every set; use 'suppressed: remove'",
                             word);
  return SHOAL_OK;
}

/* Settings that count steps or judge nodes of the lattice. */
static shoal_status check_settings(const shoal_policy *policy, const shoal_method *method,
                                   shoal_error *error) {
  if (policy->uniform_labels && method->kind != SHOAL_METHOD_NODE)
    return shoal_policy_fail(policy, policy->labels_mark, error,
                             "'labels: uniform' needs one label per value everywhere, and %s %s: "
                             "remove 'labels', or use auto or optimal",
                             method->name,
                             method->local ? "is local recoding" : "suppresses single cells");
  if (policy->has_mu_argus && method->kind != SHOAL_METHOD_CELLS)
    return shoal_policy_fail(policy, policy->mu_argus_mark, error,
                             "%s does not support 'mu-argus'; remove it, or use mu-argus",
                             method->name);
  if (policy->slack && method->kind != SHOAL_METHOD_NODE)
    return shoal_policy_fail(policy, policy->slack_mark, error,
                             "%s does not support 'slack'; remove it, or use samarati",
                             method->name);
  if (method->local && wants_matrix(policy))
    return shoal_policy_fail(policy, policy->satisfies.mark, error,
                             "method.satisfies is for nodes of the lattice, and %s is local "
                             "recoding: remove it",
                             method->name);
  SHOAL_TRY(check_sets(policy, method, error));
  /* Local recoding has labels of each class, mu-argus those of cells. */
  for (size_t i = 0; i < policy->n_attributes && method->kind != SHOAL_METHOD_NODE; i++) {
    const shoal_attribute *a = &policy->attributes[i];
    bool local = method->kind == SHOAL_METHOD_CLUSTERS;
    if (a->has_max_level || (a->min_level && !local))
      return shoal_policy_fail(policy, a->mark, error,
                               "'%s': %s does not support '%s'; remove it, or use samarati or "
                               "optimal",
                               a->name, method->name, a->has_max_level ? "max-level" : "min-level");
    if (a->min_level && is_interval(a))
      return shoal_policy_fail(policy, a->mark, error,
                               "'%s': 'min-level' is about labels of the hierarchy, and %s "
                               "releases intervals; add 'recode: hierarchy', or use 'snap' instead",
                               a->name, method->name);
  }
  return SHOAL_OK;
}

static shoal_status bind(const shoal_policy *policy, shoal_method *method, shoal_error *error) {
  if (method->local) {
    method->kind = SHOAL_METHOD_CLUSTERS;
    method->name = method->local->name;
  } else {
    method->kind = method->node->run ? SHOAL_METHOD_NODE : SHOAL_METHOD_CELLS;
    method->name = method->node->name;
  }
  SHOAL_TRY(check_settings(policy, method, error));
  const char *name = policy->objective.text;
  method->node_objective = find_node_objective(name ? name : method->automatic ? "il" : "height");
  method->local_objective = find_local_objective(name ? name : "il");
  bool known = method->node_objective || method->local_objective;
  bool fits = method->node ? method->node_objective != NULL
                           : method->local_objective || !method->local->has_objective;
  if (!known || !fits) {
    char list[200], advice[SUMMARY_BYTES];
    if (!find_node_objective(name) && !find_local_objective(name)) {
      list_objectives(true, true, list, sizeof list);
      const char *near = advise(name, shoal_method_objectives(), advice);
      return shoal_policy_fail(policy, policy->objective.mark, error,
                               "unknown objective '%.60s'%s %s one of: %s", name,
                               *near ? near : ";", *near ? "Use" : "use", list);
    }
    list_objectives(method->node, method->local, list, sizeof list);
    if (method->node)
      return shoal_policy_fail(policy, policy->objective.mark, error,
                               "the objective '%s' is for local recoding, but %s is full-domain; "
                               "use the algorithm flock, or one of: %s",
                               name, method->name, list);
    return shoal_policy_fail(
        policy, policy->objective.mark, error,
        "%s does not support the objective '%s'; use one of: %s; or the algorithm "
        "optimal, if every quasi-identifier has a hierarchy",
        method->name, name, list);
  }
  if (!method->local_objective) method->local_objective = local_objectives; /* it is not used */
  return SHOAL_OK;
}

shoal_status shoal_methods_bind(const shoal_policy *policy, shoal_methods *methods,
                                shoal_error *error) {
  const char *name = policy->algorithm.text ? policy->algorithm.text : "auto";
  memset(methods, 0, sizeof *methods);
  if (strcmp(name, "auto") == 0) {
    choose(policy, methods);
  } else {
    shoal_method *method = &methods->items[methods->n++];
    explain(method, policy->algorithm.mark.line ? "the policy names it" : "asked for", "");
    if (!(method->node = find_node(name))) method->local = find_local(name);
    char advice[SUMMARY_BYTES];
    const char *near = advise(name, shoal_method_algorithms(), advice);
    if (!method->node && !method->local)
      return shoal_policy_fail(policy, policy->algorithm.mark, error,
                               "unknown algorithm '%.60s'%s %s 'shoal help policy'", name,
                               *near ? near : ";", *near ? "See" : "see");
  }
  for (size_t i = 0; i < methods->n; i++) SHOAL_TRY(bind(policy, &methods->items[i], error));
  return SHOAL_OK;
}

bool shoal_methods_have(const shoal_methods *methods, shoal_method_kind kind) {
  for (size_t i = 0; i < methods->n; i++)
    if (methods->items[i].kind == kind) return true;
  return false;
}

/* k-member supports k alone. */
shoal_status shoal_method_check_support(const shoal_method *method, const shoal_policy *policy,
                                        const shoal_cluster_requirements *required,
                                        shoal_error *error) {
  const shoal_requirement *other = required->n_others ? required->others[0] : NULL;
  for (size_t d = 0; !other && d < required->n_counts; d++) {
    if (required->counts[d].min_distinct <= 1) continue;
    for (size_t i = 0; !other && i < required->requirements->n_items; i++)
      if (required->requirements->items[i].sensitive == required->counts[d].tracked)
        other = &required->requirements->items[i];
  }
  if (!other || method->local->supports != SHOAL_SUPPORTS_SIZE) return SHOAL_OK;
  return shoal_policy_fail(policy, policy->algorithm.mark, error,
                           "%s supports k only, but the policy has %s; use flock or auto",
                           method->name, other->type->name);
}

shoal_status shoal_method_check_people(const shoal_method *method, const shoal_policy *policy,
                                       const shoal_tracked *tracked, shoal_error *error) {
  bool counted = tracked->person || (tracked->household && policy->has_households);
  bool counts = method->local ? method->local->counts_people : method->kind == SHOAL_METHOD_NODE;
  if (!counted || counts) return SHOAL_OK;
  return shoal_policy_fail(policy, policy->algorithm.mark, error,
                           "%s counts rows, and here a %s has several; use auto, flock, mondrian, "
                           "top-down, samarati, incognito, optimal or datafly",
                           method->name, tracked->person ? "person" : "household");
}
