// Many curves in one chart, drawn pixel by pixel: to stroke hundreds of lines, a canvas takes seconds a frame.

import { firstFrom } from "./columns.js";
import { color } from "./theme.js";

/** @import uPlotClass from "uplot" */
/** @import { Line, Points, Range } from "./types.js" */

const FAINT = 0.3;

/**
 * From a value to its place between two pixels, on a scale of uPlot's.
 * @type {(scale: uPlotClass.Scale, first: number, last: number) => (value: number) => number}
 */
export function placeOn({ min = 0, max = 1, distr = 1, asinh = 1 }, first, last) {
  /** @type {(value: number) => number} */
  const to = distr === 3 ? Math.log10 : distr === 4 ? (value) => Math.asinh(value / asinh) : (value) => value;
  const low = to(min);
  const factor = (last - first) / (to(max) - low || 1);
  return (value) => first + (to(value) - low) * factor;
}

/**
 * The least and the largest finite value of all lines between two places of x; nulls if there is none.
 * @type {(lines: Pick<Points, "x" | "value">[], range: Range) => [number, number] | [null, null]}
 */
export function valuesIn(lines, [low, high]) {
  let [least, most] = [Infinity, -Infinity];
  for (const { x, value } of lines) {
    for (let i = firstFrom(x, low); i < x.length && x[i] <= high; i++) {
      if (!Number.isFinite(value[i])) continue;
      if (value[i] < least) least = value[i];
      if (value[i] > most) most = value[i];
    }
  }
  return least > most ? [null, null] : [least, most];
}

/**
 * Draw lines, one pixel wide, into the box of a chart.
 * @type {(u: uPlotClass, lines: Line[], canvas: HTMLCanvasElement) => void}
 */
export function drawMany(u, lines, canvas) {
  const { left, top, width, height } = u.bbox;
  Object.assign(canvas, { width: Math.round(width), height: Math.round(height) });
  const ctx = canvas.getContext("2d");
  if (ctx === null || canvas.width * canvas.height === 0) return;
  const pixels = { data: new Uint32Array(canvas.width * canvas.height), width: canvas.width, height: canvas.height };
  const across = placeOn(u.scales.x, 0, canvas.width);
  const up = placeOn(u.scales.y, canvas.height, 0);
  const { min = 0, max = 1 } = u.scales.x;
  const longest = Math.max(...lines.map(({ x }) => x.length));
  const [places, heights] = [new Float64Array(longest), new Float64Array(longest)];
  for (const { series, x, value } of lines) {
    const ink = inkOf(String(series.class), series.alpha === 1 ? 1 : FAINT);
    const [from, to] = [Math.max(firstFrom(x, min) - 1, 0), Math.min(firstFrom(x, max) + 1, x.length)];
    for (let i = from; i < to; i++) {
      places[i - from] = across(x[i]);
      heights[i - from] = up(value[i]);
    }
    trace(pixels, ink, places.subarray(0, to - from), heights.subarray(0, to - from));
  }
  ctx.putImageData(imageOf(pixels), 0, 0);
  u.ctx.drawImage(canvas, Math.round(left), Math.round(top));
}

/** Column after column. @typedef {{ data: Uint32Array, width: number, height: number }} Pixels */

/** @type {(pixels: Pixels) => ImageData} */
function imageOf({ data, width, height }) {
  const image = new ImageData(width, height);
  const rows = new Uint32Array(image.data.buffer);
  for (let row = 0, to = 0; row < height; row++) {
    for (let from = row; from < data.length; from += height) rows[to++] = data[from];
  }
  return image;
}

/**
 * Fill what a line through these points covers in each column of pixels; it breaks where a place is not finite.
 * @type {(pixels: Pixels, ink: number, x: Float64Array, y: Float64Array) => void}
 */
export function trace(pixels, ink, x, y) {
  let column = Number.NaN; // where the line is, and what it has covered there; arrays would take time
  let low = 0;
  let high = 0;
  for (let i = 0; i < x.length; i++) {
    if (!Number.isFinite(x[i] + y[i])) {
      fillColumn(pixels, ink, column, low, high);
      column = Number.NaN;
      continue;
    }
    const to = Math.floor(x[i]);
    if (Number.isNaN(column)) {
      column = to;
      low = high = y[i];
    }
    const slope = column < to ? (y[i] - y[i - 1]) / (x[i] - x[i - 1]) : 0;
    while (column < to) {
      const edge = y[i - 1] + slope * (column + 1 - x[i - 1]);
      fillColumn(pixels, ink, column, Math.min(low, edge), Math.max(high, edge));
      column = Math.min(Math.max(column + 1, -1), pixels.width); // nothing is drawn beside the chart
      if (column === pixels.width) return;
      low = high = edge;
    }
    if (y[i] < low) low = y[i];
    if (y[i] > high) high = y[i];
  }
  fillColumn(pixels, ink, column, low, high);
}

/** @type {(pixels: Pixels, ink: number, column: number, low: number, high: number) => void} */
function fillColumn({ data, width, height }, ink, column, low, high) {
  if (!(column >= 0 && column < width)) return;
  const end = column * height + Math.min(Math.floor(high), height - 1);
  for (let at = column * height + Math.max(Math.floor(low), 0); at <= end; at++) data[at] = ink;
}

/**
 * A color of page.css as a pixel of an image has it, on the machines that browsers run on: its lowest byte is red.
 * @type {(name: string, alpha: number) => number}
 */
function inkOf(name, alpha) {
  const rgb = Number.parseInt(color(name).slice(1), 16);
  return ((Math.round(255 * alpha) << 24) | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}
