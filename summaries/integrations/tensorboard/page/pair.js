// Two runs beside one another: their heat maps in the same colors, and by how much each cell of one is larger.

import { View } from "./audit/chart.js";
import { el, middleLeftOut, sign } from "./audit/elements.js";
import { shadeBar, shades } from "./audit/heatmap.js";
import { counted, number } from "./audit/numbers.js";
import { verdict } from "./audit/overview.js";
import { at } from "./address.js";
import { Heat, described } from "./heat.js";
import { NAMES, RANGE, arrangement, nothing, orders, statistics } from "./layers.js";
import { Cells, SEQUENTIAL, diverging, sample } from "./pictures.js";
import { Strip } from "./strip.js";

/** The page: {element, update, close}. */
export async function pairPage(ledger, row, chosen, go) {
  const other = ledger.runs.find(({ name }) => name === chosen.with);
  const holder = el("div", { class: "layers" });
  const element = el("section", { class: "run single" }, heading(row, other), holder);
  const state = { kind: chosen.kind || null, order: chosen.order === "name" ? "name" : "network" };
  let parts = null;
  let ticket = 0;
  const load = async (range) => {
    const wanted = ++ticket;
    const first = await new Cells(row.name, state.kind).load();
    const second = await new Cells(other.name, state.kind ?? first.kind).load();
    if (wanted !== ticket) return;
    parts?.close();
    parts = null;
    if (first.kind === null || second.kind === null) {
      const lacking = first.kind === null ? row : other;
      holder.replaceChildren(el("p", { class: "note" }, `${lacking.name}: `, ...nothing().childNodes));
      return;
    }
    state.kind = first.kind;
    parts = compared(first, second, state, go, range);
    holder.replaceChildren(toolbar(first, second, state, parts, go, () => load(parts.range())), ...parts.elements);
  };
  const [from, to] = [Number(chosen.from), Number(chosen.to)];
  await load(chosen.from && to > from ? [from, to] : null);
  const update = (changed) => {
    if (changed.has(row.name) || changed.has(other.name)) load(parts?.range() ?? null).catch(() => {});
  };
  return { element, update, view: () => parts.view, close: () => { ticket++; parts?.close(); } };
}

function heading(row, other) {
  const name = (run) => el("a", { class: "of", href: at("run", run.name, "layers"), title: run.name }, sign(verdict(run)), el("span", {}, middleLeftOut(run.name, 48)));
  return el("div", { class: "title" },
    el("nav", { class: "tabs", "aria-label": "Runs" }, el("a", { href: "#/" }, "All runs"),
      el("a", { href: at("pair", other.name, "", { with: row.name }) }, "Swap")),
    el("h1", { class: "pair" }, name(row), el("span", { class: "and" }, "beside"), name(other)));
}

function toolbar(first, second, state, parts, go, load) {
  const known = new Set(second.kinds.map(({ key }) => key));
  const kinds = first.kinds.filter(({ key }) => known.has(key));
  const select = (key) => { state.kind = key; go({ kind: key }); load(); };
  return el("div", { class: "tools" }, statistics(kinds, state.kind, select), orders(state, parts, go), parts.reset, parts.note ? el("p", { class: "note" }, parts.note) : null);
}

/** Cells of a run, with only those rows, in that order. */
class Rows {
  constructor(cells, picked, steps) {
    this.cells = cells;
    this.picked = picked;
    this.steps = steps;
    this.rows = picked.map((row) => cells.rows[row]);
    this.whole = this.only(cells.whole);
  }

  only(part) {
    const cells = new part.cells.constructor(this.picked.length * part.width);
    this.picked.forEach((row, line) => cells.set(part.cells.subarray(row * part.width, (row + 1) * part.width), line * part.width));
    return { ...part, cells };
  }

  async between(from, to, width, signal) {
    return this.only(await this.cells.between(from, to, width, signal));
  }
}

/** By how much the second run is larger than the first: a power of two if values are logarithmic, else the difference. */
class Difference {
  constructor(first, second, steps, log) {
    Object.assign(this, { first, second, log, steps, rows: first.rows });
  }

  async load(width) {
    this.whole = await this.between(...this.steps, width);
    return this;
  }

  async between(from, to, width, signal) {
    const [a, b] = await Promise.all([this.first, this.second].map((one) => one.between(from, to, width, signal)));
    const cells = Float64Array.from(a.cells, (value, i) => {
      if (Number.isNaN(value) || Number.isNaN(b.cells[i])) return NaN;
      if (!Number.isFinite(value) || !Number.isFinite(b.cells[i])) return Infinity;
      if (!this.log) return b.cells[i] - value;
      return value > 0 && b.cells[i] > 0 ? Math.log2(b.cells[i] / value) : value === b.cells[i] ? 0 : NaN;
    });
    return { ...a, cells };
  }
}

function compared(first, second, state, go, range) {
  const places = new Map(second.rows.map(({ variable, tag }, row) => [variable || tag, row]));
  const shared = first.rows.map(({ variable, tag }, row) => [row, places.get(variable || tag)]).filter(([, row]) => row !== undefined);
  const steps = [Math.min(first.steps[0], second.steps[0]), Math.max(first.steps[1], second.steps[1])];
  const kind = first.kinds.find(({ key }) => key === first.kind);
  const sides = [new Rows(first, shared.map(([row]) => row), steps), new Rows(second, shared.map(([, row]) => row), steps)];
  const view = new View([{ step: steps, value: [] }], "step");
  const shade = shades(sides.map((side) => ({ value: sample(side.whole, kind.log) })), kind.log, RANGE);
  const maps = [];
  const readout = el("p", { class: "readout" });
  const idle = `${counted(shared.length, "variable")} that both runs have`;
  readout.textContent = idle;
  const options = (cells, findings, how) => ({ cells, ...arrangement(cells, state.order), findings, height: 380, ...how,
    pick: (line) => { location.hash = at("run", (cells === sides[1] ? second : first).run, "layers", { kind: first.kind, layers: cells.rows[line].tag }); } });
  const figure = (name, content, bar, kind_class) => el("figure", { class: `heat ${kind_class}` },
    el("figcaption", {}, el("h3", { title: name }, middleLeftOut(name, 60)), el("div", { class: "options" }, bar)), content);
  const reset = el("button", { type: "button", class: "quiet", hidden: true, onclick: () => view.zoom(null) }, "Whole run");
  const [left, right, below, brush] = [el("div"), el("div"), el("div"), el("div")];
  const say = (at) => { readout.textContent = at ? described(at) : idle; };
  maps.push(new Heat(view, left, options(sides[0], first.findings, { shade, ramp: SEQUENTIAL, names: 150, say })));
  maps.push(new Heat(view, right, options(sides[1], second.findings, { shade, ramp: SEQUENTIAL, names: 150, say })));
  const bar = el("span", { class: "shades" });
  const holder = figure(kind.log ? "Difference: how many times larger" : "Difference", below, bar, "difference");
  holder.append(brush, readout);
  let strip = null;
  let closed = false;
  new Difference(sides[0], sides[1], steps, kind.log).load(1200).then((difference) => {
    if (closed) return;
    const most = spread(difference.whole.cells, kind.log);
    const map = new Heat(view, below, options(difference, [], { shade: { share: (value) => (value / most + 1) / 2 }, ramp: diverging(), names: NAMES,
      say: (at) => { readout.textContent = at ? described(at, (value) => larger(value, kind.log)) : idle; } }));
    const recolor = map.recolor;
    map.recolor = () => {};
    map.repaint = () => { map.ramp = diverging(); recolor(); bar.replaceChildren(...legend(most, kind.log, map.ramp)); };
    maps.push(map);
    strip = new Strip(view, brush, difference.whole, (value) => Math.abs(value) / most, () => map.box());
    map.repaint();
    if (range) view.zoom(range);
  }).catch((error) => { if (!closed) below.replaceChildren(el("p", { class: "note" }, error.message)); });
  let waiting = 0;
  view.onzoom = (zoomed) => {
    reset.hidden = !zoomed;
    clearTimeout(waiting);
    waiting = setTimeout(() => go({ from: zoomed ? Math.round(view.range[0]) : null, to: zoomed ? Math.round(view.range[1]) : null }), 150);
  };
  const lonely = first.rows.length + second.rows.length - 2 * shared.length;
  return {
    view, reset, note: lonely > 0 ? `${counted(lonely, "variable")} only in one of them` : "",
    elements: [el("div", { class: "beside" }, figure(first.run, left, shadeBar(shade), "first"), figure(second.run, right, shadeBar(shade), "second")),
      holder],
    arrange: () => maps.forEach((map) => { const { order, groups } = arrangement(map.cells, state.order); map.arrange(order, groups); }),
    range: () => (view.range === view.full ? null : view.range),
    close: () => { closed = true; clearTimeout(waiting); strip?.destroy(); maps.forEach((map) => map.destroy()); view.destroy(); },
  };
}

/** The largest difference that has a color of its own: 19 of 20 are smaller. */
function spread(cells, log) {
  const sizes = cells.filter(Number.isFinite).map(Math.abs).sort();
  const most = sizes[Math.floor(0.95 * (sizes.length - 1))] ?? 0;
  return log ? Math.max(Math.ceil(most), 1) : most || 1;
}

function legend(most, log, ramp) {
  const bar = el("canvas", { width: ramp.length, height: 1, class: "bar", "aria-hidden": "true" });
  const ctx = bar.getContext("2d");
  ramp.forEach((part, x) => { ctx.fillStyle = `rgb(${part.join(" ")})`; ctx.fillRect(x, 0, 1, 1); });
  const text = log ? [`first ${number(2 ** most)}×`, `second ${number(2 ** most)}×`] : [`−${number(most)}`, `+${number(most)}`];
  return [text[0], bar, text[1]];
}

function larger(value, log) {
  if (value === Infinity) return "not finite in one of them";
  if (Number.isNaN(value)) return "nothing to compare";
  if (!log) return `${value > 0 ? "+" : ""}${number(value)}`;
  const times = number(Number((2 ** Math.abs(value)).toPrecision(3)));
  return Math.abs(value) < 0.01 ? "equal" : `${times} times larger in the ${value > 0 ? "second" : "first"}`;
}
