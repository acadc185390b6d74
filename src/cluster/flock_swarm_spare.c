/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_swarm_spare: rows that a column of a swarm can do without, and that another one
 * wants. A row may leave if each of its groups has another row there, or the column has more groups
 * than it needs; both follow from two sets of groups a column and count.
 */
#include "cluster/flock_swarm.h"

static size_t n_known(const shoal_swarm *s) {
  return s->ground->n_counts < SHOAL_SWARM_KNOWN ? s->ground->n_counts : SHOAL_SWARM_KNOWN;
}

uint64_t shoal_swarm_spare_groups(const shoal_swarm *s, uint32_t column, size_t count) {
  size_t i = column * s->ground->n_counts + count;
  bool rich = s->distinct[i] > s->ground->fit->counts[count].least;
  return rich ? s->groups[i] : s->twice[i];
}

bool shoal_swarm_may_lend(const shoal_swarm *s, uint32_t column, const shoal_box *box,
                          const shoal_wanted *wanted) {
  bool any = wanted->any;
  if (s->size[column] < s->ground->fit->k) return false;
  for (size_t d = 0; d < n_known(s) && !any; d++)
    any = wanted->groups[d] && (wanted->groups[d] & shoal_swarm_spare_groups(s, column, d));
  return any && shoal_box_overlaps(s->ground, box, &s->box[column]);
}

/* Which rows are listed. */
typedef struct choice {
  const shoal_ground *ground;
  const shoal_wanted *wanted;
  size_t n_known;
  uint64_t spare[SHOAL_SWARM_KNOWN]; /* by count: groups that can be spared */
  uint64_t kept, asked; /* where groups are one set: those that cannot be; those that are wanted */
} choice;

static bool is_of_use_slow(const choice *c, uint32_t row) {
  const uint8_t *group = c->ground->group + row * c->ground->n_counts;
  bool use = c->wanted->any;
  for (size_t d = 0; d < c->n_known; d++) {
    if (group[d] == SHOAL_GROUND_NO_GROUP) continue;
    if (!(c->spare[d] >> group[d] & 1)) return false;
    use |= c->wanted->groups[d] >> group[d] & 1;
  }
  return use;
}

/* Is the row wanted, and are these groups that can be spared? */
static inline bool is_of_use(const choice *c, uint32_t row) {
  if (!c->ground->groups) return is_of_use_slow(c, row);
  uint64_t groups = c->ground->groups[row];
  return !(groups & c->kept) && (c->wanted->any || (groups & c->asked));
}

uint32_t shoal_swarm_list_spare(const shoal_swarm *s, uint32_t column, const shoal_box *box,
                                const shoal_wanted *wanted, uint32_t *rows, uint32_t room) {
  const shoal_ground *g = s->ground;
  uint32_t n = 0, last = SHOAL_NIL;
  choice c = {.ground = g, .wanted = wanted, .n_known = n_known(s)};
  bool covered = false;
  shoal_lanes cover;
  shoal_lanes_cover(g, box, cover.lane);
  for (size_t d = 0; d < c.n_known; d++) c.spare[d] = shoal_swarm_spare_groups(s, column, d);
  if (g->groups) {
    c.kept = ~shoal_ground_pack(g, c.spare);
    c.asked = shoal_ground_pack(g, wanted->groups);
  }
  for (uint32_t r = s->head[column]; r != SHOAL_NIL && n < room; r = s->next[r]) {
    if (!is_of_use(&c, r)) continue;
    if (g->tuple[r] != last)
      covered = shoal_lanes_below(g, cover.lane, shoal_lanes_of_tuple(g, g->tuple[r]));
    last = g->tuple[r];
    if (covered) rows[n++] = r;
  }
  return n;
}
