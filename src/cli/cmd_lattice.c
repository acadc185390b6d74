/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_lattice: lists the nodes of the generalization lattice as text, data or drawing. All
 * nodes are printed also if none satisfies the policy; then the exit status is 1.
 */
#include <string.h>

#include "cli/commands.h"

static const char *const format_names[] = {"text", "json", "csv", "dot", "svg"};
static const shoal_format formats[] = {SHOAL_TEXT, SHOAL_JSON, SHOAL_CSV, SHOAL_DOT, SHOAL_SVG};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static shoal_status choose_format(cli_job *job, shoal_format *format) {
  const char *name = cli_value(job, CLI_FORMAT);
  *format = cli_format(job);
  if (!name) return SHOAL_OK;
  for (size_t i = 0; i < N_FORMATS; i++) {
    if (strcmp(name, format_names[i]) != 0) continue;
    if (cli_value(job, CLI_JSON) && formats[i] != SHOAL_JSON)
      return cli_fail(&job->error, SHOAL_BAD_INPUT,
                      "'--json' and '--format %s' contradict each other; give one of them", name);
    *format = formats[i];
    return SHOAL_OK;
  }
  const char *nearest = cli_nearest_word(name, format_names, N_FORMATS);
  return cli_fail(&job->error, SHOAL_BAD_INPUT,
                  "option '--format' needs text, json, csv, dot or svg, not '%s'%s%s%s", name,
                  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

shoal_status cli_lattice(cli_job *job) {
  shoal_format format;
  bool holds = false;
  shoal_status status = choose_format(job, &format);
  if (status == SHOAL_OK && cli_value(job, CLI_MATRIX) && format != SHOAL_TEXT &&
      format != SHOAL_JSON)
    status = cli_fail(&job->error, SHOAL_BAD_INPUT,
                      "'--matrix' prints text or JSON; omit '--format', or give text or json");
  cli_study_fn study = cli_value(job, CLI_MATRIX) ? shoal_distances : shoal_lattice;
  if (status == SHOAL_OK) status = cli_study(job, SHOAL_FOR_RELEASE, study, format, &holds);
  if (status != SHOAL_OK) return status;
  return holds ? SHOAL_OK : SHOAL_REFUSED;
}
