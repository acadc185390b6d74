/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/several: see several.h. */
#include "lattice/several.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lattice/snapshots.h"

/* Fewer classes are gone over sooner than a thread starts. */
enum { CLASSES_A_THREAD = 1 << 14, SOME_TUPLES = 4000 };

/* What the classes of the nodes at hand may hold together, beside those of two. */
static const size_t MOST_BYTES = (size_t)128 << 20;

shoal_status shoal_several_init(shoal_search *search, shoal_error *error) {
  struct shoal_several *several = shoal_alloc_zero(1, sizeof *several);
  search->several = several;
  if (!several) return shoal_fail_memory(error);
  for (size_t i = 0; i + 1 < SHOAL_LOOKS; i++) shoal_grouper_init(&several->groupers[i]);
  several->levels = shoal_alloc(search->space.n, SHOAL_LOOKS * sizeof *several->levels);
  if (!several->levels) return shoal_fail_memory(error);
  for (size_t i = 0; i < SHOAL_LOOKS; i++)
    several->looks[i].levels = several->levels + i * search->space.n;
  return SHOAL_OK;
}

void shoal_several_free(shoal_search *search) {
  struct shoal_several *several = search->several;
  if (!several) return;
  for (size_t i = 0; i + 1 < SHOAL_LOOKS; i++) shoal_grouper_reset(&several->groupers[i]);
  free(several->levels);
  free(several);
  search->several = NULL;
}

size_t shoal_several_at_once(const shoal_search *search) {
  if (search->frequency->n_tuples < SOME_TUPLES) return 1;
  size_t fit = MOST_BYTES / shoal_classes_bytes(&search->frequency->base); /* no node has more */
  return fit < 2 ? 2 : fit < SHOAL_LOOKS ? fit : SHOAL_LOOKS;
}

shoal_status shoal_look_roll_up(const shoal_search *search, shoal_look *look, bool sizes_only) {
  if (sizes_only)
    return shoal_classes_roll_up_sizes(search->frequency, look->from, look->levels, look->grouper,
                                       &look->classes, &look->error);
  return shoal_classes_roll_up(search->frequency, look->from, look->levels, look->grouper,
                               &look->classes, NULL, &look->error);
}

/* ------------------------------------------------------------ on threads */

typedef struct team {
  shoal_search *search;
  size_t n_looks;
  atomic_size_t next; /* the first that no thread has taken */
  shoal_look_work work;
  void *user;
} team;

static void look_at_share(void *user, unsigned thread) {
  team *t = user;
  struct shoal_several *several = t->search->several;
  for (size_t i; (i = atomic_fetch_add(&t->next, 1)) < t->n_looks;) {
    shoal_look *look = &several->looks[i];
    look->grouper = thread ? &several->groupers[thread - 1] : &t->search->grouper;
    look->status = t->work(t->user, i, look);
  }
}

static unsigned threads_for(const shoal_search *search, size_t n) {
  uint64_t n_classes = 0;
  for (size_t i = 0; i < n; i++) n_classes += search->several->looks[i].n_source;
  uint64_t most = n_classes / CLASSES_A_THREAD + 1;
  unsigned threads = shoal_run_threads(search->run);
  if (threads > n) threads = (unsigned)n;
  return threads < most ? threads : (unsigned)most;
}

static void begin(shoal_search *search, shoal_look *look, uint64_t node, bool sizes_only) {
  shoal_space_levels(&search->space, node, look->levels);
  look->node = node;
  memset(&look->classes, 0, sizeof look->classes);
  look->from =
      shoal_snapshots_best(search->snapshots, look->levels, sizes_only, &search->frequency->base);
  look->n_source = look->from->n_classes;
  shoal_search_note(search, node, look->n_source);
}

shoal_status shoal_several_look(shoal_search *search, const uint64_t *nodes, size_t n,
                                bool sizes_only, shoal_look_work work, void *user,
                                shoal_error *error) {
  shoal_look *looks = search->several->looks;
  for (size_t i = 0; i < n; i++) begin(search, &looks[i], nodes[i], sizes_only);
  SHOAL_TRY(shoal_run_report(search->run, "search", search->n_checked, search->space.n_nodes,
                             "nodes", error));
  team t = {.search = search, .n_looks = n, .work = work, .user = user};
  shoal_parallel(threads_for(search, n), look_at_share, &t);
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; i < n && status == SHOAL_OK; i++) {
    status = looks[i].status;
    if (status != SHOAL_OK && error) *error = looks[i].error;
  }
  for (size_t i = 0; i < n; i++) {
    if (status == SHOAL_OK && looks[i].classes.n_classes)
      shoal_snapshots_take(search->snapshots, looks[i].levels, &looks[i].classes,
                           looks[i].n_source);
    else shoal_classes_reset(&looks[i].classes);
  }
  return status;
}
