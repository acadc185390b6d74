// SPDX-License-Identifier: Apache-2.0
// Step 7: make, verify and take home the release.
import * as api from "./api.js";
import { h, card, count, percent, plural, rowsTable, save, table } from "./dom.js";
import { act, attributes, edit, known, model, page, refresh, run, say, takeState, verdictBadge } from "./app.js";

const DOWNLOADS = [["release", "release.csv", "Release", "The table to publish."], ["certificate", "certificate.html", "Certificate", "May be published with the release: what holds, and how to verify it."],
  ["report", "report.html", "Internal report", "For your files and for sign-off. Not to be published."], ["policy", "policy.yaml", "Policy", "Makes the same release on the command line."],
  ["mapping", "mapping.csv", "Mapping", "What became of each value. Has original values: keep it secret."]];

const make = () => act(async () => {
  const made = await run("anonymize", "Making the release", {});
  if (!made) return;
  takeState(await api.inSession("GET", ""));
  say(`Release made and verified: ${made.answer.verdict.replaceAll("-", " ")}.`);
  await refresh();
  document.getElementById("outcome").focus();
});

// For a shell. A name that begins with a dash would be an option.
const quoted = (text) => (text.startsWith("-") ? quoted(`./${text}`) : /^[\w./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
const seeded = () => model() && model().method && model().method.seed !== undefined;

export function commandLine(made) {
  const seed = seeded() ? "" : ` --seed ${made.seed}`;
  return `shoal anonymize ${quoted(page.state.data.name)} -P policy.yaml -o release.csv --certificate certificate.html --html report.html --mapping mapping.csv${seed}`;
}

function risks(answer) {
  if (!answer.risks.length) return h("p", null, "None of the risks that shoal looks for was found.");
  const accept = (risk) => edit((policy) => {
    policy.accept = { ...policy.accept };
    policy.accept[risk.risk] = risk.attribute ? [...new Set([...[].concat(policy.accept[risk.risk] || []), risk.attribute])] : true;
  }, "The policy accepts this risk. Release again for the new verdict.");
  return h("ul", { class: "risks" }, answer.risks.map((risk) => h("li", null, h("b", null, `${risk.risk}${risk.attribute ? `: ${risk.attribute}` : ""}`), ` – ${risk.why || ""} `,
    risk.accepted ? h("span", { class: "badge" }, "accepted in the policy") : h("button", { type: "button", class: "small", "data-key": `accept ${risk.risk} ${risk.attribute}`, onclick: () => accept(risk) }, "I know this and accept it"))));
}

function outcome(made) {
  const { answer } = made, text = commandLine(made);
  const copy = async () => { await navigator.clipboard.writeText(text); say("Copied. It has the seed: keep it secret."); };
  return [
    h("section", { class: "card wide outcome", id: "outcome", "data-key": "outcome", tabindex: "-1", "aria-label": "Outcome" }, h("p", { class: "big" }, verdictBadge(answer.verdict)), h("p", null, `${answer.reason.charAt(0).toUpperCase()}${answer.reason.slice(1)}.`),
      h("p", null, `${plural(answer.output.rows, "row")} in ${plural(answer.output.classes, "class", "classes")}, the smallest with ${plural(answer.output.smallest_class, "row")}; ${count(answer.output.suppressed)} suppressed; loss of a cell ${percent(answer.measures.nil)}. The release was read again by an independent verifier, and every model holds on it.`),
      table("What the policy requires, and what the release reaches", ["model", "about", "required", "reached", "holds"], answer.models.map((m) => [m.model, m.attribute || "", String(m.required), String(m.reached), m.holds ? "✓ yes" : "✕ no"]))),
    h("div", { class: "cards" }, card("Risks that remain", risks(answer)),
      card("Take home", h("ul", { class: "downloads" }, DOWNLOADS.map(([name, file, title, meaning]) => h("li", null,
        h("button", { type: "button", "data-key": `download ${name}`, onclick: () => act(async () => save(await api.download(name), file)) }, title), h("small", null, meaning))))),
      h("section", { class: "card wide" }, h("h3", null, "The same on the command line"), h("pre", { tabindex: "0", id: "command", "aria-label": "Command line" }, text),
        h("p", { class: "notes", id: "secret" }, seeded() ? "The policy has a seed: whoever knows it can restore the order of the rows. " : "--seed is a secret: whoever knows it can restore the order of the rows. The policy has none. ", "It makes the same bytes."),
        h("button", { type: "button", onclick: () => act(copy), "data-key": "copy" }, "Copy"))),
    h("h2", null, "Before and after"), h("p", { class: "help" }, "The first rows of each. The release is in random order, so rows side by side are not the same people."),
    h("div", { class: "two" }, rowsTable("Before, raw", made.sample.before), rowsTable("After", made.sample.after)),
    h("p", null, h("a", { class: "button", href: "#risk" }, "See what an intruder can still do"))];
}

export function view() {
  if (!model()) return h("p", null, "Open a table first.");
  const open = attributes().filter(([, a]) => a.decide).map(([name]) => name);
  const made = known("anonymize"), old = page.results.anonymize && !made;
  return [
    h("p", { class: "lead" }, "shoal makes the release and writes it. A verifier that shares no code with it reads it again and proves every model; only then can you take it home."),
    open.length ? h("p", { class: "notes" }, `Decide first: ${open.join(", ")} (step Columns).`) : null,
    old ? h("p", { class: "notes" }, "The policy has changed since the last release. Make it again.") : null,
    h("p", null, h("button", { type: "button", class: made ? null : "main", "data-key": "make", onclick: make }, made ? "Make it again" : "Make the release")),
    made ? outcome(made) : null];
}
