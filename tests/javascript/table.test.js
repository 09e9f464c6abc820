import assert from "node:assert/strict";
import test from "node:test";

import {
  asking,
  axisOf,
  columnOf,
  exactly,
  filterFor,
  filterOf,
  firstColumns,
  groupsOf,
  separated,
  sorted,
  spread,
} from "../../summaries/integrations/tensorboard/page/table_data.js";
import { matching } from "../../summaries/integrations/tensorboard/page/wall_data.js";

test("a column is its key", () => {
  assert.equal(columnOf("took")?.title, "Took");
  assert.equal(columnOf("parameter:optimizer.lr")?.title, "optimizer.lr");
  assert.equal(columnOf("last:val/loss")?.title, "val/loss, last");
  const at = columnOf("at@-100:a:b\nc");
  assert.deepEqual(at && [at.title, asking(at)], ["a:b\nc at -100", ["at", "a:b\nc", -100]]);
  assert.equal(columnOf("constructor"), null);
  assert.equal(columnOf("mean:loss"), null);
});

test("first are the columns that tell runs apart, purposely stated ones if there are any", () => {
  const same = { name: "batch", values: 1, chosen: true };
  const lr = { name: "lr", values: 3, chosen: true };
  const dir = { name: "dir", values: 9, chosen: false };
  assert.deepEqual(firstColumns([same, lr, dir], ["loss"]), [
    "verdict",
    "parameter:lr",
    "last:loss",
    "smallest:loss",
    "steps",
    "took",
  ]);
  assert.deepEqual(firstColumns([same, dir], []), ["verdict", "parameter:dir", "steps", "took"]);
});

test("the first columns have the validation of the main tag as well", () => {
  const values = firstColumns([], ["a/loss", "val/loss"]).slice(1, -2);
  assert.deepEqual(values, ["last:a/loss", "last:val/loss", "smallest:val/loss"]);
});

test("filters by size, range, equality, text and pattern", () => {
  const passing = (text, cells) => cells.filter(filterOf(text).test);
  const numbers = [0.1, 0.2, 3, NaN, null, "0.2"];
  assert.deepEqual(passing("< 1", numbers), [0.1, 0.2]);
  assert.deepEqual(passing(">=0.2", numbers), [0.2, 3]);
  assert.deepEqual(passing("0.1..0.2", numbers), [0.1, 0.2]);
  assert.deepEqual(passing("1e-1..", numbers), [0.1, 0.2, 3]);
  assert.deepEqual(passing("-5 .. 0.15", numbers), [0.1]);
  assert.deepEqual(passing("= 0.20", numbers), [0.2]);
  assert.deepEqual(passing("!= relu", ["relu", "gelu", null]), ["gelu", null]);
  assert.deepEqual(passing("REL", ["relu", "gelu", true]), ["relu"]);
  assert.deepEqual(passing("/^.elu$/", ["relu", "selu2"]), ["relu"]);
  assert.deepEqual(passing("", numbers), numbers);
  assert.deepEqual(passing("a..b", ["xa..b", 1]), ["xa..b"]); // no numbers: a text
  assert.match(filterOf("/(/").problem, /Unterminated group/);
});

test("a brush becomes the filter that lets its cells pass", () => {
  assert.equal(filterFor([]), "");
  assert.equal(filterFor([0.3, 1e-7, 2]), "1e-7..2");
  assert.ok(filterOf(filterFor([0.3, 1e-7, 2])).test(1e-7));
  const text = filterFor(["a+b", "c", "c"]);
  assert.deepEqual(["a+b", "aab", "c", "cc"].filter(filterOf(text).test), ["a+b", "c"]);
});

test("a pattern matches exactly the names, whatever they are", () => {
  const names = ["a", "b/c(1)", "x\ny", "[.]\\", "\u202egnp.exe", "<img src=x>", "/^$/"];
  const pattern = matching(exactly(names));
  assert.deepEqual(names.filter(pattern.test), names);
  assert.deepEqual(["A", "ab", "b/c1", "x", ".", ""].filter(pattern.test), []);
});

test("numbers come before texts, and what is missing last in both directions", () => {
  const cells = [null, 10, "b", NaN, 9, "a10", "a9"];
  const own = (cell) => cell;
  assert.deepEqual(sorted(cells, own, false), [9, 10, NaN, "a9", "a10", "b", null]);
  assert.deepEqual(sorted(cells, own, true), [10, 9, NaN, "b", "a10", "a9", null]);
  const rows = [
    { k: 1, at: 0 },
    { k: 1, at: 1 },
  ];
  assert.deepEqual(
    sorted(rows, ({ k }) => k, true),
    rows,
  ); // equal ones stay
});

test("groups, and their means", () => {
  const groups = groupsOf([1, 2, 3, 4], (n) => n % 2);
  assert.deepEqual(
    [...groups],
    [
      [1, [1, 3]],
      [0, [2, 4]],
    ],
  );
  assert.deepEqual(spread([1, 3, null, NaN]), { mean: 2, deviation: Math.SQRT2, left: 2 });
  assert.equal(spread([1, "a"]), null);
  assert.equal(spread([null]), null);
});

test("an axis has places for numbers and texts, and none for what is not finite", () => {
  const numbers = axisOf([0, 5, 10, NaN, null], 100);
  assert.equal(numbers.at(NaN), null);
  assert.equal(numbers.at(5), 50);
  assert.ok(Number(numbers.at(0)) < Number(numbers.at(10)));
  assert.ok(numbers.ticks.every(({ at }) => at >= 0 && at <= 100));
  const decades = axisOf([1e-4, 1e-3, 1e-2], 100);
  assert.ok(Math.abs(Number(decades.at(1e-3)) - 50) < 1e-6);
  const texts = axisOf(["b", "a", true, null], 90);
  assert.deepEqual(["a", "b", true, "c", null].map(texts.at), [15, 45, 75, null, null]);
});

test("a cell of text stays text in a spreadsheet", () => {
  const rows = [["a,b", 'say "x"', "=1+1", "-1e-3", -2, null, true, "x\ty"]];
  assert.equal(separated(rows, ","), '"a,b","say ""x""",\'=1+1,-1e-3,-2,,true,x\ty\r\n');
  assert.equal(separated([["a,b", "x\ty"]], "\t"), 'a,b\t"x\ty"\r\n');
});
