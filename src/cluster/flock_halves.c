/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_halves: see flock_halves.h. */
#include "cluster/flock_halves.h"

#include "base/memory.h"
#include "base/work.h"

void shoal_halves_work(const shoal_halves *halves, unsigned n, void (*work)(void *user, unsigned i),
                       void *user) {
  if (shoal_run_threads(halves->task->run) > 1) shoal_parallel(n, work, user);
  else
    for (unsigned i = 0; i < n; i++) work(user, i);
}

void shoal_halves_report(shoal_halves *halves, uint64_t rows_done) {
  if (halves->status != SHOAL_OK) return;
  halves->status = shoal_run_report(halves->task->run, "cluster", rows_done,
                                    halves->task->axes->n_rows, "rows", halves->error);
  if (halves->status != SHOAL_OK) atomic_store(&halves->stopped, true);
}

bool shoal_halves_are_over(const shoal_halves *halves, const shoal_swarm *swarm) {
  return swarm->failed || atomic_load_explicit(&halves->stopped, memory_order_relaxed);
}

bool shoal_halves_hand_over(const shoal_swarm *swarms, size_t n, const uint32_t *rows,
                            shoal_partition *partition) {
  uint32_t *cluster_of = shoal_alloc(swarms->ground->n, sizeof *cluster_of), cluster = 0;
  if (!cluster_of) return false;
  for (const shoal_swarm *s = swarms; s < swarms + n; s++)
    for (uint32_t c = 0; c < s->n_columns; c++) {
      if (!s->size[c]) continue;
      for (uint32_t r = s->head[c]; r != SHOAL_NIL; r = s->next[r]) cluster_of[rows[r]] = cluster;
      cluster++;
    }
  partition->cluster_of_row = cluster_of;
  partition->n_clusters = cluster;
  return true;
}

/* ------------------------------------------------------------ counts */

/* Are the groups of a count parts of those of another one, which needs as many or more? */
static bool follows_from(const shoal_count *count, const shoal_count *other, uint64_t n_rows) {
  uint32_t of[SHOAL_GROUND_GROUPS];
  if (count->least > other->least) return false;
  for (size_t i = 0; i < SHOAL_GROUND_GROUPS; i++) of[i] = SHOAL_NO_GROUP;
  for (uint64_t r = 0; r < n_rows; r++) {
    uint32_t group = shoal_count_group(count, r), whole = shoal_count_group(other, r);
    if (whole == SHOAL_NO_GROUP) continue;
    if (group == SHOAL_NO_GROUP) return false;
    if (of[group] == SHOAL_NO_GROUP) of[group] = whole;
    if (of[group] != whole) return false;
  }
  return true;
}

/* Of counts that follow from each other the first is kept. */
static bool is_needed(const shoal_fit *fit, size_t d) {
  const shoal_count *counts = fit->counts;
  for (size_t e = 0; e < fit->n_counts; e++) {
    if (e == d || !follows_from(&counts[d], &counts[e], fit->n_rows)) continue;
    if (e < d || !follows_from(&counts[e], &counts[d], fit->n_rows)) return false;
  }
  return true;
}

bool shoal_halves_reduce_fit(const shoal_fit *fit, shoal_fit *reduced) {
  *reduced = *fit;
  reduced->n_counts = 0;
  reduced->counts = shoal_alloc(fit->n_counts, sizeof *reduced->counts);
  if (!reduced->counts) return false;
  for (size_t d = 0; d < fit->n_counts; d++)
    if (is_needed(fit, d)) reduced->counts[reduced->n_counts++] = fit->counts[d];
  return true;
}
