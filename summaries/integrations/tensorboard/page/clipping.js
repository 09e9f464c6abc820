// Bounds for clipping: a run's gradient norms over steps and their distribution, with the bound as a line to drag.

import { el, select } from "../../../auditing/report/page/elements.js";
import { onlyLatest } from "../../../auditing/report/page/latest.js";
import { number, tick, ticks, whole } from "../../../auditing/report/page/numbers.js";
import { color, whenLooksChange } from "../../../auditing/report/page/theme.js";
import { logTicks, roundTicks } from "../../../auditing/report/page/ticks.js";
import { clipTo, emptied, placeIn, scaleOf, stroke, writeLike } from "./canvas.js";
import { arrays, asked } from "./server.js";
import { title } from "./tabs.js";

/** @import { Column, Entry, Range, RunRow } from "../../../auditing/report/page/types.js" */
/** @import { Box, Chosen, CurveHeader, Go, Norms, Page } from "./answers.js" */
/** @import { Ledger } from "./ledger.js" */

/** @typedef {{ step: Column, value: Column }} Curve */
/** @typedef {Box & { side: number, right: number }} Boxes */

const HEIGHT = 430;
const TOP = 12;
const BELOW = 26;
const LEFT = 66;
const BINS = 90;
const GRIP = 9;
const FONT_SIZE = 11.5;
const STRETCHES = 1200; // of the curve
const REST = 200; // milliseconds until an address says where the bound is
const PRESETS = [0.5, 1, 5];
/** @type {Record<string, number>} */
const FACTORS = {
  ArrowUp: 1.05,
  ArrowRight: 1.05,
  ArrowDown: 1 / 1.05,
  ArrowLeft: 1 / 1.05,
  PageUp: 2,
  PageDown: 0.5,
};

/** @type {(ledger: Ledger, row: RunRow, chosen: Chosen, go: Go) => Promise<Page>} */
export async function clippingPage(ledger, row, chosen, go) {
  const holder = el("div", { class: "clipping" });
  const element = el("section", { class: "run single" }, title(ledger, row, "clipping"), holder);
  const state = { tag: chosen.tag || null, bound: Number(chosen.bound) || null };
  /** @type {Bound | null} */
  let plot = null;
  const begin = onlyLatest();
  const load = async () => {
    const isLatest = begin();
    /** @type {Norms | { tag: null }} */
    const norms = await asked("norms", { run: row.name, tag: state.tag });
    const curve = norms.tag === null ? null : await curveOf(row.name, norms.tag);
    if (!isLatest()) return;
    plot?.close();
    plot = null;
    if (norms.tag === null || curve === null) {
      holder.replaceChildren(nothing());
      return;
    }
    /** @param {string} tag */
    const choose = (tag) => {
      Object.assign(state, { tag, bound: null });
      go({ tag, bound: null });
      load();
    };
    plot = new Bound(norms, curve, state, go, choose);
    holder.replaceChildren(plot.element);
    plot.draw();
  };
  await load();
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (changed.has(row.name)) load().catch(() => {});
  };
  const close = () => {
    begin();
    plot?.close();
  };
  return { element, close, update };
}

/** @type {(run: string, tag: string) => Promise<Curve>} */
async function curveOf(run, tag) {
  /** @type {{ header: CurveHeader, read: (entry: Entry) => Column }} */
  const { header, read } = await arrays("curve", { run, tag, stretches: STRETCHES });
  return { step: read(header.step), value: read(header.value) };
}

function nothing() {
  return el(
    "p",
    { class: "note" },
    "This run has no gradient norms. ",
    el("code", {}, "gradients/global_norm"),
    " is what our optimizers log; tags such as ",
    el("code", {}, "train/grad_norm"),
    " are understood as well.",
  );
}

/** The curve of the norms, their distribution beside it, and the bound as a line over both. */
class Bound {
  /**
   * @param {Norms} norms
   * @param {Curve} curve
   * @param {{ bound: number | null }} state
   * @param {Go} go
   * @param {(tag: string) => void} choose
   */
  constructor(norms, curve, state, go, choose) {
    this.norms = norms;
    this.curve = curve;
    this.state = state;
    this.go = go;
    this.positive = norms.sorted.filter((value) => value > 0);
    const bounds = [norms.suggested, Number(norms.bound)];
    const [low, high] = powersAround(this.positive, bounds.filter(isBound));
    this.low = low;
    this.high = high;
    this.bound = state.bound ?? Number(norms.suggested.toPrecision(3));
    this.waiting = 0;
    this.canvas = el("canvas", { class: "norms" });
    this.handle = el(
      "div",
      {
        class: "bound",
        role: "slider",
        tabindex: "0",
        "aria-label": "Bound, clip_norm",
        "aria-valuemin": this.positive[0],
        "aria-valuemax": this.positive.at(-1),
      },
      el("span", { class: "grip" }),
    );
    this.plot = el("div", { class: "bounded" }, this.canvas, this.handle);
    this.said = el("p", { class: "said", "aria-live": "polite" });
    this.code = el("code", {});
    this.element = el("div", {}, this.tools(choose), this.figure());
    this.forget = whenLooksChange(this.plot, () => this.draw());
    this.listen();
  }

  /** @param {(tag: string) => void} choose */
  tools(choose) {
    const { tags, tag, suggested, bound } = this.norms;
    const names = tags.map((name) => [name, name]);
    /** @type {[string, number][]} */
    const presets = [
      ["Suggested", suggested],
      ["As in this run", Number(bound)],
      ...PRESETS.map((value) => /** @type {[string, number]} */ ([String(value), value])),
    ];
    const buttons = presets
      .filter(([, value]) => isBound(value))
      .map(([text, value]) => el("button", { type: "button", onclick: () => this.move(value) }, text));
    return el(
      "div",
      { class: "tools" },
      tags.length > 1 ? select("Norm", names, tag, choose) : null,
      el("div", { class: "choice", role: "group", "aria-label": "Bounds" }, buttons),
      el("p", { class: "hint" }, "Drag the line"),
    );
  }

  figure() {
    const { tag, steps, nonfinite, capped } = this.norms;
    const leftOut = nonfinite > 0 ? `, ${whole(nonfinite)} of them not finite and left out` : "";
    const note = `${whole(steps)} steps${leftOut}. With another bound, the run would have continued differently.`;
    const late = " Many norms equal the largest: were they recorded after clipping?";
    const readout = el("p", { class: "readout" }, note, capped ? el("strong", {}, late) : null);
    const caption = el("figcaption", {}, el("h3", {}, tag), this.code);
    return el("figure", {}, caption, this.said, this.plot, readout);
  }

  close() {
    clearTimeout(this.waiting);
    this.forget();
  }

  /** @returns {Boxes} */
  box() {
    const width = Math.floor(this.plot.clientWidth);
    const side = Math.max(Math.min(Math.floor(width * 0.24), 260), 90);
    const [curve, height] = [Math.max(width - LEFT - side - 18, 40), HEIGHT - TOP - BELOW];
    return { left: LEFT, top: TOP, width: curve, height, side, right: width - side };
  }

  /** @param {number} value */
  y(value) {
    return TOP + (HEIGHT - TOP - BELOW) * (1 - (Math.log10(value) - this.low) / (this.high - this.low));
  }

  /** @param {number} y */
  valueAt(y) {
    return 10 ** (this.low + (1 - (y - TOP) / (HEIGHT - TOP - BELOW)) * (this.high - this.low));
  }

  /**
   * Put the bound somewhere, and say what it would have done.
   * @param {number} value
   */
  move(value) {
    this.bound = Math.min(Math.max(Number(value.toPrecision(3)), 10 ** this.low), 10 ** this.high);
    this.state.bound = this.bound;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.go({ bound: this.bound }), REST);
    this.draw();
  }

  draw() {
    const box = this.box();
    const ctx = emptied(this.canvas, box.right + box.side, HEIGHT);
    this.drawAxes(ctx, box);
    this.drawCurve(ctx, box);
    this.drawBins(ctx, box);
    const { sorted, steps, nonfinite } = this.norms;
    const share = shareAbove(sorted, this.bound);
    const finite = steps - nonfinite;
    this.handle.style.top = `${this.y(this.bound)}px`;
    this.handle.style.left = `${LEFT}px`;
    this.handle.setAttribute("aria-valuenow", String(this.bound));
    this.handle.setAttribute("aria-valuetext", `${number(this.bound)}, clips ${percent(share)}`);
    const of = ` of the steps: ${whole(Math.round(share * finite))} of ${whole(finite)}`;
    const parts = [el("b", {}, number(this.bound)), " would have clipped ", el("b", {}, percent(share)), of];
    this.said.replaceChildren(...parts);
    this.code.textContent = `clip_norm=${this.bound}`;
  }

  /** @returns {Range} */
  steps() {
    const { step } = this.curve;
    return [step[0], Math.max(step[step.length - 1], step[0] + 1)];
  }

  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {Boxes} box
   */
  drawAxes(ctx, box) {
    const steps = this.steps();
    const { x } = scaleOf(steps, box);
    const bottom = TOP + box.height + 8;
    ctx.strokeStyle = color("grid");
    ctx.fillStyle = color("soft");
    writeLike(ctx, FONT_SIZE, "right", "middle");
    for (const value of logTicks(10 ** this.low, 10 ** this.high)) {
      const y = Math.round(this.y(value)) + 0.5;
      stroke(ctx, [box.left, y], [box.right + box.side, y]);
      ctx.fillText(tick(value), box.left - 9, y);
    }
    writeLike(ctx, FONT_SIZE, "center", "top");
    const places = roundTicks(...steps, Math.max(box.width / 90, 2), 1);
    ticks(places).forEach((text, k) => {
      ctx.fillText(text, x(places[k]), bottom);
    });
    writeLike(ctx, FONT_SIZE, "left", "top");
    ctx.fillText("share of steps", box.right, bottom);
  }

  /**
   * The norms over steps: what is above the bound in the color of clipping.
   * @param {CanvasRenderingContext2D} ctx
   * @param {Boxes} box
   */
  drawCurve(ctx, box) {
    const { x } = scaleOf(this.steps(), box);
    const path = new Path2D();
    let pen = false;
    this.curve.value.forEach((value, i) => {
      const isDrawn = isBound(value);
      if (isDrawn && pen) path.lineTo(x(this.curve.step[i]), this.y(value));
      else if (isDrawn) path.moveTo(x(this.curve.step[i]), this.y(value));
      pen = isDrawn;
    });
    const line = this.y(this.bound);
    this.strokeIn(ctx, path, "line-0", { ...box, top: line, height: HEIGHT });
    this.strokeIn(ctx, path, "line-1", { ...box, top: 0, height: line });
  }

  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {Path2D} path
   * @param {string} name
   * @param {Box} box
   */
  strokeIn(ctx, path, name, box) {
    clipTo(ctx, box);
    ctx.strokeStyle = color(name);
    ctx.lineWidth = 1.3;
    ctx.stroke(path);
    ctx.restore();
  }

  /**
   * How many norms there are of each size.
   * @param {CanvasRenderingContext2D} ctx
   * @param {Boxes} box
   */
  drawBins(ctx, box) {
    const size = (this.high - this.low) / BINS;
    const counts = binned(this.positive.map(Math.log10), this.low, size);
    const most = Math.max(...counts);
    const height = box.height / BINS;
    ctx.globalAlpha = 0.75;
    counts.forEach((count, bin) => {
      if (count === 0) return;
      const top = TOP + box.height - (bin + 1) * height;
      const isAbove = 10 ** (this.low + (bin + 0.5) * size) > this.bound;
      ctx.fillStyle = color(isAbove ? "line-1" : "line-0");
      ctx.fillRect(box.right, top + 0.5, Math.max((count / most) * (box.side - 6), 1), Math.max(height - 1, 1));
    });
    ctx.globalAlpha = 1;
  }

  listen() {
    const { plot } = this;
    let isDragged = false;
    plot.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      isDragged = true;
      plot.setPointerCapture(event.pointerId);
      this.handle.focus({ preventScroll: true });
      const [, y] = placeIn(event, plot);
      if (Math.abs(y - this.y(this.bound)) > GRIP) this.move(this.valueAt(y));
      event.preventDefault();
    });
    plot.addEventListener("pointermove", (event) => {
      if (isDragged) this.move(this.valueAt(placeIn(event, plot)[1]));
    });
    const end = () => {
      isDragged = false;
    };
    plot.addEventListener("pointerup", end);
    plot.addEventListener("pointercancel", end);
    this.handle.addEventListener("keydown", (event) => {
      if (!Object.hasOwn(FACTORS, event.key)) return;
      this.move(this.bound * FACTORS[event.key]);
      event.preventDefault();
    });
  }
}

/** Whether a norm can be a bound, and has a place on a logarithmic axis. @type {(value: number) => boolean} */
function isBound(value) {
  return value > 0 && Number.isFinite(value);
}

/**
 * Powers of ten between which these values lie, with some room on both sides.
 * @type {(sorted: number[], others: number[]) => Range}
 */
export function powersAround(sorted, others) {
  const [least, most] = [sorted[0], sorted[sorted.length - 1]];
  const room = Math.max(Math.log10(most / least) * 0.06, 0.08);
  return [Math.log10(Math.min(least, ...others)) - room, Math.log10(Math.max(most, ...others)) + room];
}

/** The share of the norms above a bound. @type {(sorted: number[], bound: number) => number} */
export function shareAbove(sorted, bound) {
  return sorted.filter((value) => value > bound).length / sorted.length;
}

/**
 * How many values there are in each bin of this size, from the lowest.
 * @type {(values: number[], low: number, size: number) => Float64Array}
 */
function binned(values, low, size) {
  const counts = new Float64Array(BINS);
  for (const value of values) counts[Math.min(Math.floor((value - low) / size), BINS - 1)]++;
  return counts;
}

/** A share in percent, with a digit where it counts. @type {(share: number) => string} */
export function percent(share) {
  const hundred = 100 * share;
  if (hundred > 0 && hundred < 0.05) return "less than 0.1 %";
  return `${hundred < 10 ? Number(hundred.toFixed(1)) : Math.round(hundred)} %`;
}
