// Round numbers for the ticks of axes.

const LEAST = 1e-307; // smaller floats are too coarse for ticks
const MOST_DECADES = 6; // more would be too close: then only some powers of ten have a tick

/**
 * About `most` round numbers between two others, none closer than `least` to the next.
 * @type {(low: number, high: number, most?: number, least?: number) => number[]}
 */
export function roundTicks(low, high, most = 5, least = 0) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 5].map((digit) => digit * power).find((round) => round >= rough) ?? 10 * power;
  const step = Math.max(size, least);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high; at++) found.push(at * step);
  return step < 1 ? found.map((value) => Number(value.toPrecision(15))) : found; // 3 * 0.1 is a little more than 0.3
}

/**
 * Ticks of a logarithmic axis: digits if it spans a few decades, else some powers of ten.
 * @type {(low: number, high: number) => number[]}
 */
export function logTicks(low, high) {
  const [least, most] = [Math.max(low, Number.MIN_VALUE), Math.min(high, Number.MAX_VALUE)];
  const [first, last] = [Math.log10(least), Math.log10(most)];
  const decades = last - first;
  const digits = decades < 0.8 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : decades < 2.5 ? [1, 2, 5] : [1];
  const step = Math.max(1, Math.ceil(decades / MOST_DECADES));
  const found = [];
  for (let power = Math.floor(first / step) * step; power <= last + 1e-9; power += step) {
    for (const digit of digits) found.push(Number(`${digit}e${power}`));
  }
  const near = 1e-9; // rounding must not lose the ticks at both ends
  return found.filter((value) => value >= least * (1 - near) && value <= most * (1 + near) && Number.isFinite(value));
}

/**
 * Powers of ten on both sides of zero, from the smallest magnitude on.
 * @type {(low: number, high: number, least: number) => number[]}
 */
export function asinhTicks(low, high, least) {
  /** @param {number} to */
  const powers = (to) =>
    to > least ? logTicks(least, to).filter((value) => /^1(e|0*$)|^0\.0*1$/.test(String(value))) : [];
  const below = powers(-low).map((value) => -value);
  return [...below.reverse(), 0, ...powers(high)];
}

/**
 * From the digit below the smallest to the digit above the largest, e.g. 2e-3 to 5e1; uPlot uses whole decades.
 * @type {(low: number, high: number) => [number, number]}
 */
export function logRange(low, high) {
  const least = digitAt(Math.max(low, LEAST), (share) => Math.floor(share + 1e-9));
  const most = digitAt(Math.max(high, 2 * least), (share) => Math.ceil(share - 1e-9)); // 0.3 / 0.1 is less than 3
  return [least, Math.min(most, 1e308)];
}

/**
 * A number with one digit, which is rounded like this.
 * @type {(value: number, round: (share: number) => number) => number}
 */
function digitAt(value, round) {
  const exponent = Math.floor(Math.log10(value) + 1e-9);
  return Number(`${round(value / 10 ** exponent)}e${exponent}`);
}
