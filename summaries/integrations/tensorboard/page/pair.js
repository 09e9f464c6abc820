// Two runs beside one another: their heat maps in the same colors, and by how much each cell of one is larger.

import { colorBar, el, sign } from "../../../auditing/report/page/elements.js";
import { shadeBar } from "../../../auditing/report/page/heatmap.js";
import { onlyLatest } from "../../../auditing/report/page/latest.js";
import { isolated, shortened } from "../../../auditing/report/page/names.js";
import { counted, number } from "../../../auditing/report/page/numbers.js";
import { verdict } from "../../../auditing/report/page/rows.js";
import { SEQUENTIAL, shades } from "../../../auditing/report/page/shades.js";
import { theme } from "../../../auditing/report/page/theme.js";
import { View } from "../../../auditing/report/page/view.js";
import { addressOf } from "./address.js";
import { diverging, sample, statisticOf } from "./cells.js";
import { difference, larger, onlyRows, sharedRows, spread } from "./differences.js";
import { Heat } from "./heat.js";
import { followZoom, NAMES, nothing, orderOf, orders, RANGE, rangeIn, statistics } from "./layers.js";
import { Strip } from "./strip.js";
import { arrangement, inWords, nameOf } from "./variables.js";

/** @import { Range, RunRow } from "../../../auditing/report/page/types.js" */
/** @import { CellSource, Chosen, Go, HeatOptions, Page, Pointed } from "./answers.js" */
/** @import { Statistic } from "./cells.js" */
/** @import { Order } from "./layers.js" */
/** @import { Ledger } from "./ledger.js" */

const HEIGHT = 380; // CSS pixels of the rows of a heat map

/** @type {(ledger: Ledger, row: RunRow, chosen: Chosen, go: Go) => Promise<Page>} */
export async function pairPage(ledger, row, chosen, go) {
  const other = ledger.rows.get(chosen.with ?? "") ?? row;
  const holder = el("div", { class: "layers" });
  const element = el("section", { class: "run single" }, heading(row, other), holder);
  const state = { kind: chosen.kind || null, order: orderOf(chosen) };
  /** @type {Pair | null} */
  let parts = null;
  const begin = onlyLatest();
  /** @param {Range | null} range */
  const load = async (range) => {
    const isLatest = begin();
    const first = await statisticOf(row.name, state.kind);
    const second = await statisticOf(other.name, state.kind ?? first?.kind.key ?? null);
    if (!isLatest()) return;
    parts?.close();
    parts = null;
    if (first === null || second === null) {
      const lacking = first === null ? row : other;
      holder.replaceChildren(el("p", { class: "note" }, el("bdi", {}, lacking.name), ": ", ...nothing().childNodes));
      return;
    }
    const shared = sharedRows(first.rows.map(nameOf), second.rows.map(nameOf));
    if (shared.length === 0) {
      holder.replaceChildren(el("p", { class: "note" }, "There is no variable that both runs have."));
      return;
    }
    state.kind = first.kind.key;
    const kinds = first.kinds.filter(({ key }) => second.kinds.some((kind) => kind.key === key));
    /** @param {string} key */
    const open = (key) => {
      state.kind = key;
      go({ kind: key });
      load(parts?.range() ?? null);
    };
    const pair = new Pair(first, second, shared, state, go, range);
    parts = pair;
    const order = orders(state, () => pair.arrange(), go);
    const tools = [statistics(kinds, first.kind, open), order, pair.zoom.button, pair.note];
    holder.replaceChildren(el("div", { class: "tools" }, tools), ...pair.elements);
  };
  await load(rangeIn(chosen));
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (changed.has(row.name) || changed.has(other.name)) load(parts?.range() ?? null).catch(() => {});
  };
  const close = () => {
    begin();
    parts?.close();
  };
  return { element, update, close };
}

/** @type {(row: RunRow, other: RunRow) => HTMLElement} */
function heading(row, other) {
  /** @param {RunRow} run */
  const name = (run) => {
    const attributes = { class: "of", href: addressOf("run", run.name, "layers"), title: run.name };
    return el("a", attributes, sign(verdict(run)), el("span", {}, shortened(run.name, 48)));
  };
  const swapped = addressOf("pair", other.name, "", { with: row.name });
  return el(
    "div",
    { class: "title" },
    el(
      "nav",
      { class: "tabs", "aria-label": "Runs" },
      el("a", { href: "#/" }, "All runs"),
      el("a", { href: swapped }, "Swap"),
    ),
    el("h1", { class: "pair" }, name(row), el("span", { class: "and" }, "beside"), name(other)),
    el("p", { class: "note" }, row.loss !== null && other.loss !== null ? `${ending(row)}, ${ending(other)}` : ""),
  );
}

/** @type {(run: RunRow) => string} */
function ending({ name, main, loss }) {
  return `${isolated(shortened(name, 48))} ends at ${isolated(main)} ${number(Number(loss))}`;
}

/** @type {(kind: string, name: string, content: HTMLElement, bar: HTMLElement) => HTMLElement} */
function figure(kind, name, content, bar) {
  const caption = el("h3", { title: name }, shortened(name, 60));
  const options = el("div", { class: "options" }, bar);
  return el("figure", { class: `heat ${kind}` }, el("figcaption", {}, caption, options), content);
}

/** The heat maps of both runs, and below them that of their difference. */
class Pair {
  /**
   * @param {Statistic} first
   * @param {Statistic} second
   * @param {[number, number][]} shared rows of both
   * @param {{ order: Order }} state
   * @param {Go} go
   * @param {Range | null} range
   */
  constructor(first, second, shared, state, go, range) {
    this.state = state;
    this.kind = first.kind;
    /** @type {Range} */
    const steps = [Math.min(first.steps[0], second.steps[0]), Math.max(first.steps[1], second.steps[1])];
    this.view = new View(steps, "step");
    this.zoom = followZoom(this.view, go);
    const lonely = first.rows.length + second.rows.length - 2 * shared.length;
    this.note = lonely > 0 ? el("p", { class: "note" }, `${counted(lonely, "variable")} only in one of them`) : null;
    this.idle = `${counted(shared.length, "variable")} that both runs have`;
    this.readout = el("p", { class: "readout" }, this.idle);
    this.bar = el("span", { class: "shades" });
    this.drawBar = () => {};
    this.isClosed = false;
    /** @type {Heat[]} */
    this.maps = [];
    const [one, other] = [onlyRows(first, rowsAt(shared, 0), steps), onlyRows(second, rowsAt(shared, 1), steps)];
    const title = this.kind.log ? "Difference: how many times larger" : "Difference";
    const [below, brush] = [el("div"), el("div")];
    const holder = figure("difference", title, below, this.bar);
    holder.append(brush, this.readout);
    this.elements = [el("div", { class: "beside" }, this.drawBoth(first, one, second, other)), holder];
    difference(one, other, this.kind.log)
      .then((cells) => this.drawDifference(first.run, cells, below, brush, range))
      .catch((error) => {
        if (!this.isClosed) below.replaceChildren(el("p", { class: "note" }, error.message));
      });
  }

  /**
   * Both runs in the same colors.
   * @param {Statistic} first
   * @param {CellSource} one
   * @param {Statistic} second
   * @param {CellSource} other
   */
  drawBoth(first, one, second, other) {
    const { log } = this.kind;
    const values = [one, other].map(({ whole }) => ({ value: sample(whole.cells, log) }));
    const shade = shades(values, log, RANGE);
    /** @param {Pointed | null} pointed */
    const say = (pointed) => this.say(pointed);
    const common = { share: shade.share, ramp: () => SEQUENTIAL, names: 150, say };
    const [left, right] = [el("div"), el("div")];
    this.draw(left, first.run, { ...common, cells: one, findings: first.findings });
    this.draw(right, second.run, { ...common, cells: other, findings: second.findings });
    return [figure("first", first.run, left, shadeBar(shade)), figure("second", second.run, right, shadeBar(shade))];
  }

  /**
   * @param {string} run
   * @param {CellSource} cells
   * @param {HTMLElement} below
   * @param {HTMLElement} brush
   * @param {Range | null} range
   */
  drawDifference(run, cells, below, brush, range) {
    if (this.isClosed) return;
    const { log } = this.kind;
    const most = spread(cells.whole.cells, log);
    /** @param {number} value */
    const share = (value) => (value / most + 1) / 2;
    /** @param {Pointed | null} pointed */
    const say = (pointed) => this.say(pointed, (value) => larger(value, log));
    const map = this.draw(below, run, { cells, share, ramp: diverging, findings: [], names: NAMES, say });
    /** @param {number} value */
    const size = (value) => Math.abs(value) / most;
    new Strip(this.view, brush, cells.whole, size, () => map.box());
    this.drawBar = () => this.bar.replaceChildren(...legend(most, log));
    theme.listeners.add(this.drawBar); // its colors are those of the theme
    this.drawBar();
    if (range) this.view.zoom(range);
  }

  /**
   * A heat map, of which a click on a row opens the layers of a run.
   * @param {HTMLElement} holder
   * @param {string} run
   * @param {Omit<HeatOptions, "order" | "groups" | "height" | "pick">} options
   */
  draw(holder, run, options) {
    /** @param {number} row */
    const pick = (row) => {
      const chosen = { kind: this.kind.key, layers: options.cells.rows[row].tag };
      location.hash = addressOf("run", run, "layers", chosen);
    };
    const rows = arrangement(options.cells.rows, this.state.order);
    const map = new Heat(this.view, holder, { ...options, ...rows, height: HEIGHT, pick });
    this.maps.push(map);
    return map;
  }

  /**
   * @param {Pointed | null} pointed
   * @param {(value: number) => string} [describe]
   */
  say(pointed, describe) {
    this.readout.textContent = pointed ? inWords(pointed, describe) : this.idle;
  }

  arrange() {
    for (const map of this.maps) map.arrange(arrangement(map.options.cells.rows, this.state.order));
  }

  range() {
    return this.view.isZoomed ? this.view.range : null;
  }

  close() {
    this.isClosed = true;
    this.zoom.stop();
    theme.listeners.delete(this.drawBar);
    this.view.destroy();
  }
}

/** @type {(shared: [number, number][], side: 0 | 1) => number[]} */
function rowsAt(shared, side) {
  return shared.map((rows) => rows[side]);
}

/** @type {(most: number, log: boolean) => (HTMLElement | string)[]} */
function legend(most, log) {
  const times = `${number(2 ** most)}×`;
  const [low, high] = log ? [`first ${times}`, `second ${times}`] : [`−${number(most)}`, `+${number(most)}`];
  return [low, colorBar(diverging()), high];
}
