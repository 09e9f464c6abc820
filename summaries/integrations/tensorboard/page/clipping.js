// Bounds for clipping: a run's gradient norms over steps and their distribution, with the bound as a line to drag.

import { el } from "./audit/elements.js";
import { number, tick, whole } from "./audit/numbers.js";
import { color, theme } from "./audit/theme.js";
import { logSplits } from "./audit/chart.js";
import { arrays, asked } from "./server.js";
import { ticks } from "./heat.js";
import { title } from "./tabs.js";

const HEIGHT = 430;
const TOP = 12;
const BELOW = 26;
const LEFT = 66;
const BINS = 90;
const GRIP = 9;
const FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif";

/** The page: {element, update, close}. */
export async function clippingPage(ledger, row, chosen, go) {
  const holder = el("div", { class: "clipping" });
  const element = el("section", { class: "run single" }, title(ledger, row, "clipping"), holder);
  const state = { tag: chosen.tag || null, bound: Number(chosen.bound) || null };
  let plot = null;
  let ticket = 0;
  const load = async () => {
    const wanted = ++ticket;
    const answer = await asked("norms", { run: row.name, tag: state.tag });
    const curve = answer.tag === null ? null : await arrays("curve", { run: row.name, tag: answer.tag, stretches: 1200 });
    if (wanted !== ticket) return;
    plot?.close();
    plot = null;
    if (curve === null) {
      holder.replaceChildren(el("p", { class: "note" }, "This run has no gradient norms. ", el("code", {}, "gradients/global_norm"),
        " is what our optimizers log; tags such as ", el("code", {}, "train/grad_norm"), " are understood as well."));
      return;
    }
    const choose = (tag) => { Object.assign(state, { tag, bound: null }); go({ tag, bound: null }); load(); };
    plot = new Bound(answer, { step: curve.read(curve.header.step), value: curve.read(curve.header.value) }, state, go, choose);
    holder.replaceChildren(plot.element);
    plot.draw();
  };
  await load();
  return { element, close: () => { ticket++; plot?.close(); }, bound: () => plot.bound,
    update: (changed) => { if (changed.has(row.name)) load().catch(() => {}); } };
}

/** The share of the norms above a bound. */
export function shareAbove(sorted, bound) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= bound) low = middle + 1;
    else high = middle;
  }
  return 1 - low / sorted.length;
}

class Bound {
  constructor(answer, curve, state, go, choose) {
    Object.assign(this, { answer, curve, state, go });
    this.positive = answer.sorted.filter((value) => value > 0);
    const [least, most] = [this.positive[0], this.positive.at(-1)];
    const room = Math.max(Math.log10(most / least) * 0.06, 0.08);
    const bounds = [answer.suggested, answer.bound].map(Number).filter((value) => value > 0 && Number.isFinite(value));
    this.low = Math.log10(Math.min(least, ...bounds)) - room;
    this.high = Math.log10(Math.max(most, ...bounds)) + room;
    this.bound = state.bound ?? Number(answer.suggested.toPrecision(3));
    this.canvas = el("canvas", { class: "norms" });
    this.handle = el("div", { class: "bound", role: "slider", tabindex: "0", "aria-label": "Bound, clip_norm",
      "aria-valuemin": least, "aria-valuemax": most }, el("span", { class: "grip" }));
    this.plot = el("div", { class: "bounded" }, this.canvas, this.handle);
    this.said = el("p", { class: "said", "aria-live": "polite" });
    this.code = el("code", {});
    this.element = this.page(choose);
    this.resize = new ResizeObserver(() => this.draw());
    this.resize.observe(this.plot);
    this.recolor = () => this.draw();
    theme.listeners.add(this.recolor);
    this.listen();
  }

  page(choose) {
    const { answer } = this;
    const set = (value) => () => this.move(value);
    const presets = [["Suggested", answer.suggested], ...(answer.bound === null ? [] : [["As in this run", Number(answer.bound)]]),
      ...[0.5, 1, 5].map((value) => [String(value), value])];
    return el("div", {},
      el("div", { class: "tools" },
        answer.tags.length > 1 ? el("select", { "aria-label": "Norm", onchange: (event) => choose(event.target.value) },
          answer.tags.map((tag) => el("option", { value: tag, selected: tag === answer.tag }, tag))) : null,
        el("div", { class: "choice", role: "group", "aria-label": "Bounds" }, presets.filter(([, value]) => value > 0 && Number.isFinite(value))
          .map(([text, value]) => el("button", { type: "button", onclick: set(value) }, text))),
        el("p", { class: "hint" }, "Drag the line")),
      el("figure", {},
        el("figcaption", {}, el("h3", {}, answer.tag), this.code),
        this.said,
        this.plot,
        el("p", { class: "readout" }, `${whole(answer.steps)} steps${answer.nonfinite > 0 ? `, ${whole(answer.nonfinite)} of them not finite and left out` : ""}.`
          + " With another bound, the run would have continued differently.",
        answer.capped ? el("strong", {}, " Many norms equal the largest: were they recorded after clipping?") : null)));
  }

  close() {
    this.resize.disconnect();
    theme.listeners.delete(this.recolor);
  }

  box() {
    const width = Math.floor(this.plot.clientWidth);
    const side = Math.max(Math.min(Math.floor(width * 0.24), 260), 90);
    return { left: LEFT, top: TOP, width: Math.max(width - LEFT - side - 18, 40), height: HEIGHT - TOP - BELOW, side, right: width - side };
  }

  y(value) { return TOP + (HEIGHT - TOP - BELOW) * (1 - (Math.log10(value) - this.low) / (this.high - this.low)); }

  value(y) { return 10 ** (this.low + (1 - (y - TOP) / (HEIGHT - TOP - BELOW)) * (this.high - this.low)); }

  /** Put the bound somewhere, and say what it would have done. */
  move(value) {
    this.bound = Math.min(Math.max(Number(value.toPrecision(3)), 10 ** this.low), 10 ** this.high);
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.go({ bound: this.bound }), 200);
    this.draw();
  }

  draw() {
    const box = this.box();
    const ratio = devicePixelRatio || 1;
    const width = box.right + box.side;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = HEIGHT * ratio;
    this.canvas.style.height = `${HEIGHT}px`;
    const ctx = this.canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawAxes(ctx, box);
    this.drawCurve(ctx, box);
    this.drawBins(ctx, box);
    const share = shareAbove(this.answer.sorted, this.bound);
    const steps = Math.round(share * (this.answer.steps - this.answer.nonfinite));
    this.handle.style.top = `${this.y(this.bound)}px`;
    this.handle.style.left = `${LEFT}px`;
    this.handle.setAttribute("aria-valuenow", this.bound);
    this.handle.setAttribute("aria-valuetext", `${number(this.bound)}, clips ${percent(share)}`);
    this.said.replaceChildren(el("b", {}, number(this.bound)), " would have clipped ", el("b", {}, percent(share)), ` of the steps: ${whole(steps)} of ${whole(this.answer.steps - this.answer.nonfinite)}`);
    this.code.textContent = `clip_norm=${this.bound}`;
  }

  drawAxes(ctx, box) {
    ctx.font = `11.5px ${FONT}`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    for (const value of logSplits(10 ** this.low, 10 ** this.high)) {
      const y = Math.round(this.y(value)) + 0.5;
      ctx.strokeStyle = color("grid");
      ctx.beginPath();
      ctx.moveTo(box.left, y);
      ctx.lineTo(box.right + box.side, y);
      ctx.stroke();
      ctx.fillStyle = color("soft");
      ctx.fillText(tick(value), box.left - 9, y);
    }
    ctx.textBaseline = "top";
    const { step } = this.curve;
    const [first, last] = [step[0], step.at(-1)];
    ctx.textAlign = "center";
    for (const at of ticks([first, Math.max(last, first + 1)], box.width / 90)) {
      ctx.fillText(tick(at), box.left + ((at - first) / Math.max(last - first, 1)) * box.width, TOP + box.height + 8);
    }
    ctx.textAlign = "left";
    ctx.fillText("share of steps", box.right, TOP + box.height + 8);
  }

  /** The norms over steps: what is above the bound in the color of clipping. */
  drawCurve(ctx, box) {
    const { step, value } = this.curve;
    const [first, last] = [step[0], Math.max(step.at(-1), step[0] + 1)];
    const path = new Path2D();
    let pen = false;
    for (let i = 0; i < step.length; i++) {
      if (!(value[i] > 0) || !Number.isFinite(value[i])) { pen = false; continue; }
      const [x, y] = [box.left + ((step[i] - first) / (last - first)) * box.width, this.y(value[i])];
      if (pen) path.lineTo(x, y);
      else path.moveTo(x, y);
      pen = true;
    }
    const line = this.y(this.bound);
    for (const [name, top, height] of [["line-0", line, HEIGHT], ["line-1", 0, line]]) {
      ctx.save();
      ctx.beginPath();
      ctx.rect(box.left, top, box.width, height);
      ctx.clip();
      ctx.strokeStyle = color(name);
      ctx.lineWidth = 1.3;
      ctx.stroke(path);
      ctx.restore();
    }
  }

  /** How many norms there are of each size. */
  drawBins(ctx, box) {
    const counts = new Float64Array(BINS);
    const size = (this.high - this.low) / BINS;
    for (const value of this.positive) counts[Math.min(Math.floor((Math.log10(value) - this.low) / size), BINS - 1)]++;
    const most = Math.max(...counts);
    const height = box.height / BINS;
    counts.forEach((count, bin) => {
      if (count === 0) return;
      const top = TOP + box.height - (bin + 1) * height;
      const above = 10 ** (this.low + (bin + 0.5) * size) > this.bound;
      ctx.fillStyle = color(above ? "line-1" : "line-0");
      ctx.globalAlpha = 0.75;
      ctx.fillRect(box.right, top + 0.5, Math.max((count / most) * (box.side - 6), 1), Math.max(height - 1, 1));
    });
    ctx.globalAlpha = 1;
  }

  listen() {
    let dragging = false;
    const y = (event) => event.clientY - this.plot.getBoundingClientRect().top;
    const near = (event) => Math.abs(y(event) - this.y(this.bound)) <= GRIP;
    this.plot.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      dragging = true;
      this.plot.setPointerCapture(event.pointerId);
      this.handle.focus({ preventScroll: true });
      if (!near(event)) this.move(this.value(y(event)));
      event.preventDefault();
    });
    this.plot.addEventListener("pointermove", (event) => {
      if (dragging) this.move(this.value(y(event)));
    });
    const end = () => { dragging = false; };
    this.plot.addEventListener("pointerup", end);
    this.plot.addEventListener("pointercancel", end);
    const factors = { ArrowUp: 1.05, ArrowRight: 1.05, ArrowDown: 1 / 1.05, ArrowLeft: 1 / 1.05, PageUp: 2, PageDown: 0.5 };
    this.handle.addEventListener("keydown", (event) => {
      if (!(event.key in factors)) return;
      this.move(this.bound * factors[event.key]);
      event.preventDefault();
    });
  }
}

/** A share in percent, with a digit where it counts. */
function percent(share) {
  const hundred = 100 * share;
  if (hundred > 0 && hundred < 0.05) return "less than 0.1 %";
  return `${hundred < 10 ? Number(hundred.toFixed(1)) : Math.round(hundred)} %`;
}
