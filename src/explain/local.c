/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain/local: where no node satisfies the policy, `auto` tries local recoding, and so does this:
 * with the policy, and if that finds no release, with a smaller k, a smaller p and more suppressed
 * rows. Values that help nodes already (changes.c) bound the search. Local recoding is no exact
 * method, so a smaller change might help too: answers are those that were tried and work.
 */
#include <string.h>

#include "explain/explain.h"
#include "job/release.h"

static const uint64_t MAX_ROWS = 50000; /* of tables on which local recoding is tried */

enum { MAX_TRIALS = 12 }; /* of a setting */

typedef struct local_trials {
  shoal_explain_state *state;
  const shoal_table *table;
  shoal_method method;
} local_trials;

/* The local algorithm that `anonymize` would use; false: none. */
static bool find_method(const shoal_policy *policy, shoal_method *method) {
  shoal_error unused = {0};
  shoal_methods methods;
  if (shoal_methods_bind(policy, &methods, &unused) != SHOAL_OK) return false;
  *method = methods.items[0];
  return method->local != NULL;
}

static shoal_status try_policy(local_trials *t, const shoal_policy *policy, bool *found,
                               uint64_t *suppressed, shoal_error *error) {
  shoal_release *release;
  SHOAL_TRY(
      shoal_release_try(t->table, policy, &t->method, t->state->context->run, &release, error));
  *found = release != NULL;
  if (release) *suppressed = release->result->release.suppressed;
  shoal_release_delete(release);
  return SHOAL_OK;
}

/* A policy with another value of the setting. */
static shoal_status try_value(local_trials *t, const char *setting, uint64_t value, bool *found,
                              uint64_t *suppressed, shoal_error *error) {
  bool is_k = strcmp(setting, "k") == 0, is_p = strcmp(setting, "p") == 0;
  shoal_lowered_policy l;
  shoal_status status =
      shoal_lowered_policy_make(&l, t->state->context->policy, is_k ? value : UINT64_MAX,
                                is_p ? value : UINT64_MAX)
          ? SHOAL_OK
          : shoal_fail_memory(error);
  if (!is_k && !is_p)
    l.policy.max_suppression = (shoal_amount){.number = {.mantissa = (int64_t)value}};
  if (status == SHOAL_OK) status = try_policy(t, &l.policy, found, suppressed, error);
  shoal_arena_reset(&l.arena);
  return status;
}

static const shoal_explained_change *find_change(const shoal_explanation *e, const char *setting) {
  for (size_t i = 0; i < e->n_changes; i++)
    if (strcmp(e->changes[i].setting, setting) == 0) return &e->changes[i];
  return NULL;
}

static uint64_t middle_of(uint64_t a, uint64_t b) {
  return a < b ? a + (b - a) / 2 : b + (a - b) / 2;
}

/*
 * The value nearest to `from`, which does not help, that helps. `to` is tried unless it is known to
 * help nodes: then only nearer values count.
 */
static shoal_status change(local_trials *t, const char *setting, uint64_t from, uint64_t to,
                           shoal_error *error) {
  shoal_explanation *e = t->state->explanation;
  const shoal_explained_change *node = find_change(e, setting);
  uint64_t bad = from, good = node ? node->to : to, suppressed = 0;
  bool found = false, any = false;
  if (bad == good) return SHOAL_OK;
  if (!node) {
    SHOAL_TRY(try_value(t, setting, good, &any, &suppressed, error));
    if (!any) return SHOAL_OK;
  }
  for (int i = 0; i < MAX_TRIALS; i++) {
    uint64_t middle = middle_of(bad, good), rows = 0;
    if (middle == bad || middle == good) break;
    SHOAL_TRY(try_value(t, setting, middle, &found, &rows, error));
    if (found) good = middle, suppressed = rows, any = true;
    else bad = middle;
  }
  if (any)
    e->changes[e->n_changes++] =
        (shoal_explained_change){.setting = setting,
                                 .from = from,
                                 .to = good,
                                 .algorithm = t->method.name,
                                 .suppressed = suppressed,
                                 .exact = good > bad ? good - bad == 1 : bad - good == 1};
  return SHOAL_OK;
}

shoal_status shoal_explain_local(shoal_explain_state *state, const shoal_table *table,
                                 shoal_error *error) {
  const shoal_requirements *requirements = &state->context->requirements;
  shoal_explanation *e = state->explanation;
  local_trials t = {.state = state, .table = table};
  uint64_t n = table->n_records, limit = state->search.max_suppressed;
  if (state->met || n > MAX_ROWS || shoal_table_is_counted(table) ||
      !find_method(state->context->policy, &t.method))
    return SHOAL_OK;
  e->local = t.method.name;
  SHOAL_TRY(try_policy(&t, state->context->policy, &e->local_met, &e->local_suppressed, error));
  state->result->holds = e->local_met;
  if (e->local_met) return SHOAL_OK;
  if (e->has_k && requirements->k > requirements->p)
    SHOAL_TRY(change(&t, "k", requirements->k, requirements->p, error));
  if (e->has_p && requirements->p > 1) SHOAL_TRY(change(&t, "p", requirements->p, 1, error));
  return limit + 1 < n ? change(&t, "max-suppression", limit, n - 1, error) : SHOAL_OK;
}
