// The view of a run, which all of its charts share: the range of x that is shown, and the finding that is chosen.

/** @import { Curve, Finding, Mode, Range, Zoomed } from "./types.js" */

const ASIDE = 0.2; // of the range, for an arrow key

export class View {
  static count = 0;

  /**
   * @param {Range} extent
   * @param {Mode} mode
   */
  constructor([low, high], mode) {
    this.mode = mode;
    /** Whether the x axis is logarithmic. */
    this.log = false;
    this.key = `run-${++View.count}`; // charts with the same key share their crosshair
    /** @type {Set<Zoomed>} */
    this.charts = new Set();
    /** @type {Finding | null} */
    this.active = null;
    /** @type {(zoomed: boolean) => void} */
    this.onzoom = () => {};
    /** @type {(finding: Finding) => void} */
    this.onpick = () => {};
    this.full = wide([low, high]);
    this.range = this.full;
  }

  get isZoomed() {
    return this.range !== this.full;
  }

  /**
   * Show this range of x, or everything for null.
   * @param {Range | null} range
   */
  zoom(range) {
    this.range = range ?? this.full;
    this.scale();
    this.onzoom(this.isZoomed);
  }

  /**
   * What there is in all has changed: who sees everything goes on doing so, and who has zoomed sees the same.
   * @param {Range} extent
   */
  extend(extent) {
    const { isZoomed } = this;
    this.full = wide(extent);
    if (isZoomed) return;
    this.range = this.full;
    this.scale();
  }

  scale() {
    for (const chart of this.charts) {
      const [min, max] = this.rangeOf(chart.own);
      chart.setScale("x", { min, max });
    }
  }

  /**
   * What a chart shows: a zoom is everybody's; without one, a chart may have a range of its own.
   * @param {Range | null} [own]
   */
  rangeOf(own = null) {
    return own && !this.isZoomed ? own : this.range;
  }

  /**
   * Zoom by a factor around the middle, and move by a share of the range.
   * @param {number} factor
   * @param {number} aside
   * @param {Range | null} [own]
   */
  move(factor, aside, own) {
    const [low, high] = this.rangeOf(own);
    const middle = (low + high) / 2 + aside * (high - low);
    const half = (factor * (high - low)) / 2;
    const [from, to] = [Math.max(middle - half, this.full[0]), Math.min(middle + half, this.full[1])];
    if (to > from) this.zoom([from, to]);
  }

  /**
   * Zoom by keys that are pressed in an element; returns what ends that.
   * @param {HTMLElement} element
   * @param {number} aside
   * @param {Range | null} [own]
   */
  listen(element, aside = ASIDE, own = null) {
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.move(1, -aside, own),
      ArrowRight: () => this.move(1, aside, own),
      "+": () => this.move(0.5, 0, own),
      "=": () => this.move(0.5, 0, own),
      "-": () => this.move(2, 0, own),
      0: () => this.zoom(null),
      Escape: () => this.zoom(null),
    };
    /** @param {KeyboardEvent} event */
    const onkey = (event) => {
      if (!Object.hasOwn(keys, event.key)) return;
      keys[event.key]();
      event.preventDefault();
    };
    element.addEventListener("keydown", onkey);
    return () => element.removeEventListener("keydown", onkey);
  }

  /** Fit all charts to their holders at once: before printing, an observer would be too late. */
  fit() {
    for (const chart of this.charts) chart.fit?.();
  }

  /**
   * Highlight the marks of a finding in all charts.
   * @param {Finding | null} finding
   */
  emphasize(finding) {
    if (this.active === finding) return;
    this.active = finding;
    this.redraw();
  }

  redraw() {
    for (const chart of this.charts) chart.redraw(false);
  }

  destroy() {
    for (const chart of this.charts) chart.destroy();
    this.charts.clear();
  }
}

/** A range that is not empty. @type {(range: Range) => Range} */
export function wide([low, high]) {
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

/** The least and the largest x of all curves. @type {(curves: Curve[], mode: Mode) => Range} */
export function extent(curves, mode) {
  let [low, high] = [Infinity, -Infinity];
  for (const curve of curves) {
    for (const x of mode === "step" ? curve.step : curve.seconds) {
      if (!Number.isFinite(x)) continue;
      if (x < low) low = x;
      if (x > high) high = x;
    }
  }
  return low > high ? [0, 1] : [low, high];
}
