// The wall of charts: a chart of every tag with all chosen runs, drawn when it comes into sight.

import { lineChart } from "../../../auditing/report/page/chart.js";
import { choice, el, quietButton, sign } from "../../../auditing/report/page/elements.js";
import { shortened } from "../../../auditing/report/page/names.js";
import { counted, duration, number, whole } from "../../../auditing/report/page/numbers.js";
import { verdict } from "../../../auditing/report/page/rows.js";
import { View } from "../../../auditing/report/page/view.js";
import { addressOf, here, replaceAddress } from "./address.js";
import { arrays, asked, onlyLatest } from "./server.js";
import { alike, grouped, matching, nearest } from "./wall_data.js";

/** @import { Chart, Column, Curve, FieldEvent, Mode, Range, RunRow } from "../../../auditing/report/page/types.js" */
/** @import { BandsHeader, Chosen, CurvesHeader, Page } from "./answers.js" */
/** @import { Ledger } from "./ledger.js" */

const MOST_RUNS = 40; // in the list of runs
const MOST_READ = 12; // values at the crosshair
const MOST_CHARTS = 40; // of a group at first
const FEW_CHARTS = 12; // need no groups
const REFINE = 150; // milliseconds after a zoom, until finer points are asked for
const COLORS = 8;

/** @typedef {{ tags: string, runs: string, over: string, smooth: number, x: Mode, y: "linear" | "log" }} State */

/** @type {(ledger: Ledger, chosen: Chosen) => Promise<Page>} */
export async function wallPage(ledger, chosen) {
  const { tags } = /** @type {{ tags: [string, number][] }} */ (await asked("tags"));
  const wall = new Wall(ledger, tags, {
    tags: chosen.tags ?? "",
    runs: chosen.runs ?? "",
    over: chosen.over ?? "",
    smooth: Math.min(Number(chosen.smooth ?? 0) || 0, 0.99),
    x: chosen.x === "time" ? "time" : "step",
    y: chosen.y === "log" ? "log" : "linear",
  });
  return { element: wall.element, update: (changed) => wall.update(changed), close: () => wall.close() };
}

class Wall {
  /**
   * @param {Ledger} ledger
   * @param {[string, number][]} tags
   * @param {State} state
   */
  constructor(ledger, tags, state) {
    this.ledger = ledger;
    this.tags = tags;
    this.state = state;
    /** @type {RunRow[]} */
    this.runs = [];
    /** Groups of runs, of which the mean is shown. @type {Map<string, string[]> | null} */
    this.over = null;
    /** @type {Set<Tile>} */
    this.tiles = new Set();
    this.view = new View([0, 1], state.x);
    this.note = el("p", { class: "note", "aria-live": "polite" });
    this.legend = el("ul", { class: "runs", "aria-label": "Runs" });
    this.groups = el("div");
    this.whole = quietButton("Show all steps", () => this.view.zoom(null), { hidden: true });
    this.watcher = new IntersectionObserver((entries) => this.seen(entries), { rootMargin: "300px" });
    this.element = el(
      "section",
      { class: "wall" },
      el("nav", { class: "tabs", "aria-label": "Pages" }, el("a", { href: "#/" }, "All runs")),
      el("h1", {}, "Charts"),
      this.tools(),
      this.legend,
      this.groups,
    );
    this.choose();
  }

  tools() {
    const { state } = this;
    /** @param {FieldEvent} event */
    const oninput = ({ target }) => {
      this.change({ smooth: Number(target.value) });
      for (const tile of this.tiles) tile.refine();
    };
    const range = { type: "range", min: 0, max: 0.99, step: 0.01, value: state.smooth };
    const smooth = el("input", { ...range, id: "smooth", oninput });
    return el(
      "div",
      { class: "tools" },
      this.search("Tags", "tags"),
      this.search("Runs", "runs"),
      this.search("Mean over", "over", "Mean over: /seed=\\d+/"),
      choice("x axis", { step: "Steps", time: "Time" }, state.x, (x) => {
        this.change({ x });
        this.choose();
      }),
      choice("y axis", { linear: "Linear", log: "Log" }, state.y, (y) => {
        this.change({ y });
        for (const tile of this.tiles) tile.redraw();
      }),
      el("label", { class: "smooth", for: "smooth" }, "Smoothing", smooth),
      this.whole,
      this.note,
    );
  }

  /** @type {(what: string, key: "tags" | "runs" | "over", hint?: string) => HTMLElement} */
  search(what, key, hint = `${what}: text or /pattern/`) {
    /** @param {FieldEvent} event */
    const oninput = ({ target }) => {
      const { problem } = matching(target.value);
      target.setCustomValidity(problem);
      target.title = problem;
      if (problem) return;
      this.change({ [key]: target.value });
      this.choose();
    };
    const label = { placeholder: hint, "aria-label": key === "over" ? hint : `${what} that match` };
    return el("input", { type: "search", value: this.state[key], ...label, oninput });
  }

  /** @param {Partial<State>} changes */
  change(changes) {
    Object.assign(this.state, changes);
    const { smooth, x, y, ...searched } = this.state;
    const told = { ...searched, smooth: smooth || "", x: x === "step" ? "" : x, y: y === "linear" ? "" : y };
    if (here().view === "charts") replaceAddress(addressOf("charts", "", "", told));
  }

  /** Show what the state says, anew. */
  choose() {
    const { state, ledger } = this;
    const [tags, runs] = [matching(state.tags), matching(state.runs)];
    this.runs = ledger.runs.filter((row) => !row.reading && runs.test(row.name));
    this.over = alike(
      this.runs.map(({ name }) => name),
      state.over,
    );
    const found = this.tags.filter(([tag]) => tags.test(tag)).map(([tag]) => tag);
    const some = `${whole(found.length)} of ${counted(this.tags.length, "tag")}`;
    this.note.textContent = `${some}, ${whole(this.runs.length)} of ${counted(ledger.runs.length, "run")}`;
    this.drawLegend();
    this.clear();
    this.view = new View(this.extent(), this.over === null ? state.x : "step");
    this.view.onzoom = (zoomed) => {
      this.whole.hidden = !zoomed;
      for (const tile of this.tiles) tile.refine();
    };
    const groups = found.length <= FEW_CHARTS ? new Map([["", found]]) : grouped(found);
    const isOnly = groups.size === 1;
    this.groups.replaceChildren(...[...groups].map(([name, tags], at) => this.group(name, tags, at === 0, isOnly)));
    if (found.length === 0) this.groups.append(el("p", { class: "note" }, "No tag matches."));
  }

  /** @returns {Range} */
  extent() {
    let [low, high] = [Infinity, -Infinity];
    for (const row of this.runs) {
      const [first, last] =
        this.state.x === "step" || this.over ? (row.steps ?? [0, 0]) : [0, Number(row.seconds ?? 0)];
      low = Math.min(low, first);
      high = Math.max(high, last);
    }
    return low > high ? [0, 1] : [low, high];
  }

  drawLegend() {
    if (this.over !== null) {
      const groups = [...this.over].slice(0, MOST_RUNS);
      const items = groups.map(([name, { length }]) =>
        el(
          "li",
          { class: `line-${this.color(name)}`, title: name },
          `${shortened(name, 40)}: ${counted(length, "run")}`,
        ),
      );
      this.legend.replaceChildren(...items);
      return;
    }
    const shown = this.runs.slice(0, MOST_RUNS);
    const more = this.runs.length - shown.length;
    this.legend.replaceChildren(
      ...shown.map((row) =>
        el(
          "li",
          { class: `line-${this.color(row.name)}`, title: row.name },
          el("a", { href: addressOf("run", row.name) }, sign(verdict(row)), shortened(row.name, 40)),
        ),
      ),
      ...(more > 0 ? [el("li", { class: "note" }, `and ${counted(more, "other run")}`)] : []),
    );
  }

  /** @type {(run: string) => number} */
  color(run) {
    const { colors } = this.ledger;
    const known = colors.get(run) ?? colors.size;
    colors.set(run, known);
    return known % COLORS;
  }

  /** @type {(name: string, tags: string[], open: boolean, isOnly: boolean) => HTMLElement} */
  group(name, tags, open, isOnly) {
    const charts = el("div", { class: "charts" });
    let shown = 0;
    const more = quietButton("", () => add(), { class: "quiet" });
    const add = () => {
      const next = tags.slice(shown, shown + MOST_CHARTS);
      shown += next.length;
      for (const tag of next) {
        const tile = new Tile(this, tag);
        this.tiles.add(tile);
        this.watcher.observe(tile.element);
        charts.append(tile.element);
      }
      more.hidden = shown === tags.length;
      more.textContent = `Show ${counted(Math.min(tags.length - shown, MOST_CHARTS), "more chart")}`;
    };
    const onOpen = () => {
      if (details.open && shown === 0) add();
    };
    if (isOnly) {
      add();
      return el("div", {}, charts, more);
    }
    const title = el("summary", {}, `${name || "Other"} (${whole(tags.length)})`);
    const details = el("details", { class: "further", open: open || tags.length <= 2 }, title, charts, more);
    details.addEventListener("toggle", onOpen);
    onOpen();
    return details;
  }

  /** @param {IntersectionObserverEntry[]} entries */
  seen(entries) {
    for (const entry of entries) {
      const tile = [...this.tiles].find(({ element }) => element === entry.target);
      if (tile) tile.inSight(entry.isIntersecting);
    }
  }

  /** @param {Set<string>} changed */
  update(changed) {
    const chosen = matching(this.state.runs);
    const runs = this.ledger.runs.filter((row) => !row.reading && chosen.test(row.name));
    if (runs.length !== this.runs.length) {
      asked("tags").then(({ tags }) => {
        this.tags = tags;
        this.choose();
      });
      return;
    }
    this.runs = runs;
    this.over = alike(
      runs.map(({ name }) => name),
      this.state.over,
    );
    if (runs.some(({ name }) => changed.has(name))) for (const tile of this.tiles) tile.refine();
  }

  clear() {
    this.watcher.disconnect();
    for (const tile of this.tiles) tile.close();
    this.tiles.clear();
    this.view.destroy();
    this.whole.hidden = true;
  }

  close() {
    this.clear();
  }
}

/** The chart of one tag. */
class Tile {
  /**
   * @param {Wall} wall
   * @param {string} tag
   */
  constructor(wall, tag) {
    this.wall = wall;
    this.tag = tag;
    this.holder = el("div", { class: "plot", tabindex: "0", role: "group", "aria-label": tag });
    this.thinned = el("span", { class: "thinned" });
    this.readout = el("ol", { class: "readout" });
    const caption = el("figcaption", {}, el("h3", {}, tag), this.thinned);
    this.element = el("figure", { class: "lines" }, caption, this.holder, this.readout);
    /** @type {Chart | null} */
    this.chart = null;
    /** @type {Curve[]} */
    this.curves = [];
    /** What smoothing makes of their values. @type {(Column | null)[]} */
    this.averages = [];
    /** The upper and the lower edge of each band. @type {Curve[]} */
    this.edges = [];
    this.visible = false;
    this.stale = true;
    this.begin = onlyLatest();
    this.timer = 0;
  }

  /** @param {boolean} visible */
  inSight(visible) {
    this.visible = visible;
    if (visible && this.stale) this.load();
  }

  /** Ask for points that are as fine as the view, soon, if anybody sees them. */
  refine() {
    this.stale = true;
    clearTimeout(this.timer);
    if (this.visible) this.timer = setTimeout(() => this.load(), REFINE);
  }

  async load() {
    this.stale = false;
    const isLatest = this.begin();
    const { view, over, state } = this.wall;
    const [from, to] = view.isZoomed ? view.range : [null, null];
    const stretches = Math.max(Math.round(this.holder.clientWidth || 400), 100);
    const asks = { tag: this.tag, from, to, stretches, smooth: state.smooth };
    try {
      const found = await (over === null ? this.everyRun(asks) : this.means(asks, over));
      if (!isLatest()) return;
      Object.assign(this, found);
      this.redraw();
    } catch (error) {
      if (isLatest()) this.holder.replaceChildren(el("p", { class: "note" }, /** @type {Error} */ (error).message));
    }
  }

  /** @param {Record<string, unknown>} asks */
  async everyRun(asks) {
    const { runs, state } = this.wall;
    const names = JSON.stringify(runs.map(({ name }) => name));
    const { header, read } = await arrays("curves", { ...asks, runs: names, x: state.x });
    const { curves } = /** @type {CurvesHeader} */ (header);
    return {
      averages: curves.map(({ smooth }) => smooth && read(smooth)),
      edges: [],
      curves: curves.map(({ run, points, step, seconds, value }) =>
        this.curve(run, points, read(step), read(seconds), read(value)),
      ),
    };
  }

  /**
   * The mean of each group of runs, and how far they lie apart.
   * @param {Record<string, unknown>} asks
   * @param {Map<string, string[]>} over
   */
  async means(asks, over) {
    const { header, read } = await arrays("bands", { ...asks, groups: JSON.stringify(Object.fromEntries(over)) });
    const { bands } = /** @type {BandsHeader} */ (header);
    /** @type {[BandsHeader["bands"][number], Column][]} */
    const placed = bands.map((band) => [band, read(band.step)]);
    return {
      averages: [],
      edges: placed.flatMap(([{ group, points, high, low }, step]) =>
        [high, low].map((edge) => ({ ...this.curve(group, points, step, step, read(edge)), faint: true })),
      ),
      curves: placed.map(([{ group, points, mean }, step]) => this.curve(group, points, step, step, read(mean))),
    };
  }

  /** @type {(tag: string, points: number, step: Column, seconds: Column, value: Column) => Curve} */
  curve(tag, points, step, seconds, value) {
    return { tag, role: "", variable: "", points, step, seconds, value, color: this.wall.color(tag) };
  }

  redraw() {
    if (this.curves.length === 0) return;
    const { view, state } = this.wall;
    this.chart?.destroy();
    this.holder.replaceChildren();
    const averaged = this.curves.map((curve, k) => ({ ...curve, value: this.averages[k] ?? curve.value }));
    const behind = this.averages.some(Boolean) ? this.curves.map((curve) => ({ ...curve, faint: true })) : this.edges;
    /** @type {[number, number][]} */
    const bands = this.edges.flatMap((_edge, k) => (k % 2 === 0 ? [[k, k + 1]] : []));
    this.chart = lineChart(view, this.holder, [...behind, ...averaged], [], state.y === "log", {
      legend: false,
      bands,
    });
    this.chart.hooks.setCursor = [
      ({ cursor: { left = -1 }, posToVal }) => this.read(left < 0 ? null : posToVal(left, "x")),
    ];
    const drawn = this.curves.reduce((sum, { value }) => sum + value.length, 0);
    const all = this.curves.reduce((sum, { points }) => sum + points, 0);
    this.thinned.textContent = drawn < all && !view.isZoomed ? `${whole(drawn)} of ${whole(all)} points` : "";
    this.read(null);
  }

  /**
   * The values of all runs at a place of the x axis, largest first.
   * @param {number | null} x
   */
  read(x) {
    const { mode } = this.wall.view;
    const values = this.curves.flatMap((curve) => {
      const at = nearest(mode === "step" ? curve.step : curve.seconds, x);
      return at === null ? [] : [{ curve, value: curve.value[at] }];
    });
    values.sort((a, b) => b.value - a.value);
    const shown =
      values.length > MOST_READ ? [...values.slice(0, MOST_READ / 2), ...values.slice(-MOST_READ / 2)] : values;
    const place =
      x === null || values.length === 0 ? "last" : mode === "step" ? `step ${whole(Math.round(x))}` : duration(x);
    this.readout.replaceChildren(
      el("li", { class: "at" }, place),
      ...shown.map(({ curve, value }) =>
        el(
          "li",
          { class: `line-${curve.color}`, title: curve.tag },
          shortened(curve.tag, 28),
          el("b", {}, number(value)),
        ),
      ),
      ...(shown.length < values.length ? [el("li", {}, `of ${counted(values.length, "run")}`)] : []),
    );
  }

  close() {
    clearTimeout(this.timer);
    this.begin();
    this.chart?.destroy();
    this.chart = null;
  }
}
