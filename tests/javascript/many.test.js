// Many curves: what a line covers in each column of pixels, and the range of values in sight.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axisOf, emptyPixels, evenly, placeOn, trace, valuesIn } from "../../summaries/auditing/report/page/many.js";

const [WIDTH, HEIGHT] = [6, 8];
const [ACROSS, UP] = [axisOf({ min: 0, max: WIDTH }, WIDTH), axisOf({ min: -HEIGHT, max: 0 }, HEIGHT)];

/**
 * Draw a line whose heights count from the top.
 * @type {(pixels: import("../../summaries/auditing/report/page/many.js").Pixels, ink: number, x: number[], y: number[]) => void}
 */
function draw(pixels, ink, x, y) {
  const down = Float64Array.from(y, (height) => -height);
  trace(pixels, ink, Float64Array.from(x), down, ACROSS, UP);
}

/**
 * What is drawn of a line: for each column, its rows.
 * @type {(x: number[], y: number[]) => number[][]}
 */
function rows(x, y) {
  const pixels = emptyPixels(WIDTH, HEIGHT);
  const { data } = pixels;
  draw(pixels, 1, x, y);
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

test("on logarithmic axes a line breaks where there is no logarithm", () => {
  const [across, up] = [WIDTH, HEIGHT].map((decades) => ({ min: 1, max: 10 ** decades, distr: 3 }));
  const series = {};
  const line = { series, x: Float64Array.of(0, 2, 2e2, 2e3, 2e4), value: Float64Array.of(2, 2, 2e2, -2, 2e7) };
  const [{ x, value }] = evenly([/** @type {any} */ (line)], { x: across, y: up });
  const pixels = emptyPixels(WIDTH, HEIGHT);
  trace(pixels, 1, x, value, axisOf(across, WIDTH), axisOf(up, HEIGHT));
  const filled = [...pixels.data.keys()].filter((at) => pixels.data[at] === 1);
  const places = filled.map((at) => [Math.floor(at / HEIGHT), at % HEIGHT]);
  assert.deepEqual(places, [
    [0, 7],
    [1, 6],
    [1, 7],
    [2, 5],
    [2, 6],
    [4, 0],
  ]); // column and row
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
      const x = [0, 1, 2, 3, 4, 5].map((k) => k + Math.abs(random(at)) / 2);
      const y = x.map((_, k) => 12 * random(at + k + 1));
      const alone = emptyPixels(WIDTH, HEIGHT);
      draw(alone, ink, x, y);
      alone.data.forEach((pixel, k) => {
        expected[k] ||= pixel;
      });
      draw(pixels, ink, x, y);
    }
    assert.deepEqual(pixels.data, expected);
  }
});
