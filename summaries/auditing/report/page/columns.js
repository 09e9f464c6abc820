// The data of charts: columns over one common x, and positions on that x.

/** @import { Column, Curve, Mode, Points, Range } from "./types.js" */

/**
 * The points of a curve sorted by x, the step or the time since the start of the run.
 * @type {(curve: Curve, mode: Mode) => Points}
 */
export function ordered(curve, mode) {
  if (mode === "step") return { x: curve.step, value: curve.value, step: curve.step };
  const order = [...curve.seconds.keys()].filter((i) => Number.isFinite(curve.seconds[i]));
  order.sort((a, b) => curve.seconds[a] - curve.seconds[b] || a - b); // clocks may go back
  /** @param {Column} column */
  const pick = (column) => Float64Array.from(order, (i) => column[i]);
  return { x: pick(curve.seconds), value: pick(curve.value), step: pick(curve.step) };
}

/** The points that lie on a logarithmic axis of x. @type {(points: Points) => Points} */
export function positive({ x, value, step }) {
  let from = firstFrom(x, 0);
  while (x[from] === 0) from++;
  return { x: x.subarray(from), value: value.subarray(from), step: step.subarray(from) };
}

/**
 * Columns over one x: values[k][i] is curve k's value at x[i], undefined if it has no point there.
 * Points of one curve at the same x (duplicate steps) get a row each.
 * @param {Pick<Points, "x" | "value">[]} curves
 */
export function aligned(curves) {
  /** @type {number[]} */
  const x = [];
  /** @type {(number | undefined)[][]} */
  const values = curves.map(() => []);
  if (curves.length === 1) return { x: Array.from(curves[0].x), values: [Array.from(curves[0].value)] };
  const at = curves.map(() => 0);
  for (;;) {
    const next = Math.min(...curves.map((curve, k) => (at[k] < curve.x.length ? curve.x[at[k]] : Infinity)));
    if (next === Infinity) return { x, values };
    x.push(next);
    curves.forEach((curve, k) => {
      values[k].push(at[k] < curve.x.length && curve.x[at[k]] === next ? curve.value[at[k]++] : undefined);
    });
  }
}

/** The first index whose value is at least `wanted`. @type {(sorted: ArrayLike<number>, wanted: number) => number} */
export function firstFrom(sorted, wanted) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Convert a range of steps to a range of x, by a curve that has both; null if the curve has no times there.
 * @type {(steps: Range, curve: Curve, mode: Mode) => Range | null}
 */
export function placed(steps, curve, mode) {
  if (mode === "step") return steps;
  if (curve.step.length === 0) return null;
  const [a, b] = steps.map((step) => curve.seconds[Math.min(firstFrom(curve.step, step), curve.step.length - 1)]);
  return Number.isFinite(a) && Number.isFinite(b) ? [Math.min(a, b), Math.max(a, b)] : null;
}

/** The ranges of x in which values are not finite. @type {(curve: Pick<Points, "x" | "value">) => Range[]} */
export function notFinite({ x, value }) {
  /** @type {Range[]} */
  const stretches = [];
  let open = false;
  for (let i = 0; i < x.length; i++) {
    const odd = !Number.isFinite(value[i]);
    if (odd && open) stretches[stretches.length - 1][1] = x[i];
    else if (odd) stretches.push([x[i], x[i]]);
    open = odd;
  }
  return stretches;
}
