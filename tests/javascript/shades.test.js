import assert from "node:assert/strict";
import test from "node:test";

import { cellsOf, SEQUENTIAL, shades, viridis } from "../../summaries/auditing/report/page/shades.js";
import { cellAt, sample } from "../../summaries/integrations/tensorboard/page/cells.js";
import { differences, larger, sharedRows, spread } from "../../summaries/integrations/tensorboard/page/differences.js";
import { levels } from "../../summaries/integrations/tensorboard/page/matrices.js";
import { dragged, profile } from "../../summaries/integrations/tensorboard/page/strip.js";

const THOUSAND = [...Array(1000).keys()];

test("viridis goes from violet to yellow", () => {
  assert.deepEqual(viridis(0), [68, 1, 84]);
  assert.deepEqual(viridis(1), [253, 231, 37]);
  assert.deepEqual(viridis(0.0625), [70, 23, 103]);
  assert.deepEqual([viridis(-3), viridis(7)], [viridis(0), viridis(1)]);
  assert.equal(SEQUENTIAL.length, 256);
});

test("shares of values are between the ends", () => {
  const { low, high, cut, share } = shades([{ value: [1, 2] }, { value: [3] }], false);
  assert.deepEqual([low, high, cut], [1, 3, [false, false]]);
  assert.deepEqual([share(1), share(2), share(3)], [0, 0.5, 1]);
});

test("logarithmic shares have zeros below all", () => {
  const { low, share } = shades([{ value: [0, 1, 100, -5, NaN, Infinity] }], true);
  assert.equal(low, 1);
  assert.deepEqual([share(0), share(1), share(10), share(100)], [0, 0, 0.5, 1]);
});

test("spikes are cut off, unless they take little of the range", () => {
  const { low, high, cut } = shades([{ value: [...THOUSAND, 1e9] }], true);
  assert.deepEqual([low, high, cut], [11, 990, [true, true]]);
  assert.deepEqual(shades([{ value: THOUSAND }], false).cut, [false, false]);
  assert.equal(shades([{ value: [...Array(998).fill(1), 2, 1e9] }, { value: [NaN, 0] }], true).high, 1e9);
});

test("the largest floats do not overflow, and a constant is in the middle", () => {
  assert.equal(shades([{ value: [-1.7e308, 0, 1.7e308] }], false).share(0), 0.5);
  assert.equal(shades([{ value: [4, 4] }], false).share(4), 0.5);
});

test("nothing has shades, too", () => {
  const { low, high, share } = shades([{ value: [] }, { value: [NaN] }], true);
  assert.deepEqual([low, high, share(0)], [null, null, 0]);
});

test("cells have the largest value, and what is not finite wins", () => {
  const line = { x: [0, 1, 2, 3, 4, 5], value: [1, 5, 2, NaN, 9, 3], step: [] };
  const { width, cells } = cellsOf([line], 0, 6, 3);
  assert.deepEqual([width, ...cells], [3, 5, Infinity, 9]);
});

test("between two points, a cell has the first one's value; after the last one, none", () => {
  const line = { x: [1, 4, 7], value: [10, 20, 30], step: [] };
  assert.deepEqual([...cellsOf([line], 0, 10, 10).cells], [NaN, 10, 10, 10, 20, 20, 20, 30, NaN, NaN]);
  assert.deepEqual([...cellsOf([line], 2, 6, 4).cells], [10, 10, 20, 20], "also what is left of them");
});

test("a sample has the extremes", () => {
  const cells = Float32Array.from({ length: 100_000 }, (_, at) => 1 + (at % 7));
  cells[12_346] = -3;
  cells[54_322] = 99;
  const some = sample(cells, false);
  assert.ok(some.length < 40_001);
  assert.deepEqual([Math.min(...some), Math.max(...some)], [-3, 99]);
  assert.equal(Math.min(...sample(cells, true)), 1);
  const few = Float32Array.of(1, 2);
  assert.equal(sample(few, false), few);
});

test("the cell of a step, and its steps", () => {
  const part = { from: 100, to: 200, width: 4, cells: [1, 2, 3, 4, 5, 6, 7, 8] };
  assert.deepEqual(cellAt(part, 1, 130), { value: 6, steps: [125, 150] });
  assert.deepEqual(cellAt(part, 0, 200), { value: 4, steps: [175, 200] });
});

test("differences are powers of two, or differences", () => {
  const [first, second] = [
    [1, 4, NaN, Infinity, 0, 0],
    [8, 2, 1, 1, 0, 5],
  ].map((values) => Float64Array.from(values));
  assert.deepEqual([...differences(first, second, true)], [3, -1, NaN, Infinity, 0, NaN]);
  assert.deepEqual([...differences(first, second, false)], [7, -2, NaN, Infinity, 0, 5]);
});

test("differences in words", () => {
  assert.equal(larger(1, true), "2 times larger in the second");
  assert.equal(larger(-2, true), "4 times larger in the first");
  assert.equal(larger(0.001, true), "equal");
  assert.equal(larger(-0.5, false), "−0.5");
  assert.equal(larger(Infinity, true), "not finite in one of them");
  assert.equal(larger(NaN, false), "nothing to compare");
});

test("the spread leaves out one of twenty", () => {
  const cells = Float64Array.from([...Array(19).fill(-2), 100, NaN, Infinity]);
  assert.equal(spread(cells, false), 2);
  assert.equal(spread(cells, true), 2);
  assert.equal(spread(Float64Array.of(0, 0), false), 1);
  assert.equal(spread(new Float64Array(), true), 1);
});

test("rows of the same variables belong together", () => {
  assert.deepEqual(sharedRows(["a", "b", "c"], ["c", "a"]), [
    [0, 1],
    [2, 0],
  ]);
});

test("the levels of a matrix lie around zero if it has both signs", () => {
  assert.deepEqual(levels([-1, 3]), { low: -3, high: 3, isSigned: true });
  assert.deepEqual(levels([1, 3]), { low: 1, high: 3, isSigned: false });
});

test("a profile stands out where rows leave their usual share", () => {
  const cells = Float64Array.of(1, 1, 5, 1, NaN, 2, 2, 2, 2, 2);
  assert.deepEqual(
    profile({ width: 5, cells }, (value) => value / 10),
    [0, 0, 1, 0, 0],
  );
  assert.deepEqual(
    profile({ width: 2, cells: Float64Array.of(3, Infinity) }, () => 0.5),
    [0, 1],
  );
  assert.deepEqual(
    profile({ width: 2, cells: Float64Array.of(3, 3) }, () => 0.5),
    [0, 0],
  );
});

test("a window is moved, stretched and drawn inside the run", () => {
  const full = [0, 100];
  assert.deepEqual(dragged([20, 40], full, "all", 30, 35), [25, 45]);
  assert.deepEqual(dragged([20, 40], full, "all", 30, 200), [80, 100]);
  assert.deepEqual(dragged([20, 40], full, "all", 30, -50), [0, 20]);
  assert.deepEqual(dragged([20, 40], full, "left", 20, -5), [0, 40]);
  assert.deepEqual(dragged([20, 40], full, "left", 20, 90), [39.98, 40]);
  assert.deepEqual(dragged([20, 40], full, "right", 40, 300), [20, 100]);
  assert.deepEqual(dragged([0, 100], full, "new", 70, 60), [60, 70]);
  assert.equal(dragged([0, 100], full, "new", 70, 70), null);
});
