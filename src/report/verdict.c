/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/verdict: the verdict and its reasons, as text, JSON and HTML. Every report states it
 * before its details. Only `holds` is shown as a success: nothing green stands above a failed line,
 * or above risks that cannot be judged.
 */
#include <string.h>

#include "report/html.h"
#include "report/render.h"

/* ------------------------------------------------------------ text */

/* "result", "homogeneity on illness" */
static void print_subject(const shoal_risk_outcome *risk, shoal_text *t) {
  const char *attack = risk->attack ? risk->attack : "";
  const char *attribute = risk->attribute ? risk->attribute : "";
  shoal_text_print(t, "%s%s%s", attack, *attack && *attribute ? " on " : "", attribute);
}

static const char *state_of(const shoal_risk_outcome *risk) {
  return risk->accepted ? "accepted" : risk->blocks ? "BLOCKS" : "OPEN";
}

static const char *meaning_of(const shoal_safety *safety) {
  bool unseen = safety->people_unseen, open = shoal_safety_open_risks(safety) > 0;
  switch (shoal_safety_verdict(safety)) {
  case SHOAL_HOLDS:
    return unseen ? "every model that can be judged here holds; risks that count people cannot be "
                    "judged, since this table does not say who its rows are about"
                  : "every model holds, and none of the risks that shoal looks for was found";
  case SHOAL_HOLDS_WITH_RISKS:
    return unseen && open ? "every model that can be judged here holds, but risks are open, and "
                            "risks that count people cannot be judged"
           : unseen       ? "every model that can be judged here holds, and the policy accepts the "
                            "risks found; risks that count people cannot be judged"
           : open         ? "every model holds, but risks are open"
                          : "every model holds; the policy accepts the risks";
  default:
    return safety->models_hold       ? "columns must be decided or accepted first"
           : safety->models_unjudged ? "people cannot be counted in this table; read the verdict "
                                       "of anonymize"
                                     : "a model does not hold";
  }
}

void shoal_verdict_text(const shoal_result *r, shoal_text *t) {
  const shoal_safety *safety = &r->safety;
  const char *name = shoal_publication_name(shoal_safety_verdict(safety));
  if (!name) return;
  shoal_text_print(t, "\nVerdict: %s (%s)\n", name, meaning_of(safety));
  for (size_t i = 0; i < safety->n_undecided; i++)
    shoal_text_print(t,
                     "  BLOCKS    undecided    %s: decide its role, then remove 'decide: true'\n",
                     safety->undecided[i]);
  for (size_t i = 0; i < safety->n_risks; i++) {
    const shoal_risk_outcome *risk = &safety->risks[i];
    shoal_text_print(t, "  %-8s  %-11s  ", state_of(risk), shoal_risk_names[risk->kind]);
    print_subject(risk, t);
    shoal_text_print(t, "%s%s\n", risk->attack || risk->attribute ? ": " : "", risk->why);
  }
}

/* ------------------------------------------------------------ JSON */

static json_t *risk_object(const shoal_risk_outcome *risk) {
  return SHOAL_OBJECT(K("risk", shoal_risk_names[risk->kind]), OPT("attack", risk->attack),
                      OPT("attribute", risk->attribute), K("accepted", risk->accepted),
                      K("blocks", json_boolean(risk->blocks && !risk->accepted)),
                      K("why", risk->why));
}

void shoal_verdict_json(const shoal_result *r, json_t *root, shoal_json *json) {
  const shoal_safety *safety = &r->safety;
  const char *reason = safety->is_judged ? meaning_of(safety) : NULL;
  json_t *risks = json_array();
  for (size_t i = 0; i < safety->n_risks; i++)
    shoal_json_append(json, risks, risk_object(&safety->risks[i]));
  SHOAL_PUT(json, root, K("verdict", shoal_publication_name(shoal_safety_verdict(safety))),
            K("reason", reason), K("risks", risks),
            K("undecided", shoal_json_strings(json, safety->undecided, safety->n_undecided)));
}

/* ------------------------------------------------------------ HTML */

void shoal_verdict_html(const shoal_result *r, const char *detail, shoal_text *text) {
  static const struct {
    const char *class, *sign, *words;
  } banners[] = {
      [SHOAL_HOLDS] = {"yes", "\xe2\x9c\x93", "Holds:"},
      [SHOAL_HOLDS_WITH_RISKS] = {"note", "!", "Holds, with risks:"},
      [SHOAL_DO_NOT_PUBLISH] = {"no", "\xe2\x9c\x97", "Do not publish:"},
  };
  const shoal_safety *safety = &r->safety;
  shoal_publication verdict = shoal_safety_verdict(safety);
  if (verdict == SHOAL_NOT_JUDGED) return;
  bool amber = verdict == SHOAL_HOLDS && safety->people_unseen;
  shoal_text_print(text, "<p class=\"banner %s\" data-verdict=\"%s\">%s %s %s. %s</p>\n",
                   amber ? "note" : banners[verdict].class, shoal_publication_name(verdict),
                   amber ? "!" : banners[verdict].sign, banners[verdict].words, meaning_of(safety),
                   detail);
  if (!safety->n_risks && !safety->n_undecided) return;
  shoal_text_add(text, "<ul class=\"risks\">\n");
  for (size_t i = 0; i < safety->n_undecided; i++)
    shoal_text_print(text, "<li><b class=\"no\">blocks</b> undecided: <b>%s</b></li>\n",
                     safety->undecided[i]);
  for (size_t i = 0; i < safety->n_risks; i++) {
    const shoal_risk_outcome *risk = &safety->risks[i];
    shoal_text_print(text, "<li><b class=\"%s\">%s</b> %s: <b>", risk->accepted ? "dim" : "no",
                     risk->accepted ? "accepted"
                     : risk->blocks ? "blocks"
                                    : "open",
                     shoal_risk_names[risk->kind]);
    print_subject(risk, text);
    shoal_text_print(text, "</b>: %s</li>\n", risk->why);
  }
  shoal_text_add(text, "</ul>\n");
}
