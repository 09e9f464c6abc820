// Line charts, drawn by uPlot.

import { aligned, notFinite, ordered, placed, positive } from "./columns.js";
import { drawMany, evenly, valuesIn } from "./many.js";
import { drawMarks, drawNotFinite, FLAG_HEIGHT } from "./marks.js";
import { duration, durations, number, ticks, whole } from "./numbers.js";
import { color } from "./theme.js";
import { asinhTicks, logRange, logTicks } from "./ticks.js";
import { uPlot } from "./uplot/uPlot.iife.min.js";

/** @import uPlotClass from "uplot" */
/** @import { Chart, ChartOptions, Curve, Finding, Line, LineChart, Mark, Range } from "./types.js" */
/** @import { View } from "./view.js" */

const CHART_HEIGHT = 250;
const SIDE = 66; // CSS pixels for the y axis, at least
const BESIDE = 22; // half of the label of the last tick of the x axis
const LINE_COLORS = 8;
const DASHES = [undefined, [7, 3], [2, 3], [8, 3, 2, 3]]; // of the first eight curves, of the next eight, …
export const MANY = 4 * LINE_COLORS; // more curves than colors and dashes tell apart are drawn as thin lines
const QUICK = 8; // milliseconds: an exact picture of many lines that takes less needs no coarse one before it
export const RESTS = 80; // milliseconds until who zooms has stopped
const OUTSIDE = -10; // where uPlot has the crosshair of a chart that has none
const OUTLIERS = 0.01; // the share of values on each side that clipping may leave out
const SHARES = new Set(["clipped", "clipped_fraction", "zero_fraction"]);
// Distances between ticks of an axis of steps: whole ones.
const STEP_TICKS = Array.from({ length: 19 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
const [MINUTE, HOUR, DAY] = [60, 3600, 86400];
// Distances between ticks of a time axis, in seconds: round in minutes, hours and days.
const TIME_TICKS = [
  ...[0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 5, 10, 30, 100, 365].map((days) => days * DAY),
];

/**
 * The options that all charts have: the shared x axis, a crosshair, zooming by dragging, and marks for findings.
 * @type {(view: View, width: number, height: number, marks: Mark[], own?: Range | null) => ChartOptions}
 */
export function baseOptions(view, width, height, marks, own = null) {
  const axis = { stroke: () => color("soft"), grid: { stroke: () => color("grid"), width: 1 }, ticks: { show: false } };
  const xAxis =
    view.mode === "step"
      ? { values: ticksBy(ticks), space: 70, incrs: STEP_TICKS, ...(view.log ? logAxis(logTicks) : {}) }
      : { values: ticksBy(durations), space: 110, incrs: TIME_TICKS, ...(view.log ? logAxis(logTicks) : {}) };
  return {
    width,
    height,
    padding: [(marks.length > 0 ? 2 * FLAG_HEIGHT : 0) + 10, BESIDE, 0, 0],
    scales: { x: { time: false, range: () => view.rangeOf(own), distr: view.log ? 3 : 1 } },
    axes: [
      { ...axis, ...xAxis, size: 28 },
      { ...axis, size: SIDE, values: ticksBy(ticks) },
    ],
    cursor: {
      y: false,
      move: (u, left, top) => [left > u.bbox.width / uPlot.pxRatio ? OUTSIDE : left, top], // of another chart's range
      sync: { key: view.key, scales: ["x", null], setSeries: false },
      drag: { x: true, y: false, setScale: false, dist: 4 },
      bind: {
        dblclick: () => () => {
          view.zoom(null);
          return null;
        },
      },
    },
    hooks: {
      drawClear: [(u) => drawMarks(u, marks, view.active)],
      setSelect: [
        (u) => {
          const { left, width: dragged } = u.select;
          if (dragged < 4) return;
          view.zoom([u.posToVal(left, "x"), u.posToVal(left + dragged, "x")]);
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
    series: [],
  };
}

/** @type {(texts: (values: number[]) => string[]) => (u: uPlotClass, values: number[]) => string[]} */
function ticksBy(texts) {
  return (_u, values) => texts(values);
}

/**
 * Put a chart into its holder: resize it, add it to the view, listen to keys, and choose a finding by a click.
 * @param {View} view
 * @param {HTMLElement} holder
 * @param {ChartOptions} options
 * @param {uPlotClass.AlignedData} data
 * @param {Mark[]} marks
 * @param {Range | null} [own]
 * @returns {Chart}
 */
export function install(view, holder, options, data, marks, own = null) {
  const u = new uPlot(options, data, holder);
  const fit = () => {
    const width = Math.floor(holder.clientWidth);
    if (width > 0 && width !== u.width) u.setSize({ width, height: options.height });
  };
  const chart = Object.assign(u, { fit, own });
  const resize = new ResizeObserver(fit);
  resize.observe(holder);
  const deafen = view.listen(holder, undefined, own);
  view.charts.add(chart);
  u.over.addEventListener("click", (event) => {
    const x = u.posToVal(event.offsetX, "x");
    const near = 4 * (u.posToVal(1, "x") - u.posToVal(0, "x"));
    const hit = marks.filter(({ range: [from, to] }) => from - near <= x && x <= to + near);
    const [narrowest] = hit.sort((a, b) => a.range[1] - a.range[0] - (b.range[1] - b.range[0]));
    if (narrowest) view.onpick(narrowest.finding);
  });
  const leave = u.destroy;
  u.destroy = () => {
    resize.disconnect();
    deafen();
    view.charts.delete(chart);
    leave.call(u);
  };
  return chart;
}

/**
 * Where findings are marked on these curves; those without a tag are marked on the loss.
 * @type {(view: View, curves: Curve[], findings: Finding[]) => Mark[]}
 */
export function marksOn(view, curves, findings) {
  const marks = findings.flatMap((finding) => {
    const curve = curves.find(({ tag, role }) => (finding.tag === "" ? role === "loss" : tag === finding.tag));
    const range = curve && finding.steps && placed(finding.steps, curve, view.mode);
    return range ? [{ finding, range }] : [];
  });
  return marks.sort((a, b) => a.range[0] - b.range[0]);
}

/**
 * The scale of values and its ticks: linear or logarithmic; if some are zero or negative, asinh from the smallest
 * magnitude on, or from where a tenth of them is smaller.
 * @param {boolean} log
 * @param {(number | null | undefined)[][]} values
 * @param {boolean} asinh
 * @returns {{ scale: uPlotClass.Scale, ticks?: (low: number, high: number) => number[] }}
 */
function valueScale(log, values, asinh) {
  if (asinh) return asinhScale(quantile(sorted(values).map(Math.abs).filter(Boolean).sort(ascending), 0.1) ?? 1);
  let least = Infinity;
  let positive = true;
  for (const column of values) {
    for (const value of column) {
      if (value === null || value === undefined) continue;
      if (value <= 0) positive = false;
      if (value !== 0) least = Math.min(least, Math.abs(value));
    }
  }
  if (!log || least === Infinity) return { scale: { distr: 1, range: linearRange } };
  if (positive) return { scale: { distr: 3, range: positiveRange }, ticks: logTicks };
  return asinhScale(least);
}

/** @type {(least: number) => { scale: uPlotClass.Scale, ticks: (low: number, high: number) => number[] }} */
function asinhScale(least) {
  return { scale: { distr: 4, asinh: least, range: zeroRange }, ticks: (low, high) => asinhTicks(low, high, least) };
}

/** @type {(a: number, b: number) => number} */
function ascending(a, b) {
  return a - b;
}

/** @type {(values: (number | null | undefined)[][]) => number[]} */
function sorted(values) {
  const known = values.flatMap((column) => column.filter((value) => value !== null && value !== undefined));
  return /** @type {number[]} */ (known).sort(ascending);
}

/** @type {(rising: number[], share: number) => number | undefined} */
function quantile(rising, share) {
  return rising[Math.round(share * (rising.length - 1))];
}

/**
 * A range of a scale, from the least and the largest value; from null if there is none.
 * @typedef {(u: uPlotClass, low: number | null, high: number) => uPlotClass.Range.MinMax} ScaleRange
 */

/** @type {ScaleRange} */
export function positiveRange(_u, low, high) {
  return low === null ? [1, 10] : logRange(low, high);
}

/** @type {ScaleRange} */
export function zeroRange(_u, low, high) {
  return low === null ? [0, 1] : [Math.min(low, 0), Math.max(high, 0)];
}

/** Like uPlot's own, except that the line of a constant is in the middle. @type {ScaleRange} */
export function linearRange(_u, low, high) {
  if (low === null) return [0, 1];
  const room = Math.abs(low) / 2 || 1;
  if (low === high) return [low - room, high + room];
  /** @type {uPlotClass.Range.Limit} */
  const limit = { pad: 0.1, soft: 0, mode: 3 }; // like uPlot: data that starts at zero stays there
  return uPlot.rangeNum(low, high, { min: limit, max: limit });
}

/** The axis of a share starts at zero, with room for a line there. @type {ScaleRange} */
export function shareRange(_u, low, high) {
  const top = high > 0 ? high : 1;
  return [Math.min(low ?? 0, -0.03 * top), 1.05 * top];
}

/**
 * Bands lie between curves; a y axis may be asinh, and leave out outliers; without a zoom, the x axis may be its own.
 * @typedef {{ side?: number, legend?: boolean, bands?: [high: number, low: number][], asinh?: boolean,
 *   clipped?: boolean, own?: Range | null }} Looks
 */

/**
 * A line chart in `holder`; `log` selects its scale, `side` is the width of the y axis.
 * @param {View} view
 * @param {HTMLElement} holder
 * @param {Curve[]} curves
 * @param {Finding[]} findings
 * @param {boolean} log
 * @param {Looks} [looks]
 * @returns {LineChart}
 */
export function lineChart(view, holder, curves, findings, log, looks = {}) {
  const { side = SIDE, legend = true, bands = [], asinh = false, clipped = false, own = null } = looks;
  const lines = curves
    .map((curve) => ordered(curve, view.mode))
    .map((points) => (view.log ? positive(points) : points));
  const isMany = curves.length > MANY && !legend && bands.length === 0;
  const { x, values } = isMany ? { x: [...view.full], values: lines.map(({ value }) => [...value]) } : aligned(lines);
  const marks = marksOn(view, curves, findings);
  const odd = lines.flatMap(notFinite);
  const finite = values.map((column) => column.map((v) => (v === undefined || Number.isFinite(v) ? v : null)));
  const options = baseOptions(view, holder.clientWidth, CHART_HEIGHT, marks, own);
  const { scale, ticks } = valueScale(log, finite, asinh);
  const shares = !ticks && curves.every(({ role }) => SHARES.has(role));
  options.scales.y = shares ? { ...scale, range: shareRange } : scale;
  if (clipped) clip(/** @type {{ range: ScaleRange }} */ (options.scales.y), finite);
  options.axes[1].size = (_u, texts) => Math.max(side, ...(texts ?? []).map((text) => 7 * (text ?? "").length + 12));
  options.legend = { show: legend };
  options.bands = bands.map(([high, low]) => ({
    series: [high + 1, low + 1],
    fill: () => `${color(lineName(curves[high], high))}2e`,
  }));
  if (ticks) Object.assign(options.axes[1], logAxis(ticks));
  options.hooks.draw = [(u) => drawNotFinite(u, odd)];
  options.cursor.dataIdx = (_u, k, index) => (k === 0 ? index : nearestPoint(values[k - 1], index));
  const said = view.mode === "step" ? whole : duration;
  const series = curves.map((curve, k) => line(curve, k, values[k], options.width));
  const drawn = lines.map((one, k) => ({ ...one, series: series[k] }));
  options.series = [{ label: view.mode, value: (_u, v) => said(v ?? x.at(-1) ?? 0) }, ...(isMany ? [{}] : series)];
  if (isMany) drawAll(options, drawn, () => view.rangeOf(own), clipped);
  const data = /** @type {uPlotClass.AlignedData} */ ([x, ...(isMany ? [[null, null]] : finite)]);
  return Object.assign(install(view, holder, options, data, marks, own), { lines: drawn });
}

/**
 * Have the lines drawn by ourselves: uPlot knows none of them. What takes long is first drawn three pixels wide, which
 * takes half the time, and exactly when nobody zooms any more.
 * @type {(options: ChartOptions, lines: Line[], shown: () => Range, clipped: boolean) => void}
 */
function drawAll({ scales, hooks, cursor }, lines, shown, clipped) {
  const canvas = document.createElement("canvas");
  const range = /** @type {ScaleRange} */ (scales.y.range);
  if (!clipped) scales.y.range = (u) => range(u, .../** @type {Range} */ (valuesIn(lines, shown())));
  const evenLines = evenly(lines, scales);
  let [exact, timer, isAtRest] = [0, 0, true]; // the milliseconds of an exact picture
  /** @param {uPlotClass} u */
  const rest = (u) => {
    isAtRest = true;
    u.redraw(false);
  };
  /** @param {uPlotClass} u */
  const draw = (u) => {
    const isExact = isAtRest || exact < QUICK;
    const began = performance.now();
    drawMany(u, evenLines, canvas, isExact ? 1 : 3);
    exact = (performance.now() - began) * (isExact ? 1 : 2);
    isAtRest = false;
    clearTimeout(timer);
    if (!isExact) timer = setTimeout(rest, RESTS, u);
  };
  hooks.draw = [draw, ...[hooks.draw ?? []].flat()];
  hooks.destroy = [() => clearTimeout(timer)];
  cursor.dataIdx = undefined;
}

/**
 * Leave outliers out of the range of a scale.
 * @type {(scale: { range: ScaleRange }, values: (number | null | undefined)[][]) => void}
 */
function clip(scale, values) {
  const rising = sorted(values);
  const [low, high] = [quantile(rising, OUTLIERS), quantile(rising, 1 - OUTLIERS)];
  const range = scale.range;
  if (low !== undefined && high !== undefined) scale.range = (u) => range(u, low, high);
}

/**
 * The parts of an axis with ticks of our own: uPlot does not draw an axis if none of its increments fits, e.g. over
 * forty decades.
 * @type {(ticks: (low: number, high: number) => number[]) => uPlotClass.Axis}
 */
function logAxis(ticks) {
  return {
    splits: (_u, _axis, low, high) => ticks(low, high),
    filter: (_u, found) => found,
    incrs: (_u, _axis, low, high) => [Math.max(5, high / 2 - low / 2)],
  };
}

/** @type {(curve: Curve, k: number, values: (number | undefined)[], pixels: number) => uPlotClass.Series} */
function line(curve, k, values, pixels) {
  const { tag, role, faint, value } = curve;
  const name = lineName(curve, k);
  return {
    label: tag,
    stroke: () => color(name),
    class: name,
    width: faint || value.length > pixels ? 1 : 1.5, // dense points take ten times as long in a wider line
    alpha: faint ? 0.3 : 1,
    dash: role === "clip_norm" ? [6, 4] : DASHES[Math.floor((curve.color ?? 0) / LINE_COLORS) % DASHES.length],
    value: (_u, _v, _series, index) => number(values[index ?? lastPoint(values)]),
    points: { size: 5 },
  };
}

/** @type {(curve: Curve, k: number) => string} */
function lineName({ color: own }, k) {
  return `line-${(own ?? k) % LINE_COLORS}`;
}

/**
 * The nearest index at which the column has a point.
 * @type {(column: (number | undefined)[], index: number) => number}
 */
function nearestPoint(column, index) {
  for (let away = 0; away < column.length; away++) {
    if (column[index - away] !== undefined) return index - away;
    if (column[index + away] !== undefined) return index + away;
  }
  return index;
}

/** @type {(column: (number | undefined)[]) => number} */
function lastPoint(column) {
  let last = column.length - 1;
  while (last > 0 && column[last] === undefined) last--;
  return last;
}
