// Where the page starts in a file of its own: `gradledger view --output page.html`. The file answers what it asks.

import { byId, el } from "../../../auditing/report/page/elements.js";
import { counted, whole } from "../../../auditing/report/page/numbers.js";
import { inflated, opened, rising } from "../../../auditing/report/page/unpack.js";
import { begin } from "./plugin.js";
import { bandOf, drawn, smoothed } from "./saved_data.js";
import { source } from "./server.js";

/** @import { Column } from "../../../auditing/report/page/types.js" */
/** @import { SavedCurve, SavedHeader, SavedIndex } from "./answers.js" */

const MILLISECOND = 0.001;

/** @type {SavedIndex} */
const index = JSON.parse(byId("saved").textContent);
/** The curves of a run by their tags. @type {Map<string, Promise<Map<string, SavedCurve>>>} */
const opening = new Map();

/** @type {Record<string, (values: any) => unknown | Promise<unknown>>} */
const ANSWERS = {
  runs: () => index.runs,
  tags: () => ({ tags: index.tags }),
  run: ({ run }) => {
    const block = document.getElementById(`run-${placeOf(run)}`);
    if (!block) throw new Error("This run could not be read when the file was written.");
    return inflated(block.textContent);
  },
  curves: async ({ tag, runs, x, smooth, ...range }) => {
    const found = await everyCurve(JSON.parse(runs), tag);
    const { entry, body } = arranged();
    return body({
      tag,
      curves: found.map(([run, { points, step, seconds, value }]) => {
        const kept = drawn(x === "step" ? step : seconds, value, range);
        const isWhole = value.length === points; // else there would be a mean of extremes
        const average = smooth > 0 && isWhole ? entry(smoothed(value, smooth), kept) : null;
        const columns = { step: entry(step, kept), seconds: entry(seconds, kept), value: entry(value, kept) };
        return { run, points, kept: value.length, ...columns, smooth: average };
      }),
    });
  },
  bands: async ({ tag, groups, smooth, ...range }) => {
    const { entry, body } = arranged();
    const bands = [];
    for (const [group, runs] of Object.entries(JSON.parse(groups))) {
      const found = await everyCurve(runs, tag);
      if (found.length === 0) continue;
      if (found.some(([, { points, value }]) => value.length < points))
        throw new Error("This file has some of the points only. gradledger view, on the runs, shows their mean.");
      const { step, present, ...edges } = bandOf(found.map(([, curve]) => curve));
      const lines = Object.entries(edges).map(([name, value]) => ({ name, value: smoothed(value, smooth) }));
      const kept = [...new Set(lines.flatMap(({ value }) => [...drawn(step, value, range)]))].sort((a, b) => a - b);
      const columns = lines.map(({ name, value }) => [name, entry(value, kept)]);
      bands.push({
        ...{ group, runs: found.length, points: step.length },
        ...{ step: entry(step, kept), present: entry(present, kept) },
        ...Object.fromEntries(columns),
      });
    }
    return body({ tag, bands });
  },
};

/** @type {(run: string) => number} */
function placeOf(run) {
  return index.runs.runs.findIndex(({ name }) => name === run);
}

/**
 * The curves of a tag, with the names of the runs that have it.
 * @type {(runs: string[], tag: string) => Promise<[run: string, curve: SavedCurve][]>}
 */
async function everyCurve(runs, tag) {
  const all = await Promise.all(runs.map(async (run) => [run, (await curvesOf(run)).get(tag)]));
  return /** @type {[string, SavedCurve][]} */ (all.filter(([, curve]) => curve));
}

/** @type {(run: string) => Promise<Map<string, SavedCurve>>} */
function curvesOf(run) {
  const known = opening.get(run) ?? unpackedCurves(placeOf(run));
  opening.set(run, known);
  return known;
}

/** @type {(place: number) => Promise<Map<string, SavedCurve>>} */
async function unpackedCurves(place) {
  const block = document.getElementById(`points-${place}`);
  if (!block) return new Map(); // it could not be read
  /** @type {{ header: SavedHeader, read: ReturnType<typeof opened>["read"] }} */
  const { header, read } = opened(await inflated(block.textContent));
  return new Map(
    header.curves.map(({ tag, points, step: [step, ...steps], milliseconds: [time, ...times], value }) => {
      const seconds = Float64Array.from(rising(time, read(times)), (count) => count * MILLISECOND);
      return [tag, { points, step: rising(step, read(steps)), seconds, value: read(value) }];
    }),
  );
}

/** Columns of one answer, as the server packs them: `entry` picks some points of one, `body` is the whole. */
function arranged() {
  /** @type {Float64Array<ArrayBuffer>[]} */
  const columns = [];
  let size = 0;
  return {
    /** @type {(column: Column, kept: ArrayLike<number>) => [string, number, number]} */
    entry: (column, kept) => {
      const picked = Float64Array.from(kept, (at) => column[at]);
      columns.push(picked);
      size += picked.byteLength;
      return ["f8", size - picked.byteLength, picked.length];
    },
    /** @type {(header: object) => Blob} */
    body: (header) => {
      const text = new TextEncoder().encode(JSON.stringify(header));
      const spaces = new Uint8Array((12 - (text.length % 8)) % 8).fill(32);
      return new Blob([Uint32Array.of(text.length + spaces.length), text, spaces, ...columns]);
    },
  };
}

Object.assign(source, { saved: true, places: index.places });
source.answer = async (name, values) => {
  const answer = ANSWERS[name];
  if (!answer)
    throw new Error("This file has the findings and the curves. gradledger view, on the runs, shows the rest.");
  const found = await answer(values);
  const isBinary = found instanceof Blob || found instanceof ArrayBuffer;
  return new Response(isBinary ? found : JSON.stringify(found));
};
const { points, kept } = index;
const share = kept < points ? `${whole(kept)} of ${whole(points)} points` : `all ${whole(points)} points`;
const rest = kept < points ? ": of longer curves, the least and the largest value of each stretch" : "";
byId("kept").replaceChildren(el("span", {}, `This file has ${share} of ${counted(index.tags.length, "tag")}${rest}.`));
begin();
