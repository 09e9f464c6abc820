import assert from "node:assert/strict";
import test from "node:test";

import {
  alike,
  falling,
  grouped,
  matching,
  nearest,
  reaches,
} from "../../summaries/integrations/tensorboard/page/wall_data.js";

test("text is looked for in any case, a pattern between slashes as it is", () => {
  assert.ok(matching("LOSS").test("train/loss"));
  assert.ok(matching("").test("anything"));
  assert.ok(!matching("loss.").test("train/loss"));
  assert.ok(matching("/^val.*s$/").test("val/loss"));
  assert.ok(!matching("/^VAL/").test("val/loss"));
  assert.ok(matching("/^VAL/i").test("val/loss"));
});

test("what is no pattern matches nothing, and says why", () => {
  const { test: matches, problem } = matching("/(/");
  assert.ok(!matches("("));
  assert.match(problem, /Unterminated group/);
});

test("tags are grouped by what stands before their first slash", () => {
  const groups = grouped(["lr", "train/loss", "val/loss", "train/a/b", "/odd"]);
  assert.deepEqual(Object.fromEntries(groups), {
    train: ["train/loss", "train/a/b"],
    val: ["val/loss"],
    "": ["lr", "/odd"],
  });
  assert.deepEqual([...groups.keys()], ["train", "val", ""]);
});

test("the nearest point is found from both sides", () => {
  const steps = Float64Array.of(0, 10, 20, 20, 40);
  assert.equal(nearest(steps, 14), 1);
  assert.equal(nearest(steps, 16), 2);
  assert.equal(nearest(steps, -5), 0);
  assert.equal(nearest(steps, 99), 4);
  assert.equal(nearest(steps, null), 4);
  assert.equal(nearest(new Float64Array(0), 1), null);
});

test("runs are alike without what a search matches in their names", () => {
  const names = ["lr=0.1_seed=0", "lr=0.1_seed=1", "seed=3/lr=1", "lr=1"];
  assert.deepEqual(Object.fromEntries(alike(names, "/seed=\\d+/") ?? []), {
    "lr=0.1": ["lr=0.1_seed=0", "lr=0.1_seed=1"],
    "lr=1": ["seed=3/lr=1", "lr=1"],
  });
  assert.deepEqual([...(alike(["a.1", "a.2"], "a.") ?? [])].length, 2);
  assert.deepEqual([...(alike(["seed=0", "seed=1"], "/seed=./") ?? [])], [["all", ["seed=0", "seed=1"]]]);
  assert.equal(alike(names, " "), null);
});

test("after its end, a run has no value", () => {
  const steps = [0, 1, 2, 3];
  assert.ok(reaches(steps, 3.5, 0));
  assert.ok(!reaches(steps, 5, 0));
  assert.ok(reaches(steps, 5, 2));
  assert.ok(!reaches(steps, -2, 0));
  assert.ok(reaches(steps, null, 0));
  assert.ok(!reaches([7], 9, 1));
});

test("the largest value comes first, and what is no number last", () => {
  assert.deepEqual([1, NaN, 3, NaN, Infinity, 2, Infinity].sort(falling), [Infinity, Infinity, 3, 2, 1, NaN, NaN]);
});
