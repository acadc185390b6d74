// SPDX-License-Identifier: Apache-2.0
// Elements from plain data. Text is never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else if (name === "checked" || name === "selected" || name === "disabled" || name === "hidden") element[name] = true;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(9)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

export function show(place, ...children) {
  place.replaceChildren(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
}

export const count = (n) => (n === null || n === undefined ? "–" : Number(n).toLocaleString("en"));
export const percent = (x) => (x === null || x === undefined ? "–"
  : `${(100 * x).toLocaleString("en", { maximumFractionDigits: x < 0.1 ? 1 : 0 })}%`);
export const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many || one + "s"}`;

let numbers = 0;
// A labelled control: the label above, help below.
export function field(label, control, help) {
  const id = control.id || `f${++numbers}`;
  control.id = id;
  if (help) control.setAttribute("aria-describedby", `${id}h`);
  return h("div", { class: "field" }, h("label", { for: id }, label), control, help && h("p", { class: "help", id: `${id}h` }, help));
}

export function choose(options, value, onchange, attributes) {
  return h("select", { ...attributes, onchange: (event) => onchange(event.target.value) },
    options.map(([name, text]) => h("option", { value: name, selected: name === value }, text)));
}

// A table with its caption; a wide one scrolls by itself.
export function table(caption, heads, rows, attributes) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", attributes, h("caption", null, caption),
      h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", null, rows.map((cells) => h("tr", null, cells.map((cell, i) =>
        cell instanceof Node && cell.tagName === "TD" ? cell : h(i === 0 ? "th" : "td", i === 0 ? { scope: "row" } : null, cell)))))));
}

export function rowsTable(caption, rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { class: "raw" }, h("caption", null, caption),
      h("thead", null, h("tr", null, rows.columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", null, rows.rows.map((row) => h("tr", null, row.map((cell) => h("td", null, cell === null ? "–" : cell)))))));
}

export const card = (title, ...children) => h("section", { class: "card" }, h("h3", null, title), children);

export function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
