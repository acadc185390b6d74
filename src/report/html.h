/* SPDX-License-Identifier: Apache-2.0 */
/* report/html: helpers and sections of the HTML report. Private to this directory. */
#pragma once

#include "report/chart.h"
#include "report/format.h"
#include "report/page.h"

/* A check mark or a cross, and a word. */
void shoal_html_verdict(shoal_text *text, bool yes, const char *word);
/*
 * Begins a table with its class and caption (NULL: none) and the headings of its columns, up to a
 * NULL. Columns of numbers ("#Loss") are aligned to the right. It ends with SHOAL_HTML_TABLE_END.
 */
#define SHOAL_HTML_TABLE(text, class, caption, ...)                                                \
  shoal_html_table(text, class, caption, __VA_ARGS__, (char *)NULL)
#define SHOAL_HTML_TABLE_END "</tbody></table></div>\n"
void shoal_html_table(shoal_text *text, const char *class, const char *caption, ...)
    __attribute__((sentinel));
/* Begins a row with its heading and, in small letters, what it means; NULL: nothing. */
void shoal_html_row(shoal_text *text, const char *title, const char *meaning);
/* Begins the row of a model and writes its first cell. `attribute` may be NULL. */
void shoal_html_model(shoal_text *text, const char *model, const char *attribute,
                      const shoal_over *over, const char *summary);

/* The banner of the verdict, with `detail` after it, and the list of its reasons (verdict.c). */
void shoal_verdict_html(const shoal_result *result, const char *detail, shoal_text *text);

/* Everything up to <body>; `name` follows the title, NULL: none. */
void shoal_html_head(const char *title, const char *name, shoal_text *text);
/* One section with its heading. */
void shoal_html_section(const char *id, const char *title,
                        void (*write)(const shoal_result *result, shoal_text *text),
                        const shoal_result *result, shoal_text *text);
/* The footer and the end of the page. */
void shoal_html_foot(shoal_text *text);
/* Records by the size of their class, as a chart; sizes with 1 to k - 1 records are joined. */
void shoal_html_sizes(const shoal_class_sizes *sizes, uint64_t k, shoal_text *text);

/* The sections of a page. */
void shoal_html_columns(const shoal_result *result, shoal_text *text);
void shoal_html_sample(const shoal_result *result, shoal_text *text);
void shoal_html_protection(const shoal_result *result, shoal_text *text);
void shoal_html_risk(const shoal_result *result, shoal_text *text);
void shoal_html_attributes(const shoal_result *result, shoal_text *text);
void shoal_html_choice(const shoal_result *result, shoal_text *text);
void shoal_html_alternatives(const shoal_result *result, shoal_text *text);
void shoal_html_attacks(const shoal_result *result, shoal_text *text);
void shoal_html_utility(const shoal_result *result, shoal_text *text);
void shoal_html_suppressed(const shoal_result *result, shoal_text *text);
void shoal_html_warnings(const shoal_result *result, shoal_text *text);
void shoal_html_repeat(const shoal_result *result, shoal_text *text);
void shoal_html_summary(const shoal_result *result, shoal_text *text);
void shoal_html_sign(const shoal_result *result, shoal_text *text);
