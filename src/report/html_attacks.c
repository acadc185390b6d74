/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/html_attacks: of a page: what an intruder with stated knowledge could learn from the
 * release. Classes are shown by labels that stand for several values, and no number of people below
 * k is told.
 */
#include <stdio.h>
#include <string.h>

#include "report/attacks.h"
#include "report/html.h"

bool shoal_html_has_attacks(const shoal_result *result) {
  return result->attacks != NULL || (result->kind == SHOAL_RESULT_RELEASE && result->page);
}

static void add_verdict(const shoal_attack_outcome *a, shoal_text *text) {
  if (a->not_run) {
    shoal_text_add(text, "<span class=\"dim\">not run</span>");
  } else if (a->risk) {
    shoal_text_add(text, "<span class=\"note\">risk: ");
    shoal_html_add(text, a->risk);
    shoal_text_add(text, "</span>");
  } else if (!a->succeeds) {
    shoal_html_verdict(text, true, "withstood");
  } else if (a->counts) {
    shoal_html_verdict(text, false, "succeeds");
  } else {
    shoal_text_add(text, "<span class=\"note\">! succeeds; not promised</span>");
  }
}

/* "12 rows learnt for certain", where there are any. */
static void add_line(const shoal_attack_outcome *a, uint64_t n, uint64_t k, const char *what,
                     shoal_text *text) {
  if (!n) return;
  shoal_text_add(text, "<li>");
  shoal_html_people(text, n, k);
  shoal_text_print(text, " %s %s</li>\n", a->by_people ? "people" : "rows", what);
}

static void add_measure(const shoal_attack_outcome *a, shoal_text *text) {
  if (!a->measure || (a->by_people && !a->n_matched)) return;
  shoal_text_add(text, "<li>");
  shoal_html_add(text, a->measure);
  shoal_text_add(text, ": ");
  shoal_html_number(text, a->reached);
  if (a->required > 0) {
    shoal_text_add(text, " at worst; below ");
    shoal_html_number(text, a->required);
    shoal_text_add(text, " it falls");
  }
  shoal_text_add(text, "</li>\n");
}

static void add_example(const shoal_result *r, const shoal_attack_sight *e, shoal_text *text) {
  shoal_text_add(text, "<li>for example ");
  bool any = false;
  for (size_t q = 0; q < r->n_quasi; q++) {
    if (!e->labels[q]) continue;
    if (any) shoal_text_add(text, ", ");
    shoal_html_add(text, r->quasi[q]);
    shoal_text_add(text, " ");
    shoal_html_code(text, e->labels[q]);
    any = true;
  }
  if (!any) shoal_text_add(text, "a class with labels that may be raw");
  shoal_text_add(text, ": ");
  shoal_html_counted(text, e->n_rows, "row", "rows");
  if (e->probability > 0)
    shoal_text_print(text, ", the best guess is right at %.3g", e->probability);
  shoal_text_add(text, "</li>\n");
}

static void add_findings(const shoal_result *r, const shoal_attack_outcome *a, shoal_text *text) {
  char guessed[80], below[80];
  (void)snprintf(guessed, sizeof guessed, "guessed with a probability above %.4g", a->bound);
  (void)snprintf(below, sizeof below, "left among fewer than %llu", (unsigned long long)r->k);
  shoal_text_add(text, "<ul class=\"plain small\">\n");
  if (a->by_people) {
    shoal_text_add(text, "<li>");
    shoal_html_people(text, a->n_matched, r->k);
    shoal_text_add(text, " of ");
    shoal_html_people(text, a->n_tried, r->k);
    shoal_text_add(text, " people can be in it</li>\n");
  }
  if (!a->reidentified && !a->certain)
    shoal_text_add(text, "<li>nobody re-identified, nothing learnt for certain</li>\n");
  add_line(a, a->reidentified, r->k, "re-identified", text);
  add_line(a, a->certain, r->k, "learnt for certain", text);
  add_line(a, a->guessed, r->k, guessed, text);
  add_line(a, a->below_k, r->k, below, text);
  add_line(a, a->below_p, r->k, "left with fewer different values than p", text);
  add_measure(a, text);
  if (a->n_examples && a->examples[0].n_rows >= r->k) add_example(r, &a->examples[0], text);
  shoal_text_add(text, "</ul>\n");
}

static void add_attack(const shoal_result *r, const shoal_attack_outcome *a, shoal_text *text) {
  shoal_text_add(text, "<tr><th scope=\"row\">");
  shoal_html_add(text, a->name);
  if (a->attribute) {
    shoal_text_add(text, " on ");
    shoal_html_add(text, a->attribute);
  }
  if (a->ruled_out)
    shoal_text_print(text, ", %u value%s ruled out", a->ruled_out, a->ruled_out == 1 ? "" : "s");
  if (a->previous) {
    shoal_text_add(text, " with ");
    shoal_html_code(text, a->previous);
  }
  shoal_text_add(text, "</th><td>");
  add_verdict(a, text);
  shoal_text_add(text, "</td><td><span class=\"dim small\">");
  shoal_html_add(text, a->not_run ? a->not_run : a->knowledge);
  shoal_text_add(text, "</span>\n");
  if (a->note && !a->not_run) {
    shoal_text_add(text, "<p class=\"small\">");
    shoal_html_add(text, a->note);
    shoal_text_add(text, "</p>\n");
  }
  if (!a->not_run && !a->risk) add_findings(r, a, text);
  shoal_text_add(text, "</td></tr>\n");
}

void shoal_html_attacks(const shoal_result *r, shoal_text *text) {
  if (!r->attacks) {
    shoal_text_add(text,
                   "<p>The attacks could not be played: what they would have to read is not in "
                   "the release.</p>\n");
    return;
  }
  shoal_text_add(text, "<p>Each attack was played on the written file by an intruder with the "
                       "knowledge that is stated. One that succeeds where the policy promises "
                       "nothing is told, for you to decide.</p>\n"
                       "<div class=\"scroll\"><table class=\"attacks\">\n<thead><tr>"
                       "<th scope=\"col\">Attack</th><th scope=\"col\">Verdict</th>"
                       "<th scope=\"col\">The intruder knows, and finds</th></tr></thead>\n"
                       "<tbody>\n");
  for (size_t i = 0; i < r->attacks->n_items; i++) add_attack(r, &r->attacks->items[i], text);
  shoal_text_add(text, "</tbody></table></div>\n");
}
