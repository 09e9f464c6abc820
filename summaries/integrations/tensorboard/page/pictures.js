// Pictures of cells: numbers from the server as pixels, coarse for the whole run and fine for what is shown.

import { viridis } from "./audit/heatmap.js";
import { color } from "./audit/theme.js";
import { arrays } from "./server.js";

const SHADES = 256;
const SAMPLED = 40_000; // cells
const OVERVIEW = 1600; // columns of the picture of the whole run
const SIDES = [[44, 103, 176], [208, 96, 24]];
const FINER = 1.3; // a picture this many times coarser than the screen is asked for again

/** The colors of shares from 0 to 1, as [r, g, b] each. */
export const SEQUENTIAL = Array.from({ length: SHADES }, (_, at) => viridis(at / (SHADES - 1)));

/** From blue over the color of the page to orange: for differences, in which orange is the larger second one. */
export function diverging() {
  const paper = color("heat-zero").split(" ").map(Number);
  return Array.from({ length: SHADES + 1 }, (_, at) => {
    const share = Math.abs((2 * at) / SHADES - 1);
    const side = SIDES[2 * at < SHADES ? 0 : 1];
    return side.map((part, i) => Math.round(paper[i] + (part - paper[i]) * share ** 0.8));
  });
}

/** The cells of one statistic of one run, at any range of steps. */
export class Cells {
  constructor(run, kind) {
    this.run = run;
    this.kind = kind;
  }

  /** Ask for everything; what was answered becomes known: kinds, rows, steps, findings, and the whole picture. */
  async load() {
    const { header, read } = await arrays("layers", { run: this.run, kind: this.kind, width: OVERVIEW });
    Object.assign(this, header);
    this.whole = header.kind === null ? null : { from: header.from, to: header.to, width: header.width, cells: read(header.cells) };
    return this;
  }

  /** The cells between two steps, in `width` columns. */
  async between(from, to, width, signal) {
    const { header, read } = await arrays("layers", { run: this.run, kind: this.kind, from, to, width }, signal);
    return { from: header.from, to: header.to, width: header.width, cells: read(header.cells), rows: header.rows };
  }
}

/** Some of many cells, with the least and the largest of all: enough to choose colors by. */
export function sample({ cells }, log) {
  const every = Math.ceil(cells.length / SAMPLED);
  if (every === 1) return cells;
  const some = cells.filter((value, at) => at % every === 0);
  let [least, most] = [Infinity, -Infinity];
  for (const value of cells) {
    if (value > most && value !== Infinity) most = value;
    if (value < least && (value > 0 || !log)) least = value;
  }
  some.set([least, most].filter(Number.isFinite));
  return some;
}

/** Cells as a canvas: `order` are the rows from top to bottom, `share` maps a value to 0..1, `ramp` has the colors. */
export function drawn({ width, cells }, order, share, ramp) {
  const canvas = new OffscreenCanvas(width, order.length);
  const pixels = new ImageData(width, order.length);
  const odd = color("odd-rgb").split(" ").map(Number);
  const { data } = pixels;
  order.forEach((row, line) => {
    for (let cell = 0, at = 4 * line * width; cell < width; cell++, at += 4) {
      const value = cells[row * width + cell];
      if (Number.isNaN(value)) continue;
      const [r, g, b] = Number.isFinite(value) ? ramp[Math.round(Math.min(Math.max(share(value), 0), 1) * (ramp.length - 1))] : odd;
      data[at] = r;
      data[at + 1] = g;
      data[at + 2] = b;
      data[at + 3] = 255;
    }
  });
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  return canvas;
}

/**
 * The pictures of some cells. `show(range, width)` returns those to draw, one over the other, at once; if they are too
 * coarse, it asks for a finer one and calls `ready` when that is there. Only the latest question counts.
 */
export class Pictures {
  constructor(cells, paint, ready) {
    this.cells = cells;
    this.paint = paint;
    this.ready = ready;
    this.layers = [];
    this.asking = null;
    this.next = null;
    this.repaint();
  }

  repaint() {
    this.layers = [this.cells.whole, ...this.layers.slice(1).map(({ part }) => part)]
      .map((part) => ({ part, picture: this.paint(part) }));
  }

  show([low, high], width) {
    const wanted = (high - low) / width;
    const enough = ({ part }) => part.from <= low && part.to >= high && (part.to - part.from) / part.width <= FINER * wanted;
    const least = this.cells.least ?? 0; // steps in a cell from which on it gets no finer
    if (!this.layers.some(enough) && !(this.layers[0].part.to - this.layers[0].part.from <= least)) this.ask(low, high, width);
    return this.layers;
  }

  /** The value in a row at a step: from the finest picture that has it. */
  value(row, step) {
    for (const { part } of [...this.layers].reverse()) {
      if (step < part.from || step > part.to) continue;
      const cell = Math.min(Math.floor(((step - part.from) / (part.to - part.from)) * part.width), part.width - 1);
      const width = (part.to - part.from) / part.width;
      return { value: part.cells[row * part.width + cell], steps: [part.from + cell * width, part.from + (cell + 1) * width] };
    }
    return null;
  }

  ask(low, high, width) {
    this.next = [low, high, width];
    if (this.asking === null) this.fetch();
  }

  async fetch() {
    const [low, high, width] = this.next;
    this.next = null;
    this.asking = new AbortController();
    try {
      // A little more on both sides, so that moving finds something there.
      const room = (high - low) / 4;
      const [from, to] = [Math.max(low - room, this.cells.steps[0]), Math.min(high + room, this.cells.steps[1])];
      const columns = Math.min(Math.ceil(width * ((to - from) / (high - low))), 4096);
      const part = await this.cells.between(from, to, columns, this.asking.signal);
      this.layers = [this.layers[0], { part, picture: this.paint(part) }];
      this.ready();
    } catch (error) {
      if (error.name !== "AbortError") this.next = null;
    }
    this.asking = null;
    if (this.next) this.fetch();
  }

  close() {
    this.asking?.abort();
    this.next = null;
    this.ready = () => {};
  }
}
