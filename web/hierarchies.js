// SPDX-License-Identifier: Apache-2.0
// Step 3: how values of a quasi-identifier become coarser.
import { h, field, choose, count, plural, save, table } from "./dom.js";
import { boundsChart } from "./charts.js";
import { flow, parseCsv } from "./yaml.js";
import { act, attributes, edit, model, page, render, run, say } from "./app.js";

// chosen column; what is known of it: values, rows of its hierarchy, error
const now = { column: "", about: "", values: null, levels: null, error: "", picked: new Set() };

const KINDS = [["", "none: numbers become the smallest interval, texts a set or *"], ["intervals", "intervals of equal width"], ["cuts", "intervals with your own bounds"],
  ["mask", "mask characters from one side"], ["tree", "groups of values"], ["date", "parts of a date"], ["top", "only *"], ["sets", "sets of values"]];
const START = { intervals: { intervals: [5, 10, 20] }, mask: { mask: "right" }, tree: { tree: {} }, date: { date: ["day", "month", "year"] }, top: { top: true }, sets: { sets: true } };

const entryOf = (name) => ((model() || {}).attributes || {})[name] || {};
const kindOf = (spec) => (spec ? ["intervals", "cuts", "mask", "tree", "levels", "date", "top", "sets", "file", "round"].find((k) => spec[k] !== undefined) || "" : "");

const setHierarchy = (name, spec, saying) => edit((policy) => {
  const entry = { ...policy.attributes[name] };
  if (spec) entry.hierarchy = spec;
  else delete entry.hierarchy;
  if (spec && (spec.intervals || spec.cuts) && !entry.type) entry.type = "number";
  policy.attributes[name] = entry;
}, saying || `The hierarchy of ${name} was changed.`).then(() => act(load));

// Numbers by size, other values as they come.
const inOrder = (rows) => (rows.every((r) => r[0] === "" || Number.isFinite(Number(r[0]))) ? rows.sort((a, b) => Number(a[0]) - Number(b[0])) : rows);

async function load() {
  const names = attributes().filter(([, a]) => a.role === "quasi" || a.hierarchy).map(([name]) => name);
  if (!names.includes(now.column)) now.column = names[0] || "";
  if (!now.column) return;
  const spec = entryOf(now.column).hierarchy, wanted = `${page.state.data.number} ${now.column}`;
  if (now.about !== wanted) {
    now.picked.clear();
    now.values = await run("values", "", { column: now.column });
    now.about = wanted;
  }
  now.levels = null;
  now.error = "";
  const kind = kindOf(spec);
  if (!kind || kind === "file" || kind === "sets" || (kind === "tree" && !Object.keys(spec.tree).length)) return;
  try {
    const made = await run("hierarchy", "", { column: now.column, spec: flow(spec) });
    now.levels = made ? inOrder(parseCsv(made.csv)) : null;
  } catch (error) { now.error = error.message; }
}

export const enter = load;

// ---- the tree with counts

function tree() {
  if (!now.levels || !now.levels.length) return null;
  const rows = new Map(now.values.values);
  const top = Math.max(...now.levels.map((l) => l.length)) - 1;
  const build = (items, level) => {
    const groups = new Map();
    for (const item of items) {
      const label = item[Math.min(level, item.length - 1)];
      groups.set(label, [...(groups.get(label) || []), item]);
    }
    return [...groups].map(([label, members]) => {
      const n = members.reduce((sum, m) => sum + (rows.get(m[0]) || 0), 0);
      const text = `${label} – ${plural(n, "row")}${level ? `, ${plural(members.length, "value")}` : ""}`;
      if (!level || members.length > 400) return h("li", null, text);
      return h("li", null, h("details", { open: level >= top - 1 }, h("summary", null, text), h("ul", null, build(members, level - 1))));
    });
  };
  const shown = now.levels.slice(0, 2000);
  return h("section", { class: "card" }, h("h3", null, "The tree with counts"), h("p", { class: "help" }, `${plural(top, "level")} above the values. A label of a lower level loses less.`),
    h("ul", { class: "tree" }, build(shown, top)));
}

// ---- editors

function numbersOf(text) {
  return text.split(/[,;\s]+/).map(Number).filter((n) => Number.isFinite(n));
}

function intervals(name, spec) {
  return field("Widths, each a multiple of the one before", h("input", { value: [].concat(spec.intervals).join(", "), "data-key": "widths",
    onchange: (event) => setHierarchy(name, { ...spec, intervals: numbersOf(event.target.value) }) }), "5, 10, 20 makes 34 → [30-34] → [30-39] → [20-39] → *");
}

function cuts(name, spec) {
  const levels = (Array.isArray(spec.cuts[0]) ? spec.cuts : [spec.cuts]).map((l) => l.map(Number));
  const bounds = levels[0];
  const set = (next) => setHierarchy(name, { ...spec, cuts: [[...new Set(next)].sort((a, b) => a - b), ...levels.slice(1).map((l) => l.filter((b) => next.includes(b)))].filter((l) => l.length) });
  const move = (i, value) => set(bounds.map((b, j) => (j === i ? value : b)));
  return [now.values && now.values.shape && now.values.shape.kind === "numbers" ? boundsChart(now.values.shape, bounds, move) : null,
    field("Bounds", h("input", { value: bounds.join(", "), "data-key": "bounds", onchange: (event) => set(numbersOf(event.target.value)) }), "Drag a bound on the histogram, move it by arrow keys, or write the numbers. A bound is the first number of the interval above it.")];
}

function mask(name, spec) {
  return field("Hidden first", choose([["right", "the last character: 41074 → 4107*"], ["left", "the first character: 41074 → *1074"]], spec.mask, (side) => setHierarchy(name, { ...spec, mask: side }), { "data-key": "mask" }));
}

function groups(name, spec) {
  const groupsNow = spec.tree || {};
  if (Object.values(groupsNow).some((members) => !Array.isArray(members) || members.some((m) => typeof m === "object")))
    return h("p", { class: "notes" }, "This tree has more than one level of groups. Edit it as YAML, or import a CSV file.");
  const of = new Map(Object.entries(groupsNow).flatMap(([group, members]) => members.map((m) => [String(m), group])));
  const values = now.values ? now.values.values.filter(([v]) => v !== "") : [];
  const set = (next, saying) => { now.picked.clear(); setHierarchy(name, { ...spec, tree: Object.fromEntries(Object.entries(next).filter(([, m]) => m.length)) }, saying); };
  const without = (taken) => Object.fromEntries(Object.entries(groupsNow).map(([g, m]) => [g, m.filter((v) => !taken.has(String(v)))]));
  const label = h("input", { id: "groupName", "data-key": "groupName" });
  const group = (event) => {
    event.preventDefault();
    const target = label.value.trim();
    if (!target || !now.picked.size) { say("Choose values and name the group."); return; }
    const next = without(now.picked);
    const members = [...(Object.hasOwn(next, target) ? next[target] : []), ...now.picked];
    set(Object.fromEntries([...Object.entries(next), [target, members]]), `${plural(now.picked.size, "value")} moved to ${target}.`);
  };
  const rename = (old, fresh) => {
    if (!fresh || fresh === old || Object.hasOwn(groupsNow, fresh)) { render(); return; }
    set(Object.fromEntries(Object.entries(groupsNow).map(([g, m]) => [g === old ? fresh : g, m])), `${old} is now ${fresh}.`);
  };
  const rest = values.filter(([v]) => !of.has(v)).length;
  return [
    rest ? h("p", { class: "notes" }, `${plural(rest, "value")} in no group. Every value needs one before a release.`) : null,
    h("form", { class: "row", onsubmit: group }, field("Name of the group", label, "A name that exists takes the values too."), h("button", { "data-key": "makeGroup" }, "Move the chosen values there")),
    h("div", { class: "two" },
      h("fieldset", { class: "values" }, h("legend", null, "Values"), values.slice(0, 500).map(([v, n]) => h("label", { class: of.has(v) ? null : "ask" },
        h("input", { type: "checkbox", checked: now.picked.has(v), "data-key": `value ${v}`, onchange: (event) => (event.target.checked ? now.picked.add(v) : now.picked.delete(v)) }), ` ${v} `,
        h("small", null, `${count(n)} rows${of.has(v) ? `, in ${of.get(v)}` : ", no group"}`)))),
      h("div", null, Object.entries(groupsNow).map(([g, m]) => h("div", { class: "group" },
        h("input", { value: g, "aria-label": `Name of the group ${g}`, "data-key": `group ${g}`, onchange: (event) => rename(g, event.target.value.trim()) }),
        h("small", null, m.join(", ")), h("button", { type: "button", class: "small", onclick: () => set(Object.fromEntries(Object.entries(groupsNow).filter(([x]) => x !== g)), `${g} was dissolved.`) }, `Dissolve ${g}`)))))];
}

// Rows value;level1;..;top for the policy: one level of groups below * as a tree, which can be edited here.
function fromRows(rows) {
  if (rows.some((row) => row.length !== 3 || row[2] !== "*")) return { levels: rows };
  const groups = new Map();
  for (const [value, group] of rows) groups.set(group, [...(groups.get(group) || []), value]);
  return { tree: Object.fromEntries(groups) };
}

function importCsv(name) {
  const input = h("input", { type: "file", accept: ".csv,text/csv", id: "importCsv", "data-key": "importCsv", onchange: async () => {
    const rows = parseCsv(await input.files[0].text()).filter((r) => r.length > 1);
    const wrong = rows.findIndex((r) => r.length !== rows[0].length);
    if (!rows.length || rows[0].length < 3) { say("The file has no rows such as value;level1;*"); return; }
    if (wrong >= 0) { say(`Row ${wrong + 1} has ${rows[wrong].length} cells, row 1 has ${rows[0].length}: give every value the same levels.`); return; }
    setHierarchy(name, fromRows(rows), `${plural(rows.length, "row")} imported.`);
  } });
  return field("Import a CSV file", input, "Rows value;level1;...;top without a header.");
}

function editor(name) {
  const spec = entryOf(name).hierarchy, kind = kindOf(spec);
  const options = KINDS.some(([k]) => k === kind) ? KINDS : [...KINDS, [kind, kind === "file" ? `file ${spec.file}` : kind === "levels" ? "rows of a table" : kind]];
  const shape = now.values && now.values.shape;
  const start = (wanted) => (wanted !== "cuts" ? START[wanted] : { cuts: [shape && shape.kind === "numbers" ? [0.25, 0.5, 0.75].map((t) => Math.round(shape.low + t * (shape.high - shape.low))) : [0]] });
  return h("section", { class: "card wide" }, h("h3", null, name),
    field("Kind", choose(options, kind, (wanted) => setHierarchy(name, wanted ? structuredClone(start(wanted)) : null), { "data-key": "kind" })),
    kind === "intervals" ? intervals(name, spec) : kind === "cuts" ? cuts(name, spec) : kind === "mask" ? mask(name, spec) : kind === "tree" ? groups(name, spec) : null,
    kind === "file" ? h("p", { class: "notes" }, "The policy reads this file. To edit it here, import it.") : null,
    kind === "levels" ? h("p", { class: "notes" }, "The policy has the rows of a table. To change them, export it, edit the file and import it again.") : null,
    now.error && h("p", { class: "error", role: "alert" }, now.error),
    h("div", { class: "row" }, importCsv(name),
      now.levels && h("button", { type: "button", "data-key": "exportCsv", onclick: () => save(new Blob([now.levels.map((r) => r.map((c) => (/[;"\n]/.test(c) ? `"${c.replace(/"/g, '""')}"` : c)).join(";")).join("\n") + "\n"], { type: "text/csv" }), `${name}.csv`) }, "Export as CSV")));
}

export function view() {
  const list = attributes().filter(([, a]) => a.role === "quasi" || a.hierarchy);
  if (!list.length) return h("p", null, "No column is a quasi-identifier yet: choose roles in the step Columns.");
  const names = list.map(([name]) => name);
  return [
    h("p", { class: "lead" }, "A hierarchy says how a value becomes coarser, level by level, until it is *. Uniform releases need one for every quasi-identifier; local releases need none for numbers."),
    h("div", { class: "tabs", role: "group", "aria-label": "Quasi-identifiers" }, names.map((name) => h("button", { type: "button", "aria-pressed": String(name === now.column), "data-key": `column ${name}`,
      onclick: () => { now.column = name; act(load); } }, name, h("small", null, kindOf(entryOf(name).hierarchy) || "none")))),
    now.column ? h("div", { class: "cards" }, editor(now.column), tree()) : null,
    h("p", null, h("a", { class: "button main", href: "#protection" }, "Next: protection"))];
}
