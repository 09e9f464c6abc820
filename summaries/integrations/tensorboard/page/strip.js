// A strip below a heat map: the whole run in small, with a window that can be moved and stretched.

import { el } from "../../../auditing/report/page/elements.js";
import { color, whenLooksChange } from "../../../auditing/report/page/theme.js";
import { emptied, placeIn, scaleOf } from "./canvas.js";

/** @import { Range, Share } from "../../../auditing/report/page/types.js" */
/** @import { View } from "../../../auditing/report/page/view.js" */
/** @import { Box, Part } from "./answers.js" */

/**
 * What of a window a pointer drags: an edge, all of it, or a new one from where it began.
 * @typedef {"left" | "right" | "all" | "new"} Held
 */

const HEIGHT = 38;
const GRIP = 7; // CSS pixels on both sides of an edge
const NARROWEST = 1 / 5000; // of the whole run
const SAMPLED = 200; // values, of which the median is taken

/** A strip in `holder` for a view, of the cells of the whole run; `box` says where those of the heat map are. */
export class Strip {
  /**
   * @param {View} view
   * @param {HTMLElement} holder
   * @param {Part} part
   * @param {Share} share
   * @param {() => Box} box
   */
  constructor(view, holder, part, share, box) {
    this.view = view;
    this.holder = holder;
    this.part = part;
    this.box = box;
    this.canvas = el("canvas", { class: "strip" });
    this.window = el("div", { class: "window", role: "slider", "aria-label": "Steps that are shown", tabindex: "0" });
    holder.replaceChildren(this.canvas, this.window);
    holder.classList.add("brush");
    /** @type {number[]} */
    this.line = [];
    this.later = setTimeout(() => {
      this.line = profile(part, share); // the heat map comes first
      this.draw();
    });
    view.charts.add(this);
    this.forget = whenLooksChange(holder, () => this.draw());
    this.listen();
    this.draw();
  }

  // What a view asks of its charts.
  setScale() {
    this.place();
  }

  redraw() {}

  destroy() {
    clearTimeout(this.later);
    this.forget();
    this.view.charts.delete(this);
  }

  scale() {
    return scaleOf(this.view.full, this.box());
  }

  draw() {
    const { left, width } = this.box();
    const { from, to } = this.part;
    const { x } = this.scale();
    const ctx = emptied(this.canvas, left + width, HEIGHT);
    this.canvas.style.width = `${left + width}px`;
    ctx.fillStyle = color("line-0");
    ctx.globalAlpha = 0.55;
    ctx.beginPath();
    ctx.moveTo(x(from), HEIGHT);
    const size = (to - from) / this.line.length;
    this.line.forEach((share, cell) => {
      ctx.lineTo(x(from + (cell + 0.5) * size), HEIGHT - 2 - share * (HEIGHT - 8));
    });
    ctx.lineTo(x(to), HEIGHT);
    ctx.fill();
    ctx.globalAlpha = 1;
    this.place();
  }

  /** Put the window where the view is. */
  place() {
    const { range, full } = this.view;
    const [left, right] = range.map(this.scale().x);
    const width = Math.max(right - left, 3);
    Object.assign(this.window.style, { left: `${left}px`, width: `${width}px`, height: `${HEIGHT}px` });
    const [first, last] = range.map(Math.round);
    this.window.setAttribute("aria-valuetext", `steps ${first} to ${last}`);
    this.window.setAttribute("aria-valuemin", String(full[0]));
    this.window.setAttribute("aria-valuemax", String(full[1]));
    this.window.setAttribute("aria-valuenow", String(Math.round((range[0] + range[1]) / 2)));
  }

  /** Drag the window, one of its edges, or a new one. */
  listen() {
    const { holder, view } = this;
    /** @type {{ step: number, range: Range, held: Held } | null} */
    let drag = null;
    holder.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const [x] = placeIn(event, holder);
      drag = { step: this.scale().step(x), range: [...view.range], held: this.heldAt(x) };
      holder.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    holder.addEventListener("pointermove", (event) => {
      const [x] = placeIn(event, holder);
      if (drag) {
        const next = dragged(drag.range, view.full, drag.held, drag.step, this.scale().step(x));
        if (next) view.zoom(next);
      } else {
        holder.style.cursor = Math.min(...this.edgeDistances(x)) <= GRIP ? "ew-resize" : "";
      }
    });
    const end = () => {
      drag = null;
    };
    holder.addEventListener("pointerup", end);
    holder.addEventListener("pointercancel", end);
    holder.addEventListener("dblclick", () => view.zoom(null));
    view.listen(this.window, 0.1);
  }

  /** @param {number} x */
  edgeDistances(x) {
    return this.view.range.map((step) => Math.abs(this.scale().x(step) - x));
  }

  /**
   * @param {number} x
   * @returns {Held}
   */
  heldAt(x) {
    const [left, right] = this.edgeDistances(x);
    if (Math.min(left, right) <= GRIP) return left < right ? "left" : "right";
    const step = this.scale().step(x);
    const isInside = step > this.view.range[0] && step < this.view.range[1];
    return isInside && this.view.isZoomed ? "all" : "new";
  }
}

/**
 * The window after it was dragged from one step to another, inside the whole run; null if it would be too narrow.
 * @type {(window: Range, full: Range, held: Held, from: number, to: number) => Range | null}
 */
export function dragged([left, right], [low, high], held, from, to) {
  const least = (high - low) * NARROWEST;
  /** @param {number} step */
  const inside = (step) => Math.min(Math.max(step, low), high);
  if (held === "left") return [inside(Math.min(to, right - least)), right];
  if (held === "right") return [left, inside(Math.max(to, left + least))];
  if (held === "all") {
    const moved = Math.min(Math.max(to - from, low - left), high - right);
    return [left + moved, right + moved];
  }
  const [first, last] = [inside(Math.min(from, to)), inside(Math.max(from, to))];
  return last - first >= least ? [first, last] : null;
}

/**
 * How far the rows are from their usual share, at most, in each column: where something happens, something stands out.
 * @type {(part: Pick<Part, "width" | "cells">, share: Share) => number[]}
 */
export function profile({ width, cells }, share) {
  /** @type {number[]} */
  const line = new Array(width).fill(0);
  for (let start = 0; start < cells.length; start += width) {
    const row = cells.subarray(start, start + width);
    const shares = Float64Array.from(row, (value) =>
      Number.isFinite(value) ? Math.min(Math.max(share(value), 0), 1) : NaN,
    );
    const usual = median(shares);
    row.forEach((value, cell) => {
      const away = value === Infinity ? 1 : Math.abs(shares[cell] - usual);
      if (away > line[cell]) line[cell] = away;
    });
  }
  const most = Math.max(...line);
  return line.map((away) => (most > 0 ? away / most : 0));
}

/** The median of some of the numbers. @type {(values: Float64Array) => number} */
function median(values) {
  const every = Math.ceil(values.length / SAMPLED);
  const some = values.filter((value, at) => at % every === 0 && !Number.isNaN(value)).sort();
  return some.length > 0 ? some[some.length >> 1] : 0;
}
