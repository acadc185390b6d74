/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: the certificate of an arbitrary file. A recipient makes it from a release that a
 * stranger wrote, so no file may crash it. What it says must hang together: the same file gives the
 * same page, by any number of threads; no cell becomes markup; the verdict and the exit agree; the
 * policy on the page reads as a policy, unless labels were left out.
 */
#include "fuzz.h"
#include "shoal/shoal.h"

static const char *const policies[] = {
    "shoal: 1\n"
    "attributes:\n"
    "  a: {role: quasi, type: number, hierarchy: {intervals: [5, 10]}}\n"
    "  b: {role: quasi, hierarchy: {mask: right}}\n"
    "  c: {role: sensitive}\n"
    "privacy: {k: 2, p: 2}\n",
    "shoal: 1\n"
    "unlisted: keep\n"
    "attributes:\n"
    "  a: {role: quasi, hierarchy: {date: [month, year]}}\n"
    "  b: {role: quasi, hierarchy: {tree: {X: [x, y], Z: [z]}}}\n"
    "  c: {role: sensitive, hierarchy: {tree: {G: [u, v], H: [w]}}, protect: [G], "
    "categories: [[u], [v, w]]}\n"
    "privacy: {k: 2, models: [extended-p-sensitive: {p: 2}, t-closeness: {t: 0.5}]}\n"
    "method: {max-suppression: 10%, formulas: quote}\n",
    "shoal: 1\n"
    "unlisted: drop\n"
    "attributes:\n"
    "  a: {role: quasi, type: number}\n"
    "  b: {role: identifier}\n"
    "  c: {role: sensitive, hierarchy: {tree: {G: [u, v], H: [w]}}}\n"
    "privacy: {models: [personalized: {column: b, breach: 0.5}]}\n"
    "method: {algorithm: mondrian, noise: 1%}\n",
};

static shoal_policy *parse(const char *text) {
  shoal_policy *policy = NULL;
  MUST(shoal_policy_parse(text, strlen(text), NULL, NULL, &policy, NULL) == SHOAL_OK);
  return policy;
}

/* The page, or NULL if the file is refused. */
static char *page_of(const char *path, const shoal_policy *policy, const char *left_out,
                     unsigned n_threads) {
  const shoal_run run = {.n_threads = n_threads};
  shoal_result *result = NULL;
  shoal_error error = {.message = ""};
  char *page = NULL;
  shoal_status status = shoal_certificate(path, policy, left_out, &run, &result, &error);
  MUST(status == SHOAL_OK || status == SHOAL_BAD_INPUT || status == SHOAL_BAD_POLICY);
  MUST((status == SHOAL_OK) == (result != NULL));
  if (!result) {
    MUST(error.message[0]);
    return NULL;
  }
  shoal_publication verdict = shoal_result_verdict(result);
  MUST(verdict != SHOAL_NOT_JUDGED);
  MUST(shoal_result_holds(result) == (verdict != SHOAL_DO_NOT_PUBLISH));
  MUST(shoal_result_render(result, SHOAL_HTML, &page, &error) == SHOAL_OK);
  shoal_result_free(result);
  return page;
}

/* Between the head and the end only the page's own tags: an attacker's would have other names. */
static void check_markup(const char *page) {
  static const char *const never[] = {"<script", "<img", "<a ", "<iframe", "<object", "<form"};
  const char *body = strstr(page, "<body>");
  MUST(body);
  for (size_t i = 0; i < sizeof never / sizeof *never; i++) MUST(!strstr(body, never[i]));
  size_t open = 0, close = 0;
  for (const char *s = body; *s; s++) open += *s == '<', close += *s == '>';
  MUST(open == close);
}

/* The policy as it is on the page, with its escapes undone. */
static void check_policy(const char *page) {
  static const char begin[] = "<pre class=\"policy\"><code>";
  static const struct {
    const char *escape;
    char byte;
  } escapes[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}};
  const char *from = strstr(page, begin);
  MUST(from);
  from += sizeof begin - 1;
  const char *end = strstr(from, "</code></pre>");
  MUST(end);
  char *text = calloc(1, (size_t)(end - from) + 1);
  MUST(text);
  size_t size = 0;
  while (from < end) {
    size_t i = 0, n = sizeof escapes / sizeof *escapes;
    while (i < n && strncmp(from, escapes[i].escape, strlen(escapes[i].escape)) != 0) i++;
    text[size++] = i < n ? escapes[i].byte : *from;
    from += i < n ? strlen(escapes[i].escape) : 1;
  }
  if (!strstr(text, "are left out")) shoal_policy_free(parse(text));
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const left_out[] = {"none", "few", "1234"};
  pieces from = {data, size};
  shoal_policy *policy = parse(policies[take_below(&from, 3)]);
  const char *left = left_out[take_below(&from, 3)];
  memory_file file = memory_file_new(from.bytes, from.size);
  char *page = page_of(file.path, policy, left, 1);
  if (page) {
    char *again = page_of(file.path, policy, left, 3);
    MUST(again && strcmp(page, again) == 0);
    check_markup(page);
    check_policy(page);
    free(again);
    free(page);
  }
  (void)close(file.fd);
  shoal_policy_free(policy);
  return 0;
}
