// A chart of the wall: one tag with all chosen runs, its values at the crosshair, and what can be saved of it.

import { lineChart, MANY, RESTS } from "../../../auditing/report/page/chart.js";
import { el, quietButton } from "../../../auditing/report/page/elements.js";
import { shortened } from "../../../auditing/report/page/names.js";
import { counted, duration, number, whole } from "../../../auditing/report/page/numbers.js";
import { extent } from "../../../auditing/report/page/view.js";
import { arrays } from "./server.js";
import { falling, lineClass, nearest, reaches } from "./wall_data.js";
import { asTable, asText, chartDrawing, saved, savedPicture } from "./wall_export.js";

/** @import { Column, Curve, LineChart, Range } from "../../../auditing/report/page/types.js" */
/** @import { BandsHeader, CurvesHeader } from "./answers.js" */
/** @import { Wall } from "./wall.js" */

const MOST_READ = 12; // values at the crosshair

/** The chart of one tag. */
export class Tile {
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
    this.pin = quietButton("Pin", () => wall.pin(tag), { "aria-label": `Pin ${tag}`, "aria-pressed": "false" });
    const caption = el("figcaption", {}, el("h3", {}, tag), this.thinned, this.pin, this.exports());
    this.element = el("figure", { class: "lines" }, caption, this.holder, this.readout);
    /** @type {LineChart | null} */
    this.chart = null;
    /** @type {Curve[]} */
    this.curves = [];
    /** What smoothing makes of their values. @type {(Column | null)[]} */
    this.averages = [];
    /** The upper and the lower edge of each band. @type {Curve[]} */
    this.edges = [];
    /** From the first to the last of their points, if they have all. @type {Range | null} */
    this.own = null;
    this.visible = false;
    /** Whether the file has some of the points only. */
    this.left = false;
    this.stale = true;
    this.loading = false;
    this.closed = false;
    this.timer = 0;
  }

  /** What can be made of the chart. */
  exports() {
    const name = this.tag.replace(/[^\w.-]+/g, "_").slice(0, 80);
    const said = el("span", { role: "status", class: "note" });
    /** @type {(text: string, done: string, make: () => Promise<void>) => HTMLElement} */
    const act = (text, done, make) =>
      quietButton(text, () => {
        said.textContent = "";
        make().then(
          () => said.replaceChildren(done),
          (error) => said.replaceChildren(error.message),
        );
      });
    return el(
      "details",
      { class: "save" },
      el("summary", { "aria-label": `Save ${this.tag}` }, "Save"),
      act("SVG", `Saved ${name}.svg`, async () => saved(`${name}.svg`, "image/svg+xml", asText(this.picture()))),
      act("PNG", `Saved ${name}.png`, () => savedPicture(`${name}.png`, this.picture())),
      act("CSV", `Saved ${name}.csv`, async () => saved(`${name}.csv`, "text/csv", await this.table())),
      act("Copy", "Copied as CSV", async () => navigator.clipboard.writeText(await this.table())),
      said,
    );
  }

  picture() {
    if (this.chart === null) throw new Error("There is no chart here yet.");
    return chartDrawing(this.chart, this.tag, this.wall.view.mode);
  }

  /** Every point in sight, as CSV. */
  async table() {
    const { view, over } = this.wall;
    const asks = { ...this.asks(), stretches: 0, smooth: 0 };
    const { curves, edges } = await (over === null ? this.everyRun(asks) : this.means(asks, over));
    return asTable(this.tag, curves, edges, view);
  }

  asks() {
    const { view, state } = this.wall;
    const [from, to] = view.isZoomed ? view.range : [null, null];
    const stretches = Math.max(Math.round(this.holder.clientWidth || 400), 100);
    return { tag: this.tag, from, to, stretches, smooth: state.smooth };
  }

  /** @param {boolean} visible */
  inSight(visible) {
    this.visible = visible;
    if (visible && this.stale) this.load();
  }

  /** Ask for points that are as fine as the view, if anybody sees them; what takes long, not while it still changes. */
  refine() {
    this.stale = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.visible && this.load(), this.curves.length > MANY ? RESTS : 0);
  }

  /** Ask, and ask again as long as something else is wanted when the answer comes: one question at a time. */
  async load() {
    if (this.loading) return;
    this.loading = true;
    while (this.stale && this.visible && !this.closed) await this.ask();
    this.loading = false;
  }

  async ask() {
    this.stale = false;
    const isLatest = () => !this.stale && !this.closed;
    const { over } = this.wall;
    const asks = this.asks();
    try {
      const found = await (over === null ? this.everyRun(asks) : this.means(asks, over));
      if (!isLatest()) return;
      Object.assign(this, found);
      this.own = asks.from === null ? this.wall.legible(extent(this.curves, this.wall.view.mode)) : null;
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
    this.left = curves.some(({ points, kept = points }) => kept < points);
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
      curves: placed.map(([{ group, points, mean, present, runs }, step]) => ({
        ...this.curve(group, points, step, step, read(mean)),
        ...{ present: read(present), runs },
      })),
    };
  }

  /** @type {(tag: string, points: number, step: Column, seconds: Column, value: Column) => Curve} */
  curve(tag, points, step, seconds, value) {
    return { tag, role: "", variable: "", points, step, seconds, value, color: this.wall.color(tag) };
  }

  redraw() {
    const { view, state } = this.wall;
    this.chart?.destroy();
    this.chart = null;
    this.holder.replaceChildren();
    if (this.curves.length === 0) {
      this.thinned.textContent = "";
      this.readout.replaceChildren();
      if (!this.stale) this.holder.append(el("p", { class: "note" }, "None of these runs has this tag."));
      return;
    }
    const averaged = this.curves.map((curve, k) => ({ ...curve, value: this.averages[k] ?? curve.value }));
    const behind = this.averages.some(Boolean) ? this.curves.map((curve) => ({ ...curve, faint: true })) : this.edges;
    /** @type {[number, number][]} */
    const bands = this.edges.flatMap((_edge, k) => (k % 2 === 0 ? [[k, k + 1]] : []));
    const looks = { legend: false, bands, asinh: state.y === "asinh", clipped: state.clip, own: this.own };
    this.chart = lineChart(view, this.holder, [...behind, ...averaged], [], state.y === "log", looks);
    this.chart.hooks.setCursor = [
      ({ cursor: { left = -1 }, posToVal }) => this.read(left < 0 ? null : posToVal(left, "x")),
    ];
    const drawn = this.curves.reduce((sum, { value }) => sum + value.length, 0);
    const all = this.curves.reduce((sum, { points }) => sum + points, 0);
    const unsmoothed = this.left && state.smooth > 0 ? ", not smoothed" : "";
    const isThinned = drawn < all && (this.left || !view.isZoomed);
    this.thinned.textContent = isThinned ? `${whole(drawn)} of ${whole(all)} points${unsmoothed}` : "";
    this.read(null);
  }

  /**
   * The values of all runs at a place of the x axis, largest first.
   * @param {number | null} x
   */
  read(x) {
    const { mode, isZoomed } = this.wall.view;
    const near = this.chart ? 4 * (this.chart.posToVal(1, "x") - this.chart.posToVal(0, "x")) : 0; // four pixels
    const values = this.curves.flatMap((curve) => {
      const column = mode === "step" ? curve.step : curve.seconds;
      const at = reaches(column, x, near) ? nearest(column, x) : null;
      return at === null ? [] : [{ curve, value: curve.value[at], x: column[at], of: ofRuns(curve, at) }];
    });
    values.sort((a, b) => falling(a.value, b.value));
    const shown =
      values.length > MOST_READ ? [...values.slice(0, MOST_READ / 2), ...values.slice(-MOST_READ / 2)] : values;
    const last = isZoomed ? "last in sight" : "last";
    const place = x === null ? last : this.place(x, new Set(values.map((one) => one.x)));
    this.readout.replaceChildren(
      el("li", { class: "at" }, place),
      ...shown.map(({ curve, value, of }) =>
        el(
          "li",
          { class: lineClass(curve.color), title: curve.tag },
          el("bdi", {}, shortened(curve.tag, 28)),
          el("b", {}, number(value)),
          of,
        ),
      ),
      ...(shown.length < values.length
        ? [el("li", {}, `${MOST_READ / 2} highest and ${MOST_READ / 2} lowest of ${counted(values.length, "run")}`)]
        : []),
    );
  }

  /**
   * Where values were read: at their own step if it is one, else near the crosshair.
   * @type {(x: number, own: Set<number>) => string}
   */
  place(x, own) {
    const [only] = own;
    const isOne = own.size === 1;
    if (this.wall.view.mode === "time") return duration(isOne ? only : x);
    return isOne ? `step ${whole(only)}` : `near step ${whole(Math.round(x))}`;
  }

  close() {
    this.closed = true;
    this.chart?.destroy();
    this.chart = null;
  }
}

/**
 * Of how many runs a mean is there, if some have no value any more: they have ended, or are no numbers.
 * @type {(curve: Curve, at: number) => string}
 */
function ofRuns({ present, runs = 0 }, at) {
  return present && present[at] < runs ? ` (${present[at]} of ${counted(runs, "run")})` : "";
}
