// SPDX-License-Identifier: Apache-2.0
// Step 1: open a table, look at it, correct how it is read.
import * as api from "./api.js";
import { h, card, field, choose, rowsTable, count, plural } from "./dom.js";
import { page, act, edit, known, model, opened, say, takeState, refresh } from "./app.js";

const size = (bytes) => (bytes < 1e6 ? `${count(Math.ceil(bytes / 1000))} kB` : `${count(Math.round(bytes / 1e6))} MB`);

function openFile(file) {
  return act(async () => {
    say(`Uploading ${file.name}`);
    await opened(await api.upload(file));
  });
}

function dropZone() {
  const input = h("input", { type: "file", id: "chooseFile", class: "visually-hidden", "data-key": "chooseFile", onchange: () => input.files.length && openFile(input.files[0]) });
  const zone = h("div", { class: "drop" }, h("p", null, "Drop a table here, or"), input, h("label", { class: "button main", for: "chooseFile" }, "Choose a file"),
    h("p", { class: "help" }, "CSV, also .gz and .zst; SPSS (.sav), Stata (.dta), SAS (.sas7bdat). It stays on this machine, in a temporary file that shoal removes."));
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer.files.length) openFile(event.dataTransfer.files[0]);
  });
  return zone;
}

const openPath = (body) => act(async () => opened(await api.inSession("POST", "/open", body)));

function fileList() {
  const tables = page.files.files.filter((f) => f.kind === "data"), policies = page.files.files.filter((f) => f.kind === "policy");
  const line = (file, body) => h("li", null, h("button", { type: "button", class: "link", onclick: () => body(file.path), "data-key": `open ${file.path}` }, file.path), h("small", null, size(file.size)));
  const openPolicy = (path) => act(async () => {
    takeState(await api.inSession("POST", "/open", { policy: path }));
    say(`Policy ${path} opened.`);
    refresh();
  });
  return [
    card("Example", h("p", null, "Sixty invented hospital patients with a finished policy, to try every step."),
      h("button", { type: "button", onclick: () => openPath({ example: "hospital" }), "data-key": "example" }, "Open the hospital example")),
    tables.length ? card("Tables in this directory", h("ul", { class: "files" }, tables.map((f) => line(f, (path) => openPath({ data: path }))))) : null,
    policies.length && page.state.data ? card("Policies in this directory", h("p", { class: "help" }, "A policy replaces the current one; undo brings it back."), h("ul", { class: "files" }, policies.map((f) => line(f, openPolicy)))) : null];
}

const setData = (key, value) => edit((policy) => {
  policy.data = { ...policy.data };
  if (value === "" || value === null) delete policy.data[key];
  else policy.data[key] = value;
  if (!Object.keys(policy.data).length) delete policy.data;
}, "How the table is read was changed.");

// Another delimiter makes other columns: the table is read and judged anew.
const setDelimiter = (delimiter) => act(async () => {
  await opened(await api.inSession("POST", "/open", { delimiter }), true);
  if (delimiter) await setData("delimiter", delimiter);
});

function reading() {
  const settings = (model() || {}).data || {};
  const missing = settings.missing || [""];
  return card("How it is read", h("p", { class: "help" }, "Found by looking at the file. Correct what is wrong."),
    h("div", { class: "fields" },
      field("Delimiter", choose([["", "detected"], [",", "comma"], [";", "semicolon"], ["\t", "tab"], ["|", "bar"]], settings.delimiter || "", setDelimiter, { "data-key": "delimiter" })),
      field("Encoding", choose([["", "detected"], ["utf-8", "UTF-8"], ["latin1", "Latin-1"], ["windows-1252", "Windows-1252"]], settings.encoding || "", (v) => setData("encoding", v), { "data-key": "encoding" })),
      field("Decimal sign", choose([["", "detected"], [".", "point"], [",", "comma"]], settings.decimal || "", (v) => setData("decimal", v), { "data-key": "decimal" })),
      field("Missing values", h("input", { value: missing.filter((m) => m !== "").join(", "), "data-key": "missing", onchange: (event) => setData("missing", ["", ...event.target.value.split(",").map((m) => m.trim()).filter(Boolean)]) }), "Cells that mean: not known. Separate them by commas; an empty cell is always one.")));
}

export function view() {
  const profile = known("profile");
  if (!page.state.data) return [h("p", { class: "lead" }, "Bring a table of personal records from raw data to a verified release. Nothing leaves this machine."), dropZone(), h("div", { class: "cards" }, fileList())];
  const first = known("open");
  if (!profile) {
    return [h("p", { class: "lead" }, first ? `${page.state.data.name} has ${plural(first.rows, "row")} and ${plural(first.preview.columns.length, "column")}.` : page.error ? "" : `Reading ${page.state.data.name}.`),
      first ? rowsTable("First rows, raw: for your eyes only", first.preview) : null, dropZone(), h("div", { class: "cards" }, fileList())];
  }
  const { answer, preview } = profile;
  return [
    h("p", { class: "lead" }, `${page.state.data.name} has ${plural(answer.rows, "row")} and ${plural(answer.columns.length, "column")}. ${answer.unique_rows === answer.rows ? "No two rows are equal." : `${plural(answer.unique_rows, "row")} ${answer.unique_rows === 1 ? "occurs" : "occur"} once.`}`),
    answer.warnings.length ? h("ul", { class: "notes" }, answer.warnings.map((w) => h("li", null, typeof w === "string" ? w : JSON.stringify(w)))) : null,
    rowsTable("First rows, raw: for your eyes only", preview),
    h("p", null, h("a", { class: "button main", href: "#columns" }, "Next: columns")),
    h("div", { class: "cards" }, reading()),
    h("h2", null, "Another table"), dropZone(), h("div", { class: "cards" }, fileList())];
}
