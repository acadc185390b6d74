/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/options: see options.h. Read are "--name=value", "--name value", "-k3", "-k 3", letters
 * without argument in one word, and "--", after which everything is an operand. A file named like
 * an option is written "./--name" or after "--".
 */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/words.h"

enum {
  ON_POLICY = CLI_CHECK | CLI_CONDITIONS | CLI_ANONYMIZE | CLI_LATTICE | CLI_EXPLAIN | CLI_MEASURE |
              CLI_ATTACK
};

static const cli_option table[] = {
    {CLI_POLICY, "policy", 'P', "POLICY", ON_POLICY | CLI_HIERARCHY,
     "The policy: a YAML file that says what each column is and what protection is asked for. "
     "See 'shoal help policy' or shoal-policy(5).",
     NULL},
    {CLI_OUTPUT, "output", 'o', "OUT", CLI_ANONYMIZE,
     "Where the masked table goes. '-' is standard output; a name that ends in .gz or .zst is "
     "compressed. It cannot be the data or the policy.",
     NULL},
    {CLI_OUTPUT, "output", 'o', "FILE", CLI_EVERY_COMMAND & ~CLI_ANONYMIZE,
     "Write the result to this file, not to standard output ('-').", NULL},
    {CLI_POLICY_OUT, "policy-out", 0, "FILE", CLI_PROFILE,
     "Also write a starting policy, with comments, to this file: read it, correct it, use it. "
     "With '-' only the policy is written, to standard output.",
     NULL},
    {CLI_COLUMN, "column", 0, "NAME", CLI_HIERARCHY,
     "build: the column of the data whose values get a hierarchy.", NULL},
    {CLI_SPEC, "spec", 0, "SPEC", CLI_HIERARCHY,
     "build: how to make it, written as in a policy, such as \"{intervals: [5, 10]}\".", NULL},
    {CLI_EXTERNAL, "external", 0, "FILE", CLI_ATTACK,
     "A table of people with names, as an intruder may have it: its columns named like the "
     "policy's quasi-identifiers are held against the release; others are not read.",
     NULL},
    {CLI_ORIGINAL, "original", 0, "FILE", CLI_ATTACK,
     "The table that the release was made from: everyone in it is held against the release, and "
     "values are compared with how common they are in it.",
     NULL},
    {CLI_PREVIOUS, "previous", 0, "FILE ...", CLI_ATTACK,
     "An earlier release of an overlapping table, that an intruder may have too. May be repeated.",
     NULL},
    {CLI_PREVIOUS, "previous", 0, "FILE ...", CLI_ANONYMIZE,
     "An earlier release of an overlapping table: a warning tells where the new release together "
     "with it breaks the policy. May be repeated.",
     NULL},
    {CLI_BOUND, "bound", 0, "X", CLI_ATTACK,
     "Guesses that are right with a probability above X, from 0 to 1, count against the release. "
     "Unless given, alpha-k's alpha where the policy has it, else guesses above 0.5 are only told.",
     NULL},
    {CLI_RULE_OUT, "rule-out", 0, "M", CLI_ATTACK,
     "The intruder can rule out 1, 2, .. M sensitive values of a person; 2 unless given.", NULL},
    {CLI_MIN_CATEGORIES, "min-categories", 0, "N", CLI_ATTACK,
     "A class with sensitive values of fewer than N categories falls; 3 unless given.", NULL},
    {CLI_MU, "mu", 0, "X", CLI_ATTACK,
     "A class falls whose variance is below X times that of k different values, and it counts "
     "against the release; the policy's mu unless given, else 0.6, only told.",
     NULL},
    {CLI_K, NULL, 'k', "N", ON_POLICY,
     "Every record must hide among at least N. Wins over the policy's k.", "k"},
    {CLI_P, NULL, 'p', "N", ON_POLICY,
     "In every group each sensitive column must have at least N different values. Wins over the "
     "policy's p.",
     "p"},
    {CLI_ALGORITHM, "algorithm", 0, "NAME", ON_POLICY,
     "How to search; 'auto' picks one and says why. Wins over the policy's algorithm.",
     "algorithm"},
    {CLI_EFFORT, "effort", 0, "N", CLI_ANONYMIZE,
     "Multiplies the search budget of flock, and of theta that starts from it: 1 (unless given) to "
     "1000. More takes longer and mostly loses less. Wins over the policy's effort.",
     "effort"},
    {CLI_MAX_SUPPRESSION, "max-suppression", 0, "N|N%", ON_POLICY,
     "At most so many rows may be left out: a number of rows, or a share such as 1%. Wins over "
     "the policy's max-suppression.",
     "max-suppression"},
    {CLI_POPULATION, "population", 0, "FILE", CLI_MEASURE,
     "A table of the people that the records may be of, with quasi-identifiers as raw values: then "
     "the risk is also told for an intruder who knows the population, but not who is in the data.",
     NULL},
    {CLI_QUERIES, "queries", 0, "N", CLI_MEASURE,
     "Ask N random COUNT queries of both tables and compare; 1000 unless given, 0 for none.", NULL},
    {CLI_DIMENSIONS, "dimensions", 0, "N", CLI_MEASURE,
     "Each query asks about N quasi-identifiers; 2 unless given.", NULL},
    {CLI_SELECTIVITY, "selectivity", 0, "F", CLI_MEASURE,
     "Each query is to select this share of the rows, above 0 and at most 1; 0.05 unless given.",
     NULL},
    {CLI_TIME_LIMIT, "time-limit", 0, "SECONDS", CLI_ANONYMIZE,
     "End an 'optimal' search then, with the best node found; the report says that it is not "
     "proven optimal. Lattices too large to be searched to the end need it.",
     NULL},
    {CLI_KEEP_ORDER, "keep-order", 0, NULL, ON_POLICY,
     "anonymize: keep the rows in the order of the data. Without it they are shuffled, since their "
     "order "
     "can link two releases.",
     NULL},
    {CLI_FORMULAS, "formulas", 0, "keep|quote", CLI_ANONYMIZE,
     "What becomes of released cells that a spreadsheet would run as a formula: they are kept, "
     "and told by column, or get an apostrophe before them. Wins over the policy's formulas.",
     "formulas"},
    {CLI_SEED, "seed", 0, "N", ON_POLICY,
     "A number that fixes every random choice: the same seed gives the same file. Wins over the "
     "policy's seed.",
     "seed"},
    {CLI_REPORT, "report", 0, "FILE.json", ON_POLICY,
     "Also write what was done and found, as JSON, to this file.", NULL},
    {CLI_HTML, "html", 0, "FILE.html",
     CLI_CHECK | CLI_ANONYMIZE | CLI_LATTICE | CLI_MEASURE | CLI_ATTACK,
     "Also write an internal report to this file, as one HTML page with pictures, to be read, "
     "signed and filed. It shows no numbers of people below k, but statistics of the original "
     "table: do not publish it.",
     NULL},
    {CLI_FORMAT, "format", 0, "FORMAT", CLI_LATTICE,
     "How to show the lattice: text (unless given), json, csv, dot (for Graphviz) or svg (a "
     "picture).",
     NULL},
    {CLI_JSON, "json", 0, NULL, CLI_EVERY_COMMAND,
     "Print JSON for programs instead of text for people.", NULL},
    {CLI_DELIMITER, "delimiter", 0, "C", CLI_EVERY_COMMAND,
     "The character between the data's cells, or 'tab'. It is found by itself unless given.", NULL},
    {CLI_THREADS, "threads", 0, "N", CLI_EVERY_COMMAND,
     "Work with N threads, 1 to 64; as many as the machine has unless given. The result does not "
     "depend on it.",
     NULL},
    {CLI_MEMORY, "memory", 0, "LIMIT", ON_POLICY,
     "Memory that should be enough, such as 500M or 2G (K, M, G: of 1,024). If the rows need more, "
     "distinct rows are counted instead, and anonymize reads the file a second time to write the "
     "release: it is the same, and needs memory for the distinct rows only. The data must be a "
     "file then, and the algorithm full-domain.",
     NULL},
    {CLI_QUIET, "quiet", 'q', NULL, CLI_EVERY_COMMAND,
     "Show no progress bar and no text; the exit status tells.", NULL},
    {CLI_HELP, "help", 'h', NULL, CLI_EVERY_COMMAND, "Show this help.", NULL},
    {CLI_VERSION, "version", 0, NULL, CLI_EVERY_COMMAND, "Show shoal's version.", NULL},
    {.help = NULL},
};

const cli_option *cli_option_table(void) { return table; }

const char *cli_option_title(const cli_option *option, char *out) {
  if (option->name) (void)snprintf(out, 32, "--%s", option->name);
  else (void)snprintf(out, 32, "-%c", option->letter);
  return out;
}

const cli_option *cli_option_of(const cli_command *command, cli_option_id id) {
  for (const cli_option *option = table; option->help; option++)
    if (option->id == id && option->commands & command->bit) return option;
  return NULL;
}

/* The row that `command` has for a name or a letter; `command` NULL: any command's. */
static const cli_option *find(const cli_command *command, const char *name, size_t length,
                              char letter) {
  for (const cli_option *option = table; option->help; option++) {
    if (command && !(option->commands & command->bit)) continue;
    if (letter && option->letter == letter) return option;
    if (name && option->name && strlen(option->name) == length &&
        !strncmp(option->name, name, length))
      return option;
  }
  return NULL;
}

/* The words of a command line still to be read. */
typedef struct reader {
  const cli_command *command;
  char *const *words;
  int n_words;
  int at;
  cli_options *options;
  shoal_error *error;
} reader;

/* The option of the command that an unknown one was most likely meant to be; `out`: 32 bytes. */
static const char *nearest_option(const cli_command *command, const char *name, size_t length,
                                  char *out) {
  char titles[CLI_N_OPTIONS][32], wanted[40];
  const char *candidates[CLI_N_OPTIONS];
  size_t n = 0;
  if (length == 1) { /* "--k" */
    const cli_option *letter = find(command, NULL, 0, name[0]);
    (void)snprintf(out, 32, "-%c", name[0]);
    return letter ? out : NULL;
  }
  for (const cli_option *option = table; option->help; option++) {
    if (!(option->commands & command->bit) || n == CLI_N_OPTIONS) continue;
    candidates[n] = cli_option_title(option, titles[n]);
    n++;
  }
  (void)snprintf(wanted, sizeof wanted, "--%.*s", (int)(length < 32 ? length : 32), name);
  const char *nearest = cli_nearest_word(wanted, candidates, n);
  if (nearest) (void)snprintf(out, 32, "%s", nearest);
  return nearest ? out : NULL;
}

/* "--polcy", or an option that only other commands take. */
static shoal_status fail_unknown(const reader *r, const char *word) {
  const char *command = r->command->name, *name = word + strspn(word, "-");
  size_t length = strcspn(name, "=");
  int shown = (int)strcspn(word, "=");
  char title[32];
  const cli_option *elsewhere =
      word[1] == '-' ? find(NULL, name, length, 0) : find(NULL, NULL, 0, word[1]);
  if (elsewhere && !find(r->command, name, length, 0))
    return cli_fail(r->error, SHOAL_BAD_INPUT,
                    "'shoal %s' takes no option '%.*s': see 'shoal %s --help'", command, shown,
                    word, command);
  const char *nearest = nearest_option(r->command, name, length, title);
  if (nearest)
    return cli_fail(r->error, SHOAL_BAD_INPUT,
                    "unknown option '%.*s', did you mean '%s'? See 'shoal %s --help'", shown, word,
                    nearest, command);
  return cli_fail(r->error, SHOAL_BAD_INPUT, "unknown option '%.*s': see 'shoal %s --help'", shown,
                  word, command);
}

/* "-" and "-5" are arguments like others; "--json" after "--policy" is a forgotten argument. */
static bool looks_like_option(const reader *r, const char *word) {
  if (word[0] != '-' || !word[1]) return false;
  if (word[1] == '-') return true;
  return !word[2] && find(r->command, NULL, 0, word[1]);
}

/* "FILE ...": it may be given several times. */
static bool repeats(const cli_option *option) {
  size_t length = option->argument ? strlen(option->argument) : 0;
  return length > 3 && !strcmp(option->argument + length - 3, "...");
}

static shoal_status store_repeated(reader *r, const cli_option *option, const char *value) {
  char title[32];
  if (r->options->n_repeated == CLI_MAX_REPEATED)
    return cli_fail(r->error, SHOAL_BAD_INPUT, "option '%s' is given more than %d times",
                    cli_option_title(option, title), CLI_MAX_REPEATED);
  r->options->repeated[r->options->n_repeated++] = value;
  return SHOAL_OK;
}

static shoal_status store(reader *r, const cli_option *option, const char *value) {
  char title[32];
  if (repeats(option) && *value) return store_repeated(r, option, value);
  if (r->options->values[option->id])
    return cli_fail(r->error, SHOAL_BAD_INPUT, "option '%s' is given twice: give it once",
                    cli_option_title(option, title));
  if (option->argument && !*value)
    return cli_fail(r->error, SHOAL_BAD_INPUT,
                    "option '%s' needs an argument %s: it is empty; give one",
                    cli_option_title(option, title), option->argument);
  r->options->values[option->id] = value;
  return SHOAL_OK;
}

/* The argument is the next word. */
static shoal_status store_next(reader *r, const cli_option *option) {
  char title[32];
  if (r->at >= r->n_words || looks_like_option(r, r->words[r->at]))
    return cli_fail(r->error, SHOAL_BAD_INPUT, "option '%s' needs an argument: '%s %s'",
                    cli_option_title(option, title), title, option->argument);
  return store(r, option, r->words[r->at++]);
}

static shoal_status read_long(reader *r, const char *word) {
  const char *name = word + 2, *equals = strchr(name, '=');
  size_t length = equals ? (size_t)(equals - name) : strlen(name);
  const cli_option *option = find(r->command, name, length, 0);
  if (!option) return fail_unknown(r, word);
  if (option->argument) return equals ? store(r, option, equals + 1) : store_next(r, option);
  if (equals)
    return cli_fail(r->error, SHOAL_BAD_INPUT, "option '--%s' takes no argument: leave out '%s'",
                    option->name, equals);
  return store(r, option, "");
}

static shoal_status read_letters(reader *r, const char *word) {
  if (word[2] && find(r->command, word + 1, strcspn(word + 1, "="), 0))
    return fail_unknown(r, word); /* "-json" */
  for (const char *letter = word + 1; *letter; letter++) {
    const cli_option *option = find(r->command, NULL, 0, *letter);
    if (!option) return fail_unknown(r, (const char[]){'-', *letter, '\0'});
    if (option->argument) return letter[1] ? store(r, option, letter + 1) : store_next(r, option);
    shoal_status status = store(r, option, "");
    if (status != SHOAL_OK) return status;
  }
  return SHOAL_OK;
}

static shoal_status read_operand(reader *r, const char *word) {
  cli_options *options = r->options;
  if (!*word)
    return cli_fail(r->error, SHOAL_BAD_INPUT, "an empty file name: see 'shoal %s --help'",
                    r->command->name);
  if (options->n_operands >= r->command->max_operands)
    return cli_fail(r->error, SHOAL_BAD_INPUT,
                    "'%s' is one name too many: 'shoal %s' takes %s; see 'shoal %s --help'", word,
                    r->command->name, r->command->operands, r->command->name);
  options->operands[options->n_operands++] = word;
  return SHOAL_OK;
}

static shoal_status check_complete(const reader *r) {
  const cli_command *command = r->command;
  if (r->options->n_operands < command->min_operands)
    return cli_fail(r->error, SHOAL_BAD_INPUT, "'shoal %s' needs %s: see 'shoal %s --help'",
                    command->name, command->operands, command->name);
  for (const cli_option *option = table; option->help; option++) {
    if (!(option->commands & command->bit) || !(command->required >> option->id & 1)) continue;
    if (!r->options->values[option->id])
      return cli_fail(r->error, SHOAL_BAD_INPUT,
                      "'shoal %s' needs the option '-%c %s': see 'shoal %s --help'", command->name,
                      option->letter, option->argument, command->name);
  }
  return SHOAL_OK;
}

shoal_status cli_options_parse(const cli_command *command, int n_words, char *const *words,
                               cli_options *options, shoal_error *error) {
  *options = (cli_options){.n_operands = 0};
  reader r = {command, words, n_words, 0, options, error};
  bool only_operands = false;
  while (r.at < n_words) {
    const char *word = words[r.at++];
    shoal_status status = SHOAL_OK;
    if (only_operands || word[0] != '-' || !word[1]) status = read_operand(&r, word);
    else if (!strcmp(word, "--")) only_operands = true;
    else status = word[1] == '-' ? read_long(&r, word) : read_letters(&r, word);
    if (status != SHOAL_OK) return status;
    if (options->values[CLI_HELP] || options->values[CLI_VERSION]) return SHOAL_OK;
  }
  return check_complete(&r);
}
