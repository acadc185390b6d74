/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/attacks_text: what attacks came to, for a data steward: the verdict first, then each
 * attack with what the intruder is taken to know, what is learnt of how many, and some examples.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/attacks.h"

static void add_counted(shoal_text *t, uint64_t n, const char *noun, const char *plural) {
  shoal_text_add_count(t, n);
  shoal_text_print(t, " %s", n == 1 ? noun : plural);
}

static void add_number(shoal_text *t, double x) {
  if (x == floor(x) && fabs(x) < 9e15 && x >= 0) shoal_text_add_count(t, (uint64_t)x);
  else shoal_text_print(t, "%.4g", x);
}

static void add_units(shoal_text *t, const shoal_attack_outcome *a, uint64_t n) {
  if (a->by_people) add_counted(t, n, "person", "people");
  else add_counted(t, n, "row", "rows");
}

static void add_title(shoal_text *t, const shoal_attack_outcome *a) {
  const char *verdict = a->not_run     ? "not run "
                        : a->risk      ? "risk    "
                        : !a->succeeds ? "ok      "
                        : a->counts    ? "SUCCEEDS"
                                       : "succeeds";
  shoal_text_print(t, "\n  %s  %s", verdict, a->name);
  if (a->attribute) shoal_text_print(t, " on %s", a->attribute);
  if (a->ruled_out)
    shoal_text_print(t, ", %u value%s ruled out", a->ruled_out, a->ruled_out == 1 ? "" : "s");
  if (a->previous) shoal_text_print(t, " with %s", a->previous);
  if (a->risk) shoal_text_print(t, ": %s", a->risk);
  shoal_text_add(t, "\n");
}

static const char INDENT[] = "            ";

/* A sentence in lines of at most 96 columns, all indented. */
static void add_wrapped(shoal_text *t, const char *before, const char *s) {
  enum { WIDTH = 96 - (sizeof INDENT - 1) };
  shoal_text_print(t, "%s%s", INDENT, before);
  size_t column = strlen(before);
  for (bool first = true; *s; first = false) {
    size_t word = strcspn(s, " ");
    if (!first && column + 1 + word > WIDTH) {
      shoal_text_print(t, "\n%s", INDENT);
      column = 0;
    } else if (!first) {
      shoal_text_add(t, " ");
      column++;
    }
    shoal_text_add_bytes(t, s, word);
    column += word;
    s += word + strspn(s + word, " ");
  }
  shoal_text_add(t, "\n");
}

/* One line of counts, left out where it is 0. */
static void add_line(shoal_text *t, const shoal_attack_outcome *a, uint64_t n, const char *what) {
  if (!n) return;
  shoal_text_add(t, INDENT);
  add_units(t, a, n);
  shoal_text_print(t, " %s\n", what);
}

static void add_counts(shoal_text *t, const shoal_attack_outcome *a, uint64_t k) {
  char guess[80], below[80];
  (void)snprintf(guess, sizeof guess, "guessed with a probability above %.4g", a->bound);
  (void)snprintf(below, sizeof below, "left among fewer than %llu", (unsigned long long)k);
  add_line(t, a, a->reidentified, "re-identified");
  add_line(t, a, a->certain, "learnt for certain");
  add_line(t, a, a->guessed, guess);
  add_line(t, a, a->below_k, below);
  add_line(t, a, a->below_p, "left with fewer different values than the policy's p");
  if (!a->measure || ((a->by_people || a->previous) && !a->n_matched)) return;
  shoal_text_print(t, "%s%s: ", INDENT, a->measure);
  add_number(t, a->reached);
  if (a->required > 0) {
    shoal_text_add(t, " at worst, below ");
    add_number(t, a->required);
    shoal_text_add(t, " it falls");
  }
  shoal_text_add(t, "\n");
}

static void add_example(shoal_text *t, const shoal_result *r, const shoal_attack_sight *e) {
  shoal_text_print(t, "%s- ", INDENT);
  if (e->person_row)
    shoal_text_print(t, "the person of row %llu: ", (unsigned long long)e->person_row);
  bool any = false;
  for (size_t q = 0; q < r->n_quasi; q++) {
    if (!e->labels[q]) continue;
    shoal_text_print(t, "%s%s: %s", any ? ", " : "", r->quasi[q], e->labels[q]);
    any = true;
  }
  if (!any) shoal_text_add(t, "a class whose labels may be raw");
  else if (e->n_shown < r->n_quasi) shoal_text_add(t, ", the rest may be raw");
  shoal_text_add(t, "; ");
  add_counted(t, e->n_rows, "row", "rows");
  if (e->probability > 0) shoal_text_print(t, ", best guess right at %.3g", e->probability);
  shoal_text_add(t, "\n");
}

static void add_attack(shoal_text *t, const shoal_result *r, const shoal_attack_outcome *a) {
  add_title(t, a);
  if (a->not_run) {
    add_wrapped(t, "", a->not_run);
    return;
  }
  add_wrapped(t, "knows: ", a->knowledge);
  if (a->note) add_wrapped(t, "", a->note);
  if (a->risk) return;
  if (a->by_people) {
    shoal_text_add(t, INDENT);
    add_counted(t, a->n_matched, "person", "people");
    if (a->n_tried != a->n_matched || !a->previous) {
      shoal_text_add(t, " of ");
      shoal_text_add_count(t, a->n_tried);
    }
    shoal_text_add(t, a->previous ? " can be in both\n" : " can be found in it\n");
  }
  add_counts(t, a, r->attacks->k);
  for (size_t i = 0; i < a->n_examples; i++) add_example(t, r, &a->examples[i]);
  if (a->succeeds && !a->counts)
    shoal_text_print(t, "%sthe policy does not promise to withstand this\n", INDENT);
}

static size_t count_successes(const shoal_attack_report *attacks, bool counted) {
  size_t n = 0;
  for (size_t i = 0; i < attacks->n_items; i++)
    n += attacks->items[i].succeeds && attacks->items[i].counts == counted;
  return n;
}

void shoal_render_attacks_text(const shoal_result *r, shoal_text *t) {
  size_t beyond = count_successes(r->attacks, true), within = count_successes(r->attacks, false);
  shoal_text_print(t, "%s: ", r->source);
  if (beyond) {
    shoal_text_add_count(t, beyond);
    shoal_text_print(t, " attack%s get%s further than the policy allows\n", beyond == 1 ? "" : "s",
                     beyond == 1 ? "s" : "");
  } else {
    shoal_text_add(t, "no attack gets further than the policy allows\n");
  }
  shoal_text_add(t, "  ");
  add_counted(t, r->input_rows, "row", "rows");
  shoal_text_add(t, " in ");
  add_counted(t, r->classes, "class", "classes");
  shoal_text_add(t, ", the smallest with ");
  shoal_text_add_count(t, r->smallest_class);
  shoal_text_add(t, "\n");
  if (within)
    shoal_text_print(t, "  %zu more succeed%s where the policy promises nothing\n", within,
                     within == 1 ? "s" : "");
  for (size_t i = 0; i < r->attacks->n_items; i++) add_attack(t, r, &r->attacks->items[i]);
  shoal_text_add(t, "\nClasses are shown by labels that stand for several values, people by their "
                    "row. docs/attacks.md\nhas each attack's formula.\n");
  for (size_t i = 0; i < r->n_warnings; i++)
    shoal_text_print(t, "\nWarning: %s.\n", r->warnings[i]);
}
