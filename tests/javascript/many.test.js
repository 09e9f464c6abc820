// Many curves: what a line covers in each column of pixels, and the range of values in sight.

import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyPixels, placeOn, trace, valuesIn } from "../../summaries/auditing/report/page/many.js";

const [WIDTH, HEIGHT] = [6, 8];

/**
 * What is drawn of a line: for each column, its rows.
 * @type {(x: number[], y: number[]) => number[][]}
 */
function rows(x, y) {
  const pixels = emptyPixels(WIDTH, HEIGHT);
  const { data } = pixels;
  trace(pixels, 1, Float64Array.from(x), Float64Array.from(y));
  return Array.from({ length: WIDTH }, (_one, column) =>
    Array.from({ length: HEIGHT }, (_other, row) => row).filter((row) => data[column * HEIGHT + row] === 1),
  );
}

test("a line covers what it crosses of each column", () => {
  assert.deepEqual(rows([0, 4], [0, 4]), [[0, 1], [1, 2], [2, 3], [3, 4], [4], []]);
  assert.deepEqual(rows([0, 4], [4.5, 0.5]), [[3, 4], [2, 3], [1, 2], [0, 1], [0], []]);
});

test("a column has the least and the largest of its points", () => {
  assert.deepEqual(rows([1.1, 1.3, 1.5, 1.9], [3, 6, 1, 4]), [[], [1, 2, 3, 4, 5, 6], [], [], [], []]);
});

test("a line breaks at what is no number, and a point by itself is a pixel", () => {
  assert.deepEqual(rows([0, 1, 2, 3, 5], [2, 2, Number.NaN, 5, 5]), [[2], [2], [], [5], [5], [5]]);
  assert.deepEqual(rows([0, 1, 2], [Number.NaN, 3, Number.NaN]), [[], [3], [], [], [], []]);
});

test("what lies outside is left out, and a line comes in from there", () => {
  assert.deepEqual(rows([-1e9, 1, 1e9], [3, 3, 3]), [[3], [3], [3], [3], [3], [3]]);
  assert.deepEqual(rows([1, 3], [-100, 100]), [[], [0], [0, 1, 2, 3, 4, 5, 6, 7], [], [], []]);
});

test("values in sight", () => {
  const lines = [
    { x: Float64Array.of(0, 1, 2, 3), value: Float64Array.of(9, Number.NaN, 4, -9) },
    { x: Float64Array.of(1.5), value: Float64Array.of(5) },
  ];
  assert.deepEqual(valuesIn(lines, [1, 2]), [4, 5]);
  assert.deepEqual(valuesIn(lines, [0, 3]), [-9, 9]);
  assert.deepEqual(valuesIn(lines, [0.9, 1.1]), [null, null]);
});

test("places on scales of uPlot's", () => {
  assert.equal(placeOn({ min: 0, max: 10 }, 0, 100)(5), 50);
  assert.equal(placeOn({ min: 1, max: 100, distr: 3 }, 0, 100)(10), 50);
  assert.equal(placeOn({ min: -2, max: 2, distr: 4, asinh: 1 }, 100, 0)(0), 50);
});

test("what is drawn first stays on top, whatever lies between", () => {
  const random = (/** @type {number} */ seed) => (Math.sin(seed * 12.9898) * 43758.5453) % 1;
  for (let round = 0; round < 200; round++) {
    const pixels = emptyPixels(WIDTH, HEIGHT);
    const expected = new Uint32Array(WIDTH * HEIGHT);
    for (let ink = 1; ink < 8; ink++) {
      const at = 100 * round + 10 * ink;
      const x = Float64Array.from([0, 1, 2, 3, 4, 5], (k) => k + Math.abs(random(at)) / 2);
      const y = Float64Array.from(x, (_, k) => 12 * random(at + k + 1));
      const alone = emptyPixels(WIDTH, HEIGHT);
      trace(alone, ink, x, y);
      alone.data.forEach((pixel, k) => {
        expected[k] ||= pixel;
      });
      trace(pixels, ink, x, y);
    }
    assert.deepEqual(pixels.data, expected);
  }
});
