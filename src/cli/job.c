/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/job: paths, options, inputs, results. File names are checked before data is read, because a
 * long run must not fail at its end.
 */
#include "cli/job.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"

/* ---------------------------------------------------------------- paths and files */

/* A path that the user can correct is bad input, other errors are the system's. */
static shoal_status fail_path(shoal_error *error, const char *path, int code) {
  if (code == ENOENT && strstr(path, "://")) /* it may have a password: it is not shown */
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "the output is no file, and no database that shoal writes: these begin with "
                    "postgresql:// or sqlite:");
  if (code == ENOENT || code == ENOTDIR)
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "%s: its directory does not exist; create it or choose another name", path);
  if (code == EISDIR)
    return cli_fail(error, SHOAL_BAD_INPUT, "%s: is a directory; give a file name", path);
  bool denied = code == EACCES || code == EPERM || code == EROFS;
  return cli_fail(error, SHOAL_FAILED, "%s: cannot write: %s%s", path, strerror(code),
                  denied ? "; choose another directory" : "");
}

static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* stat(2) of the directory of `path`. */
static bool stat_directory(const char *path, struct stat *info) {
  size_t length = directory_length(path);
  char *directory = malloc(length + sizeof ".");
  if (!directory) return false;
  memcpy(directory, path, length);
  memcpy(directory + length, ".", sizeof ".");
  bool found = !stat(directory, info);
  free(directory);
  return found;
}

static bool is_same(const char *a, const char *b) {
  if (!strcmp(a, b)) return true;
  struct stat info_a, info_b;
  bool exists_a = !stat(a, &info_a), exists_b = !stat(b, &info_b);
  if (exists_a != exists_b) return false;
  if (!exists_a) { /* neither exists: compare names and directories */
    if (strcmp(a + directory_length(a), b + directory_length(b)) != 0) return false;
    if (!stat_directory(a, &info_a) || !stat_directory(b, &info_b)) return false;
  }
  return info_a.st_dev == info_b.st_dev && info_a.st_ino == info_b.st_ino;
}

bool cli_same_file(const char *a, const char *b) {
  char file_a[PATH_MAX], file_b[PATH_MAX];
  return is_same(shoal_path_file(strcmp(a, "-") ? a : "/dev/stdin", file_a, sizeof file_a),
                 shoal_path_file(strcmp(b, "-") ? b : "/dev/stdin", file_b, sizeof file_b));
}

/* `> log` and `/dev/stdout`: the output would replace the file that the text goes to. */
static bool is_printed_to(const struct stat *info) {
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
    struct stat stream;
    if (S_ISREG(info->st_mode) && !fstat(fd, &stream) && stream.st_dev == info->st_dev &&
        stream.st_ino == info->st_ino)
      return true;
  }
  return false;
}

shoal_status cli_check_output_path(const char *path, shoal_error *error) {
  struct stat info;
  if (stat(path, &info)) {
    if (stat_directory(path, &info)) return SHOAL_OK;
    return fail_path(error, path, errno);
  }
  if (S_ISDIR(info.st_mode)) return fail_path(error, path, EISDIR);
  if (is_printed_to(&info))
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "%s: standard output or standard error goes there; choose another name", path);
  return SHOAL_OK;
}

shoal_status cli_file_begin(const char *path, shoal_file **file, shoal_error *error) {
  shoal_status status = cli_check_output_path(path, error);
  return status == SHOAL_OK ? shoal_file_begin(path, file, error) : status;
}

shoal_status cli_file_commit(shoal_file **file, const char *text, shoal_error *error) {
  shoal_status status = shoal_file_commit(*file, text, error);
  shoal_file_free(*file);
  *file = NULL;
  return status;
}

/* ---------------------------------------------------------------- options */

const char *cli_value(const cli_job *job, cli_option_id id) { return job->options->values[id]; }

const char *cli_operand(const cli_job *job, size_t i) {
  return i < job->options->n_operands ? job->options->operands[i] : NULL;
}

shoal_format cli_format(const cli_job *job) {
  return cli_value(job, CLI_JSON) ? SHOAL_JSON : SHOAL_TEXT;
}

shoal_status cli_whole_value(cli_job *job, cli_option_id id, uint64_t min, uint64_t max,
                             uint64_t *number) {
  const char *text = cli_value(job, id);
  char title[32];
  if (!text) return SHOAL_OK;
  size_t length = strlen(text);
  bool digits = length && length <= 9 && strspn(text, "0123456789") == length;
  uint64_t n = digits ? strtoull(text, NULL, 10) : 0;
  if (!digits || n < min || n > max)
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "option '%s' needs a whole number from %llu to %llu, not '%s'",
                    cli_option_title(cli_option_of(job->command, id), title),
                    (unsigned long long)min, (unsigned long long)max, text);
  *number = n;
  return SHOAL_OK;
}

/* "500M", "2G", "123456": bytes. */
static shoal_status parse_memory(const char *text, uint64_t *bytes, shoal_error *error) {
  static const char units[] = "KMG";
  size_t digits = strspn(text, "0123456789");
  const char *unit = text[digits] ? strchr(units, text[digits] & ~0x20) : NULL;
  uint64_t n = 0;
  bool ok = digits > 0 && digits <= 15 && (!text[digits] || (unit && !text[digits + 1]));
  for (size_t i = 0; ok && i < digits; i++) n = n * 10 + (uint64_t)(text[i] - '0');
  for (const char *u = units; ok && unit && u <= unit; u++) {
    ok = n <= UINT64_MAX / 1024;
    n *= 1024;
  }
  if (!ok || n == 0)
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "option '--memory' needs a size such as 500M or 2G, not '%s'", text);
  if (!unit && n < 1 << 20)
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "option '--memory': %s means %s byte%s; add a unit, for example %sM", text,
                    text, n == 1 ? "" : "s", text);
  *bytes = n;
  return SHOAL_OK;
}

static shoal_status parse_seconds(const char *text, double *seconds, shoal_error *error) {
  char *end;
  *seconds = strtod(text, &end);
  bool plain = strspn(text, "0123456789.") == strlen(text);
  if (!plain || end == text || *end || !(*seconds > 0 && *seconds <= 1e9))
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "option '--time-limit' needs a number of seconds above 0, not '%s'", text);
  return SHOAL_OK;
}

/* Is the path a table of --external, --original, --population or --previous? */
static bool is_side_table(const cli_job *job, const char *path) {
  static const cli_option_id sides[] = {CLI_EXTERNAL, CLI_ORIGINAL, CLI_POPULATION};
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
    if (cli_value(job, sides[i]) && cli_same_file(path, cli_value(job, sides[i]))) return true;
  for (size_t i = 0; i < job->options->n_repeated; i++)
    if (cli_same_file(path, job->options->repeated[i])) return true;
  return false;
}

/* -o of a command that prints: begins the file, which cli_print commits. */
static shoal_status begin_output(cli_job *job) {
  const char *path = cli_value(job, CLI_OUTPUT), *policy = cli_value(job, CLI_POLICY);
  if (!path || !strcmp(path, "-") || job->command->bit == CLI_ANONYMIZE) return SHOAL_OK;
  bool taken = (policy && cli_same_file(path, policy)) || is_side_table(job, path);
  size_t first = job->command->bit == CLI_HIERARCHY ? 1 : 0; /* after build, check or show */
  for (size_t i = first; i < job->options->n_operands; i++)
    taken = taken || cli_same_file(path, cli_operand(job, i));
  if (taken)
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: the output would overwrite an input; choose another name", path);
  return cli_file_begin(path, &job->output, &job->error);
}

shoal_status cli_job_begin(cli_job *job, const cli_command *command, const cli_options *options) {
  memset(job, 0, sizeof *job);
  job->command = command;
  job->options = options;
  cli_progress_init(&job->progress, cli_value(job, CLI_QUIET) != NULL);
  job->run.progress = cli_progress_report;
  job->run.progress_user = &job->progress;
  uint64_t n_threads = 0;
  shoal_status status = cli_whole_value(job, CLI_THREADS, 1, 64, &n_threads);
  job->run.n_threads = (unsigned)n_threads;
  const char *memory = cli_value(job, CLI_MEMORY);
  if (status == SHOAL_OK && memory)
    status = parse_memory(memory, &job->run.memory_bytes, &job->error);
  const char *limit = cli_value(job, CLI_TIME_LIMIT);
  if (status == SHOAL_OK && limit)
    status = parse_seconds(limit, &job->run.time_limit_seconds, &job->error);
  return status == SHOAL_OK ? begin_output(job) : status;
}

void cli_job_end(cli_job *job) {
  cli_progress_erase(&job->progress);
  shoal_file_free(job->output);
  shoal_file_free(job->report);
  shoal_file_free(job->html);
}

/* ---------------------------------------------------------------- inputs */

/* Applies every option with a policy key. */
static shoal_status override(cli_job *job, shoal_policy *policy) {
  for (const cli_option *option = cli_option_table(); option->help; option++) {
    const char *value = cli_value(job, option->id);
    if (!option->policy_key || !value) continue;
    shoal_status status = shoal_policy_set(policy, option->policy_key, value, &job->error);
    if (status != SHOAL_OK) return status;
  }
  return SHOAL_OK;
}

shoal_status cli_read_policy(cli_job *job, shoal_policy **policy) {
  shoal_policy *read = NULL;
  shoal_status status = shoal_policy_read(cli_value(job, CLI_POLICY), &read, &job->error);
  if (status != SHOAL_OK) return status;
  status = override(job, read);
  if (status == SHOAL_OK) *policy = read;
  else shoal_policy_free(read);
  return status;
}

/* The delimiter of --delimiter; NULL: not given. */
static const char *delimiter_of(const cli_job *job) {
  const char *delimiter = cli_value(job, CLI_DELIMITER);
  /* A tab is hard to type: accept "tab" and "\\t". */
  bool tab = delimiter && (!strcmp(delimiter, "tab") || !strcmp(delimiter, "\\t"));
  return tab ? "\t" : delimiter;
}

shoal_status cli_set_delimiter(cli_job *job, shoal_policy *policy) {
  const char *delimiter = delimiter_of(job);
  if (!delimiter) return SHOAL_OK;
  if (strlen(delimiter) != 1 || strchr("\"\r\n", *delimiter)) /* a policy also takes names */
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "the delimiter must be one character, such as ',' ';' '|' or a tab");
  return shoal_policy_set(policy, "delimiter", delimiter, &job->error);
}

shoal_status cli_address(cli_job *job, const char *path, const char *table, const char *query,
                         char **address) {
  bool adds = shoal_path_is_database(path) && !shoal_path_has_table(path) && (table || query);
  const char *key = !adds ? "" : table ? "#table=" : "#query=";
  const char *value = !adds ? "" : table ? table : query;
  size_t size = strlen(path) + strlen(key) + strlen(value) + 1;
  *address = malloc(size);
  if (!*address) return cli_fail(&job->error, SHOAL_FAILED, "out of memory");
  (void)snprintf(*address, size, "%s%s%s", path, key, value);
  return SHOAL_OK;
}

/* --table and --query are about databases that are named without a table. */
static shoal_status check_table(cli_job *job, const char *path) {
  const char *table = cli_value(job, CLI_TABLE), *query = cli_value(job, CLI_QUERY);
  if (table && query)
    return cli_fail(&job->error, SHOAL_BAD_INPUT, "give '--table' or '--query', not both");
  if ((!table && !query) || path != cli_operand(job, 0)) return SHOAL_OK;
  if (!shoal_path_is_database(path))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "'--%s' needs a database, such as sqlite:FILE or postgresql://HOST/DATABASE",
                    table ? "table" : "query");
  if (shoal_path_has_table(path))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "the address has a table after its '#'; leave out '--%s'",
                    table ? "table" : "query");
  return SHOAL_OK;
}

static shoal_status find_address(cli_job *job, const char *path, char **address) {
  shoal_status status = check_table(job, path);
  if (status != SHOAL_OK) return status;
  return cli_address(job, path, cli_value(job, CLI_TABLE), cli_value(job, CLI_QUERY), address);
}

shoal_status cli_table_address(cli_job *job, char **address) {
  return find_address(job, cli_operand(job, 0), address);
}

shoal_status cli_read_table(cli_job *job, const char *path, const shoal_policy *policy,
                            shoal_purpose purpose, shoal_table **table) {
  char *address = NULL;
  shoal_status status = find_address(job, path, &address);
  if (status == SHOAL_OK)
    status = shoal_table_read(address, policy, purpose, delimiter_of(job), &job->run, table,
                              &job->error);
  free(address);
  return status;
}

/* The file of --report, --html, --certificate or --mapping must not be an input or another output.
 */
static shoal_status check_extra(cli_job *job, cli_option_id id, const char *what,
                                const char *instead) {
  const char *path = cli_value(job, id), *output = cli_value(job, CLI_OUTPUT);
  const char *data = cli_operand(job, 0), *policy = cli_value(job, CLI_POLICY);
  char title[32];
  if (!path) return SHOAL_OK;
  if (!strcmp(path, "-"))
    return cli_fail(&job->error, SHOAL_BAD_INPUT, "'%s' needs a file name%s",
                    cli_option_title(cli_option_of(job->command, id), title), instead);
  if (cli_same_file(path, data) || cli_same_file(path, policy))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: the %s would overwrite the %s; choose another name", path, what,
                    cli_same_file(path, data) ? "data" : "policy");
  if (output && strcmp(output, "-") != 0 && cli_same_file(path, output))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: -o and %s name the same file; choose two names", path,
                    cli_option_title(cli_option_of(job->command, id), title));
  if (is_side_table(job, path))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: the %s would overwrite an input; choose another name", path, what);
  return SHOAL_OK;
}

static shoal_status check_reports(cli_job *job) {
  static const struct {
    cli_option_id id;
    const char *what, *instead;
  } files[] = {{CLI_REPORT, "report", "; '--json' prints the report to standard output"},
               {CLI_HTML, "HTML report", ""},
               {CLI_CERTIFICATE, "certificate", ""},
               {CLI_MAPPING, "mapping", ""}};
  enum { N_FILES = sizeof files / sizeof *files };
  char title[32], other[32];
  for (size_t i = 0; i < N_FILES; i++) {
    const char *path = cli_value(job, files[i].id);
    shoal_status status = check_extra(job, files[i].id, files[i].what, files[i].instead);
    if (status != SHOAL_OK) return status;
    for (size_t j = 0; path && j < i; j++)
      if (cli_value(job, files[j].id) && cli_same_file(path, cli_value(job, files[j].id)))
        return cli_fail(&job->error, SHOAL_BAD_INPUT,
                        "%s: %s and %s name the same file; choose two names", path,
                        cli_option_title(cli_option_of(job->command, files[j].id), title),
                        cli_option_title(cli_option_of(job->command, files[i].id), other));
  }
  return SHOAL_OK;
}

/* No output may be a file that the policy reads. */
static shoal_status check_policy_files(cli_job *job, const shoal_policy *policy) {
  static const cli_option_id outputs[] = {CLI_OUTPUT, CLI_REPORT, CLI_HTML, CLI_CERTIFICATE,
                                          CLI_MAPPING};
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    const char *path = cli_value(job, outputs[i]);
    if (path && strcmp(path, "-") != 0 && shoal_policy_names_file(policy, path))
      return cli_fail(&job->error, SHOAL_BAD_INPUT,
                      "%s: the policy reads this file; choose another output", path);
  }
  return SHOAL_OK;
}

shoal_status cli_begin_policy(cli_job *job, shoal_policy **policy) {
  const char *report = cli_value(job, CLI_REPORT), *html = cli_value(job, CLI_HTML);
  shoal_status status = check_reports(job);
  if (status == SHOAL_OK) status = cli_read_policy(job, policy);
  if (status == SHOAL_OK) status = check_policy_files(job, *policy);
  if (status == SHOAL_OK && report) status = cli_file_begin(report, &job->report, &job->error);
  if (status == SHOAL_OK && html) status = cli_file_begin(html, &job->html, &job->error);
  return status;
}

/* ---------------------------------------------------------------- results */

void cli_put(cli_job *job, const char *text, FILE *out) {
  size_t length = strlen(text);
  cli_progress_erase(&job->progress);
  (void)fputs(text, out); /* main reports an error when it closes standard output */
  if (!length || text[length - 1] != '\n') (void)fputc('\n', out);
}

shoal_status cli_print(cli_job *job, const char *text) {
  if (job->output) return cli_file_commit(&job->output, text, &job->error);
  cli_put(job, text, stdout);
  return SHOAL_OK;
}

shoal_status cli_print_result(cli_job *job, const shoal_result *result, shoal_format format) {
  char *text = NULL;
  if (format == SHOAL_TEXT && cli_value(job, CLI_QUIET) && !cli_value(job, CLI_OUTPUT))
    return SHOAL_OK;
  shoal_status status = shoal_result_render(result, format, &text, &job->error);
  if (status == SHOAL_OK) status = cli_print(job, text);
  free(text);
  return status;
}

static shoal_status write_as(cli_job *job, const shoal_result *result, shoal_format format,
                             shoal_file **file) {
  if (!*file) return SHOAL_OK;
  char *text = NULL;
  shoal_status status = shoal_result_render(result, format, &text, &job->error);
  if (status == SHOAL_OK) status = cli_file_commit(file, text, &job->error);
  free(text);
  return status;
}

shoal_status cli_write_report(cli_job *job, const shoal_result *result) {
  shoal_status status = write_as(job, result, SHOAL_JSON, &job->report);
  return status == SHOAL_OK ? write_as(job, result, SHOAL_HTML, &job->html) : status;
}

bool cli_holds(const cli_job *job, const shoal_result *result) {
  if (!shoal_result_holds(result)) return false;
  if (!cli_value(job, CLI_STRICT)) return true;
  shoal_publication verdict = shoal_result_verdict(result);
  return verdict == SHOAL_HOLDS ||
         (verdict == SHOAL_HOLDS_WITH_RISKS && shoal_result_open_risks(result) == 0);
}

shoal_status cli_study(cli_job *job, shoal_purpose purpose, cli_study_fn study, shoal_format format,
                       bool *holds) {
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  shoal_result *result = NULL;
  shoal_status status = cli_begin_policy(job, &policy);
  if (status == SHOAL_OK)
    status = cli_read_table(job, cli_operand(job, 0), policy, purpose, &table);
  if (status == SHOAL_OK) status = study(table, policy, &job->run, &result, &job->error);
  if (status == SHOAL_OK) status = cli_write_report(job, result);
  if (status == SHOAL_OK) status = cli_print_result(job, result, format);
  if (status == SHOAL_OK) *holds = cli_holds(job, result);
  shoal_result_free(result);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return status;
}
