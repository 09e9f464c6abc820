// Where the page starts in a file of its own: `gradledger view --output page.html`. The file answers what it asks.

import { byId, el } from "../../../auditing/report/page/elements.js";
import { counted, whole } from "../../../auditing/report/page/numbers.js";
import { inflated, opened, rising, unpacked } from "../../../auditing/report/page/unpack.js";
import { begin } from "./plugin.js";
import { bandOf, cellsOf, drawn, lastUntil, smoothed } from "./saved_data.js";
import { histogramsOf, mediaValue, stepsOf } from "./saved_media.js";
import { source } from "./server.js";

/** @import { Column } from "../../../auditing/report/page/types.js" */
/** @import { Cell, SavedCurve, SavedHeader, SavedIndex, SavedKind, SavedTable } from "./answers.js" */

const MILLISECOND = 0.001;

/** @type {SavedIndex} */
const index = JSON.parse(byId("saved").textContent);
/** @typedef {{ curves: Map<string, SavedCurve>, kinds: SavedKind[] }} Opened */
/** The curves of a run by their tags, and the statistics of variables. @type {Map<string, Promise<Opened>>} */
const opening = new Map();
const ENDS = ["last", "smallest", "largest"];

/** @type {Record<string, (values: any) => unknown | Promise<unknown>>} */
const ANSWERS = {
  runs: () => index.runs,
  tags: () => ({ tags: index.tags }),
  run: ({ run }) => runOf(run),
  table: async ({ columns }) => {
    const { parameters, main, cells } = await tableOf();
    const asked = /** @type {[kind: string, name: string, step: number][]} */ (JSON.parse(columns));
    const rows = cells.map(async ([run, [stated, ends]]) => {
      const row = asked.map(([kind, name, step]) => {
        if (kind === "parameter") return stated[parameters.findIndex((one) => one.name === name)] ?? null;
        if (kind === "at") return valueAt(run, name, step);
        return ends[index.tags.findIndex(([tag]) => tag === name)]?.[ENDS.indexOf(kind)] ?? null;
      });
      return [run, await Promise.all(row)];
    });
    return { version: index.runs.version, parameters, main, rows: await Promise.all(rows) };
  },
  layers: async ({ run, kind: key, from, to, width }) => {
    const { curves, kinds } = await openedRun(run);
    const kind = kinds.find((one) => one.key === (key ?? kinds[0]?.key));
    const { entry, body } = arranged();
    const { findings } = unpacked(await runOf(run));
    const head = {
      kinds: kinds.map((one) => ({ ...one, rows: one.rows.length })),
      kind: kind?.key ?? null,
      findings: findings.filter(({ steps }) => steps),
    };
    if (!kind) return body(head);
    const { rows } = kind;
    const lines = rows.flatMap(({ tag }) => curves.get(tag) ?? []);
    const steps = [lines.map(({ step }) => step[0]), lines.map(({ step }) => step[step.length - 1])];
    const range = { from: from ?? Math.min(...steps[0]), to: to ?? Math.max(...steps[1]) };
    if (range.to <= range.from) range.to = range.from + 1;
    const cells = new Float64Array(rows.length * width);
    for (const [at, curve] of lines.entries()) cells.set(cellsOf(curve, range.from, range.to, width), at * width);
    const whole = [Math.min(...steps[0]), Math.max(...steps[1])];
    return body({ ...head, rows, steps: whole, ...range, width, cells: entry(cells) });
  },
  curve: async ({ run, tag, from = null, to = null, stretches = 1000 }) => {
    const curve = (await openedRun(run)).curves.get(tag);
    if (!curve) throw new Error("This file does not have this curve.");
    const kept = drawn(curve.step, curve.value, { from, to, stretches });
    const { entry, body } = arranged();
    return body({ tag, points: curve.points, step: entry(curve.step, kept), value: entry(curve.value, kept) });
  },
  shelf: () => ({ kinds: index.shelf, command: "" }),
  steps: ({ kind, tag, runs, most }) =>
    stepsOf(
      JSON.parse(runs).map((/** @type {string} */ run) => [run, placeOf(run)]),
      kind,
      tag,
      most,
    ),
  value: ({ kind, run, tag, index: at }) => mediaValue(placeOf(run), kind, tag, at),
  histograms: async ({ run, tag, stretches }) => {
    const { head, steps, cells } = await histogramsOf(placeOf(run), tag, stretches);
    const { entry, body } = arranged();
    return body({ ...head, steps: entry(steps), cells: entry(cells) });
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

/** @type {(run: string) => Promise<ArrayBuffer>} */
function runOf(run) {
  const block = document.getElementById(`run-${placeOf(run)}`);
  if (!block) throw new Error("This run could not be read when the file was written.");
  return inflated(block.textContent);
}

/** @type {() => Promise<SavedTable>} */
async function tableOf() {
  return JSON.parse(new TextDecoder().decode(await inflated(byId("table").textContent)));
}

/**
 * What a run has at a step; a file that has some of the points cannot tell.
 * @type {(run: string, tag: string, step: number) => Promise<Cell>}
 */
async function valueAt(run, tag, step) {
  const curve = (await openedRun(run)).curves.get(tag);
  if (!curve) return null;
  if (curve.value.length < curve.points)
    throw new Error("This file has some of the points only. gradledger view, on the runs, shows values at steps.");
  return lastUntil(curve, step);
}

/**
 * The curves of a tag, with the names of the runs that have it.
 * @type {(runs: string[], tag: string) => Promise<[run: string, curve: SavedCurve][]>}
 */
async function everyCurve(runs, tag) {
  const all = await Promise.all(runs.map(async (run) => [run, (await openedRun(run)).curves.get(tag)]));
  return /** @type {[string, SavedCurve][]} */ (all.filter(([, curve]) => curve));
}

/** @type {(run: string) => Promise<Opened>} */
function openedRun(run) {
  const known = opening.get(run) ?? unpackedCurves(placeOf(run));
  opening.set(run, known);
  return known;
}

/** @type {(place: number) => Promise<Opened>} */
async function unpackedCurves(place) {
  const block = document.getElementById(`points-${place}`);
  if (!block) return { curves: new Map(), kinds: [] }; // it could not be read
  /** @type {{ header: SavedHeader, read: ReturnType<typeof opened>["read"] }} */
  const { header, read } = opened(await inflated(block.textContent));
  const curves = header.curves.map(({ tag, points, step: [step, ...steps], milliseconds: [time, ...times], value }) => {
    const seconds = Float64Array.from(rising(time, read(times)), (count) => count * MILLISECOND);
    const curve = { points, step: rising(step, read(steps)), seconds, value: read(value) };
    return /** @type {[string, SavedCurve]} */ ([tag, curve]);
  });
  return { curves: new Map(curves), kinds: header.kinds };
}

/** Columns of one answer, as the server packs them: `entry` picks some points of one, `body` is the whole. */
function arranged() {
  /** @type {Float64Array<ArrayBuffer>[]} */
  const columns = [];
  let size = 0;
  return {
    /** @type {(column: Column, kept?: ArrayLike<number>) => [string, number, number]} */
    entry: (column, kept) => {
      const picked = kept ? Float64Array.from(kept, (at) => column[at]) : Float64Array.from(column);
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
  if (!answer) throw new Error("This file does not have that. gradledger view, on the runs, shows it.");
  const found = await answer(values);
  const isBinary = found instanceof Blob || found instanceof ArrayBuffer;
  return new Response(isBinary ? found : JSON.stringify(found));
};
const { points, kept } = index;
const share = kept < points ? `${whole(kept)} of ${whole(points)} points` : `all ${whole(points)} points`;
const replaced = index.superseded > 0 ? `, without ${whole(index.superseded)} that a restart replaced` : "";
const rest = kept < points ? ": of longer curves, the least and the largest value of each stretch" : "";
const [media, all] = index.media;
const beside =
  all > 0 ? ` Of images, sounds, texts, histograms and PR curves, it has ${whole(media)} of ${whole(all)}.` : "";
byId("kept").replaceChildren(
  el("span", {}, `This file has ${share} of ${counted(index.tags.length, "tag")}${replaced}${rest}.${beside}`),
);
if (index.start && !location.hash) history.replaceState(history.state, "", index.start);
begin();
