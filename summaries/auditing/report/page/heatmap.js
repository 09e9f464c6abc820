// A heat map over steps, with a row for each variable: uPlot draws axes and handles pointer and zoom, this the cells.

import { baseOptions, install, marksOn } from "./chart.js";
import { firstFrom, ordered } from "./columns.js";
import { colorBar, el } from "./elements.js";
import { shadedSpan } from "./marks.js";
import { distinct, shortenedApart } from "./names.js";
import { number } from "./numbers.js";
import { cellsOf, picture, SEQUENTIAL, shades } from "./shades.js";
import { color } from "./theme.js";
import { uPlot } from "./uplot/uPlot.iife.min.js";

/** @import uPlotClass from "uplot" */
/** @import { Curve, Finding, Mark, Pointed, Points, Shade } from "./types.js" */
/** @import { View } from "./view.js" */

const CELL_WIDTH = 3; // CSS pixels
const ROWS_HEIGHT = 420; // of all rows together, as far as their own least and largest heights allow it
const LABEL_HEIGHT = 13;
export const NAMES_WIDTH = 190; // the same for the line charts below, so that steps are aligned

/**
 * A heat map in `holder`; it calls `say` with what is under the pointer, and `pick` with the row that was clicked.
 * @param {View} view
 * @param {HTMLElement} holder
 * @param {Curve[]} curves
 * @param {Finding[]} findings
 * @param {boolean} log
 * @param {(pointed: Pointed | null) => void} say
 * @param {(curve: Curve) => void} pick
 * @returns {Shade}
 */
export function heatMap(view, holder, curves, findings, log, say, pick) {
  const lines = curves.map((curve) => ordered(curve, view.mode));
  const shade = shades(lines, log);
  const marks = marksOn(view, curves, findings);
  const names = shortenedApart(distinct(curves.map(({ variable, tag }) => variable || tag)), 25, 1 / 3);
  const rowHeight = Math.min(Math.max(Math.floor(ROWS_HEIGHT / curves.length), 3), 22);
  const every = Math.ceil(LABEL_HEIGHT / rowHeight);
  /** @param {uPlotClass} u */
  const rowAt = (u) =>
    Math.min(Math.floor(((u.cursor.top ?? 0) / u.over.clientHeight) * curves.length), curves.length - 1);
  /** @type {(u: uPlotClass, at: number[]) => string[]} */
  const values = (_u, at) => at.map((row) => names[Math.floor(row)]);
  const options = baseOptions(view, holder.clientWidth, rowHeight * curves.length + 36, []);
  options.padding = [6, 12, 0, 0];
  options.scales.y = { range: [0, curves.length], dir: -1 };
  options.legend = { show: false };
  options.series = [{}, { paths: () => null, points: { show: false } }];
  Object.assign(options.axes[1], {
    size: NAMES_WIDTH,
    grid: { show: false },
    splits: () => curves.map((_, row) => row + 0.5).filter((_, row) => row % every === 0),
    values,
  });
  options.cursor.points = { show: false };
  options.hooks.drawClear = [];
  options.hooks.draw = [(u) => drawCells(u, lines, view, shade), (u) => drawFrames(u, curves, marks, view.active)];
  options.hooks.setCursor = [
    (u) => {
      const { left = -1, top = -1 } = u.cursor;
      if (left < 0 || top < 0 || !u.over.matches(":hover")) return say(null);
      const line = lines[rowAt(u)];
      const index = nearest(line.x, u.posToVal(left, "x"));
      if (index < line.x.length) say({ name: curves[rowAt(u)].tag, step: line.step[index], value: line.value[index] });
    },
  ];
  const chart = install(view, holder, options, [view.full, [null, null]], []);
  chart.over.addEventListener("click", () => {
    if ((chart.cursor.top ?? -1) >= 0) pick(curves[rowAt(chart)]);
  });
  return shade;
}

/** The index of the number that is nearest to another. @type {(sorted: ArrayLike<number>, wanted: number) => number} */
function nearest(sorted, wanted) {
  const after = firstFrom(sorted, wanted);
  const before = after - 1;
  const isBefore = after > 0 && (after === sorted.length || wanted - sorted[before] < sorted[after] - wanted);
  return isBefore ? before : after;
}

/** Draw all rows into the plot. @type {(u: uPlotClass, lines: Points[], view: View, shade: Shade) => void} */
function drawCells({ ctx, bbox }, lines, { range: [low, high] }, { share }) {
  const count = Math.max(1, Math.floor(bbox.width / uPlot.pxRatio / CELL_WIDTH));
  const cells = picture(cellsOf(lines, low, high, count), [...lines.keys()], share, SEQUENTIAL);
  ctx.save();
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(cells, bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.restore();
}

/**
 * Draw a frame around the steps of each finding, in the row of its variable.
 * @type {(u: uPlotClass, curves: Curve[], marks: Mark[], active: Finding | null) => void}
 */
function drawFrames(u, curves, marks, active) {
  const { ctx, bbox } = u;
  const height = bbox.height / curves.length;
  ctx.save();
  for (const { finding, range } of marks) {
    const span = shadedSpan(u, range);
    if (span === null) continue;
    const row = curves.findIndex(({ tag }) => tag === finding.tag);
    const width = finding === active ? 4 : 2;
    frame(ctx, "panel", width + 2, span, bbox.top + row * height, height); // a rim, to be visible on every color
    frame(ctx, finding.severity, width, span, bbox.top + row * height, height);
  }
  ctx.restore();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} name
 * @param {number} lineWidth
 * @param {[left: number, width: number]} span
 * @param {number} top
 * @param {number} height
 */
function frame(ctx, name, lineWidth, [left, width], top, height) {
  ctx.lineWidth = lineWidth * uPlot.pxRatio;
  ctx.strokeStyle = color(name);
  ctx.strokeRect(left, top, width, height);
}

/** The color bar. @type {(shade: Shade) => HTMLElement} */
export function shadeBar({ cut, low, high }) {
  const [least, largest] = [cut[0] ? "≤ " : "", cut[1] ? "≥ " : ""];
  const odd = [el("i", { class: "odd" }), "not finite"];
  return el("span", { class: "shades" }, least + number(low), colorBar(SEQUENTIAL), largest + number(high), odd);
}
