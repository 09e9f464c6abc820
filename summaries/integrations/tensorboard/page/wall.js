// The wall of charts: a chart of every tag with all chosen runs, drawn when it comes into sight.

import { choice, el, quietButton, sign } from "../../../auditing/report/page/elements.js";
import { shortened } from "../../../auditing/report/page/names.js";
import { counted, whole } from "../../../auditing/report/page/numbers.js";
import { verdict } from "../../../auditing/report/page/rows.js";
import { View, wide } from "../../../auditing/report/page/view.js";
import { addressOf, here, replaceAddress } from "./address.js";
import { places } from "./places.js";
import { savePage } from "./save_page.js";
import { asked } from "./server.js";
import { alike, grouped, lineClass, matching, pinsOf } from "./wall_data.js";
import { Tile } from "./wall_tile.js";

/** @import { FieldEvent, Mode, Range, RunRow } from "../../../auditing/report/page/types.js" */
/** @import { Chosen, Page, TagsAnswer } from "./answers.js" */
/** @import { Ledger } from "./ledger.js" */

const MOST_RUNS = 40; // in the list of runs
const MOST_CHARTS = 40; // of a group at first
const FEW_CHARTS = 12; // need no groups
const MEANWHILE = 1000; // milliseconds between two drawings as long as runs are still being read

/** @typedef {"linear" | "log" | "asinh"} Scale */
/**
 * What a link says of the wall.
 * @typedef {{ tags: string, runs: string, over: string, smooth: number, x: Mode, xlog: boolean, y: Scale,
 *   clip: boolean, range: Range | null, pins: string[] }} State
 */

/** @type {(ledger: Ledger, chosen: Chosen) => Promise<Page>} */
export async function wallPage(ledger, chosen) {
  const { retagged } = ledger;
  const { tags } = /** @type {TagsAnswer} */ (await asked("tags"));
  const wall = new Wall(ledger, tags, {
    tags: chosen.tags ?? "",
    runs: chosen.runs ?? "",
    over: chosen.over ?? "",
    smooth: Math.min(Number(chosen.smooth ?? 0) || 0, 0.99),
    x: chosen.x === "time" ? "time" : "step",
    xlog: chosen.xlog === "1",
    y: chosen.y === "log" || chosen.y === "asinh" ? chosen.y : "linear",
    clip: chosen.clip === "1",
    range: rangeOf(chosen),
    pins: pinsOf(chosen.pins),
  });
  wall.retagged = retagged;
  return { element: wall.element, update: () => wall.update(), close: () => wall.close() };
}

/** The zoom of a link. @type {(chosen: Chosen) => Range | null} */
function rangeOf({ from, to }) {
  const [low, high] = [Number(from ?? Number.NaN), Number(to ?? Number.NaN)];
  return Number.isFinite(low) && Number.isFinite(high) && low < high ? [low, high] : null;
}

export class Wall {
  /**
   * @param {Ledger} ledger
   * @param {[string, number][]} tags
   * @param {State} state
   */
  constructor(ledger, tags, state) {
    this.ledger = ledger;
    this.tags = tags;
    this.state = state;
    /** How often tags had changed when they were asked for. */
    this.retagged = 0;
    /** @type {RunRow[]} */
    this.runs = [];
    /** Groups of runs, of which the mean is shown. @type {Map<string, string[]> | null} */
    this.over = null;
    /** @type {Map<string, number>} */
    this.colors = new Map();
    /** The version in which points of the runs changed last, and of which server. */
    this.grown = "";
    /** @type {Set<Tile>} */
    this.tiles = new Set();
    this.timer = 0;
    this.view = new View([0, 1], state.x);
    this.note = el("p", { class: "note", "aria-live": "polite" });
    this.legend = el("ul", { class: "runs", "aria-label": "Runs" });
    this.groups = el("div");
    this.whole = quietButton("Show all steps", () => this.view.zoom(null), { hidden: true });
    this.back = quietButton("Undo zoom", () => this.undo(), { hidden: true });
    /** What was shown before each zoom; null for everything. @type {(Range | null)[]} */
    this.past = [];
    this.watcher = new IntersectionObserver((entries) => this.seen(entries), { rootMargin: "300px" });
    this.element = el(
      "section",
      { class: "wall", onkeydown: (/** @type {KeyboardEvent} */ event) => this.onkey(event) },
      places("charts"),
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
    this.axis = choice("x axis", { step: "Steps", time: "Time" }, state.x, (x) => {
      this.change({ x, range: null });
      this.choose();
    });
    return el(
      "div",
      { class: "tools" },
      this.search("Tags", "tags"),
      this.search("Runs", "runs"),
      this.search("Mean over", "over", "Mean over: /seed=\\d+/"),
      this.axis,
      this.toggle("Log x", "xlog", () => this.choose()),
      choice("y axis", { linear: "Linear", log: "Log", asinh: "Asinh" }, state.y, (y) => {
        this.change({ y });
        this.redraw();
      }),
      this.toggle("Clip outliers", "clip", () => this.redraw()),
      el("label", { class: "smooth", for: "smooth" }, "Smoothing", smooth),
      el("div", { class: "choice", role: "group", "aria-label": "Zoom" }, ...this.zooms()),
      this.back,
      this.whole,
      savePage(() => this.chosen()),
      this.note,
    );
  }

  /** Zooming for those who do not drag. */
  zooms() {
    /** @type {[string, string, number, number][]} */
    const moves = [
      ["←", "Earlier", 1, -0.2],
      ["−", "Zoom out", 2, 0],
      ["+", "Zoom in", 0.5, 0],
      ["→", "Later", 1, 0.2],
    ];
    return moves.map(([text, label, factor, aside]) =>
      el("button", { type: "button", "aria-label": label, onclick: () => this.view.move(factor, aside) }, text),
    );
  }

  /** @type {(text: string, key: "xlog" | "clip", then: () => void) => HTMLElement} */
  toggle(text, key, then) {
    const button = quietButton(text, () => {
      this.change({ [key]: !this.state[key] });
      button.setAttribute("aria-pressed", String(this.state[key]));
      then();
    });
    button.setAttribute("aria-pressed", String(this.state[key]));
    return button;
  }

  redraw() {
    for (const tile of this.tiles) tile.redraw();
  }

  /** @param {KeyboardEvent} event */
  onkey(event) {
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    this.undo();
  }

  /** Show what was shown before the last zoom. */
  undo() {
    const before = this.past.pop();
    if (before === undefined) return;
    this.view.zoom(before);
    this.past.pop(); // which going back has added
    this.back.hidden = this.past.length === 0;
  }

  /**
   * Put a chart above all others, or back.
   * @param {string} tag
   */
  pin(tag) {
    const { pins } = this.state;
    this.change({ pins: pins.includes(tag) ? pins.filter((one) => one !== tag) : [...pins, tag] });
    this.choose();
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

  /** The names of the runs and of the tags that are shown; null for all. */
  chosen() {
    const { test } = matching(this.state.tags);
    const tags = this.tags.map(([tag]) => tag).filter((tag) => test(tag) || this.state.pins.includes(tag));
    const runs = this.runs.map(({ name }) => name);
    return {
      runs: runs.length < this.ledger.runs.length ? runs : null,
      tags: tags.length < this.tags.length ? tags : null,
    };
  }

  /** @param {Partial<State>} changes */
  change(changes) {
    Object.assign(this.state, changes);
    const { smooth, x, xlog, y, clip, range, pins, ...searched } = this.state;
    const [from, to] = range ?? ["", ""];
    const axes = { x: x === "step" ? "" : x, y: y === "linear" ? "" : y, xlog: xlog ? 1 : "", clip: clip ? 1 : "" };
    const told = {
      ...searched,
      ...axes,
      smooth: smooth || "",
      from,
      to,
      pins: pins.length ? JSON.stringify(pins) : "",
    };
    if (here().view === "charts") replaceAddress(addressOf("charts", "", "", told));
  }

  /** Show what the state says, anew. */
  choose() {
    const { state } = this;
    const found = this.tell();
    for (const button of this.axis?.querySelectorAll("button") ?? []) button.disabled = this.over !== null;
    this.clear();
    this.look();
    const pinned = state.pins.filter((tag) => this.tags.some(([one]) => one === tag));
    const others = found.filter((tag) => !pinned.includes(tag));
    const groups = others.length <= FEW_CHARTS ? new Map([["", others]]) : grouped(others);
    const isOnly = groups.size === 1;
    const above = pinned.length > 0 ? [el("h2", {}, "Pinned"), this.group("", pinned, true, true)] : [];
    const below = [...groups].map(([name, tags], at) => this.group(name, tags, at === 0, isOnly));
    this.groups.replaceChildren(...above, ...below);
    if (found.length === 0) this.groups.append(el("p", { class: "note" }, "No tag matches."));
  }

  /** Find the runs and the tags that match, and say how many; the tags. */
  tell() {
    const { state, ledger } = this;
    const [tags, runs] = [matching(state.tags), matching(state.runs)];
    this.runs = ledger.runs.filter((row) => (row.steps || !row.reading) && runs.test(row.name));
    this.grown = `${ledger.restarts} ${this.runs.reduce((last, { grown }) => Math.max(last, grown ?? 0), 0)}`;
    this.regroup();
    const found = this.tags.filter(([tag]) => tags.test(tag)).map(([tag]) => tag);
    const some = `${whole(found.length)} of ${counted(this.tags.length, "tag")}`;
    this.note.textContent = `${some}, ${whole(this.runs.length)} of ${counted(ledger.runs.length, "run")}`;
    this.drawLegend();
    return found;
  }

  /** A view of all steps or times, zoomed as the state says. */
  look() {
    const { state } = this;
    this.view = new View(this.extent(), this.over === null ? state.x : "step");
    this.view.log = state.xlog;
    if (state.range) this.view.range = state.range;
    this.past = [];
    this.back.hidden = true;
    this.whole.hidden = !this.view.isZoomed;
    this.view.onzoom = (zoomed) => {
      this.past.push(this.state.range);
      this.back.hidden = false;
      this.whole.hidden = !zoomed;
      this.change({ range: zoomed ? this.view.range : null });
      for (const tile of this.tiles) tile.refine();
    };
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
    return this.legible([low, high]);
  }

  /** A range that the x axis can show. @type {(range: Range) => Range} */
  legible([low, high]) {
    const first = this.state.xlog ? Math.max(low, 1) : low; // step or second
    return first > high ? [0, 1] : wide([first, high]);
  }

  drawLegend() {
    if (this.over !== null) {
      const groups = [...this.over].slice(0, MOST_RUNS);
      const items = groups.map(([name, { length }]) =>
        el(
          "li",
          { class: lineClass(this.color(name)), title: name },
          el("bdi", {}, shortened(name, 40)),
          `: ${counted(length, "run")}`,
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
          { class: lineClass(this.color(row.name)), title: row.name },
          el("a", { href: addressOf("run", row.name) }, sign(verdict(row)), el("bdi", {}, shortened(row.name, 40))),
        ),
      ),
      ...(more > 0 ? [el("li", { class: "note" }, `and ${counted(more, "other run")}`)] : []),
    );
  }

  /** Which runs are alike; the color of a group is its place among those of all runs. */
  regroup() {
    const groups = [this.runs, this.ledger.runs].map((runs) =>
      alike(
        runs.map(({ name }) => name),
        this.state.over,
      ),
    );
    this.over = groups[0];
    this.colors = new Map([...(groups[1]?.keys() ?? [])].map((name, at) => [name, at]));
  }

  /** The number of the color of a run, or of a group of runs. @type {(name: string) => number} */
  color(name) {
    return this.over === null ? this.ledger.color(name) : (this.colors.get(name) ?? 0);
  }

  /** @type {(name: string, tags: string[], open: boolean, isOnly: boolean) => HTMLElement} */
  group(name, tags, open, isOnly) {
    if (isOnly) return el("div", {}, ...this.tilesOf(tags));
    const title = el("summary", {}, el("bdi", {}, name || "Other"), ` (${whole(tags.length)})`);
    const details = el("details", { class: "further", open: open || tags.length <= 2 }, title);
    const onOpen = () => {
      if (details.open && details.childElementCount === 1) details.append(...this.tilesOf(tags));
    };
    details.addEventListener("toggle", onOpen);
    onOpen();
    return details;
  }

  /** The charts of some tags, and a button for more of them. @param {string[]} tags */
  tilesOf(tags) {
    const charts = el("div", { class: "charts" });
    const more = quietButton("", () => add());
    let shown = 0;
    const add = () => {
      const next = tags.slice(shown, shown + MOST_CHARTS);
      shown += next.length;
      for (const tag of next) {
        const tile = new Tile(this, tag);
        tile.pin.setAttribute("aria-pressed", String(this.state.pins.includes(tag)));
        this.tiles.add(tile);
        this.watcher.observe(tile.element);
        charts.append(tile.element);
      }
      more.hidden = shown === tags.length;
      more.textContent = `Show ${counted(Math.min(tags.length - shown, MOST_CHARTS), "more chart")}`;
    };
    add();
    return [charts, more];
  }

  /** @param {IntersectionObserverEntry[]} entries */
  seen(entries) {
    for (const entry of entries) {
      const tile = [...this.tiles].find(({ element }) => element === entry.target);
      if (tile) tile.inSight(entry.isIntersecting);
    }
  }

  update() {
    if (this.retagged !== this.ledger.retagged) this.retag();
    const { length } = this.runs;
    const { grown } = this;
    this.tell();
    this.view.extend(this.extent());
    const isReading = this.ledger.runs.some((row) => row.reading && !row.steps);
    if (!this.timer && length === this.runs.length && grown === this.grown) return;
    if (isReading) this.timer ||= setTimeout(() => this.refine(), MEANWHILE);
    else this.refine();
  }

  refine() {
    clearTimeout(this.timer);
    this.timer = 0;
    for (const tile of this.tiles) tile.refine();
  }

  /** Ask for the tags, of which there may be very many: only when a run has others. */
  async retag() {
    this.retagged = this.ledger.retagged;
    try {
      const { tags } = /** @type {TagsAnswer} */ (await asked("tags"));
      const isSame = tags.length === this.tags.length && tags.every(([tag], at) => tag === this.tags[at][0]);
      if (!this.element.isConnected || isSame) return;
      this.tags = tags;
      this.choose();
    } catch {
      this.retagged = -1; // the next change asks again
    }
  }

  clear() {
    clearTimeout(this.timer);
    this.timer = 0;
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
