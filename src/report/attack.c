/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/attack: text and JSON of `attack`: the verdict first, then each attack with the knowledge
 * it assumes, its counts and examples. The report of a release contains the same JSON, but null for
 * numbers of people from 1 to k - 1.
 */
#include <stdio.h>
#include <string.h>

#include "report/render.h"

/* ------------------------------------------------------------ text */

static void add_title(shoal_text *t, const shoal_attack_outcome *a) {
  const char *verdict = a->not_run     ? "not run    "
                        : a->risk      ? "not tested "
                        : a->untested  ? "UNTESTED   "
                        : !a->succeeds ? "ok         "
                        : a->counts    ? "BROKEN     "
                                       : "not covered";
  shoal_text_print(t, "\n  %s  %s", verdict, a->name);
  if (a->attribute) shoal_text_print(t, " on %s", a->attribute);
  if (a->ruled_out)
    shoal_text_print(t, ", %u value%s ruled out", a->ruled_out, a->ruled_out == 1 ? "" : "s");
  if (a->previous) shoal_text_print(t, " with %s", a->previous);
  if (a->risk) shoal_text_print(t, ", at risk: %s", a->risk);
  shoal_text_add(t, "\n");
}

static const char INDENT[] = "               ";

/* A sentence in indented lines of at most 96 columns. */
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
    shoal_text_add_escaped(t, s, word);
    column += word;
    s += word + strspn(s + word, " ");
  }
  shoal_text_add(t, "\n");
}

/* One line of counts; nothing where it is 0. */
static void add_line(shoal_text *t, const shoal_attack_outcome *a, uint64_t n, const char *what) {
  if (!n) return;
  shoal_text_add(t, INDENT);
  if (a->by_people) shoal_text_print(t, "%s", shoal_say_counted(n, "person", "people").text);
  else shoal_text_print(t, "%s", shoal_say_rows(n).text);
  shoal_text_print(t, " %s\n", what);
}

static void add_counts(shoal_text *t, const shoal_attack_outcome *a, uint64_t k) {
  char guess[80], below[80];
  (void)shoal_print_double(guess, sizeof guess, "guessed with a probability above %.4g", a->bound);
  (void)snprintf(below, sizeof below, "narrowed to fewer than %llu rows", (unsigned long long)k);
  add_line(t, a, a->reidentified, "re-identified");
  add_line(t, a, a->certain, "learned with certainty");
  add_line(t, a, a->guessed, guess);
  add_line(t, a, a->below_k, below);
  add_line(t, a, a->below_p, "narrowed to fewer distinct values than the policy's p");
  if (!a->measure || (!a->attribute && !a->by_people && !a->previous) ||
      ((a->by_people || a->previous) && !a->n_matched))
    return;
  shoal_text_print(t, "%s%s: %s", INDENT, a->measure, shoal_say_number(a->reached).text);
  if (a->required > 0)
    shoal_text_print(t, " at worst (needed: %s)", shoal_say_number(a->required).text);
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
  shoal_text_print(t, "; %s", shoal_say_rows(e->n_rows).text);
  if (e->probability > 0)
    shoal_text_print(t, ", best guess is right with probability %.3g", e->probability);
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
  if (a->untested) add_wrapped(t, "", a->untested);
  if (a->risk) return;
  if (a->by_people) {
    shoal_text_add(t, INDENT);
    if (a->n_tried != a->n_matched || !a->previous) {
      shoal_text_print(t, "%s of %s", shoal_say_count(a->n_matched).text,
                       shoal_say_counted(a->n_tried, "person", "people").text);
    } else {
      shoal_text_print(t, "%s", shoal_say_counted(a->n_matched, "person", "people").text);
    }
    shoal_text_add(t, a->previous ? " can be in both releases\n"
                                  : " fit at least one class of the release\n");
  }
  add_counts(t, a, r->attack.attacks->k);
  for (size_t i = 0; i < a->n_examples; i++) add_example(t, r, &a->examples[i]);
  if (a->succeeds && !a->counts)
    shoal_text_print(t, "%sthe policy does not cover this attack\n", INDENT);
}

static size_t count_successes(const shoal_attack_outcomes *attacks, bool counted) {
  size_t n = 0;
  for (size_t i = 0; i < attacks->n_items; i++)
    n += attacks->items[i].succeeds && attacks->items[i].counts == counted;
  return n;
}

static size_t count_untested(const shoal_attack_outcomes *attacks) {
  size_t n = 0;
  for (size_t i = 0; i < attacks->n_items; i++) n += attacks->items[i].untested != NULL;
  return n;
}

void shoal_attack_text(const shoal_result *r, shoal_text *t) {
  size_t beyond = count_successes(r->attack.attacks, true),
         within = count_successes(r->attack.attacks, false),
         untested = count_untested(r->attack.attacks);
  shoal_text_print(t, "%s: ", r->source);
  if (beyond) {
    shoal_text_print(t, "%s attack%s break%s the policy", shoal_say_count(beyond).text,
                     beyond == 1 ? "" : "s", beyond == 1 ? "s" : "");
  } else {
    shoal_text_print(t, "no attack breaks the policy%s",
                     shoal_safety_verdict(&r->safety) == SHOAL_DO_NOT_PUBLISH
                         ? ", but do NOT publish the release"
                         : "");
  }
  if (untested) {
    bool first = !beyond && shoal_safety_verdict(&r->safety) != SHOAL_DO_NOT_PUBLISH;
    shoal_text_print(t, "%s%s %s no answer", first ? ", but " : ", and ",
                     shoal_say_counted(untested, "attack", "attacks").text,
                     untested == 1 ? "gives" : "give");
  }
  shoal_text_print(t, "\n  %s in %s, the smallest with %s\n", shoal_say_rows(r->input_rows).text,
                   shoal_say_classes(r->attack.sizes.n_classes).text,
                   shoal_say_count(r->attack.sizes.smallest).text);
  if (within)
    shoal_text_print(t, "  %zu attack%s succeed%s that the policy does not cover\n", within,
                     within == 1 ? "" : "s", within == 1 ? "s" : "");
  shoal_verdict_text(r, t);
  for (size_t i = 0; i < r->attack.attacks->n_items; i++)
    add_attack(t, r, &r->attack.attacks->items[i]);
  shoal_text_add(t,
                 "\nClasses are shown by labels that cover several values, people by row number. "
                 "Original\nvalues are not shown. Formulas: docs/attacks.md\n");
  shoal_format_warnings(t, r);
}

/* ------------------------------------------------------------ JSON */

/* A number of people; null in the report of a release where it is from 1 to k - 1. */
static json_t *people(const shoal_result *r, uint64_t n) {
  bool hidden = r->kind == SHOAL_RESULT_RELEASE && n && n < shoal_result_attacks(r)->k;
  return hidden ? json_null() : shoal_json_count(n);
}

static json_t *example_object(const shoal_result *r, const shoal_attack_sight *e,
                              shoal_json *json) {
  json_t *labels = json_object();
  for (size_t q = 0; q < r->n_quasi; q++)
    shoal_json_set(json, labels, r->quasi[q], J(e->labels[q]));
  return SHOAL_OBJECT(
      K("labels", labels), K("rows", e->n_rows),
      K("probability", e->probability > 0 ? shoal_json_number(e->probability) : json_null()),
      OPT("person_row", e->person_row));
}

static json_t *counts_object(const shoal_result *r, const shoal_attack_outcome *a,
                             shoal_json *json) {
  json_t *object = SHOAL_OBJECT(K("tried", people(r, a->n_tried)));
  if (a->by_people) shoal_json_set(json, object, "matched", people(r, a->n_matched));
  SHOAL_PUT(json, object, K("falling", people(r, a->n_rows)), K("classes", people(r, a->n_classes)),
            K("reidentified", people(r, a->reidentified)), K("certain", people(r, a->certain)),
            K("guessed", people(r, a->guessed)), K("below_k", people(r, a->below_k)),
            K("below_p", people(r, a->below_p)));
  return object;
}

static json_t *attack_object(const shoal_result *r, const shoal_attack_outcome *a,
                             shoal_json *json) {
  json_t *object = SHOAL_OBJECT(K("attack", a->name), OPT("attribute", a->attribute),
                                OPT("previous", a->previous), OPT("ruled_out", a->ruled_out),
                                K("knowledge", a->knowledge), K("learns", a->learns),
                                K("not_run", a->not_run), K("note", a->note));
  if (a->not_run) return object;
  if (a->risk) {
    shoal_json_set(json, object, "risk", J(a->risk));
    return object;
  }
  SHOAL_PUT(json, object, K("untested", a->untested),
            K("succeeds", a->untested ? json_null() : json_boolean(a->succeeds)),
            K("counted", a->counts), K("unit", a->by_people ? "people" : "rows"),
            K("counts", counts_object(r, a, json)), N("bound", a->bound),
            N("highest_probability", a->highest));
  if (a->measure && (a->attribute || a->by_people || a->previous))
    shoal_json_set(
        json, object, "measure",
        SHOAL_OBJECT(K("name", a->measure),
                     K("required", a->required > 0 ? shoal_json_number(a->required) : json_null()),
                     N("worst", a->reached)));
  json_t *examples = json_array();
  for (size_t i = 0; i < a->n_examples; i++)
    if (r->kind != SHOAL_RESULT_RELEASE || a->examples[i].n_rows >= shoal_result_attacks(r)->k)
      shoal_json_append(json, examples, example_object(r, &a->examples[i], json));
  shoal_json_set(json, object, "examples", examples);
  return object;
}

json_t *shoal_attacks_array(const shoal_result *r, shoal_json *json) {
  json_t *attacks = json_array();
  for (size_t i = 0; i < shoal_result_attacks(r)->n_items; i++)
    shoal_json_append(json, attacks, attack_object(r, &shoal_result_attacks(r)->items[i], json));
  return attacks;
}

json_t *shoal_attack_json(const shoal_result *r, shoal_json *json) {
  json_t *attacks = shoal_attacks_array(r, json);
  json_t *root =
      SHOAL_OBJECT(K("shoal", SHOAL_VERSION), K("command", "attack"), K("holds", r->holds),
                   K("rows", r->input_rows), K("classes", r->attack.sizes.n_classes),
                   K("smallest_class", r->attack.sizes.smallest),
                   K("external", shoal_result_attacks(r)->external),
                   K("original", shoal_result_attacks(r)->original), K("attacks", attacks),
                   K("warnings", shoal_json_warnings(json, r)));
  if (root) shoal_verdict_json(r, root, json);
  return root;
}
