// SPDX-License-Identifier: Apache-2.0
// Writes a policy as YAML: a line for each attribute, flow style below.

const plain = /^[A-Za-z_][A-Za-z0-9_.-]*( [A-Za-z0-9_.-]+)*$/;
const words = /^(true|false|null|yes|no|on|off|y|n|~)$/i;

function scalar(value) {
  if (typeof value !== "string") return JSON.stringify(value);
  return plain.test(value) && !words.test(value) ? value : JSON.stringify(value);
}

export function flow(value) {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (value && typeof value === "object")
    return `{${Object.entries(value).map(([key, item]) => `${scalar(key)}: ${flow(item)}`).join(", ")}}`;
  return scalar(value);
}

const BLOCKS = ["attributes", "privacy", "method", "accept", "data"];
const ORDER = ["shoal", "unlisted", "data", "attributes", "accept", "privacy", "method"];

export function policyYaml(model) {
  const keys = Object.keys(model).sort((a, b) => (ORDER.indexOf(a) + 1 || 99) - (ORDER.indexOf(b) + 1 || 99));
  const lines = [];
  for (const key of keys) {
    const value = model[key];
    if (BLOCKS.includes(key) && value && typeof value === "object" && !Array.isArray(value)) {
      if (!Object.keys(value).length) continue;
      if (lines.length) lines.push("");
      lines.push(`${key}:`);
      for (const [name, item] of Object.entries(value)) {
        if (name === "models" && Array.isArray(item)) {
          lines.push("  models:", ...item.map((one) => `    - ${flow(one).replace(/^\{(.*)\}$/s, "$1")}`));
        } else lines.push(`  ${scalar(name)}: ${flow(item)}`);
      }
    } else lines.push(`${key}: ${flow(value)}`);
  }
  return lines.join("\n") + "\n";
}

// The rows of a hierarchy CSV; quoted cells may have delimiters and line ends.
export function parseCsv(text) {
  const first = text.split("\n", 1)[0];
  const delimiter = [";", ",", "\t"].find((c) => first.replace(/"[^"]*"/g, "").includes(c)) || ";";
  const rows = [];
  let row = [], cell = "", quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') { cell += '"'; i++; }
      else if (c === '"') quoted = false;
      else cell += c;
    } else if (c === '"' && cell === "") quoted = true;
    else if (c === delimiter) { row.push(cell); cell = ""; }
    else if (c === "\n") { rows.push([...row, cell]); row = []; cell = ""; }
    else if (c !== "\r") cell += c;
  }
  if (cell !== "" || row.length) rows.push([...row, cell]);
  return rows;
}
