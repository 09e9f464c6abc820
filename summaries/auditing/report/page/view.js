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
    const [min, max] = this.range;
    for (const chart of this.charts) chart.setScale("x", { min, max });
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
    const [min, max] = this.range;
    for (const chart of this.charts) chart.setScale("x", { min, max });
  }

  /**
   * Zoom by a factor around the middle, and move by a share of the range.
   * @param {number} factor
   * @param {number} aside
   */
  move(factor, aside) {
    const [low, high] = this.range;
    const middle = (low + high) / 2 + aside * (high - low);
    const half = (factor * (high - low)) / 2;
    const [from, to] = [Math.max(middle - half, this.full[0]), Math.min(middle + half, this.full[1])];
    if (to > from) this.zoom([from, to]);
  }

  /**
   * Zoom by keys that are pressed in an element; returns what ends that.
   * @param {HTMLElement} element
   * @param {number} aside
   */
  listen(element, aside = ASIDE) {
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.move(1, -aside),
      ArrowRight: () => this.move(1, aside),
      "+": () => this.move(0.5, 0),
      "=": () => this.move(0.5, 0),
      "-": () => this.move(2, 0),
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

/**
 * A range that is not empty.
 * @type {(range: Range) => Range}
 */
function wide([low, high]) {
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

/**
 * The least and the largest x of all curves.
 * @type {(curves: Curve[], mode: Mode) => Range}
 */
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
