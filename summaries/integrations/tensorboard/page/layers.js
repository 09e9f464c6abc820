// Layers over steps of one run: a heat map, the strip to brush, and the curves of the layers that were clicked.

import { lineChart } from "../../../auditing/report/page/chart.js";
import { choice, el, select } from "../../../auditing/report/page/elements.js";
import { shadeBar } from "../../../auditing/report/page/heatmap.js";
import { onlyLatest } from "../../../auditing/report/page/latest.js";
import { counted } from "../../../auditing/report/page/numbers.js";
import { wholeRunButton } from "../../../auditing/report/page/run.js";
import { SEQUENTIAL, shades } from "../../../auditing/report/page/shades.js";
import { theme } from "../../../auditing/report/page/theme.js";
import { View } from "../../../auditing/report/page/view.js";
import { sample, statisticOf } from "./cells.js";
import { Heat } from "./heat.js";
import { arrays } from "./server.js";
import { Strip } from "./strip.js";
import { title } from "./tabs.js";
import { arrangement, inWords } from "./variables.js";

/** @import { Chart, Column, Curve, Entry, Range, RunRow } from "../../../auditing/report/page/types.js" */
/** @import { Chosen, CurveHeader, Go, Kind, Page } from "./answers.js" */
/** @import { Statistic } from "./cells.js" */
/** @import { Ledger } from "./ledger.js" */

/** @typedef {"network" | "name"} Order */
/** @typedef {{ order: Order, picked: Set<string> }} State */

export const NAMES = 210; // CSS pixels for names
export const RANGE = 4; // a spike has colors of its own, unless it takes up three quarters of them
const MOST_LINES = 8;
const ALL_LINES = 5; // so few are all drawn at first
const TOLD_LINES = 3; // of layers that findings are about, at first
const MOST_BUTTONS = 4; // more choices make a list
const REST = 150; // milliseconds until an address says what is shown

/** @type {(ledger: Ledger, row: RunRow, chosen: Chosen, go: Go) => Promise<Page>} */
export async function layersPage(ledger, row, chosen, go) {
  const holder = el("div", { class: "layers" });
  const element = el("section", { class: "run single" }, title(ledger, row, "layers"), holder);
  const first = await statisticOf(row.name, chosen.kind || null);
  if (first === null) {
    holder.append(nothing());
    return { element, close: () => {} };
  }
  let statistic = first;
  /** @type {State} */
  const state = { order: orderOf(chosen), picked: new Set(chosen.layers?.split("\n") ?? notable(statistic)) };
  /** @param {Range | null} range */
  const draw = (range) => {
    const shown = layersOf(statistic, state, go, range);
    const hint = "Drag to zoom, double-click for the whole run; click a layer to see its curve";
    const tools = [statistics(statistic.kinds, statistic.kind, open), orders(state, shown.arrange, go), shown.reset];
    holder.replaceChildren(el("div", { class: "tools" }, tools, el("p", { class: "hint" }, hint)), shown.element);
    shown.drawLines();
    return shown;
  };
  const begin = onlyLatest();
  /** @param {string} key */
  const load = async (key) => {
    const isLatest = begin();
    const fresh = await statisticOf(row.name, key);
    return isLatest() ? fresh : null;
  };
  /** @param {Statistic} fresh */
  const redraw = (fresh) => {
    const range = parts.range();
    statistic = fresh;
    parts.close();
    parts = draw(range);
  };
  /** @param {string} key */
  const open = async (key) => {
    const fresh = await load(key);
    if (fresh === null) return;
    state.picked = new Set(notable(fresh));
    go({ kind: key, layers: null });
    redraw(fresh);
  };
  let parts = draw(rangeIn(chosen));
  /** @param {Set<string>} changed */
  const update = async (changed) => {
    if (!changed.has(row.name) || !ledger.rows.has(row.name)) return;
    const fresh = await load(statistic.kind.key).catch(() => null); // the next change asks again
    if (fresh) redraw(fresh);
  };
  const close = () => {
    begin();
    parts.close();
  };
  return { element, update, close };
}

/** What to log, where nothing is to be seen. */
export function nothing() {
  return el(
    "p",
    { class: "note" },
    "This run has no statistics of its variables. ",
    el("code", {}, "optim"),
    " logs them by itself, a ",
    el("code", {}, "GradientMonitor"),
    " does for torch and JAX; of other writers, tags such as ",
    el("code", {}, "gradients/norm/<variable>"),
    " are understood.",
  );
}

/**
 * The layers whose curves are drawn at first: all if they are few, else some that findings are about.
 * @type {(statistic: Statistic) => string[]}
 */
function notable({ rows, findings }) {
  const tags = rows.map(({ tag }) => tag);
  if (tags.length <= ALL_LINES) return tags;
  const told = new Set(findings.flatMap(({ tag, others }) => [tag, ...others]));
  return tags.filter((tag) => told.has(tag)).slice(0, TOLD_LINES);
}

/**
 * A choice of statistics: buttons if they are few.
 * @type {(kinds: Kind[], chosen: Kind, onchoice: (key: string) => void) => HTMLElement | null}
 */
export function statistics(kinds, chosen, onchoice) {
  if (kinds.length < 2) return null;
  const texts = kinds.map(({ key, title: text }) => [key, text]);
  return kinds.length <= MOST_BUTTONS
    ? choice("Statistic", Object.fromEntries(texts), chosen.key, onchoice)
    : select("Statistic", texts, chosen.key, onchoice);
}

/** The order of rows that an address asks for. @type {(chosen: Chosen) => Order} */
export function orderOf(chosen) {
  return chosen.order === "name" ? "name" : "network";
}

/** A choice of the order of rows. @type {(state: { order: Order }, arrange: () => void, go: Go) => HTMLElement} */
export function orders(state, arrange, go) {
  return choice("Order", { network: "In network order", name: "By name" }, state.order, (order) => {
    state.order = order;
    go({ order: order === "network" ? null : order });
    arrange();
  });
}

/** The steps that an address asks for. @type {(chosen: Chosen) => Range | null} */
export function rangeIn(chosen) {
  const [from, to] = [Number(chosen.from), Number(chosen.to)];
  return chosen.from && to > from ? [from, to] : null;
}

/**
 * A button back to the whole run; and once zooming rests, the address says which steps are shown.
 * @type {(view: View, go: Go, rested?: () => void) => { button: HTMLElement, stop: () => void }}
 */
export function followZoom(view, go, rested = () => {}) {
  const reset = wholeRunButton(() => view);
  let waiting = 0;
  view.onzoom = (zoomed) => {
    reset.update(zoomed);
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const [from, to] = zoomed ? view.range.map(Math.round) : [null, null];
      go({ from, to });
      rested();
    }, REST);
  };
  return { button: reset.button, stop: () => clearTimeout(waiting) };
}

/**
 * A heat map of a statistic, and below it the strip and the curves.
 * @param {Statistic} cells
 * @param {State} state
 * @param {Go} go
 * @param {Range | null} range
 */
function layersOf(cells, state, go, range) {
  const view = new View(cells.steps, "step");
  const { log, title: heading } = cells.kind;
  const shade = shades([{ value: sample(cells.whole.cells, log) }], log, RANGE);
  const idle = `${counted(cells.rows.length, "variable")}, a row each`;
  const readout = el("p", { class: "readout", "aria-live": "off" }, idle);
  const [map, brush, plot] = [el("div"), el("div"), el("div", { class: "lines" })];
  const changed = () => {
    go({ layers: [...state.picked].join("\n") });
    heat.redraw();
  };
  const lines = new Lines(view, plot, cells, state, changed, () => heat.box().left);
  const heat = new Heat(view, map, {
    ...arrangement(cells.rows, state.order),
    cells,
    share: shade.share,
    ramp: () => SEQUENTIAL,
    findings: cells.findings,
    names: NAMES,
    say: (pointed) => {
      readout.textContent = pointed ? inWords(pointed) : idle;
    },
    pick: (row) => lines.toggle(cells.rows[row].tag),
    chosen: (row) => lines.colorOf(cells.rows[row].tag),
  });
  const strip = new Strip(view, brush, cells.whole, shade.share, () => heat.box());
  const zoom = followZoom(view, go, () => lines.refine());
  if (range) view.zoom([Math.max(range[0], view.full[0]), Math.min(range[1], view.full[1])]);
  const caption = el("figcaption", {}, el("h3", {}, heading), el("div", { class: "options" }, shadeBar(shade)));
  return {
    element: el("figure", { class: "heat" }, caption, map, brush, readout, plot),
    reset: zoom.button,
    drawLines: () => lines.draw(),
    arrange: () => {
      heat.arrange(arrangement(cells.rows, state.order));
      strip.draw();
      lines.draw();
    },
    range: () => (view.isZoomed ? view.range : null),
    close: () => {
      zoom.stop();
      lines.close();
      view.destroy();
    },
  };
}

/** The curves of the layers that were clicked, as fine as the range that is shown needs them. */
class Lines {
  /**
   * @param {View} view
   * @param {HTMLElement} holder
   * @param {Statistic} cells
   * @param {State} state
   * @param {() => void} changed
   * @param {() => number} side
   */
  constructor(view, holder, cells, state, changed, side) {
    this.view = view;
    this.holder = holder;
    this.cells = cells;
    this.changed = changed;
    this.side = side;
    this.picked = state.picked;
    this.begin = onlyLatest();
    /** @type {Chart | null} */
    this.chart = null;
    const tags = new Set(cells.rows.map(({ tag }) => tag));
    for (const tag of this.picked) if (!tags.has(tag)) this.picked.delete(tag);
    this.recolor = () => this.chart?.redraw(false);
    theme.listeners.add(this.recolor);
  }

  /**
   * The name of the color of a layer's line.
   * @param {string} tag
   */
  colorOf(tag) {
    const at = [...this.picked].indexOf(tag);
    return at < 0 ? undefined : `line-${at % MOST_LINES}`;
  }

  /** @param {string} tag */
  toggle(tag) {
    if (!this.picked.delete(tag)) this.picked.add(tag);
    const [oldest] = this.picked;
    if (this.picked.size > MOST_LINES) this.picked.delete(oldest);
    this.changed();
    this.draw();
  }

  async draw() {
    const isLatest = this.begin();
    const curves = await Promise.all([...this.picked].map((tag) => this.curve(tag).catch(() => [])));
    if (!isLatest()) return;
    this.chart?.destroy();
    this.chart = null;
    const plot = el("div", { class: "plot", tabindex: "0" });
    const none = el("p", { class: "note" }, "Click a layer to see its curve here.");
    const shown = curves.flat();
    this.holder.replaceChildren(shown.length > 0 ? plot : none);
    if (shown.length === 0) return;
    const { findings, kind } = this.cells;
    this.chart = lineChart(this.view, plot, shown, findings, kind.log, { side: this.side() });
  }

  /**
   * The curve of a layer in the range that is shown.
   * @param {string} tag
   * @returns {Promise<Curve[]>}
   */
  async curve(tag) {
    const [from, to] = this.view.isZoomed ? this.view.range : [null, null];
    /** @type {{ header: CurveHeader, read: (entry: Entry) => Column }} */
    const { header, read } = await arrays("curve", { run: this.cells.run, tag, from, to });
    const role = this.cells.kind.key.split("/")[0];
    const columns = { step: read(header.step), seconds: new Float64Array(), value: read(header.value) };
    return [{ tag, role, variable: "", points: header.points, ...columns }];
  }

  refine() {
    if (this.picked.size > 0) this.draw();
  }

  close() {
    this.begin();
    theme.listeners.delete(this.recolor);
    this.chart?.destroy();
  }
}
