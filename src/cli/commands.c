/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/commands: see commands.h. The words are for a data steward: what a command does for the
 * people in the table, not how it is built.
 */
#include "cli/commands.h"

#include <string.h>

#include "cli/words.h"

enum { NEEDS_POLICY = 1 << CLI_POLICY, NEEDS_OUTPUT = 1 << CLI_OUTPUT };

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define EXAMPLES(...) ((const cli_example[]){__VA_ARGS__, {NULL, NULL}})

static const char DATA_FILE[] = "one DATA file ('-' is standard input)";

static const cli_command table[] = {
    {.name = "profile",
     .bit = CLI_PROFILE,
     .usages = LIST("DATA [--policy-out FILE] [OPTION ...]"),
     .summary = "look at a table and suggest how to protect it",
     .paragraphs =
         LIST("For every column of DATA: its type, how many different values it has, how many are "
              "missing, and how many rows it singles out. From that a role is suggested (names "
              "the person, helps to find the person, is sensitive, or neither) and a hierarchy to "
              "generalize by.",
              "The suggestions are guesses from the numbers. Who knows what about the people in "
              "the table only you can tell: read the suggested policy line by line before use."),
     .examples = EXAMPLES(
         {"See what is in the table:", "profile patients.csv"},
         {"And write a policy to start from:", "profile patients.csv --policy-out policy.yaml"}),
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .run = cli_profile},
    {.name = "check",
     .bit = CLI_CHECK,
     .usages = LIST("DATA -P POLICY [OPTION ...]"),
     .summary = "tell whether a table, as it stands, satisfies the policy",
     .paragraphs =
         LIST("For each model of the policy: what is asked for, what is reached, how many groups "
              "and rows break it, and the worst groups. DATA may be raw data or a release, "
              "whoever made it: in a release the identifiers may be gone, and cells may be labels "
              "of the hierarchies.",
              "The table is read and nothing is changed."),
     .examples = EXAMPLES(
         {"How far off is the raw data?", "check patients.csv -P policy.yaml"},
         {"Would the release do for k = 5 as well?", "check release.csv -P policy.yaml -k 5"}),
     .means_zero = "the table satisfies the policy",
     .means_one = "the table does not satisfy the policy",
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY,
     .run = cli_check},
    {.name = "conditions",
     .bit = CLI_CONDITIONS,
     .usages = LIST("DATA -P POLICY [-p N] [OPTION ...]"),
     .summary = "tell what p the data can reach, and in how many groups at most",
     .paragraphs =
         LIST("The necessary conditions for p-sensitive data, found by counting and without any "
              "search: the largest p that the sensitive columns allow at all, and the largest "
              "number of groups that a release with the policy's p can have.",
              "If p is larger than the largest possible, no release exists. If only few groups "
              "are possible, every release will be coarse: think about a smaller p."),
     .examples = EXAMPLES({"For the policy's p:", "conditions patients.csv -P policy.yaml"},
                          {"For another p:", "conditions patients.csv -P policy.yaml -p 3"}),
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY,
     .run = cli_conditions},
    {.name = "anonymize",
     .bit = CLI_ANONYMIZE,
     .usages = LIST("DATA -P POLICY -o OUT [OPTION ...]"),
     .summary = "make a table that is safe to release",
     .paragraphs =
         LIST("Writes OUT, a masked copy of DATA that satisfies every model of the policy. "
              "Identifiers are left out. Quasi-identifiers, by which a person could be found, are "
              "made coarser along their hierarchies, no more than needed; rows that would still "
              "stand out may be left out, if the policy allows it. Sensitive columns and those to "
              "be kept are untouched.",
              "What was written is read again and checked by a second, independent part of the "
              "program before it gets its name. If the policy cannot be met, or anything fails, no "
              "file is written, and a file that stood under that name is still there.",
              "A summary of what was done, reached and lost is printed on standard output (on "
              "standard error with '-o -')."),
     .examples = EXAMPLES({"The main job:", "anonymize patients.csv -P policy.yaml -o release.csv"},
                          {"A compressed release, and a report to file with it:",
                           "anonymize patients.csv -P policy.yaml -o out.csv.gz --report out.json"},
                          {"Stricter than the policy: groups of at least 5:",
                           "anonymize patients.csv -P policy.yaml -o release.csv -k 5"},
                          {"Each class by itself (local recoding):",
                           "anonymize patients.csv -P local.yaml -o release.csv"}),
     .means_one = "no release satisfies the policy; the message says why",
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY | NEEDS_OUTPUT,
     .run = cli_anonymize},
    {.name = "lattice",
     .bit = CLI_LATTICE,
     .usages = LIST("DATA -P POLICY [--format FORMAT] [OPTION ...]"),
     .summary = "show every way to generalize the table, and which ones are enough",
     .paragraphs =
         LIST("A node is one choice of a level for each quasi-identifier: from all values as they "
              "are to everything hidden. For every node: how many rows would have to be left out, "
              "how many groups remain, whether it satisfies the policy, and whether it is minimal "
              "(no finer node does). Then the node that each preference would take.",
              "Use it to see what a stricter policy would cost before deciding on one."),
     .examples = EXAMPLES({"The nodes as a list:", "lattice patients.csv -P policy.yaml"},
                          {"The nodes as a picture:",
                           "lattice patients.csv -P policy.yaml --format svg -o lattice.svg"}),
     .means_zero = "some node satisfies the policy",
     .means_one = "no node satisfies the policy (all are listed nevertheless)",
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY,
     .run = cli_lattice},
    {.name = "measure",
     .bit = CLI_MEASURE,
     .usages = LIST("ORIGINAL MASKED -P POLICY [--population FILE] [OPTION ...]"),
     .summary = "tell what a release is still good for, and what it still risks",
     .paragraphs =
         LIST("MASKED is a release of ORIGINAL, whoever made it. Utility: how much of each column "
              "is lost, by the measures of the papers and of the field; how distributions, "
              "associations and the answers to random queries changed. Risk: how many people each "
              "record hides among, before and after, against known thresholds, and what groups "
              "tell of sensitive values.",
              "Cells of the release may be values, labels of the policy's hierarchies of any "
              "level, intervals such as [20-30], 20-30 or >=40, prefixes such as 4310*, and stars. "
              "Rows are not matched with rows: their order, and who is missing, does not matter.",
              "Both tables are read and nothing is changed. No value of the original is shown, and "
              "no count below the policy's k. What each number means: docs/measures.md."),
     .examples =
         EXAMPLES({"What did the release cost, and what does it risk?",
                   "measure patients.csv release.csv -P policy.yaml"},
                  {"For an intruder who knows the town, but not who was a patient:",
                   "measure patients.csv release.csv -P policy.yaml --population town.csv"},
                  {"For programs:", "measure patients.csv release.csv -P policy.yaml --json"}),
     .operands = "two files, ORIGINAL and MASKED ('-' is standard input)",
     .min_operands = 2,
     .max_operands = 2,
     .required = NEEDS_POLICY,
     .run = cli_measure},
    {.name = "explain",
     .bit = CLI_EXPLAIN,
     .usages = LIST("DATA -P POLICY [OPTION ...]"),
     .summary = "tell why a policy cannot be met or costs much, and what would help",
     .paragraphs =
         LIST("Whether the policy can be met by generalizing whole columns, and how coarse the "
              "table must become; which demand, which sensitive column and which "
              "quasi-identifier makes it so; and which groups of people stand out, told by their "
              "coarser labels and never by their values.",
              "Then the smallest changes, each by itself: the largest k, the largest p and the "
              "fewest rows left out with which the policy can be met or the table stays one step "
              "finer. Each of them was tried on the data.",
              "The table is read and nothing is changed. Weaker protection is a decision for "
              "people: the program tells what it would buy."),
     .examples = EXAMPLES({"Why is the release so coarse?", "explain patients.csv -P policy.yaml"},
                          {"What would k = 10 take?", "explain patients.csv -P policy.yaml -k 10"}),
     .means_zero = "the policy can be met",
     .means_one = "the policy cannot be met (the result says why)",
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY,
     .run = cli_explain},
    {.name = "attack",
     .bit = CLI_ATTACK,
     .usages = LIST("MASKED -P POLICY [--external FILE] [--original FILE] [--previous FILE ...] "
                    "[OPTION ...]"),
     .summary = "tell what an intruder learns from a release",
     .paragraphs =
         LIST("Plays the intruder against MASKED, a release, whoever made it, each time with "
              "knowledge that is stated: linking with a table of people, one value in a whole "
              "group (homogeneity), values ruled out (background knowledge), values under one "
              "protected node (similarity), groups unlike the table (skewness), few categories, "
              "low variance, earlier releases of the same people, rows in the same order. For each "
              "attack: rows re-identified, rows whose sensitive value is learnt for certain, rows "
              "whose value is guessed with a probability above a bound, and some groups as "
              "examples, by labels that stand for several values and never by a raw value; people "
              "of other tables by their row.",
              "An attack counts against the release where the policy or an option asks for "
              "protection against it: linking, homogeneity and earlier releases always; values "
              "ruled out while the policy's p promises more; similarity with 'protect', few "
              "categories with 'categories', low variance with theta-sensitive or '--mu', guesses "
              "and skewness with alpha-k or '--bound'. Others are told. That a release is minimal "
              "is a risk too ('slack' in the policy answers it): it is told, not played."),
     .examples = EXAMPLES(
         {"What do the groups give away?", "attack release.csv -P policy.yaml"},
         {"With a voter list, and everyone's own row:",
          "attack release.csv -P policy.yaml --external voters.csv --original patients.csv"},
         {"Together with last year's release:",
          "attack release.csv -P policy.yaml --previous last-year.csv"}),
     .means_zero = "no attack gets further than the policy allows",
     .means_one = "some attack does (the result says which)",
     .operands = "one MASKED file ('-' is standard input)",
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY,
     .run = cli_attack},
    {.name = "hierarchy",
     .bit = CLI_HIERARCHY,
     .usages = LIST("build DATA --column NAME --spec SPEC [-o FILE]", "check FILE.csv",
                    "check -P POLICY [ATTRIBUTE] [DATA]", "show FILE.csv",
                    "show -P POLICY [ATTRIBUTE] [DATA]"),
     .summary = "make, check and draw hierarchies",
     .paragraphs =
         LIST("A hierarchy says how a value is made coarser, step by step: 34, then [30-39], then "
              "'*' for anything. As a file it has a row for each value: value;level1;...;top.",
              "'build' makes such a file from a column's values, to be read and edited by hand. "
              "'check' tells whether a hierarchy is sound: every value has one parent, and all "
              "end in one top. 'show' draws it as a tree.",
              "With a policy, 'check' and 'show' take the hierarchy of one attribute, or of all. "
              "With DATA, every value of the data must be in it. A single name after the policy "
              "is DATA if there is such a file, else an attribute."),
     .examples = EXAMPLES({"Ages in steps of 5 and 10 years, to be edited:",
                           "hierarchy build patients.csv --column age --spec "
                           "\"{intervals: [5, 10]}\""},
                          {"Is this file sound?", "hierarchy check marital.csv"},
                          {"And does it have every value of the data?",
                           "hierarchy check -P policy.yaml marital patients.csv"},
                          {"Draw it:", "hierarchy show marital.csv"}),
     .operands = "build, check or show, and at most two names",
     .min_operands = 1,
     .max_operands = 3,
     .run = cli_hierarchy},
    {.name = NULL},
};

const cli_command *cli_command_table(void) { return table; }

shoal_status cli_command_find(const char *name, const cli_command **command, shoal_error *error) {
  enum { N_COMMANDS = sizeof table / sizeof *table - 1 };
  const char *names[N_COMMANDS];
  for (size_t i = 0; i < N_COMMANDS; i++) {
    names[i] = table[i].name;
    if (strcmp(name, names[i]) != 0) continue;
    *command = &table[i];
    return SHOAL_OK;
  }
  const char *nearest = cli_nearest_word(name, names, N_COMMANDS);
  if (name[0] == '-')
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "'%s' stands before the command: options come after it, as in "
                    "'shoal check DATA -P POLICY'",
                    name);
  if (nearest)
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "no command '%s', did you mean '%s'? See 'shoal --help'", name, nearest);
  return cli_fail(error, SHOAL_BAD_INPUT, "no command '%s': see 'shoal --help'", name);
}
