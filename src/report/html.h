/* SPDX-License-Identifier: Apache-2.0 */
/* report/html: what the files that write a page share. Private to this folder. */
#ifndef SHOAL_REPORT_HTML_H
#define SHOAL_REPORT_HTML_H

#include "report/chart.h"
#include "report/page.h"

/* Text, safe between tags and in attributes. */
void shoal_html_add(shoal_text *text, const char *string);
/* The same in <code>. */
void shoal_html_code(shoal_text *text, const char *string);
/* A number of people: "fewer than 5" where it is above 0 and below k. */
void shoal_html_people(shoal_text *text, uint64_t n, uint64_t k);
/* "12 rows" */
void shoal_html_counted(shoal_text *text, uint64_t n, const char *noun, const char *plural);
/* A number: whole where it is whole or large, else four digits. */
void shoal_html_number(shoal_text *text, double x);
/* Yes or no, as sign and word. */
void shoal_html_verdict(shoal_text *text, bool yes, const char *word);

/* Each section of a page: is there anything to say, and what. */
bool shoal_html_has_columns(const shoal_result *result);
void shoal_html_columns(const shoal_result *result, shoal_text *text);
bool shoal_html_has_sample(const shoal_result *result);
void shoal_html_sample(const shoal_result *result, shoal_text *text);
bool shoal_html_has_protection(const shoal_result *result);
void shoal_html_protection(const shoal_result *result, shoal_text *text);
bool shoal_html_has_risk(const shoal_result *result);
void shoal_html_risk(const shoal_result *result, shoal_text *text);
bool shoal_html_has_attributes(const shoal_result *result);
void shoal_html_attributes(const shoal_result *result, shoal_text *text);
bool shoal_html_has_choice(const shoal_result *result);
void shoal_html_choice(const shoal_result *result, shoal_text *text);
bool shoal_html_has_attacks(const shoal_result *result);
void shoal_html_attacks(const shoal_result *result, shoal_text *text);
bool shoal_html_has_utility(const shoal_result *result);
void shoal_html_utility(const shoal_result *result, shoal_text *text);
bool shoal_html_has_suppressed(const shoal_result *result);
void shoal_html_suppressed(const shoal_result *result, shoal_text *text);
bool shoal_html_has_warnings(const shoal_result *result);
void shoal_html_warnings(const shoal_result *result, shoal_text *text);
bool shoal_html_has_repeat(const shoal_result *result);
void shoal_html_repeat(const shoal_result *result, shoal_text *text);
void shoal_html_summary(const shoal_result *result, shoal_text *text);
void shoal_html_sign(const shoal_result *result, shoal_text *text);

#endif
