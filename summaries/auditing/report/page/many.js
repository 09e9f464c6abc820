// Many curves in one chart, drawn pixel by pixel: to stroke hundreds of lines, a canvas takes seconds a frame.

import { firstFrom } from "./columns.js";
import { color } from "./theme.js";

/** @import uPlotClass from "uplot" */
/** @import { Column, Line, Points, Range } from "./types.js" */

const FAINT = 0.3;

/**
 * What makes a scale of uPlot's even: the logarithm, if it is logarithmic.
 * @type {(scale: uPlotClass.Scale) => (value: number) => number}
 */
function evenOn({ distr = 1, asinh = 1 }) {
  return distr === 3 ? Math.log10 : distr === 4 ? (value) => Math.asinh(value / asinh) : (value) => value;
}

/**
 * Where an even scale begins, and how many pixels a unit of it has.
 * @typedef {{ start: number, factor: number }} Axis
 */

/** @type {(scale: uPlotClass.Scale, pixels: number) => Axis} */
export function axisOf(scale, pixels) {
  const { min = 0, max = 1 } = scale;
  const even = evenOn(scale);
  const start = even(min);
  return { start, factor: pixels / (even(max) - start || 1) };
}

/**
 * From a value to its place between two pixels, on a scale of uPlot's.
 * @type {(scale: uPlotClass.Scale, first: number, last: number) => (value: number) => number}
 */
export function placeOn(scale, first, last) {
  const { start, factor } = axisOf(scale, last - first);
  const even = evenOn(scale);
  return (value) => first + (even(value) - start) * factor;
}

/**
 * Lines as they lie on even scales: to draw them then takes no function for a point.
 * @type {(lines: Line[], scales: Record<string, uPlotClass.Scale>) => Line[]}
 */
export function evenly(lines, { x, y }) {
  return lines.map((line) => ({ ...line, x: evened(line.x, x), value: evened(line.value, y) }));
}

/** @type {(column: Column, scale: uPlotClass.Scale) => Float64Array} */
function evened(column, scale) {
  const even = evenOn(scale);
  if (even(Math.E) === Math.E) return column instanceof Float64Array ? column : new Float64Array(column);
  const found = new Float64Array(column.length);
  for (let i = 0; i < column.length; i++) found[i] = even(column[i]);
  return found;
}

/**
 * The least and the largest finite value of all lines between two places of x; nulls if there is none.
 * @type {(lines: Pick<Points, "x" | "value">[], range: Range) => [number, number] | [null, null]}
 */
export function valuesIn(lines, [low, high]) {
  let [least, most] = [Infinity, -Infinity];
  for (const { x, value } of lines) {
    const from = firstFrom(x, low);
    let to = firstFrom(x, high);
    while (x[to] === high) to++;
    const found = to - from === x.length ? ofWhole(value) : finiteRange(value, from, to);
    least = Math.min(least, found[0]);
    most = Math.max(most, found[1]);
  }
  return least > most ? [null, null] : [least, most];
}

/** Of columns that were looked at as a whole, as each zoom out looks at all. @type {WeakMap<Column, Range>} */
const KNOWN = new WeakMap();

/** @type {(value: Column) => Range} */
function ofWhole(value) {
  const found = KNOWN.get(value) ?? finiteRange(value, 0, value.length);
  KNOWN.set(value, found);
  return found;
}

/** @type {(value: Column, from: number, to: number) => Range} */
function finiteRange(value, from, to) {
  let [least, most] = [Infinity, -Infinity];
  for (let i = from; i < to; i++) {
    if (!Number.isFinite(value[i])) continue;
    if (value[i] < least) least = value[i];
    if (value[i] > most) most = value[i];
  }
  return [least, most];
}

/**
 * Draw lines into the box of a chart, as wide as so many pixels of the screen.
 * @type {(u: uPlotClass, lines: Line[], canvas: HTMLCanvasElement, wide: number) => void}
 */
export function drawMany(u, lines, canvas, wide) {
  const { left, top, width, height } = u.bbox;
  Object.assign(canvas, { width: Math.round(width / wide), height: Math.round(height) });
  const ctx = canvas.getContext("2d");
  if (ctx === null || canvas.width * canvas.height === 0) return;
  const pixels = emptyPixels(canvas.width, canvas.height);
  const [across, up] = [axisOf(u.scales.x, canvas.width), axisOf(u.scales.y, canvas.height)];
  const [low, high] = [across.start, across.start + canvas.width / across.factor];
  for (const { series, x, value } of [...lines].reverse()) {
    const ink = inkOf(String(series.class), series.alpha === 1 ? 1 : FAINT);
    const [from, to] = [Math.max(firstFrom(x, low) - 1, 0), Math.min(firstFrom(x, high) + 1, x.length)];
    trace(pixels, ink, x.subarray(from, to), value.subarray(from, to), across, up);
  }
  ctx.putImageData(imageOf(pixels), 0, 0);
  u.ctx.imageSmoothingEnabled = false;
  u.ctx.drawImage(canvas, Math.round(left), Math.round(top), Math.round(width), canvas.height);
}

/**
 * Column after column; in each, from one place to another no pixel is empty.
 * @typedef {{ data: Uint32Array, width: number, height: number, from: Int32Array, to: Int32Array }} Pixels
 */

/** @type {(width: number, height: number) => Pixels} */
export function emptyPixels(width, height) {
  const [from, to] = [new Int32Array(width), new Int32Array(width).fill(-1)];
  return { data: new Uint32Array(width * height), width, height, from, to };
}

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
 * Fill what a line through these points covers in each column of pixels, where nothing is yet: who is on top comes
 * first. It breaks where a place is not finite.
 * @type {(pixels: Pixels, ink: number, x: Column, y: Column, across: Axis, up: Axis) => void}
 */
export function trace(pixels, ink, x, y, across, up) {
  const first = across.start;
  const wide = 1 / across.factor;
  let column = -1; // where the line is; objects would take time for each point
  let right = first; // where that column ends
  let least = 0; // what the line has covered of it
  let most = 0;
  let isDrawn = false;
  for (let i = 0; i < x.length; i++) {
    const at = x[i];
    const value = y[i];
    if (!(Math.abs(value) < Infinity && at > -Infinity)) {
      if (isDrawn) fillColumn(pixels, ink, column, least, most, up);
      isDrawn = false;
      continue;
    }
    if (at >= right) {
      const slope = isDrawn ? (value - y[i - 1]) / (at - x[i - 1]) : 0;
      while (at >= right) {
        if (isDrawn) {
          const edge = y[i - 1] + slope * (right - x[i - 1]);
          fillColumn(pixels, ink, column, edge < least ? edge : least, edge > most ? edge : most, up);
          least = most = edge;
        }
        column++;
        if (column === pixels.width) return; // nothing is drawn beside the chart
        right = first + (column + 1) * wide;
      }
    }
    if (!isDrawn) least = most = value;
    isDrawn = true;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (isDrawn) fillColumn(pixels, ink, column, least, most, up);
}

/** @type {(pixels: Pixels, ink: number, column: number, least: number, most: number, up: Axis) => void} */
function fillColumn({ data, width, height, from, to }, ink, column, least, most, up) {
  const low = height - (most - up.start) * up.factor;
  const high = height - (least - up.start) * up.factor;
  if (column < 0 || column >= width || high < 0) return;
  const top = low > 0 ? Math.floor(low) : 0;
  const bottom = high < height ? Math.floor(high) : height - 1;
  const first = from[column];
  const last = to[column];
  if (top >= first && bottom <= last) return; // most of hundreds of lines lie on one another
  const start = column * height;
  for (let row = top; row <= bottom; row++) {
    if (row >= first && row < last) row = last;
    else if (data[start + row] === 0) data[start + row] = ink;
  }
  if (top <= last + 1 && bottom >= first - 1) {
    from[column] = Math.min(first, top);
    to[column] = Math.max(last, bottom);
  } else if (bottom - top > last - first) {
    from[column] = top;
    to[column] = bottom;
  }
}

/**
 * A color of page.css as a pixel of an image has it, on the machines that browsers run on: its lowest byte is red.
 * @type {(name: string, alpha: number) => number}
 */
function inkOf(name, alpha) {
  const rgb = Number.parseInt(color(name).slice(1), 16);
  return ((Math.round(255 * alpha) << 24) | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}
