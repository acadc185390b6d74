/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/algorithm: the one list of algorithms, full-domain and local, and of objectives, for help,
 * for messages and for policies. This folder is the only one that knows both kinds.
 */
#include "job/algorithm.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const shoal_local_objective local_objectives[] = {
    {"il", NULL, SHOAL_AIM_IL, SHOAL_LOSS_HEIGHT}, /* unless another is given */
    {"avg", NULL, SHOAL_AIM_AVG, SHOAL_LOSS_HEIGHT},
    {"dm", NULL, SHOAL_AIM_DM, SHOAL_LOSS_HEIGHT},
    {"balanced", "least information loss with nearly as many classes as there can be",
     SHOAL_AIM_BALANCED, SHOAL_LOSS_HEIGHT},
    {"loss", NULL, SHOAL_AIM_IL, SHOAL_LOSS_LEAVES},
    {NULL, NULL, SHOAL_AIM_IL, SHOAL_LOSS_HEIGHT},
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

enum { MOST_NAMES = 32, SUMMARY_BYTES = 120 };

static shoal_entry algorithms[MOST_NAMES], objectives[MOST_NAMES];
static char summaries[MOST_NAMES][SUMMARY_BYTES];

static void fill_algorithms(void) {
  size_t n = 0;
  algorithms[n++] = (shoal_entry){"auto", "", "picks one and says why"};
  for (const shoal_algorithm *a = shoal_algorithm_types; a->name && n < MOST_NAMES - 1; a++)
    algorithms[n++] = (shoal_entry){a->name, "", a->summary};
  for (const shoal_local_algorithm *a = shoal_local_algorithms; a->name && n < MOST_NAMES - 1; a++)
    algorithms[n++] = (shoal_entry){a->name, "", a->summary};
}

/* Each with whose it is. */
static void add_objective(size_t *n, const char *name, const char *summary) {
  if (*n == MOST_NAMES - 1) return;
  bool node = find_node_objective(name), local = find_local_objective(name);
  (void)snprintf(summaries[*n], SUMMARY_BYTES, "%s; %s%s%s", summary, node ? "optimal" : "",
                 node && local ? " and " : "", local ? "flock" : "");
  objectives[*n] = (shoal_entry){name, "", summaries[*n]};
  (*n)++;
}

static void fill_objectives(void) {
  size_t n = 0;
  for (const shoal_objective *o = shoal_objective_types; o->name; o++)
    add_objective(&n, o->name, o->summary);
  for (const shoal_local_objective *o = local_objectives; o->name; o++)
    if (o->summary) add_objective(&n, o->name, o->summary);
}

static void fill_lists(void) {
  fill_algorithms();
  fill_objectives();
}

static void make_lists(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, fill_lists);
}

const shoal_entry *shoal_algorithms(void) {
  make_lists();
  return algorithms;
}

const shoal_entry *shoal_objectives(void) {
  make_lists();
  return objectives;
}

/* ------------------------------------------------------------ names that do not fit */

/* "; did you mean 'flock'?", or nothing; `out` holds 120 bytes. */
static const char *advise(const char *name, const shoal_entry *entries, char *out) {
  const char *names[MOST_NAMES] = {NULL};
  for (size_t i = 0; entries[i].name; i++) names[i] = entries[i].name;
  const char *near = shoal_nearest_word(name, names);
  *out = '\0';
  if (near) (void)snprintf(out, SUMMARY_BYTES, "; did you mean '%s'?", near);
  return out;
}

/* Names of objectives: "il, avg, dm", those of one kind or all. */
static void list_objectives(bool node, bool local, char *out, size_t capacity) {
  size_t at = 0;
  *out = '\0';
  for (const shoal_entry *e = shoal_objectives(); e->name && at < capacity; e++) {
    if (!(node && find_node_objective(e->name)) && !(local && find_local_objective(e->name)))
      continue;
    at += (size_t)snprintf(out + at, capacity - at, "%s%s", at ? ", " : "", e->name);
  }
}

static shoal_status fail_objective(const shoal_policy *policy, const shoal_method *method,
                                   shoal_error *error) {
  char list[200], advice[SUMMARY_BYTES];
  const char *name = policy->objective.text;
  if (!find_node_objective(name) && !find_local_objective(name)) {
    list_objectives(true, true, list, sizeof list);
    return shoal_policy_fail(policy, policy->objective.mark, error,
                             "unknown objective '%.60s'%s; use one of: %s", name,
                             advise(name, shoal_objectives(), advice), list);
  }
  list_objectives(method->node, method->local, list, sizeof list);
  if (method->node)
    return shoal_policy_fail(policy, policy->objective.mark, error,
                             "the objective '%s' is one of local recoding, and %s is full-domain: "
                             "use the algorithm flock, or one of: %s",
                             name, method->node->name, list);
  return shoal_policy_fail(policy, policy->objective.mark, error,
                           "%s cannot follow the objective '%s': use one of: %s; or the algorithm "
                           "optimal, where every quasi-identifier has a hierarchy",
                           method->local->name, name, list);
}

static shoal_status bind_objective(const shoal_policy *policy, shoal_method *method,
                                   shoal_error *error) {
  const char *name = policy->objective.text;
  method->node_objective = find_node_objective(name ? name : "height");
  method->local_objective = find_local_objective(name ? name : "il");
  bool known = method->node_objective || method->local_objective;
  bool fits = method->node ? method->node_objective != NULL
                           : method->local_objective || !method->local->has_aim;
  if (!known || !fits) return fail_objective(policy, method, error);
  if (!method->local_objective) method->local_objective = local_objectives; /* it has no aim */
  return SHOAL_OK;
}

/* ------------------------------------------------------------ choosing */

static const shoal_attribute *number_without_hierarchy(const shoal_policy *policy) {
  for (size_t i = 0; i < policy->n_attributes; i++) {
    const shoal_attribute *a = &policy->attributes[i];
    if (a->role == SHOAL_ROLE_QUASI && a->type == SHOAL_TYPE_NUMBER && !a->has_hierarchy) return a;
  }
  return NULL;
}

static void explain(shoal_method *method, const char *reason, const char *name) {
  (void)snprintf(method->reason, sizeof method->reason, "%s%.80s", reason, name);
}

static void choose(const shoal_policy *policy, shoal_method *method) {
  const shoal_attribute *number = number_without_hierarchy(policy);
  const char *objective = policy->objective.text;
  if (number) {
    method->local = find_local("flock");
    explain(method, "local recoding: no hierarchy is given for ", number->name);
  } else if (objective && strcmp(objective, "balanced") == 0) {
    method->local = find_local("flock");
    explain(method, "local recoding: the policy asks for the objective ", objective);
  } else if (objective && policy->n_prefer == 0) {
    method->node = find_node("optimal");
    explain(method, "the policy names an objective: the best node of all under it", "");
  } else {
    method->node = find_node("samarati");
    explain(method, "every quasi-identifier has a hierarchy: full-domain, least height", "");
  }
}

shoal_status shoal_method_bind(const shoal_policy *policy, shoal_method *method,
                               shoal_error *error) {
  const char *name = policy->algorithm.text ? policy->algorithm.text : "auto";
  memset(method, 0, sizeof *method);
  explain(method, policy->algorithm.mark.line ? "the policy names it" : "asked for", "");
  if (strcmp(name, "auto") == 0) choose(policy, method);
  else if (!(method->node = find_node(name))) method->local = find_local(name);
  char advice[SUMMARY_BYTES];
  if (!method->node && !method->local)
    return shoal_policy_fail(policy, policy->algorithm.mark, error,
                             "unknown algorithm '%.60s'%s; 'shoal help policy' lists them", name,
                             advise(name, shoal_algorithms(), advice));
  return bind_objective(policy, method, error);
}

/* A demand beyond what the algorithm looks at; NULL: none. */
static const shoal_demand *beyond(const shoal_fit *fit, shoal_reach reach) {
  if (reach != SHOAL_REACH_ALL && fit->n_others) return fit->others[0];
  for (size_t d = 0; reach == SHOAL_REACH_SIZE && d < fit->n_counts; d++) {
    if (fit->counts[d].least <= 1) continue;
    for (size_t i = 0; i < fit->demands->n_items; i++)
      if (fit->demands->items[i].sensitive == fit->counts[d].sensitive)
        return &fit->demands->items[i];
  }
  return NULL;
}

shoal_status shoal_method_check_reach(const shoal_method *method, const shoal_policy *policy,
                                      const shoal_fit *fit, shoal_error *error) {
  const shoal_local_algorithm *algorithm = method->local;
  const shoal_demand *demand = beyond(fit, algorithm->reach);
  if (!demand) return SHOAL_OK;
  return shoal_policy_fail(
      policy, policy->algorithm.mark, error,
      "%s cannot reach %s: it looks at %s only; use flock, mondrian or auto", algorithm->name,
      demand->type->name,
      algorithm->reach == SHOAL_REACH_SIZE ? "k" : "k and numbers of distinct sensitive values");
}
