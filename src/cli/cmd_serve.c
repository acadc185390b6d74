/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_serve: the workbench in the browser, until Control-C. */
#include "cli/commands.h"

#if SHOAL_SERVE
#include "serve/serve.h"

shoal_status cli_serve(cli_job *job) {
  uint64_t port = 0, idle_minutes = 60;
  shoal_status status = cli_whole_value(job, CLI_PORT, 0, 65535, &port);
  if (status == SHOAL_OK) status = cli_whole_value(job, CLI_IDLE_MINUTES, 0, 100000, &idle_minutes);
  if (status != SHOAL_OK) return status;
  const char *data = cli_operand(job, 0);
  if (data && shoal_path_is_database(data))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "the workbench opens files: export the table, or use the other commands");
  serve_options options = {.data = data,
                           .policy = cli_value(job, CLI_POLICY),
                           .port = (unsigned)port,
                           .open_browser = !cli_value(job, CLI_NO_OPEN),
                           .idle_minutes = (unsigned)idle_minutes,
                           .stopped = cli_signals_caught};
  return serve_run(&options, &job->error);
}
#else
shoal_status cli_serve(cli_job *job) {
  return cli_fail(&job->error, SHOAL_BAD_INPUT,
                  "this shoal was built without libmicrohttpd; install libmicrohttpd-dev and build "
                  "it again");
}
#endif
