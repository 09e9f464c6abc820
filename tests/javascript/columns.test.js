import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  aligned,
  firstFrom,
  notFinite,
  ordered,
  placed,
  positive,
} from "../../summaries/auditing/report/page/columns.js";
import { inflated, opened, unpacked } from "../../summaries/auditing/report/page/unpack.js";

// What packed.py makes of a run: packed_run.py wrote it, and a Python test fails once it would write another.
const PACKED = JSON.parse(readFileSync(new URL("packed_run.json", import.meta.url), "utf8"));
const CURVE = {
  step: Float64Array.of(0, 10, 20, 30),
  seconds: Float64Array.of(0, 5, 3, NaN),
  value: Float64Array.of(1, 2, 3, 4),
};

/** Numbers as the fixture has them: NaN and infinities as their names. */
function plain(column) {
  return Array.from(column, (value) => (Number.isFinite(value) ? value : String(value)));
}

test("a run is unpacked as it was packed", async () => {
  const run = unpacked(await inflated(PACKED.text));
  assert.deepEqual(run.files, PACKED.files);
  assert.equal(run.curves.length, PACKED.curves.length);
  run.curves.forEach((curve, at) => {
    const expected = PACKED.curves[at];
    assert.equal(curve.tag, expected.tag);
    assert.deepEqual(plain(curve.step), expected.step);
    assert.deepEqual(plain(curve.value), expected.value);
    curve.seconds.forEach((second, i) => {
      assert.ok(Math.abs(second - expected.seconds[i]) <= expected.error, `${curve.tag}: ${second}`);
    });
  });
});

test("every type of array is read at its place", () => {
  const header = JSON.stringify({
    arrays: [
      ["f8", 0, 1],
      ["u1", 8, 3],
    ],
  }).padEnd(60); // 4 + 60 is a multiple of 8
  const body = new Uint8Array(64 + 16);
  new DataView(body.buffer).setUint32(0, header.length, true);
  body.set(new TextEncoder().encode(header), 4);
  new DataView(body.buffer).setFloat64(64, -0.5, true);
  body.set([7, 8, 9], 72);
  const { header: read, read: array } = opened(body.buffer);
  assert.deepEqual(read.arrays.map(array), [Float64Array.of(-0.5), Uint8Array.of(7, 8, 9)]);
});

test("over time, points are in order and have times", () => {
  assert.deepEqual(ordered(CURVE, "step").x, CURVE.step);
  const { x, value, step } = ordered(CURVE, "time");
  assert.deepEqual([...x], [0, 3, 5]);
  assert.deepEqual([...value], [1, 3, 2]);
  assert.deepEqual([...step], [0, 20, 10]);
});

test("curves share one x, and repeated steps have a row each", () => {
  const one = { x: [1, 2, 2, 4], value: [10, 20, 21, 40] };
  const other = { x: [2, 3], value: [200, NaN] };
  assert.deepEqual(aligned([one, other]), {
    x: [1, 2, 2, 3, 4],
    values: [
      [10, 20, 21, undefined, 40],
      [undefined, 200, undefined, NaN, undefined],
    ],
  });
  assert.deepEqual(aligned([one]), { x: one.x, values: [one.value] });
  assert.deepEqual(aligned([]), { x: [], values: [] });
});

test("the first index from a value on", () => {
  const sorted = [1, 2, 2, 5];
  const wanted = [0, 1, 2, 3, 5, 6];
  assert.deepEqual(
    wanted.map((value) => firstFrom(sorted, value)),
    [0, 0, 1, 3, 3, 4],
  );
  assert.equal(firstFrom([], 1), 0);
});

test("steps have a place in time, if the curve has times there", () => {
  assert.deepEqual(placed([5, 15], CURVE, "step"), [5, 15]);
  assert.deepEqual(placed([5, 15], CURVE, "time"), [3, 5]);
  assert.equal(placed([5, 99], CURVE, "time"), null);
  assert.equal(placed([0, 1], { ...CURVE, step: new Float64Array() }, "time"), null);
});

test("stretches that are not finite", () => {
  const x = [0, 1, 2, 3, 4, 5];
  assert.deepEqual(notFinite({ x, value: [NaN, 1, Infinity, NaN, 2, -Infinity] }), [
    [0, 0],
    [2, 3],
    [5, 5],
  ]);
  assert.deepEqual(notFinite({ x, value: [1, 2, 3, 4, 5, 6] }), []);
});

test("only what is above zero lies on a logarithmic axis", () => {
  const [x, value] = [Float64Array.of(-2, 0, 0, 1, 3), Float64Array.of(1, 2, 3, 4, 5)];
  assert.deepEqual(positive({ x, value, step: x }), {
    x: x.subarray(3),
    value: value.subarray(3),
    step: x.subarray(3),
  });
  assert.equal(positive({ x: x.subarray(0, 3), value, step: x }).x.length, 0);
});
