// SPDX-License-Identifier: Apache-2.0
// Step 6: who can still be found, and what can still be learnt.
import { h, card, count, percent, plural, table } from "./dom.js";
import { pairBars } from "./charts.js";
import { act, known, run } from "./app.js";

const NAMES = { linking: "Linking with a register", homogeneity: "One value in a whole class", "background-knowledge": "Values ruled out", similarity: "Similar values",
  skewness: "Unusual shares", "categorical-similarity": "One category", "sensitive-variance": "Numbers close together", minimality: "Minimality", repeated: "Earlier releases", order: "Order of rows", "known-records": "Known records", "repeated-releases": "Earlier releases", "unsorted-matching": "Order of rows", downcoding: "Finer labels than released" };

export async function enter() {
  if (!known("anonymize")) return;
  if (!known("measure")) await run("measure", "Measuring", {});
  if (!known("attack")) await run("attack", "Attacking the release", {});
}

function kinds(risk) {
  const { before, after } = risk;
  const journalist = risk.population ? percent(risk.population.highest) : "at most the same";
  return h("div", { class: "cards" },
    card("Prosecutor", h("p", { class: "figure" }, percent(after.prosecutor.highest)), h("p", null, `Somebody who knows that a person is in the table finds the row with at most this probability. Before: ${percent(before.prosecutor.highest)}.`)),
    card("Journalist", h("p", { class: "figure" }, journalist), h("p", null, "Somebody with a register of the population. The register can only make the risk smaller.")),
    card("Marketer", h("p", { class: "figure" }, percent(after.marketer)), h("p", null, `The share of rows that a list would match on average. Before: ${percent(before.marketer)}.`)));
}

// Attacks refer to one another by names that the cards do not show.
const knowledge = (attack) => attack.knowledge.replace("as homogeneity", "that a person is in the release, the person's quasi-identifiers");

function attackCard(attack) {
  const name = NAMES[attack.attack] || attack.attack, about = attack.attribute ? `${name}: ${attack.attribute}` : name;
  if (attack.not_run) return card(about, h("p", { class: "verdict none" }, "○ not run"), h("p", null, h("b", null, "Intruder: "), knowledge(attack)), h("p", { class: "help" }, attack.not_run));
  const { counts } = attack;
  if (!counts) return card(about, h("p", { class: "verdict none" }, "○ reported, not simulated"), h("p", null, h("b", null, "Intruder knows: "), knowledge(attack), ". ", h("b", null, "Learns: "), attack.learns, "."), attack.note ? h("p", { class: "help" }, attack.note) : null);
  return card(attack.ruled_out ? `${about}, ${plural(attack.ruled_out, "value")} ruled out` : about,
    h("p", { class: `verdict ${attack.succeeds ? (attack.counted ? "bad" : "warn") : "good"}` }, attack.succeeds ? (attack.counted ? "✕ succeeds" : "◆ succeeds, not covered by the policy") : "✓ withstood"),
    h("p", null, h("b", null, "Intruder knows: "), knowledge(attack), ". ", h("b", null, "Learns: "), attack.learns, "."),
    h("p", null, `${count(counts.certain || 0)} of ${count(counts.tried)} ${attack.unit} for certain, ${count(counts.guessed || 0)} guessed above ${percent(attack.bound)}.`),
    attack.examples && attack.examples.length ? h("details", null, h("summary", null, `${plural(attack.examples.length, "class", "classes")} affected`),
      table("By labels, never by raw values", [...Object.keys(attack.examples[0].labels || {}), "rows", "probability"],
        attack.examples.map((e) => [...Object.values(e.labels || {}).map((l) => (l === null ? "…" : l)), count(e.rows), percent(e.probability)]))) : null,
    attack.note ? h("p", { class: "help" }, attack.note) : null);
}

// Rare labels are listed together, without their names.
const labelled = (rows) => rows.map((d) => ({ ...d, label: d.label === null ? `${plural(d.labels, "other label")}` : d.label }));

export function view() {
  if (!known("anonymize")) return [h("p", { class: "lead" }, "Risk is measured on a release."), h("p", null, h("a", { class: "button main", href: "#release" }, "Make a release first"))];
  const measure = known("measure"), attack = known("attack");
  if (!measure || !attack) return [h("p", { class: "lead" }, "Measuring the release."), h("button", { type: "button", onclick: () => act(enter) }, "Measure")];
  const { risk, measures } = measure.answer;
  return [
    h("p", { class: "lead" }, "What an intruder can still do with the release, before and after."),
    kinds(risk),
    h("h2", null, "Records at risk"),
    table("Rows in classes that are smaller than a threshold", ["threshold", "from", "rows before", "rows after"], risk.after.at_risk.map((a, i) => [`above ${percent(a.threshold)}`, a.source, `${count(risk.before.at_risk[i].rows)} (${percent(risk.before.at_risk[i].share)})`, `${count(a.rows)} (${percent(a.share)})`])),
    h("h2", null, "Attacks"), h("div", { class: "cards" }, attack.answer.attacks.map(attackCard)),
    h("h2", null, "What became of each column"), h("p", { class: "help" }, "Rows of each label: the upper bar before, the lower bar after."),
    h("div", { class: "cards" }, measures.attributes.filter((a) => a.distribution && a.distribution.length && a.distribution.length <= 40).map((a) =>
      card(a.attribute, h("p", { class: "help" }, a.loss === undefined ? "released unchanged" : `loses ${percent(a.il)} of its tree; ${plural(a.values, "value")} became ${plural(a.labels, "label")}`), pairBars(labelled(a.distribution).slice(0, 12)),
        h("details", null, h("summary", null, "As a table"), table("Rows of each label", ["label", "before", "after"], labelled(a.distribution).map((d) => [d.label, count(d.before), count(d.after)])))))),
    h("p", null, h("a", { class: "button main", href: "#release" }, "Next: release"))];
}
