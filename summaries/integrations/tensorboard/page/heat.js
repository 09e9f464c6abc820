// A heat map on a canvas: variables from top to bottom, steps from left to right, findings as frames.

import { drawing, el } from "../../../auditing/report/page/elements.js";
import { distinct, shortened } from "../../../auditing/report/page/names.js";
import { ticks } from "../../../auditing/report/page/numbers.js";
import { picture } from "../../../auditing/report/page/shades.js";
import { color, whenLooksChange } from "../../../auditing/report/page/theme.js";
import { roundTicks } from "../../../auditing/report/page/ticks.js";
import { clipTo, emptied, placeIn, scaleOf, stroke, writeLike } from "./canvas.js";
import { Pictures } from "./cells.js";
import { nameOf, stepsInWords } from "./variables.js";

/** @import { Range } from "../../../auditing/report/page/types.js" */
/** @import { View } from "../../../auditing/report/page/view.js" */
/** @import { Arrangement, Box, HeatOptions, Hit, PlacedFinding } from "./answers.js" */

const AXIS = 24; // CSS pixels below the cells, for steps
const FLAGS = 16; // above them, for the codes of findings
const RIGHT = 12;
const LABEL = 13; // height of a label
const LETTER = 6.1; // width of a letter, on average
const FONT_SIZE = 11.5;
const TALLEST = 26; // of rows
const HEIGHT = 560; // of all rows together, at most
const NAMES = 190;
const DRAG = 4; // a pointer that moves less has clicked

/** A heat map in `holder`, which zooms with `view` as the charts of a run do. */
export class Heat {
  /**
   * @param {View} view
   * @param {HTMLElement} holder
   * @param {HeatOptions} options
   */
  constructor(view, holder, options) {
    this.view = view;
    this.holder = holder;
    this.options = options;
    this.canvas = el("canvas", { class: "cells", tabindex: "0", role: "img" });
    this.ctx = drawing(this.canvas);
    this.selection = el("div", { class: "selection", hidden: true });
    holder.replaceChildren(this.canvas, this.selection);
    holder.classList.add("heatmap");
    /** @type {Hit | null} */
    this.hover = null;
    this.frame = 0;
    const { cells, share, ramp, order, groups } = options;
    this.labels = distinct(cells.rows.map(nameOf));
    this.order = order;
    this.groups = groups;
    this.rowHeight = 0;
    this.namesGroups = false; // rows are too low for names: then their groups have some
    this.widest = 0; // of the names, in CSS pixels
    /** @type {Map<string, number>} */
    this.lines = new Map(); // from tags to rows, counted from the top
    this.measure();
    this.pictures = new Pictures(
      cells,
      (part) => picture(part, this.order, share, ramp()),
      () => this.redraw(),
    );
    view.charts.add(this);
    this.forget = whenLooksChange(
      holder,
      () => this.redraw(),
      () => this.repaint(),
    );
    this.listen();
    this.redraw();
  }

  /**
   * Rows from top to bottom, in groups or not.
   * @param {Arrangement} arrangement
   */
  arrange({ order, groups }) {
    this.order = order;
    this.groups = groups;
    this.measure();
    this.repaint();
  }

  measure() {
    const { order, groups } = this;
    this.rowHeight = Math.min(Math.max((this.options.height ?? HEIGHT) / Math.max(order.length, 1), 2), TALLEST);
    this.namesGroups = groups !== null && this.rowHeight < LABEL;
    const shown = groups && this.namesGroups ? groups.map(({ name }) => name) : this.labels;
    writeLike(this.ctx, FONT_SIZE, "right", "middle");
    this.widest = Math.max(...shown.map((name) => this.ctx.measureText(name).width)) + 18;
    this.lines = new Map(order.map((row, line) => [this.options.cells.rows[row].tag, line]));
    this.canvas.setAttribute("aria-label", `Heat map of ${order.length} variables over steps`);
  }

  repaint() {
    this.pictures.repaint();
    this.redraw();
  }

  // What a view asks of its charts.
  setScale() {
    this.redraw();
  }

  redraw() {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.forget();
    this.pictures.close();
    this.view.charts.delete(this);
  }

  /** @returns {Box} */
  box() {
    const width = Math.floor(this.holder.clientWidth);
    const widest = Math.min(this.options.names ?? NAMES, Math.floor(width * 0.34));
    const left = Math.min(Math.max(Math.ceil(this.widest), 56), widest);
    const height = Math.round(this.rowHeight * this.order.length);
    return { left, top: FLAGS, width: Math.max(width - left - RIGHT, 10), height };
  }

  draw() {
    const box = this.box();
    emptied(this.canvas, box.left + box.width + RIGHT, box.top + box.height + AXIS);
    this.drawCells(box);
    this.drawAxis(box);
    if (this.groups) this.drawGroups(box);
    this.order.forEach((row, line) => {
      this.drawName(box, row, line);
    });
    this.drawFindings(box);
    this.drawPointer(box);
  }

  /** @param {Box} box */
  drawCells(box) {
    const { ctx } = this;
    const { x } = scaleOf(this.view.range, box);
    clipTo(ctx, box);
    ctx.fillStyle = color("grid");
    ctx.globalAlpha = 0.45;
    ctx.fillRect(box.left, box.top, box.width, box.height);
    ctx.globalAlpha = 1;
    ctx.imageSmoothingEnabled = false;
    const columns = Math.round(box.width * Math.min(devicePixelRatio || 1, 2));
    this.pictures.show(this.view.range, columns).forEach(({ part, picture: cells }, at) => {
      const [left, right] = [x(part.from), x(part.to)];
      if (at > 0) ctx.clearRect(left, box.top, right - left, box.height); // the coarse one below it
      ctx.drawImage(cells, left, box.top, right - left, box.height);
    });
    ctx.restore();
  }

  /** @param {Box} box */
  drawAxis(box) {
    const { ctx } = this;
    const { x } = scaleOf(this.view.range, box);
    const bottom = box.top + box.height;
    writeLike(ctx, FONT_SIZE, "center", "top");
    ctx.fillStyle = color("soft");
    const steps = roundTicks(...this.view.range, Math.max(box.width / 80, 2), 1);
    const texts = ticks(steps);
    steps.forEach((step, k) => {
      const text = texts[k];
      const most = box.left + box.width + RIGHT - ctx.measureText(text).width / 2;
      ctx.fillRect(Math.round(x(step)), bottom, 1, 4);
      ctx.fillText(text, Math.min(x(step), most), bottom + 7);
    });
  }

  /**
   * A line beside each group and one where it begins; their names, as many as there is room for.
   * @param {Box} box
   */
  drawGroups(box) {
    const { ctx } = this;
    let free = -Infinity;
    writeLike(ctx, FONT_SIZE, "right", "middle");
    for (const { name, first, count } of this.groups ?? []) {
      const [top, bottom] = [box.top + first * this.rowHeight, box.top + (first + count) * this.rowHeight];
      ctx.strokeStyle = color("line");
      ctx.lineWidth = 1;
      stroke(ctx, [box.left - 4.5, top + 1.5], [box.left - 4.5, bottom - 1.5]);
      if (first > 0) {
        ctx.fillStyle = color("panel");
        ctx.fillRect(box.left, Math.round(top) - 0.5, box.width, 1);
      }
      const middle = (top + bottom) / 2;
      if (!this.namesGroups || middle - LABEL / 2 < free) continue;
      free = middle + LABEL / 2;
      ctx.fillStyle = color("soft");
      ctx.fillText(this.fitting(name, box), box.left - 10, middle);
    }
  }

  /**
   * The name of a row, if there is room for it or the pointer is on it; and the color of its line.
   * @param {Box} box
   * @param {number} row
   * @param {number} line
   */
  drawName(box, row, line) {
    const { ctx } = this;
    const middle = box.top + (line + 0.5) * this.rowHeight;
    const colorName = this.options.chosen?.(row);
    if (colorName) {
      const height = Math.max(this.rowHeight, 3);
      ctx.fillStyle = color(colorName);
      ctx.fillRect(box.left - 4, Math.round(middle - height / 2), 4, Math.round(height));
    }
    const isPointed = this.hover?.line === line;
    const hasRoom = !this.namesGroups && line % Math.ceil(LABEL / this.rowHeight) === 0;
    if (!isPointed && !hasRoom) return;
    if (isPointed) {
      ctx.fillStyle = color("panel");
      ctx.fillRect(0, middle - 9, box.left - 5, 18);
    }
    writeLike(ctx, FONT_SIZE, "right", "middle", isPointed ? 600 : 400);
    ctx.fillStyle = color(isPointed ? "ink" : "soft");
    ctx.fillText(this.fitting(this.labels[row], box), box.left - 10, middle);
  }

  /**
   * @param {string} name
   * @param {Box} box
   */
  fitting(name, { left }) {
    return shortened(name, Math.max(Math.floor((left - 14) / LETTER), 4), 1 / 3);
  }

  /**
   * Frames around what findings are about, and their codes above, as many as there is room for.
   * @param {Box} box
   */
  drawFindings(box) {
    const { ctx } = this;
    const { x } = scaleOf(this.view.range, box);
    const end = box.left + box.width;
    let free = -Infinity;
    clipTo(ctx, { left: box.left - 2, top: 0, width: box.width + 4, height: box.top + box.height + 2 });
    for (const finding of this.options.findings) {
      let [left, right] = finding.steps.map(x);
      if (right < box.left || left > end) continue;
      if (right - left < 4) [left, right] = [(left + right) / 2 - 2, (left + right) / 2 + 2];
      const isActive = finding === this.view.active;
      this.drawFrames(finding, isActive, left, right, box.top);
      const start = Math.max(left, box.left);
      ctx.fillStyle = color(finding.severity);
      ctx.globalAlpha = isActive ? 1 : 0.75;
      ctx.fillRect(start, box.top - 3, Math.max(Math.min(right, end) - start, 2), 3);
      ctx.globalAlpha = 1;
      writeLike(ctx, 10.5, "left", "alphabetic", 600);
      const size = ctx.measureText(finding.code).width;
      const at = Math.min(start, end - size);
      if (at <= free + 6) continue;
      free = at + size;
      ctx.fillText(finding.code, at, box.top - 5);
    }
    ctx.restore();
  }

  /**
   * @param {PlacedFinding} finding
   * @param {boolean} isActive
   * @param {number} left
   * @param {number} right
   * @param {number} top
   */
  drawFrames({ tag, others, severity }, isActive, left, right, top) {
    const { ctx } = this;
    const width = isActive ? 3 : 1.5;
    /** @type {[string, number][]} */
    const edges = [
      ["panel", width + 2], // a rim, to be visible on every color
      [severity, width],
    ];
    for (const line of [tag, ...others].flatMap((one) => this.lines.get(one) ?? [])) {
      for (const [edge, lineWidth] of severity === "info" ? edges.slice(1) : edges) {
        ctx.strokeStyle = color(edge);
        ctx.lineWidth = lineWidth;
        ctx.strokeRect(left, top + line * this.rowHeight, right - left, Math.max(this.rowHeight, 3));
      }
    }
  }

  /** @param {Box} box */
  drawPointer(box) {
    if (!this.hover) return;
    const { ctx } = this;
    const top = box.top + this.hover.line * this.rowHeight;
    ctx.save();
    ctx.strokeStyle = color("ink");
    ctx.globalAlpha = 0.85;
    ctx.lineWidth = 1;
    ctx.strokeRect(box.left + 0.5, top + 0.5, box.width - 1, Math.max(this.rowHeight - 1, 2));
    ctx.restore();
  }

  /**
   * What is at a place in CSS pixels of the canvas; null outside of the rows.
   * @param {[x: number, y: number]} place
   * @returns {Hit | null}
   */
  at([x, y]) {
    const box = this.box();
    const line = Math.floor((y - box.top) / this.rowHeight);
    if (x < 0 || x > box.left + box.width || line < 0 || line >= this.order.length) return null;
    return { line, row: this.order[line], step: x < box.left ? null : scaleOf(this.view.range, box).step(x) };
  }

  /** Values under the pointer, zooming by dragging, and keys. */
  listen() {
    const { canvas, view } = this;
    const { pick } = this.options;
    /** @type {{ x: number, row: number, step: number } | null} */
    let start = null;
    canvas.addEventListener("pointerdown", (event) => {
      const place = placeIn(event, canvas);
      const hit = this.at(place);
      if (event.button !== 0 || !hit || hit.step === null) return;
      start = { x: place[0], row: hit.row, step: hit.step };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const place = placeIn(event, canvas);
      if (start) this.select(start.x, place[0]);
      else this.point(this.at(place));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!start) return;
      const [x] = placeIn(event, canvas);
      const { x: from, row } = start;
      start = null;
      this.selection.hidden = true;
      if (Math.abs(x - from) < DRAG) return pick(row);
      const box = this.box();
      const [left, right] = this.between(from, x, box).map(scaleOf(view.range, box).step);
      view.zoom([left, right]);
    });
    canvas.addEventListener("pointercancel", () => {
      start = null;
      this.selection.hidden = true;
    });
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("click", (event) => {
      const hit = this.at(placeIn(event, canvas));
      if (hit && hit.step === null) pick(hit.row); // on its name
    });
    canvas.addEventListener("dblclick", () => view.zoom(null));
    view.listen(canvas);
  }

  /**
   * Two places from left to right, inside the cells.
   * @param {number} start
   * @param {number} end
   * @param {Box} box
   * @returns {Range}
   */
  between(start, end, { left, width }) {
    /** @param {number} x */
    const inside = (x) => Math.min(Math.max(x, left), left + width);
    return [inside(Math.min(start, end)), inside(Math.max(start, end))];
  }

  /**
   * Show what is being selected by dragging.
   * @param {number} start
   * @param {number} end
   */
  select(start, end) {
    const box = this.box();
    const [left, right] = this.between(start, end, box);
    this.selection.hidden = right - left < DRAG;
    const pixels = { left, width: right - left, top: box.top, height: box.height };
    for (const [name, value] of Object.entries(pixels)) this.selection.style.setProperty(name, `${value}px`);
  }

  /** @param {Hit | null} hit */
  point(hit) {
    this.hover = hit;
    this.options.say(hit && this.pointed(hit));
    this.redraw();
  }

  /** @param {Hit} hit */
  pointed({ row, step }) {
    const name = this.options.cells.rows[row].tag;
    const cell = step === null ? null : this.pictures.value(row, step);
    return cell === null ? { name, row } : { name, row, steps: stepsInWords(cell.steps), value: cell.value };
  }
}
