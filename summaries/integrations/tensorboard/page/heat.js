// A heat map on a canvas: variables from top to bottom, steps from left to right, findings as frames.

import { el } from "./audit/elements.js";
import { number, tick, whole } from "./audit/numbers.js";
import { color, theme } from "./audit/theme.js";
import { distinct, shortened } from "./audit/heatmap.js";
import { Pictures, drawn } from "./pictures.js";

const AXIS = 24; // CSS pixels below the cells, for steps
const FLAGS = 16; // above them, for the codes of findings on no row
const RIGHT = 12;
const LABEL = 13; // height of a label
const TALLEST = 26;
const FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif";

/**
 * A heat map in `holder`, which zooms with `view` as the charts of a run do.
 *
 * options: cells (Cells, loaded), shade (value → share), ramp, order (rows from top to bottom), groups (see `grouped`),
 * findings, height (of all cells at most), names (pixels for names), say (told what is under the pointer, or null), pick
 * (told the row that was clicked), chosen (row → color name of its line, or undefined), describe (value → text)
 */
export class Heat {
  constructor(view, holder, options) {
    Object.assign(this, { view, holder, ...options });
    this.canvas = el("canvas", { class: "cells", tabindex: "0", role: "img" });
    this.selection = el("div", { class: "selection", hidden: true });
    this.holder.replaceChildren(this.canvas, this.selection);
    this.holder.classList.add("heatmap");
    this.ctx = this.canvas.getContext("2d");
    this.hover = null;
    this.frame = 0;
    this.arrange(this.order, this.groups);
    this.pictures = new Pictures(this.cells, (part) => drawn(part, this.order, this.shade.share, this.ramp), () => this.redraw());
    view.charts.add(this);
    this.resize = new ResizeObserver(() => this.redraw());
    this.resize.observe(holder);
    this.recolor = () => { this.pictures.repaint(); this.redraw(); };
    theme.listeners.add(this.recolor);
    this.listen();
    this.redraw();
  }

  /** Rows from top to bottom, in groups or not. */
  arrange(order, groups) {
    Object.assign(this, { order, groups });
    this.labels = distinct(this.cells.rows.map(({ variable, tag }) => variable || tag));
    this.rowHeight = Math.min(Math.max((this.height ?? 560) / Math.max(order.length, 1), 2), TALLEST);
    this.ctx.font = `11.5px ${FONT}`;
    const shown = groups && this.rowHeight < LABEL ? groups.map(({ name }) => name) : this.labels;
    this.widest = Math.max(...shown.map((name) => this.ctx.measureText(name).width)) + 18;
    this.places = new Map(order.map((row, line) => [this.cells.rows[row].tag, line]));
    this.canvas.setAttribute("aria-label", `Heat map of ${order.length} variables over steps`);
    if (this.pictures) { this.pictures.repaint(); this.redraw(); }
  }

  // What a view asks of its charts.
  setScale() { this.redraw(); }

  redraw() {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.resize.disconnect();
    this.pictures.close();
    this.view.charts.delete(this);
    theme.listeners.delete(this.recolor);
  }

  /** Pixels of the part with cells. */
  box() {
    const width = Math.floor(this.holder.clientWidth);
    const names = Math.min(Math.max(Math.ceil(this.widest), 56), this.names ?? 190, Math.floor(width * 0.34));
    return { left: names, top: FLAGS, width: Math.max(width - names - RIGHT, 10), height: Math.round(this.rowHeight * this.order.length) };
  }

  x(step, box) {
    const [low, high] = this.view.range;
    return box.left + ((step - low) / (high - low)) * box.width;
  }

  step(x, box) {
    const [low, high] = this.view.range;
    return low + ((x - box.left) / box.width) * (high - low);
  }

  draw() {
    const box = this.box();
    const ratio = devicePixelRatio || 1;
    const [width, height] = [box.left + box.width + RIGHT, box.top + box.height + AXIS];
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = `${height}px`;
    }
    this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.ctx.clearRect(0, 0, width, height);
    this.drawCells(box, ratio);
    this.drawAxis(box);
    this.drawNames(box);
    this.drawFindings(box);
    this.drawPointer(box);
  }

  drawCells(box, ratio) {
    const { ctx } = this;
    ctx.save();
    ctx.beginPath();
    ctx.rect(box.left, box.top, box.width, box.height);
    ctx.clip();
    ctx.fillStyle = color("grid");
    ctx.globalAlpha = 0.45;
    ctx.fillRect(box.left, box.top, box.width, box.height);
    ctx.globalAlpha = 1;
    ctx.imageSmoothingEnabled = false;
    for (const { part, picture } of this.pictures.show(this.view.range, Math.round(box.width * Math.min(ratio, 2)))) {
      const [left, right] = [this.x(part.from, box), this.x(part.to, box)];
      if (part !== this.cells.whole) ctx.clearRect(left, box.top, right - left, box.height);
      ctx.drawImage(picture, left, box.top, right - left, box.height);
    }
    ctx.restore();
  }

  drawAxis(box) {
    const { ctx } = this;
    ctx.font = `11.5px ${FONT}`;
    ctx.fillStyle = color("soft");
    ctx.textBaseline = "top";
    ctx.textAlign = "center";
    for (const step of ticks(this.view.range, box.width / 80)) {
      const at = this.x(step, box);
      ctx.fillRect(Math.round(at), box.top + box.height, 1, 4);
      const text = tick(step);
      const half = ctx.measureText(text).width / 2;
      ctx.fillText(text, Math.min(at, box.left + box.width + RIGHT - half), box.top + box.height + 7);
    }
  }

  /** Names of rows, as many as there is room for; of groups, with a line where each begins. */
  drawNames(box) {
    const { ctx } = this;
    ctx.textBaseline = "middle";
    const fits = (text) => {
      const most = Math.floor((box.left - 14) / 6.1);
      return shortened(text, Math.max(most, 4));
    };
    const inGroups = this.groups && this.rowHeight < LABEL; // else every row has its own name
    if (this.groups) {
      let free = -Infinity;
      for (const { name, first, count } of this.groups) {
        const [top, bottom] = [box.top + first * this.rowHeight, box.top + (first + count) * this.rowHeight];
        ctx.strokeStyle = color("line");
        ctx.lineWidth = 1;
        ctx.beginPath();
        ctx.moveTo(box.left - 4.5, top + 1.5);
        ctx.lineTo(box.left - 4.5, bottom - 1.5);
        ctx.stroke();
        if (first > 0) {
          ctx.fillStyle = color("panel");
          ctx.fillRect(box.left, Math.round(top) - 0.5, box.width, 1);
        }
        const middle = (top + bottom) / 2;
        if (!inGroups) continue;
        if (middle - LABEL / 2 < free) continue;
        free = middle + LABEL / 2;
        ctx.font = `11.5px ${FONT}`;
        ctx.fillStyle = color("soft");
        ctx.textAlign = "right";
        ctx.fillText(fits(name), box.left - 10, middle);
      }
    }
    const every = Math.ceil(LABEL / this.rowHeight);
    this.order.forEach((row, line) => {
      const middle = box.top + (line + 0.5) * this.rowHeight;
      const line_color = this.chosen?.(row);
      if (line_color) {
        ctx.fillStyle = color(line_color);
        ctx.fillRect(box.left - 4, Math.round(middle - Math.max(this.rowHeight, 3) / 2), 4, Math.max(Math.round(this.rowHeight), 3));
      }
      const pointed = this.hover?.line === line;
      if (!pointed && (inGroups || line % every !== 0)) return;
      if (pointed) {
        ctx.fillStyle = color("panel");
        ctx.fillRect(0, middle - 9, box.left - 5, 18);
      }
      ctx.font = `${pointed ? "600 " : ""}11.5px ${FONT}`;
      ctx.fillStyle = pointed ? color("ink") : color("soft");
      ctx.textAlign = "right";
      ctx.fillText(fits(this.labels[row]), box.left - 10, middle);
    });
  }

  /** Frames around what findings are about; those on no row get a flag above, with a line down. */
  drawFindings(box) {
    const { ctx } = this;
    let free = -Infinity;
    ctx.save();
    ctx.beginPath();
    ctx.rect(box.left - 2, 0, box.width + 4, box.top + box.height + 2);
    ctx.clip();
    for (const finding of this.findings ?? []) {
      const [low, high] = finding.steps;
      let [left, right] = [this.x(low, box), this.x(high, box)];
      if (right < box.left || left > box.left + box.width) continue;
      if (right - left < 4) [left, right] = [(left + right) / 2 - 2, (left + right) / 2 + 2];
      const lines = [finding.tag, ...finding.others].map((tag) => this.places.get(tag)).filter((line) => line !== undefined);
      const active = finding === this.view.active;
      for (const line of lines) {
        const rim = finding.severity === "info" ? [] : [["panel", 2]]; // to be visible on every color
        for (const [edge, extra] of [...rim, [finding.severity, 0]]) {
          ctx.strokeStyle = color(edge);
          ctx.lineWidth = (active ? 3 : 1.5) + extra;
          ctx.strokeRect(left, box.top + line * this.rowHeight, right - left, Math.max(this.rowHeight, 3));
        }
      }
      const start = Math.max(left, box.left);
      ctx.fillStyle = color(finding.severity);
      ctx.globalAlpha = active ? 1 : 0.75;
      ctx.fillRect(start, box.top - 3, Math.max(Math.min(right, box.left + box.width) - start, 2), 3);
      ctx.globalAlpha = 1;
      ctx.font = `600 10.5px ${FONT}`;
      const size = ctx.measureText(finding.code).width;
      const place = Math.min(start, box.left + box.width - size);
      if (place <= free + 6) continue;
      free = place + size;
      ctx.textAlign = "left";
      ctx.textBaseline = "alphabetic";
      ctx.fillText(finding.code, place, box.top - 5);
    }
    ctx.restore();
  }

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

  /** What is at a place in CSS pixels of the canvas: {line, row, step}; null outside the cells. */
  at(x, y) {
    const box = this.box();
    const line = Math.floor((y - box.top) / this.rowHeight);
    if (x < 0 || x > box.left + box.width || line < 0 || line >= this.order.length) return null;
    return { line, row: this.order[line], step: x < box.left ? null : this.step(x, box), box };
  }

  /** Values under the pointer, zooming by dragging, and keys. */
  listen() {
    let from = null;
    const { canvas } = this;
    const place = (event) => { const { left, top } = canvas.getBoundingClientRect(); return [event.clientX - left, event.clientY - top]; };
    canvas.addEventListener("pointerdown", (event) => {
      const hit = this.at(...place(event));
      if (event.button !== 0 || !hit || hit.step === null) return;
      from = { x: place(event)[0], hit };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      if (from) this.select(from.x, x);
      else this.point(this.at(x, y));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!from) return;
      const { x: start, hit } = from;
      const [x] = place(event);
      from = null;
      this.selection.hidden = true;
      if (Math.abs(x - start) < 4) return this.pick?.(hit.row, hit.step);
      const box = this.box();
      const [low, high] = [start, x].sort((a, b) => a - b).map((one) => this.step(Math.min(Math.max(one, box.left), box.left + box.width), box));
      this.view.zoom([low, high]);
    });
    canvas.addEventListener("pointercancel", () => { from = null; this.selection.hidden = true; });
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("click", (event) => {
      const hit = this.at(...place(event));
      if (hit && hit.step === null) this.pick?.(hit.row, null); // on its name
    });
    canvas.addEventListener("dblclick", () => this.view.zoom(null));
    const keys = { ArrowLeft: [1, -0.2], ArrowRight: [1, 0.2], "+": [0.5, 0], "=": [0.5, 0], "-": [2, 0] };
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "0" || event.key === "Escape") this.view.zoom(null);
      else if (event.key in keys) this.view.move(...keys[event.key]);
      else return;
      event.preventDefault();
    });
  }

  select(start, end) {
    const box = this.box();
    const inside = (x) => Math.min(Math.max(x, box.left), box.left + box.width);
    const [left, right] = [inside(Math.min(start, end)), inside(Math.max(start, end))];
    this.selection.hidden = right - left < 4;
    Object.assign(this.selection.style, { left: `${left}px`, width: `${right - left}px`, top: `${box.top}px`, height: `${box.height}px` });
  }

  point(hit) {
    this.hover = hit;
    if (hit && hit.step !== null) {
      const found = this.pictures.value(hit.row, hit.step);
      const steps = found && stepsOf(found.steps);
      this.say?.({ name: this.cells.rows[hit.row].tag, steps, value: found?.value ?? NaN, row: hit.row });
    } else {
      this.say?.(hit ? { name: this.cells.rows[hit.row].tag, row: hit.row } : null);
    }
    this.redraw();
  }
}

/** The whole steps in a cell, in words. */
function stepsOf([from, to]) {
  const [first, last] = [Math.ceil(from), Math.max(Math.ceil(to) - 1, Math.ceil(from))];
  return first >= last ? `step ${whole(Math.round((from + to) / 2))}` : `steps ${whole(first)} to ${whole(last)}`;
}

/** What is under the pointer, in words. */
export function described(at, describe = (value) => (value === Infinity ? "not finite" : Number.isNaN(value) ? "nothing here" : number(value))) {
  return at.steps ? `${at.name}, ${at.steps}: ${describe(at.value)}` : at.name;
}

/** Round numbers of steps. */
export function ticks([low, high], most) {
  const rough = (high - low) / Math.max(most, 2);
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = Math.max([1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= rough), 1);
  const found = [];
  for (let at = Math.ceil(low / size); at * size <= high; at++) found.push(at * size);
  return found;
}

/** Rows by name, and their groups: {order, groups: [{name, first, count}]}, by the first part of names that differs. */
export function grouped(rows) {
  const names = distinct(rows.map(({ variable, tag }) => variable || tag));
  const order = [...names.keys()].sort((a, b) => names[a].localeCompare(names[b], "en", { numeric: true }) || a - b);
  const deepest = Math.max(...names.map((name) => name.split("/").length));
  const keys = (depth) => order.map((row) => names[row].split("/").slice(0, depth).join("/"));
  let depth = 1;
  while (depth < deepest && new Set(keys(depth)).size < 2) depth++;
  const groups = [];
  keys(depth).forEach((name, line) => {
    if (groups.at(-1)?.name === name) groups.at(-1).count++;
    else groups.push({ name, first: line, count: 1 });
  });
  return { order, groups: groups.length < rows.length ? groups : null };
}
