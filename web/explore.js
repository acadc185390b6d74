// SPDX-License-Identifier: Apache-2.0
// Step 5: everything that is possible, uniform and local.
import { h, card, choose as choice, count, field, percent, plural, rowsTable, table } from "./dom.js";
import { bars, latticePicture, legend, levelsText, lineChart, scatter } from "./charts.js";
import { flow, parseCsv } from "./yaml.js";
import { act, attributes, edit, known, model, page, render, run } from "./app.js";

const MAX_PICTURE = 5000, MAX_POINTS = 1500, MAX_CROSS = 12;
const START = { node: null, figures: null, classes: null, pair: null, pinned: [], filter: {}, points: [], why: "", layer: null, columns: null };
const now = { about: "", ...START };

const hasLattice = () => attributes("quasi").length > 0 && attributes("quasi").every(([, a]) => a.hierarchy && !a.hierarchy.sets);

function forget() {
  const about = `${page.state.data.number} ${page.state.policy.yaml}`;
  if (now.about === about) return;
  Object.assign(now, START, { about });
}

// The figures of nodes, in the order given.
const figuresOf = async (nodes) => {
  const made = await run("nodes", "", { nodes });
  return made ? made.nodes : null;
};

async function choose(node) {
  now.node = node;
  const made = await figuresOf([node]);
  if (!made || now.node !== node) return;
  Object.assign(now, { figures: made[0], classes: null });
  render();
  await look();
}

// The classes at a node, with the labels of the two chosen columns.
async function classesOf(node) {
  const names = Object.keys(node);
  if (!now.pair) now.pair = [names[0], names[Math.min(1, names.length - 1)]];
  const made = await run("nodes", "", { nodes: [node], classes: now.pair });
  return made ? made.classes : null;
}

// Reads the classes of the candidate, and of pinned ones whose pair of columns is another.
async function look() {
  const { node, pair } = now;
  const made = node && await classesOf(node);
  if (!made || now.node !== node || (pair && now.pair !== pair)) return;
  now.classes = made;
  for (const pin of now.pinned) if (pin.pair !== now.pair) Object.assign(pin, { classes: await classesOf(pin.node) || pin.classes, pair: now.pair });
  render();
}

// Points of the plot: nodes that satisfy, the lowest first, and at most MAX_POINTS.
async function plot() {
  const nodes = known("lattice").answer.nodes.filter((n) => n.satisfies && n.classes > 0).sort((a, b) => a.height - b.height).slice(0, MAX_POINTS);
  const made = nodes.length ? await figuresOf(nodes.map((n) => n.node)) : [];
  if (!made) return;
  now.points = nodes.map((n, i) => ({ node: n.node, state: n.minimal ? "minimal" : "good", loss: made[i].loss, risk: made[i].highest_risk, figures: made[i],
    text: `${levelsText(n.node)}: loss ${percent(made[i].loss)}, highest risk ${percent(made[i].highest_risk)}, ${count(made[i].suppressed)} suppressed` }));
}

// What the levels of each quasi-identifier are called. Hierarchies in files are left out.
async function readColumns() {
  const columns = {};
  for (const [name, entry] of attributes("quasi")) {
    if (entry.hierarchy.file) continue;
    const made = await run("hierarchy", "", { column: name, spec: flow(entry.hierarchy) });
    if (!made) return;
    columns[name] = new Map(parseCsv(made.csv).map((row) => [row[0], row]));
  }
  now.columns = columns;
}

const labelOf = (name, value, level) => {
  const column = now.columns && now.columns[name], row = column && column.get(value);
  return row ? row[Math.min(level, row.length - 1)] : level ? `(level ${level})` : value;
};

// The first rows at these levels, before classes that violate the policy are suppressed.
function sample() {
  const profile = known("profile");
  if (!profile || !now.columns || !now.node) return null;
  const { columns, rows } = profile.preview, roles = model().attributes;
  const kept = columns.map((name, i) => [name, i]).filter(([name]) => ["quasi", "sensitive", "keep"].includes((roles[name] || {}).role));
  return h("section", { class: "card all" }, h("h3", null, "Rows at these levels"), rowsTable("The first rows of the table, generalized; rows of small classes are suppressed later",
    { columns: kept.map(([name]) => name), rows: rows.slice(0, 8).map((row) => kept.map(([name, i]) => (now.node[name] === undefined ? row[i] : labelOf(name, row[i], now.node[name])))) }));
}

export async function enter() {
  forget();
  if (page.state.policy.error) return;
  if (!hasLattice()) { now.why = "Uniform releases need a hierarchy for every quasi-identifier. Numbers without one are released locally."; return; }
  try {
    if (!known("lattice")) await run("lattice", "Evaluating every node", {});
    if (!known("lattice")) return;
    if (!now.points.length) await plot();
    if (!now.columns) await readColumns();
    const best = now.points.length ? now.points.reduce((a, b) => (b.loss < a.loss ? b : a)) : null;
    if (!now.node && best) { now.node = best.node; now.figures = best.figures; }
    if (now.node && !now.classes) now.classes = await classesOf(now.node);
  } catch (error) { now.why = error.message; }
}

// Releases exactly this node: levels are fixed in the policy.
const use = (node) => edit((policy) => {
  for (const [name, level] of Object.entries(node)) {
    const entry = { ...policy.attributes[name] };
    delete entry["min-level"];
    delete entry["max-level"];
    if (level > 0) entry["min-level"] = level;
    entry["max-level"] = level;
    policy.attributes[name] = entry;
  }
  policy.method = { ...policy.method, algorithm: "samarati" };
}, "The policy now asks for these levels.");

const unfix = () => edit((policy) => {
  for (const entry of Object.values(policy.attributes)) { delete entry["min-level"]; delete entry["max-level"]; }
}, "All levels are allowed again.");

const FIGURES = [["Satisfies the policy", (f) => (f.satisfies ? "✓ yes" : "✕ no")], ["Information loss of a cell", (f) => percent(f.loss)], ["Highest risk", (f) => percent(f.highest_risk)],
  ["Average risk", (f) => percent(f.average_risk)], ["Smallest class", (f) => plural(f.smallest_class, "row")], ["Classes", (f) => count(f.classes)], ["Rows suppressed", (f) => count(f.suppressed)], ["Height", (f) => count(f.height)]];

function sliders(tops) {
  if (!now.node) return null;
  return h("section", { class: "card side" }, h("h3", null, "One candidate"), h("p", { class: "help" }, "Move a level; the figures follow."),
    Object.entries(tops).map(([name, top]) => {
      const level = now.node[name];
      return h("div", { class: "slider" }, h("label", { for: `level ${name}` }, `${name}: level ${level} of ${top}`),
        h("input", { type: "range", id: `level ${name}`, "data-key": `level ${name}`, min: 0, max: top, value: level, oninput: (event) => {
          event.target.previousSibling.textContent = `${name}: level ${event.target.value} of ${top}`;
          choose({ ...now.node, [name]: Number(event.target.value) });
        } }));
    }),
    now.figures ? h("div", { "aria-live": "polite" }, table("Figures of this candidate", ["figure", "value"], FIGURES.map(([name, text]) => [name, text(now.figures)]))) : null,
    h("p", { class: "row" }, h("button", { type: "button", class: "main", "data-key": "use", disabled: !now.figures || !now.figures.satisfies, onclick: () => use(now.node) }, "Use these levels"),
      h("button", { type: "button", "data-key": "pin", onclick: () => { now.pinned = [...now.pinned.slice(-1), { node: now.node, figures: now.figures, classes: now.classes, pair: now.classes && now.pair }]; render(); act(look); } }, "Pin to compare")));
}

const byRows = (labels) => Object.entries(labels).sort((a, b) => b[1] - a[1]);
const sizeText = (sizes, i) => { const from = sizes[i].from, to = i + 1 < sizes.length ? sizes[i + 1].from - 1 : null; return to === null ? `${count(from)} or more` : to > from ? `${count(from)} to ${count(to)}` : count(from); };

// The classes of the candidate, and what an intruder learns from them.
function classes() {
  if (!now.classes || !now.figures) return null;
  const { sizes, smallest, one_value: alike, suppressed_classes: lost } = now.classes, names = Object.keys(now.node);
  const rows = sizes.map((size, i) => ({ label: sizeText(sizes, i), n: size.classes })).filter((size) => size.n);
  const counted = smallest.some((c) => c.values !== null);
  return h("section", { class: "card" }, h("h3", null, "Classes at these levels"),
    rows.length ? h("p", null, `Someone who knows all quasi-identifiers of a person finds a class of at least ${plural(now.figures.smallest_class, "row")}: they pick the person's row with a chance of at most ${percent(now.figures.highest_risk)}. `,
      alike ? `In ${plural(alike, "class", "classes")} all rows have the same sensitive value: there they learn it without finding the row. ` : counted ? "No class has only one sensitive value. " : "No model counts sensitive values: see step 6 for what a class reveals. ",
      lost ? `Suppressed, because they violate the policy: ${plural(lost, "class", "classes")}.` : "") : h("p", null, "Nothing would be released at these levels."),
    rows.length ? [bars(rows, "Classes by their number of rows"),
      h("details", null, h("summary", null, "As a table"), table("Classes by size", ["rows in the class", "classes"], rows.map((size) => [size.label, count(size.n)]))),
      h("details", { open: true }, h("summary", null, `The ${plural(smallest.length, "smallest class", "smallest classes")}`), table("Where people are easiest to find", [...names, "rows", ...(counted ? ["sensitive values"] : [])],
        smallest.map((c) => [...c.labels, count(c.rows), ...(counted ? [count(c.values)] : [])])))] : null);
}

// Rows of each pair of labels; at most MAX_CROSS of each column, the most frequent.
function crossTable(made, caption) {
  const [first, second] = now.pair;
  const down = byRows(made.labels[first]).slice(0, MAX_CROSS).map(([label]) => label), across = byRows(made.labels[second]).slice(0, MAX_CROSS).map(([label]) => label);
  return table(caption, [`${first} \\ ${second}`, ...across], down.map((a) => [a, ...across.map((b) => count((made.pair[a] || {})[b] || 0))]));
}

function together() {
  const names = now.node ? Object.keys(now.node) : [];
  if (!now.classes || !now.classes.pair || names.length < 2) return null;
  const select = (i) => field(i ? "Columns" : "Rows", choice(names.map((name) => [name, name]), now.pair[i], (name) => { now.pair = now.pair.map((old, j) => (j === i ? name : old)); act(look); }, { "data-key": `pair ${i}` }));
  return h("section", { class: "card" }, h("h3", null, "Two columns together"), h("div", { class: "fields" }, select(0), select(1)),
    crossTable(now.classes, `Released rows by label, at most ${MAX_CROSS} labels of each column`),
    now.pinned.map((pin, i) => (pin.classes && pin.pair === now.pair && pin.classes.pair ? crossTable(pin.classes, `The same of the ${i ? "second" : "first"} pinned candidate`) : null)));
}

function compare() {
  if (!now.pinned.length) return null;
  const [a, b] = now.pinned;
  const names = Object.keys(a.node);
  const rows = [...names.map((name) => [`${name}: level`, a.node[name], b ? b.node[name] : "–"]), ...FIGURES.map(([name, text]) => [name, text(a.figures), b ? text(b.figures) : "–"])];
  const both = b && a.classes && b.classes, shown = both ? names.filter((name) => a.node[name] !== b.node[name]) : [];
  const most = (labels) => { const list = byRows(labels); return `${plural(list.length, "label")}: ${list.slice(0, 4).map(([label, n]) => `${label} ${count(n)}`).join(", ")}${list.length > 4 ? ", …" : ""}`; };
  return h("section", { class: "card all" }, h("h3", null, "Pinned"), shown.length ? table("Attributes that differ: labels with their rows", ["attribute", "first", "second"], shown.map((name) => [name, most(a.classes.labels[name]), most(b.classes.labels[name])])) : null,
    table("Two candidates side by side", ["", "first", "second"], rows),
    both ? table("Classes by size", ["rows in the class", "first", "second"], a.classes.sizes.map((size, i) => [sizeText(a.classes.sizes, i), size.classes, b.classes.sizes[i].classes]).filter(([, first, second]) => first || second).map(([text, first, second]) => [text, count(first), count(second)])) : null,
    b ? null : h("p", { class: "help" }, "Choose another candidate and pin it."),
    h("button", { type: "button", class: "small", onclick: () => { now.pinned = []; render(); } }, "Unpin"));
}

function uniform() {
  const kept = known("lattice");
  if (!kept) return h("p", { class: "notes" }, now.why || "Not evaluated yet.");
  const { nodes } = kept.answer, names = Object.keys(nodes[0].node);
  const tops = Object.fromEntries(names.map((name) => [name, nodes.reduce((top, n) => Math.max(top, n.node[name]), 0)]));
  const shown = nodes.filter((n) => names.every((name) => now.filter[name] === undefined || n.node[name] === now.filter[name]));
  const layers = Math.max(...nodes.map((n) => n.height)) + 1;
  const big = shown.length > MAX_PICTURE;
  const layer = now.layer === null ? 0 : now.layer;
  const drawn = big ? shown.filter((n) => n.height === layer).slice(0, 400) : shown;
  const good = nodes.filter((n) => n.satisfies).length, minimal = nodes.filter((n) => n.minimal);
  return [
    h("p", null, `${plural(nodes.length, "combination")} of levels: ${count(good)} satisfy the policy, ${count(minimal.length)} of them minimal.`,
      good ? "" : " None does: see below what would help."),
    h("div", { class: "cards split" },
      h("section", { class: "card wide" }, h("h3", null, "The lattice by height"),
        h("div", { class: "fields" }, names.map((name) => field(name, h("select", { "data-key": `filter ${name}`, onchange: (event) => { if (event.target.value === "") delete now.filter[name]; else now.filter[name] = Number(event.target.value); render(); } },
          h("option", { value: "" }, "any level"), Array.from({ length: tops[name] + 1 }, (_, i) => h("option", { value: i, selected: now.filter[name] === i }, `level ${i}`)))))),
        big ? field(`More than ${count(MAX_PICTURE)} nodes: height`, h("input", { type: "range", min: 0, max: layers - 1, value: layer, "data-key": "layer", onchange: (event) => { now.layer = Number(event.target.value); render(); } })) : null,
        drawn.length ? latticePicture(drawn, now.node, choose) : h("p", null, "No node has these levels."), legend(),
        h("details", null, h("summary", null, "As a table"), table(`Nodes${drawn.length > 300 ? ", the first 300 that satisfy" : ""}`, ["levels", "height", "verdict", "suppressed", "classes"],
          (drawn.length > 300 ? drawn.filter((n) => n.satisfies).slice(0, 300) : drawn).map((n) => [levelsText(n.node), n.height, n.minimal ? "◆ minimal" : n.satisfies ? "● satisfies" : "✕ violates", count(n.suppressed), count(n.classes)])))),
      sliders(tops),
      now.points.length ? h("section", { class: "card wide" }, h("h3", null, "Risk against loss"), h("p", { class: "help" }, `Every candidate that satisfies the policy${now.points.length === MAX_POINTS ? ` (the lowest ${count(MAX_POINTS)})` : ""}. Down and left is better.`), scatter(now.points, now.node, choose),
        h("details", null, h("summary", null, "As a table"), table("Candidates", ["levels", "loss", "highest risk", "suppressed"], now.points.slice(0, 300).map((p) => [levelsText(p.node), percent(p.loss), percent(p.risk), count(p.figures.suppressed)])))) : null),
    h("div", { class: "cards pair" }, compare(), classes(), together(), sample())];
}

const lossOf = (point) => (point.measures ? point.measures.nil : null);

async function frontier() {
  const privacy = model().privacy || {}, conditions = known("conditions");
  const k = [...new Set([2, 3, 5, 8, 11, 15, 20, privacy.k || 2])].sort((a, b) => a - b).filter((n) => n >= (privacy.p || 1));
  const most = Math.min(conditions ? conditions.answer.max_p || 1 : 1, privacy.k || 1, 8);
  const p = attributes("sensitive").length ? Array.from({ length: most }, (_, i) => i + 1) : [];
  await run("frontier", "Trying values of k and p", { k, p }, (point) => { document.getElementById("say").textContent = `${point.key} = ${point.value}: ${point.refused ? "refused" : `loss ${percent(lossOf(point))}`}`; });
}

function local() {
  const kept = known("frontier");
  const button = h("button", { type: "button", class: kept ? null : "main", "data-key": "frontier", onclick: () => act(frontier) }, kept ? "Try again" : "Try values of k and p");
  if (!kept) return [h("p", null, "What does more protection cost, with the method of the policy? Each point is a release in memory."), button];
  return [button, (model().method || {}).algorithm === "samarati" ? h("p", { class: "help" }, "samarati looks for the least height, so the loss can be less for a larger k.") : null, h("div", { class: "cards" }, ["k", "p"].map((key) => {
    const points = kept.points.filter((p) => p.key === key);
    if (!points.length) return null;
    return card(`Loss against ${key}`, lineChart(points.map((p) => ({ value: p.value, loss: lossOf(p) })), key),
      table(`Releases for ${key}`, [key, "loss", "classes", "suppressed"], points.map((p) => (p.refused ? [p.value, "refused", "–", "–"] : [p.value, percent(lossOf(p)), count(p.output.classes), count(p.output.suppressed)]))));
  }))];
}

function help() {
  const kept = known("explain");
  if (!kept) return h("button", { type: "button", "data-key": "explain", onclick: () => act(() => run("explain", "Explaining", {})) }, "Explain what costs most");
  const { answer } = kept;
  const changes = answer.changes || [];
  return [h("p", null, answer.met ? "The policy can be satisfied." : "The policy cannot be satisfied as it is."),
    changes.length ? table("The smallest changes that would help; each was tried", ["change", "from", "to", "then suppressed"], changes.map((c) => [c.change, String(c.from), String(c.to), count(c.suppressed)])) : h("p", null, "No single change of k, p or suppression helps more.")];
}

export function view() {
  if (!model()) return h("p", null, "Open a table first.");
  const fixed = attributes().some(([, a]) => a["max-level"] !== undefined || a["min-level"] !== undefined);
  return [
    h("p", { class: "lead" }, "Everything that is possible under this policy. Choose a candidate, or go on: shoal chooses by itself."),
    fixed ? h("p", { class: "notes" }, "Levels are fixed in the policy. ", h("button", { type: "button", class: "small", "data-key": "unfix", onclick: () => unfix().then(() => act(enter)) }, "Allow all levels")) : null,
    h("h2", null, "Uniform: one level for each column"), uniform(),
    h("h2", null, "Cost of protection"), local(),
    h("h2", null, "Why, and what would help"), help(),
    h("p", null, h("a", { class: "button main", href: "#release" }, "Next: release"))];
}
