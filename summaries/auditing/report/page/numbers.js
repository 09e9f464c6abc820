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

/** A value in fewer significant digits than four. @type {(value: number | null, digits: number) => string} */
export function rounded(value, digits) {
  return number(value === null ? null : Number(value.toPrecision(digits)));
}

/** A whole number, with thousands separators. @type {(value: number) => string} */
export function whole(value) {
  return GROUPED.format(value).replace("-", "−");
}

/** A tick of an axis: short. @type {(value: number | null) => string} */
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

const DIGITS = 4; // that a short tick says, at most
const FEW_DIGITS = 2; // and one with an exponent
const LONGEST = 10; // characters of a number that fit beside an axis

/**
 * Ticks of an axis: short, or with the digits that tell them apart: 123,456 and 123,457, which both are 123.5k.
 * @type {(values: (number | null)[]) => string[]}
 */
export function ticks(values) {
  const apart = leastGap(values);
  /** @param {number | null} value */
  const isShort = (value) =>
    value === null ||
    Math.abs(Number(value.toPrecision(tick(value).includes("e") ? FEW_DIGITS : DIGITS)) - value) <= apart / 100;
  if (values.every(isShort)) return values.map(tick);
  return withoutHead(
    values.map((value) => (value === null ? "" : precise(value, apart))),
    LONGEST,
    ",",
  );
}

/**
 * The least distance between neighbours; of one value alone, a millionth of it.
 * @type {(values: (number | null)[]) => number}
 */
function leastGap(values) {
  const known = values.filter((value) => value !== null);
  const gaps = known.slice(1).map((value, k) => Math.abs(value - known[k]));
  return Math.min(...(gaps.length > 0 ? gaps : [Math.abs(known[0] ?? 1) / 1e6]));
}

/** @type {(value: number, apart: number) => string} */
function precise(value, apart) {
  const size = Math.abs(value);
  const digit = Math.floor(Math.log10(apart || 1) + 1e-9); // a distance such as 0.25 has one more
  if (size !== 0 && (size < 1e-3 || size >= 1e15)) {
    const digits = Math.min(Math.max(Math.floor(Math.log10(size)) - digit + 1, 0), 16);
    return value
      .toExponential(digits)
      .replace(/\.?0+e/, "e")
      .replaceAll("-", "−");
  }
  const decimals = Math.min(Math.max(1 - digit, 0), 15);
  return value.toLocaleString("en-US", { maximumFractionDigits: decimals }).replace("-", "−");
}

/**
 * Texts without the parts that they all begin with, if one of them is longer than `most` characters.
 * @type {(texts: string[], most: number, end: string) => string[]}
 */
function withoutHead(texts, most, end) {
  if (texts.every(({ length }) => length <= most)) return texts;
  let head = 0;
  while (head < texts[0].length && texts.every((text) => text[head] === texts[0][head])) head++;
  const from = texts[0].slice(0, head).lastIndexOf(end) + 1;
  return from > 0 ? texts.map((text) => `…${text.slice(from)}`) : texts;
}

/** @type {[string, number][]} */
const UNITS = [
  ["d", 86400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];

/** Seconds as their two largest units: 2 h 13 min. @type {(seconds: number | null) => string} */
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
 * Ticks of an axis of seconds: in their two largest units, or in all units that tell them apart. Then the first tick,
 * which has room, says what they have in common: 3 h 25 min 10 s, …11 s, …12 s.
 * @type {(values: (number | null)[]) => string[]}
 */
export function durations(values) {
  const short = values.map(duration);
  if (new Set(short).size === short.length) return short;
  const decimals = Math.min(Math.max(-Math.floor(Math.log10(leastGap(values) || 1) + 1e-9), 0), 9);
  const texts = values.map((value) => (value === null ? "" : inAllUnits(value, decimals)));
  return [texts[0], ...withoutHead(texts, LONGEST, " ").slice(1)];
}

/** @type {(seconds: number, decimals: number) => string} */
function inAllUnits(seconds, decimals) {
  let left = Number(Math.abs(seconds).toFixed(decimals));
  const parts = [];
  for (const [unit, size] of UNITS) {
    const count = unit === "s" ? Number(left.toFixed(decimals)) : Math.floor(left / size);
    left -= count * size;
    if (count > 0 || parts.length > 0) parts.push(`${count} ${unit}`);
  }
  return (seconds < 0 ? "−" : "") + (parts.join(" ") || "0 s");
}

/** "steps 120 to 340", or "step 120". @type {(steps: Range) => string} */
export function stepRange([first, last]) {
  return first === last ? `step ${whole(first)}` : `steps ${whole(first)} to ${whole(last)}`;
}

/** "1 run", "3 runs". @type {(count: number, noun: string) => string} */
export function counted(count, noun) {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}
