// From values to shares, from shares to colors, and from cells to pictures.

import { firstFrom } from "./columns.js";
import { components } from "./theme.js";

/** @import { Cells, Color, Points, Shade, Share } from "./types.js" */

// Viridis at nine points (CC0, Smith and van der Walt): perceptually uniform, also for color-blind readers.
const VIRIDIS = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
];
const RAMP_SIZE = 256;

/** The color of a share, 0 to 1. @type {(share: number) => Color} */
export function viridis(share) {
  const at = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2);
  return VIRIDIS[low].map((part, i) => Math.round(part + (at - low) * (VIRIDIS[low + 1][i] - part)));
}

/** The colors of shares from 0 to 1. */
export const SEQUENTIAL = Array.from({ length: RAMP_SIZE }, (_, at) => viridis(at / (RAMP_SIZE - 1)));

/**
 * How values become colors; if logarithmic, zeros are the lowest.
 * If the hundredths of the values at both ends take up more than their share of the range, `most` times that of the
 * others, they are cut off, and have the colors of the ends.
 * @type {(lines: { value: ArrayLike<number> }[], log: boolean, most?: number) => Shade}
 */
export function shades(lines, log, most = 2) {
  const read = log ? Math.log : (/** @type {number} */ v) => v / 2; // halved: the difference never overflows
  const values = usable(lines, log).sort();
  /** @param {number} share */
  const at = (share) => values[Math.round(share * (values.length - 1))] ?? null;
  let [low, high] = [at(0), at(1)];
  const [inner, outer] = [at(0.01), at(0.99)];
  const isCut = read(high) - read(low) > most * (read(outer) - read(inner)) && outer > inner;
  /** @type {[boolean, boolean]} */
  const cut = [isCut && low < inner, isCut && high > outer];
  if (isCut) [low, high] = [inner, outer];
  const [from, to] = [read(low), read(high)];
  /** @param {number} value */
  const share = (value) => {
    if (log && value <= 0) return 0;
    return to > from ? (read(value) - from) / (to - from) : 0.5;
  };
  return { low, high, cut, share };
}

/**
 * The values that have a share of their own.
 * @type {(lines: { value: ArrayLike<number> }[], log: boolean) => Float64Array}
 */
function usable(lines, log) {
  const found = new Float64Array(lines.reduce((sum, { value }) => sum + value.length, 0));
  let count = 0;
  for (const { value } of lines) {
    for (let i = 0; i < value.length; i++) {
      if (Number.isFinite(value[i]) && !(log && value[i] <= 0)) found[count++] = value[i];
    }
  }
  return found.subarray(0, count);
}

/**
 * Lines as cells, in `count` columns from `low` to `high`: the largest value in each, infinite if one is not finite.
 * @type {(lines: Points[], low: number, high: number, count: number) => Cells}
 */
export function cellsOf(lines, low, high, count) {
  const cells = new Float64Array(lines.length * count).fill(NaN);
  lines.forEach((line, row) => {
    fill(cells.subarray(row * count, (row + 1) * count), line, low, high);
  });
  return { width: count, cells };
}

/**
 * @param {Float64Array} row
 * @param {Points} line
 * @param {number} low
 * @param {number} high
 */
function fill(row, { x, value }, low, high) {
  const width = (high - low) / row.length;
  /** @param {number} i */
  const cellAt = (i) => Math.floor((x[i] - low) / width);
  let before = NaN;
  for (let i = Math.max(firstFrom(x, low) - 1, 0); i < x.length && x[i] <= high; i++) {
    const cell = Math.min(cellAt(i), row.length - 1);
    const shown = Number.isFinite(value[i]) ? value[i] : Infinity;
    if (cell < 0) before = shown;
    else if (!(row[cell] >= shown)) row[cell] = shown;
  }
  const end = x.length > 0 ? cellAt(x.length - 1) : -1;
  for (let cell = 0; cell < row.length && cell <= end; cell++) {
    if (Number.isNaN(row[cell])) row[cell] = before; // between two points, the first one's color
    before = row[cell];
  }
}

/**
 * Cells as a picture, a pixel each: `order` are the rows from top to bottom, `ramp` has the colors of shares.
 * @type {(cells: Cells, order: number[], share: Share, ramp: Color[]) => OffscreenCanvas}
 */
export function picture({ width, cells }, order, share, ramp) {
  const canvas = new OffscreenCanvas(width, order.length);
  const pixels = new ImageData(width, order.length);
  const odd = components("odd-rgb");
  const { data } = pixels;
  /** @param {number} value */
  const colorOf = (value) =>
    Number.isFinite(value) ? ramp[Math.round(Math.min(Math.max(share(value), 0), 1) * (ramp.length - 1))] : odd;
  order.forEach((row, line) => {
    for (let cell = 0, at = 4 * line * width; cell < width; cell++, at += 4) {
      const value = cells[row * width + cell];
      if (Number.isNaN(value)) continue;
      [data[at], data[at + 1], data[at + 2]] = colorOf(value);
      data[at + 3] = 255;
    }
  });
  /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d")).putImageData(pixels, 0, 0);
  return canvas;
}
