import assert from "node:assert/strict";
import test from "node:test";

import { groupsByLevel, levelColor, shown, valuesOf } from "../../summaries/auditing/report/page/levels.js";
import { distinct, isolated, shortened, shortenedApart } from "../../summaries/auditing/report/page/names.js";
import { chosenRows, rankOf, sums, verdict } from "../../summaries/auditing/report/page/rows.js";
import { arrangement, inWords, stepsInWords } from "../../summaries/integrations/tensorboard/page/variables.js";

const ROW = { counts: [0, 0, 0], failures: [], codes: {}, steps: null, seconds: null, loss: null, worst: null };
const FILTER = { text: "", verdicts: new Set(), code: "", column: 1, descending: false };

/** Runs as rows, at their positions. */
function rows(...parts) {
  return parts.map((part, position) => {
    const row = { ...ROW, name: `run ${position}`, position, ...part };
    return { ...row, rank: rankOf(row) };
  });
}

/** The positions of the rows that pass, in order. */
function positions(all, filter) {
  return chosenRows(all, { ...FILTER, ...filter }).map(({ position }) => position);
}

test("a long name loses its middle", () => {
  assert.equal(shortened("abcdef", 6), "abcdef");
  assert.equal(shortened("abcdefg", 6), "abc…fg");
  assert.equal(shortened("encoder/layer_7/attention/weights", 16, 1 / 3), "encod…on/weights");
  assert.equal(shortened("x".repeat(99)).length, 56);
});

test("names that would look alike keep more of their ends", () => {
  const layers = ["net.block_0.attention.weight", "net.block_1.attention.weight", "net.bias"];
  const apart = ["net.…k_0.attention.weight", "net.…k_1.attention.weight", "net.bias"];
  assert.deepEqual(shortenedApart(layers, 25, 1 / 3), apart);
  assert.deepEqual(shortenedApart(["a".repeat(9), "a".repeat(9)], 5, 0.5), ["aa…aa", "aa…aa"]);
});

test("paths lose what all of them share", () => {
  assert.deepEqual(distinct(["a/b/c/w", "a/d/c/w", "a/e/e/w"]), ["b/c", "d/c", "e/e"]);
  assert.deepEqual(distinct(["w", "w"]), ["w", "w"]);
  assert.deepEqual(distinct(["a/w", "w"]), ["a/w", "w"]);
  assert.deepEqual(distinct([]), []);
});

test("a verdict is that of the worst; notes pass", () => {
  const found = rows({ counts: [1, 5, 0] }, { counts: [0, 1, 9] }, { counts: [0, 0, 9] }, { failures: ["x"] });
  assert.deepEqual(found.map(verdict), ["error", "warning", "pass", "error"]);
  assert.equal(verdict({ ...ROW, reading: true }), "pending");
});

test("sums leave out what no run has", () => {
  assert.deepEqual(sums(rows({ counts: [1, 0, 2] }, { counts: [2, 0, 0] })), [
    ["error", 3],
    ["info", 2],
  ]);
});

test("runs are sorted by verdict, and ties by position", () => {
  const all = rows({}, { counts: [0, 2, 0] }, { counts: [1, 0, 0] }, {}, { counts: [0, 900_000, 0] });
  assert.deepEqual(positions(all, { column: 0, descending: true }), [2, 4, 1, 0, 3]);
  assert.deepEqual(positions(all, { column: 0, descending: false }), [0, 3, 1, 4, 2]);
});

test("values that are not finite come after numbers, missing ones last", () => {
  const all = rows({ loss: "NaN" }, { loss: null }, { loss: 3 }, { loss: -1 });
  assert.deepEqual(positions(all, { column: 9 }), [3, 2, 0, 1]);
});

test("runs are filtered by name, verdict and rule", () => {
  const all = rows({ name: "Alpha" }, { name: "beta", counts: [1, 0, 0], codes: { GL301: "x" } });
  assert.deepEqual(positions(all, { text: "ALPH" }), [0]);
  assert.deepEqual(positions(all, { verdicts: new Set(["error"]) }), [1]);
  assert.deepEqual(positions(all, { code: "GL301" }), [1]);
  assert.deepEqual(positions(all, { text: "a" }), [0, 1]);
});

test("rows by name are in groups, by the first part that differs", () => {
  const named = (...names) => names.map((variable) => ({ variable, tag: "" }));
  const { order, groups } = arrangement(named("net/b/w", "net/a/10", "net/a/9"), "name");
  assert.deepEqual(order, [2, 1, 0]);
  assert.deepEqual(groups, [
    { name: "a", first: 0, count: 2 },
    { name: "b", first: 2, count: 1 },
  ]);
  assert.equal(arrangement(named("a", "b"), "name").groups, null);
  assert.deepEqual(arrangement(named("b", "a"), "network"), { order: [0, 1], groups: null });
});

test("cells in words", () => {
  assert.equal(stepsInWords([10, 20]), "steps 10 to 19");
  assert.equal(stepsInWords([10.2, 10.8]), "step 11");
  assert.equal(stepsInWords([10, 11]), "step 11");
  assert.equal(inWords({ name: "w", row: 0 }), "w");
  assert.equal(inWords({ name: "w", row: 0, steps: "step 3", value: Infinity }), "w, step 3: not finite");
  assert.equal(inWords({ name: "w", row: 0, steps: "step 3", value: NaN }), "w, step 3: nothing here");
  assert.equal(
    inWords({ name: "w", row: 0, steps: "step 3", value: 2 }, (value) => `${value}×`),
    "w, step 3: 2×",
  );
});

const RUNS = [10, 2, "auto", null, 1].map((lr, at) => ({
  run: `run ${at}`,
  hyperparameters: lr === null ? {} : { lr },
  final: at === 1 ? null : at,
}));

test("values of hyperparameters: numbers by size, then texts", () => {
  assert.deepEqual(valuesOf(RUNS, "lr"), ["1", "2", "10", "auto", "–"]);
  assert.equal(shown(true), "true");
});

test("many values share colors with their neighbours", () => {
  const values = Array.from({ length: 16 }, (_, at) => String(at));
  assert.deepEqual(
    ["0", "1", "15", "missing"].map((value) => levelColor(values, value, 8)),
    [0, 0, 7, 0],
  );
  assert.equal(levelColor(["a", "b"], "b", 8), 1);
});

test("runs at each level, with their median; none if most diverged", () => {
  const runs = [1, 2, null, null, 5].map((final, at) => ({
    final,
    run: String(at),
    hyperparameters: { lr: at < 3 ? 0.1 : 1 },
  }));
  const levels = groupsByLevel({ runs, separations: [], measure: "final" }, "lr");
  assert.deepEqual(
    levels.map(({ label, median, runs: there }) => [label, median, there.length]),
    [
      ["0.1", 2, 3],
      ["1", null, 2],
    ],
  );
});

test("many numbers are cut into ranges, as they are tested", () => {
  const runs = Array.from({ length: 14 }, (_, at) => ({
    final: at,
    run: String(at),
    hyperparameters: { lr: 13 - at },
  }));
  const ranges = [
    { value: "7 to 13", runs: 7, median: 1 },
    { value: "0 to 6", runs: 7, median: 2 },
  ];
  const separations = [{ hyperparameter: "lr", levels: ranges }];
  const levels = groupsByLevel({ runs, separations, measure: "final" }, "lr");
  assert.deepEqual(
    levels.map(({ label, median }) => [label, median]),
    [
      ["0 to 6", 10],
      ["7 to 13", 3],
    ],
  );
});

test("what a name does to the direction of text ends with it", () => {
  assert.equal(isolated("train/loss"), "train/loss");
  assert.equal(isolated("a\u202eb"), "\u2068a\u202eb\u2069");
  assert.equal(isolated("\u2067a\u2069\u2069"), "\u2068\u2068\u2068\u2067a\u2069\u2069\u2069\u2069\u2069\u2069");
  assert.equal(shortened("a\u202ebcdefgh", 6), "\u2068a\u202eb\u2069…gh");
});
