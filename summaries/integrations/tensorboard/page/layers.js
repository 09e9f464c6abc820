// Layers over steps of one run: a heat map, the strip to brush, and the curves of the layers that were clicked.

import { View, lineChart } from "./audit/chart.js";
import { el } from "./audit/elements.js";
import { shadeBar, shades } from "./audit/heatmap.js";
import { counted } from "./audit/numbers.js";
import { choice } from "./audit/run.js";
import { theme } from "./audit/theme.js";
import { Heat, described, grouped } from "./heat.js";
import { Cells, SEQUENTIAL, sample } from "./pictures.js";
import { arrays } from "./server.js";
import { Strip } from "./strip.js";
import { title } from "./tabs.js";

export const NAMES = 210; // CSS pixels for names
export const RANGE = 4; // a spike has colors of its own, unless it takes up three quarters of them
const MOST_LINES = 8;

/** The page: {element, update, close}; `go` writes choices into the address. */
export async function layersPage(ledger, row, chosen, go) {
  let cells = await new Cells(row.name, chosen.kind || null).load();
  const holder = el("div", { class: "layers" });
  const element = el("section", { class: "run single" }, title(ledger, row, "layers"), holder);
  if (cells.kind === null) {
    holder.append(nothing());
    return { element, close: () => {} };
  }
  const state = { order: chosen.order === "name" ? "name" : "network",
    picked: new Set(chosen.layers === undefined ? notable(cells) : chosen.layers.split("\n")) };
  let parts = null;
  const draw = (range) => {
    parts?.close();
    parts = drawn(cells, state, go, range);
    const select = (key) => open(key);
    holder.replaceChildren(toolbar(cells, state, parts, select, go), ...parts.elements);
  };
  const open = async (key) => {
    const range = parts.range();
    cells = await new Cells(row.name, key).load();
    state.picked = new Set(notable(cells));
    go({ kind: key, layers: null });
    draw(range);
  };
  const from = Number(chosen.from);
  const to = Number(chosen.to);
  draw(chosen.from && to > from ? [from, to] : null);
  let ticket = 0;
  const update = async (changed) => {
    if (!changed.has(row.name) || !ledger.rows.has(row.name)) return;
    const wanted = ++ticket;
    let fresh = null;
    try { fresh = await new Cells(row.name, cells.kind).load(); } catch { return; } // the next change asks again
    if (wanted !== ticket || fresh.kind !== cells.kind) return;
    cells = fresh;
    draw(parts.range());
  };
  return { element, update, view: () => parts.view, heat: () => parts.heat, close: () => { ticket++; parts.close(); } };
}

/** What to log, where nothing is to be seen. */
export function nothing() {
  return el("p", { class: "note" }, "This run has no statistics of its variables. ", el("code", {}, "optim"),
    " logs them by itself, a ", el("code", {}, "GradientMonitor"), " does for torch and JAX; of other writers, tags such as ",
    el("code", {}, "gradients/norm/<variable>"), " are understood.");
}

/** The layers whose curves are drawn at first: all if they are few, else some that findings are about. */
function notable({ kind, rows, findings }) {
  const tags = kind === null ? [] : rows.map(({ tag }) => tag);
  if (tags.length <= 5) return tags;
  const told = new Set(findings.flatMap(({ tag, others }) => [tag, ...others]));
  return tags.filter((tag) => told.has(tag)).slice(0, 3);
}

/** Which statistic, in which order, and back to the whole run. */
function toolbar(cells, state, parts, select, go) {
  return el("div", { class: "tools" }, statistics(cells.kinds, cells.kind, select), orders(state, parts, go), parts.reset,
    el("p", { class: "hint" }, "Drag to zoom, double-click for the whole run; click a layer to see its curve"));
}

/** A choice of statistics: buttons if they are few. */
export function statistics(kinds, chosen, select) {
  if (kinds.length < 2) return null;
  if (kinds.length <= 4) return choice("Statistic", kinds.map(({ key, title: text }) => [key, text]), chosen, select);
  return el("select", { "aria-label": "Statistic", onchange: (event) => select(event.target.value) },
    kinds.map(({ key, title: text }) => el("option", { value: key, selected: key === chosen }, text)));
}

/** A choice of the order of rows. */
export function orders(state, parts, go) {
  return choice("Order", [["network", "In network order"], ["name", "By name"]], state.order, (value) => {
    state.order = value;
    go({ order: value === "network" ? null : value });
    parts.arrange();
  });
}

/** The order of rows, and their groups if there are any. */
export function arrangement(cells, order) {
  return order === "name" ? grouped(cells.rows) : { order: [...cells.rows.keys()], groups: null };
}

function drawn(cells, state, go, range) {
  const view = new View([{ step: cells.steps, value: [] }], "step");
  const kind = cells.kinds.find(({ key }) => key === cells.kind);
  const shade = shades([{ value: sample(cells.whole, kind.log) }], kind.log, RANGE);
  const idle = `${counted(cells.rows.length, "variable")}, a row each`;
  const readout = el("p", { class: "readout", "aria-live": "off" }, idle);
  const [map, brush, lines] = [el("div"), el("div"), el("div", { class: "lines" })];
  const reset = el("button", { type: "button", class: "quiet", hidden: true, onclick: () => view.zoom(null) }, "Whole run");
  const curves = new Lines(view, lines, cells, state, kind.log, () => {
    go({ layers: [...state.picked].join("\n") });
    heat.redraw();
  }, () => heat.box().left);
  const heat = new Heat(view, map, {
    cells, shade, ramp: SEQUENTIAL, ...arrangement(cells, state.order), findings: cells.findings, names: NAMES,
    say: (at) => { readout.textContent = at ? described(at) : idle; },
    pick: (row) => curves.toggle(cells.rows[row].tag),
    chosen: (row) => curves.color(cells.rows[row].tag),
  });
  const strip = new Strip(view, brush, cells.whole, shade.share, () => heat.box());
  let waiting = 0;
  view.onzoom = (zoomed) => {
    reset.hidden = !zoomed;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      go({ from: zoomed ? Math.round(view.range[0]) : null, to: zoomed ? Math.round(view.range[1]) : null });
      curves.refine();
    }, 150);
  };
  if (range) view.zoom([Math.max(range[0], view.full[0]), Math.min(range[1], view.full[1])]);
  curves.draw();
  const element = el("figure", { class: "heat" }, el("figcaption", {}, el("h3", {}, kind.title), el("div", { class: "options" }, shadeBar(shade))),
    map, brush, readout, lines);
  const arrange = () => {
    const { order, groups } = arrangement(cells, state.order);
    heat.arrange(order, groups);
    strip.draw();
    curves.draw();
  };
  return { elements: [element], view, heat, reset, arrange,
    range: () => (view.range === view.full ? null : view.range),
    close: () => { clearTimeout(waiting); curves.close(); strip.destroy(); heat.destroy(); view.destroy(); } };
}

/** The curves of the layers that were clicked, as fine as the range that is shown needs them. */
class Lines {
  constructor(view, holder, cells, state, log, changed, side) {
    Object.assign(this, { view, holder, cells, state, log, changed, side });
    this.chart = null;
    this.ticket = 0;
    this.curves = [];
    const known = new Set(cells.rows.map(({ tag }) => tag));
    for (const tag of state.picked) if (!known.has(tag)) state.picked.delete(tag);
    this.recolor = () => this.chart?.redraw(false);
    theme.listeners.add(this.recolor);
  }

  /** The name of the color of a layer's line. */
  color(tag) {
    const at = [...this.state.picked].indexOf(tag);
    return at < 0 ? undefined : `line-${at % MOST_LINES}`;
  }

  toggle(tag) {
    const { picked } = this.state;
    if (!picked.delete(tag)) picked.add(tag);
    if (picked.size > MOST_LINES) picked.delete(picked.values().next().value);
    this.changed();
    this.draw();
  }

  async draw() {
    const wanted = ++this.ticket;
    const tags = [...this.state.picked];
    const [from, to] = this.view.range === this.view.full ? [null, null] : this.view.range;
    const answers = await Promise.all(tags.map((tag) => arrays("curve", { run: this.cells.run, tag, from, to }).catch(() => null)));
    if (wanted !== this.ticket) return;
    this.curves = answers.filter(Boolean).map(({ header, read }) => ({ tag: header.tag, role: this.cells.kind.split("/")[0],
      variable: "", points: header.points, step: read(header.step), value: read(header.value) }));
    this.chart?.destroy();
    this.chart = null;
    this.holder.replaceChildren();
    if (this.curves.length === 0) this.holder.append(el("p", { class: "note" }, "Click a layer to see its curve here."));
    if (this.curves.length === 0) return;
    const plot = el("div", { class: "plot", tabindex: "0" });
    this.holder.append(plot);
    this.chart = lineChart(this.view, plot, this.curves, this.cells.findings, this.log, this.side());
  }

  refine() {
    if (this.state.picked.size > 0) this.draw();
  }

  close() {
    this.ticket++;
    theme.listeners.delete(this.recolor);
    this.chart?.destroy();
  }
}
