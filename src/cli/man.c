/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/man: writes mdoc(7). Text is escaped and wrapped, and each sentence starts a new line, as man
 * page checkers require.
 */

#include <ctype.h>
#include <string.h>

#include "cli/help.h"

static const char MAN_DATE[] = "November 15, 2026"; /* of the release that SHOAL_VERSION names */

enum { SOURCE_COLUMNS = 70 }; /* before escaping */

/* Escapes bytes that roff interprets. A '-' outside of a word becomes a minus, which can be copied.
 */
static void put_escaped(FILE *out, const char *text, size_t size, bool literal) {
  for (size_t i = 0; i < size; i++) {
    bool inside = i > 0 && i + 1 < size && isalnum((unsigned char)text[i - 1]) &&
                  isalnum((unsigned char)text[i + 1]);
    switch (text[i]) {
    case '\\': fputs("\\e", out); break;
    case '\'': fputs("\\(aq", out); break;
    case '"': fputs("\\(dq", out); break;
    case '-': fputs(inside && !literal ? "-" : "\\-", out); break;
    default: fputc(text[i], out);
    }
  }
}

/* One argument of a macro, escaped so that it is neither a macro nor punctuation. */
static void put_argument(FILE *out, const char *text, size_t size) {
  fputs(" \"\\&", out);
  put_escaped(out, text, size, true);
  fputc('"', out);
}

static bool ends_sentence(const char *word, size_t size) {
  return size > 1 && strchr(".?!", word[size - 1]) && word[size - 2] != '.';
}

/* Lines of text; none is empty. */
static void put_text(FILE *out, const char *text) {
  size_t column = 0;
  for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
    size_t size = strcspn(text, " ");
    if (column && column + 1 + size > SOURCE_COLUMNS) {
      fputc('\n', out);
      column = 0;
    }
    if (column) fputc(' ', out);
    if (!column && *text == '.') fputs("\\&", out);
    bool page = memchr(text + 1, '(', size - 1) != NULL; /* do not break "shoal-policy(5)" */
    put_escaped(out, text, size, page);
    column += size + 1;
    if (ends_sentence(text, size) && text[size]) {
      fputc('\n', out);
      column = 0;
    }
    text += size;
  }
  fputc('\n', out);
}

static void put_head(FILE *out, const char *page, int section, const char *summary) {
  char upper[64];
  size_t size = 0;
  for (; page[size] && size + 1 < sizeof upper; size++)
    upper[size] = (char)toupper((unsigned char)page[size]);
  upper[size] = '\0';
  fprintf(out, ".\\\" Written by mkman from the tables of shoal: do not edit.\n");
  fprintf(out, ".Dd %s\n.Dt %s %d\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", MAN_DATE, upper, section, page);
  put_escaped(out, summary, strlen(summary), false);
  fputc('\n', out);
}

/* "DATA -P POLICY [--format FORMAT]": one line for each group; an option stays with its argument.
 */
static void put_usage(FILE *out, const cli_command *command, const char *usage) {
  fputs(".Nm shoal Cm", out);
  put_argument(out, command->name, strlen(command->name));
  bool in_brackets = false, after_flag = false;
  while (*usage) {
    if (*usage == '[') {
      fputs("\n.Op ", out);
      in_brackets = true;
      usage++;
    } else {
      fputs(in_brackets || after_flag ? " " : "\n.", out);
    }
    size_t size = strcspn(usage, " ]");
    /* One word of a usage line with its macro: -o, build, DATA. */
    bool flag = usage[0] == '-', lower = islower((unsigned char)usage[0]);
    fputs(flag ? "Fl" : lower ? "Cm" : "Ar", out);
    put_argument(out, usage + (flag ? 1 : 0), size - (flag ? 1 : 0));
    after_flag = *usage == '-';
    usage += size;
    if (*usage == ']') {
      in_brackets = after_flag = false;
      usage++;
    }
    usage += strspn(usage, " ");
  }
  fputc('\n', out);
}

static void put_options(FILE *out, unsigned commands) {
  fputs(".Bl -tag -width Ds\n", out);
  for (const cli_option *option = cli_option_table(); option->help; option++) {
    if ((option->commands & commands) != commands) continue;
    fputs(".It", out);
    if (option->letter) fprintf(out, " Fl %c", option->letter);
    if (option->letter && option->name) fputs(" ,", out);
    if (option->name) fprintf(out, " Fl \\-%s", option->name);
    if (option->argument) {
      fputs(" Ar", out);
      put_argument(out, option->argument, strlen(option->argument));
    }
    fputc('\n', out);
    put_text(out, option->help);
  }
  fputs(".El\n", out);
}

static void put_exits(FILE *out, const cli_command *command) {
  fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n", out);
  for (unsigned status = 0; status < 4; status++) {
    const char *meaning = cli_exit_meaning(command, status);
    if (!meaning) continue;
    fprintf(out, ".It %u\n", status);
    put_text(out, meaning);
  }
  fputs(".El\n", out);
  if (command) return;
  fputs(".Pp\n", out);
  put_text(out,
           "A run that is stopped by a signal ends by that signal. After a failure, no partial "
           "file exists under the output name.");
}

static void put_literal(FILE *out, const char *lines) {
  fputs(".Bd -literal -offset indent\n", out);
  while (*lines) {
    size_t size = strcspn(lines, "\n");
    if (*lines == '.' || *lines == '\'') fputs("\\&", out);
    put_escaped(out, lines, size, true);
    fputc('\n', out);
    lines += size + (lines[size] == '\n');
  }
  fputs(".Ed\n", out);
}

/* The next command after `name` in alphabetical order, or NULL. */
static const char *next_command(const char *name) {
  const char *next = NULL;
  for (const cli_command *command = cli_command_table(); command->name; command++)
    if (strcmp(command->name, name) > 0 && (!next || strcmp(command->name, next) < 0))
      next = command->name;
  return next;
}

static void put_reference(FILE *out, const char *prefix, const char *name, int section,
                          bool *first) {
  fprintf(out, "%s.Xr %s%s %d", *first ? "" : " ,\n", prefix, name, section);
  *first = false;
}

static void put_see_also(FILE *out, const char *self) {
  bool first = true;
  fputs(".Sh SEE ALSO\n", out);
  if (strcmp(self, "shoal") != 0) put_reference(out, "", "shoal", 1, &first);
  for (const char *name = next_command(""); name; name = next_command(name))
    if (strcmp(self, name) != 0) put_reference(out, "shoal-", name, 1, &first);
  if (strcmp(self, "policy") != 0) put_reference(out, "shoal-", "policy", 5, &first);
  fputc('\n', out);
}

void cli_man_program(FILE *out) {
  const cli_text *text = cli_common_text();
  put_head(out, "shoal", 1, text->summary);
  fputs(".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTION ...\n"
        ".Nm\n.Cm help\n.Op Ar COMMAND | Cm policy\n.Nm\n.Fl \\-version\n"
        ".Sh DESCRIPTION\n",
        out);
  put_text(out, text->purpose);
  fputs(".Pp\n", out);
  put_text(out, text->data);
  fputs(".Sh COMMANDS\nEach command has its own page, such as\n.Xr shoal-check 1 .\n"
        ".Bl -tag -width conditions\n",
        out);
  for (const cli_command *command = cli_command_table(); command->name; command++) {
    fprintf(out, ".It Cm %s\n", command->name);
    put_text(out, command->summary);
  }
  fputs(".El\n.Sh OPTIONS\nEvery command takes these:\n", out);
  put_options(out, CLI_EVERY_COMMAND);
  put_exits(out, NULL);
  fputs(".Sh EXAMPLES\n", out);
  put_text(out, "Quick start. Review the roles in policy.yaml after the first command. Read the "
                "verdict of the second, and remove or accept each open risk before the third.");
  put_literal(out, "shoal profile patients.csv --decide safe --policy-out policy.yaml\n"
                   "shoal anonymize patients.csv -P policy.yaml -o release.csv\n"
                   "shoal anonymize patients.csv -P policy.yaml -o release.csv --strict "
                   "--certificate certificate.html --html review.html\n"
                   "shoal check release.csv -P policy.yaml\n");
  put_see_also(out, "shoal");
}

static void put_entries(FILE *out, const shoal_entry *entry) {
  fputs(".Bl -tag -width Ds\n", out);
  for (; entry->name; entry++) {
    fputs(".It Cm", out);
    put_argument(out, entry->name, strlen(entry->name));
    if (entry->parameters && *entry->parameters) {
      fputs(" Ar", out);
      put_argument(out, entry->parameters, strlen(entry->parameters));
    }
    fputc('\n', out);
    if (entry->summary) put_text(out, entry->summary);
  }
  fputs(".El\n", out);
}

void cli_man_command(FILE *out, const cli_command *command) {
  char page[64];
  (void)snprintf(page, sizeof page, "shoal-%s", command->name);
  put_head(out, page, 1, command->summary);
  fputs(".Sh SYNOPSIS\n", out);
  for (size_t i = 0; command->usages[i]; i++) put_usage(out, command, command->usages[i]);
  fputs(".Sh DESCRIPTION\n", out);
  for (size_t i = 0; command->paragraphs[i]; i++) {
    put_text(out, command->paragraphs[i]);
    fputs(".Pp\n", out);
  }
  put_text(out, cli_common_text()->data);
  fputs(".Pp\nThe options are:\n", out);
  put_options(out, command->bit);
  if (cli_option_of(command, CLI_ALGORITHM)) {
    fputs(".Pp\nThe algorithms are:\n", out);
    put_entries(out, shoal_algorithms());
  }
  put_exits(out, command);
  fputs(".Sh EXAMPLES\n", out);
  put_text(out, "With the files in examples/hospital:");
  for (const cli_example *example = command->examples; example->line; example++) {
    char line[256];
    fputs(".Pp\n", out);
    put_text(out, example->purpose);
    (void)snprintf(line, sizeof line, "shoal %s\n", example->line);
    put_literal(out, line);
  }
  put_see_also(out, command->name);
}

void cli_man_policy(FILE *out) {
  put_head(out, "shoal-policy", 5, "roles of columns and required protection");
  fputs(".Sh DESCRIPTION\n", out);
  put_text(out,
           "A policy is a YAML file that the option -P names. It has the role of every column of "
           "the data, the models that a release must satisfy, and the method. Paths in it "
           "are relative to its directory. Options on the command line override it.");
  for (const cli_chapter *chapter = cli_policy_chapters(); chapter->title; chapter++) {
    fputs(".Sh ", out);
    for (const char *c = chapter->title; *c; c++) fputc(toupper((unsigned char)*c), out);
    fputc('\n', out);
    put_text(out, chapter->intro);
    put_entries(out, chapter->entries());
  }
  fputs(".Sh EXAMPLES\n", out);
  put_text(out, "A small policy with every role:");
  put_literal(out, cli_policy_example());
  put_see_also(out, "policy");
}
