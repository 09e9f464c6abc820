// Line charts, drawn by uPlot; and the view, which all charts of a run share: the x axis and the chosen finding.

import { aligned, ordered, placed } from "./columns.js";
import { FLAG_HEIGHT, drawMarks, drawNotFinite, notFinite } from "./marks.js";
import { duration, number, tick, whole } from "./numbers.js";
import { color } from "./theme.js";
import { uPlot } from "./uplot/uPlot.iife.min.js";

const CHART_HEIGHT = 250;
const SHARES = new Set(["clipped", "clipped_fraction", "zero_fraction"]);
// Ticks of a time axis, in seconds: round in minutes, hours and days.
const TIME_TICKS = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
  43200, 86400, 172800, 432000, 864000, 2592000, 8640000, 31536000];

/** The x axis that all charts share: zooming one zooms all. */
export class View {
  constructor(curves, mode) {
    this.curves = curves;
    this.mode = mode;
    this.charts = new Set();
    this.active = null;
    this.onzoom = () => {};
    this.onpick = () => {};
    this.cursor = uPlot.sync(`run-${++View.count}`);
    this.full = extent(curves, mode);
    this.range = this.full;
  }

  /** Show this range of x, or everything for null. */
  zoom(range) {
    this.range = range ?? this.full;
    for (const chart of this.charts) chart.setScale("x", { min: this.range[0], max: this.range[1] });
    this.onzoom(this.range !== this.full);
  }

  /** For the keyboard: zoom by a factor around the middle, and move by a share of the range. */
  move(factor, aside) {
    const [low, high] = this.range;
    const middle = (low + high) / 2 + aside * (high - low);
    const half = (factor * (high - low)) / 2;
    const range = [Math.max(middle - half, this.full[0]), Math.min(middle + half, this.full[1])];
    if (range[1] > range[0]) this.zoom(range);
  }

  /** Fit all charts to their holders at once: before printing, an observer would be too late. */
  fit() {
    for (const chart of this.charts) chart.fit?.();
  }

  /** Highlight the marks of a finding in all charts. */
  emphasize(finding) {
    if (this.active === finding) return;
    this.active = finding;
    for (const chart of this.charts) chart.redraw(false);
  }

  redraw() {
    for (const chart of this.charts) chart.redraw(false);
  }

  destroy() {
    for (const chart of this.charts) chart.destroy();
    this.charts.clear();
  }
}
View.count = 0;

/** The least and the largest x of all curves; never an empty range. */
function extent(curves, mode) {
  let [low, high] = [Infinity, -Infinity];
  for (const curve of curves) {
    for (const x of mode === "step" ? [curve.step[0], curve.step.at(-1)] : curve.seconds) {
      if (!Number.isFinite(x)) continue;
      if (x < low) low = x;
      if (x > high) high = x;
    }
  }
  if (low > high) return [0, 1];
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

/** The options that all charts have: the shared x axis, a crosshair, zooming by dragging, and marks for findings. */
export function baseOptions(view, width, height, marks) {
  const axis = { stroke: () => color("soft"), grid: { stroke: () => color("grid"), width: 1 }, ticks: { show: false } };
  return {
    width, height,
    padding: [(marks.length > 0 ? 2 * FLAG_HEIGHT : 0) + 10, 12, 0, 0],
    scales: { x: { time: false, range: () => view.range } },
    axes: [
      { ...axis, size: 28, values: (u, at) => at.map(view.mode === "step" ? tick : duration),
        incrs: view.mode === "step" ? undefined : TIME_TICKS, space: view.mode === "step" ? 70 : 110 },
      { ...axis, size: 66, values: (u, at) => at.map(tick) },
    ],
    cursor: {
      y: false,
      sync: { key: view.cursor.key, scales: ["x", null], setSeries: false },
      drag: { x: true, y: false, setScale: false, dist: 4 },
      bind: { dblclick: () => () => { view.zoom(null); return null; } },
    },
    hooks: {
      drawClear: [(u) => drawMarks(u, marks, view.active)],
      setSelect: [(u) => {
        if (u.select.width < 4) return;
        view.zoom([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
    },
  };
}

/** Put a chart into its holder: resize it, add it to the view, listen to keys, and choose a finding by a click. */
export function install(view, holder, options, data, marks) {
  const u = new uPlot(options, data, holder);
  u.fit = () => {
    const width = Math.floor(holder.clientWidth);
    if (width > 0 && width !== u.width) u.setSize({ width, height: options.height });
  };
  const resize = new ResizeObserver(u.fit);
  resize.observe(holder);
  view.charts.add(u);
  u.over.addEventListener("click", (event) => {
    const x = u.posToVal(event.offsetX, "x");
    const near = 4 * (u.posToVal(1, "x") - u.posToVal(0, "x"));
    const hit = marks.filter(({ range }) => range[0] - near <= x && x <= range[1] + near)
      .sort((a, b) => a.range[1] - a.range[0] - (b.range[1] - b.range[0]))[0];
    if (hit) view.onpick(hit.finding);
  });
  const keys = {
    ArrowLeft: [1, -0.2], ArrowRight: [1, 0.2], "+": [0.5, 0], "=": [0.5, 0], "-": [2, 0],
  };
  holder.addEventListener("keydown", (event) => {
    if (event.key === "0" || event.key === "Escape") view.zoom(null);
    else if (event.key in keys) view.move(...keys[event.key]);
    else return;
    event.preventDefault();
  });
  const leave = u.destroy;
  u.destroy = () => { resize.disconnect(); view.charts.delete(u); leave.call(u); };
  return u;
}

/** The findings to mark on these curves: {finding, range}. Findings without a tag are marked on the loss. */
export function marksOn(view, curves, findings) {
  const marks = [];
  for (const finding of findings) {
    const curve = curves.find(({ tag, role }) => (finding.tag === "" ? role === "loss" : tag === finding.tag));
    const range = curve && finding.steps && placed(finding.steps, curve, view.mode);
    if (range) marks.push({ finding, range });
  }
  return marks.sort((a, b) => a.range[0] - b.range[0]);
}

/** The scale of values: linear or logarithmic; if some are zero or negative, asinh from the smallest magnitude on. */
function valueScale(log, values) {
  let least = Infinity;
  let positive = true;
  for (const column of values) {
    for (const value of column) {
      if (value === 0 || value < 0) positive = false;
      if (value && Number.isFinite(value)) least = Math.min(least, Math.abs(value));
    }
  }
  if (!log || least === Infinity) return { scale: { distr: 1, range: linearRange }, splits: undefined };
  if (positive) return { scale: { distr: 3, range: logRange }, splits: (u, axis, low, high) => logSplits(low, high) };
  return { scale: { distr: 4, asinh: least, range: (u, low, high) => asinhRange(low, high) },
    splits: (u, axis, low, high) => asinhSplits(low, high, least) };
}

const ROOM = { pad: 0.1, soft: 0, mode: 3 }; // like uPlot: data that starts at zero stays there

/** Like uPlot's own, except that the line of a constant is in the middle. */
function linearRange(u, low, high) {
  if (low === null) return [0, 1];
  if (low !== high) return uPlot.rangeNum(low, high, { min: ROOM, max: ROOM });
  const room = Math.abs(low) / 2 || 1;
  return [low - room, high + room];
}

/** From the digit below the smallest to the digit above the largest, e.g. 2e-3 to 5e1; uPlot uses whole decades. */
function logRange(u, low, high) {
  if (low === null) return [1, 10];
  const exponent = (value) => Math.floor(Math.log10(value) + 1e-9);
  const digit = (value, round) => Number(`${round(value / 10 ** exponent(value))}e${exponent(value)}`);
  const below = (share) => Math.floor(share + 1e-9); // 0.3 / 0.1 is a little less than 3
  const above = (share) => Math.ceil(share - 1e-9);
  const least = Math.max(digit(low, below), 1e-307); // smaller floats are too coarse for ticks
  return [least, Math.min(Math.max(digit(high, above), digit(2 * least, above)), 1e308)];
}

/** Ticks of a logarithmic axis: digits if it spans a few decades, else some powers of ten. */
export function logSplits(low, high) {
  const [first, last] = [low, high].map(Math.log10);
  const digits = last - first < 0.8 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : last - first < 2.5 ? [1, 2, 5] : [1];
  const step = Math.max(1, Math.ceil((last - first) / 6));
  const splits = [];
  for (let power = Math.floor(first / step) * step; power <= last + 1e-9; power += step) {
    for (const digit of digits) splits.push(Number(`${digit}e${power}`));
  }
  return splits.filter((split) => split >= low * (1 - 1e-9) && split <= high * (1 + 1e-9));
}

/** The same on both sides of zero, from the smallest magnitude on. */
function asinhSplits(low, high, least) {
  const powers = (to) => (to > least ? logSplits(least, to).filter((split) => /^1(e|0*$)|^0\.0*1$/.test(String(split))) : []);
  return [...powers(-low).reverse().map((split) => -split), 0, ...powers(high)];
}

/** Extend the range to zero. */
function asinhRange(low, high) {
  return low === null ? [0, 1] : [Math.min(low, 0), Math.max(high, 0)];
}

/** The axis of a share starts at zero, with room for a line there. */
function shareRange(u, low, high) {
  const top = high > 0 ? high : 1;
  return [Math.min(low ?? 0, -0.03 * top), 1.05 * top];
}

/** A line chart in `holder`; `log` selects its scale, `side` is the width of the y axis. */
export function lineChart(view, holder, curves, findings, log, side = 66) {
  const lines = curves.map((curve) => ordered(curve, view.mode));
  const { x, values } = aligned(lines);
  const marks = marksOn(view, curves, findings);
  const odd = lines.flatMap(notFinite);
  const finite = values.map((column) => column.map((v) => (v === undefined || Number.isFinite(v) ? v : null)));
  const options = baseOptions(view, holder.clientWidth, CHART_HEIGHT, marks);
  options.axes[1].size = side;
  const { scale, splits } = valueScale(log, finite);
  options.scales.y = scale;
  if (splits) { // uPlot does not draw an axis if none of its increments fits, e.g. over forty decades
    Object.assign(options.axes[1], { splits, filter: (u, found) => found, incrs: (u, axis, low, high) => [Math.max(5, high / 2 - low / 2)] });
  }
  if (!splits && curves.every(({ role }) => SHARES.has(role))) scale.range = shareRange;
  options.hooks.draw = [(u) => drawNotFinite(u, odd)];
  options.cursor.dataIdx = (u, k, index) => (k === 0 ? index : nearestPoint(values[k - 1], index));
  options.series = [
    { label: view.mode === "step" ? "step" : "time",
      value: (u, v) => (view.mode === "step" ? whole : duration)(v ?? x.at(-1) ?? 0) },
    ...curves.map((curve, k) => ({
      label: curve.tag,
      stroke: () => color(`line-${k % 8}`),
      class: `line-${k % 8}`,
      width: 1.5,
      dash: curve.role === "clip_norm" ? [6, 4] : undefined,
      value: (u, v, series, index) => number(values[k][index ?? lastPoint(values[k])]),
      points: { size: 5 },
    })),
  ];
  return install(view, holder, options, [x, ...finite], marks);
}

/** The nearest index at which the column has a point. */
function nearestPoint(column, index) {
  for (let away = 0; away < column.length; away++) {
    if (column[index - away] !== undefined) return index - away;
    if (column[index + away] !== undefined) return index + away;
  }
  return index;
}

function lastPoint(column) {
  let last = column.length - 1;
  while (last > 0 && column[last] === undefined) last--;
  return last;
}
