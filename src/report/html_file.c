/* SPDX-License-Identifier: Apache-2.0 */
/* report/html_file: of a page: what is needed to repeat the run, and where it is signed. */
#include "report/html.h"

bool shoal_html_has_repeat(const shoal_result *result) { return result->page != NULL; }

void shoal_html_repeat(const shoal_result *result, shoal_text *text) {
  const shoal_page *page = result->page;
  shoal_text_add(text,
                 "<p>The same data, policy, settings, seed and version give the same files, byte "
                 "for byte. <code>sha256sum FILE</code> tells whether a file "
                 "is the one named here.</p>\n<div class=\"scroll\"><table>\n<tbody>\n"
                 "<tr><th scope=\"row\">shoal</th><td>version " SHOAL_VERSION "</td></tr>\n");
  for (size_t i = 0; i < page->n_settings; i++) {
    shoal_text_add(text, "<tr><th scope=\"row\">");
    shoal_html_add(text, page->settings[i].name);
    shoal_text_add(text, "</th><td>");
    shoal_html_add(text,
                   page->settings[i].secret ? "given, not shown here" : page->settings[i].value);
    shoal_text_add(text, "</td></tr>\n");
  }
  shoal_text_add(text, "</tbody></table></div>\n<div class=\"scroll\"><table>\n<thead><tr>"
                       "<th scope=\"col\">File</th><th scope=\"col\">SHA-256</th></tr></thead>\n"
                       "<tbody>\n");
  for (size_t i = 0; i < page->n_files; i++) {
    shoal_text_print(text,
                     "<tr><th scope=\"row\">%s<br><span class=\"dim small\" "
                     "style=\"font-weight:400\">",
                     page->files[i].use);
    shoal_html_code(text, page->files[i].name);
    shoal_text_print(text, "</span></th><td><code class=\"hash\">%s</code></td></tr>\n",
                     page->files[i].sha256);
  }
  shoal_text_add(text, "</tbody></table></div>\n");
}

static const char *const questions[] = {
    "Every column that names a person, or finds one by itself, is an identifier.",
    "Every column that someone outside may know of a person is a quasi-identifier.",
    "No kept column helps to find a person or tells what should stay unknown.",
    "A person has one row: the models count rows, not people.",
    "Earlier releases about the same people were thought of: two together tell more.",
    "The protection suits those who receive the release.",
};

void shoal_html_sign(const shoal_result *result, shoal_text *text) {
  bool release = result->kind == SHOAL_RESULT_RELEASE;
  shoal_text_add(text,
                 "<p>What no program can know, to be ticked by hand:</p>\n<ul class=\"todo\">\n");
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
    shoal_text_print(text, "<li>%s</li>\n", questions[i]);
  shoal_text_add(text, "</ul>\n<p><b>Decision</b></p>\n<ul class=\"todo\">\n");
  shoal_text_add(text, release
                           ? "<li>To be released as described here.</li>\n"
                             "<li>Not to be released.</li>\n"
                           : "<li>Seen and filed.</li>\n<li>To be done again, see remarks.</li>\n");
  shoal_text_add(text, "</ul>\n<div class=\"fields\">\n<div class=\"field\">Name and office</div>\n"
                       "<div class=\"field\">Recipient of the data</div>\n"
                       "<div class=\"field\">Place and date</div>\n"
                       "<div class=\"field\">Signature</div>\n"
                       "<div class=\"field remarks\">Remarks</div>\n</div>\n");
}
