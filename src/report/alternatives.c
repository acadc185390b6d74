/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/alternatives: text, JSON and page section of the releases that `anonymize` computed beside
 * the one it wrote. Internal: a certificate does not have them.
 */
#include "report/html.h"
#include "report/render.h"

/* The highest risk of a record: 1 / smallest class. */
static double risk_of(const shoal_alternative *a) {
  return a->smallest_class ? 1 / (double)a->smallest_class : 0;
}

/* ------------------------------------------------------------ text */

void shoal_alternatives_text(const shoal_release_report *r, shoal_text *t) {
  const shoal_alternatives *all = &r->alternatives;
  size_t width = 0;
  if (all->n_items < 2) return;
  for (size_t i = 0; i < all->n_items; i++)
    if (shoal_text_width(all->items[i].name) > width) width = shoal_text_width(all->items[i].name);
  shoal_text_print(t, "\nAlternatives (release loss; rows suppressed; %s; highest risk; policy)\n",
                   r->fewest_people ? "fewest people of a class" : "smallest class");
  if (all->sample_rows)
    shoal_text_print(t, "  computed on a sample of %s; all rows usually lose less\n",
                     shoal_say_rows(all->sample_rows).text);
  for (size_t i = 0; i < all->n_items; i++) {
    const shoal_alternative *a = &all->items[i];
    shoal_text_add(t, a->chosen ? "  > " : "    ");
    shoal_text_add_padded(t, a->name, width);
    if (a->found)
      shoal_text_print(t, " %5.1f%% %7llu %6llu %6.3g  %s\n", 100 * a->release_loss,
                       (unsigned long long)a->suppressed, (unsigned long long)a->smallest_class,
                       risk_of(a), a->policy);
    else shoal_text_print(t, "  no release was found       %s\n", a->policy);
  }
  if (all->n_left_out)
    shoal_text_print(t, "    %zu left out: the search would take too long\n", all->n_left_out);
}

/* ------------------------------------------------------------ JSON */

/* The methods that "auto" tried. */
json_t *shoal_tried_json(const shoal_release_report *r, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->n_tried; i++) {
    const shoal_tried *t = &r->tried[i];
    json_t *object = SHOAL_OBJECT(K("labels", t->labels), K("algorithm", t->algorithm),
                                  K("release_loss", t->release_loss), K("chosen", t->chosen),
                                  OPT("why", t->why));
    shoal_json_append(json, array, object);
  }
  return array;
}

json_t *shoal_alternatives_json(const shoal_alternatives *all, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < all->n_items; i++) {
    const shoal_alternative *a = &all->items[i];
    json_t *object =
        SHOAL_OBJECT(K("name", a->name), K("policy", a->policy), K("chosen", a->chosen),
                     K("release_loss", a->release_loss),
                     K("suppressed", shoal_json_count_if(a->found, a->suppressed)),
                     K("smallest_class", shoal_json_count_if(a->found, a->smallest_class)),
                     K("highest_risk", a->found ? json_real(risk_of(a)) : json_null()));
    shoal_json_append(json, array, object);
  }
  return SHOAL_OBJECT(K("sample_rows", shoal_json_count_if(all->sample_rows, all->sample_rows)),
                      K("left_out", all->n_left_out), K("variants", array));
}

/* ------------------------------------------------------------ page */

static void add_row(const shoal_alternative *a, uint64_t k, shoal_text *text) {
  shoal_text_print(text, "<tr><th scope=\"row\">%s", a->name);
  if (a->chosen) shoal_text_add(text, " <span class=\"tag\">this release</span>");
  shoal_text_add(text, "</th>");
  if (a->found) {
    shoal_text_print(text,
                     "<td class=\"num\">%.1f%%</td><td class=\"num\">%s</td><td "
                     "class=\"num\">%s</td><td class=\"num\">%.3g</td>",
                     100 * a->release_loss, shoal_say_hidden(a->suppressed, k).text,
                     shoal_say_count(a->smallest_class).text, risk_of(a));
  } else {
    shoal_text_add(text, "<td colspan=\"4\">no release was found</td>");
  }
  shoal_text_print(text, "<td><code>%s</code></td></tr>\n", a->policy);
}

void shoal_html_alternatives(const shoal_result *result, shoal_text *text) {
  const shoal_alternatives *all = &result->release.alternatives;
  shoal_text_add(text, "<p>Other releases of the same table, computed to compare with");
  if (all->sample_rows)
    shoal_text_print(text, ", all on a sample of %s; releases of all rows usually lose less",
                     shoal_say_rows(all->sample_rows).text);
  shoal_text_print(text, ". Each line of the policy selects one.</p>\n");
  SHOAL_HTML_TABLE(text, NULL, NULL, "Release", "#Release loss", "#Suppressed",
                   result->release.fewest_people ? "#Fewest people" : "#Smallest class",
                   "#Highest risk", "In the policy");
  for (size_t i = 0; i < all->n_items; i++) add_row(&all->items[i], result->k, text);
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
  if (all->n_left_out)
    shoal_text_print(text,
                     "<p class=\"dim small\">%zu left out: the search would take too long.</p>\n",
                     all->n_left_out);
}
