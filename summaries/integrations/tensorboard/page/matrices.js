// Matrices over steps: what was logged as tensors, one step at a time, in colors that stay the same over all steps.

import { colorBar, el, select } from "../../../auditing/report/page/elements.js";
import { onlyLatest } from "../../../auditing/report/page/latest.js";
import { isolated } from "../../../auditing/report/page/names.js";
import { number, rounded, whole } from "../../../auditing/report/page/numbers.js";
import { picture, SEQUENTIAL } from "../../../auditing/report/page/shades.js";
import { color, whenLooksChange } from "../../../auditing/report/page/theme.js";
import { emptied, placeIn, writeLike } from "./canvas.js";
import { diverging } from "./cells.js";
import { arrays, asked } from "./server.js";
import { title } from "./tabs.js";

/** @import { Column, Entry, RunRow, Share } from "../../../auditing/report/page/types.js" */
/** @import { Chosen, Go, MatrixHeader, MatrixTag, Page } from "./answers.js" */
/** @import { Ledger } from "./ledger.js" */

const LARGEST = 28; // CSS pixels of a cell
const FEW = 400; // cells, which may be larger
const HEIGHT = 640;

/** @type {(ledger: Ledger, row: RunRow, chosen: Chosen, go: Go) => Promise<Page>} */
export async function matricesPage(ledger, row, chosen, go) {
  const holder = el("div", { class: "matrices" });
  const element = el("section", { class: "run single" }, title(ledger, row, "matrices"), holder);
  /** @type {Matrix | null} */
  let page = null;
  const load = async () => {
    /** @type {{ tags: MatrixTag[] }} */
    const { tags } = await asked("matrices", { run: row.name });
    const before = page?.at();
    page?.close();
    page = null;
    if (tags.length === 0) {
      const how = [el("code", {}, "add_tensor"), " logs them."];
      holder.replaceChildren(el("p", { class: "note" }, "This run has no matrices. ", how));
      return;
    }
    page = new Matrix(row.name, tags, before ?? chosen, go);
    holder.replaceChildren(page.element);
    await page.show();
  };
  await load();
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (changed.has(row.name)) load().catch(() => {});
  };
  return { element, close: () => page?.close(), update };
}

class Matrix {
  /**
   * @param {string} run
   * @param {MatrixTag[]} tags
   * @param {Chosen} chosen
   * @param {Go} go
   */
  constructor(run, tags, chosen, go) {
    this.run = run;
    this.tags = tags;
    this.go = go;
    this.tag = tags.find(({ tag }) => tag === chosen.tag) ?? tags[0];
    const wanted = chosen.step === undefined ? -1 : this.tag.steps.indexOf(Number(chosen.step));
    this.index = wanted >= 0 ? wanted : this.tag.steps.length - 1;
    this.begin = onlyLatest();
    /** @type {{ header: MatrixHeader, values: Column } | null} */
    this.matrix = null;
    this.cell = 0; // CSS pixels
    this.canvas = el("canvas", { role: "img", tabindex: "0" });
    this.readout = el("p", { class: "readout" });
    this.bar = el("span", { class: "shades" });
    this.heading = el("h3");
    const oninput = () => this.move(Number(this.slider.value));
    this.slider = el("input", { type: "range", min: 0, "aria-label": "Step", oninput });
    this.plot = el("div", { class: "matrix" }, this.canvas);
    this.element = this.page();
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => {
      this.readout.textContent = this.idle();
    });
    this.forget = whenLooksChange(this.plot, () => this.draw());
  }

  page() {
    const names = this.tags.map(({ tag }) => [tag, tag]);
    /** @param {string} tag */
    const choose = (tag) => this.choose(tag);
    const tools = names.length > 1 ? select("Matrix", names, this.tag.tag, choose) : null;
    const slider = el("div", { class: "stepped" }, this.slider);
    const caption = el("figcaption", {}, this.heading, this.bar);
    const figure = el("figure", {}, caption, slider, this.plot, this.readout);
    return el("div", {}, el("div", { class: "tools" }, tools), figure);
  }

  /**
   * What is shown, as an address says it.
   * @returns {Chosen}
   */
  at() {
    const isLast = this.index === this.tag.steps.length - 1;
    return { tag: this.tag.tag, step: isLast ? undefined : String(this.tag.steps[this.index]) };
  }

  close() {
    this.begin();
    this.forget();
  }

  /** @param {string} wanted */
  choose(wanted) {
    this.tag = this.tags.find(({ tag }) => tag === wanted) ?? this.tag;
    this.index = this.tag.steps.length - 1;
    this.go({ tag: this.tag.tag, step: null });
    this.show();
  }

  /** @param {number} index */
  move(index) {
    this.index = index;
    this.go({ tag: this.tag.tag, step: this.tag.steps[index] });
    this.show();
  }

  /** Ask for the chosen step; while the slider moves on, only the last question counts. */
  async show() {
    const isLatest = this.begin();
    const last = this.tag.steps.length - 1;
    this.slider.max = String(last);
    this.slider.value = String(this.index);
    this.slider.disabled = last < 1;
    try {
      /** @type {{ header: MatrixHeader, read: (entry: Entry) => Column }} */
      const { header, read } = await arrays("matrix", { run: this.run, tag: this.tag.tag, index: this.index });
      if (!isLatest()) return;
      this.matrix = { header, values: read(header.values) };
    } catch (error) {
      if (isLatest()) this.readout.textContent = String(/** @type {Error} */ (error).message);
      return;
    }
    this.readout.textContent = this.idle();
    this.draw();
  }

  idle() {
    if (!this.matrix) return "";
    const { shape, size, step } = this.matrix.header;
    const { steps } = this.tag;
    const blocks = size.join() === shape.join() ? "" : `; shown are means of blocks, ${size.join(" × ")}`;
    const [rows, columns, now, first, last] = [...shape, step, steps[0], steps[steps.length - 1]].map(whole);
    return `${rows} × ${columns}, step ${now} of ${first} to ${last}${blocks}`;
  }

  draw() {
    if (!this.matrix) return;
    const { header, values } = this.matrix;
    const [rows, columns] = header.size;
    const { low, high, isSigned } = levels(header.range.map(Number));
    const ramp = isSigned ? diverging() : SEQUENTIAL;
    /** @param {number} value */
    const share = (value) => (high > low ? (value - low) / (high - low) : 0.5);
    const most = LARGEST * (rows * columns <= FEW ? 1.6 : 1);
    this.cell = Math.min(Math.floor(this.plot.clientWidth) / columns, HEIGHT / rows, most);
    const [width, height] = [Math.max(this.cell * columns, 1), Math.max(this.cell * rows, 1)];
    const ctx = emptied(this.canvas, width, height);
    this.canvas.style.width = `${width}px`;
    ctx.imageSmoothingEnabled = false;
    const cells = values.map((value) => (Number.isFinite(value) ? value : Infinity));
    ctx.drawImage(picture({ width: columns, cells }, [...Array(rows).keys()], share, ramp), 0, 0, width, height);
    if (this.cell >= LARGEST) this.write(ctx, values, columns, share, isSigned);
    this.heading.textContent = `${isolated(this.tag.tag)}, step ${whole(header.step)}`;
    this.bar.replaceChildren(number(low), colorBar(ramp), number(high));
    const label = `${rows} by ${columns} matrix of ${this.tag.tag} at step ${header.step}`;
    this.canvas.setAttribute("aria-label", label);
  }

  /**
   * The numbers, where there is room for them.
   * @param {CanvasRenderingContext2D} ctx
   * @param {Column} values
   * @param {number} columns
   * @param {Share} share
   * @param {boolean} isSigned
   */
  write(ctx, values, columns, share, isSigned) {
    writeLike(ctx, 11, "center", "middle");
    values.forEach((value, at) => {
      const text = rounded(value, 3);
      if (ctx.measureText(text).width > this.cell - 4) return;
      const isBright = isSigned ? Math.abs(share(value) - 0.5) < 0.25 : share(value) > 0.6;
      ctx.fillStyle = isBright ? (isSigned ? color("ink") : "#111") : "#fff";
      ctx.fillText(text, ((at % columns) + 0.5) * this.cell, (Math.floor(at / columns) + 0.5) * this.cell);
    });
  }

  /** @param {MouseEvent} event */
  point(event) {
    if (!this.matrix) return;
    const { header, values } = this.matrix;
    const [rows, columns] = header.size;
    const [column, row] = placeIn(event, this.canvas).map((at) => Math.floor(at / this.cell));
    if (column < 0 || row < 0 || column >= columns || row >= rows) return;
    const firstRow = Math.floor((row * header.shape[0]) / rows);
    const firstColumn = Math.floor((column * header.shape[1]) / columns);
    const value = number(values[row * columns + column]);
    this.readout.textContent = `row ${whole(firstRow)}, column ${whole(firstColumn)}: ${value}`;
  }
}

/**
 * The values that have the first and the last color; on both sides of zero, they are as far from it.
 * @type {(range: number[]) => { low: number, high: number, isSigned: boolean }}
 */
export function levels([low, high]) {
  const isSigned = low < 0 && high > 0;
  const most = Math.max(-low, high);
  return isSigned ? { low: -most, high: most, isSigned } : { low, high, isSigned };
}
