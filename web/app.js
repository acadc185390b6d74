// SPDX-License-Identifier: Apache-2.0
// The page: its state, its steps, and what every step uses.
import * as api from "./api.js";
import { h, show, count, percent, plural } from "./dom.js";
import { policyYaml } from "./yaml.js";
import * as data from "./data.js";
import * as columns from "./columns.js";
import * as hierarchies from "./hierarchies.js";
import * as protection from "./protection.js";
import * as explore from "./explore.js";
import * as risk from "./risk.js";
import * as release from "./release.js";

const STEPS = [["data", "Data", data], ["columns", "Columns", columns], ["hierarchies", "Hierarchies", hierarchies],
  ["protection", "Protection", protection], ["explore", "Explore", explore], ["risk", "Risk", risk], ["release", "Release", release]];
const place = (id) => document.getElementById(id);

// state: as the server has it. Results of jobs are kept with the policy they are about.
export const page = { state: null, step: "data", catalog: null, files: null, results: {}, error: "", yamlOpen: false };

export const model = () => (page.state && page.state.policy && page.state.policy.model) || null;
const policyText = () => (page.state && page.state.policy ? page.state.policy.yaml : "");
export const attributes = (role) => Object.entries((model() || {}).attributes || {}).filter(([, a]) => !role || a.role === role);

export function say(text) {
  place("say").textContent = text;
}

function fail(error) {
  page.error = error.message;
  say(error.message);
  render();
}

// The result of a job on the current policy and data, or undefined.
export function known(kind) {
  const kept = page.results[kind];
  return kept && kept.about === about(kind) ? kept.result : undefined;
}

const about = (kind) => `${page.state.data ? page.state.data.number : 0}\n${kind === "open" || kind === "profile" || kind === "values" ? "" : policyText()}`;

let running = null;

function showProgress(text, progress) {
  place("work").hidden = place("progress").hidden = !text;
  if (!text) return;
  const meter = place("meter");
  const total = progress && progress.total;
  place("doing").textContent = progress ? `${text}: ${progress.stage}${total ? ` ${percent(progress.done / total)}` : ` ${count(progress.done)} ${progress.unit}`}` : text;
  if (total) { meter.max = total; meter.value = progress.done; } else meter.removeAttribute("value");
}

// Changes of the policy come one after the other, so that none is lost; jobs wait for them, so that a result is kept with the policy it is about.
let changes = Promise.resolve();

function inTurn(work) {
  const done = changes.then(work);
  changes = done.catch(() => {});
  return done;
}

// Runs a job with a progress bar that can cancel it, and keeps its result. Quiet jobs show none.
export async function run(kind, title, request, onPoint) {
  await changes;
  const wanted = about(kind);
  const own = title ? { kind } : null;
  if (own) { running = own; showProgress(title); }
  try {
    const result = await api.job(kind, request, (line) => {
      if (line.progress && own && running === own) showProgress(title, line.progress);
      if (line.point && onPoint) onPoint(line.point);
    });
    page.results[kind] = { about: wanted, result };
    page.error = "";
    return result;
  } catch (error) {
    if (error.status === 4) { if (own && running === own) say("Cancelled."); return null; }
    throw error;
  } finally {
    if (own && running === own) { running = null; showProgress(""); }
  }
}

export async function act(work) {
  try {
    await work();
    render();
  } catch (error) { fail(error); }
}

export function takeState(state) {
  page.state = state;
  page.error = "";
}

// Changes the policy: `change` gets a copy of its JSON.
export function edit(change, saying) {
  return act(() => inTurn(async () => {
    const copy = structuredClone(model() || { shoal: 1, attributes: {} });
    change(copy);
    takeState(await api.putPolicy(policyYaml(copy)));
    if (saying) say(saying);
    refresh();
  }));
}

// What every step shows: the table as it is, and the necessary conditions.
export async function refresh() {
  if (!page.state.data || !page.state.policy || page.state.policy.error) { render(); return; }
  for (const kind of ["check", "conditions"]) {
    try { if (known(kind) === undefined) await run(kind, "", {}); } catch { /* the steps say what is wrong */ }
  }
  render();
}

// A table was opened: read it, take or suggest a policy. again: read in another way, so its columns may be others.
export async function opened(state, again) {
  takeState(state);
  page.results = {};
  render();
  if (!(await run("open", "Reading the table", {}))) return;
  render();
  const profile = await run("profile", "Looking at the columns", {});
  if (!profile) return;
  if (!page.state.policy || again) takeState(await api.putPolicy(profile.policy));
  say(`${page.state.data.name}: ${plural(profile.answer.rows, "row")}, ${plural(profile.answer.columns.length, "column")}.`);
  render();
  if (document.activeElement === document.body) { // what was chosen is gone
    place("main").focus();
    scrollTo(0, 0);
  }
  refresh();
}

// ---- the strip

const VERDICTS = {
  holds: ["✓ holds", "Every model holds, and none of the risks that shoal looks for was found.", "good"],
  "holds-with-risks": ["◆ holds with risks", "Every model holds. Risks remain that you accept or remove.", "warn"],
  "do-not-publish": ["✕ do not publish", "A model does not hold, or a column must be decided first.", "bad"],
};

export function verdictBadge(verdict) {
  const [text, meaning, kind] = VERDICTS[verdict] || ["○ none yet", "Make a release to get a verdict.", "none"];
  return h("span", { class: `verdict ${kind}`, title: meaning }, text);
}

function strip() {
  const kept = page.results.anonymize, made = kept && kept.result.answer;
  const current = known("anonymize") !== undefined;
  const check = known("check") && known("check").answer, profile = known("profile") && known("profile").answer;
  const from = made ? made.output : check;
  const rows = made ? made.output.rows : profile && profile.rows;
  // Rows of one person are not apart: with a key of people, classes are as large as their people are many.
  const key = attributes("person").map(([name]) => name), byPeople = key.length > 0;
  const column = byPeople && profile && profile.columns.find((c) => c.column === key[0]);
  const reached = check && check.models.find((m) => m.by_people);
  const people = !byPeople ? rows : made ? made.output.people : column ? column.distinct : null;
  const smallest = !byPeople ? from && from.smallest_class : made ? made.output.fewest_people : reached && reached.reached;
  const items = [
    ["Rows", count(rows), made ? `released, of ${count(made.input.rows)}` : "in the table"],
    ["People", count(people), byPeople ? `by ${key[0]}` : "one row each"],
    ["Smallest class", count(smallest), byPeople ? "people alike" : "rows alike"],
    ["Highest risk", smallest ? percent(1 / smallest) : "–", "to find one person"],
    ["Average risk", from && from.classes && people ? percent(from.classes / people) : "–", byPeople ? "over all people" : "over all rows"],
    ["Information loss", made ? percent(made.measures.nil) : rows ? "0%" : "–", "mean of a cell"],
    ["Suppressed", made ? count(made.output.suppressed) : rows ? "0" : "–", "rows left out"],
    ["Verdict", verdictBadge(made && current ? made.verdict : ""), made && !current ? "policy changed: release again" : made ? "of this release" : "figures of the raw table"]];
  show(place("strip"), items.map(([name, value, meaning]) => h("div", null, h("dt", null, name), h("dd", null, h("b", null, value), h("small", null, meaning)))));
}

// ---- steps

function steps() {
  const open = Boolean(page.state && page.state.data);
  show(place("steps"), STEPS.map(([id, name], i) => h("li", null,
    h("a", { href: `#${id}`, "aria-current": page.step === id ? "step" : null, "aria-disabled": !open && id !== "data" ? "true" : null, "data-key": `step ${id}` }, h("span", { class: "n", "aria-hidden": "true" }, i + 1), name))));
}

function policyPanel() {
  const panel = place("policy"), button = place("yaml"), policy = page.state && page.state.policy;
  button.disabled = !policy;
  button.setAttribute("aria-expanded", String(page.yamlOpen && Boolean(policy)));
  panel.hidden = !page.yamlOpen || !policy;
  if (panel.hidden) return;
  const area = h("textarea", { id: "yamlText", spellcheck: "false", rows: 28, value: policy.yaml, "data-key": "yamlText" });
  const apply = () => act(() => inTurn(async () => { takeState(await api.putPolicy(area.value)); say("Policy applied."); refresh(); }));
  show(panel, h("h2", null, "Policy"), h("label", { for: "yamlText" }, "The policy as YAML. Forms and text show the same; a form rewrites the text and drops comments."), area,
    policy.error ? h("p", { class: "error", role: "alert" }, policy.error) : h("p", { class: "help" }, "The policy has no error."),
    h("p", { class: "row" }, h("button", { type: "button", class: "main", onclick: apply, "data-key": "applyYaml" }, "Apply"),
      h("button", { type: "button", onclick: () => { page.yamlOpen = false; render(); button.focus(); } }, "Close")));
}

export function render() {
  const active = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : "";
  const state = page.state;
  place("file").textContent = state && state.data ? state.data.name : "";
  place("undo").disabled = !state || !state.undo;
  place("redo").disabled = !state || !state.redo;
  strip();
  steps();
  policyPanel();
  const [, name, view] = STEPS.find(([id]) => id === page.step);
  document.title = `${name} – shoal`;
  const broken = state.policy && state.policy.error && page.step !== "data";
  show(place("main"), h("h1", null, name),
    page.error && h("p", { class: "error", role: "alert" }, page.error),
    broken ? h("p", { class: "error", role: "alert" }, state.policy.error, " Correct the policy, or undo.") : null,
    broken && !state.policy.model ? null : view.view());
  if (active) {
    const again = document.querySelector(`[data-key="${CSS.escape(active)}"]`);
    if (again && again !== document.activeElement) again.focus();
  }
}

function go() {
  const wanted = location.hash.slice(1);
  if (wanted === "main") return;
  const open = page.state && page.state.data;
  page.step = open && STEPS.some(([id]) => id === wanted) ? wanted : "data";
  page.error = "";
  say("");
  render();
  place("main").focus();
  const view = STEPS.find(([id]) => id === page.step)[2];
  if (view.enter && open) act(view.enter);
}

// ---- start

function askToken(message) {
  const input = h("input", { id: "token", type: "text", autocomplete: "off", spellcheck: "false" });
  const submit = async (event) => {
    event.preventDefault();
    if (api.setToken(input.value)) start();
    else askToken("That is no token: it has 32 digits and letters.");
  };
  show(place("main"), h("h1", null, "Token needed"), message && h("p", { class: "error", role: "alert" }, message),
    h("p", null, "Open the address that 'shoal serve' printed, or paste it here. It keeps other users of this machine out."),
    h("form", { onsubmit: submit }, h("label", { for: "token" }, "Address or token"), input, h("button", { class: "main" }, "Continue")));
  input.focus();
}

async function start() {
  try {
    page.catalog = await api.call("GET", "/catalog");
    page.files = await api.call("GET", "/files");
    takeState(await api.openSession());
  } catch (error) {
    if (error.status === 401) askToken(error.message);
    else show(place("main"), h("h1", null, "shoal"), h("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  window.addEventListener("hashchange", () => { if (!/^#[0-9a-f]{32}$/.test(location.hash)) go(); });
  place("undo").onclick = () => act(() => inTurn(async () => { takeState(await api.inSession("POST", "/undo")); say("Undone."); refresh(); }));
  place("redo").onclick = () => act(() => inTurn(async () => { takeState(await api.inSession("POST", "/redo")); say("Done again."); refresh(); }));
  place("yaml").onclick = () => { page.yamlOpen = !page.yamlOpen; render(); if (page.yamlOpen) document.getElementById("yamlText").focus(); };
  place("cancel").onclick = () => { if (running) api.cancel(running.kind).catch(fail); };
  go();
  if (page.state.data && known("profile") === undefined) await act(() => opened(page.state)).then(go);
}

if (api.takeToken()) start();
else askToken("");
