/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/yaml_trouble: see yaml_trouble.h. libfyaml has two ways to complain: errors with a place
 * are collected; the few without one (an unknown %YAML version, "|0", no memory) go to an output
 * function, which by default would be standard error.
 */
#include "policy/yaml_trouble.h"

#include <libfyaml.h>
#include <stdio.h>
#include <string.h>

/* The commonest mistakes, as the person who made them would put it. */
static const struct {
  const char *said;
  const char *plain;
} translations[] = {
    {"invalid multiline plain key",
     "the line after this value looks like a key, but is indented like more of the value: check "
     "the indentation"},
    {"invalid mapping in plain multiline",
     "a second ': ' in one line: put quotes around a value that has one"},
    {"invalid nested block mapping on the same line",
     "a second ': ' in one line: put quotes around a value that has one"},
    {"invalid indentation in mapping", "this line is not indented like its neighbours"},
    {"invalid value after mapping", "a 'key: value' is expected here"},
    {"could not find expected ':'", "a ':' is missing after this word"},
    {"missing comma in flow mapping", "a ',' is missing between the entries in { }"},
    {"missing comma in flow sequence", "a ',' is missing between the items in [ ]"},
    {"mismatched flow sequence end", "a ']' where '}' is expected"},
    {"mismatched flow mapping end", "a '}' where ']' is expected"},
    {"flow mapping with invalid extra closing brace", "a '}' that closes nothing"},
    {"flow sequence with invalid extra closing bracket", "a ']' that closes nothing"},
    {"did not find expected node content", "a value is missing here, or needs quotes around it"},
    {"tab character may not be used as indentation", "indented with a tab: use spaces"},
    {"double-quoted scalar without closing quote", "a '\"' is not closed"},
    {"single-quoted scalar without closing quote", "a \"'\" is not closed"},
    {"invalid trailing content after double-quoted scalar", "more text after a closing quote"},
    {"invalid trailing content after single-quoted scalar", "more text after a closing quote"},
};

/* What is printed and has no place, but is the writer's doing. */
static const struct {
  const char *word;
  const char *plain;
} printed[] = {
    {"version", "the %YAML line asks for a version that is not known here: leave it out"},
    {"indentation indicator", "a number after '|' or '>': a value must stand in one line"},
};

static void hear(struct fy_diag *diag, void *user, const char *said, size_t size) {
  (void)diag;
  shoal_yaml_trouble *trouble = user;
  for (size_t i = 0; i < sizeof printed / sizeof *printed; i++)
    if (memmem(said, size, printed[i].word, strlen(printed[i].word)))
      trouble->heard = printed[i].plain;
}

struct fy_diag *shoal_yaml_trouble_listen(shoal_yaml_trouble *trouble) {
  *trouble = (shoal_yaml_trouble){.mark = {1, 1}};
  struct fy_diag_cfg config;
  fy_diag_cfg_default(&config);
  config.fp = NULL;
  config.output_fn = hear;
  config.user = trouble;
  config.level = FYET_ERROR;
  config.colorize = false;
  struct fy_diag *diag = fy_diag_create(&config);
  if (diag) fy_diag_set_collect_errors(diag, true);
  return diag;
}

static void translate(shoal_yaml_trouble *trouble, const char *said) {
  for (size_t i = 0; i < sizeof translations / sizeof *translations; i++)
    if (strcmp(said, translations[i].said) == 0) said = translations[i].plain;
  (void)snprintf(trouble->text, sizeof trouble->text, "%s", said);
}

void shoal_yaml_trouble_find(shoal_yaml_trouble *trouble, struct fy_diag *diag) {
  void *position = NULL;
  struct fy_diag_error *found;
  while ((found = fy_diag_errors_iterate(diag, &position))) {
    if (found->type != FYET_ERROR) continue; /* warnings are collected too */
    trouble->mark = (shoal_mark){found->line > 0 ? (uint32_t)found->line : 1,
                                 found->column > 0 ? (uint32_t)found->column : 1};
    translate(trouble, found->msg ? found->msg : "");
    return;
  }
  trouble->no_memory = !trouble->heard;
  if (trouble->heard) translate(trouble, trouble->heard);
}
