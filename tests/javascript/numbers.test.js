import assert from "node:assert/strict";
import test from "node:test";

import {
  counted,
  duration,
  durations,
  number,
  rounded,
  stepRange,
  tick,
  ticks,
  whole,
} from "../../summaries/auditing/report/page/numbers.js";

/** A function gives these texts: [argument, text], …. */
function gives(read, cases) {
  for (const [value, text] of cases) assert.deepEqual(read(value), text, `of ${value}`);
}

test("a number has four significant digits", () => {
  gives(number, [
    [1234567, "1,234,567"],
    [0.031251, "0.03125"],
    [1 / 3, "0.3333"],
    [-12.5, "−12.5"],
    [0, "0"],
    [12345.67, "12350"],
    [1e7, "1e+7"],
    [123456.7, "1.235e+5"],
    [3.4028e38, "3.403e+38"],
    [1.7976931348623157e308, "1.798e+308"],
    [-1e-7, "−1e−7"],
    [0.0001, "0.0001"],
    [0.00009999, "9.999e−5"],
    [5e-324, "4.941e−324"],
  ]);
});

test("what is no number has a sign of its own", () => {
  gives(number, [
    [NaN, "NaN"],
    [Infinity, "+∞"],
    [-Infinity, "−∞"],
    [null, "–"],
    [undefined, "–"],
  ]);
});

test("a value is rounded to fewer digits", () => {
  assert.equal(rounded(0.123456, 2), "0.12");
  assert.equal(rounded(1234.5, 2), "1,200");
  assert.equal(rounded(NaN, 2), "NaN");
  assert.equal(rounded(null, 2), "–");
});

test("a whole number has separators", () => {
  gives(whole, [
    [0, "0"],
    [-1234, "−1,234"],
    [2 ** 53, "9,007,199,254,740,992"],
  ]);
});

test("a tick is short", () => {
  gives(tick, [
    [null, ""],
    [0, "0"],
    [9999, "9,999"],
    [20000, "20k"],
    [1500000, "1.5M"],
    [-1e9, "−1G"],
    [1e12, "1T"],
    [999e12, "999T"],
    [1e15, "1e+15"],
    [0.001, "0.001"],
    [0.0005, "5e−4"],
    [-2e-20, "−2e−20"],
  ]);
});

test("ticks of one axis are told apart", () => {
  gives(ticks, [
    [
      [0, 50_000, 100_000],
      ["0", "50k", "100k"],
    ],
    [
      [123_450, 123_455, 123_460],
      ["123,450", "123,455", "123,460"],
    ],
    [
      [123_400, 123_450],
      ["123,400", "123,450"],
    ], // not 123.5k, which it is not
    [
      [9.99e299, 1e300, 1.001e300],
      ["9.99e+299", "1e+300", "1.001e+300"],
    ],
    [[123_456], ["123,456"]],
    [
      [1.0000025, 1.000005],
      ["1.0000025", "1.000005"],
    ],
    [
      [1e6, 1e6 + 0.05, 1e6 + 0.1],
      ["…000", "…000.05", "…000.1"],
    ],
    [
      [-123_456, -123_455],
      ["−123,456", "−123,455"],
    ],
    [
      [1.0001e-4, 1.0002e-4],
      ["1.0001e−4", "1.0002e−4"],
    ],
    [
      [0.1, 0.2, 0.1 + 0.2],
      ["0.1", "0.2", "0.3"],
    ],
    [
      [1e-9, 0, 1e9],
      ["1e−9", "0", "1G"],
    ],
    [
      [1, null, 10],
      ["1", "", "10"],
    ],
    [[], []],
  ]);
});

test("ticks of time are told apart", () => {
  gives(durations, [
    [
      [0, 3600, 7200],
      ["0 s", "1 h", "2 h"],
    ],
    [
      [12_300, 12_310],
      ["3 h 25 min 0 s", "…10 s"],
    ],
    [
      [12_310, 12_310.5],
      ["3 h 25 min 10 s", "…10.5 s"],
    ],
    [
      [98_700, 98_710],
      ["1 d 3 h 25 min 0 s", "…10 s"],
    ],
    [[], []],
  ]);
});

test("a duration has two units", () => {
  gives(duration, [
    [0, "0 s"],
    [0.25, "0.25 s"],
    [59.6, "1 min"],
    [3599.4, "59 min 59 s"],
    [8000, "2 h 13 min"],
    [86460, "1 d"],
    [90000, "1 d 1 h"],
    [-90, "−1 min 30 s"],
    [NaN, "–"],
    [Infinity, "–"],
    [null, "–"],
  ]);
});

test("steps and counts in words", () => {
  assert.equal(stepRange([5, 5]), "step 5");
  assert.equal(stepRange([0, 1000]), "steps 0 to 1,000");
  assert.equal(counted(1, "run"), "1 run");
  assert.equal(counted(0, "run"), "0 runs");
  assert.equal(counted(2000, "run"), "2,000 runs");
});
