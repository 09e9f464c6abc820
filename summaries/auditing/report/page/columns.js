// The data of charts: columns over one common x, and positions on that x.

/** The points of a curve sorted by x, the step or the time since the start of the run: {x, value, step}. */
export function ordered(curve, mode) {
  if (mode === "step") return { x: curve.step, value: curve.value, step: curve.step };
  const order = [...curve.seconds.keys()].filter((i) => Number.isFinite(curve.seconds[i]));
  order.sort((a, b) => curve.seconds[a] - curve.seconds[b] || a - b); // clocks may go back
  const pick = (column) => Float64Array.from(order, (i) => column[i]);
  return { x: pick(curve.seconds), value: pick(curve.value), step: pick(curve.step) };
}

/**
 * Curves → {x, values}: values[k][i] is curve k's value at x[i], undefined if it has no point there.
 * Points of one curve at the same x (duplicate steps) get a row each.
 */
export function aligned(curves) {
  if (curves.length === 1) return { x: Array.from(curves[0].x), values: [Array.from(curves[0].value)] };
  const x = [];
  const values = curves.map(() => []);
  const at = curves.map(() => 0);
  for (;;) {
    let next = Infinity;
    curves.forEach((curve, k) => { if (at[k] < curve.x.length) next = Math.min(next, curve.x[at[k]]); });
    if (next === Infinity) return { x, values };
    x.push(next);
    curves.forEach((curve, k) => {
      values[k].push(at[k] < curve.x.length && curve.x[at[k]] === next ? curve.value[at[k]++] : undefined);
    });
  }
}

/** The first index whose value is at least `wanted`. */
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

/** Convert a range of steps to a range of x, by a curve that has both. */
export function placed(steps, curve, mode) {
  if (mode === "step" || curve.step.length === 0) return mode === "step" ? steps : null;
  const last = curve.step.length - 1;
  const first = Math.min(firstFrom(curve.step, steps[0]), last);
  const end = Math.min(firstFrom(curve.step, steps[1]), last);
  const [a, b] = [curve.seconds[first], curve.seconds[end]];
  return Number.isFinite(a) && Number.isFinite(b) ? [Math.min(a, b), Math.max(a, b)] : null;
}
