/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/options: accepts "--name=value", "--name value", "-k3", "-k 3", letters without arguments in
 * one word, and "--", after which every word is an operand. A file named like an option is written
 * "./--name" or after "--".
 *
 * A suggestion for a misspelled word is the one with the smallest edit distance, in which two
 * swapped letters count once (Damerau 1964). A prefix of a word counts as similar.
 */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/terminal.h"

enum { MAX_WORD = 48 };

enum {
  ON_RESULT = CLI_CHECK | CLI_CONDITIONS | CLI_ANONYMIZE | CLI_LATTICE | CLI_EXPLAIN | CLI_MEASURE |
              CLI_ATTACK,
  ON_POLICY = ON_RESULT | CLI_CERTIFY,
  ON_TABLE = ON_RESULT | CLI_PROFILE | CLI_HIERARCHY
};

static const cli_option table[] = {
    {CLI_POLICY, "policy", 'P', "POLICY", ON_POLICY | CLI_HIERARCHY | CLI_SERVE,
     "Policy: a YAML file with the role of each column and the required protection. See 'shoal "
     "help "
     "policy' or shoal-policy(5).",
     NULL},
    {CLI_OUTPUT, "output", 'o', "OUT", CLI_ANONYMIZE,
     "Output file of the release; '-' is standard output. Compressed if the name ends in .gz or "
     ".zst. Must not be the data or the policy. Or a database, with '--output-table'.",
     NULL},
    {CLI_OUTPUT, "output", 'o', "FILE", CLI_CERTIFY,
     "Output file of the certificate, an HTML page; '-' is standard output.", NULL},
    {CLI_OUTPUT, "output", 'o', "FILE",
     CLI_EVERY_COMMAND & ~(CLI_ANONYMIZE | CLI_CERTIFY | CLI_SERVE),
     "Output file of the result (default: '-', standard output).", NULL},
    {CLI_TABLE, "table", 0, "NAME", ON_TABLE,
     "Table to read, where DATA is a database ('sqlite:FILE' or 'postgresql://..'): NAME or "
     "SCHEMA.NAME, as SQL writes it. The same as DATA#NAME.",
     NULL},
    {CLI_QUERY, "query", 0, "SELECT", CLI_ANONYMIZE,
     "Query to read, where DATA is a database. It runs in a transaction that cannot write; with "
     "'--in-database', in the transaction that writes the release.",
     NULL},
    {CLI_QUERY, "query", 0, "SELECT", ON_TABLE & ~CLI_ANONYMIZE,
     "Query to read, where DATA is a database. It runs in a transaction that cannot write.", NULL},
    {CLI_OUTPUT_TABLE, "output-table", 0, "NAME", CLI_ANONYMIZE,
     "Table to write, where OUT is a database. It appears in one transaction, after it was "
     "verified.",
     NULL},
    {CLI_REPLACE, "replace", 0, NULL, CLI_ANONYMIZE,
     "Replace the output table if it exists; its rights and comments are kept.", NULL},
    {CLI_IN_DATABASE, "in-database", 0, NULL, CLI_ANONYMIZE,
     "Make the release inside PostgreSQL: only quasi-identifiers and sensitive values leave the "
     "server, as counted tuples. Labels are uniform.",
     NULL},
    {CLI_POLICY_OUT, "policy-out", 0, "FILE", CLI_PROFILE,
     "Write a commented starting policy to this file; review it before use. An existing file is "
     "replaced. With '-', print only the policy, to standard output.",
     NULL},
    {CLI_DECIDE, "decide", 0, "safe", CLI_PROFILE,
     "Write the policy with nothing left to decide: columns without evidence keep their safe role. "
     "Without '--policy-out', print the policy.",
     NULL},
    {CLI_PRESET, "preset", 0, "NAME", CLI_PROFILE,
     "Write the policy with the rules of 'public', 'research' or 'hipaa-safe-harbor'. Without "
     "'--policy-out', print the policy.",
     NULL},
    {CLI_COLUMN, "column", 0, "NAME", CLI_HIERARCHY,
     "build: column of the data whose values get a hierarchy.", NULL},
    {CLI_SPEC, "spec", 0, "SPEC", CLI_HIERARCHY,
     "build: hierarchy as in a policy, for example \"{intervals: [5, 10]}\".", NULL},
    {CLI_EXTERNAL, "external", 0, "FILE", CLI_ATTACK,
     "Table of identified people that an intruder may have. Its columns that are named like the "
     "policy's quasi-identifiers are linked with the release; others are not read.",
     NULL},
    {CLI_ORIGINAL, "original", 0, "FILE", CLI_ATTACK,
     "Table that the release was made from. Its rows are linked with the release. The intruder "
     "is assumed to know how frequent each of its values is.",
     NULL},
    {CLI_PREVIOUS, "previous", 0, "FILE ...", CLI_ATTACK,
     "Earlier release of an overlapping table. May be repeated.", NULL},
    {CLI_PREVIOUS, "previous", 0, "FILE ...", CLI_ANONYMIZE,
     "Earlier release of an overlapping table. A warning reports where both releases together "
     "violate the policy. May be repeated.",
     NULL},
    {CLI_BOUND, "bound", 0, "X", CLI_ATTACK,
     "Guesses with a probability above X (0 to 1) count against the release (default: alpha of "
     "alpha-k if the policy has it; otherwise guesses above 0.5 are reported only).",
     NULL},
    {CLI_RULE_OUT, "rule-out", 0, "M", CLI_ATTACK,
     "The intruder can exclude up to M sensitive values of a person (default: 2).", NULL},
    {CLI_KNOWS_RECORDS, "knows-records", 0, "N", CLI_ATTACK,
     "The intruder knows N records of a person (needs --original and an attribute of role "
     "person; default: no such attack).",
     NULL},
    {CLI_MIN_CATEGORIES, "min-categories", 0, "N", CLI_ATTACK,
     "The attack on categories succeeds on a class with fewer than N categories of sensitive "
     "values "
     "(default: 3).",
     NULL},
    {CLI_MU, "mu", 0, "X", CLI_ATTACK,
     "The attack on variance succeeds on a class with a variance below X times that of k different "
     "values, and counts against the release (default: the policy's mu; otherwise 0.6, reported "
     "only). Advanced; see docs/attacks.md.",
     NULL},
    {CLI_K, NULL, 'k', "N", ON_POLICY, "Minimum class size. Overrides the policy's k.", "k"},
    {CLI_P, NULL, 'p', "N", ON_POLICY,
     "Minimum number of distinct values of each sensitive column in each class. Overrides the "
     "policy's p.",
     "p"},
    {CLI_ALGORITHM, "algorithm", 0, "NAME", ON_POLICY,
     "Algorithm; 'auto' takes the better of flock and optimal and reports why. Overrides the "
     "policy's algorithm.",
     "algorithm"},
    {CLI_EFFORT, "effort", 0, "N", CLI_ANONYMIZE | CLI_CERTIFY,
     "How long flock and theta search: 1 to 1000 (default: 1). More effort takes longer and "
     "usually loses less information. Overrides the policy's "
     "effort.",
     "effort"},
    {CLI_MAX_SUPPRESSION, "max-suppression", 0, "N|N%", ON_POLICY,
     "Maximum number of suppressed rows, or share of the rows such as 1%. A share is rounded "
     "down: 1% of 60 rows is 0. Overrides the policy's "
     "max-suppression.",
     "max-suppression"},
    {CLI_PREFER, "prefer", 0, "NAME[,NAME..]", CLI_ANONYMIZE | CLI_LATTICE | CLI_CERTIFY,
     "How to choose among minimal nodes, most important first: preferences or names of "
     "quasi-identifiers; see 'shoal help policy'. Overrides the policy's prefer.",
     "prefer"},
    {CLI_POPULATION, "population", 0, "FILE", CLI_MEASURE,
     "Table of the population that the records come from, with quasi-identifiers as raw values. "
     "Adds the risk from an intruder who knows the population but not who is in the data.",
     NULL},
    {CLI_QUERIES, "queries", 0, "N", CLI_MEASURE,
     "Number of random COUNT queries to compare on both tables (default: 1000; 0: none).", NULL},
    {CLI_DIMENSIONS, "dimensions", 0, "N", CLI_MEASURE,
     "Number of quasi-identifiers in each query (default: 2).", NULL},
    {CLI_SELECTIVITY, "selectivity", 0, "F", CLI_MEASURE,
     "Share of the rows that a query selects, above 0 and at most 1 (default: 0.05).", NULL},
    {CLI_LEFT_OUT, "left-out", 0, "none|few|N", CLI_CERTIFY,
     "Number of suppressed rows, as the publisher states it: none, few (1 to max(k, 10) - 1), or a "
     "number, which is rounded down to a multiple of max(k, 10) and to two significant digits.",
     NULL},
    {CLI_TIME_LIMIT, "time-limit", 0, "SECONDS", CLI_ANONYMIZE,
     "End an 'optimal' search, also that of 'auto', after this time with the best node found. The "
     "report "
     "says whether it is proven optimal. Default: a bound on the work, the same on every machine.",
     NULL},
    {CLI_QUICK, "quick", 0, NULL, CLI_ANONYMIZE,
     "Compute no alternatives to the release. The release is the same.", NULL},
    {CLI_STRICT, "strict", 0, NULL, CLI_ANONYMIZE,
     "Refuse a release with a risk that the policy does not accept: exit status 1, and nothing is "
     "written. See 'accept' in shoal-policy(5).",
     NULL},
    {CLI_STRICT, "strict", 0, NULL, CLI_CHECK | CLI_MEASURE | CLI_ATTACK,
     "Exit status 1 also if the verdict is do-not-publish or a risk is not accepted by the "
     "policy.",
     NULL},
    {CLI_KEEP_ORDER, "keep-order", 0, NULL, CLI_ANONYMIZE,
     "Keep the rows in the order of the data (default: shuffled, because a known order can "
     "reveal who is who).",
     NULL},
    {CLI_FORMULAS, "formulas", 0, "keep|quote", CLI_ANONYMIZE | CLI_CERTIFY,
     "How cells that a spreadsheet would run as formulas are handled: 'keep' warns with the "
     "column's name, 'quote' puts an apostrophe before them. Overrides the policy's formulas.",
     "formulas"},
    {CLI_SEED, "seed", 0, "N", ON_POLICY,
     "Seed of every random choice: the same seed gives the same file. Overrides the policy's seed.",
     "seed"},
    {CLI_REPORT, "report", 0, "FILE.json", ON_RESULT, "Write the result to this file too, as JSON.",
     NULL},
    {CLI_HTML, "html", 0, "FILE.html",
     CLI_CHECK | CLI_ANONYMIZE | CLI_LATTICE | CLI_MEASURE | CLI_ATTACK,
     "Write an HTML report with charts to this file, for review and sign-off. For internal use: "
     "do not publish it, because it has statistics of the original table.",
     NULL},
    {CLI_CERTIFICATE, "certificate", 0, "FILE.html", CLI_ANONYMIZE,
     "Write the public certificate of the release to this file, an HTML page that may be published "
     "with it. Release and certificate are written together or not at all. See 'shoal help "
     "certificate'.",
     NULL},
    {CLI_MAPPING, "mapping", 0, "FILE.csv", CLI_ANONYMIZE,
     "Write what was done to each value and class to this file, as CSV (in local recoding: to each "
     "class). For internal use: do not "
     "publish it, because it has values of the original table. Only its owner may read it. Release "
     "and mapping are written together or not at all.",
     NULL},
    {CLI_FORMAT, "format", 0, "FORMAT", CLI_LATTICE,
     "Output format: text (default), json, csv, dot (Graphviz) or svg.", NULL},
    {CLI_MATRIX, "matrix", 0, NULL, CLI_LATTICE,
     "Print the distance vectors of all pairs of distinct tuples instead of the nodes: the lowest "
     "level of each quasi-identifier at which both have the same label. For small tables.",
     NULL},
    {CLI_PORT, "port", 0, "N", CLI_SERVE, "Port to listen on; 0 takes a free one (default: 0).",
     NULL},
    {CLI_NO_OPEN, "no-open", 0, NULL, CLI_SERVE, "Do not open the browser.", NULL},
    {CLI_IDLE_MINUTES, "idle-minutes", 0, "N", CLI_SERVE,
     "End after this many minutes without a request or job (default: 60); 0: never.", NULL},
    {CLI_JSON, "json", 0, NULL, CLI_EVERY_COMMAND & ~CLI_SERVE, "Print JSON instead of text.",
     NULL},
    {CLI_DELIMITER, "delimiter", 0, "C", CLI_EVERY_COMMAND & ~CLI_SERVE,
     "Field delimiter: one character, or 'tab' (default: detected).", NULL},
    {CLI_THREADS, "threads", 0, "N", CLI_EVERY_COMMAND & ~CLI_SERVE,
     "Number of threads, 1 to 64 (default: number of processors). Does not change the result.",
     NULL},
    {CLI_MEMORY, "memory", 0, "LIMIT", ON_POLICY,
     "Memory target, for example 500M or 2G (powers of 1,024). If the rows need more, only "
     "distinct "
     "rows are kept, and anonymize reads the file a second time. A full-domain release is the "
     "same; 'auto' makes only that. Requires data in a file.",
     NULL},
    {CLI_QUIET, "quiet", 'q', NULL, CLI_EVERY_COMMAND & ~CLI_SERVE,
     "No progress bar and no text output; see the exit status.", NULL},
    {CLI_HELP, "help", 'h', NULL, CLI_EVERY_COMMAND, "Print this help.", NULL},
    {CLI_VERSION, "version", 0, NULL, CLI_EVERY_COMMAND, "Print the version of shoal.", NULL},
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

/* The row of a name or a letter for `command`; `command` NULL: of any command. */
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

/* The state of the parser. */
typedef struct parser {
  const cli_command *command;
  char *const *words;
  int n_words;
  int at;
  cli_options *options;
  shoal_error *error;
} parser;

/* The option of the command that a misspelled one most likely means; `out`: 32 bytes. */
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

/* "--polcy", or an option of other commands. */
static shoal_status fail_unknown(const parser *r, const char *word) {
  const char *command = r->command->name, *name = word + strspn(word, "-");
  size_t length = strcspn(name, "=");
  int shown = (int)strcspn(word, "=");
  char title[32];
  const cli_option *elsewhere =
      word[1] == '-' ? find(NULL, name, length, 0) : find(NULL, NULL, 0, word[1]);
  if (elsewhere && !find(r->command, name, length, 0))
    return cli_fail(r->error, SHOAL_BAD_INPUT,
                    "'shoal %s' takes no option '%.*s'; see 'shoal %s --help'", command, shown,
                    word, command);
  const char *nearest = nearest_option(r->command, name, length, title);
  if (nearest)
    return cli_fail(r->error, SHOAL_BAD_INPUT,
                    "unknown option '%.*s'; did you mean '%s'? See 'shoal %s --help'", shown, word,
                    nearest, command);
  return cli_fail(r->error, SHOAL_BAD_INPUT, "unknown option '%.*s'; see 'shoal %s --help'", shown,
                  word, command);
}

/* "-" and "-5" are arguments. "--json" after "--policy" is an option: an argument is missing. */
static bool looks_like_option(const parser *r, const char *word) {
  if (word[0] != '-' || !word[1]) return false;
  if (word[1] == '-') return true;
  return !word[2] && find(r->command, NULL, 0, word[1]);
}

/* "FILE ...": may be repeated. */
static bool repeats(const cli_option *option) {
  size_t length = option->argument ? strlen(option->argument) : 0;
  return length > 3 && !strcmp(option->argument + length - 3, "...");
}

static shoal_status store_repeated(parser *r, const cli_option *option, const char *value) {
  char title[32];
  if (r->options->n_repeated == CLI_MAX_REPEATED)
    return cli_fail(r->error, SHOAL_BAD_INPUT,
                    "option '%s' is repeated too often; give it at most %d times",
                    cli_option_title(option, title), CLI_MAX_REPEATED);
  r->options->repeated[r->options->n_repeated++] = value;
  return SHOAL_OK;
}

static shoal_status store(parser *r, const cli_option *option, const char *value) {
  char title[32];
  if (repeats(option) && *value) return store_repeated(r, option, value);
  if (r->options->values[option->id])
    return cli_fail(r->error, SHOAL_BAD_INPUT, "option '%s' is given twice; give it once",
                    cli_option_title(option, title));
  if (option->argument && !*value)
    return cli_fail(r->error, SHOAL_BAD_INPUT, "option '%s' has an empty argument; give one",
                    cli_option_title(option, title));
  r->options->values[option->id] = value;
  return SHOAL_OK;
}

/* The argument is the next word. */
static shoal_status store_next(parser *r, const cli_option *option) {
  char title[32];
  if (r->at >= r->n_words || looks_like_option(r, r->words[r->at]))
    return cli_fail(r->error, SHOAL_BAD_INPUT, "option '%s' needs an argument: '%s %s'",
                    cli_option_title(option, title), title, option->argument);
  return store(r, option, r->words[r->at++]);
}

static shoal_status read_long(parser *r, const char *word) {
  const char *name = word + 2, *equals = strchr(name, '=');
  size_t length = equals ? (size_t)(equals - name) : strlen(name);
  const cli_option *option = find(r->command, name, length, 0);
  if (!option) return fail_unknown(r, word);
  if (option->argument) return equals ? store(r, option, equals + 1) : store_next(r, option);
  if (equals)
    return cli_fail(r->error, SHOAL_BAD_INPUT, "option '--%s' takes no argument; remove '%s'",
                    option->name, equals);
  return store(r, option, "");
}

static shoal_status read_letters(parser *r, const char *word) {
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

static shoal_status read_operand(parser *r, const char *word) {
  cli_options *options = r->options;
  if (!*word)
    return cli_fail(r->error, SHOAL_BAD_INPUT, "a file name is empty; see 'shoal %s --help'",
                    r->command->name);
  if (options->n_operands >= r->command->max_operands)
    return cli_fail(r->error, SHOAL_BAD_INPUT,
                    "unexpected '%s': 'shoal %s' takes %s; see 'shoal %s --help'", word,
                    r->command->name, r->command->operands, r->command->name);
  options->operands[options->n_operands++] = word;
  return SHOAL_OK;
}

static shoal_status check_complete(const parser *r) {
  const cli_command *command = r->command;
  if (r->options->n_operands < command->min_operands)
    return cli_fail(r->error, SHOAL_BAD_INPUT, "'shoal %s' needs %s; see 'shoal %s --help'",
                    command->name, command->operands, command->name);
  for (const cli_option *option = table; option->help; option++) {
    if (!(option->commands & command->bit) || !(command->required >> option->id & 1)) continue;
    if (r->options->values[option->id]) continue;
    char title[32] = {'-', option->letter};
    return cli_fail(r->error, SHOAL_BAD_INPUT,
                    "'shoal %s' needs the option '%s %s'; see 'shoal %s --help'", command->name,
                    option->letter ? title : cli_option_title(option, title), option->argument,
                    command->name);
  }
  return SHOAL_OK;
}

shoal_status cli_options_parse(const cli_command *command, int n_words, char *const *words,
                               cli_options *options, shoal_error *error) {
  *options = (cli_options){.n_operands = 0};
  parser r = {command, words, n_words, 0, options, error};
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

/* ---------------------------------------------------------------- suggestions */

static size_t minimum(size_t a, size_t b) { return a < b ? a : b; }

/* Needs three rows of the distance table: the current one and the two before it. */
static size_t edit_distance(const char *from, const char *to) {
  size_t rows[3][MAX_WORD + 1];
  size_t n_from = strlen(from), n_to = strlen(to);
  if (n_from > MAX_WORD || n_to > MAX_WORD) return SIZE_MAX;
  size_t *before = rows[0], *last = rows[1], *now = rows[2];
  for (size_t j = 0; j <= n_to; j++) before[j] = last[j] = j;
  for (size_t i = 1; i <= n_from; i++) {
    now[0] = i;
    for (size_t j = 1; j <= n_to; j++) {
      size_t changed = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      now[j] = minimum(changed, minimum(last[j], now[j - 1]) + 1);
      bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) now[j] = minimum(now[j], before[j - 2] + 1);
    }
    size_t *oldest = before;
    before = last;
    last = now;
    now = oldest;
  }
  return last[n_to];
}

const char *cli_nearest_word(const char *word, const char *const *words, size_t n) {
  size_t length = strlen(word);
  size_t best = length < 4 ? 2 : length / 3 + 2; /* the smallest distance that is too large */
  const char *nearest = NULL;
  for (size_t i = 0; i < n; i++) {
    size_t distance = edit_distance(word, words[i]);
    if (length >= 2 && !strncmp(word, words[i], length)) distance = 1;
    if (distance >= best) continue;
    best = distance;
    nearest = words[i];
  }
  return nearest;
}
