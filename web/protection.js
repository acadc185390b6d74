// SPDX-License-Identifier: Apache-2.0
// Step 4: what must hold.
import { h, card, field, choose, count, plural } from "./dom.js";
import { attributes, edit, known, model, page } from "./app.js";

const INTRUDERS = [
  ["A neighbour or colleague", "that a certain person is in the table, and this person's quasi-identifiers.", "k makes at least k people look alike. The highest risk is 1/k.", (m) => `k = ${m.k || 1}`],
  ["Somebody who wants a secret", "the class of a person. If all rows of the class share a sensitive value, the value is known too.", "p asks for p different sensitive values in each class.", (m) => `p = ${m.p || 1}`],
  ["A journalist", "a register with names, and wants to show that somebody can be found.", "k bounds this risk too; the register only makes it smaller.", (m) => `k = ${m.k || 1}`],
  ["A marketer", "a list of many people, and wants to match as many rows as possible.", "The average risk bounds the share of rows that match.", () => "see step Risk"]];

// What a model prevents, in one sentence. Others have the summary of the catalog.
const PREVENTS = {
  "extended-p-sensitive": "Prevents that a class has different values which all mean the same, such as two cancers.",
  "l-diversity": "Prevents that one sensitive value is much more likely than the others in a class.",
  "t-closeness": "Prevents that the sensitive values of a class differ much from those of the whole table.",
  "alpha-k": "Prevents that a sensitive value has a share above alpha in a class.",
  "p-plus-sensitive": "Prevents that all values of a class are of one category.",
  "p-alpha-sensitive": "Prevents that the values of a class are, weighted by category, too sensitive.",
  "theta-sensitive": "Prevents that sensitive numbers of a class lie too close together.",
  personalized: "Prevents that a person's own limit, given in a column, is exceeded.",
};
const PARAMETERS = {
  "extended-p-sensitive": { p: 2 }, "l-diversity": { kind: "distinct", l: 2 }, "t-closeness": { t: 0.3 }, "alpha-k": { alpha: 0.5 }, "p-plus-sensitive": { p: 2 },
};
const METHODS = [["auto", "let shoal choose"], ["samarati", "uniform, least height"], ["optimal", "uniform, least loss"], ["flock", "local, least loss"], ["mondrian", "local, fast"]];

const setPrivacy = (change, saying) => edit((policy) => {
  policy.privacy = { ...policy.privacy };
  change(policy.privacy);
}, saying);
const setMethod = (key, value) => edit((policy) => {
  policy.method = { ...policy.method };
  if (value === "") delete policy.method[key];
  else policy.method[key] = value;
  if (!Object.keys(policy.method).length) delete policy.method;
}, `${key} is ${value || "the default"}.`);

function whole(name, value, low, high, onchange, key) {
  return h("input", { type: "number", min: low, max: high, value, "data-key": key, onchange: (event) => {
    const n = Math.max(low, Math.round(Number(event.target.value)) || low);
    onchange(n);
  } });
}

function conditionText(attribute) {
  const kept = known("conditions");
  if (!kept) return null;
  const found = kept.answer.models.find((m) => m.parameter === "p" && (!attribute || m.attribute === attribute));
  return found ? `p can be at most ${found.max_p} here${found.attribute ? ` (${found.attribute} has ${plural(found.max_p, "value")})` : ""}, with at most ${plural(found.max_groups, "class", "classes")}.` : null;
}

function example(privacy) {
  const quasi = attributes("quasi").map(([name]) => name), sensitive = attributes("sensitive").map(([name]) => name);
  if (!quasi.length) return "No quasi-identifier is chosen yet.";
  return `Somebody who knows ${quasi.slice(0, 3).join(", ")}${quasi.length > 3 ? " and more" : ""} of a person finds at least ${privacy.k || 1} rows that fit${sensitive.length && privacy.p > 1 ? `, with at least ${privacy.p} different values of ${sensitive[0]}` : ""}.`;
}

function strength(privacy) {
  const check = known("check"), rows = check ? check.answer.rows : 0;
  return card("How strong", h("div", { class: "fields" },
    field("k: rows that look alike", whole("k", privacy.k || 1, 1, 1000000, (n) => setPrivacy((p) => { p.k = n; }, `k is ${n}.`), "k"), rows ? `From 1 to ${count(rows)}. Common: 3, 5, 11, 20.` : ""),
    field("p: different sensitive values", whole("p", privacy.p || 1, 1, 1000000, (n) => setPrivacy((p) => { if (n > 1) p.p = n; else delete p.p; }, `p is ${n}.`), "p"), conditionText() || "Needs a sensitive column.")),
    h("p", { class: "info", id: "meaning" }, example(privacy)));
}

function method(policy) {
  const settings = policy.method || {};
  const known = METHODS.some(([id]) => id === (settings.algorithm || "auto")) ? METHODS : [...METHODS, [settings.algorithm, settings.algorithm]];
  return card("How", h("div", { class: "fields" },
    field("Method", choose(known, settings.algorithm || "auto", (v) => setMethod("algorithm", v), { "data-key": "algorithm" }), "Uniform: every row of a column has labels of the same level. Local: less loss, labels overlap."),
    field("Rows that may be suppressed", h("input", { value: settings["max-suppression"] === undefined ? "0" : settings["max-suppression"], "data-key": "suppression", onchange: (event) => setMethod("max-suppression", event.target.value.trim()) }), "A number of rows, or a share such as 1%.")));
}

function modelCard(entry, i) {
  const [name, parameters] = Object.entries(entry)[0];
  const set = (key, text) => setPrivacy((p) => {
    const value = text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
    p.models = structuredClone(p.models);
    p.models[i][name] = { ...p.models[i][name], [key]: value };
    if (value === "") delete p.models[i][name][key];
  }, `${name}: ${key} is ${text}.`);
  const kept = known("conditions"), bound = kept && kept.answer.models.find((m) => m.model === name);
  return card(name, h("p", null, PREVENTS[name] || (page.catalog.models.find((m) => m.name === name) || {}).summary || ""),
    h("div", { class: "fields" }, Object.entries(parameters || {}).map(([key, value]) => field(key, h("input", { value, "data-key": `model ${i} ${key}`, onchange: (event) => set(key, event.target.value.trim()) })))),
    bound && bound.bounded ? h("p", { class: "help" }, `${bound.parameter} can be at most ${bound.max_p} here.`) : null,
    h("button", { type: "button", class: "small", onclick: () => setPrivacy((p) => { p.models = p.models.filter((_, j) => j !== i); if (!p.models.length) delete p.models; }, `${name} was removed.`) }, `Remove ${name}`));
}

export function view() {
  const policy = model();
  if (!policy) return h("p", null, "Open a table first.");
  const privacy = policy.privacy || {}, models = privacy.models || [];
  const check = known("check"), conditions = known("conditions");
  return [
    h("p", { class: "lead" }, "Who could look at the release, what do they know, and what must they not learn?"),
    conditions && !conditions.holds ? h("p", { class: "error", role: "alert" }, "The table cannot satisfy this: a model asks for more than the columns allow. Lower it.") : null,
    h("div", { class: "cards" }, strength(privacy), method(policy)),
    h("h2", null, "The intruder"),
    h("div", { class: "cards narrow" }, INTRUDERS.map(([name, knows, helps, value]) => card(name, h("p", null, h("b", null, "Knows: "), knows), h("p", null, h("b", null, "Helps: "), helps), h("p", { class: "value" }, value(privacy))))),
    h("h2", null, "More models"),
    h("div", { class: "cards" }, models.map(modelCard),
      card("Add a model", h("div", { class: "row" }, Object.keys(PARAMETERS).filter((name) => !models.some((m) => m[name])).map((name) => h("button", { type: "button", "data-key": `add ${name}`, title: PREVENTS[name],
        onclick: () => setPrivacy((p) => { p.models = [...(p.models || []), { [name]: structuredClone(PARAMETERS[name]) }]; }, `${name} was added.`) }, name))),
        h("p", { class: "help" }, "All models must hold. Others can be written in the YAML."))),
    check ? h("p", { class: "info" }, check.holds ? "The table as it is satisfies these models." : `The table as it is does not satisfy them: its smallest class has ${plural(check.answer.smallest_class, "row")}.`) : null,
    h("p", null, h("a", { class: "button main", href: "#explore" }, "Next: explore"))];
}
