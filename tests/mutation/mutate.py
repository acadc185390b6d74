#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small faults are put into the privacy core, one at a time; the tests must notice each.

What can be mutated is found by the operators below in the lines of FILES; a fixed sampler chooses
among it, so that the same source gives the same mutants anywhere. Each is compiled in a copy of
the source (build-mut/), only the file that changed, and the tests run from the cheapest on until
one fails. Mutants that live go once more through many more cases and tests (--survivors), and
what lives then is argued in tests/mutation/equivalent.json or is a gap in the tests.

  mutate.py --list             the mutants, without running them
  mutate.py                    runs those without an outcome in build-mut/outcomes.json
  mutate.py --survivors        runs the living once more, against everything
  mutate.py --only TEXT        those whose file or line has it, again
  mutate.py --cluster          mutants of src/cluster instead of the core
  mutate.py --table            writes docs/mutation.md from the outcomes
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, os.environ.get("SHOAL_MUTATION") or "build-mut")
TREE, OUT = os.path.join(WORK, "tree"), os.path.join(WORK, "out")
OUTCOMES = os.path.join(WORK, "outcomes.json")
EQUIVALENT = os.path.join(ROOT, "tests", "mutation", "equivalent.json")

# The files of the privacy core, and the number of mutants of each.
FILES = {
    "src/base/wide.c": 3,
    "src/table/equality.c": 3, "src/table/fold.c": 4,
    "src/group/tuples_partitioned.c": 6, "src/group/frequency.c": 3, "src/group/classes.c": 6, "src/group/grouper.c": 3,
    "src/group/classes_rows.c": 5, "src/group/tuples.c": 3, "src/group/capped.c": 4,
    "src/context/people.c": 3,
    "src/model/alpha_k.c": 1, "src/model/bind.c": 3,
    "src/model/extended_p.c": 2, "src/model/k_anonymity.c": 1,
    "src/model/l_diversity.c": 3, "src/model/p_alpha.c": 2, "src/model/p_plus.c": 2,
    "src/model/p_sensitive.c": 1, "src/model/personalized.c": 2,
    "src/model/models.c": 11, "src/model/value_groups.c": 2, "src/model/t_closeness.c": 3, "src/model/theta.c": 2,
    "src/model/people.c": 4, "src/model/sets.c": 3,
    "src/verify/counter.c": 5, "src/verify/entropy.c": 2, "src/verify/fold.c": 5, "src/verify/models.c": 6,
    "src/verify/models_close.c": 3, "src/verify/models_values.c": 5, "src/verify/parts.c": 2,
    "src/verify/people.c": 4, "src/verify/over.c": 3, "src/verify/trace.c": 4, "src/verify/meaning.c": 3,
    "src/verify/range.c": 2, "src/verify/rare.c": 2,
    "src/verify/pseudonyms.c": 3, "src/verify/reader.c": 3, "src/verify/tables.c": 2, "src/verify/verify.c": 2,
    "src/write/second_pass.c": 3, "src/write/atomic_file.c": 2, "src/write/render.c": 2, "src/write/csv.c": 3,
    "src/write/shuffle.c": 2, "src/write/sink.c": 1, "src/write/spill.c": 1,
    "src/decide/decision.c": 3, "src/decide/node.c": 3, "src/decide/class_repair.c": 3, "src/decide/clusters.c": 3,
    "src/decide/people_risk.c": 3,
    "src/job/verify_request.c": 3, "src/job/release_write.c": 3,
}

# --cluster: the local algorithms instead. They decide how much is lost; the verifier decides what is released.
CLUSTER = {f"src/cluster/{name}.c": n for name, n in {
    "algorithms": 1, "axes": 6, "enhanced_pk": 3, "exchange": 3, "exchange_clusters": 3, "exchange_steps": 3,
    "flock": 4, "flock_agglomerate": 3, "flock_clusters": 4, "flock_cost": 3, "flock_cut": 2,
    "flock_exchange": 1, "flock_moves": 4, "flock_repair": 2, "flock_rows": 3, "flock_start": 2, "greedy": 3,
    "mondrian": 3, "nearest": 3, "recode": 3, "requirements": 4, "theta": 1, "theta_classes": 1,
    "theta_order": 1, "theta_repair": 1, "theta_swap": 1, "top_down": 4}.items()}

# name, what is looked for, what is put in its place
OPERATORS = [
    ("a bound moves by one", r" >= ", " > "),
    ("a bound moves by one", r" > ", " >= "),
    ("a bound moves by one", r" <= ", " < "),
    ("a bound moves by one", r" < (?!<)", " <= "),
    ("equal becomes unequal", r" == ", " != "),
    ("unequal becomes equal", r" != ", " == "),
    ("and becomes or", r" && ", " || "),
    ("or becomes and", r" \|\| ", " && "),
    ("a condition is negated", r"\bif \((?=[^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\))", "if (!"),
    ("the first is skipped", r"(for \((?:\w+ )\w+) = 0;", r"\1 = 1;"),
    ("the last is skipped", r"(; (?:[^;]*&& )?)(\w+) < ([^;&]+;)", r"\1\2 + 1 < \3"),
    ("one is not added", r" \+ 1\b(?!\d)", ""),
    ("one is not taken off", r" - 1\b(?!\d)", ""),
    ("false becomes true", r"\breturn false;", "return true;"),
    ("true becomes false", r"\breturn true;", "return false;"),
    ("a failure is ignored", r"SHOAL_TRY\((.*)\);$", r"(void)(\1);"),
    ("a step is left out", r"^( +(?:else )?)[a-z][\w.>\[\]()-]*(?:\+\+|--);$", r"\1;"),
    ("a step is left out", r"^( +)(?:continue|break);$", r"\1;"),
    ("a step is left out", r"\) continue;", ") {}"),
    ("a sum is replaced", r" \+= ", " = "),
    ("a union is replaced", r" \|= ", " = "),
    ("the least becomes the most", r"\? (\w[\w>.\[\]-]*) : (\w[\w>.\[\]-]*);", r"? \2 : \1;"),
]
# Not about the release: memory, speed, how a message is worded.
PASSED_OVER = re.compile(r"shoal_fail_memory|prefetch|__builtin_expect|shoal_grow|AHEAD|FAR_BITS|"
                         r"capacity|snprintf|EINTR|if \(!\w+\) return (?:false|NULL|true);|"
                         r"SIZE_MAX|PTRDIFF_MAX|\bfree\(|\"[^\"]*\" :|shoal_run_report|#define|#include")
COMMENT = re.compile(r"^\s*(/?\*|//)")


def sites():
    """Every place an operator fits: (file, line number, operator, the line, the line mutated)."""
    found = []
    for path in FILES:
        with open(os.path.join(ROOT, path), encoding="utf-8") as source:
            lines = source.read().split("\n")
        inside = False
        for number, line in enumerate(lines):
            inside = inside or line.lstrip().startswith("/*")
            skip = inside or COMMENT.match(line) or PASSED_OVER.search(line)
            if "*/" in line:
                inside = False
            if skip or not line.startswith(" ") or number == 0:
                continue
            code = line.split("/*")[0].rstrip()
            for name, pattern, put in OPERATORS:
                for at in re.finditer(pattern, code):
                    if code[:at.start()].count('"') % 2:
                        continue
                    changed = code[:at.start()] + at.expand(put) + code[at.end():]
                    if name == "a condition is negated":
                        changed = negated(code, at)
                    if changed and changed != code:
                        found.append((path, number, name, code, changed))
    return found


def negated(code, at):
    depth, i = 1, at.end()
    while i < len(code) and depth:
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        i += 1
    return None if depth else f"{code[:at.end()]}!({code[at.end():i - 1]}){code[i - 1:]}"


def chosen():
    """The mutants: of each file so many, by a hash of the place, each kind of fault in turn."""
    mutants = []
    places = sites()
    for path, wanted in FILES.items():
        by_kind, seen = {}, {}
        for _, number, name, code, changed in (p for p in places if p[0] == path):
            seen[changed] = seen.get(changed, 0) + 1
            rank = hashlib.sha256(f"{path}|{code}|{changed}|{seen[changed]}".encode()).hexdigest()
            by_kind.setdefault(name, []).append((rank, number, name, code, changed))
        for group in by_kind.values():
            group.sort()
        kinds = sorted(by_kind, key=lambda k: by_kind[k][0])
        picked = []
        while len(picked) < wanted and any(by_kind.values()):
            for kind in kinds:
                if by_kind[kind] and len(picked) < wanted:
                    picked.append(by_kind[kind].pop(0))
        for rank, number, name, code, changed in sorted(picked, key=lambda p: p[1]):
            mutants.append({"id": rank[:8], "file": path, "line": number + 1, "fault": name,
                            "was": code.strip(), "is": changed.strip()})
    return mutants


# ---- the tests, cheapest first ---------------------------------------------------------------

UNITS = {
    "base": ["test_model_classes"],
    "table": ["test_fold", "test_table"],
    "group": ["test_tuples_partitioned", "test_lowmem_group", "test_group", "test_local"],
    "context": ["test_local"],
    "model": ["test_model_classes", "test_model_bind", "test_local"],
    "verify": ["test_fold", "test_verify_exact", "test_verify_models", "test_verify_people", "test_verify_trace",
               "test_verify_reading", "test_verify", "test_pseudonyms", "test_lowmem_verify"],
    "write": ["test_second_pass", "test_lowmem_write", "test_write", "test_memory"],
    "decide": ["test_local", "test_lowmem_jobs"],
    "job": ["test_local", "test_policy", "test_lowmem_jobs"],
}
CLUSTER_UNITS = {  # by the beginning of the file's name
    "axes": ["test_sets"], "recode": ["test_sets"],
    "nearest": ["test_nearest", "test_sets"], "mondrian": ["test_cluster_mondrian"], "top_down": ["test_top_down"],
    "flock": ["test_flock_parts", "test_flock"], "requirements": ["test_flock_parts"],
}
MODULES = {
    "cluster": ["property/test_local:150", "property/test_people:20", "property/test_theta:20"],
    "base": ["property/test_models:20"],
    "table": ["property/test_spellings:60", "cli/test_spellings"],
    "context": ["property/test_people:40", "cli/test_people"],
    "group": ["property/test_people:40", "property/test_models:40", "property/test_lattice:40", "property/test_local:40",
              "property/test_over:100"],
    "model": ["property/test_models:60", "property/test_people:60", "property/test_over:40", "golden/test_reading_models"],
    "verify": ["property/test_models:20", "property/test_people:20", "property/test_over:20"],
    "write": ["property/test_models:20"],
    "decide": ["property/test_lattice:20", "property/test_local:30", "property/test_theta:10", "cli/test_people"],
    "job": ["property/test_lattice:20", "property/test_local:30", "property/test_theta:10"],
}
MORE_UNITS = ["test_fold", "test_lowmem_verify", "test_lowmem_jobs", "test_group",
              "test_verify", "test_verify_models", "test_lowmem_group", "test_model_classes", "test_model_bind",
              "test_verify_people", "test_verify_trace", "test_verify_exact", "test_verify_reading",
              "test_second_pass", "test_lowmem_write", "test_write",
              "test_memory", "test_local",
              "test_table", "test_attack", "test_measure", "test_page", "test_profile",
              "test_regressions"]
MORE = ["property/test_people:400", "property/test_over:200", "cli/test_people",
        "property/test_spellings:600", "property/test_models:600", "property/test_lattice:400", "property/test_local:300",
        "property/test_theta:100", "property/test_local_hostile", "cli/test_models", "cli/test_privacy",
        "cli/test_release", "cli/test_local", "cli/test_theta", "cli/test_memory", "cli/test_search",
        "cli/test_reading", "cli/test_regressions", "cli/test_bad_input", "cli/test_explain",
        "golden/test_paper_000", "golden/test_paper_001", "golden/test_paper_003",
        "golden/test_paper_004", "golden/test_reading", "golden/test_reading_models",
        "golden/test_closeness", "golden/test_datafly_argus", "golden/test_matrix", "golden/test_weights"]
SECONDS = 300


def run(command, environment=None, seconds=SECONDS, until=None):
    """Runs a command to its end, or to a line that matches; (exit status or None, output)."""
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **(environment or {})}, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                               start_new_session=True)
    ended = []
    timer = threading.Timer(seconds, lambda: (ended.append(1), os.killpg(process.pid, signal.SIGKILL)))
    timer.start()
    lines = []
    for line in process.stdout:
        lines.append(line)
        if until and re.match(until, line):
            os.killpg(process.pid, signal.SIGKILL)
            break
    process.wait()
    timer.cancel()
    return None if ended else process.returncode, "".join(lines)


def unit_fails(name):
    if run(["ninja", "-C", OUT, f"tests/unit/{name}"])[0]:
        return None
    status, text = run([os.path.join(OUT, "tests", "unit", name)],
                       {"CMOCKA_MESSAGE_OUTPUT": "TAP", "ASAN_OPTIONS": "allocator_may_return_null=1"},
                       until="not ok")
    if status is None:
        return f"unit/{name} (no end)"
    first = re.search(r"not ok \d+ - (.*)", text)
    return f"unit/{name}: {first.group(1)}" if first else f"unit/{name} (sanitizer)" if status else ""


def module_fails(entry):
    name, _, cases = entry.partition(":")
    environment = {"SHOAL": os.path.join(OUT, "shoal"), "SHOAL_BUILD": OUT}
    if cases:
        environment["SHOAL_CASES"] = cases
    status, text = run([sys.executable, os.path.join(ROOT, "tests", "run_module.py"),
                        os.path.join(ROOT, "tests", name + ".py")], environment,
                       until='{"test".*"status": "failed"')
    if status is None:
        return f"{name} (no end)"
    for line in text.splitlines():
        if line.startswith('{"test"'):
            outcome = json.loads(line)
            if outcome["status"] == "failed":
                return f"{name}: {outcome['test']}"
    return "" if status == 0 else f"{name} (exit {status})"


def killed_by(mutant, everything):
    """The first test that fails; "" if none does, None if the mutant does not compile."""
    folder = mutant["file"].split("/")[1]
    name = os.path.basename(mutant["file"])
    units = UNITS.get(folder) or [u for start, names in CLUSTER_UNITS.items() if name.startswith(start) for u in names]
    if everything:
        units = MORE_UNITS
    for name in units:
        failed = unit_fails(name)
        if failed is None or failed:
            return failed
    if run(["ninja", "-C", OUT, "shoal"])[0]:
        return None
    for entry in MORE if everything else MODULES[folder]:
        failed = module_fails(entry)
        if failed:
            return failed
    return ""


# ---- the copy and the loop ---------------------------------------------------------------------

def prepare():
    os.makedirs(TREE, exist_ok=True)
    for name in ("meson.build", "meson_options.txt", "include", "src", "tests", "examples", "bench"):
        source, target = os.path.join(ROOT, name), os.path.join(TREE, name)
        if os.path.isfile(source):
            shutil.copy2(source, target)
            continue
        for folder, _, files in os.walk(source):
            inside = os.path.join(target, os.path.relpath(folder, source))
            os.makedirs(inside, exist_ok=True)
            for file in files:
                a, b = os.path.join(folder, file), os.path.join(inside, file)
                if not os.path.exists(b) or open(a, "rb").read() != open(b, "rb").read():
                    shutil.copyfile(a, b)
    if not os.path.exists(os.path.join(OUT, "build.ninja")):
        subprocess.run(["meson", "setup", OUT, TREE, "-Dtests=true", "-Doptimization=1", "-Ddebug=false",
                        "-Dwerror=false", "-Db_sanitize=address", "-Db_lundef=false"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", OUT, "shoal"], check=True, stdout=subprocess.DEVNULL)


def put(mutant, line):
    path = os.path.join(TREE, mutant["file"])
    with open(path, encoding="utf-8") as source:
        lines = source.read().split("\n")
    lines[mutant["line"] - 1] = line
    with open(path, "w", encoding="utf-8") as target:
        target.write("\n".join(lines))


def judge(mutant, everything):
    with open(os.path.join(ROOT, mutant["file"]), encoding="utf-8") as source:
        original = source.read().split("\n")[mutant["line"] - 1]
    started = time.time()
    put(mutant, " " * (len(original) - len(original.lstrip())) + mutant["is"])
    try:
        return killed_by(mutant, everything), time.time() - started
    finally:
        put(mutant, original)


def load(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for option in ("--list", "--survivors", "--table", "--cluster"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--minutes", type=float, default=600)
    options = parser.parse_args()
    if options.cluster:
        FILES.clear()
        FILES.update(CLUSTER)
    mutants, outcomes = chosen(), load(OUTCOMES)
    if options.list:
        for m in mutants:
            print(f"{m['id']} {m['file']}:{m['line']} {m['fault']}\n    {m['was']}\n    {m['is']}")
        print(len(mutants), "mutants of", len(sites()), "places")
        unknown = sorted(set(load(EQUIVALENT)) - {m["id"] for m in mutants}) if not options.cluster else []
        for name in unknown:
            print(f"equivalent.json: {name} is not one of them: remove it")
        return 1 if unknown else 0
    if options.table:
        import table
        return table.write(mutants, outcomes, load(EQUIVALENT), (MORE_UNITS, MORE))
    argued, end = load(EQUIVALENT), time.time() + 60 * options.minutes
    prepare()
    for m in mutants:
        known = outcomes.get(m["id"])
        wanted = (options.only in m["file"] or options.only in m["is"] or options.only == m["id"]) \
            if options.only else known is None
        if options.survivors:
            wanted = known is not None and known["by"] == "" and not known["everything"] and \
                m["id"] not in argued
        if not wanted or time.time() > end:
            continue
        by, seconds = judge(m, options.survivors)
        outcomes[m["id"]] = {"by": by, "seconds": round(seconds, 1), "everything": options.survivors}
        print(f"{m['id']} {m['file']}:{m['line']} {m['fault']}: "
              f"{'does not compile' if by is None else by or 'LIVES'} ({seconds:.1f} s)", flush=True)
        with open(OUTCOMES, "w", encoding="utf-8") as file:
            json.dump(outcomes, file, indent=1)
    counted = [outcomes[m["id"]] for m in mutants if m["id"] in outcomes]
    alive = [m for m in mutants if outcomes.get(m["id"], {}).get("by") == "" and m["id"] not in argued]
    print(len(counted), "judged,", sum(o["by"] is None for o in counted), "do not compile,",
          sum(bool(o["by"]) for o in counted), "killed,", len(alive), "live and are not argued")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
