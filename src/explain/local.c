/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain/local: where no node satisfies the policy, `auto` tries local recoding, and so does this:
 * with the policy, and if that finds no release, with a smaller k, a smaller p and more suppressed
 * rows. Values that help nodes already (changes.c) bound the search. Local recoding is no exact
 * method, so a smaller change might help too: answers are those that were tried and work.
 *
 * Where there is no lattice, this is the whole explanation: the loss of each column, the loss of
 * the others without it, and what a smaller k or p or more suppression gains.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explain.h"
#include "job/release.h"
#include "table/subset.h"

static const uint64_t MAX_ROWS = 50000; /* of tables on which local recoding is tried */

enum { MAX_TRIALS = 12 }; /* of a setting */

typedef struct local_trials {
  shoal_explain_state *state;
  const shoal_table *table;   /* the context's, or a sample of it */
  const shoal_policy *policy; /* the context's, with a limit of suppressed rows for this table */
  uint64_t limit;             /* of suppressed rows */
  shoal_method method;
} local_trials;

/* What a trial finds. */
typedef struct outcome {
  bool found;
  uint64_t suppressed;
  double release_loss;
} outcome;

bool shoal_explain_find_local(const shoal_policy *policy, shoal_method *method) {
  shoal_error unused = {0};
  shoal_methods methods;
  if (shoal_methods_bind(policy, &methods, &unused) != SHOAL_OK) return false;
  *method = methods.items[0];
  return method->local != NULL;
}

/* `costs`: receives what each quasi-identifier loses; NULL: not wanted. */
static shoal_status try_policy(local_trials *t, const shoal_policy *policy, outcome *out,
                               shoal_quasi_cost *costs, shoal_error *error) {
  shoal_release *release;
  SHOAL_TRY(
      shoal_release_try(t->table, policy, &t->method, t->state->context->run, &release, error));
  *out = (outcome){.found = release != NULL};
  if (!release) return SHOAL_OK;
  const shoal_result *result = release->result;
  out->suppressed = result->release.suppressed;
  out->release_loss = result->release.loss.release_loss;
  for (size_t q = 0; costs && q < result->n_quasi; q++)
    costs[q].loss = result->release.attributes[q].loss;
  shoal_release_delete(release);
  return SHOAL_OK;
}

/* A policy with another value of the setting. */
static shoal_status try_value(local_trials *t, const char *setting, uint64_t value, outcome *out,
                              shoal_error *error) {
  bool is_k = strcmp(setting, "k") == 0, is_p = strcmp(setting, "p") == 0;
  shoal_lowered_policy l;
  shoal_status status =
      shoal_lowered_policy_make(&l, t->policy, is_k ? value : UINT64_MAX, is_p ? value : UINT64_MAX)
          ? SHOAL_OK
          : shoal_fail_memory(error);
  if (!is_k && !is_p)
    l.policy.max_suppression = (shoal_amount){.number = {.mantissa = (int64_t)value}};
  if (status == SHOAL_OK) status = try_policy(t, &l.policy, out, NULL, error);
  shoal_arena_reset(&l.arena);
  return status;
}

static const shoal_explained_change *find_change(const shoal_explanation *e, const char *setting) {
  for (size_t i = 0; i < e->n_changes; i++)
    if (strcmp(e->changes[i].setting, setting) == 0) return &e->changes[i];
  return NULL;
}

/* Rows of the sample as rows of the table. */
static uint64_t of_all(const local_trials *t, uint64_t n) {
  uint64_t all = t->state->context->table->n_records;
  if (t->table->n_records == all) return n;
  return (uint64_t)((double)n * (double)all / (double)t->table->n_records);
}

static void add_change(local_trials *t, const char *setting, uint64_t from, uint64_t to,
                       const outcome *found, bool exact) {
  shoal_explanation *e = t->state->explanation;
  bool rows = strcmp(setting, "max-suppression") == 0;
  e->changes[e->n_changes++] = (shoal_explained_change){.setting = setting,
                                                        .from = rows ? of_all(t, from) : from,
                                                        .to = rows ? of_all(t, to) : to,
                                                        .algorithm = t->method.name,
                                                        .suppressed = of_all(t, found->suppressed),
                                                        .release_loss = found->release_loss,
                                                        .exact = exact};
}

/*
 * The value nearest to `from`, which does not help, that helps. `to` is tried unless it is known to
 * help nodes: then only nearer values count.
 */
static shoal_status change(local_trials *t, const char *setting, uint64_t from, uint64_t to,
                           shoal_error *error) {
  const shoal_explained_change *node = find_change(t->state->explanation, setting);
  uint64_t bad = from, good = node ? node->to : to;
  outcome best = {0};
  if (bad == good) return SHOAL_OK;
  if (!node) {
    SHOAL_TRY(try_value(t, setting, good, &best, error));
    if (!best.found) return SHOAL_OK;
  }
  for (int i = 0; i < MAX_TRIALS; i++) {
    uint64_t middle = bad < good ? bad + (good - bad) / 2 : good + (bad - good) / 2;
    outcome tried;
    if (middle == bad || middle == good) break;
    SHOAL_TRY(try_value(t, setting, middle, &tried, error));
    if (tried.found) good = middle, best = tried;
    else bad = middle;
  }
  if (best.found)
    add_change(t, setting, from, good, &best, good > bad ? good - bad == 1 : bad - good == 1);
  return SHOAL_OK;
}

/* The smallest changes that make a release possible. */
static shoal_status make_possible(local_trials *t, shoal_error *error) {
  const shoal_requirements *requirements = &t->state->context->requirements;
  const shoal_explanation *e = t->state->explanation;
  uint64_t n = t->table->n_records;
  if (e->has_k && requirements->k > requirements->p)
    SHOAL_TRY(change(t, "k", requirements->k, requirements->p, error));
  if (e->has_p && requirements->p > 1) SHOAL_TRY(change(t, "p", requirements->p, 1, error));
  return t->limit + 1 < n ? change(t, "max-suppression", t->limit, n - 1, error) : SHOAL_OK;
}

static shoal_status start(local_trials *t, outcome *found, shoal_error *error) {
  shoal_explanation *e = t->state->explanation;
  e->local = t->method.name;
  SHOAL_TRY(try_policy(t, t->policy, found, e->no_lattice ? e->costs : NULL, error));
  e->local_met = t->state->result->holds = found->found;
  e->local_suppressed = of_all(t, found->suppressed);
  e->local_loss = found->release_loss;
  return SHOAL_OK;
}

shoal_status shoal_explain_local(shoal_explain_state *state, shoal_error *error) {
  const shoal_table *table = state->context->table;
  local_trials t = {.state = state,
                    .table = table,
                    .policy = state->context->policy,
                    .limit = state->search.max_suppressed};
  outcome found;
  if (state->met || table->n_records > MAX_ROWS || shoal_table_is_counted(table) ||
      !shoal_explain_find_local(state->context->policy, &t.method))
    return SHOAL_OK;
  SHOAL_TRY(start(&t, &found, error));
  return found.found ? SHOAL_OK : make_possible(&t, error);
}

/* ------------------------------------------------------------ without a lattice */

/* The names of the policy's attributes, and one that may be new. False: no memory. */
static bool add_name(const shoal_policy *policy, shoal_label name, shoal_strings *names,
                     uint32_t *index) {
  if (!shoal_strings_init(names)) return false;
  bool ok = true;
  for (uint32_t i = 0; ok && i < policy->n_attributes; i++)
    ok = shoal_strings_intern(names, shoal_strings_get(&policy->names, i)) == i;
  *index = ok ? shoal_strings_intern(names, name) : SHOAL_NONE;
  if (*index == SHOAL_NONE) shoal_strings_reset(names);
  return *index != SHOAL_NONE;
}

/* The policy without a quasi-identifier: an entry of exactly its name drops it. */
static shoal_status try_without(local_trials *t, size_t q, outcome *out, shoal_error *error) {
  const shoal_policy *policy = t->policy;
  const char *name = t->state->context->quasi[q]->name;
  shoal_policy other = *policy;
  shoal_attribute *entries = shoal_alloc(policy->n_attributes + 1, sizeof *entries);
  uint32_t at;
  if (!entries || !add_name(policy, (shoal_label){name, strlen(name)}, &other.names, &at)) {
    free(entries);
    return shoal_fail_memory(error);
  }
  memcpy(entries, policy->attributes, policy->n_attributes * sizeof *entries);
  entries[at] = *t->state->context->quasi_attributes[q];
  entries[at].name = name;
  entries[at].role = SHOAL_ROLE_DROP;
  other.attributes = entries;
  other.n_attributes = other.names.n_strings;
  shoal_status status = try_policy(t, &other, out, NULL, error);
  shoal_strings_reset(&other.names);
  free(entries);
  return status;
}

/* What the others lose over all rows, with and without each quasi-identifier. */
static shoal_status explain_columns(local_trials *t, const outcome *found, shoal_error *error) {
  shoal_quasi_cost *costs = t->state->explanation->costs;
  size_t n = t->state->context->n_quasi;
  double sum = 0, removed = (double)found->suppressed / (double)t->table->n_records;
  for (size_t q = 0; q < n; q++) sum += costs[q].loss;
  for (size_t q = 0; n > 1 && q < n; q++) {
    outcome without;
    SHOAL_TRY(try_without(t, q, &without, error));
    costs[q].tried = true;
    costs[q].met_without = without.found;
    costs[q].suppressed_without = of_all(t, without.suppressed);
    costs[q].others_without = without.release_loss;
    costs[q].others_now = removed + (1 - removed) * (sum - costs[q].loss) / (double)(n - 1);
  }
  return SHOAL_OK;
}

/* One value of the setting, if with it less is lost. */
static shoal_status try_less(local_trials *t, const char *setting, uint64_t from, uint64_t to,
                             double loss, shoal_error *error) {
  outcome found;
  SHOAL_TRY(try_value(t, setting, to, &found, error));
  if (found.found && found.release_loss < loss) add_change(t, setting, from, to, &found, false);
  return SHOAL_OK;
}

static shoal_status explain_sample(local_trials *t, shoal_error *error) {
  outcome found;
  SHOAL_TRY(start(t, &found, error));
  if (!found.found) return make_possible(t, error);
  SHOAL_TRY(explain_columns(t, &found, error));
  /* Half of k, one less of p, and 1% or 5% of the rows more. */
  double loss = found.release_loss;
  const shoal_requirements *requirements = &t->state->context->requirements;
  const shoal_explanation *e = t->state->explanation;
  uint64_t k = requirements->k, p = requirements->p, n = t->table->n_records;
  uint64_t half = k - k / 2, limit = t->limit;
  if (half < p) half = p;
  if (e->has_k && half < k) SHOAL_TRY(try_less(t, "k", k, half, loss, error));
  if (e->has_p && p > 1) SHOAL_TRY(try_less(t, "p", p, p - 1, loss, error));
  for (unsigned percent = 1; percent <= 5; percent += 4) {
    uint64_t more = limit + n * percent / 100;
    if (more > limit && more < n)
      SHOAL_TRY(try_less(t, "max-suppression", limit, more, loss, error));
  }
  return SHOAL_OK;
}

shoal_status shoal_explain_local_only(shoal_explain_state *state, shoal_error *error) {
  enum { MAX_CHANGES = 4 };
  const shoal_context *p = state->context;
  shoal_explanation *e = state->explanation;
  shoal_arena *arena = &state->result->arena;
  local_trials t = {.state = state, .table = p->table};
  bool bound = shoal_explain_find_local(p->policy, &t.method);
  assert(bound);
  (void)bound;
  if (p->table->counts)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = p->table->name},
                         "its rows do not fit into the memory allowed; raise --memory");
  size_t first = 0;
  while (p->hierarchies[first] && !p->hierarchies[first]->ragged) first++;
  e->no_lattice = state->result->quasi[first];
  e->costs = shoal_arena_alloc(arena, p->n_quasi, sizeof *e->costs);
  e->changes = shoal_arena_alloc(arena, MAX_CHANGES, sizeof *e->changes);
  if (!e->costs || !e->changes) return shoal_fail_memory(error);
  for (size_t q = 0; q < p->n_quasi; q++)
    e->costs[q] = (shoal_quasi_cost){.name = state->result->quasi[q]};
  shoal_table *subset = NULL;
  if (p->table->n_records > SHOAL_ALTERNATIVES_ROWS)
    SHOAL_TRY(shoal_release_sample(p, &subset, error));
  if (subset) t.table = subset;
  if (subset) e->sample_rows = subset->n_records;
  t.limit = (uint64_t)((double)state->result->explain.max_suppression * (double)t.table->n_records /
                       (double)p->table->n_records);
  shoal_policy policy = *p->policy;
  policy.max_suppression = (shoal_amount){.number = {.mantissa = (int64_t)t.limit}};
  t.policy = &policy;
  shoal_status status = explain_sample(&t, error);
  shoal_table_subset_free(subset);
  return status;
}
