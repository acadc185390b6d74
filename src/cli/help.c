/* SPDX-License-Identifier: Apache-2.0 */
/* cli/help: texts, and their layout in two columns of at most 80 characters. */
#include "cli/help.h"

#include <string.h>

enum { HELP_COLUMN = 27, TITLE_BYTES = 64, LINE_COLUMNS = 80 };

static const cli_text common = {
    .summary = "anonymize tables of personal records",
    .purpose =
        "shoal turns a table of personal records into a release. In a release, every row looks "
        "like at least k - 1 others in its quasi-identifiers, and every such class satisfies the "
        "models of the policy. A policy names the role of each column and the required protection. "
        "Every release is verified against the policy before the file appears.",
    .data =
        "Tables are CSV files with a header row, or SPSS (.sav), Stata (.dta) and SAS "
        "(.sas7bdat) files; .gz and .zst files are decompressed; '-' is standard input (not for "
        "'certificate' and 'serve'). The delimiter and the encoding are detected. Spaces around a "
        "value are kept.",
    .exits = {"done, or the property holds", "the property does not hold or cannot be reached",
              "wrong usage, policy or data; the message says where and what to do",
              "system error (disk full, out of memory, no permission), or the verifier rejected "
              "the release"},
};

const cli_text *cli_common_text(void) { return &common; }

const char *cli_exit_meaning(const cli_command *command, unsigned status) {
  if (!command) return common.exits[status];
  if (status == 0) return command->means_zero ? command->means_zero : "done";
  if (status == 1) return command->means_one;
  if (status == 3 && command->bit != CLI_ANONYMIZE) /* other commands verify no release */
    return "system error (disk full, out of memory, no permission)";
  return common.exits[status];
}

const cli_chapter *cli_policy_chapters(void) {
  static const cli_chapter chapters[] = {
      {"Keys", "The keys of a policy, in the order of the file.", shoal_policy_keys},
      {"Hierarchies", "The kinds of 'hierarchy' of an attribute: how its values are generalized.",
       shoal_hierarchy_kinds},
      {"Models",
       "The entries of 'privacy.models'. All of them must hold. Each may name an 'attribute'; "
       "without one, every sensitive attribute must satisfy it.",
       shoal_models},
      {"Algorithms",
       "The values of 'method.algorithm'. Full-domain: one level of each hierarchy for the whole "
       "table. Local: each class is generalized separately; a number without a hierarchy becomes "
       "an "
       "interval, and text a set of values.",
       shoal_algorithms},
      {"Preferences",
       "The entries of 'method.prefer', which selects one of the minimal nodes of a full-domain "
       "search. The first entry decides, the next breaks ties.",
       shoal_preferences},
      {"Objectives",
       "The values of 'method.objective', which 'optimal' and 'flock' minimize. 'weights' make "
       "attributes count more.",
       shoal_objectives},
      {NULL, NULL, NULL},
  };
  return chapters;
}

const char *cli_policy_example(void) {
  return "shoal: 1\n"
         "attributes:\n"
         "  name:    {role: identifier}    # never released\n"
         "  age:     {role: quasi, type: number, hierarchy: {intervals: [5, 10, 20]}}\n"
         "  zip:     {role: quasi, hierarchy: {mask: right}}\n"
         "  marital: {role: quasi, hierarchy: {file: marital.csv}}\n"
         "  illness: {role: sensitive}\n"
         "  ward:    {role: keep}          # released unchanged\n"
         "privacy:\n"
         "  k: 3\n"
         "  p: 2\n"
         "method:\n"
         "  max-suppression: 5%\n";
}

/* Prints text from column `indent` on, in lines of at most 80 columns. The cursor is at `column`.
 */
static void wrap(FILE *out, const char *text, size_t indent, size_t column) {
  bool at_start = true;
  while (*text) {
    size_t size = strcspn(text, " ");
    if (!at_start && column + 1 + size > LINE_COLUMNS) {
      fputc('\n', out);
      column = 0;
      at_start = true;
    }
    if (at_start && column < indent) {
      fprintf(out, "%*s", (int)(indent - column), "");
      column = indent;
    } else if (!at_start) {
      fputc(' ', out);
      column++;
    }
    fwrite(text, 1, size, out);
    column += size;
    at_start = false;
    text += size;
    text += strspn(text, " ");
  }
  fputc('\n', out);
}

static void print_paragraph(FILE *out, const char *text) {
  fputc('\n', out);
  wrap(out, text, 0, 0);
}

/* A title and its text in a column; after a long title the text starts on the next line. */
static void print_entry(FILE *out, const char *title, const char *text, size_t column) {
  size_t width = 2 + strlen(title);
  fprintf(out, "  %s", title);
  if (width + 2 > column) {
    fputc('\n', out);
    width = 0;
  }
  wrap(out, text, column, width);
}

static void print_options(FILE *out, unsigned commands) {
  fputs("\nOptions:\n", out);
  for (const cli_option *option = cli_option_table(); option->help; option++) {
    char title[TITLE_BYTES], letter[8] = "    ", name[32] = "";
    if ((option->commands & commands) != commands) continue;
    if (option->letter)
      (void)snprintf(letter, sizeof letter, "-%c%s", option->letter, option->name ? ", " : "");
    if (option->name) (void)snprintf(name, sizeof name, "--%s", option->name);
    (void)snprintf(title, sizeof title, "%s%s%s%s", letter, name, option->argument ? " " : "",
                   option->argument ? option->argument : "");
    print_entry(out, title, option->help, HELP_COLUMN);
  }
}

static void print_exits(FILE *out, const cli_command *command) {
  fputs("\nExit status:\n", out);
  for (unsigned status = 0; status < 4; status++) {
    const char title[] = {(char)('0' + status), '\0'};
    const char *meaning = cli_exit_meaning(command, status);
    if (meaning) print_entry(out, title, meaning, 5);
  }
}

static void print_commands(FILE *out) {
  for (const cli_command *command = cli_command_table(); command->name; command++)
    print_entry(out, command->name, command->summary, 15);
}

void cli_help_usage(FILE *out) {
  fputs("usage: shoal COMMAND ...\n\n", out);
  print_commands(out);
  fputs("\nSee 'shoal --help', and 'shoal COMMAND --help' for a command.\n", out);
}

void cli_help_program(FILE *out) {
  fprintf(out, "shoal %s: ", SHOAL_VERSION);
  wrap(out, common.summary, 0, strlen("shoal : " SHOAL_VERSION));
  fputs("\nUsage:\n"
        "  shoal COMMAND ...\n"
        "  shoal help COMMAND         description, options and examples of a command\n"
        "  shoal help policy          keys and values of a policy\n"
        "  shoal --version\n",
        out);
  print_paragraph(out, common.purpose);
  fputs("\nCommands:\n", out);
  print_commands(out);
  fputs("\nQuick start:\n"
        "  shoal profile patients.csv --decide safe --policy-out policy.yaml\n"
        "  (review the role of each column in policy.yaml)\n"
        "  shoal anonymize patients.csv -P policy.yaml -o release.csv\n"
        "  (read the verdict; remove or accept each open risk)\n"
        "  shoal anonymize patients.csv -P policy.yaml -o release.csv --strict \\\n"
        "    --certificate certificate.html --html review.html\n"
        "  shoal check release.csv -P policy.yaml\n",
        out);
  print_options(out, CLI_EVERY_COMMAND);
  print_exits(out, NULL);
}

/* Names and summaries of a library table. */
static void print_entries(FILE *out, const shoal_entry *entry) {
  for (; entry->name; entry++) {
    const char *parameters = entry->parameters ? entry->parameters : "";
    fprintf(out, "  %s%s%s\n", entry->name, *parameters ? "  " : "", parameters);
    if (entry->summary) wrap(out, entry->summary, 6, 0);
  }
}

void cli_help_command(FILE *out, const cli_command *command) {
  fprintf(out, "shoal %s: %s\n\nUsage:\n", command->name, command->summary);
  for (size_t i = 0; command->usages[i]; i++)
    fprintf(out, "  shoal %s %s\n", command->name, command->usages[i]);
  for (size_t i = 0; command->paragraphs[i]; i++) print_paragraph(out, command->paragraphs[i]);
  print_paragraph(out, common.data);
  print_options(out, command->bit);
  if (cli_option_of(command, CLI_ALGORITHM) && command->bit != CLI_ATTACK) {
    fputs("\nAlgorithms:\n", out);
    print_entries(out, shoal_algorithms());
  }
  fputs("\nExamples:\n", out);
  for (const cli_example *example = command->examples; example->line; example++)
    fprintf(out, "  %s\n    shoal %s\n", example->purpose, example->line);
  print_exits(out, command);
}

void cli_help_policy(FILE *out) {
  wrap(out,
       "A policy is a YAML file. Paths in it are relative to its directory. A column of the data "
       "that it does not name is an error unless 'unlisted' is given. Example:",
       0, 0);
  fputc('\n', out);
  for (const char *line = cli_policy_example(); *line; line = strchr(line, '\n') + 1)
    fprintf(out, "  %.*s\n", (int)strcspn(line, "\n"), line);
  for (const cli_chapter *chapter = cli_policy_chapters(); chapter->title; chapter++) {
    fprintf(out, "\n%s: ", chapter->title);
    wrap(out, chapter->intro, 0, strlen(chapter->title) + 2);
    print_entries(out, chapter->entries());
  }
}
