// SPDX-License-Identifier: Apache-2.0
// Step 2: what each column is.
import { h, field, choose, count, percent } from "./dom.js";
import { sparkline } from "./charts.js";
import { edit, known, model } from "./app.js";

const ROLES = [["identifier", "identifier"], ["quasi", "quasi-identifier"], ["sensitive", "sensitive"], ["keep", "keep"], ["person", "person"]];
const MEANING = { identifier: "says who it is; removed", quasi: "others may know it; generalized", sensitive: "must not be learnt; protected", keep: "released unchanged",
  person: "key of a person; removed, k counts people", household: "key of a household", pseudonym: "replaced by a pseudonym" };
const KEYS = { i: "identifier", q: "quasi", s: "sensitive", k: "keep", p: "person" };
const TYPES = [["", "text"], ["number", "number"], ["date", "date"]];

const fits = (pattern, name) => new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")}$`, "i").test(name);

function setRole(names, role) {
  return edit((policy) => {
    for (const name of names) {
      const entry = { ...(policy.attributes[name] || {}), role };
      delete entry.decide;
      if (role !== "quasi" && role !== "sensitive") delete entry.hierarchy;
      policy.attributes[name] = entry;
    }
  }, names.length === 1 ? `${names[0]} is ${role}.` : `${names.length} columns are ${role}.`);
}

const setType = (name, type) => edit((policy) => {
  const entry = { ...(policy.attributes[name] || {}) };
  if (type) entry.type = type;
  else delete entry.type;
  policy.attributes[name] = entry;
}, `${name} is ${type || "text"}.`);

function line(column, spark, entry, rows) {
  const name = column.column, role = entry.role || column.role;
  const options = ROLES.some(([id]) => id === role) ? ROLES : [...ROLES, [role, role]];
  const key = (event) => {
    const wanted = KEYS[event.key];
    if (!wanted || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (wanted !== role) setRole([name], wanted);
  };
  const kind = Array.isArray(entry.type) ? "" : entry.type || "";
  return h("tr", { class: entry.decide ? "ask" : null },
    h("th", { scope: "row" }, name, entry.decide && h("span", { class: "badge" }, "decide")),
    h("td", null, sparkline(spark)),
    [["distinct", count(column.distinct)], ["missing", count(column.missing)], ["rows alone", percent(rows ? column.unique / rows : 0)]].map(([head, text]) => h("td", { class: "num", "data-name": head }, text)),
    h("td", null, choose(TYPES, kind, (value) => setType(name, value), { "aria-label": `Type of ${name}`, "data-key": `type ${name}` })),
    h("td", { class: "pick" }, choose(options, role, (value) => setRole([name], value), { "aria-label": `Role of ${name}`, "data-key": `role ${name}`, onkeydown: key, class: `role ${role}` }),
      entry.decide && h("button", { type: "button", class: "small", onclick: () => setRole([name], role), "data-key": `decide ${name}` }, "It is so")),
    h("td", { class: "why" }, h("b", null, MEANING[role] || role), h("br"), h("small", null, `suggested: ${column.role}; ${column.why}`)));
}

// What is typed and chosen in the form: the view may be drawn again before it is applied.
const typed = { pattern: "", role: "quasi" };

function bulk(profile) {
  const pattern = h("input", { id: "pattern", placeholder: "V5*", "data-key": "pattern", oninput: () => { typed.pattern = pattern.value; } });
  pattern.value = typed.pattern;
  const role = choose(ROLES, typed.role, (value) => { typed.role = value; }, { id: "bulkRole", "data-key": "bulkRole" });
  const apply = (event) => {
    event.preventDefault();
    const names = profile.columns.map((c) => c.column).filter((name) => pattern.value && fits(pattern.value, name));
    if (names.length) setRole(names, role.value);
  };
  return h("form", { class: "row", onsubmit: apply }, field("Columns by pattern", pattern), field("become", role), h("button", { "data-key": "bulkApply" }, "Apply"));
}

export function view() {
  const kept = known("profile"), policy = model();
  if (!kept || !policy) return h("p", null, "Open a table first.");
  const { answer, sparks } = kept;
  const entryOf = (name) => policy.attributes[name] || {};
  const order = answer.columns.map((column, i) => ({ column, spark: sparks[i], entry: entryOf(column.column) })).sort((a, b) => Number(Boolean(b.entry.decide)) - Number(Boolean(a.entry.decide)));
  const open = order.filter((o) => o.entry.decide).length;
  return [
    h("p", { class: "lead" }, "Say what each column is. shoal suggests from names, values and counts; it does not know what others can find out. You decide."),
    open ? h("p", { class: "notes" }, `${open} ${open === 1 ? "column needs" : "columns need"} your decision; ${open === 1 ? "it is" : "they are"} listed first. No release is made before.`) : null,
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Columns of the table" },
      h("table", { class: "list" }, h("caption", null, "Columns. In the role field, the keys i, q, s, k and p choose a role."),
        h("thead", null, h("tr", null, ["column", "distribution", "distinct", "missing", "rows alone", "type", "role", "what that means"].map((t) => h("th", { scope: "col" }, t)))),
        h("tbody", null, order.map((o) => line(o.column, o.spark, o.entry, answer.rows))))),
    bulk(answer),
    h("p", null, h("a", { class: "button main", href: "#hierarchies" }, "Next: hierarchies"))];
}
