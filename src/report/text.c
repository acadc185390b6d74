/* SPDX-License-Identifier: Apache-2.0 */
/* report/text: results for people. Numbers come with what they mean. */
#include <math.h>
#include <string.h>

#include "report/attacks.h"
#include "report/explain.h"
#include "report/measures.h"
#include "report/result.h"

static void add_number(shoal_text *t, double x) {
  if (x == floor(x) && fabs(x) < 9e15 && x >= 0) shoal_text_add_count(t, (uint64_t)x);
  else shoal_text_print(t, "%.4g", x);
}

/* "1,234 rows" */
static void add_counted(shoal_text *t, uint64_t n, const char *noun, const char *plural) {
  shoal_text_add_count(t, n);
  shoal_text_print(t, " %s", n == 1 ? noun : plural);
}

static void add_rows(shoal_text *t, uint64_t n) { add_counted(t, n, "row", "rows"); }

static void add_classes(shoal_text *t, uint64_t n) { add_counted(t, n, "class", "classes"); }

static size_t widest_quasi(const shoal_result *r) {
  size_t widest = 0;
  for (size_t q = 0; q < r->n_quasi; q++)
    if (shoal_text_width(r->quasi[q]) > widest) widest = shoal_text_width(r->quasi[q]);
  return widest;
}

static void add_warnings(shoal_text *t, const shoal_result *r) {
  for (size_t i = 0; i < r->n_warnings; i++)
    shoal_text_print(t, "\nWarning: %s.\n", r->warnings[i]);
}

static void add_node(shoal_text *t, const shoal_result *r, const uint32_t *levels) {
  shoal_text_add(t, "[");
  for (size_t q = 0; q < r->n_quasi; q++) shoal_text_print(t, "%s%u", q ? "," : "", levels[q]);
  shoal_text_add(t, "]");
}

static void add_quasi_list(shoal_text *t, const shoal_result *r) {
  shoal_text_add(t, "[");
  for (size_t q = 0; q < r->n_quasi; q++) shoal_text_print(t, "%s%s", q ? "," : "", r->quasi[q]);
  shoal_text_add(t, "]");
}

/* ------------------------------------------------------------ models */

static void add_model(shoal_text *t, const shoal_model_outcome *m) {
  shoal_text_print(t, "  %s %s", m->holds ? "ok    " : "BROKEN", m->model);
  if (m->attribute) shoal_text_print(t, " on %s", m->attribute);
  shoal_text_add(t, m->at_most ? ": at most " : ": at least ");
  add_number(t, m->required);
  shoal_text_add(t, " asked for, ");
  add_number(t, m->reached);
  shoal_text_add(t, " reached");
  if (!m->holds) {
    shoal_text_add(t, "; broken by ");
    add_classes(t, m->breaking_classes);
    shoal_text_add(t, " with ");
    add_rows(t, m->breaking_rows);
  }
  if (m->tells_distinct) {
    shoal_text_add(t, "; fewest distinct values in a class: ");
    shoal_text_add_count(t, m->least_distinct);
  }
  shoal_text_add(t, "\n");
}

static void add_worst(shoal_text *t, const shoal_result *r, const shoal_model_outcome *m) {
  if (!m->n_worst) return;
  shoal_text_print(t, "\nThe worst for %s%s%s:\n", m->model, m->attribute ? " on " : "",
                   m->attribute ? m->attribute : "");
  for (size_t i = 0; i < m->n_worst; i++) {
    const shoal_class_example *e = &m->worst[i];
    shoal_text_add(t, "  ");
    for (size_t q = 0; e->n_shown && q < r->n_quasi; q++)
      shoal_text_print(t, "%s%s=%s", q ? ", " : "", r->quasi[q], e->labels[q]);
    if (!e->n_shown) shoal_text_print(t, "the class of row %llu", (unsigned long long)e->first_row);
    else shoal_text_print(t, " (row %llu)", (unsigned long long)e->first_row);
    shoal_text_add(t, ": ");
    add_rows(t, e->n_rows);
    shoal_text_add(t, ", reaches ");
    add_number(t, e->reached);
    shoal_text_add(t, "\n");
  }
}

static void render_check(const shoal_result *r, shoal_text *t) {
  shoal_text_print(t, "%s: the policy %s\n", r->source, r->holds ? "holds" : "does NOT hold");
  shoal_text_add(t, "  ");
  add_rows(t, r->input_rows);
  shoal_text_add(t, " in ");
  add_classes(t, r->classes);
  shoal_text_add(t, " of equal quasi-identifiers, the smallest with ");
  add_rows(t, r->smallest_class);
  shoal_text_add(t, "\n\n");
  for (size_t i = 0; i < r->n_models; i++) add_model(t, &r->models[i]);
  for (size_t i = 0; i < r->n_models; i++) add_worst(t, r, &r->models[i]);
  if (!r->holds)
    shoal_text_add(t, "\nRows are numbered from the first after the header. Values that may be "
                      "raw are not shown.\n");
  add_warnings(t, r);
}

/* ------------------------------------------------------------ conditions */

static void render_conditions(const shoal_result *r, shoal_text *t) {
  shoal_text_print(t, "%s: ", r->source);
  add_rows(t, r->input_rows);
  shoal_text_print(t, ", p = %llu\n\n", (unsigned long long)r->p);
  for (size_t i = 0; i < r->n_conditions; i++) {
    const shoal_condition_outcome *c = &r->conditions[i];
    shoal_text_print(t, "  %s: ", c->attribute);
    add_counted(t, c->distinct, "distinct value", "distinct values");
    shoal_text_add(t, ", at most ");
    add_classes(t, c->max_groups);
    shoal_text_print(t, " with %llu different ones\n", (unsigned long long)r->p);
  }
  shoal_text_print(t, "\n  max p      %llu   no release can give each class more distinct values\n",
                   (unsigned long long)r->max_p);
  shoal_text_add(t, "  max groups ");
  shoal_text_add_count(t, r->max_groups);
  shoal_text_add(t, "   no release can have more classes (a bound, not always reached)\n");
  if (!r->holds)
    shoal_text_print(t, "\np = %llu cannot be reached: lower p to %llu or less.\n",
                     (unsigned long long)r->p, (unsigned long long)r->max_p);
}

/* ------------------------------------------------------------ lattice */

static void add_preferred(shoal_text *t, const shoal_result *r) {
  for (size_t p = 0; p < r->n_preferred; p++) {
    const shoal_preferred *preferred = &r->preferred[p];
    shoal_text_add(t, "  ");
    shoal_text_add_padded(t, preferred->policy, 18);
    for (size_t i = 0; i < preferred->n_nodes; i++) {
      shoal_text_add(t, " ");
      add_node(t, r, r->nodes[preferred->nodes[i]].levels);
    }
    shoal_text_add(t, "\n");
  }
}

static void render_lattice(const shoal_result *r, shoal_text *t) {
  shoal_text_add(t, "Nodes are levels of ");
  add_quasi_list(t, r);
  shoal_text_add(t, "; at most ");
  add_rows(t, r->max_suppression);
  shoal_text_add(t, " may be suppressed\n\n  height  node");
  size_t width = r->n_quasi * 2 + 1 > 6 ? r->n_quasi * 2 + 1 : 6;
  for (size_t i = 4; i < width; i++) shoal_text_add(t, " ");
  shoal_text_add(t, "  suppressed    classes  verdict\n");
  size_t minimal = 0;
  for (size_t i = 0; i < r->n_nodes; i++) {
    const shoal_node_outcome *n = &r->nodes[i];
    shoal_text_print(t, "  %6u  ", n->height);
    size_t start = t->size_bytes;
    add_node(t, r, n->levels);
    for (size_t used = t->size_bytes - start; used < width; used++) shoal_text_add(t, " ");
    shoal_text_print(t, "  %10llu %10llu  %s%s\n", (unsigned long long)n->suppressed,
                     (unsigned long long)n->classes, n->satisfies ? "satisfies" : "-",
                     n->minimal ? ", minimal" : "");
    minimal += n->minimal;
  }
  if (!r->holds) {
    shoal_text_add(t, "\nNo node satisfies the policy.\n");
    return;
  }
  shoal_text_print(t, "\n%zu minimal node%s. Preferred:\n", minimal, minimal == 1 ? "" : "s");
  add_preferred(t, r);
}

/* ------------------------------------------------------------ release */

static void add_attribute_outcomes(shoal_text *t, const shoal_result *r) {
  size_t width = widest_quasi(r);
  shoal_text_print(t, "\nWhat was done%s\n",
                   r->local ? ": each class has the smallest labels that cover it" : "");
  for (size_t q = 0; q < r->n_quasi; q++) {
    const shoal_attribute_outcome *a = &r->attributes[q];
    shoal_text_add(t, "  ");
    shoal_text_add_padded(t, a->name, width);
    if (r->local) shoal_text_add(t, "  ");
    else if (a->level == 0) shoal_text_add(t, "  as it was               ");
    else shoal_text_print(t, "  level %2u of %2u          ", a->level, a->height);
    shoal_text_print(t, "%5u value%s -> %5u label%s %3.0f%% lost\n", a->n_before,
                     a->n_before == 1 ? " " : "s", a->n_after, a->n_after == 1 ? ", " : "s,",
                     100 * a->loss);
  }
  if (r->suppressed) {
    shoal_text_add(t, "  ");
    add_rows(t, r->suppressed);
    shoal_text_print(t, " %s (%.2f%%; the policy allows ",
                     r->blanked ? "blanked: '*' in every quasi-identifier" : "removed",
                     100.0 * (double)r->suppressed / (double)r->input_rows);
    shoal_text_add_count(t, r->max_suppression);
    shoal_text_add(t, "), in classes that would break the policy\n");
  } else {
    shoal_text_add(t, "  no row suppressed\n");
  }
}

/* The loss again, as a number of cells. */
static void add_lost_cells(shoal_text *t, const shoal_result *r) {
  shoal_text_add(t, "                             as if ");
  if (r->il < 1000) shoal_text_print(t, "%.1f", r->il);
  else shoal_text_add_count(t, (uint64_t)(r->il + 0.5));
  shoal_text_add(t, " of ");
  shoal_text_add_count(t, (r->output_rows - r->blanked) * r->n_quasi);
  shoal_text_add(t, " cells told nothing and the others everything (IL)\n");
}

static void add_measures(shoal_text *t, const shoal_result *r) {
  shoal_text_add(t, "\nWhat was lost\n");
  shoal_text_print(t, "  information loss  %5.1f%%   0%% nothing, 100%% everything (IL per cell)\n",
                   100 * r->nil);
  if (r->local) add_lost_cells(t, r);
  else
    shoal_text_print(t, "  accuracy          %5.1f%%   1 - mean of level / height\n",
                     100 * r->accuracy);
  shoal_text_print(t, "  completeness      %5.1f%%   rows released\n", 100 * r->completeness);
  shoal_text_print(t, "  average class     %5.2f    times k (AVG; 1 is the least)\n", r->avg);
  shoal_text_add(t, "  discernibility    ");
  add_number(t, r->dm);
  shoal_text_add(t, "   sum of squared class sizes (DM)\n");
}

static void add_nodes(shoal_text *t, const shoal_result *r) {
  uint64_t minimal = 0;
  const shoal_node_outcome *chosen = NULL;
  for (size_t i = 0; i < r->n_nodes; i++) {
    minimal += r->nodes[i].minimal;
    if (r->nodes[i].chosen) chosen = &r->nodes[i];
  }
  shoal_text_add_count(t, r->nodes_checked);
  shoal_text_add(t, " of ");
  shoal_text_add_count(t, r->lattice_nodes);
  shoal_text_add(t, " lattice nodes looked at; ");
  if (r->minimal_complete) {
    add_counted(t, minimal, "minimal node", "minimal nodes");
    shoal_text_add(t, ", ");
  }
  shoal_text_add(t, "chosen: ");
  if (chosen) add_node(t, r, chosen->levels);
  if (r->slack) {
    shoal_text_add(t, ", ");
    add_counted(t, r->slack, "step", "steps");
    shoal_text_add(t, " above a minimal one as the policy's slack asks");
  } else if (chosen && r->minimal_complete && !chosen->minimal) {
    shoal_text_add(t, ", which is NOT minimal; these are:");
    for (size_t i = 0; i < r->n_nodes && i < 5; i++) {
      if (!r->nodes[i].minimal) continue;
      shoal_text_add(t, " ");
      add_node(t, r, r->nodes[i].levels);
    }
  }
}

static void add_clusters(shoal_text *t, const shoal_result *r) {
  if (r->objective) shoal_text_print(t, "objective: %s; ", r->objective);
  add_counted(t, r->clusters, "cluster", "clusters");
  if (r->clusters > r->classes) shoal_text_add(t, "; those with equal labels are one class");
}

static void add_search(shoal_text *t, const shoal_result *r) {
  shoal_text_print(t, "\nHow\n  %s (%s)\n  ", r->algorithm, r->algorithm_reason);
  if (r->why) shoal_text_print(t, "%s\n  ", r->why);
  if (r->objective && !r->local)
    shoal_text_print(t, "objective: %s, which comes to %.6g\n  ", r->objective, r->cost);
  if (r->unproven)
    shoal_text_add(t, "NOT proven optimal: the time limit was over, this is the best found\n  ");
  if (r->upper_bound) {
    shoal_text_print(t, "distance vectors: solutions at height %u or above, minimal ones below ",
                     r->lower_height);
    add_node(t, r, r->upper_bound);
    shoal_text_print(t, " (height %u)\n  ", r->upper_height);
  }
  if (r->exhaustive)
    shoal_text_add(t, "not every model is monotone: nodes were looked at one by one\n  ");
  if (r->local) {
    add_clusters(t, r);
  } else if (r->lattice_nodes) {
    add_nodes(t, r);
  } else {
    shoal_text_add_count(t, r->nodes_checked);
    shoal_text_add(t, " combinations of attributes looked at");
  }
  shoal_text_print(t, "\n  read %.2f s, search %.2f s, write %.2f s, verify %.2f s, %.0f MB\n",
                   r->seconds_read, r->seconds_search, r->seconds_write, r->seconds_verify,
                   (double)r->peak_memory_bytes / 1e6);
}

/* Nobody may take invented rows for people. */
static void add_noise(shoal_text *t, const shoal_result *r) {
  shoal_text_add(t, "\n  ");
  add_rows(t, r->noise);
  shoal_text_print(t,
                   " in this file %s INVENTED, to vary sensitive values: %s about nobody (the "
                   "policy allows ",
                   r->noise == 1 ? "is" : "are", r->noise == 1 ? "it is" : "they are");
  shoal_text_add_count(t, r->max_noise);
  shoal_text_add(t, ")");
}

/* Order links releases: who reads on must know whether it can be repeated. */
static void add_order(shoal_text *t, const shoal_result *r) {
  const char *what = strcmp(r->order, "kept") == 0     ? "in the order of the data"
                     : strcmp(r->order, "seeded") == 0 ? "shuffled by the seed: who knows it can "
                                                         "restore their order"
                                                       : "shuffled at random";
  shoal_text_print(t, "\n  rows are %s", what);
}

static void render_release(const shoal_result *r, shoal_text *t) {
  shoal_text_print(t, "%s -> %s\n  ", r->source, r->output ? r->output : "(not written)");
  add_rows(t, r->input_rows);
  shoal_text_add(t, " in, ");
  add_rows(t, r->output_rows);
  shoal_text_add(t, " released in ");
  add_classes(t, r->classes);
  shoal_text_add(t, ", the smallest with ");
  add_rows(t, r->smallest_class);
  if (r->order) add_order(t, r);
  if (r->noise) add_noise(t, r);
  shoal_text_add(t, "\n\nProtection, verified on the written file\n");
  for (size_t i = 0; i < r->n_models; i++) add_model(t, &r->models[i]);
  if (r->attributes) {
    add_attribute_outcomes(t, r);
    add_measures(t, r);
  }
  add_search(t, r);
  add_warnings(t, r);
}

/* ------------------------------------------------------------ profile */

static void render_profile(const shoal_result *r, shoal_text *t) {
  shoal_text_print(t, "%s: ", r->source);
  add_rows(t, r->input_rows);
  shoal_text_print(t, ", %zu column%s\n\n", r->n_columns, r->n_columns == 1 ? "" : "s");
  size_t width = 6;
  for (size_t i = 0; i < r->n_columns; i++)
    if (shoal_text_width(r->columns[i].name) > width) width = shoal_text_width(r->columns[i].name);
  shoal_text_add(t, "  ");
  shoal_text_add_padded(t, "column", width);
  shoal_text_add(t, "  type      distinct   missing    unique  suggested role\n");
  for (size_t i = 0; i < r->n_columns; i++) {
    const shoal_column_outcome *c = &r->columns[i];
    shoal_text_add(t, "  ");
    shoal_text_add_padded(t, c->name, width);
    shoal_text_print(t, "  %-6s %11llu %9llu %9llu  %-10s  %s\n", c->type,
                     (unsigned long long)c->distinct, (unsigned long long)c->missing,
                     (unsigned long long)c->unique, c->role, c->why);
    if (!c->hierarchy) continue;
    for (size_t n = 0; n < width + 43; n++) shoal_text_add(t, " ");
    shoal_text_print(t, "hierarchy: %s\n", c->hierarchy);
  }
  shoal_text_add(t, "\nOn the suggested quasi-identifiers together: ");
  add_counted(t, r->n_distinct_rows, "combination", "combinations");
  shoal_text_add(t, "; ");
  add_rows(t, r->n_unique_rows);
  shoal_text_print(t, " (%.1f%%) %s alone with theirs and could be singled out.\n",
                   r->input_rows ? 100.0 * (double)r->n_unique_rows / (double)r->input_rows : 0.0,
                   r->n_unique_rows == 1 ? "is" : "are");
  shoal_text_add(t, "Suggestions are guesses from names and counts: a person decides.\n");
  add_warnings(t, r);
}

static void render_hierarchy(const shoal_result *r, shoal_text *t) {
  shoal_text_add(t, r->drawing);
}

void shoal_render_text(const shoal_result *result, shoal_text *text) {
  static void (*const renderers[])(const shoal_result *, shoal_text *) = {
      [SHOAL_RESULT_PROFILE] = render_profile,
      [SHOAL_RESULT_CHECK] = render_check,
      [SHOAL_RESULT_CONDITIONS] = render_conditions,
      [SHOAL_RESULT_LATTICE] = render_lattice,
      [SHOAL_RESULT_EXPLAIN] = shoal_render_explain_text,
      [SHOAL_RESULT_RELEASE] = render_release,
      [SHOAL_RESULT_HIERARCHY] = render_hierarchy,
      [SHOAL_RESULT_ATTACK] = shoal_render_attacks_text,
      [SHOAL_RESULT_MEASURE] = shoal_render_measures_text,
  };
  renderers[result->kind](result, text);
}
