// What a page in a file has beside scalars: some values of each tag, as media_in_a_file.py packs them.

import { inflated, opened } from "../../../auditing/report/page/unpack.js";

/** @import { Column, Entry } from "../../../auditing/report/page/types.js" */
/** @import { SavedMedia, StepsAnswer, ValueAnswer } from "./answers.js" */

/** @typedef {{ media: SavedMedia[], read: (entry: Entry) => Column }} Opened */

const PIECE = 0x8000; // bytes that become text at once

/** @type {Map<number, Promise<Opened>>} */
const opening = new Map();

/** @type {(place: number) => Promise<Opened>} */
function mediaOf(place) {
  const known = opening.get(place) ?? unpackedMedia(place);
  opening.set(place, known);
  return known;
}

/** @type {(place: number) => Promise<Opened>} */
async function unpackedMedia(place) {
  const block = document.getElementById(`media-${place}`);
  if (!block) return { media: [], read: () => new Float64Array() };
  const { header, read } = opened(await inflated(block.textContent));
  return { media: header.media, read };
}

/**
 * The first runs that have a tag, at these places: steps, and how many there were.
 * @type {(runs: [run: string, place: number][], kind: string, tag: string, most: number) => Promise<StepsAnswer>}
 */
export async function stepsOf(runs, kind, tag, most) {
  const found = await Promise.all(
    runs.map(async ([run, place]) => {
      const { media } = await mediaOf(place);
      const one = media.find((shown) => shown.kind === kind && shown.tag === tag);
      return one ? [{ run, steps: one.steps, points: one.points }] : [];
    }),
  );
  return { runs: found.flat().slice(0, most) };
}

/** @type {(place: number, kind: string, tag: string) => Promise<{ found: SavedMedia, read: Opened["read"] }>} */
async function shelved(place, kind, tag) {
  const { media, read } = await mediaOf(place);
  const found = media.find((one) => one.kind === kind && one.tag === tag);
  if (!found) throw new Error("This file does not have it.");
  return { found, read };
}

/**
 * A value, with addresses that have the images and sounds themselves.
 * @type {(place: number, kind: string, tag: string, index: number) => Promise<ValueAnswer>}
 */
export async function mediaValue(place, kind, tag, index) {
  const { found, read } = await shelved(place, kind, tag);
  const { files, ...value } = (found.values ?? [])[index];
  return { ...value, sources: files.map(([type, entry]) => `data:${type};base64,${inBase64(read(entry))}`) };
}

/** @type {(bytes: Column) => string} */
function inBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}

/**
 * The histograms of at most so many steps, evenly chosen: header and columns, as the server answers.
 * @type {(place: number, tag: string, most: number) =>
 *   Promise<{ head: Record<string, unknown>, steps: Column, cells: Column }>}
 */
export async function histogramsOf(place, tag, most) {
  const { found, read } = await shelved(place, "histograms", tag);
  const { steps, points, low, high, bins = 0, cells: entry } = found;
  if (!entry) throw new Error("There was no room for these histograms in this file.");
  const [all, cells] = [steps.length, read(entry)];
  const count = Math.min(all, most);
  const kept = Array.from({ length: count }, (_, at) =>
    count > 1 ? Math.round((at * (all - 1)) / (count - 1)) : all - 1,
  );
  const chosen = Array.from({ length: bins }, (_, bin) => kept.map((at) => cells[bin * all + at])).flat();
  const columns = { steps: Float64Array.from(kept, (at) => steps[at]), cells: Float64Array.from(chosen) };
  return { head: { tag, points, low, high, bins }, ...columns };
}
