// Matrices over steps: what was logged as tensors, one step at a time, in colors that stay the same over all steps.

import { el } from "./audit/elements.js";
import { number, whole } from "./audit/numbers.js";
import { color, theme } from "./audit/theme.js";
import { SEQUENTIAL, diverging, drawn } from "./pictures.js";
import { arrays, asked } from "./server.js";
import { title } from "./tabs.js";

const LARGEST = 28; // CSS pixels of a cell
const HEIGHT = 640;
const FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif";
const ROOM = 13; // for a number in a cell, half its height

/** The page: {element, update, close}. */
export async function matricesPage(ledger, row, chosen, go) {
  const holder = el("div", { class: "matrices" });
  const element = el("section", { class: "run single" }, title(ledger, row, "matrices"), holder);
  let page = null;
  const load = async () => {
    const { tags } = await asked("matrices", { run: row.name });
    const before = page?.at();
    page?.close();
    page = null;
    if (tags.length === 0) {
      holder.replaceChildren(el("p", { class: "note" }, "This run has no matrices. ", el("code", {}, "add_tensor"), " logs them."));
      return;
    }
    page = new Matrix(row, tags, before ?? chosen, go);
    holder.replaceChildren(page.element);
    await page.show();
  };
  await load();
  return { element, close: () => page?.close(), update: (changed) => { if (changed.has(row.name)) load().catch(() => {}); } };
}

class Matrix {
  constructor(row, tags, chosen, go) {
    Object.assign(this, { row, tags, go });
    this.tag = tags.find(({ tag }) => tag === chosen.tag) ?? tags[0];
    const wanted = this.tag.steps.indexOf(Number(chosen.step));
    this.index = chosen.step !== undefined && wanted >= 0 ? wanted : this.tag.steps.length - 1;
    this.ticket = 0;
    this.canvas = el("canvas", { role: "img", tabindex: "0" });
    this.readout = el("p", { class: "readout" });
    this.bar = el("span", { class: "shades" });
    this.heading = el("h3");
    this.slider = el("input", { type: "range", min: 0, "aria-label": "Step", oninput: () => this.move(Number(this.slider.value)) });
    this.plot = el("div", { class: "matrix" }, this.canvas);
    this.element = el("div", {},
      el("div", { class: "tools" }, tags.length > 1 ? el("select", { "aria-label": "Matrix", onchange: (event) => this.choose(Number(event.target.value)) },
        tags.map(({ tag }, at) => el("option", { value: at, selected: tag === this.tag.tag }, tag))) : null),
      el("figure", {}, el("figcaption", {}, this.heading, this.bar), el("div", { class: "stepped" }, this.slider), this.plot, this.readout));
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => { this.readout.textContent = this.idle(); });
    this.resize = new ResizeObserver(() => this.draw());
    this.resize.observe(this.plot);
    this.recolor = () => this.draw();
    theme.listeners.add(this.recolor);
  }

  at() { return { tag: this.tag.tag, step: this.index === this.tag.steps.length - 1 ? undefined : this.tag.steps[this.index] }; }

  close() {
    this.ticket++;
    this.resize.disconnect();
    theme.listeners.delete(this.recolor);
  }

  choose(at) {
    this.tag = this.tags[at];
    this.index = this.tag.steps.length - 1;
    this.go({ tag: this.tag.tag, step: null });
    this.show();
  }

  move(index) {
    this.index = index;
    this.go({ tag: this.tag.tag, step: this.tag.steps[index] });
    this.show();
  }

  /** Ask for the chosen step; while the slider moves on, only the last question counts. */
  async show() {
    const wanted = ++this.ticket;
    this.slider.max = this.tag.steps.length - 1;
    this.slider.value = this.index;
    this.slider.disabled = this.tag.steps.length < 2;
    let answer = null;
    try {
      answer = await arrays("matrix", { run: this.row.name, tag: this.tag.tag, index: this.index });
    } catch (error) {
      if (wanted === this.ticket) this.readout.textContent = error.message;
      return;
    }
    if (wanted !== this.ticket) return;
    this.header = answer.header;
    this.values = answer.read(answer.header.values);
    this.readout.textContent = this.idle();
    this.draw();
  }

  idle() {
    const [rows, columns] = this.header.shape;
    const means = this.header.size.join() === this.header.shape.join() ? "" : `; shown are means of blocks, ${this.header.size.join(" × ")}`;
    return `${whole(rows)} × ${whole(columns)}, step ${whole(this.header.step)} of ${whole(this.tag.steps[0])} to ${whole(this.tag.steps.at(-1))}${means}`;
  }

  draw() {
    if (!this.values) return;
    const [rows, columns] = this.header.size;
    let [low, high] = this.header.range.map(Number);
    const signed = low < 0 && high > 0;
    if (signed) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
    const ramp = signed ? diverging() : SEQUENTIAL;
    const share = (value) => (high > low ? (value - low) / (high - low) : 0.5);
    const width = Math.floor(this.plot.clientWidth);
    this.cell = Math.min(width / columns, HEIGHT / rows, LARGEST * (rows * columns <= 400 ? 1.6 : 1));
    const ratio = devicePixelRatio || 1;
    const [wide, tall] = [Math.max(this.cell * columns, 1), Math.max(this.cell * rows, 1)];
    this.canvas.width = Math.round(wide * ratio);
    this.canvas.height = Math.round(tall * ratio);
    Object.assign(this.canvas.style, { width: `${wide}px`, height: `${tall}px` });
    const ctx = this.canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.imageSmoothingEnabled = false;
    const cells = this.values.map((value) => (Number.isFinite(value) ? value : Infinity));
    ctx.drawImage(drawn({ width: columns, cells }, [...Array(rows).keys()], share, ramp), 0, 0, wide, tall);
    if (this.cell >= LARGEST) this.write(ctx, columns, share, signed);
    this.heading.textContent = `${this.tag.tag}, step ${whole(this.header.step)}`;
    this.bar.replaceChildren(...legend(low, high, ramp));
    this.canvas.setAttribute("aria-label", `${rows} by ${columns} matrix of ${this.tag.tag} at step ${this.header.step}`);
  }

  /** The numbers, where there is room for them. */
  write(ctx, columns, share, signed) {
    ctx.font = `11px ${FONT}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    this.values.forEach((value, at) => {
      const text = number(Number(value.toPrecision(3)));
      if (ctx.measureText(text).width > this.cell - 4 || this.cell < ROOM) return;
      const bright = signed ? Math.abs(share(value) - 0.5) < 0.25 : share(value) > 0.6;
      ctx.fillStyle = signed && bright ? color("ink") : bright ? "#111" : "#fff";
      ctx.fillText(text, ((at % columns) + 0.5) * this.cell, (Math.floor(at / columns) + 0.5) * this.cell);
    });
  }

  point(event) {
    if (!this.values) return;
    const { left, top } = this.canvas.getBoundingClientRect();
    const [rows, columns] = this.header.size;
    const [column, row] = [event.clientX - left, event.clientY - top].map((at) => Math.floor(at / this.cell));
    if (column < 0 || row < 0 || column >= columns || row >= rows) return;
    const of = (at, axis) => Math.floor((at * this.header.shape[axis]) / this.header.size[axis]);
    this.readout.textContent = `row ${whole(of(row, 0))}, column ${whole(of(column, 1))}: ${number(this.values[row * columns + column])}`;
  }
}

function legend(low, high, ramp) {
  const bar = el("canvas", { width: ramp.length, height: 1, class: "bar", "aria-hidden": "true" });
  const ctx = bar.getContext("2d");
  ramp.forEach((part, x) => { ctx.fillStyle = `rgb(${part.join(" ")})`; ctx.fillRect(x, 0, 1, 1); });
  return [number(low), bar, number(high)];
}
