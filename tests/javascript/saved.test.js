import assert from "node:assert/strict";
import test from "node:test";

import {
  bandOf,
  cellsOf,
  drawn,
  lastUntil,
  smoothed,
} from "../../summaries/integrations/tensorboard/page/saved_data.js";

const everything = { from: null, to: null, stretches: 2 };

test("the same points are drawn as in thinning.py", () => {
  const value = Float64Array.of(0, 1, 9, 1, 0, 1, NaN, 1, 0, -9, 0, 1);
  const x = value.map((_one, i) => i);
  assert.deepEqual(drawn(x, value, everything), [0, 2, 6, 7, 9, 11]);
  assert.deepEqual(drawn(x.slice(0, 4), value, everything), [0, 1, 2, 3]);
});

test("a range has a point on both sides", () => {
  const x = Float64Array.of(0, 10, 20, 30, 40, 50);
  assert.deepEqual(drawn(x, x, { from: 15, to: 25, stretches: 100 }), [1, 2, 3]);
  assert.deepEqual(drawn(x, x, { from: 60, to: 70, stretches: 100 }), [5]);
  assert.deepEqual(drawn(x.slice(0, 0), x, everything), []);
});

test("averages are those of plots.py", () => {
  const rounded = [...smoothed(Float64Array.of(1, 0, 0), 0.5)].map((one) => Number(one.toFixed(3)));
  assert.deepEqual(rounded, [1, 0.333, 0.143]);
  assert.deepEqual([...smoothed(Float64Array.of(2, 2), 0.5)], [2, 2]);
  assert.ok(Number.isNaN(smoothed(Float64Array.of(1, NaN, 3), 0.5)[1]));
});

test("a band is over straight lines between points, and over those that are there", () => {
  const a = { step: Float64Array.of(0, 10), value: Float64Array.of(4, 2) };
  const b = { step: Float64Array.of(0, 5, 5), value: Float64Array.of(8, 1, 6) };
  const { step, present, mean, low, high } = bandOf([a, b]);
  assert.deepEqual([...step], [0, 5, 10]);
  assert.deepEqual([...present], [2, 2, 1]);
  assert.deepEqual([...mean], [6, 4.5, 2]);
  assert.deepEqual([...low], [4, 3, 2]);
  assert.deepEqual([...high], [8, 6, 2]);
});

test("a cell has the largest value in it, as in layers.py, or else the one before it", () => {
  const curve = { step: Float64Array.of(1, 2, 3, 6), value: Float64Array.of(5, 7, NaN, 1) };
  assert.deepEqual([...cellsOf(curve, 0, 8, 8)], [NaN, 5, 7, Infinity, Infinity, Infinity, 1, NaN]);
  assert.deepEqual([...cellsOf(curve, 1, 6, 2)], [Infinity, 1]);
  assert.deepEqual([...cellsOf(curve, 4, 5, 2)], [Infinity, Infinity]);
  assert.deepEqual([...cellsOf({ step: new Float64Array(), value: new Float64Array() }, 0, 1, 2)], [NaN, NaN]);
});

test("the value at a step is that of the last point until then", () => {
  const curve = { step: Float64Array.of(1, 5, 5, 9), value: Float64Array.of(10, 50, 51, 90) };
  assert.deepEqual(
    [0, 1, 4, 5, 100].map((step) => lastUntil(curve, step)),
    [null, 10, 10, 51, 90],
  );
});
