// SPDX-License-Identifier: Apache-2.0
// Pictures in SVG. Each has a name for screen readers, and its caller shows a table beside it.
import { h, svg, count, percent } from "./dom.js";

// Bars of a column's distribution.
export function sparkline(shape) {
  if (!shape || !shape.bars.length) return h("span", null, "–");
  const high = Math.max(...shape.bars, 1), width = 96, height = 22, step = width / Math.max(shape.bars.length, 6);
  const name = shape.kind === "numbers" ? `histogram from ${count(shape.low)} to ${count(shape.high)}`
    : `rows of the ${shape.bars.length} most frequent values`;
  return svg("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": name },
    svg("title", null, name),
    shape.bars.map((n, i) => svg("rect", { x: i * step, y: height - Math.max(n ? 1.5 : 0, (n / high) * height), width: Math.max(step - 1, 1),
      height: Math.max(n ? 1.5 : 0, (n / high) * height) })));
}

// A histogram with bounds that can be dragged or moved by arrow keys; onmove(i, value).
export function boundsChart(shape, bounds, onmove) {
  const width = 640, height = 150, low = shape.low, high = shape.high, span = high - low || 1;
  const most = Math.max(...shape.bars, 1), step = width / shape.bars.length;
  const at = (value) => ((value - low) / span) * width;
  const picture = svg("svg", { class: "chart", viewBox: `-12 -14 ${width + 24} ${height + 34}`, role: "group", "aria-label": "Histogram with the bounds of the intervals" },
    shape.bars.map((n, i) => svg("rect", { class: "bar", x: i * step, y: height - (n / most) * height, width: step - 1.5, height: (n / most) * height })),
    svg("text", { x: 0, y: height + 16 }, count(low)), svg("text", { x: width, y: height + 16, "text-anchor": "end" }, count(high)));
  bounds.forEach((bound, i) => {
    if (bound < low || bound > high) return;
    const line = svg("g", { class: "bound", tabindex: "0", role: "slider", "aria-label": `Bound ${i + 1}`, "aria-valuenow": bound, "aria-valuemin": low,
      "aria-valuemax": high, "data-key": `bound${i}` },
      svg("line", { x1: at(bound), x2: at(bound), y1: -4, y2: height }), svg("circle", { cx: at(bound), cy: -4, r: 7 }),
      svg("text", { x: at(bound), y: height + 16, "text-anchor": "middle" }, count(bound)));
    line.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
      if (!by) return;
      event.preventDefault();
      onmove(i, bound + by);
    });
    line.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      line.setPointerCapture(event.pointerId);
      line.focus();
      const box = picture.getBoundingClientRect();
      const value = (e) => Math.round(low + (((e.clientX - box.left) / box.width) * (width + 24) - 12) / width * span);
      let last = bound;
      line.onpointermove = (e) => {
        last = Math.min(high, Math.max(low, value(e)));
        line.querySelector("line").setAttribute("x1", at(last));
        line.querySelector("line").setAttribute("x2", at(last));
        line.querySelector("circle").setAttribute("cx", at(last));
      };
      line.onpointerup = () => { line.onpointermove = null; if (last !== bound) onmove(i, last); };
    });
    picture.append(line);
  });
  return picture;
}

// Moves the focus between the points of a picture by arrow keys: `places` are {x, y, element}.
function navigate(places) {
  places.forEach((place, i) => {
    place.element.setAttribute("tabindex", i ? "-1" : "0");
    place.element.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); place.element.dispatchEvent(new MouseEvent("click")); return; }
      if (!to) return;
      event.preventDefault();
      let best = null, least = Infinity;
      for (const other of places) {
        const dx = other.x - place.x, dy = other.y - place.y, along = dx * to[0] + dy * to[1], across = Math.abs(dx * to[1]) + Math.abs(dy * to[0]);
        if (along <= 0.5) continue;
        const cost = along + 2 * across;
        if (cost < least) { least = cost; best = other; }
      }
      if (!best) return;
      for (const other of places) other.element.setAttribute("tabindex", "-1");
      best.element.setAttribute("tabindex", "0");
      best.element.focus();
    });
  });
}

export const levelsText = (node) => Object.entries(node).map(([name, level]) => `${name} ${level}`).join(", ");
const stateOf = (node) => (!node.satisfies ? "bad" : node.minimal ? "minimal" : "good");
const STATE_TEXT = { bad: "violates the policy", good: "satisfies the policy", minimal: "minimal: satisfies, and nothing below does" };

// The mark of a node: filled where it satisfies, a diamond where it is minimal, a cross where it does not.
function mark(state, x, y, r) {
  if (state === "bad") return svg("path", { d: `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}` });
  if (state === "minimal") return svg("path", { d: `M${x} ${y - 1.5 * r}l${1.5 * r} ${1.5 * r}l${-1.5 * r} ${1.5 * r}l${-1.5 * r} ${-1.5 * r}z` });
  return svg("circle", { cx: x, cy: y, r });
}

export function legend() {
  return h("ul", { class: "legend" }, Object.entries(STATE_TEXT).map(([state, text]) =>
    h("li", null, svg("svg", { width: 18, height: 18, viewBox: "0 0 18 18", "aria-hidden": "true", class: `node ${state}` }, mark(state, 9, 9, 4.5)), text)));
}

// The lattice by height, the lowest at the bottom.
export function latticePicture(nodes, chosen, onchoose) {
  const layers = [];
  for (const node of nodes) (layers[node.height] = layers[node.height] || []).push(node);
  const widest = Math.max(...layers.filter(Boolean).map((layer) => layer.length));
  const gap = Math.max(7, Math.min(26, 900 / widest)), r = Math.max(2, gap / 4), row = Math.max(16, Math.min(34, 480 / layers.length));
  const width = widest * gap + 70, height = layers.length * row + 20;
  const places = [];
  const picture = svg("svg", { class: "lattice", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Lattice of ${count(nodes.length)} nodes by height; arrow keys move, Enter chooses` });
  layers.forEach((layer, level) => {
    if (!layer) return;
    const y = height - 14 - level * row;
    picture.append(svg("text", { x: 4, y: y + 4, class: "axis" }, level));
    layer.forEach((node, i) => {
      const x = 50 + (width - 70) / 2 + (i - (layer.length - 1) / 2) * gap, state = stateOf(node);
      const element = svg("g", { class: `node ${state}${chosen && levelsText(chosen) === levelsText(node.node) ? " chosen" : ""}`, role: "button", "data-key": `node ${levelsText(node.node)}`,
        "aria-label": `${levelsText(node.node)}: ${STATE_TEXT[state]}, ${count(node.suppressed)} rows suppressed, ${count(node.classes)} classes`, onclick: () => onchoose(node.node) },
        svg("title", null, `${levelsText(node.node)}\n${STATE_TEXT[state]}\nsuppresses ${count(node.suppressed)} rows`),
        svg("circle", { cx: x, cy: y, r: gap / 2, class: "hit" }), mark(state, x, y, r));
      places.push({ x, y, element });
      picture.append(element);
    });
  });
  navigate(places);
  return h("div", { class: "picture" }, picture);
}

function axes(width, height, xTitle, yTitle, xTop, yTop) {
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return [
    ticks.map((t) => svg("line", { class: "grid", x1: 46, x2: width - 10, y1: height - 40 - t * (height - 60), y2: height - 40 - t * (height - 60) })),
    ticks.map((t) => svg("text", { class: "axis", x: 42, y: height - 36 - t * (height - 60), "text-anchor": "end" }, yTop(t))),
    ticks.map((t) => svg("text", { class: "axis", x: 46 + t * (width - 60), y: height - 24, "text-anchor": "middle" }, xTop(t))),
    svg("text", { class: "axis", x: 46 + (width - 60) / 2, y: height - 6, "text-anchor": "middle" }, xTitle),
    svg("text", { class: "axis", x: 46, y: 12 }, yTitle)];
}

// Candidates as points: risk against loss. points: {loss, risk, node, state, text}
export function scatter(points, chosen, onchoose) {
  const width = 520, height = 340, most = Math.max(0.1, ...points.map((p) => p.risk));
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${width + 14} ${height}`, role: "group", "aria-label": "Candidates: highest risk against information loss; arrow keys move, Enter chooses" },
    axes(width, height, "information loss of a cell", "highest risk", (t) => percent(t), (t) => percent(t * most)));
  const places = points.map((p) => {
    const x = 46 + p.loss * (width - 60), y = height - 40 - (p.risk / most) * (height - 60);
    const element = svg("g", { class: `node ${p.state}${chosen && levelsText(chosen) === levelsText(p.node) ? " chosen" : ""}`, role: "button", "aria-label": p.text, "data-key": `point ${levelsText(p.node)}`, onclick: () => onchoose(p.node) },
      svg("title", null, p.text), svg("circle", { cx: x, cy: y, r: 9, class: "hit" }), mark(p.state, x, y, 4));
    return { x, y, element };
  });
  for (const place of places) picture.append(place.element);
  navigate(places);
  return h("div", { class: "picture" }, picture);
}

// Loss against k or p: points {value, loss}.
export function lineChart(points, name) {
  const width = 420, height = 240, known = points.filter((p) => p.loss !== null);
  if (!known.length) return null;
  const most = Math.max(0.05, ...known.map((p) => p.loss)), n = Math.max(1, points.length - 1);
  const at = (p) => [46 + (points.indexOf(p) / n) * (width - 60), height - 40 - (p.loss / most) * (height - 60)];
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Information loss against ${name}` },
    axes(width, height, name, "information loss", () => "", (t) => percent(t * most)),
    svg("polyline", { points: known.map((p) => at(p).join(",")).join(" ") }),
    known.map((p) => svg("circle", { class: "dot", cx: at(p)[0], cy: at(p)[1], r: 4 })),
    points.map((p, i) => svg("text", { class: "axis", x: 46 + (i / n) * (width - 60), y: height - 24, "text-anchor": "middle" }, p.value)));
}

// One bar for each label: rows {label, n}.
export function bars(rows, name) {
  const most = Math.max(1, ...rows.map((r) => r.n)), line = 22, width = 340;
  return svg("svg", { class: "chart bars", viewBox: `0 0 ${width} ${rows.length * line + 4}`, role: "img", "aria-label": name },
    rows.map((r, i) => [
      svg("text", { x: 112, y: i * line + 16, "text-anchor": "end" }, r.label),
      svg("rect", { class: "bar", x: 120, y: i * line + 5, width: Math.max(1, (r.n / most) * 150), height: 14 }),
      svg("text", { x: 126 + (r.n / most) * 150, y: i * line + 16 }, count(r.n))]));
}

// Two bars for each label: before and after.
export function pairBars(rows) {
  const most = Math.max(1, ...rows.map((r) => Math.max(r.before, r.after)));
  const line = 34, width = 340;
  return svg("svg", { class: "chart bars", viewBox: `0 0 ${width} ${rows.length * line + 4}`, role: "img", "aria-label": "Rows of each label before and after" },
    rows.map((r, i) => [
      svg("text", { x: 112, y: i * line + 20, "text-anchor": "end" }, r.label.length > 17 ? r.label.slice(0, 16) + "…" : r.label),
      svg("rect", { class: "before", x: 120, y: i * line + 4, width: (r.before / most) * 120, height: 10 }),
      svg("rect", { class: "bar", x: 120, y: i * line + 16, width: (r.after / most) * 120, height: 10 }),
      svg("text", { x: 126 + (Math.max(r.before, r.after) / most) * 120, y: i * line + 20 }, `${count(r.before)} → ${count(r.after)}`)]));
}
