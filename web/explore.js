// SPDX-License-Identifier: Apache-2.0
// Step 5: everything that is possible, uniform and local.
import { h, card, count, field, percent, plural, rowsTable, table } from "./dom.js";
import { latticePicture, legend, levelsText, lineChart, scatter } from "./charts.js";
import { flow, parseCsv } from "./yaml.js";
import { act, attributes, edit, known, model, page, render, run } from "./app.js";

const MAX_PICTURE = 5000, MAX_POINTS = 1500;
const now = { node: null, figures: null, pinned: [], filter: {}, points: [], about: "", why: "", layer: null, columns: null };

const hasLattice = () => attributes("quasi").length > 0 && attributes("quasi").every(([, a]) => a.hierarchy && !a.hierarchy.sets);

function forget() {
  const about = `${page.state.data.number} ${page.state.policy.yaml}`;
  if (now.about === about) return;
  Object.assign(now, { about, node: null, figures: null, pinned: [], filter: {}, points: [], why: "", layer: null, columns: null });
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
  now.figures = made[0];
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

// What the levels of each quasi-identifier are called, and how many rows each value has. Hierarchies in files are left out.
async function readColumns() {
  const columns = {};
  for (const [name, entry] of attributes("quasi")) {
    if (entry.hierarchy.file) continue;
    const values = await run("values", "", { column: name }), made = await run("hierarchy", "", { column: name, spec: flow(entry.hierarchy) });
    if (!values || !made) return;
    columns[name] = { rows: values.values, labels: new Map(parseCsv(made.csv).map((row) => [row[0], row])) };
  }
  now.columns = columns;
}

const labelOf = (name, value, level) => {
  const column = now.columns && now.columns[name], row = column && column.labels.get(value);
  return row ? row[Math.min(level, row.length - 1)] : level ? `(level ${level})` : value;
};

// Rows of each label of a column at a level, the most frequent first.
function labelRows(name, level) {
  const sums = new Map();
  for (const [value, n] of now.columns[name].rows) sums.set(labelOf(name, value, level), (sums.get(labelOf(name, value, level)) || 0) + n);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

// The first rows at these levels, before classes that violate the policy are suppressed.
function sample() {
  const profile = known("profile");
  if (!profile || !now.columns || !now.node) return null;
  const { columns, rows } = profile.preview, roles = model().attributes;
  const kept = columns.map((name, i) => [name, i]).filter(([name]) => ["quasi", "sensitive", "keep"].includes((roles[name] || {}).role));
  return h("section", { class: "card wide" }, h("h3", null, "Rows at these levels"), rowsTable("The first rows of the table, generalized; rows of small classes are suppressed later",
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
  return card("One candidate", h("p", { class: "help" }, "Move a level; the figures follow."),
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
      h("button", { type: "button", "data-key": "pin", onclick: () => { now.pinned = [...now.pinned.slice(-1), { node: now.node, figures: now.figures }]; render(); } }, "Pin to compare")));
}

function compare() {
  if (!now.pinned.length) return null;
  const [a, b] = now.pinned;
  const names = Object.keys(a.node);
  const rows = [...names.map((name) => [`${name}: level`, a.node[name], b ? b.node[name] : "–"]), ...FIGURES.map(([name, text]) => [name, text(a.figures), b ? text(b.figures) : "–"])];
  const shown = b && now.columns ? names.filter((name) => now.columns[name] && a.node[name] !== b.node[name]) : [];
  const most = (name, level) => { const list = labelRows(name, level); return `${plural(list.length, "label")}: ${list.slice(0, 4).map(([label, n]) => `${label} ${count(n)}`).join(", ")}${list.length > 4 ? ", …" : ""}`; };
  return card("Pinned", shown.length ? table("Attributes that differ: labels with their rows", ["attribute", "first", "second"], shown.map((name) => [name, most(name, a.node[name]), most(name, b.node[name])])) : null,
    table("Two candidates side by side", ["", "first", "second"], rows), b ? null : h("p", { class: "help" }, "Choose another candidate and pin it."),
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
    h("div", { class: "cards" },
      h("section", { class: "card wide" }, h("h3", null, "The lattice by height"),
        h("div", { class: "fields" }, names.map((name) => field(name, h("select", { "data-key": `filter ${name}`, onchange: (event) => { if (event.target.value === "") delete now.filter[name]; else now.filter[name] = Number(event.target.value); render(); } },
          h("option", { value: "" }, "any level"), Array.from({ length: tops[name] + 1 }, (_, i) => h("option", { value: i, selected: now.filter[name] === i }, `level ${i}`)))))),
        big ? field(`More than ${count(MAX_PICTURE)} nodes: height`, h("input", { type: "range", min: 0, max: layers - 1, value: layer, "data-key": "layer", onchange: (event) => { now.layer = Number(event.target.value); render(); } })) : null,
        drawn.length ? latticePicture(drawn, now.node, choose) : h("p", null, "No node has these levels."), legend(),
        h("details", null, h("summary", null, "As a table"), table(`Nodes${drawn.length > 300 ? ", the first 300 that satisfy" : ""}`, ["levels", "height", "verdict", "suppressed", "classes"],
          (drawn.length > 300 ? drawn.filter((n) => n.satisfies).slice(0, 300) : drawn).map((n) => [levelsText(n.node), n.height, n.minimal ? "◆ minimal" : n.satisfies ? "● satisfies" : "✕ violates", count(n.suppressed), count(n.classes)])))),
      sliders(tops),
      now.points.length ? h("section", { class: "card wide" }, h("h3", null, "Risk against loss"), h("p", { class: "help" }, `Every candidate that satisfies the policy${now.points.length === MAX_POINTS ? ` (the lowest ${count(MAX_POINTS)})` : ""}. Down and left is better.`), scatter(now.points, now.node, choose),
        h("details", null, h("summary", null, "As a table"), table("Candidates", ["levels", "loss", "highest risk", "suppressed"], now.points.slice(0, 300).map((p) => [levelsText(p.node), percent(p.loss), percent(p.risk), count(p.figures.suppressed)])))) : null,
      sample(), compare())];
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
  return [button, h("div", { class: "cards" }, ["k", "p"].map((key) => {
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
