/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/html: the HTML report for sign-off by a data protection officer. It contains statistics of
 * the original table; its first line says that it is internal. The page is self-contained: no
 * scripts, fonts, pictures or styles from elsewhere, and a content security policy that forbids
 * them. It follows the reader's light or dark scheme, fits a phone, and prints black on white. The
 * same release gives the same page: it has no date but the one that the signer writes.
 *
 * The table `sections` has the id, the title, the condition and the writer of each section.
 */
#include "report/html.h"

#include <stdarg.h>

/* ------------------------------------------------------------ helpers of the sections */

void shoal_html_verdict(shoal_text *text, bool yes, const char *word) {
  shoal_text_print(text, "<span class=\"%s\">%s %s</span>", yes ? "yes" : "no",
                   yes ? "\xe2\x9c\x93" : "\xe2\x9c\x97", word);
}

void shoal_html_table(shoal_text *text, const char *class, const char *caption, ...) {
  va_list headings;
  va_start(headings, caption);
  shoal_text_add(text, "<div class=\"scroll\"><table");
  if (class) shoal_text_print(text, " class=\"%s\"", class);
  shoal_text_add(text, ">\n");
  if (caption) shoal_text_print(text, "<caption>%s</caption>\n", caption);
  shoal_text_add(text, "<thead><tr>");
  for (const char *heading; (heading = va_arg(headings, const char *));) {
    bool number = *heading == '#';
    shoal_text_add(text, number ? "<th scope=\"col\" class=\"num\">" : "<th scope=\"col\">");
    shoal_text_print(text, "%s</th>", heading + number);
  }
  shoal_text_add(text, "</tr></thead>\n<tbody>\n");
  va_end(headings);
}

static void end_heading(shoal_text *text, const char *meaning) {
  if (meaning)
    shoal_text_print(text, "<br><span class=\"dim small\" style=\"font-weight:400\">%s</span>",
                     meaning);
  shoal_text_add(text, "</th>");
}

void shoal_html_row(shoal_text *text, const char *title, const char *meaning) {
  shoal_text_print(text, "<tr><th scope=\"row\">%s", title);
  end_heading(text, meaning);
}

void shoal_html_model(shoal_text *text, const char *model, const char *attribute,
                      const shoal_over *over, const char *summary) {
  shoal_text_print(text, "<tr><th scope=\"row\">%s", model);
  shoal_format_subject(text, attribute, over);
  end_heading(text, summary);
}

/* ------------------------------------------------------------ the page */

/* Teal and amber differ for the colour-blind too; signs and hatching repeat the distinction. */
static const char style[] =
    ":root{--paper:#fff;--ink:#1b2733;--dim:#566370;--line:#d5dce2;--soft:#f3f6f8;--yes:#0f766e;"
    "--no:#b45309;--after:#0f766e;--hatch:#d9924a;--hatch-back:#fff4e5;--on:#fff}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--paper:#0f161d;--ink:#e6edf3;"
    "--dim:#9dabb8;--line:#2f3b46;--soft:#18222b;--yes:#2ab3a3;--no:#e09a3e;--after:#2ab3a3;"
    "--hatch:#b4772c;--hatch-back:#22190e;--on:#06231f}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",sans-serif}\n"
    "header,main,footer{max-width:54rem;margin:0 auto;padding:0 1.25rem}\n"
    ".internal{margin:0;padding:.5rem 1.25rem;background:var(--no);color:var(--paper);"
    "font-weight:600;text-align:center}\n"
    "header{padding-top:2rem}\n"
    "h1{font-size:1.75rem;line-height:1.2;margin:0 0 .4rem}\n"
    "h2{font-size:1.25rem;margin:2.6rem 0 .6rem;padding-top:.9rem;border-top:1px solid "
    "var(--line)}\n"
    "h3{font-size:1.05rem;margin:1.6rem 0 .3rem}\n"
    "p{margin:.5rem 0} ul,ol{padding-left:1.3rem;margin:.5rem 0} li{margin:.25rem 0}\n"
    "a{color:inherit}\n"
    "code{font:0.92em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}\n"
    ".dim{color:var(--dim)} .small{font-size:.875rem}\n"
    ".yes{color:var(--yes);font-weight:600;white-space:nowrap}\n"
    ".no{color:var(--no);font-weight:600;white-space:nowrap}\n"
    ".note{color:var(--no);font-weight:600}\n"
    ".tag{display:inline-block;border:1px solid var(--line);border-radius:.4rem;padding:0 .4rem;"
    "font-size:.78rem;font-weight:400;color:var(--dim);white-space:nowrap}\n"
    ".policy{background:var(--soft);border-radius:.6rem;padding:.7rem .9rem;white-space:pre-wrap;"
    "font-size:.84rem;margin:.7rem 0}\n"
    "th,td,code,pre{unicode-bidi:isolate}\n"
    ".plain{list-style:none;padding:0;margin:.2rem 0} .plain li{margin:.1rem 0}\n"
    ".attacks th:first-child{width:26%} .attacks th:nth-child(2){width:19%}\n"
    ".banner{border:2px solid;border-radius:.6rem;padding:.6rem 1rem;font-size:1.1rem;"
    "margin:1.1rem 0;white-space:normal}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;"
    "margin:1rem 0}\n"
    ".tile{background:var(--soft);border-radius:.6rem;padding:.7rem .9rem}\n"
    ".tile b{display:block;font-size:1.45rem;line-height:1.25;font-variant-numeric:tabular-nums}\n"
    ".tile span{color:var(--dim);font-size:.875rem}\n"
    "nav{font-size:.9rem;margin:1rem 0} nav ol{columns:2;column-gap:2rem}\n"
    ".scroll{overflow-x:auto;margin:.7rem 0}\n"
    "table{border-collapse:collapse;width:100%;font-size:.92rem;"
    "font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;color:var(--dim);font-size:.875rem;padding-bottom:.3rem}\n"
    "th,td{text-align:left;vertical-align:top;padding:.4rem .7rem .4rem 0;"
    "border-bottom:1px solid var(--line)}\n"
    "thead th{color:var(--dim);font-weight:600;font-size:.85rem;vertical-align:bottom}\n"
    "tbody th{font-weight:600;overflow-wrap:anywhere}\n"
    "td.num,th.num{text-align:right;white-space:nowrap}\n"
    ".sample{font-size:.84rem} .sample td,.sample th{max-width:22rem;padding-right:.5rem}\n"
    ".short{white-space:nowrap}\n"
    ".labels{table-layout:fixed} .labels .c1{width:30%} .labels .c2{width:6.2rem}\n"
    ".labels tbody th{font-weight:400} .labels tbody th,.labels td{vertical-align:middle}\n"
    ".done::first-letter{text-transform:uppercase}\n"
    ".others th{color:var(--dim);font-style:italic}\n"
    "svg{display:block;overflow:visible} .patterns{position:absolute}\n"
    "svg text{fill:var(--ink);font-size:13px;font-variant-numeric:tabular-nums}\n"
    "svg .tick{text-anchor:middle;fill:var(--dim);font-size:12px}\n"
    "svg .axis{text-anchor:end;fill:var(--dim);font-size:12px}\n"
    "svg .rule-words{text-anchor:end;fill:var(--dim);font-size:12px}\n"
    "svg .base{stroke:var(--dim)} svg .grid{stroke:var(--line)}\n"
    "svg .rule{stroke:var(--dim);stroke-dasharray:4 4}\n"
    ".before{fill:url(#before-hatch);stroke:var(--hatch)} .after{fill:var(--after);"
    "stroke:var(--after)}\n"
    ".hatch-back{fill:var(--hatch-back)} .hatch-front{fill:var(--hatch)}\n"
    ".legend{font-size:.875rem;color:var(--dim)} .legend span{margin-right:1.2rem}\n"
    ".legend svg{display:inline-block;vertical-align:-1px}\n"
    ".levels .taken{fill:var(--after)} .levels .passed{fill:var(--soft);stroke:var(--line)}\n"
    ".levels .open{fill:none;stroke:var(--line)} .levels text{text-anchor:middle}\n"
    ".levels .taken-word{fill:var(--on);font-weight:600} .levels .level-word{fill:var(--dim)}\n"
    ".picture{overflow-x:auto;margin:.8rem 0} .picture svg{height:auto;max-width:100%}\n"
    ".picture .wide{min-width:40rem}\n"
    ".hash{overflow-wrap:anywhere;font-size:.8rem}\n"
    ".todo{list-style:none;padding:0} .todo li{padding-left:1.9rem;position:relative}\n"
    ".todo li::before{content:\"\";position:absolute;left:0;top:.28rem;width:1.05rem;"
    "height:1.05rem;border:1.5px solid var(--dim);border-radius:.2rem}\n"
    ".fields{display:grid;grid-template-columns:1fr 1fr;gap:1.2rem 1.6rem;margin-top:1.4rem}\n"
    ".field{border-bottom:1.5px solid var(--ink);min-height:3.4rem;display:flex;"
    "align-items:flex-end;color:var(--dim);font-size:.875rem;padding-bottom:.2rem}\n"
    ".remarks{grid-column:1/-1;border:1.5px solid var(--ink);min-height:8rem;"
    "align-items:flex-start;padding:.5rem .7rem}\n"
    "footer{color:var(--dim);font-size:.875rem;margin:3rem auto 2rem}\n"
    "@media(max-width:34rem){body{font-size:15px} nav ol{columns:1}"
    " .fields{grid-template-columns:1fr} .labels .c1{width:34%} .labels .c2{width:4.3rem}"
    " .attacks thead{display:none}"
    " .attacks,.attacks tbody,.attacks tr,.attacks th,.attacks td{display:block;border:0;"
    "padding:0} .attacks th:first-child,.attacks th:nth-child(2){width:auto}"
    " .attacks tr{padding:.6rem 0;border-bottom:1px solid var(--line)}"
    " .roomy{display:none} th,td{padding-right:.45rem} table{font-size:.86rem}}\n"
    "@page{margin:16mm 15mm}\n"
    "@media print{body{font-size:10.5pt} header,main,footer{max-width:none;padding:0}"
    " nav{display:none} h2,h3{break-after:avoid} tr,.tile,.banner,.fields,.chart,.keep,.levels,"
    ".picture{break-inside:avoid} *{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    " .scroll{overflow:visible} .sample{font-size:8pt} a{text-decoration:none}}"
    "\n";

static bool is_release(const shoal_result *r) { return r->kind == SHOAL_RESULT_RELEASE; }

static bool has_page(const shoal_result *r) { return r->page != NULL; }

static bool has_sample(const shoal_result *r) { return r->page && r->page->n_sample; }

static bool has_models(const shoal_result *r) {
  const shoal_model_outcomes *models = shoal_result_models_of(r);
  return models && models->n_items;
}

static bool has_sizes(const shoal_result *r) {
  return shoal_result_size_change(r).before.n_classes > 0;
}

static bool has_attributes(const shoal_result *r) { return r->page && r->page->n_attributes; }

static bool has_choice(const shoal_result *r) {
  return is_release(r) || r->kind == SHOAL_RESULT_LATTICE;
}

static bool has_alternatives(const shoal_result *r) {
  return is_release(r) && r->release.alternatives.n_items > 1;
}

static bool has_utility(const shoal_result *r) { return shoal_result_measured(r).utility != NULL; }

static bool has_attacks(const shoal_result *r) {
  return shoal_result_attacks(r) || (is_release(r) && r->page);
}

static bool has_warnings(const shoal_result *r) { return r->n_warnings > 0; }

static const struct {
  const char *id, *title;
  bool (*has)(const shoal_result *result); /* NULL: always */
  void (*write)(const shoal_result *result, shoal_text *text);
} sections[] = {
    {"summary", "Summary", NULL, shoal_html_summary},
    {"columns", "The columns", has_page, shoal_html_columns},
    {"sample", "Sample rows", has_sample, shoal_html_sample},
    {"protection", "Protection required and reached", has_models, shoal_html_protection},
    {"risk", "Re-identification risk", has_sizes, shoal_html_risk},
    {"attributes", "Distributions", has_attributes, shoal_html_attributes},
    {"choice", "How the generalization was chosen", has_choice, shoal_html_choice},
    {"alternatives", "Alternatives", has_alternatives, shoal_html_alternatives},
    {"utility", "Utility", has_utility, shoal_html_utility},
    {"attacks", "Attacks", has_attacks, shoal_html_attacks},
    {"suppressed", "Suppression", is_release, shoal_html_suppressed},
    {"warnings", "Warnings", has_warnings, shoal_html_warnings},
    {"repeat", "How to repeat this run", has_page, shoal_html_repeat},
    {"sign", "Decision", NULL, shoal_html_sign},
};

enum { N_SECTIONS = sizeof sections / sizeof *sections };

static const char *title_of(const shoal_result *result) {
  switch (result->kind) {
  case SHOAL_RESULT_RELEASE: return "Release report";
  case SHOAL_RESULT_CHECK: return "Check report";
  case SHOAL_RESULT_LATTICE: return "Lattice report";
  case SHOAL_RESULT_ATTACK: return "Attack report";
  case SHOAL_RESULT_MEASURE: return "Utility and risk report";
  default: return "Report";
  }
}

void shoal_html_head(const char *title, const char *name, shoal_text *text) {
  shoal_text_print(text,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                   "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                   "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, "
                   "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta "
                   "name=\"generator\" content=\"shoal " SHOAL_VERSION "\">\n<title>%s",
                   title);
  if (name) shoal_text_print(text, ": %s", name);
  shoal_text_add(text, "</title>\n<style>\n");
  shoal_text_add(text, style);
  shoal_text_add(text, "</style>\n</head>\n<body>\n");
}

void shoal_html_section(const char *id, const char *title,
                        void (*write)(const shoal_result *result, shoal_text *text),
                        const shoal_result *result, shoal_text *text) {
  shoal_text_print(text,
                   "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">"
                   "%s</h2>\n",
                   id, id, id, title);
  write(result, text);
  shoal_text_add(text, "</section>\n");
}

void shoal_html_foot(shoal_text *text) {
  shoal_text_add(text, "</main>\n<footer>Made by shoal " SHOAL_VERSION
                       ". The page is self-contained: it has no scripts and loads nothing."
                       "</footer>\n</body>\n</html>\n");
}

static bool has_section(size_t i, const shoal_result *result) {
  return !sections[i].has || sections[i].has(result);
}

static void write_contents(const shoal_result *result, shoal_text *text) {
  shoal_text_add(text, "<nav aria-label=\"Contents\"><ol>\n");
  for (size_t i = 0; i < N_SECTIONS; i++)
    if (has_section(i, result))
      shoal_text_print(text, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id,
                       sections[i].title);
  shoal_text_add(text, "</ol></nav>\n");
}

void shoal_render_html(const shoal_result *result, shoal_text *text) {
  const char *output = shoal_result_output(result);
  shoal_html_head(title_of(result), output ? output : result->source, text);
  shoal_text_add(text,
                 "<p class=\"internal\" role=\"note\">Internal report: not for publication. It "
                 "contains statistics of the original table.</p>\n");
  shoal_chart_patterns(text);
  shoal_text_print(text, "<header>\n<h1>%s</h1>\n<p class=\"dim\">", title_of(result));
  if (result->source) shoal_text_print(text, "<code>%s</code>", result->source);
  if (output) shoal_text_print(text, " \xe2\x86\x92 <code>%s</code>", output);
  shoal_text_add(text, "</p>\n");
  write_contents(result, text);
  shoal_text_add(text, "</header>\n<main>\n");
  for (size_t i = 0; i < N_SECTIONS; i++)
    if (has_section(i, result))
      shoal_html_section(sections[i].id, sections[i].title, sections[i].write, result, text);
  shoal_html_foot(text);
}
