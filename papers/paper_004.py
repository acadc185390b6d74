# SPDX-License-Identifier: Apache-2.0
"""Samarati 2001: every figure and example, and the preference policies on Adult."""
import json
import os
import tempfile

import common
from common import Bench, Table, adult, adult_attribute, compared, golden, vector_word

PREFERENCES = ["absolute-distance", "relative-distance", "max-distribution", "min-suppression", "least-peak",
               "highest-peak", "fewest-attributes", "most-attributes"]
PROBLEMS = ["hypertension", "obesity", "chest pain", "obesity", "hypertension", "shortness of breath",
            "shortness of breath", "obesity", "chest pain", "obesity", "shortness of breath"]


FIGURE_12_RESULT = """
    black 1965 male 94141
    black 1965 male 94141
    black 1965 female 94138
    black 1965 female 94138
    black 1964 female 94138
    black 1964 female 94138
    white 1964 male 94138
    - - female 94139
    white 1964 male 94139
    white 1964 male 94139
    white 1967 male 94138
    white 1967 male 94138
"""


def words(vectors):
    return ", ".join(vector_word(v) for v in sorted(vectors)) or "none"


def problem(folder, support, g, header, rows, levels, **more):
    return support.Problem(folder, header, rows, levels, **more)


def figure_1(page, folder, support, g):
    page.heading("Figure 1: a released table linked to a voter list")
    bench = Bench()
    header = ["Race", "DateOfBirth", "Sex", "ZIP", "MaritalStatus", "HealthProblem"]
    rows = [row[:] + [p] for row, p in zip(g.MEDICAL, PROBLEMS)]
    data = bench.write("medical.csv", "\n".join(",".join(r) for r in [header, *rows]) + "\n")
    voters = bench.write("voters.csv", "Name,Address,City,ZIP,DateOfBirth,Sex,Party\n"
                         "Sue J. Carlson,900 Market St.,San Francisco,94142,09/15/61,female,democrat\n")
    top = {"role": "quasi", "hierarchy": {"top": True}}
    policy = bench.policy({**{name: top for name in header[:-1]}, "HealthProblem": {"role": "sensitive"}},
                          {"k": 2}, unlisted="drop")
    found = bench.json("attack", data, "-P", policy, "--external", voters)
    link = next(a for a in found["attacks"] if a["attack"] == "linking")
    compared(page, [["people of the voter list found in the table", 1, link["counts"]["reidentified"], ""],
                    ["whose health problem is then known", 1, link["counts"]["certain"], ""]])
    page.say("The paper's voter list shows one person; the others are omitted. ZIP, date of birth and sex are the "
             "columns of both tables.")


def figures_2_3_5(page, folder, support, g):
    page.heading("Figures 2, 3 and 5: hierarchies, strategies, and the lattice of distance vectors")
    case = support.Problem(folder, ["Race", "ZIP"], g.Figure4.ROWS, {"Race": g.RACE, "ZIP": g.ZIP}, privacy={"k": 3})
    page.say("The value generalization hierarchies of Race and ZIP, by `shoal hierarchy show`:")
    page.code("\n".join(support.shoal("hierarchy", "show", "-P", case.policy, name).out for name in ("Race", "ZIP")))
    page.say("The lattice of the pairs of domains. Each path from the bottom to the top is a generalization strategy "
             "(Figure 3), each node's distance vector is its levels (Figure 5). `shoal lattice` for the table of Figure 4 "
             "and k=3: a node is locally minimal if it is the first one on some strategy that satisfies k.")
    page.code(support.shoal("lattice", case.data, "-P", case.policy).out.split("\n", 1)[1].strip("\n"))
    file = "plots/004-lattice.svg"
    os.makedirs(os.path.join(common.OUT, "plots"), exist_ok=True)
    picture = support.shoal("lattice", case.data, "-P", case.policy, "--format", "svg").out
    with open(os.path.join(common.OUT, file), "w", encoding="utf-8") as out:
        out.write(picture)
    page.parts.append(f"![The lattice of Figure 5, drawn by shoal lattice --format svg]({file})")


def figure_4(page, folder, support, g):
    page.heading("Figure 4, Examples 3.3 to 3.5: six tables, and which are minimal")
    case = support.Problem(folder, ["Race", "ZIP"], g.Figure4.ROWS, {"Race": g.RACE, "ZIP": g.ZIP})
    paper = {(0, 0): 1, (0, 1): 2, (1, 0): 3, (0, 2): 4, (1, 1): 6, (1, 2): 12}
    holds = {v: [] for v in paper}
    for k in range(1, 13):
        for vector, node in case.lattice("-k", k)[1].items():
            if node["satisfies"]:
                holds[vector].append(k)
    compared(page, [[f"GT{vector_word(v)}: largest k it satisfies", paper[v], max(holds[v]), ""] for v in paper]
             + [["Example 3.5, k=2: minimal", "[0,1], [1,0]", words(case.minimal("-k", 2)), ""],
                ["Example 3.5, k=3: minimal", "[0,2], [1,0]", words(case.minimal("-k", 3)), ""]])
    page.say("Definition 3.3 must say `<` instead of `<=`; otherwise nothing is minimal ([reading the "
             "papers](../reading-the-papers.md), R5).")


def figures_6_7_11(page, folder, support, g):
    page.heading("Figures 6, 7 and 11, Example 5.1: one row forces much generalization")
    case = support.Problem(folder, g.MEDICAL_HEADER, g.MEDICAL, g.MEDICAL_LEVELS, privacy={"k": 2})
    both = case.minimal()
    without = case.minimal("--max-suppression", 1)
    tables = []
    for last, rows in [("Race", g.FIGURE_6_LEFT), ("Sex", g.FIGURE_6_RIGHT)]:
        case.prefer(last)
        tables.append(case.anonymize().rows == rows)
    release = case.anonymize("--max-suppression", 1)
    vectors = g.distance_vectors()
    same = 0
    for (i, j), vector in vectors.items():
        pair = support.Problem(folder, g.MEDICAL_HEADER, [g.MEDICAL[i], g.MEDICAL[j]], g.MEDICAL_LEVELS,
                               privacy={"k": 2})
        same += pair.minimal() == [vector]
    whole = support.Problem(folder, g.MEDICAL_HEADER, g.MEDICAL, g.MEDICAL_LEVELS, privacy={"k": 2})
    printed = json.loads(support.shoal("lattice", whole.data, "-P", whole.policy, "--matrix", "--json").out)
    matrix = support.Problem(folder, g.MEDICAL_HEADER, g.MEDICAL, g.MEDICAL_LEVELS, privacy={"k": 2},
                             method={"satisfies": "matrix"}).anonymize().report["search"]["bounds"]
    upper = list(matrix["upper"].values())
    compared(page, [
        ["Figure 6: minimal for k=2, nothing suppressed", "[0,2,1,2,2], [1,3,0,1,1]", words(both), ""],
        ["Figure 6: the two tables, cell by cell", 2, sum(tables), ""],
        ["Figure 7: minimal with one row suppressed", "[0,1,0,0,0]", words(without), ""],
        ["Figure 7: the table, cell by cell", True, release.rows == g.FIGURE_7, ""],
        [f"Figure 11: of its {len(vectors)} distance vectors we get", len(vectors), same, ""],
        ["Figure 11: vectors of `lattice --matrix` that are the paper's", len(vectors),
         sum(tuple(printed["vectors"][i][j]) == tuple(v) for (i, j), v in vectors.items()), ""],
        ["Example 5.1: lower bound of the height", 6, matrix["lower_height"], ""],
        ["Example 5.1: least upper bound", "[1,3,2,2,2]", vector_word(upper),
         "an error in the text: its own Figure 11 gives [1,3,1,2,2] (R5)"]])


def figures_8_9(page, folder, support, g):
    page.heading("Figures 8 and 9, Examples 4.1, 4.2 and 6.1: suppression against generalization")
    case = support.Problem(folder, ["Race", "ZIP"], g.Figure8And9.ROWS, {"Race": g.RACE, "ZIP": g.ZIP},
                           privacy={"k": 2})
    paper = {0: "[1,1]", 1: "[0,2], [1,0]", 2: "[0,1], [1,0]", 3: "[0,1], [1,0]", 4: "[0,0]"}
    nodes = case.lattice()[1]
    rows = [[f"Figure 8: rows to suppress at GT{vector_word(v)}", g.Figure8And9.SUPPRESSED[v],
             nodes[v]["suppressed"], ""] for v in sorted(nodes)]
    rows += [[f"Figure 9: rows released at GT{vector_word(v)} with suppression", len(g.Figure8And9.ROWS)
              - g.Figure8And9.SUPPRESSED[v], len(g.Figure8And9.ROWS) - nodes[v]["suppressed"], ""] for v in sorted(nodes)]
    rows += [[f"Example 4.2: minimal with MaxSup={m}", said, words(case.minimal("--max-suppression", m)), ""]
             for m, said in paper.items()]
    said = {1: {"absolute-distance": "[1,0]", "relative-distance": "[0,2], [1,0]", "max-distribution":
                "[0,2], [1,0]", "min-suppression": "[0,2], [1,0]"},
            2: {"absolute-distance": "[0,1], [1,0]", "relative-distance": "[0,1]", "max-distribution": "[0,1]",
                "min-suppression": "[1,0]"}}
    for most, wanted in said.items():
        preferred = case.lattice("--max-suppression", most)[2]
        rows += [[f"Example 6.1, MaxSup={most}: {name}", theirs, words(preferred[name]), ""]
                 for name, theirs in wanted.items()]
    compared(page, rows)
    page.say("The binary search of Figure 10 returns one node of minimum height, [1,0] for MaxSup=1, and misses "
             "[0,2] (R4). `samarati` is that search; the report also lists all minimal nodes.")


def section_7(page, folder, support, g):
    page.heading("Section 7: Datafly and mu-Argus")
    d = golden("test_datafly_argus")
    case = support.Problem(folder, ["Race", "ZIP"], d.FIGURE_4, {"Race": d.RACE, "ZIP": d.ZIP})
    datafly = case.anonymize("-k", 3, "--algorithm", "datafly")
    quasi = {"Race": [["black", "*"], ["white", "*"]],
             "DOB": [[row[2], "19" + row[2][-2:], "*"] for row in d.FIGURE_12],
             "Sex": [["male", "*"], ["female", "*"]],
             "ZIP": [["94138", "9413*", "941**"], ["94139", "9413*", "941**"], ["94141", "9414*", "941**"]]}
    argus = support.Problem(folder, ["SSN", "Race", "DOB", "Sex", "ZIP"], d.FIGURE_12, quasi,
                            identifiers=["SSN"], privacy={"k": 2})
    for name, rank in [("Race", 1), ("DOB", 2), ("Sex", 2), ("ZIP", 2)]:
        argus.policy_parts["attributes"][name]["sensitivity"] = rank
    argus.policy.write_text(support.policy_yaml(argus.policy_parts), encoding="utf-8")
    refused = argus.anonymize("--algorithm", "mu-argus").result
    compared(page, [
        ["Datafly on Figure 4, k=3", "[1,1]", vector_word(case.node(datafly)), ""],
        ["which is not minimal: these are", "[0,2], [1,0]",
         words(support.vectors(datafly.report["search"]["minimal"], ["Race", "ZIP"])), ""],
        ["mu-Argus on Figure 12: rows alone in their class", 2,
         2 if "2 of 12 rows" in refused.err else refused.err, ""],
        ["and therefore", "released", "refused" if refused.code == 1 else "released",
         "shoal writes nothing that violates the policy"]])
    page.say("Message of the program for Figure 12:")
    page.code(refused.err.replace(str(folder) + "/", ""))
    page.say("The table that mu-Argus gives, as the paper prints it (a blank cell is suppressed, `*`). It is not a release "
             "of shoal: the page types it in, and `shoal check` judges it.")
    unsafe = [[c.replace("-", "*") for c in line.split()] for line in FIGURE_12_RESULT.strip().splitlines()]
    page.table(["Race", "DOB", "Sex", "ZIP"], unsafe)
    bench = Bench()
    policy = bench.policy({name: {"role": "quasi"} for name in ("Race", "DOB", "Sex", "ZIP")}, {"k": 2})
    check = bench.json("check", bench.table(Table(["Race", "DOB", "Sex", "ZIP"], unsafe)), "-P", policy)
    k = check["models"][0]
    compared(page, [["rows that are alone in their class", 2, k["breaking_rows"], ""],
                    ["the k that the table has", 1, int(k["reached"]), ""]])
    page.say("The user of mu-Argus decides whether to generalize or to suppress: `method.mu-argus: generalize` (default) or "
             "`suppress`.")


def preferences(page):
    table, what, real = adult()
    page.heading("Preference policies compared")
    names = ["age", "workclass", "marital-status", "race", "sex"]
    bench = Bench()
    data = bench.table(table.only(names))
    attributes = {name: adult_attribute(table, name, real) for name in names}
    page.say(f"Data: {what}; quasi-identifiers {', '.join(names)}; k=5, at most 1% of the rows suppressed. "
             "The paper names the policies and does not measure them on data.")
    rows = []
    for preference in PREFERENCES:
        policy = bench.policy(attributes, {"k": 5},
                              {"algorithm": "samarati", "max-suppression": "1%", "prefer": [preference], "seed": 1})
        answer = bench.anonymize(data, policy)
        node = answer["search"]["node"]
        rows.append([f"`{preference}`", vector_word(node.values()), sum(node.values()),
                     answer["output"]["classes"], answer["output"]["suppressed"],
                     f"{answer['measures']['accuracy']:.3f}", f"{answer['measures']['completeness']:.4f}",
                     f"{answer['measures']['nil']:.3f}"])
        n_minimal = len(answer["search"]["minimal"])
    page.table(["prefer", "node", "height", "classes", "suppressed", "accuracy", "completeness", "nil"], rows)
    page.say(f"All are chosen from the same {n_minimal} minimal nodes. Accuracy is 1 - mean of level / height, "
             "completeness the share of rows released (section 6), nil the information loss of the 2007 paper, 0 to "
             "1. All these releases satisfy the policy; only the last columns show what a preference costs.")


def make(page):
    support, g = golden("support"), golden("test_paper_004")
    page.say("Protecting respondents' identities in microdata release, IEEE TKDE 13(6). Every figure with numbers, "
             "every example, and the result of the program.")
    for part in (figure_1, figures_2_3_5, figure_4, figures_6_7_11, figures_8_9, section_7):
        with tempfile.TemporaryDirectory() as folder:
            part(page, folder, support, g)
    if common.SMALL:
        return
    preferences(page)
    page.commands("shoal lattice table.csv -P policy.yaml -k 2 --max-suppression 1     # Figures 3, 5, 8, 9, Examples 3.5, 4.2, 6.1",
                  "shoal lattice table.csv -P policy.yaml --matrix                     # Figure 11",
                  "shoal lattice table.csv -P policy.yaml --prefer min-suppression     # section 6",
                  "shoal anonymize table.csv -P policy.yaml --algorithm datafly -o release.csv    # section 7",
                  "shoal attack table.csv -P policy.yaml --external voters.csv         # Figure 1")
