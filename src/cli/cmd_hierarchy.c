/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_hierarchy: builds, checks and draws hierarchies of a file or of a policy. The table of
 * verbs has the options that each does not take.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands.h"

/* The operands of check and show; NULL: absent. */
typedef struct subject {
  const char *source; /* a file, or an attribute of the policy; NULL: all attributes */
  const char *data;
} subject;

static bool is_file(const char *name) {
  struct stat info;
  return !strcmp(name, "-") || (!stat(name, &info) && !S_ISDIR(info.st_mode));
}

/* FILE, or with a policy [ATTRIBUTE] [DATA]. A single name is DATA if such a file exists. */
static shoal_status find_subject(cli_job *job, subject *about) {
  const char *first = cli_operand(job, 1), *second = cli_operand(job, 2);
  *about = (subject){first, second};
  if (cli_value(job, CLI_POLICY)) {
    if (first && !second && is_file(first)) *about = (subject){NULL, first};
    return SHOAL_OK;
  }
  if (first && !second) return SHOAL_OK;
  return cli_fail(&job->error, SHOAL_BAD_INPUT,
                  "'shoal hierarchy %s' needs FILE.csv, or '-P POLICY [ATTRIBUTE] [DATA]'",
                  cli_operand(job, 0));
}

static shoal_status describe(cli_job *job, const subject *about, shoal_result **result) {
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  shoal_status status = SHOAL_OK;
  if (cli_value(job, CLI_POLICY)) status = cli_read_policy(job, &policy);
  if (status == SHOAL_OK && about->data && policy)
    status = cli_read_table(job, about->data, policy, SHOAL_FOR_RELEASE, &table);
  if (status == SHOAL_OK)
    status = shoal_hierarchy_describe(about->source, policy, table, result, &job->error);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return status;
}

static shoal_status print_valid(cli_job *job, const subject *about) {
  const char *policy = cli_value(job, CLI_POLICY);
  char text[1024], line[1024], of[512] = "every hierarchy";
  if (policy && about->source)
    (void)snprintf(of, sizeof of, "the hierarchy of '%s'", about->source);
  else if (!policy) (void)snprintf(of, sizeof of, "the hierarchy");
  (void)snprintf(text, sizeof text, "%s: %s is valid%s", policy ? policy : about->source, of,
                 about->data ? " and has every value of the data" : "");
  (void)snprintf(text, sizeof text, "%s\n", shoal_printable(text, line, sizeof line));
  return cli_print(job, text);
}

static shoal_status run_check(cli_job *job) {
  subject about;
  shoal_result *result = NULL;
  shoal_status status = find_subject(job, &about);
  if (status == SHOAL_OK) status = describe(job, &about, &result);
  if (status == SHOAL_OK)
    status = cli_value(job, CLI_JSON) ? cli_print_result(job, result, SHOAL_JSON)
                                      : print_valid(job, &about);
  shoal_result_free(result);
  return status;
}

static shoal_status run_show(cli_job *job) {
  subject about;
  shoal_result *result = NULL;
  shoal_status status = find_subject(job, &about);
  char *text = NULL;
  if (status == SHOAL_OK) status = describe(job, &about, &result);
  if (status == SHOAL_OK) status = shoal_result_render(result, cli_format(job), &text, &job->error);
  if (status == SHOAL_OK)
    status = cli_print(job, text); /* the drawing is the output: also with -q */
  free(text);
  shoal_result_free(result);
  return status;
}

static shoal_status run_build(cli_job *job) {
  const char *data = cli_operand(job, 1);
  const char *column = cli_value(job, CLI_COLUMN), *spec = cli_value(job, CLI_SPEC);
  if (!data || cli_operand(job, 2) || !column || !spec)
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "'shoal hierarchy build' needs one DATA file, '--column NAME' and "
                    "'--spec SPEC'; see 'shoal hierarchy --help'");
  shoal_table *table = NULL;
  char *csv = NULL;
  shoal_status status = cli_read_table(job, data, NULL, SHOAL_FOR_RELEASE, &table);
  if (status == SHOAL_OK) status = shoal_hierarchy_build(spec, table, column, &csv, &job->error);
  if (status == SHOAL_OK) status = cli_print(job, csv);
  free(csv);
  shoal_table_free(table);
  return status;
}

typedef struct verb {
  const char *name;
  uint64_t not_taken; /* options of the command that this verb does not take */
  shoal_status (*run)(cli_job *job);
} verb;

static const verb verbs[] = {
    {"build", UINT64_C(1) << CLI_POLICY | UINT64_C(1) << CLI_JSON, run_build},
    {"check", UINT64_C(1) << CLI_COLUMN | UINT64_C(1) << CLI_SPEC, run_check},
    {"show", UINT64_C(1) << CLI_COLUMN | UINT64_C(1) << CLI_SPEC, run_show},
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

static shoal_status check_options(cli_job *job, const verb *chosen) {
  for (const cli_option *option = cli_option_table(); option->help; option++) {
    char title[32];
    if (!cli_value(job, option->id) || !(chosen->not_taken >> option->id & 1)) continue;
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "'shoal hierarchy %s' takes no option '%s'; see 'shoal hierarchy --help'",
                    chosen->name, cli_option_title(option, title));
  }
  return SHOAL_OK;
}

shoal_status cli_hierarchy(cli_job *job) {
  const char *name = cli_operand(job, 0), *names[N_VERBS];
  for (size_t i = 0; i < N_VERBS; i++) {
    names[i] = verbs[i].name;
    if (strcmp(name, names[i]) != 0) continue;
    shoal_status status = check_options(job, &verbs[i]);
    return status == SHOAL_OK ? verbs[i].run(job) : status;
  }
  const char *nearest = cli_nearest_word(name, names, N_VERBS);
  return cli_fail(&job->error, SHOAL_BAD_INPUT,
                  "'shoal hierarchy' takes build, check or show, not '%s'%s%s%s", name,
                  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}
