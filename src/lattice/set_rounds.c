/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/set_rounds: a worklist of suppressed tuples.
 *
 * The classes over a set depend on the levels of this set only, so they are kept by (set, levels).
 * A class of n rows of which k are needed may lose n - k. As to values and people, each class has
 * disjoint parts that satisfy the requirements by themselves. A class that has lost fewer rows than
 * it has such parts still contains one of them, and since requirements are monotone, it satisfies.
 * Only classes that have lost more are judged again; sets whose classes may all lose more rows than
 * are suppressed so far are not looked at.
 *
 *      set {age, zip}, bottom levels        set {age, zip}, levels (1, 0)
 *      class 0: tuples 0 4 9   1 part       class 0: bottom classes 0 2   3 parts: may lose 2 rows
 *      class 1: tuples 1 2     0 parts      class 1: bottom class 1       1 part:  may lose none
 *      class 2: tuples 3 5 ..  2 parts
 *
 *      violating tuples of all sets --> worklist --> rows lost by their class over each set
 *                                          ^                        | more than it may lose
 *                                          '---- violates <--- judged without suppressed tuples
 *
 * The largest set of rows to release is unique (docs/model-definitions.md): the order does not
 * matter.
 */
#include "lattice/set_bounds.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const size_t MAX_BYTES = (size_t)256 << 20; /* of the indexes; of the entries */

/* The classes over a set at some levels, numbered by their labels in mixed radix. */
typedef struct set_entry {
  uint64_t rows;      /* that violate; more than max_suppressed: nothing else is kept */
  uint32_t n_classes; /* some are empty */
  uint32_t *start;    /* of `members`, by class */
  uint32_t *members;  /* bottom classes */
  uint32_t *slack;    /* rows that a class may lose; UINT32_MAX if it violates */
  uint32_t min_slack; /* of a class */
  uint32_t *violating;
  uint32_t n_violating; /* tuples */
} set_entry;

/* The classes over a set at its bottom levels. */
typedef struct set_index {
  shoal_classes bottom;
  uint32_t *start;  /* of `tuples`, by class */
  uint32_t *tuples; /* by class */
  uint32_t *parts;  /* by class: disjoint parts that satisfy, but for their rows */
  _Atomic(set_entry *) *entries;
  uint64_t n_entries;
} set_index;

struct shoal_set_rounds {
  const shoal_frequency_set *frequency;
  const shoal_requirements *requirements;
  const shoal_space *space;
  uint64_t max_suppressed;
  uint64_t part_rows; /* minimum rows of a part */
  uint64_t few_rows;  /* of a class, which are judged first */
  uint32_t max_classes;
  set_index *sets; /* by set of the requirements; the first is not used */
  size_t n_sets;
  atomic_size_t *entry_bytes;
};

/* ------------------------------------------------------------ classes and parts of them */

static bool merge(const shoal_set_rounds *r, size_t s, const shoal_classes *from,
                  const uint32_t *ids, uint32_t n, shoal_classes *merged) {
  bool sizes_only = r->requirements->sets[s].sizes_only;
  return (sizes_only ? shoal_classes_regroup_sizes(from, ids, n, merged, NULL)
                     : shoal_classes_regroup(from, ids, n, merged, NULL)) == SHOAL_OK;
}

/* item[start[g]] .. item[start[g + 1] - 1] are those of group g: items sorted by group. */
static void sort_by_group(const uint32_t *group_of, uint32_t n, uint32_t n_groups, uint32_t *start,
                          uint32_t *item) {
  memset(start, 0, ((size_t)n_groups + 1) * sizeof *start);
  for (uint32_t i = 0; i < n; i++) start[group_of[i] + 1]++;
  for (uint32_t g = 0; g < n_groups; g++) start[g + 1] += start[g];
  for (uint32_t i = n; i-- > 0;) item[--start[group_of[i] + 1]] = i;
  memmove(start, start + 1, n_groups * sizeof *start); /* each was moved to its beginning */
  start[n_groups] = n;
}

/*
 * parts[g] receives the disjoint parts of group g that satisfy the requirements of the set but for
 * their rows. `own`, if not NULL: what is known of a class alone; those without a part are joined.
 */
static bool count_parts(const shoal_set_rounds *r, size_t s, const shoal_classes *from,
                        const uint32_t *start, const uint32_t *item, uint32_t n_groups,
                        const uint32_t *own, uint32_t *parts) {
  uint32_t *part_of = shoal_alloc(from->n_classes, sizeof *part_of);
  uint32_t *group_of = shoal_alloc((size_t)from->n_classes + 1, sizeof *group_of);
  uint8_t *violates = shoal_alloc((size_t)from->n_classes + 1, 1);
  uint32_t n_parts = 1; /* part 0 has the classes that are not joined */
  bool ok = part_of && group_of && violates;
  for (uint32_t g = 0; ok && g < n_groups; g++) {
    uint64_t rows = 0;
    parts[g] = 0;
    for (uint32_t i = start[g]; i < start[g + 1]; i++) {
      uint32_t c = item[i];
      part_of[c] = 0;
      if (own && own[c]) {
        parts[g] += own[c];
        continue;
      }
      if (rows == 0) group_of[n_parts++] = g;
      part_of[c] = n_parts - 1;
      rows += from->n_rows[c];
      if (rows >= r->part_rows) rows = 0;
    }
  }
  shoal_classes joined;
  ok = ok && merge(r, s, from, part_of, n_parts, &joined);
  if (ok) {
    shoal_judge_parts_over(r->requirements, s, r->frequency, &joined, violates);
    for (uint32_t p = 1; p < n_parts; p++) parts[group_of[p]] += !violates[p];
    shoal_classes_reset(&joined);
  }
  free(part_of);
  free(group_of);
  free(violates);
  return ok;
}

/* ------------------------------------------------------------ entries */

static void free_entry(set_entry *entry) {
  if (!entry) return;
  free(entry->start);
  free(entry->members);
  free(entry->slack);
  free(entry->violating);
  free(entry);
}

/* Classes over the set at the levels, with empty ones; more than max_classes: too many. */
static uint64_t count_classes(const shoal_set_rounds *r, size_t s, const uint32_t *levels) {
  const shoal_quasi_set *set = &r->requirements->sets[s];
  uint64_t n = 1;
  for (size_t i = 0; i < set->n && n <= r->max_classes; i++)
    n *= r->frequency->hierarchies[set->quasi[i]]->levels[levels[set->quasi[i]]].n_labels;
  return n;
}

/* False: no memory. */
static bool list_violating(const set_index *index, set_entry *entry, const uint8_t *violates) {
  for (int pass = 0; pass < 2; pass++) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < entry->n_classes; c++) {
      if (!violates[c]) continue;
      for (uint32_t m = entry->start[c]; m < entry->start[c + 1]; m++) {
        uint32_t b = entry->members[m], size = index->start[b + 1] - index->start[b];
        if (pass && size)
          memcpy(entry->violating + n, index->tuples + index->start[b], size * sizeof(uint32_t));
        n += size;
      }
    }
    if (pass == 0 && !(entry->violating = shoal_alloc(n, sizeof *entry->violating))) return false;
    entry->n_violating = n;
  }
  return true;
}

static uint32_t slack_of(uint32_t spare, uint64_t n_rows, uint64_t k, uint32_t parts) {
  uint64_t by_parts = parts ? parts - 1 : 0, by_rows = n_rows > k ? n_rows - k : 0;
  uint64_t both = by_parts < by_rows ? by_parts : by_rows;
  return both > spare ? (uint32_t)both : spare;
}

static bool fill_entry(const shoal_set_rounds *r, size_t s, const uint32_t *ids, set_entry *entry,
                       uint8_t *violates) {
  const set_index *index = &r->sets[s];
  shoal_classes over;
  if (!merge(r, s, &index->bottom, ids, entry->n_classes, &over)) return false;
  entry->rows = shoal_judge_over(r->requirements, s, r->frequency, &over, violates);
  uint32_t n = entry->n_classes, n_bottom = index->bottom.n_classes;
  bool ok = true;
  if (entry->rows <= r->max_suppressed) {
    uint32_t *parts = shoal_alloc(n, sizeof *parts);
    entry->start = shoal_alloc((size_t)n + 1, sizeof *entry->start);
    entry->members = shoal_alloc(n_bottom, sizeof *entry->members);
    entry->slack = shoal_alloc(n, sizeof *entry->slack);
    ok = parts && entry->start && entry->members && entry->slack;
    if (ok) {
      sort_by_group(ids, n_bottom, n, entry->start, entry->members);
      shoal_spare_over(r->requirements, s, r->frequency, &over, violates, entry->slack);
      ok = list_violating(index, entry, violates) &&
           count_parts(r, s, &index->bottom, entry->start, entry->members, n, index->parts, parts);
    }
    entry->min_slack = UINT32_MAX;
    for (uint32_t c = 0; ok && c < n; c++) {
      entry->slack[c] =
          violates[c] ? UINT32_MAX
                      : slack_of(entry->slack[c], over.n_rows[c], r->requirements->k, parts[c]);
      if (entry->slack[c] < entry->min_slack) entry->min_slack = entry->slack[c];
    }
    free(parts);
  }
  shoal_classes_reset(&over);
  return ok;
}

/* NULL: no memory. */
static set_entry *new_entry(const shoal_set_rounds *r, size_t s, const uint32_t *levels,
                            uint32_t n_classes) {
  uint32_t *ids = shoal_alloc(r->sets[s].bottom.n_classes, sizeof *ids);
  uint8_t *violates = shoal_alloc(n_classes, 1);
  set_entry *entry = shoal_alloc_zero(1, sizeof *entry);
  bool ok = ids && violates && entry;
  if (ok) {
    entry->n_classes = n_classes;
    /* Class of each bottom class at the levels. */
    const shoal_quasi_set *set = &r->requirements->sets[s];
    const shoal_classes *bottom = &r->sets[s].bottom;
    memset(ids, 0, bottom->n_classes * sizeof *ids);
    for (size_t i = 0; i < set->n; i++) {
      size_t q = set->quasi[i];
      const shoal_level *level = &r->frequency->hierarchies[q]->levels[levels[q]];
      for (uint32_t b = 0; b < bottom->n_classes; b++)
        ids[b] = ids[b] * level->n_labels +
                 level->of_leaf[shoal_code_at(r->frequency->codes[q], bottom->tuple[b])];
    }
    ok = fill_entry(r, s, ids, entry, violates);
  }
  free(ids);
  free(violates);
  if (ok) return entry;
  free_entry(entry);
  return NULL;
}

/* *entry receives NULL if it would be too large. Threads may compute an entry twice. */
static bool entry_at(const shoal_set_rounds *r, size_t s, const uint32_t *levels,
                     set_entry **entry) {
  uint64_t at = shoal_set_entry_at(r->space, &r->requirements->sets[s], levels);
  _Atomic(set_entry *) *place = &r->sets[s].entries[at];
  *entry = atomic_load(place);
  if (*entry) return true;
  uint64_t n_classes = count_classes(r, s, levels);
  if (n_classes > r->max_classes || atomic_load(r->entry_bytes) > MAX_BYTES) return true;
  set_entry *fresh = new_entry(r, s, levels, (uint32_t)n_classes), *none = NULL;
  if (!fresh) return false;
  if (atomic_compare_exchange_strong(place, &none, fresh)) {
    *entry = fresh;
    (void)atomic_fetch_add(
        r->entry_bytes, (2 * (size_t)n_classes + r->sets[s].bottom.n_classes + fresh->n_violating) *
                            sizeof(uint32_t));
  } else {
    free_entry(fresh);
    *entry = none;
  }
  return true;
}

/* ------------------------------------------------------------ the worklist */

typedef struct work {
  const shoal_set_rounds *r;
  const uint32_t *levels;
  uint64_t limit, rows;
  uint8_t *suppressed;  /* by tuple */
  uint32_t *queue;      /* suppressed tuples */
  uint32_t n_queue, to; /* the first `to` of the queue have labels */
  uint32_t **labels;    /* by quasi-identifier: of the queue */
  uint32_t *n_rows;     /* of the queue */
  uint32_t *counted;    /* by set: the first of the queue that its classes have lost */
  set_entry **entries;
  size_t *first;   /* by set: its first class in `left` and `waits` */
  int64_t *left;   /* by class of all sets: rows that it may lose yet; negative: it lost more */
  uint8_t *waits;  /* by class of all sets: it is to be judged */
  uint32_t *again; /* classes of one set that are to be judged */
  uint32_t *items, *ids;
  uint8_t *violates; /* by class of `again` */
  uint32_t *spare;   /* the same */
  bool *has_more;    /* the same */
} work;

static void suppress(work *w, uint32_t t) {
  if (w->suppressed[t]) return;
  w->suppressed[t] = 1;
  w->rows += w->r->frequency->base.n_rows[t];
  w->queue[w->n_queue++] = t;
}

/*
 * Collects tuples of class c over the set that are not suppressed, up to max_rows rows, as class
 * `id`. Returns whether there are more.
 */
static bool collect(work *w, size_t s, uint32_t c, uint64_t max_rows, uint32_t id, uint32_t *n) {
  const set_index *index = &w->r->sets[s];
  const set_entry *entry = w->entries[s];
  uint64_t rows = 0;
  for (uint32_t m = entry->start[c]; m < entry->start[c + 1]; m++) {
    uint32_t b = entry->members[m];
    for (uint32_t at = index->start[b]; at < index->start[b + 1]; at++) {
      uint32_t t = index->tuples[at];
      if (w->suppressed[t]) continue;
      if (rows >= max_rows) return true;
      rows += w->r->frequency->base.n_rows[t];
      w->items[*n] = t;
      w->ids[(*n)++] = id;
    }
  }
  return false;
}

/* Fills w->violates and w->spare for the n_classes classes that the n collected tuples form. */
static bool judge_collected(work *w, size_t s, uint32_t n, uint32_t n_classes) {
  const shoal_requirements *requirements = w->r->requirements;
  shoal_classes living, over;
  if (shoal_classes_select(&w->r->frequency->base, w->items, n, requirements->sets[s].sizes_only,
                           &living, NULL) != SHOAL_OK)
    return false;
  bool ok = merge(w->r, s, &living, w->ids, n_classes, &over);
  shoal_classes_reset(&living);
  if (!ok) return false;
  (void)shoal_judge_over(requirements, s, w->r->frequency, &over, w->violates);
  shoal_spare_over(requirements, s, w->r->frequency, &over, w->violates, w->spare);
  shoal_classes_reset(&over);
  return true;
}

/*
 * Judges n_again classes of one set by up to max_rows of their rows that are not suppressed, and
 * suppresses those that violate. What violates and has more rows is left in `again`; *n_again
 * receives their number. False: no memory.
 */
static bool judge_again(work *w, size_t s, uint64_t max_rows, uint32_t *n_again) {
  uint32_t n = 0, n_classes = 0, n_left = 0;
  for (uint32_t i = 0; i < *n_again; i++) {
    uint32_t c = w->again[i], before = n;
    w->waits[w->first[s] + c] = 0;
    bool more = collect(w, s, c, max_rows, n_classes, &n);
    if (n == before) continue; /* all of it is suppressed */
    w->again[n_classes] = c;
    w->has_more[n_classes++] = more;
  }
  *n_again = 0;
  if (n == 0) return true;
  if (!judge_collected(w, s, n, n_classes)) return false;
  for (uint32_t i = 0; i < n; i++)
    if (w->violates[w->ids[i]] && !w->has_more[w->ids[i]]) suppress(w, w->items[i]);
  int64_t *left = w->left + w->first[s];
  for (uint32_t c = 0; c < n_classes; c++) {
    if (!w->violates[c] && w->spare[c] > left[w->again[c]]) left[w->again[c]] = w->spare[c];
    if (w->violates[c] && w->has_more[c]) w->again[n_left++] = w->again[c];
  }
  *n_again = n_left;
  return true;
}

/*
 * Counts what the classes over the set lose by the tuples of the queue that are not counted yet.
 * Returns how many have lost too much; `again` receives them.
 */
static uint32_t count_lost(work *w, size_t s) {
  const shoal_quasi_set *set = &w->r->requirements->sets[s];
  int64_t *left = w->left + w->first[s];
  uint32_t *classes = w->ids, n_again = 0;
  uint32_t from = w->counted[s], n = w->to - from;
  uint8_t *waits = w->waits + w->first[s];
  memset(classes, 0, n * sizeof *classes);
  for (size_t j = 0; j < set->n; j++) {
    size_t q = set->quasi[j];
    uint32_t n_labels = w->r->frequency->hierarchies[q]->levels[w->levels[q]].n_labels;
    const uint32_t *labels = w->labels[q] + from;
    for (uint32_t i = 0; i < n; i++) classes[i] = classes[i] * n_labels + labels[i];
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = classes[i];
    left[c] -= w->n_rows[from + i];
    if (left[c] >= 0 || waits[c]) continue;
    waits[c] = 1;
    w->again[n_again++] = c;
  }
  w->counted[s] = w->to;
  return n_again;
}

/* Finds the labels of the tuples that are new in the queue. */
static void label_queue(work *w) {
  const shoal_frequency_set *frequency = w->r->frequency;
  for (uint32_t i = w->to; i < w->n_queue; i++)
    w->n_rows[i] = (uint32_t)frequency->base.n_rows[w->queue[i]];
  for (size_t q = 0; q < frequency->n_quasi; q++) {
    const uint32_t *of_leaf = frequency->hierarchies[q]->levels[w->levels[q]].of_leaf;
    for (uint32_t i = w->to; i < w->n_queue; i++)
      w->labels[q][i] = of_leaf[shoal_code_at(frequency->codes[q], w->queue[i])];
  }
  w->to = w->n_queue;
}

/* False: no memory. */
static bool empty_worklist(work *w) {
  for (size_t s = 1; s < w->r->n_sets; s++)
    for (uint32_t i = 0; w->entries[s] && i < w->entries[s]->n_violating; i++)
      suppress(w, w->entries[s]->violating[i]);
  while (w->to < w->n_queue && w->rows <= w->limit) {
    label_queue(w);
    for (size_t s = 1; s < w->r->n_sets && w->rows <= w->limit; s++) {
      bool may_violate = w->entries[s] && w->rows > w->entries[s]->min_slack;
      uint32_t n_again = may_violate ? count_lost(w, s) : 0;
      /* A few rows are nearly always enough: a larger class never violates. */
      if (n_again && !judge_again(w, s, w->r->few_rows, &n_again)) return false;
      if (n_again && !judge_again(w, s, UINT64_MAX, &n_again)) return false;
    }
  }
  return true;
}

/* *applies: false if the classes over a set are too many. False: no memory. */
static bool find_entries(work *w, size_t *n_classes, bool *applies) {
  *n_classes = 0;
  *applies = true;
  for (size_t s = 1; s < w->r->n_sets && *applies; s++) {
    if (!w->r->requirements->sets[s].required) continue;
    if (!entry_at(w->r, s, w->levels, &w->entries[s])) return false;
    *applies = w->entries[s] && w->entries[s]->rows <= w->r->max_suppressed;
    w->first[s] = *n_classes;
    if (*applies) *n_classes += w->entries[s]->n_classes;
  }
  return true;
}

static bool init_work(work *w, size_t n_classes) {
  size_t n_tuples = w->r->frequency->n_tuples, n_quasi = w->r->frequency->n_quasi;
  w->queue = shoal_alloc(n_tuples, sizeof *w->queue);
  w->labels = shoal_alloc_zero(n_quasi, sizeof *w->labels);
  w->n_rows = shoal_alloc(n_tuples, sizeof *w->n_rows);
  w->counted = shoal_alloc_zero(w->r->n_sets, sizeof *w->counted);
  w->left = shoal_alloc(n_classes, sizeof *w->left);
  w->waits = shoal_alloc_zero(n_classes, 1);
  w->again = shoal_alloc(n_tuples, sizeof *w->again);
  w->items = shoal_alloc(n_tuples, sizeof *w->items);
  w->ids = shoal_alloc(n_tuples, sizeof *w->ids);
  w->violates = shoal_alloc(n_tuples, 1);
  w->spare = shoal_alloc(n_tuples, sizeof *w->spare);
  w->has_more = shoal_alloc(n_tuples, sizeof *w->has_more);
  bool ok = w->queue && w->labels && w->n_rows && w->counted && w->left && w->waits && w->again &&
            w->items && w->ids && w->violates;
  for (size_t s = 1; ok && s < w->r->n_sets; s++)
    for (uint32_t c = 0; w->entries[s] && c < w->entries[s]->n_classes; c++)
      w->left[w->first[s] + c] = w->entries[s]->slack[c];
  for (size_t q = 0; ok && q < n_quasi; q++)
    ok = (w->labels[q] = shoal_alloc(n_tuples, sizeof **w->labels)) != NULL;
  return ok;
}

static void reset_work(work *w) {
  for (size_t q = 0; w->labels && q < w->r->frequency->n_quasi; q++) free(w->labels[q]);
  free(w->labels);
  free(w->queue);
  free(w->n_rows);
  free(w->counted);
  free(w->left);
  free(w->waits);
  free(w->again);
  free(w->items);
  free(w->ids);
  free(w->violates);
  free(w->spare);
  free(w->has_more);
  free(w->entries);
  free(w->first);
}

shoal_status shoal_set_rounds_run(const shoal_set_rounds *r, const uint32_t *levels, uint64_t limit,
                                  uint8_t *suppressed, uint64_t *rows, bool *done,
                                  shoal_error *error) {
  work w = {.r = r, .levels = levels, .limit = limit, .suppressed = suppressed};
  size_t n_classes;
  w.entries = shoal_alloc_zero(r->n_sets, sizeof(set_entry *));
  w.first = shoal_alloc_zero(r->n_sets, sizeof *w.first);
  bool ok = w.entries && w.first && find_entries(&w, &n_classes, done);
  if (ok && *done) {
    memset(suppressed, 0, r->frequency->n_tuples);
    ok = init_work(&w, n_classes) && empty_worklist(&w);
    *rows = w.rows;
  }
  reset_work(&w);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ set up */

static void reset_index(set_index *index) {
  for (uint64_t i = 0; index->entries && i < index->n_entries; i++)
    free_entry(atomic_load(&index->entries[i]));
  free(index->entries);
  free(index->start);
  free(index->tuples);
  free(index->parts);
  shoal_classes_reset(&index->bottom);
}

void shoal_set_rounds_free(shoal_set_rounds *r) {
  if (!r) return;
  for (size_t s = 0; r->sets && s < r->n_sets; s++) reset_index(&r->sets[s]);
  free(r->sets);
  free(r->entry_bytes);
  free(r);
}

typedef struct preparation {
  shoal_set_rounds *rounds;
  const uint32_t *bottom; /* levels */
  atomic_size_t next;     /* the first set that no thread has taken */
  atomic_bool failed;
} preparation;

/* False: no memory. */
static bool prepare_set(preparation *p, size_t s, shoal_grouper *grouper, uint32_t *ids) {
  shoal_set_rounds *r = p->rounds;
  set_index *index = &r->sets[s];
  const shoal_quasi_set *set = &r->requirements->sets[s];
  if (!set->required) return true;
  index->n_entries = shoal_set_count_entries(r->space, set);
  index->entries = shoal_alloc_zero((size_t)index->n_entries, sizeof *index->entries);
  shoal_labelling labelling = {.levels = p->bottom};
  uint32_t n_tuples = r->frequency->n_tuples;
  if (!index->entries ||
      shoal_classes_project(r->frequency, &r->frequency->base, &labelling, set, NULL, grouper,
                            &index->bottom, ids, NULL) != SHOAL_OK)
    return false;
  uint32_t n = index->bottom.n_classes;
  index->start = shoal_alloc((size_t)n + 1, sizeof *index->start);
  index->tuples = shoal_alloc(n_tuples, sizeof *index->tuples);
  index->parts = shoal_alloc(n, sizeof *index->parts);
  if (!index->start || !index->tuples || !index->parts) return false;
  sort_by_group(ids, n_tuples, n, index->start, index->tuples);
  return count_parts(r, s, &r->frequency->base, index->start, index->tuples, n, NULL, index->parts);
}

static void prepare_on_thread(void *user, unsigned thread) {
  (void)thread;
  preparation *p = user;
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  uint32_t *ids = shoal_alloc(p->rounds->frequency->n_tuples, sizeof *ids);
  if (!ids) atomic_store(&p->failed, true);
  for (size_t s; ids && (s = atomic_fetch_add(&p->next, 1)) < p->rounds->n_sets;)
    if (!prepare_set(p, s, &grouper, ids)) atomic_store(&p->failed, true);
  free(ids);
  shoal_grouper_reset(&grouper);
}

static bool counts_people(const shoal_requirements *requirements) {
  for (size_t i = 0; i < requirements->n_items; i++)
    if (requirements->items[i].counts_people) return true;
  return false;
}

shoal_status shoal_set_rounds_new(const shoal_frequency_set *frequency,
                                  const shoal_requirements *requirements, const shoal_space *space,
                                  uint64_t max_suppressed, const shoal_run *run,
                                  shoal_set_rounds **rounds, shoal_error *error) {
  *rounds = NULL;
  /* A set's index has about as many bytes as its tuples and twice its bottom classes. */
  size_t bytes = frequency->n_tuples * sizeof(uint32_t) + shoal_classes_bytes(&frequency->base) / 4;
  if (requirements->n_sets <= 1 || !requirements->monotone || requirements->sets[0].required ||
      max_suppressed == 0 || frequency->n_records >= UINT32_MAX ||
      bytes > MAX_BYTES / requirements->n_sets)
    return SHOAL_OK;
  for (size_t s = 1; s < requirements->n_sets; s++)
    if (shoal_set_count_entries(space, &requirements->sets[s]) > SHOAL_MAX_SET_ENTRIES)
      return SHOAL_OK;
  shoal_set_rounds *r = shoal_alloc_zero(1, sizeof *r);
  uint32_t *bottom = shoal_alloc(space->n, sizeof *bottom);
  bool ok = r && bottom;
  if (ok) {
    *r = (shoal_set_rounds){
        .frequency = frequency,
        .requirements = requirements,
        .space = space,
        .max_suppressed = max_suppressed,
        .part_rows = counts_people(requirements) ? requirements->k + requirements->p
                                                 : 2 * requirements->p - 1,
        .few_rows = 4 * (requirements->k + requirements->p),
        .max_classes = frequency->n_tuples < 1 << 20 ? 4 * frequency->n_tuples + 1024 : 1 << 22,
        .n_sets = requirements->n_sets};
    r->sets = shoal_alloc_zero(r->n_sets, sizeof *r->sets);
    r->entry_bytes = shoal_alloc_zero(1, sizeof *r->entry_bytes);
    ok = r->sets && r->entry_bytes;
  }
  if (ok) {
    preparation p = {.rounds = r, .bottom = bottom};
    atomic_store(&p.next, 1);
    for (size_t q = 0; q < space->n; q++) bottom[q] = shoal_space_bottom(space, q);
    shoal_parallel(shoal_run_threads(run), prepare_on_thread, &p);
    ok = !atomic_load(&p.failed);
  }
  free(bottom);
  if (ok) *rounds = r;
  else shoal_set_rounds_free(r);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}
