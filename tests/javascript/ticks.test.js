import assert from "node:assert/strict";
import test from "node:test";

import { path, valueAxis } from "../../summaries/auditing/report/page/axes.js";
import { asinhTicks, logRange, logTicks, roundTicks } from "../../summaries/auditing/report/page/ticks.js";

test("round ticks are round, and lie between the ends", () => {
  assert.deepEqual(roundTicks(0, 10), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(roundTicks(0.1, 0.65), [0.2, 0.4, 0.6]);
  assert.deepEqual(roundTicks(-1, 1), [-1, -0.5, 0, 0.5, 1]);
  assert.deepEqual(roundTicks(0, 1, 10), [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]);
  assert.deepEqual(roundTicks(1e-12, 3e-12), [1e-12, 1.5e-12, 2e-12, 2.5e-12, 3e-12]);
});

test("between steps, there are only whole ones", () => {
  assert.deepEqual(roundTicks(0.2, 3.1, 10, 1), [1, 2, 3]);
  assert.deepEqual(roundTicks(7, 7, 5, 1), [7]);
  const far = 2 ** 50;
  assert.deepEqual(roundTicks(far, far + 2, 2, 1), [far, far + 1, far + 2]);
});

test("an empty range has no ticks, and does not hang", () => {
  assert.deepEqual(roundTicks(3, 3), []);
});

test("logarithmic ticks are digits, or powers of ten", () => {
  assert.deepEqual(logTicks(0.3, 0.6), [0.3, 0.4, 0.5, 0.6]);
  assert.deepEqual(logTicks(0.01, 2), [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]);
  assert.deepEqual(logTicks(2e-9, 3), [1e-8, 1e-6, 1e-4, 0.01, 1]);
  assert.deepEqual(logTicks(0.08, 1e37), [1, 1e7, 1e14, 1e21, 1e28, 1e35]);
});

test("the whole range of floats has ticks", () => {
  assert.equal(logTicks(1e-307, 1e308).length, 5);
  const all = logTicks(0, Infinity);
  assert.ok(all.length >= 5 && all.every((value) => value > 0 && Number.isFinite(value)), String(all));
});

test("around zero, there are powers of ten on both sides", () => {
  assert.deepEqual(asinhTicks(-20, 300, 0.5), [-10, -1, 0, 1, 10, 100]);
  assert.deepEqual(asinhTicks(0, 0.5, 0.5), [0]);
  assert.deepEqual(asinhTicks(0, 200, 0.002), [0, 0.01, 0.1, 1, 10, 100]);
});

test("a logarithmic range goes from digit to digit", () => {
  assert.deepEqual(logRange(0.35, 17), [0.3, 20]);
  assert.deepEqual(logRange(0.3, 0.3), [0.3, 0.6]);
  assert.deepEqual(logRange(5e-324, 1.7e308), [1e-307, 1e308]);
});

test("an axis is logarithmic if values are positive and far apart", () => {
  const linear = valueAxis([1, 2, null, 9], 0, 100);
  assert.ok(linear.y(9) < linear.y(1), "larger is higher");
  assert.equal(linear.y(5), 50);
  const log = valueAxis([1, 100], 0, 100);
  assert.ok(Math.abs(log.y(10) - 50) < 1e-9);
  assert.deepEqual(log.ticks, [1, 2, 5, 10, 20, 50, 100]);
  assert.equal(valueAxis([-1, 100], 0, 100).y(49.5), 50);
});

test("the axis of a constant has it in the middle, and that of nothing is from 0 to 1", () => {
  const middles = [
    valueAxis([3, 3], 0, 100).y(3),
    valueAxis([0], 0, 100).y(0),
    valueAxis([null, Infinity], 0, 100).y(0.5),
  ];
  assert.deepEqual(middles.map(Math.round), [50, 50, 50]);
});

test("a line breaks where a value is missing", () => {
  const y = (value) => 10 - value;
  assert.equal(path([0, 1, 2, 3], [1, 2, null, 4], y), "M0.0 9.0L1.0 8.0M3.0 6.0");
});
