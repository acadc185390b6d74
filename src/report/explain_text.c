/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/explain_text: the explanation for a data steward: the verdict first, then what makes it
 * so, then what would help. Words of the help pages, numbers with what they mean.
 */
#include <math.h>
#include <string.h>

#include "report/explain.h"

/* Steps of suppression that are shown, unless they leave out most rows; JSON has them all. */
enum { MOST_STEPS = 6 };

static void add_number(shoal_text *t, double x) {
  if (x == floor(x) && x >= 0 && x < 9e15) shoal_text_add_count(t, (uint64_t)x);
  else shoal_text_print(t, "%.4g", x);
}

/* "1,234 rows" */
static void add_counted(shoal_text *t, uint64_t n, const char *noun, const char *plural) {
  shoal_text_add_count(t, n);
  shoal_text_print(t, " %s", n == 1 ? noun : plural);
}

static void add_rows(shoal_text *t, uint64_t n) { add_counted(t, n, "row", "rows"); }

static void add_share(shoal_text *t, const shoal_result *r, uint64_t n) {
  add_rows(t, n);
  if (n) shoal_text_print(t, " (%.2f%%)", (double)shoal_share_of_rows(n, r->input_rows) / 100);
}

/* "age 2, zip 3"; what is as it is is left out. */
static void add_levels(shoal_text *t, const shoal_result *r, const uint32_t *levels) {
  bool any = false;
  for (size_t q = 0; q < r->n_quasi; q++) {
    if (!levels[q]) continue;
    shoal_text_print(t, "%s%s %u", any ? ", " : "", r->quasi[q], levels[q]);
    any = true;
  }
  if (!any) shoal_text_add(t, "everything as it is");
}

static void add_demand_name(shoal_text *t, const shoal_explained_demand *d) {
  shoal_text_add(t, d->model);
  if (d->attribute) shoal_text_print(t, " on %s", d->attribute);
}

/* ------------------------------------------------------------ verdict */

static void add_node(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  shoal_text_print(t, "  height %u of %u: ", e->node.height, e->lattice_height);
  add_levels(t, r, e->node.levels);
  shoal_text_add(t, "\n  ");
  add_share(t, r, e->node.suppressed);
  shoal_text_print(t, " left out, %.0f%% of the detail lost in the others\n", 100 * e->loss);
  if (r->holds && e->node.height > e->least_height)
    shoal_text_print(t, "  (the policy's preferences choose it; the least is at height %u)\n",
                     e->least_height);
}

static void add_reasons(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  shoal_text_add(t, "\nWhy\n");
  for (size_t i = 0; i < e->n_demands; i++) {
    const shoal_explained_demand *d = &e->demands[i];
    if (d->holds) continue;
    shoal_text_add(t, "  ");
    add_demand_name(t, d);
    if (d->why) {
      shoal_text_print(t, ": %s\n", d->why);
      continue;
    }
    shoal_text_add(t, d->at_most ? ": at most " : ": at least ");
    add_number(t, d->required);
    shoal_text_add(t, " is asked for; with all rows in one group it is ");
    add_number(t, d->reached);
    shoal_text_add(t, "\n");
  }
  if (e->monotone) {
    shoal_text_add(t, "  No generalization and no suppression can help: not even all rows in one "
                      "group, which is\n  the coarsest there is, satisfy the policy. It has to "
                      "ask for less.\n");
    return;
  }
  if (e->has_node) {
    shoal_text_add(t, "  Every generalization leaves groups that break the policy; the best has ");
    add_share(t, r, e->node.suppressed);
    shoal_text_add(t, "\n  in them, and ");
    add_rows(t, r->max_suppression);
    shoal_text_add(t, " may be left out.\n");
    return;
  }
  shoal_text_add(t, e->every_node ? "  In every generalization every group breaks the policy: "
                                    "nothing could be released.\n"
                                  : "  The table has too many generalizations to look for the "
                                    "best of them.\n");
}

static void add_verdict(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  shoal_text_print(t, "%s: the policy %s be met\n  ", r->source, r->holds ? "can" : "CANNOT");
  add_rows(t, r->input_rows);
  shoal_text_add(t, ", ");
  shoal_text_add_count(t, r->max_suppression);
  shoal_text_add(t, " may be left out; ");
  add_counted(t, r->lattice_nodes, "way to generalize", "ways to generalize");
  shoal_text_add(t, e->every_node ? ", all looked at\n" : "\n");
  if (!r->holds) add_reasons(t, r);
  if (!e->has_node) return;
  shoal_text_add(t, !r->holds ? "\nThe generalization with the fewest rows to leave out\n"
                    : e->node.height > e->least_height ? "\nThe preferred generalization\n"
                                                       : "\nThe least generalization\n");
  add_node(t, r);
}

/* ------------------------------------------------------------ demands */

static void add_demand(shoal_text *t, const shoal_result *r, const shoal_explained_demand *d) {
  const shoal_explanation *e = r->explanation;
  shoal_text_add(t, "  ");
  add_demand_name(t, d);
  shoal_text_add(t, d->at_most ? ": at most " : ": at least ");
  add_number(t, d->required);
  shoal_text_add(t, " asked for, the whole table has ");
  add_number(t, d->reached);
  if (d->bounded) {
    shoal_text_add(t, "; at most ");
    add_counted(t, d->max_groups, "group", "groups");
  }
  if (d->tried && !r->holds)
    shoal_text_add(t, d->met_without ? "; without it the policy could be met"
                                     : "; without it the policy could not be met either");
  else if (d->tried && d->met_without && d->height_without < e->least_height)
    shoal_text_print(t, "; without it height %u would do", d->height_without);
  else if (d->tried) shoal_text_add(t, "; costs nothing beside the others");
  shoal_text_add(t, "\n");
}

static void add_demands(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  shoal_text_add(t, "\nWhat is asked for\n");
  for (size_t i = 0; i < e->n_demands; i++) add_demand(t, r, &e->demands[i]);
  if (!e->n_hardest) return;
  shoal_text_add(t, "\nSensitive columns, hardest first (fewer groups with p different values are "
                    "harder)\n");
  for (size_t i = 0; i < e->n_hardest; i++) {
    const shoal_hardness *h = &e->hardest[i];
    shoal_text_print(t, "  %s: ", h->attribute);
    add_counted(t, h->distinct, "distinct value", "distinct values");
    shoal_text_print(t, ", p = %llu: at most ", (unsigned long long)h->p);
    add_counted(t, h->max_groups, "group", "groups");
    shoal_text_add(t, "\n");
  }
}

/* ------------------------------------------------------------ quasi-identifiers */

/* "3, now 5" */
static void add_without(shoal_text *t, const shoal_quasi_cost *c) {
  if (!c->tried) {
    shoal_text_add(t, "not tried");
    return;
  }
  if (!c->met_without) {
    shoal_text_add(t, "no way");
    return;
  }
  if (c->height_without == c->height_now) shoal_text_print(t, "%u as now", c->height_now);
  else shoal_text_print(t, "%u, now %u", c->height_without, c->height_now);
  if (!c->suppressed_without) return;
  shoal_text_add(t, ", ");
  add_rows(t, c->suppressed_without);
  shoal_text_add(t, " left out");
}

static void add_costs(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  size_t width = 0;
  for (size_t q = 0; q < r->n_quasi; q++)
    if (shoal_text_width(e->costs[q].name) > width) width = shoal_text_width(e->costs[q].name);
  shoal_text_add(t, "\nWhat each quasi-identifier costs there: its level, the detail lost, the "
                    "rows to leave out\nwere it one level finer, and the height that the others "
                    "need were it hidden altogether\n  ");
  shoal_text_add_padded(t, "", width);
  shoal_text_add(t, "   level   lost  rows if finer  others if hidden\n");
  for (size_t q = 0; q < r->n_quasi; q++) {
    const shoal_quasi_cost *c = &e->costs[q];
    shoal_text_add(t, "  ");
    shoal_text_add_padded(t, c->name, width);
    shoal_text_print(t, " %2u of %2u  %4.0f%%  ", c->level, c->height, 100 * c->loss);
    if (c->level) shoal_text_print(t, "%13llu  ", (unsigned long long)c->suppressed_below);
    else shoal_text_add(t, "            -  ");
    add_without(t, c);
    shoal_text_add(t, "\n");
  }
}

/* A step that merges many labels at once: the one kind of change that cannot be tried. */
static void add_hierarchy_hint(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  const shoal_quasi_cost *widest = NULL;
  double most = 4; /* fewer labels than that into one leave little room between */
  for (size_t q = 0; q < r->n_quasi; q++) {
    const shoal_quasi_cost *c = &e->costs[q];
    double ratio = c->level ? (double)c->labels_below / c->labels : 0;
    if (ratio < most || (widest && ratio == most)) continue;
    widest = c;
    most = ratio;
  }
  if (!widest) return;
  shoal_text_print(t,
                   "  A hierarchy with a level between could keep more: '%s' goes from %u "
                   "labels at level %u\n  to %u at level %u in one step. (Not tried: the level "
                   "is yours to make.)\n",
                   widest->name, widest->labels_below, widest->level - 1, widest->labels,
                   widest->level);
}

/* ------------------------------------------------------------ outliers */

static void add_outlier(shoal_text *t, const shoal_result *r, const shoal_outlier *o) {
  const shoal_explanation *e = r->explanation;
  shoal_text_add(t, "  ");
  add_rows(t, o->n_rows);
  if (o->n_classes > 1) {
    shoal_text_add(t, " in ");
    add_counted(t, o->n_classes, "group", "groups");
  }
  bool any = false;
  for (size_t q = 0; q < r->n_quasi; q++) {
    if (e->outliers_node.levels[q] == r->heights[q] && r->heights[q]) continue;
    shoal_text_print(t, "%s%s %s", any ? ", " : ": ", r->quasi[q],
                     o->labels[q] ? o->labels[q] : "(as it is)");
    any = true;
  }
  shoal_text_add(t, any ? "\n    " : ": everything hidden\n    ");
  shoal_text_add(t, o->n_classes == 1 ? "breaks " : "break ");
  for (size_t i = 0; i < o->n_demands; i++) {
    if (i) shoal_text_add(t, ", ");
    add_demand_name(t, &e->demands[o->demands[i]]);
  }
  shoal_text_add(t, "\n");
}

static void add_outliers(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  const shoal_node_outcome *node = &e->outliers_node;
  if (e->outliers_at == SHOAL_OUTLIERS_NONE) return;
  shoal_text_add(t, "\nThe outliers: ");
  shoal_text_add(t, e->outliers_at == SHOAL_OUTLIERS_CHOSEN ? "left out there are "
                    : e->outliers_at == SHOAL_OUTLIERS_BEST ? "the policy is broken there by "
                                                            : "one step lower (");
  if (e->outliers_at == SHOAL_OUTLIERS_BELOW) {
    add_levels(t, r, node->levels);
    shoal_text_add(t, ") these stand in the way: ");
  }
  add_rows(t, node->suppressed);
  shoal_text_add(t, " in ");
  add_counted(t, e->outlier_classes, "group", "groups");
  shoal_text_add(t, "\n");
  for (size_t i = 0; i < e->n_outliers; i++) add_outlier(t, r, &e->outliers[i]);
  if (e->n_outliers_unlisted) {
    shoal_text_add(t, "  and ");
    shoal_text_add_count(t, e->n_outliers_unlisted);
    shoal_text_add(t, " more such lines with fewer rows\n");
  }
}

/* ------------------------------------------------------------ changes */

static void add_change(shoal_text *t, const shoal_result *r, const shoal_explained_change *c) {
  bool rows = strcmp(c->setting, "max-suppression") == 0;
  shoal_text_print(t, "  %s ", c->setting);
  if (rows) add_share(t, r, c->to);
  else shoal_text_add_count(t, c->to);
  shoal_text_add(t, " instead of ");
  shoal_text_add_count(t, c->from);
  if (!rows && c->to == 1) shoal_text_add(t, " (which asks for nothing)");
  shoal_text_print(t, ": height %u (", c->height);
  add_levels(t, r, c->levels);
  shoal_text_add(t, ")");
  if (!rows && c->suppressed) {
    shoal_text_add(t, ", ");
    add_rows(t, c->suppressed);
    shoal_text_add(t, " left out");
  }
  shoal_text_add(t, c->exact ? "\n" : "; perhaps fewer rows do: not every node was looked at\n");
}

/* Settings of which no smaller value helps, where that was tried. */
static void add_useless(shoal_text *t, const shoal_result *r, const char *setting, bool asked) {
  const shoal_explanation *e = r->explanation;
  if (!asked || !e->changes_tried) return;
  for (size_t i = 0; i < e->n_changes; i++)
    if (strcmp(e->changes[i].setting, setting) == 0) return;
  shoal_text_print(t, "  no smaller %s helps by itself\n", setting);
}

static void add_changes(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  if (r->holds && e->least_height == 0) {
    shoal_text_add(t, "\nNothing has to be generalized.\n");
    return;
  }
  shoal_text_print(t, "\nThe smallest changes that would %s, each by itself, each tried\n",
                   r->holds ? "keep the table finer" : "make it possible");
  add_useless(t, r, "k", e->has_k);
  add_useless(t, r, "p", e->has_p);
  size_t steps = 0;
  for (size_t i = 0; i < e->n_changes; i++) {
    const shoal_explained_change *c = &e->changes[i];
    bool rows = strcmp(c->setting, "max-suppression") == 0;
    if (rows && steps++ && (steps > MOST_STEPS || c->to > r->input_rows / 2)) continue;
    add_change(t, r, c);
  }
  if (!r->holds && !e->has_node && e->every_node)
    shoal_text_add(t, "  no max-suppression helps: no row could be released\n");
  if (!e->changes_tried)
    shoal_text_add(t, "  other values of k and p were not tried: a model of the policy makes the "
                      "search look at\n  every node, and there are too many\n");
  if (r->holds) add_hierarchy_hint(t, r);
  shoal_text_add(t, "Weaker protection is for people to decide, not for the program.\n");
}

void shoal_render_explain_text(const shoal_result *r, shoal_text *t) {
  add_verdict(t, r);
  add_demands(t, r);
  if (r->explanation->costs) add_costs(t, r);
  add_outliers(t, r);
  add_changes(t, r);
  for (size_t i = 0; i < r->n_warnings; i++)
    shoal_text_print(t, "\nWarning: %s.\n", r->warnings[i]);
}
