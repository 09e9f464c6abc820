import assert from "node:assert/strict";
import test from "node:test";
import { onlyLatest } from "../../summaries/auditing/report/page/latest.js";
import { around } from "../../summaries/auditing/report/page/run.js";
import { extent, View } from "../../summaries/auditing/report/page/view.js";
import { addressOf, encoded, parsed, query } from "../../summaries/integrations/tensorboard/page/address.js";
import { percent, powersAround, shareAbove } from "../../summaries/integrations/tensorboard/page/clipping.js";
import { orderOf, rangeIn } from "../../summaries/integrations/tensorboard/page/layers.js";
import { Ledger } from "../../summaries/integrations/tensorboard/page/ledger.js";

test("an address names a view, a run and a page", () => {
  assert.equal(addressOf("run", "a/b c"), "#/run/a%2Fb%20c");
  assert.equal(
    addressOf("run", "a", "layers", { kind: "x/y", from: 0, to: null, order: "" }),
    "#/run/a/layers?kind=x%2Fy&from=0",
  );
  assert.equal(addressOf("pair", "a", "", { with: "b&c=d" }), "#/pair/a?with=b%26c%3Dd");
});

test("an address is read as it was written", () => {
  const chosen = { with: "ü/=&?#", from: "3" };
  const address = parsed(addressOf("pair", "50 %?", "layers", chosen));
  assert.deepEqual(address, { view: "pair", name: encoded("50 %?"), page: "layers", chosen });
});

test("an empty address is that of all runs", () => {
  const nothing = { view: "", name: "", page: "", chosen: {} };
  assert.deepEqual(parsed(""), nothing);
  assert.deepEqual(parsed("#/"), nothing);
});

test("bytes that are not UTF-8 have an address", () => {
  assert.equal(encoded("caf\udce9"), "caf%E9");
  assert.equal(encoded("\ud800"), "%EF%BF%BD");
  assert.equal(encoded("😀"), "%F0%9F%98%80");
  assert.deepEqual(parsed("#/pair/a?with=caf%E9").chosen, { with: "caf%E9" });
});

test("the server is asked for empty names too", () => {
  assert.equal(query({ run: "", tag: null, index: 0 }), "run=&index=0");
});

test("what an address asks for, or nothing if it makes no sense", () => {
  assert.deepEqual(rangeIn({ from: "3", to: "9" }), [3, 9]);
  for (const chosen of [{}, { from: "3" }, { from: "9", to: "3" }, { from: "x", to: "9" }]) {
    assert.equal(rangeIn(chosen), null);
  }
  assert.deepEqual([orderOf({ order: "name" }), orderOf({ order: "constructor" })], ["name", "network"]);
});

test("a view zooms inside its run, and tells its charts", () => {
  const view = new View([0, 100], "step");
  const told = [];
  view.charts.add({ setScale: (_, { min, max }) => told.push([min, max]), redraw() {}, destroy() {} });
  view.onzoom = (zoomed) => told.push(zoomed);
  view.zoom([20, 40]);
  view.move(1, 0.5);
  view.move(8, 0);
  view.zoom(null);
  assert.deepEqual(told, [[20, 40], true, [30, 50], true, [0, 100], true, [0, 100], false]);
});

test("the extent of curves: finite, and never empty in a view", () => {
  const curve = (step, seconds) => ({ step, seconds });
  assert.deepEqual(extent([curve([3, 9], []), curve([1, 2], [])], "step"), [1, 9]);
  assert.deepEqual(extent([curve([], [NaN, -2, 5, Infinity])], "time"), [-2, 5]);
  assert.deepEqual(extent([], "step"), [0, 1]);
  assert.deepEqual(new View([7, 7], "step").full, [6.5, 7.5]);
});

test("a finding is shown with as much again on both sides", () => {
  assert.deepEqual(around([40, 50], [0, 100]), [30, 60]);
  assert.deepEqual(around([40, 40], [0, 100]), [36, 44]);
  assert.deepEqual(around([0, 10], [0, 100]), [0, 20]);
  assert.equal(around([20, 90], [0, 100]), null);
});

test("the share of norms above a bound", () => {
  const sorted = [0, 1, 1, 2, 4];
  assert.deepEqual(
    [-1, 0, 1, 2, 4].map((bound) => shareAbove(sorted, bound)),
    [1, 0.8, 0.4, 0.2, 0],
  );
  assert.deepEqual([0, 0.0001, 0.0123, 0.5, 1].map(percent), ["0 %", "less than 0.1 %", "1.2 %", "50 %", "100 %"]);
});

test("the axis of norms has room on both sides, and for bounds", () => {
  const [low, high] = powersAround([1, 5, 100], [1000]);
  assert.ok(Math.abs(low + 0.12) < 1e-9 && Math.abs(high - 3.12) < 1e-9, `${low} ${high}`);
  assert.ok(powersAround([2, 2], [])[0] < Math.log10(2));
});

test("only the latest of several questions counts", () => {
  const begin = onlyLatest();
  const [first, second] = [begin(), begin()];
  assert.deepEqual([first(), second()], [false, true]);
  begin();
  assert.equal(second(), false);
});

/** An answer to `runs`. */
function answer(version, parts) {
  return { version, reading: false, failures: [], memory: [0, 1], runs: [], gone: [], order: null, ...parts };
}

test("a ledger takes what has changed, in the server's order", () => {
  const ledger = new Ledger();
  const read = { reading: false, counts: [1, 0, 0], failures: [] };
  const first = answer(1, {
    runs: [
      { name: "b", ...read },
      { name: "a", reading: true },
    ],
    order: ["a", "b"],
  });
  assert.deepEqual(ledger.take(first), ["b", "a"]);
  assert.deepEqual(
    ledger.runs.map(({ name, position }) => [name, position]),
    [
      ["a", 0],
      ["b", 1],
    ],
  );
  assert.deepEqual(
    ledger.runs.map(({ rank }) => rank),
    [-1, 1e12],
  );
  assert.deepEqual(ledger.take(answer(2, { runs: [{ name: "b", reading: true }] })), [], "until it is read again");
  assert.equal(ledger.find("b").reading, false);
  assert.deepEqual(ledger.take(answer(3, { gone: ["a"], order: ["b"] })), ["a"]);
  assert.deepEqual(
    ledger.runs.map(({ name }) => name),
    ["b"],
  );
});

test("a ledger begins anew when another server answers", () => {
  const ledger = new Ledger();
  ledger.take(answer(7, { runs: [{ name: "a", reading: true }], order: ["a"] }));
  assert.deepEqual(ledger.take(answer(2, {})), []);
  assert.deepEqual([ledger.version, ledger.rows.size], [-1, 0]);
});
