// Many curves in one chart, drawn pixel by pixel: to stroke hundreds of lines, a canvas takes seconds a frame.

import { firstFrom } from "./columns.js";
import { color } from "./theme.js";

/** @import uPlotClass from "uplot" */
/** @import { Column, Line, Points, Range } from "./types.js" */

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
  const across = placeOn(u.scales.x, 0, canvas.width);
  const up = placeOn(u.scales.y, canvas.height, 0);
  const { min = 0, max = 1 } = u.scales.x;
  const longest = Math.max(...lines.map(({ x }) => x.length));
  const [places, heights] = [new Float64Array(longest), new Float64Array(longest)];
  for (const { series, x, value } of [...lines].reverse()) {
    const ink = inkOf(String(series.class), series.alpha === 1 ? 1 : FAINT);
    const [from, to] = [Math.max(firstFrom(x, min) - 1, 0), Math.min(firstFrom(x, max) + 1, x.length)];
    for (let i = from; i < to; i++) {
      places[i - from] = across(x[i]);
      heights[i - from] = up(value[i]);
    }
    trace(pixels, ink, places.subarray(0, to - from), heights.subarray(0, to - from));
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
 * @type {(pixels: Pixels, ink: number, x: Float64Array, y: Float64Array) => void}
 */
export function trace(pixels, ink, x, y) {
  const { width } = pixels;
  let column = -1; // where the line is, and what it has covered there; objects would take time
  let low = 0;
  let high = 0;
  let isDrawn = false;
  for (let i = 0; i < x.length; i++) {
    const nextX = x[i];
    const nextY = y[i];
    if (!Number.isFinite(nextX + nextY)) {
      if (isDrawn) fillColumn(pixels, ink, column, low, high);
      isDrawn = false;
      continue;
    }
    const at = nextX < width ? nextX : width; // nothing is drawn beside the chart
    const to = at < 0 ? -1 : Math.floor(at);
    if (!isDrawn) {
      column = to;
      low = high = nextY;
      isDrawn = true;
    }
    const slope = column < to ? (nextY - y[i - 1]) / (nextX - x[i - 1]) : 0;
    for (; column < to; column++) {
      const edge = y[i - 1] + slope * (column + 1 - x[i - 1]);
      fillColumn(pixels, ink, column, edge < low ? edge : low, edge > high ? edge : high);
      low = high = edge;
    }
    if (column === width) return;
    if (nextY < low) low = nextY;
    if (nextY > high) high = nextY;
  }
  if (isDrawn) fillColumn(pixels, ink, column, low, high);
}

/** @type {(pixels: Pixels, ink: number, column: number, low: number, high: number) => void} */
function fillColumn({ data, width, height, from, to }, ink, column, low, high) {
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
