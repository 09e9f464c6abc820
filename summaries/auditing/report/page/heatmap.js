// A heat map over steps, with a row for each variable. uPlot draws axes and handles pointer and zoom; cells are drawn here.

import { baseOptions, install, marksOn } from "./chart.js";
import { firstFrom, ordered } from "./columns.js";
import { el } from "./elements.js";
import { shadedSpan } from "./marks.js";
import { number } from "./numbers.js";
import { color } from "./theme.js";
import { uPlot } from "./uplot/uPlot.iife.min.js";

// Viridis at nine points (CC0, Smith and van der Walt): perceptually uniform, also for color-blind readers.
const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129],
  [92, 200, 99], [170, 220, 50], [253, 231, 37]];
const CELL_WIDTH = 3; // CSS pixels
export const NAMES_WIDTH = 190; // the same for the line charts below, so that steps are aligned

/** The color of a share, 0 to 1. */
export function viridis(share) {
  const at = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2);
  return VIRIDIS[low].map((part, i) => Math.round(part + (at - low) * (VIRIDIS[low + 1][i] - part)));
}

/**
 * Map values to shares: {low, high, cut, share(value)}; if logarithmic, zeros are the lowest.
 * If the hundredths of the values at both ends take up more than their share of the range, `most` times that of the others,
 * they are cut off, and have the colors of the ends.
 */
export function shades(lines, log, most = 2) {
  const read = log ? Math.log : (v) => v / 2; // halved, so that the difference never overflows
  const values = usable(lines, log).sort();
  const at = (share) => values[Math.round(share * (values.length - 1))] ?? null;
  let [low, high] = [at(0), at(1)];
  const [inner, outer] = [at(0.01), at(0.99)];
  const cut = [false, false];
  if (read(high) - read(low) > most * (read(outer) - read(inner)) && outer > inner) {
    cut[0] = low < inner;
    cut[1] = high > outer;
    [low, high] = [inner, outer];
  }
  const [from, to] = [read(low), read(high)];
  return { low, high, cut, share: (v) => (log && v <= 0 ? 0 : to > from ? (read(v) - from) / (to - from) : 0.5) };
}

/** The values that have a share of their own. */
function usable(lines, log) {
  const found = new Float64Array(lines.reduce((sum, { value }) => sum + value.length, 0));
  let count = 0;
  for (const { value } of lines) {
    for (const v of value) if (Number.isFinite(v) && !(log && v <= 0)) found[count++] = v;
  }
  return found.subarray(0, count);
}

/** One row's value in each of `count` cells from `low` to `high`: the largest there, NaN before what is not finite. */
function cells(line, low, high, count) {
  const row = new Array(count).fill(null);
  const width = (high - low) / count;
  let before = null;
  const start = Math.max(firstFrom(line.x, low) - 1, 0);
  for (let i = start; i < line.x.length && line.x[i] <= high; i++) {
    const value = line.value[i];
    const cell = Math.min(Math.floor((line.x[i] - low) / width), count - 1);
    if (cell < 0) { before = value; continue; }
    const held = row[cell];
    if (held === null || (Number.isFinite(held) && !(value <= held))) row[cell] = Number.isFinite(value) ? value : NaN;
  }
  const end = line.x.length > 0 ? Math.floor((line.x.at(-1) - low) / width) : -1;
  for (let cell = 0; cell < count && cell <= end; cell++) { // between two points, the first one's color
    if (row[cell] === null) row[cell] = before;
    before = row[cell];
  }
  return row;
}

/** Draw all rows into the plot. */
function drawCells(u, lines, range, shade) {
  const { ctx, bbox } = u;
  const count = Math.max(1, Math.floor(bbox.width / uPlot.pxRatio / CELL_WIDTH));
  const picture = new OffscreenCanvas(count, lines.length);
  const pixels = new ImageData(count, lines.length);
  const odd = color("odd-rgb").split(" ").map(Number);
  lines.forEach((line, row) => {
    cells(line, range[0], range[1], count).forEach((value, cell) => {
      if (value === null) return;
      pixels.data.set([...(Number.isFinite(value) ? viridis(shade.share(value)) : odd), 255], 4 * (row * count + cell));
    });
  });
  picture.getContext("2d").putImageData(pixels, 0, 0);
  ctx.save();
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(picture, bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.restore();
}

/** Draw a frame around the steps of each finding, in the row of its variable. */
function drawFrames(u, curves, marks, active) {
  const ratio = uPlot.pxRatio;
  const height = u.bbox.height / curves.length;
  u.ctx.save();
  for (const { finding, range } of marks) {
    const span = shadedSpan(u, range, ratio);
    if (span === null) continue;
    const row = curves.findIndex(({ tag }) => tag === finding.tag);
    for (const [edge, width] of [["panel", 4], [finding.severity, 2]]) { // with a rim, to be visible on every color
      u.ctx.lineWidth = (width + (finding === active ? 2 : 0)) * ratio;
      u.ctx.strokeStyle = color(edge);
      u.ctx.strokeRect(span[0], u.bbox.top + row * height, span[1], height);
    }
  }
  u.ctx.restore();
}

/** A heat map in `holder`; it calls `say` with what is under the pointer, and `pick` with the row that was clicked. */
export function heatMap(view, holder, curves, findings, log, say, pick) {
  const lines = curves.map((curve) => ordered(curve, view.mode));
  const shade = shades(lines, log);
  const marks = marksOn(view, curves, findings);
  const names = distinct(curves.map(({ variable, tag }) => variable || tag)).map((name) => shortened(name, 25));
  const rowHeight = Math.min(Math.max(Math.floor(420 / curves.length), 3), 22);
  const every = Math.ceil(13 / rowHeight);
  const options = baseOptions(view, holder.clientWidth, rowHeight * curves.length + 36, []);
  const rowAt = (u) => Math.min(Math.floor((u.cursor.top / u.over.clientHeight) * curves.length), curves.length - 1);
  options.padding = [6, 12, 0, 0];
  options.scales.y = { range: [0, curves.length], dir: -1 };
  options.legend = { show: false };
  options.series = [{}, { paths: () => null, points: { show: false } }];
  Object.assign(options.axes[1], {
    size: NAMES_WIDTH,
    grid: { show: false },
    splits: () => curves.map((_, row) => row + 0.5).filter((_, row) => row % every === 0),
    values: (u, at) => at.map((row) => names[Math.floor(row)]),
  });
  options.cursor.points = { show: false };
  options.hooks.drawClear = [];
  options.hooks.draw = [
    (u) => drawCells(u, lines, view.range, shade),
    (u) => drawFrames(u, curves, marks, view.active),
  ];
  options.hooks.setCursor = [(u) => {
    if (u.cursor.left < 0 || u.cursor.top < 0 || !u.over.matches(":hover")) return say(null);
    const row = rowAt(u);
    const line = lines[row];
    const x = u.posToVal(u.cursor.left, "x");
    const after = firstFrom(line.x, x);
    const index = after > 0 && (after === line.x.length || x - line.x[after - 1] < line.x[after] - x) ? after - 1 : after;
    if (index < line.x.length) say({ name: curves[row].tag, step: line.step[index], value: line.value[index] });
  }];
  const u = install(view, holder, options, [view.full, [null, null]], []);
  u.over.addEventListener("click", () => { if (u.cursor.top >= 0) pick(curves[rowAt(u)]); });
  return { chart: u, shade };
}

/** The color bar. */
export function shadeBar(shade) {
  const bar = el("canvas", { width: 120, height: 1, class: "bar", "aria-hidden": "true" });
  const ctx = bar.getContext("2d");
  for (let x = 0; x < 120; x++) {
    ctx.fillStyle = `rgb(${viridis(x / 119).join(" ")})`;
    ctx.fillRect(x, 0, 1, 1);
  }
  const [least, largest] = [shade.cut[0] ? "≤ " : "", shade.cut[1] ? "≥ " : ""];
  return el("span", { class: "shades" }, least + number(shade.low), bar, largest + number(shade.high), el("i", { class: "odd" }), "not finite");
}

/** Names without the parts of their paths that all of them start or end with. */
export function distinct(names) {
  const parts = names.map((name) => name.split("/"));
  const shortest = Math.min(...parts.map(({ length }) => length)) - 1;
  const same = (at) => parts.every((part) => part.at(at) === parts[0].at(at));
  let head = 0;
  while (head < shortest && same(head)) head++;
  let tail = 0;
  while (tail < shortest - head && same(-1 - tail)) tail++;
  return parts.map((part) => part.slice(head, part.length - tail).join("/"));
}

/** Shorten a long name in the middle, because layers differ at the end. */
export function shortened(name, length) {
  if (name.length <= length) return name;
  const head = Math.floor((length - 1) / 3);
  return `${name.slice(0, head)}…${name.slice(head + 1 - length)}`;
}
