// A strip below a heat map: the whole run in small, with a window that can be moved and stretched.

import { el } from "./audit/elements.js";
import { color, theme } from "./audit/theme.js";

const HEIGHT = 38;
const GRIP = 7; // CSS pixels on both sides of an edge

/** A strip in `holder` for a view; `cells` are those of the whole run, `box` says where those of the heat map are. */
export class Strip {
  constructor(view, holder, part, share, box) {
    Object.assign(this, { view, holder, box });
    this.canvas = el("canvas", { class: "strip" });
    this.window = el("div", { class: "window", role: "slider", "aria-label": "Steps that are shown", tabindex: "0" });
    holder.replaceChildren(this.canvas, this.window);
    holder.classList.add("brush");
    this.part = part;
    this.line = [];
    this.later = setTimeout(() => { this.line = profile(part, share); this.draw(); }); // the heat map comes first
    view.charts.add(this);
    this.resize = new ResizeObserver(() => this.draw());
    this.resize.observe(holder);
    this.recolor = () => this.draw();
    theme.listeners.add(this.recolor);
    this.listen();
    this.draw();
  }

  setScale() { this.place(); }

  redraw() {}

  destroy() {
    clearTimeout(this.later);
    this.resize.disconnect();
    theme.listeners.delete(this.recolor);
    this.view.charts.delete(this);
  }

  x(step) {
    const { left, width } = this.box();
    const [low, high] = this.view.full;
    return left + ((step - low) / (high - low)) * width;
  }

  step(x) {
    const { left, width } = this.box();
    const [low, high] = this.view.full;
    return low + ((x - left) / width) * (high - low);
  }

  draw() {
    const { left, width } = this.box();
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round((left + width) * ratio);
    this.canvas.height = HEIGHT * ratio;
    this.canvas.style.width = `${left + width}px`;
    const ctx = this.canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = color("line-0");
    ctx.globalAlpha = 0.55;
    ctx.beginPath();
    ctx.moveTo(this.x(this.part.from), HEIGHT);
    const size = (this.part.to - this.part.from) / this.line.length;
    this.line.forEach((share, cell) => ctx.lineTo(this.x(this.part.from + (cell + 0.5) * size), HEIGHT - 2 - share * (HEIGHT - 8)));
    ctx.lineTo(this.x(this.part.to), HEIGHT);
    ctx.fill();
    this.place();
  }

  place() {
    const [low, high] = this.view.range.map((step) => this.x(step));
    Object.assign(this.window.style, { left: `${low}px`, width: `${Math.max(high - low, 3)}px`, height: `${HEIGHT}px` });
    this.window.setAttribute("aria-valuetext", `steps ${Math.round(this.view.range[0])} to ${Math.round(this.view.range[1])}`);
    this.window.setAttribute("aria-valuemin", this.view.full[0]);
    this.window.setAttribute("aria-valuemax", this.view.full[1]);
    this.window.setAttribute("aria-valuenow", Math.round((this.view.range[0] + this.view.range[1]) / 2));
  }

  /** Drag the window, one of its edges, or a new one. */
  listen() {
    let drag = null;
    const at = (event) => event.clientX - this.holder.getBoundingClientRect().left;
    this.holder.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const x = at(event);
      const range = [...this.view.range];
      const edges = range.map((step) => Math.abs(this.x(step) - x));
      const inside = x > this.x(range[0]) && x < this.x(range[1]) && this.view.range !== this.view.full;
      const edge = edges[0] <= GRIP || edges[1] <= GRIP ? (edges[0] < edges[1] ? 0 : 1) : null;
      drag = { x, range, edge: edge ?? (inside ? null : "new"), from: this.step(x) };
      this.holder.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    this.holder.addEventListener("pointermove", (event) => {
      if (!drag) {
        const close = this.view.range.some((step) => Math.abs(this.x(step) - at(event)) <= GRIP);
        this.holder.style.cursor = close ? "ew-resize" : "";
        return;
      }
      this.zoom(drag, this.step(at(event)), this.step(at(event)) - this.step(drag.x));
    });
    const end = () => { drag = null; };
    this.holder.addEventListener("pointerup", end);
    this.holder.addEventListener("pointercancel", end);
    this.holder.addEventListener("dblclick", () => this.view.zoom(null));
    this.window.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [1, -0.1], ArrowRight: [1, 0.1], "+": [0.5, 0], "-": [2, 0] };
      if (event.key in moves) this.view.move(...moves[event.key]);
      else if (event.key === "Escape" || event.key === "0") this.view.zoom(null);
      else return;
      event.preventDefault();
    });
  }

  zoom({ range, edge, from }, step, moved) {
    const [low, high] = this.view.full;
    const least = (high - low) / 5000;
    let next = edge === null ? [range[0] + moved, range[1] + moved]
      : edge === "new" ? [Math.min(from, step), Math.max(from, step)]
        : edge === 0 ? [Math.min(step, range[1] - least), range[1]] : [range[0], Math.max(step, range[0] + least)];
    const size = next[1] - next[0];
    if (edge === null) next = next[0] < low ? [low, low + size] : next[1] > high ? [high - size, high] : next;
    next = [Math.max(next[0], low), Math.min(next[1], high)];
    if (next[1] - next[0] >= least) this.view.zoom(next);
  }
}

/** How far the rows are from their usual share, at most, in each column: where something happens, something stands out. */
function profile({ width, cells }, share) {
  const line = new Array(width).fill(0);
  for (let start = 0; start < cells.length; start += width) {
    const shares = Float64Array.from(cells.subarray(start, start + width), (value) => (Number.isFinite(value) ? Math.min(Math.max(share(value), 0), 1) : NaN));
    const usual = median(shares);
    for (let cell = 0; cell < width; cell++) {
      const away = cells[start + cell] === Infinity ? 1 : Math.abs(shares[cell] - usual);
      if (away > line[cell]) line[cell] = away;
    }
  }
  const most = Math.max(...line);
  return line.map((away) => (most > 0 ? away / most : 0));
}

/** The median of some of the numbers. */
function median(values) {
  const every = Math.ceil(values.length / 200);
  const some = values.filter((value, at) => at % every === 0 && !Number.isNaN(value)).sort();
  return some.length > 0 ? some[some.length >> 1] : 0;
}
