/* SPDX-License-Identifier: Apache-2.0 */
/* cli/help: see help.h. */
#include "cli/help.h"

#include <string.h>

#include "cli/words.h"

enum { HELP_COLUMN = 27, TITLE_BYTES = 64 };

static const cli_text common = {
    .summary = "turn tables of personal records into tables that are safe to release",
    .purpose =
        "shoal turns a table of personal records into a release in which every record hides in a "
        "shoal of at least k, and no sensitive value stands out in it. A policy, written once, "
        "says what each column is and what protection is asked for; what is written is always "
        "verified against it.",
    .data = "DATA is a CSV file with a header row; '-' is standard input, and files named .gz or "
            ".zst are read as they are. The delimiter is found by itself. Cells are taken as they "
            "are, never trimmed.",
    .exits = {"done; what was asked about holds",
              "the property does not hold, or cannot be reached",
              "wrong usage, policy or data: the message says where, and what to do",
              "the machine failed (disk full, no memory, no permission), or the verifier "
              "disagreed"},
};

const cli_text *cli_common_text(void) { return &common; }

const char *cli_exit_meaning(const cli_command *command, unsigned status) {
  if (!command) return common.exits[status];
  if (status == 0) return command->means_zero ? command->means_zero : "done";
  if (status == 1) return command->means_one;
  if (status == 3 && command->bit != CLI_ANONYMIZE) /* the others write nothing to be verified */
    return "the machine failed (disk full, no memory, no permission)";
  return common.exits[status];
}

const cli_chapter *cli_policy_chapters(void) {
  static const cli_chapter chapters[] = {
      {"Keys", "What can stand in a policy, by its place in the file.", shoal_policy_keys},
      {"Hierarchies",
       "How a column's values are made coarser: the kinds of 'hierarchy' of an attribute.",
       shoal_hierarchy_kinds},
      {"Models",
       "What protection can be asked for, in 'privacy.models'. All that are asked for must hold "
       "together. Each may name an 'attribute'; without one, every sensitive attribute must "
       "satisfy it.",
       shoal_models},
      {"Algorithms",
       "How a release is made: 'method.algorithm'. Full-domain: one level of each hierarchy for "
       "the "
       "whole table. Local: each class by itself; a quasi-identifier of type number needs no "
       "hierarchy there.",
       shoal_algorithms},
      {"Preferences",
       "How to choose among the minimal nodes of a full-domain search: 'method.prefer', a list; "
       "the first decides, the next breaks ties.",
       shoal_preferences},
      {"Objectives",
       "What 'optimal' and 'flock' make least; 'weights' say which attributes count more.",
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
         "  ward:    {role: keep}          # released as it is\n"
         "privacy:\n"
         "  k: 3\n"
         "  p: 2\n"
         "method:\n"
         "  max-suppression: 5%\n";
}

static void print_paragraph(FILE *out, const char *text) {
  fputc('\n', out);
  cli_wrap(out, text, 0, 0);
}

/* A title, and its text in a column of its own: on the next line where the title is long. */
static void print_entry(FILE *out, const char *title, const char *text, size_t column) {
  size_t width = 2 + strlen(title);
  fprintf(out, "  %s", title);
  if (width + 2 > column) {
    fputc('\n', out);
    width = 0;
  }
  cli_wrap(out, text, column, width);
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
    print_entry(out, command->name, command->summary, 14);
}

void cli_help_usage(FILE *out) {
  fputs("usage: shoal COMMAND ...\n\n", out);
  print_commands(out);
  fputs("\nSee 'shoal --help', and 'shoal COMMAND --help' for a command.\n", out);
}

void cli_help_program(FILE *out) {
  fprintf(out, "shoal %s: ", SHOAL_VERSION);
  cli_wrap(out, common.summary, 0, strlen("shoal : " SHOAL_VERSION));
  fputs("\nUsage:\n"
        "  shoal COMMAND ...\n"
        "  shoal help COMMAND         what a command does, its options, examples\n"
        "  shoal help policy          what can stand in a policy\n"
        "  shoal --version\n",
        out);
  print_paragraph(out, common.purpose);
  fputs("\nCommands:\n", out);
  print_commands(out);
  fputs("\nA first release, step by step:\n"
        "  shoal profile patients.csv --policy-out policy.yaml\n"
        "  (read policy.yaml and correct it)\n"
        "  shoal check patients.csv -P policy.yaml\n"
        "  shoal anonymize patients.csv -P policy.yaml -o release.csv\n",
        out);
  print_options(out, CLI_EVERY_COMMAND);
  print_exits(out, NULL);
}

/* Names and summaries of a library table. */
static void print_entries(FILE *out, const shoal_entry *entry) {
  for (; entry->name; entry++) {
    const char *parameters = entry->parameters ? entry->parameters : "";
    fprintf(out, "  %s%s%s\n", entry->name, *parameters ? "  " : "", parameters);
    if (entry->summary) cli_wrap(out, entry->summary, 6, 0);
  }
}

void cli_help_command(FILE *out, const cli_command *command) {
  fprintf(out, "shoal %s: %s\n\nUsage:\n", command->name, command->summary);
  for (size_t i = 0; command->usages[i]; i++)
    fprintf(out, "  shoal %s %s\n", command->name, command->usages[i]);
  for (size_t i = 0; command->paragraphs[i]; i++) print_paragraph(out, command->paragraphs[i]);
  print_paragraph(out, common.data);
  print_options(out, command->bit);
  if (cli_option_of(command, CLI_ALGORITHM)) {
    fputs("\nAlgorithms:\n", out);
    print_entries(out, shoal_algorithms());
  }
  fputs("\nExamples:\n", out);
  for (const cli_example *example = command->examples; example->line; example++)
    fprintf(out, "  %s\n    shoal %s\n", example->purpose, example->line);
  print_exits(out, command);
}

void cli_help_policy(FILE *out) {
  cli_wrap(out,
           "A policy is a YAML file. Paths in it are relative to it. A column of the data that it "
           "does not name is an error, unless 'unlisted' says what to do with such columns. An "
           "example:",
           0, 0);
  fputc('\n', out);
  for (const char *line = cli_policy_example(); *line; line = strchr(line, '\n') + 1)
    fprintf(out, "  %.*s\n", (int)strcspn(line, "\n"), line);
  for (const cli_chapter *chapter = cli_policy_chapters(); chapter->title; chapter++) {
    fprintf(out, "\n%s: ", chapter->title);
    cli_wrap(out, chapter->intro, 0, strlen(chapter->title) + 2);
    print_entries(out, chapter->entries());
  }
}
