// Formatting numbers for people.

/** @import { Range } from "./types.js" */

const GROUPED = new Intl.NumberFormat("en-US");

/**
 * A value in four significant digits: 0.03125, 1,250, 3.402e+38, NaN.
 * @type {(value: number | null | undefined) => string}
 */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+∞" : "−∞";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return whole(value);
  const text =
    size >= 1e-4 && size < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(3).replace(/\.?0+e/, "e");
  return text.replaceAll("-", "−");
}

/**
 * A value in fewer significant digits than four.
 * @type {(value: number | null, digits: number) => string}
 */
export function rounded(value, digits) {
  return number(value === null ? null : Number(value.toPrecision(digits)));
}

/**
 * A whole number, with thousands separators.
 * @type {(value: number) => string}
 */
export function whole(value) {
  return GROUPED.format(value).replace("-", "−");
}

/**
 * A tick of an axis: short.
 * @type {(value: number | null) => string}
 */
export function tick(value) {
  if (value === null) return "";
  const size = Math.abs(value);
  if (size >= 1e4 && size < 1e15) {
    const power = Math.min(Math.floor(Math.log10(size) / 3 + 1e-9), 4);
    return number(value / 1000 ** power) + ["", "k", "M", "G", "T"][power];
  }
  if (size === 0 || (size >= 1e-3 && size < 1e15)) return number(value);
  return value.toExponential(1).replace(".0e", "e").replaceAll("-", "−");
}

/** @type {[string, number][]} */
const UNITS = [
  ["d", 86400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];

/**
 * Seconds as their two largest units: 2 h 13 min.
 * @type {(seconds: number | null) => string}
 */
export function duration(seconds) {
  if (seconds === null || !Number.isFinite(seconds)) return "–";
  if (Math.abs(seconds) < 10) return `${number(Number(seconds.toFixed(2)))} s`;
  let left = Math.round(Math.abs(seconds));
  const parts = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return (seconds < 0 ? "−" : "") + parts.join(" ");
}

/**
 * "steps 120 to 340", or "step 120".
 * @type {(steps: Range) => string}
 */
export function stepRange([first, last]) {
  return first === last ? `step ${whole(first)}` : `steps ${whole(first)} to ${whole(last)}`;
}

/**
 * "1 run", "3 runs".
 * @type {(count: number, noun: string) => string}
 */
export function counted(count, noun) {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}
