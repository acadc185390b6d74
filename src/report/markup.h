/* SPDX-License-Identifier: Apache-2.0 */
/* report/markup: text as it may stand in XML and HTML, and how wide it is at most. */
#ifndef SHOAL_REPORT_MARKUP_H
#define SHOAL_REPORT_MARKUP_H

#include "base/text.h"

/* A byte that goes on with a letter of UTF-8. */
bool shoal_markup_continues(char c);

/* At most so many pixels at this size of font, whichever font it is. */
size_t shoal_markup_width(const char *string, size_t size_bytes, size_t font);

/* As text or attribute value: nothing in it can be taken for markup. */
void shoal_markup_add(shoal_text *text, const char *string, size_t size_bytes);

#endif
