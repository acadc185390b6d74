/* SPDX-License-Identifier: Apache-2.0 */
/* cli/commands: the table of commands. A row has all that help, man page and main need. */
#include "cli/commands.h"

#include <string.h>

#define NEEDS_POLICY (UINT64_C(1) << CLI_POLICY)
#define NEEDS_OUTPUT (UINT64_C(1) << CLI_OUTPUT)
#define NEEDS_LEFT_OUT (UINT64_C(1) << CLI_LEFT_OUT)

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define EXAMPLES(...) ((const cli_example[]){__VA_ARGS__, {NULL, NULL}})

static const char DATA_FILE[] = "one DATA file ('-' is standard input)";

static const cli_command table[] = {
    {.name = "profile",
     .bit = CLI_PROFILE,
     .usages = LIST("DATA [--policy-out FILE] [--preset NAME] [--decide safe] [OPTION ...]"),
     .summary = "describe the columns of a table and suggest a policy",
     .paragraphs = LIST(
         "Prints, for every column of DATA, its type, the number of distinct and of missing "
         "values, and the number of rows whose value occurs only once. Suggests a role "
         "(identifier, person, quasi-identifier, sensitive or keep) with its evidence, and a "
         "hierarchy for columns that need one.",
         "The suggestions are guesses from names, values and counts. They do not know which "
         "columns an intruder can learn from other sources: review the suggested policy line by "
         "line. Columns that cannot be judged have the safe role and 'decide: true'.",
         "Presets: 'research' (k: 5), 'public' (k: 11, ages above 89 together, 'rare: 11' for "
         "sensitive texts) and 'hipaa-safe-harbor' (k: 5; 45 CFR 164.514(b)(2): three digits of "
         "postal codes, years of dates, ages above 89 together). The policy names the source."),
     .examples =
         EXAMPLES({"Describe a table:", "profile patients.csv"},
                  {"Write a starting policy:", "profile patients.csv --policy-out policy.yaml"},
                  {"Write a policy with nothing left to decide:",
                   "profile patients.csv --decide safe --policy-out policy.yaml"}),
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .run = cli_profile},
    {.name = "check",
     .bit = CLI_CHECK,
     .usages = LIST("DATA -P POLICY [OPTION ...]"),
     .summary = "check whether a table satisfies the policy",
     .paragraphs = LIST(
         "Prints, for each model of the policy, the required and the reached value, the number "
         "of classes and rows that violate it, and the worst classes. DATA is raw data or a "
         "release made by any tool. In a release, identifiers may be absent, and cells may be "
         "labels of the hierarchies, '*' and intervals such as [20-29].",
         "Rejects other cells, and a policy that 'anonymize' rejects, with exit status 2. Bad "
         "cells "
         "of a column are reported together: how many, and the first ten rows.",
         "Writes nothing but the result."),
     .examples = EXAMPLES({"Check raw data:", "check patients.csv -P policy.yaml"},
                          {"Check a release with k = 5:", "check release.csv -P policy.yaml -k 5"}),
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
     .summary = "print upper bounds for p and for the number of classes",
     .paragraphs =
         LIST("Prints the necessary conditions of p-sensitive k-anonymity, without a search. One "
              "line per model and sensitive column has what the model requires, the maximum that "
              "the column allows, and the maximum number of classes. Then follow the frequency "
              "sets from which the maxima are computed.",
              "If p is above its maximum or above k, anonymize refuses the policy. If the maximum "
              "number of classes is small, every release is coarse: consider a smaller p.",
              "The output has counts of sensitive values, but no values. It is internal."),
     .examples = EXAMPLES({"With the policy's p:", "conditions patients.csv -P policy.yaml"},
                          {"With another p:", "conditions patients.csv -P policy.yaml -p 3"}),
     .means_zero = "the conditions of every model can be met",
     .means_one = "a model requires more than the table allows, or p is above k",
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY,
     .run = cli_conditions},
    {.name = "anonymize",
     .bit = CLI_ANONYMIZE,
     .usages = LIST("DATA -P POLICY -o OUT [OPTION ...]"),
     .summary = "write a release that satisfies the policy",
     .paragraphs = LIST(
         "Writes OUT, a copy of DATA that satisfies every model of the policy. Identifiers are "
         "removed. Quasi-identifiers are generalized along their hierarchies until the policy "
         "holds. Rows of classes that still violate the policy are suppressed if the policy "
         "allows it. Sensitive and kept columns are unchanged.",
         "The release is written to a temporary file, read again by an independent verifier, "
         "and renamed to OUT if every model holds. If the policy cannot be satisfied, or after "
         "an error, no file is written and an existing OUT stays unchanged.",
         "A summary of protection and information loss is printed to standard output (to "
         "standard error with '-o -')."),
     .examples =
         EXAMPLES({"Write a release:", "anonymize patients.csv -P policy.yaml -o release.csv"},
                  {"Write a compressed release and a report:",
                   "anonymize patients.csv -P policy.yaml -o out.csv.gz --report out.json"},
                  {"Require classes of at least 5 rows:",
                   "anonymize patients.csv -P policy.yaml -o release.csv -k 5"},
                  {"Generalize each class separately (local recoding):",
                   "anonymize patients.csv -P policy.yaml -o release.csv --algorithm flock"}),
     .means_one = "no release was found, or --strict refused a risk; the message says why",
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY | NEEDS_OUTPUT,
     .run = cli_anonymize},
    {.name = "lattice",
     .bit = CLI_LATTICE,
     .usages = LIST("DATA -P POLICY [--format FORMAT] [OPTION ...]"),
     .summary = "list all combinations of levels (nodes of the lattice)",
     .paragraphs = LIST(
         "A node is one level for each quasi-identifier. Prints, for every node, the number of "
         "rows to suppress, the number of classes, whether it satisfies the policy, and whether "
         "it is minimal (no node below it satisfies the policy). Then prints the nodes that each "
         "preference selects, and the node that the policy's 'prefer' or --prefer selects.",
         "Use it to see the cost of a stricter policy."),
     .examples = EXAMPLES(
         {"List the nodes:", "lattice patients.csv -P policy.yaml"},
         {"Draw the nodes:", "lattice patients.csv -P policy.yaml --format svg -o lattice.svg"}),
     .means_zero = "at least one node satisfies the policy",
     .means_one = "no node satisfies the policy (all nodes are listed)",
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY,
     .run = cli_lattice},
    {.name = "measure",
     .bit = CLI_MEASURE,
     .usages = LIST("ORIGINAL MASKED -P POLICY [--population FILE] [OPTION ...]"),
     .summary = "measure utility and re-identification risk of a release",
     .paragraphs = LIST(
         "MASKED is a release of ORIGINAL made by any tool. Utility: information loss of each "
         "column, changes of distributions and associations, errors of random queries. Risk: "
         "class sizes before and after, compared with common thresholds, and disclosure of "
         "sensitive values.",
         "Cells of the release may be values, labels of any level of the policy's hierarchies, "
         "intervals such as [20-30], 20-30 or >=40, prefixes such as 4310*, and '*'. Rows are "
         "not matched: the order of rows and missing rows do not matter.",
         "Writes nothing but the result. Prints no value of the original and no count of people "
         "below the policy's k. Definitions of the measures: docs/measures.md."),
     .examples =
         EXAMPLES({"Measure a release:", "measure patients.csv release.csv -P policy.yaml"},
                  {"Add the risk from an intruder who knows the population:",
                   "measure patients.csv release.csv -P policy.yaml --population town.csv"},
                  {"Print JSON:", "measure patients.csv release.csv -P policy.yaml --json"}),
     .operands = "two files, ORIGINAL and MASKED ('-' is standard input)",
     .min_operands = 2,
     .max_operands = 2,
     .required = NEEDS_POLICY,
     .run = cli_measure},
    {.name = "explain",
     .bit = CLI_EXPLAIN,
     .usages = LIST("DATA -P POLICY [OPTION ...]"),
     .summary = "explain why a policy fails or loses much information",
     .paragraphs = LIST(
         "Prints whether full-domain generalization can satisfy the policy, and at which levels; "
         "which model, sensitive column and quasi-identifier make the levels so high; and which "
         "classes violate the policy, by generalized labels and never by raw values.",
         "Then prints the smallest single changes that would help: the largest k, the largest p "
         "and the fewest suppressed rows with which the policy can be satisfied or the release "
         "stays one level lower. Each change was tried on the data.",
         "If a number has no hierarchy, as in policies that 'profile' writes, prints instead what "
         "each column loses in local recoding, what the others would lose without it, and which "
         "changes of k, p and max-suppression lose less.",
         "Writes nothing but the result. Weaker protection is a decision for people; the result "
         "says what each change would gain."),
     .examples =
         EXAMPLES({"Explain the levels of a release:", "explain patients.csv -P policy.yaml"},
                  {"Explain what k = 10 requires:", "explain patients.csv -P policy.yaml -k 10"}),
     .means_zero = "the policy can be satisfied",
     .means_one = "the policy cannot be satisfied (the result says why)",
     .operands = DATA_FILE,
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY,
     .run = cli_explain},
    {.name = "attack",
     .bit = CLI_ATTACK,
     .usages = LIST("MASKED -P POLICY [--external FILE] [--original FILE] [--previous FILE ...] "
                    "[OPTION ...]"),
     .summary = "simulate attacks on a release",
     .paragraphs = LIST(
         "Simulates attacks on MASKED, a release made by any tool. Each attack states the "
         "intruder's knowledge: linking with a table of people, one value in a whole class "
         "(homogeneity), values ruled out (background knowledge), all values of one kind "
         "(similarity), classes with unusual shares (skewness), few categories, low variance, "
         "earlier releases of the same people, equal row order, and several records of a person.",
         "Prints three numbers for each attack: rows re-identified, sensitive values learnt for "
         "certain, and values guessed with a probability above a bound; then example classes. "
         "Classes are shown by labels that cover more than one value, people of other tables by "
         "row number. Original values are never shown.",
         "An attack counts against the release if the policy or an option requires protection "
         "against it: linking, homogeneity, earlier releases and equal row order always; "
         "background knowledge up "
         "to the policy's p; similarity with 'protect'; categories with 'categories'; variance "
         "with theta-sensitive or '--mu'; guesses and skewness with alpha-k or '--bound'. Other "
         "attacks are reported only. Minimality is reported, not simulated ('slack' in the "
         "policy reduces it)."),
     .examples = EXAMPLES(
         {"Attack the classes alone:", "attack release.csv -P policy.yaml"},
         {"Link with a voter list and with the original rows:",
          "attack release.csv -P policy.yaml --external voters.csv --original patients.csv"},
         {"Combine with an earlier release:",
          "attack release.csv -P policy.yaml --previous last-year.csv"}),
     .means_zero = "the release withstands every attack that the policy covers",
     .means_one = "at least one attack that the policy covers succeeds, or found nobody to test "
                  "(the result says which)",
     .operands = "one MASKED file ('-' is standard input)",
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY,
     .run = cli_attack},
    {.name = "certificate",
     .bit = CLI_CERTIFY,
     .usages = LIST("RELEASE -P POLICY --left-out none|few|N -o FILE [OPTION ...]"),
     .summary = "write the public certificate of a release",
     .paragraphs = LIST(
         "Writes FILE, an HTML page that may be published with RELEASE: the verdict, the models "
         "and what the release reaches, how each column was handled, risk, attacks, and the "
         "policy. It is computed from RELEASE, the policy and the rounded number of suppressed "
         "rows, and from nothing else. It contains nothing of the original table.",
         "'shoal anonymize --certificate FILE' writes the same bytes. A recipient verifies a "
         "certificate by making it again and comparing the files. Options that override the "
         "policy must be the same as for 'anonymize'.",
         "If the release does not satisfy the policy, the page says 'do-not-publish' and the exit "
         "status is 1."),
     .examples =
         EXAMPLES({"Certify a release from which no row was suppressed:",
                   "certificate release.csv -P policy.yaml --left-out none -o certificate.html"},
                  {"Make the certificate of a release with 1,200 suppressed rows and k = 5 again:",
                   "certificate release.csv -P policy.yaml -k 5 --left-out 1200 -o again.html"}),
     .means_zero = "the release satisfies the policy; the certificate is written",
     .means_one = "the release does not satisfy the policy; the certificate says so",
     .operands = "one RELEASE file",
     .min_operands = 1,
     .max_operands = 1,
     .required = NEEDS_POLICY | NEEDS_OUTPUT | NEEDS_LEFT_OUT,
     .run = cli_certificate},
    {.name = "hierarchy",
     .bit = CLI_HIERARCHY,
     .usages = LIST("build DATA --column NAME --spec SPEC [-o FILE]", "check FILE.csv",
                    "check -P POLICY [ATTRIBUTE] [DATA]", "show FILE.csv",
                    "show -P POLICY [ATTRIBUTE] [DATA]"),
     .summary = "build, check and draw hierarchies",
     .paragraphs = LIST(
         "A hierarchy generalizes a value level by level: 34, then [30-39], then '*'. A "
         "hierarchy file has one row for each value: value;level1;...;top.",
         "'build' writes such a file from the values of a column, to be edited by hand. 'check' "
         "checks that every value has one parent and that all values have one top. 'show' draws "
         "the hierarchy as a tree.",
         "With a policy, 'check' and 'show' use the hierarchy of one attribute, or of all. With "
         "DATA, the hierarchy must have every value of the data. A single name after the policy "
         "is DATA if such a file exists, otherwise an attribute."),
     .examples = EXAMPLES({"Build ages in steps of 5 and 10 years:",
                           "hierarchy build patients.csv --column age --spec "
                           "\"{intervals: [5, 10]}\""},
                          {"Check a file:", "hierarchy check marital.csv"},
                          {"Check that it has every value of the data:",
                           "hierarchy check -P policy.yaml marital patients.csv"},
                          {"Draw it:", "hierarchy show marital.csv"}),
     .operands = "build, check or show, and at most two names",
     .min_operands = 1,
     .max_operands = 3,
     .run = cli_hierarchy},
    {.name = "serve",
     .bit = CLI_SERVE,
     .usages = LIST("[DATA] [-P POLICY] [--port N] [--no-open] [--idle-minutes N]"),
     .summary = "open the workbench in the browser",
     .paragraphs = LIST(
         "Opens a page in the browser on which a table is brought to a release step by step: data, "
         "columns, hierarchies, protection, explore, risk, release. The page shows the policy as "
         "YAML at any time, and the command line that makes the same release.",
         "Listens on 127.0.0.1 and ::1 only. Prints one line with the address; the part after '#' "
         "is a token that keeps other users of the machine out: treat it as a password. The "
         "browser is opened on a private file, so that the token is in no list of arguments.",
         "Opens files below the current directory, and uploads, which are never written under a "
         "name. Ends on Control-C, or by itself after '--idle-minutes'."),
     .examples = EXAMPLES({"Start without data:", "serve"},
                          {"Start with a table and a policy:", "serve patients.csv -P policy.yaml"},
                          {"Print the address only:", "serve --no-open --port 8899"}),
     .means_zero = "the server was ended",
     .operands = "at most one DATA file",
     .min_operands = 0,
     .max_operands = 1,
     .run = cli_serve},
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
    return cli_fail(
        error, SHOAL_BAD_INPUT,
        "'%s' is before the command; write options after it, as in 'shoal check DATA -P "
        "POLICY'",
        name);
  if (nearest)
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "no command '%s'; did you mean '%s'? See 'shoal --help'", name, nearest);
  return cli_fail(error, SHOAL_BAD_INPUT, "no command '%s'; see 'shoal --help'", name);
}
