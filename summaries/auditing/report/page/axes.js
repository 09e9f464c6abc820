// Plots in SVG: scales with axes, one for curves over steps, and one for the runs at each value of a hyperparameter.

import { svg } from "./elements.js";
import { isolated } from "./names.js";
import { number, ticks } from "./numbers.js";
import { logTicks, roundTicks } from "./ticks.js";

/** @import { Interval, Range } from "./types.js" */

/** @typedef {{ step: number[], value: (number | null)[], color: number, name: string, key: number }} Line */
/** @typedef {{ value: number | null, color: number, name: string, key: number, odd: boolean }} Dot */
/** @typedef {{ label: string, median: number | null, runs: Dot[] }} DotsAtLevel */
/** @typedef {{ y: (value: number) => number, ticks: number[] }} Axis */

const SIDE = 56; // CSS pixels for the labels of the y axis
const BELOW = 24;
const EDGE = 8;
const ABOVE = 26; // of a plot of runs, for the crosses of those that diverged
const LOG_FROM = 10; // ratio of largest to smallest value from which a linear axis would hide the small ones
const BETWEEN = 64; // CSS pixels: labels that are closer would overlap

/**
 * A vertical scale over these values: from values to pixels. Logarithmic if all are positive and far apart.
 * @type {(values: (number | null)[], top: number, height: number) => Axis}
 */
export function valueAxis(values, top, height) {
  const finite = values.filter((value) => value !== null).filter(Number.isFinite);
  let [low, high] = extremes(finite);
  const log = low > 0 && high / low > LOG_FROM;
  if (low === high) {
    const room = Math.abs(low) / 2 || 1;
    [low, high] = [low - room, high + room];
  }
  const to = log ? Math.log10 : (/** @type {number} */ value) => value;
  const room = 0.06 * (to(high) - to(low));
  const [first, last] = [to(low) - room, to(high) + room];
  /** @param {number} value */
  const y = (value) => top + height * (1 - (to(value) - first) / (last - first));
  return { y, ticks: log ? logTicks(10 ** first, 10 ** last) : roundTicks(first, last) };
}

/** The least and the largest of some values; 0 and 1 if there are none. @type {(values: number[]) => Range} */
function extremes(values) {
  if (values.length === 0) return [0, 1];
  return [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
}

/** Lines and labels for the ticks of the y axis. @type {(axis: Axis, width: number) => SVGElement[]} */
function yAxis({ y, ticks: values }, width) {
  const texts = ticks(values);
  return values.flatMap((value, k) => [
    svg("line", { class: "grid", x1: SIDE, x2: width, y1: y(value), y2: y(value) }),
    svg("text", { class: "tick", x: SIDE - EDGE, y: y(value) + 4, "text-anchor": "end" }, texts[k]),
  ]);
}

/** A label of the x axis. @type {(text: string, x: number, height: number) => SVGElement} */
function xLabel(text, x, height) {
  return svg("text", { class: "tick", x, y: height - 6, "text-anchor": "middle" }, text);
}

/**
 * Curves over steps; a line breaks where a value is missing.
 * @type {(lines: Line[], width: number, height: number) => SVGElement}
 */
export function curvesPlot(lines, width, height) {
  const [first, last] = extremes(lines.flatMap(({ step }) => [...step.slice(0, 1), ...step.slice(-1)]));
  const values = lines.flatMap(({ value }) => value);
  const axis = valueAxis(values, EDGE, height - BELOW - EDGE);
  /** @param {number} step */
  const x = (step) => SIDE + ((width - SIDE - EDGE) * (step - first)) / (last - first || 1);
  const steps = roundTicks(first, last).filter((step) => Number.isInteger(step));
  const texts = ticks(steps);
  return svg(
    "svg",
    { class: "curves", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The metric of all runs" },
    yAxis(axis, width),
    steps.map((step, k) => xLabel(texts[k], x(step), height)),
    lines.map(({ step, value, color, key, name }) => {
      const d = path(step.map(x), value, axis.y);
      return svg("path", { d, stroke: `var(--line-${color})`, "data-key": key }, svg("title", {}, name));
    }),
  );
}

/**
 * The path of a line, which breaks where a value is missing.
 * @type {(x: number[], values: (number | null)[], y: (value: number) => number) => string}
 */
export function path(x, values, y) {
  let pen = "M";
  return values
    .map((value, i) => {
      if (value === null) {
        pen = "M";
        return "";
      }
      const point = `${pen}${x[i].toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
      return point;
    })
    .join("");
}

/**
 * The runs at each level of a hyperparameter. Runs that diverged are crosses above the plot.
 * @type {(levels: DotsAtLevel[], width: number, height: number) => SVGElement}
 */
export function stripPlot(levels, width, height) {
  const values = levels.flatMap(({ runs }) => runs.map(({ value }) => value));
  const axis = valueAxis(values, ABOVE, height - ABOVE - BELOW);
  const room = (width - SIDE - EDGE) / levels.length;
  const every = Math.ceil(BETWEEN / room);
  const parts = levels.flatMap(({ label, median, runs }, at) => {
    const middle = SIDE + room * (at + 0.5);
    const gap = Math.min(11, (0.7 * room) / Math.max(runs.length, 1));
    const y = axis.y(median ?? 0);
    const line = { class: "median", x1: middle - 0.36 * room, x2: middle + 0.36 * room, y1: y, y2: y };
    return [
      median === null ? null : svg("line", line),
      ...runs.map((run, i) => dot(run, middle + gap * (i - (runs.length - 1) / 2), axis)),
      at % every ? null : xLabel(label, middle, height),
    ];
  });
  const attributes = {
    class: "strip",
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": "Runs at each value",
  };
  return svg("svg", attributes, yAxis(axis, width), parts);
}

/** @type {(run: Dot, x: number, axis: Axis) => SVGElement} */
function dot({ value, color, name, key, odd }, x, axis) {
  if (value === null) {
    const cross = { class: "diverged", d: `M${x - 4} 8l8 8m0-8l-8 8`, "data-key": key };
    return svg("path", cross, svg("title", {}, `${isolated(name)}: diverged`));
  }
  const circle = { cx: x, cy: axis.y(value), r: 4, fill: `var(--line-${color})`, "data-key": key };
  return svg(
    "circle",
    { class: odd ? "odd" : null, ...circle },
    svg("title", {}, `${isolated(name)}: ${number(value)}`),
  );
}

/**
 * A mean with its interval, in a row of a table: a dot and a whisker on the scale of all rows.
 * @type {(interval: Interval, scale: Range) => SVGElement}
 */
export function whisker({ mean, low, high }, [least, most]) {
  /** @param {number} value */
  const x = (value) => {
    const inside = Math.min(Math.max(value, least), most);
    return 4 + (152 * (inside - least)) / (most - least || 1);
  };
  return svg(
    "svg",
    { class: "whisker", viewBox: "0 0 160 18", "aria-hidden": "true" },
    low === null || high === null ? null : svg("line", { x1: x(low), x2: x(high), y1: 9, y2: 9 }),
    mean === null ? null : svg("circle", { cx: x(mean), cy: 9, r: 3.5 }),
  );
}
