// What a page in a file computes itself, as the server does otherwise: points to draw, averages, means over runs.

import { firstFrom } from "../../../auditing/report/page/columns.js";

/** @import { Column } from "../../../auditing/report/page/types.js" */

/** @typedef {{ from: number | null, to: number | null, stretches: number }} Asked */

/**
 * Which points in a range are drawn, with one on both sides, for a line to the edge: those of `thin` in thinning.py;
 * all of them for 0 stretches.
 * @type {(x: Column, value: Column, asked: Asked) => number[]}
 */
export function drawn(x, value, { from, to, stretches }) {
  const start = from === null ? 0 : Math.max(firstFrom(x, from) - 1, 0);
  let after = to === null ? x.length : firstFrom(x, to);
  while (x[after] === to) after++;
  after = Math.min(after + 1, x.length);
  const count = after - start;
  if (stretches === 0 || count <= 2 * stretches) return Array.from({ length: count }, (_, i) => start + i);
  const width = Math.ceil(count / stretches);
  const kept = new Set([start]);
  for (let low = start; low < after; low += width) {
    for (const at of extremes(value, low, Math.min(low + width, after))) kept.add(at);
  }
  return [...kept.add(after - 1)].sort((a, b) => a - b);
}

/**
 * The places of the least and the largest value of a stretch, and of its first and last one that is not finite.
 * @type {(value: Column, low: number, high: number) => number[]}
 */
function extremes(value, low, high) {
  let [least, largest, first, last] = [-1, -1, -1, -1];
  for (let i = low; i < high; i++) {
    if (!Number.isFinite(value[i])) {
      if (first < 0) first = i;
      last = i;
    } else {
      if (least < 0 || value[i] < value[least]) least = i;
      if (largest < 0 || value[i] > value[largest]) largest = i;
    }
  }
  return [least, largest, first, last].filter((at) => at >= 0);
}

/** TensorBoard's moving average, as in plots.py. @type {(value: Column, weight: number) => Column} */
export function smoothed(value, weight) {
  if (!weight || value.length === 0 || value.every((one) => one === value[0])) return value;
  let [average, rest] = [0, 1];
  return Float64Array.from(value, (one) => {
    if (!Number.isFinite(one)) return one;
    average = average * weight + (1 - weight) * one;
    rest *= weight;
    return average / (1 - rest);
  });
}

/**
 * The mean, the least and the largest of some curves at every step of any, each a straight line between its points, and
 * how many of them have a value there.
 * @type {(curves: { step: Column, value: Column }[]) =>
 *   { step: Column, present: Column, mean: Column, low: Column, high: Column }}
 */
export function bandOf(curves) {
  const numbers = curves.map(standing);
  const step = Float64Array.from(new Set(numbers.flatMap((curve) => [...curve.step]))).sort();
  const [present, mean, low, high] = [0, 1, 2, 3].map(() => new Float64Array(step.length));
  const at = numbers.map(() => 0);
  step.forEach((one, i) => {
    const there = numbers.flatMap((curve, k) => {
      while (at[k] < curve.step.length && curve.step[at[k]] < one) at[k]++;
      return valueAt(curve, at[k], one);
    });
    present[i] = there.length;
    mean[i] = there.reduce((sum, value) => sum + value, 0) / there.length;
    low[i] = there.reduce((a, b) => Math.min(a, b), Infinity);
    high[i] = there.reduce((a, b) => Math.max(a, b), -Infinity);
  });
  return { step, present, mean, low, high };
}

/**
 * The largest value in each of some equal stretches of steps, as `cells` in layers.py has them: between two points, a
 * stretch without a point has the value of the one before it. Infinite where a value is not finite, NaN where there is
 * none.
 * @type {(curve: { step: Column, value: Column }, from: number, to: number, width: number) => Float64Array}
 */
export function cellsOf({ step, value }, from, to, width) {
  const row = new Float64Array(width).fill(Number.NaN);
  const edge = (/** @type {number} */ cell) => (cell === width ? to : from + (cell * (to - from)) / width);
  const last = step[step.length - 1];
  let at = firstFrom(step, from);
  let before = at > 0 ? whole(value[at - 1]) : Number.NaN;
  for (let cell = 0; cell < width; cell++) {
    const end = edge(cell + 1);
    let most = -Infinity;
    const first = at;
    for (; at < step.length && (step[at] < end || (cell === width - 1 && step[at] === end)); at++) {
      before = whole(value[at]);
      most = Math.max(most, before);
    }
    if (at > first) row[cell] = most;
    else if (edge(cell) <= last) row[cell] = before;
  }
  return row;
}

/** @type {(value: number) => number} */
function whole(value) {
  return Number.isFinite(value) ? value : Infinity;
}

/**
 * The value of the last point at a step or before it; null if there is none.
 * @type {(curve: { step: Column, value: Column }, wanted: number) => number | null}
 */
export function lastUntil({ step, value }, wanted) {
  const after = firstFrom(step, wanted + 1);
  return after > 0 ? value[after - 1] : null;
}

/**
 * The points that are numbers; of those at one step, the last.
 * @type {(curve: { step: Column, value: Column }) => { step: number[], value: number[] }}
 */
function standing({ step, value }) {
  const kept = new Map([...step].map((one, i) => [one, value[i]]));
  const points = [...kept].filter(([, one]) => !Number.isNaN(one)).sort(([a], [b]) => a - b);
  return { step: points.map(([one]) => one), value: points.map(([, one]) => one) };
}

/**
 * The value at a step, on a straight line to the point `at`, which is the first one there or after it.
 * @type {(curve: { step: number[], value: number[] }, at: number, wanted: number) => number[]}
 */
function valueAt({ step, value }, at, wanted) {
  if (at === step.length) return [];
  if (step[at] === wanted) return [value[at]];
  if (at === 0) return [];
  const share = (wanted - step[at - 1]) / (step[at] - step[at - 1]);
  return [value[at - 1] + share * (value[at] - value[at - 1])];
}
