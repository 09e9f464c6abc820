// The cells of heat maps: numbers from the server, coarse for the whole run and fine for what is shown, as pictures.

import { components } from "../../../auditing/report/page/theme.js";
import { arrays } from "./server.js";

/** @import { Color, Column } from "../../../auditing/report/page/types.js" */
/** @import { CellSource, Kind, LayersHeader, Part } from "./answers.js" */

const SHADES = 256;
const SAMPLED = 40_000; // cells
const OVERVIEW = 1600; // columns of the picture of the whole run
const MOST_COLUMNS = 4096;
const SIDES = [
  [44, 103, 176],
  [208, 96, 24],
];
const FINER = 1.3; // a picture this many times coarser than the screen is asked for again

/**
 * From blue over the color of the page to orange: for differences, in which orange is the larger second one.
 * @type {() => Color[]}
 */
export function diverging() {
  const paper = components("heat-zero");
  return Array.from({ length: SHADES + 1 }, (_, at) => {
    const share = Math.abs((2 * at) / SHADES - 1);
    const side = SIDES[2 * at < SHADES ? 0 : 1];
    return side.map((part, i) => Math.round(paper[i] + (part - paper[i]) * share ** 0.8));
  });
}

/**
 * One statistic of the variables of one run, at any range of steps.
 * @typedef {CellSource & Pick<LayersHeader, "kinds" | "findings"> & { run: string, kind: Kind }} Statistic
 */

/**
 * Ask for a statistic by its key, or for the run's first; null if the run has none.
 * @type {(run: string, key: string | null) => Promise<Statistic | null>}
 */
export async function statisticOf(run, key) {
  const ask = async (
    /** @type {Record<string, unknown>} */ values,
    /** @type {AbortSignal | undefined} */ signal = undefined,
  ) => {
    /** @type {{ header: LayersHeader, read: (entry: LayersHeader["cells"]) => Column }} */
    const { header, read } = await arrays("layers", { run, ...values }, signal);
    const { from, to, width, cells } = header;
    return { header, part: () => ({ from, to, width, cells: read(cells) }) };
  };
  const { header, part } = await ask({ kind: key, width: OVERVIEW });
  const { kinds, findings, rows, steps } = header;
  const kind = kinds.find((one) => one.key === header.kind);
  if (kind === undefined) return null;
  return {
    ...{ run, kinds, kind, findings, rows, steps, whole: part() },
    between: async (from, to, width, signal) => (await ask({ kind: kind.key, from, to, width }, signal)).part(),
  };
}

/**
 * Some of many cells, with the least and the largest of all: enough to choose colors by.
 * @type {(cells: Column, log: boolean) => Column}
 */
export function sample(cells, log) {
  const every = Math.ceil(cells.length / SAMPLED);
  if (every <= 1) return cells;
  let [least, most] = [Infinity, -Infinity];
  for (const value of cells) {
    if (value > most && value !== Infinity) most = value;
    if (value < least && (value > 0 || !log)) least = value;
  }
  const some = cells.filter((_, at) => at % every === 0);
  some.set([least, most].filter(Number.isFinite));
  return some;
}

/** @typedef {{ part: Part, picture: OffscreenCanvas }} Layer */

/**
 * The pictures of some cells. `show(range, width)` returns those to draw, one over the other, at once; if they are too
 * coarse, it asks for a finer one and calls `ready` when that is there. Only the latest question counts.
 */
export class Pictures {
  /**
   * @param {CellSource} source
   * @param {(part: Part) => OffscreenCanvas} paint
   * @param {() => void} ready
   */
  constructor(source, paint, ready) {
    this.source = source;
    this.paint = paint;
    this.ready = ready;
    /** @type {Layer[]} */
    this.layers = [this.layer(source.whole)];
    /** @type {AbortController | null} */
    this.asking = null;
    /** @type {[low: number, high: number, width: number] | null} */
    this.next = null;
  }

  /**
   * @param {Part} part
   * @returns {Layer}
   */
  layer(part) {
    return { part, picture: this.paint(part) };
  }

  repaint() {
    this.layers = this.layers.map(({ part }) => this.layer(part));
  }

  /**
   * @param {[low: number, high: number]} range
   * @param {number} width
   */
  show([low, high], width) {
    const wanted = (FINER * (high - low)) / width;
    /** @param {Part} part */
    const isEnough = ({ from, to, width: columns }) => from <= low && to >= high && (to - from) / columns <= wanted;
    if (!this.layers.some(({ part }) => isEnough(part))) {
      this.next = [low, high, width];
      if (this.asking === null) this.fetch();
    }
    return this.layers;
  }

  /**
   * The value in a row at a step, and the steps of its cell: from the finest picture that has it.
   * @param {number} row
   * @param {number} step
   * @returns {{ value: number, steps: [from: number, to: number] } | null}
   */
  value(row, step) {
    const layer = [...this.layers].reverse().find(({ part: { from, to } }) => step >= from && step <= to);
    return layer === undefined ? null : cellAt(layer.part, row, step);
  }

  async fetch() {
    while (this.next) {
      const [low, high, width] = this.next;
      this.next = null;
      this.asking = new AbortController();
      try {
        const part = await this.ask(low, high, width, this.asking.signal);
        this.layers = [this.layers[0], this.layer(part)];
        this.ready();
      } catch (error) {
        // Whoever moves the view asks again.
        if (!(error instanceof DOMException && error.name === "AbortError")) this.next = null;
      }
    }
    this.asking = null;
  }

  /**
   * Cells of these steps, and a few on both sides, so that moving finds something there.
   * @param {number} low
   * @param {number} high
   * @param {number} width
   * @param {AbortSignal} signal
   */
  ask(low, high, width, signal) {
    const room = (high - low) / 4;
    const { steps, between } = this.source;
    const [from, to] = [Math.max(low - room, steps[0]), Math.min(high + room, steps[1])];
    const columns = Math.min(Math.ceil(width * ((to - from) / (high - low))), MOST_COLUMNS);
    return between(from, to, columns, signal);
  }

  close() {
    this.asking?.abort();
    this.next = null;
    this.ready = () => {};
  }
}

/**
 * The cell of a row at a step.
 * @type {(part: Part, row: number, step: number) => { value: number, steps: [from: number, to: number] }}
 */
export function cellAt({ from, to, width, cells }, row, step) {
  const cell = Math.min(Math.floor(((step - from) / (to - from)) * width), width - 1);
  const size = (to - from) / width;
  return { value: cells[row * width + cell], steps: [from + cell * size, from + (cell + 1) * size] };
}
