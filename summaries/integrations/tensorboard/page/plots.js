// Runs as lines over parallel axes, and as points over two columns. A brush filters the table by the cells in it.

import { svg } from "../../../auditing/report/page/elements.js";
import { isolated, shortened } from "../../../auditing/report/page/names.js";
import { duration, tick } from "../../../auditing/report/page/numbers.js";
import { placeIn } from "./canvas.js";
import { axisOf, filterFor } from "./table_data.js";
import { lineClass } from "./wall_data.js";

/** @import { Attributes } from "../../../auditing/report/page/types.js" */
/** @import { Cell, Dimension, PlotAxis, PlottedRun } from "./answers.js" */

/** @typedef {(filters: Record<string, string>) => void} OnBrush */
/** @typedef {(run: string) => void} OnPick */
/** @typedef {SVGElement | null} Mark */

const HEIGHT = 300;
const [TOP, BOTTOM, LEFT, RIGHT] = [34, 26, 64, 20]; // CSS pixels around what is drawn
const LEAST = 4; // CSS pixels: a shorter drag is a click
const MOST_TICKS = 14; // of texts on an axis
const MANY = 150; // runs, whose lines are drawn faintly, so that many beside one another show
const CLOSE = 70; // CSS pixels between two labels of the x axis

/**
 * A line for each run over an axis for each column. A drag on an axis filters by it, a click lets all pass again.
 * @type {(dimensions: Dimension[], runs: PlottedRun[], width: number, onbrush: OnBrush, onpick: OnPick) => SVGElement}
 */
export function parallelPlot(dimensions, runs, width, onbrush, onpick) {
  const tall = HEIGHT - TOP - BOTTOM;
  const apart = (width - LEFT - 2 * RIGHT) / Math.max(dimensions.length - 1, 1);
  const axes = dimensions.map(({ cells }) => axisOf(cells, tall));
  /** @type {(k: number) => number} */
  const x = (k) => LEFT + k * apart;
  const lines = inOrder(runs, (run, at) => {
    let [line, pen] = ["", "M"];
    axes.forEach((axis, k) => {
      const place = axis.at(dimensions[k].cells[at]);
      if (place !== null) line += `${pen}${round(x(k))} ${round(TOP + tall - place)}`;
      pen = place === null ? "M" : "L";
    });
    return mark("path", run, { d: line }, run.name, onpick);
  });
  const scales = dimensions.map((dimension, k) =>
    svg(
      "g",
      { class: "axis", transform: `translate(${round(x(k))} ${TOP})` },
      svg("line", { y2: tall }),
      ticksOf(axes[k]).map(({ value, at }) => label(dimension.key, value, -6, tall - at + 4, "end")),
      heading(dimension.title, apart, k === dimensions.length - 1 && k > 0),
    ),
  );
  const picture = frame("parallel", width, `${runs.length} runs over ${dimensions.length} columns`, lines, scales);
  brushed(
    picture,
    (from, to) => {
      const k = Math.min(Math.max(Math.round((from[0] - LEFT) / apart), 0), dimensions.length - 1);
      const box = { x: x(k) - 9, y: Math.min(from[1], to[1]), width: 18, height: Math.abs(to[1] - from[1]) };
      const [low, high] = [TOP + tall - (box.y + box.height), TOP + tall - box.y];
      const found = within(dimensions[k].cells, axes[k], low, high, box.height);
      return { box, filters: { [dimensions[k].key]: filterFor(found) } };
    },
    onbrush,
  );
  return picture;
}

/**
 * A point for each run over two columns. A drag filters by both, a click lets all pass again.
 * @param {Dimension} across
 * @param {Dimension} up
 * @param {PlottedRun[]} runs
 * @param {number} width
 * @param {OnBrush} onbrush
 * @param {OnPick} onpick
 */
export function scatterPlot(across, up, runs, width, onbrush, onpick) {
  const [wide, tall] = [width - LEFT - RIGHT, HEIGHT - TOP - BOTTOM];
  /** Runs without a point would only make the axes longer. @type {(column: Dimension) => Cell[]} */
  const drawn = ({ cells }) =>
    cells.filter((_, at) => [across, up].every((one) => one.cells[at] !== null && !Number.isNaN(one.cells[at])));
  const [x, y] = [axisOf(drawn(across), wide), axisOf(drawn(up), tall)];
  const points = inOrder(runs, (run, at) => {
    const [left, above] = [x.at(across.cells[at]), y.at(up.cells[at])];
    if (left === null || above === null) return null;
    const place = { cx: round(LEFT + left), cy: round(TOP + tall - above), r: run.picked ? 6 : 4 };
    const said = `${isolated(run.name)}\n${across.title}: ${across.cells[at]}\n${up.title}: ${up.cells[at]}`;
    return mark("circle", run, place, said, onpick);
  });
  const below = svg(
    "g",
    { class: "axis", transform: `translate(${LEFT} ${TOP + tall})` },
    svg("line", { x2: wide }),
    spaced(ticksOf(x)).map(({ value, at }) => label(across.key, value, at, 18, "middle")),
  );
  const beside = svg(
    "g",
    { class: "axis", transform: `translate(${LEFT} ${TOP})` },
    svg("line", { y2: tall }),
    ticksOf(y).map(({ value, at }) => label(up.key, value, -8, tall - at + 4, "end")),
  );
  const picture = frame("scatter", width, `${up.title} over ${across.title}, ${runs.length} runs`, points, [
    below,
    beside,
  ]);
  brushed(
    picture,
    (from, to) => {
      const box = { x: Math.min(from[0], to[0]), y: Math.min(from[1], to[1]), width: 0, height: 0 };
      [box.width, box.height] = [Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])];
      const [left, bottom] = [box.x - LEFT, TOP + tall - box.y - box.height];
      const size = Math.max(box.width, box.height);
      const filters = {
        [across.key]: filterFor(within(across.cells, x, left, left + box.width, size)),
        [up.key]: filterFor(within(up.cells, y, bottom, bottom + box.height, size)),
      };
      return { box, filters };
    },
    onbrush,
  );
  return picture;
}

/** @type {(kind: string, width: number, said: string, marks: Mark[], axes: SVGElement[]) => SVGElement} */
function frame(kind, width, said, marks, axes) {
  const size = { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` };
  return svg(
    "svg",
    { class: `runs-plot ${kind}${marks.length > MANY ? " many" : ""}`, role: "img", "aria-label": said, ...size },
    marks,
    axes,
  );
}

/**
 * What is drawn of runs: those that a filter holds back first, the picked ones last, so that they lie on top.
 * @type {(runs: PlottedRun[], drawn: (run: PlottedRun, at: number) => Mark) => Mark[]}
 */
function inOrder(runs, drawn) {
  const order = runs.map((_, at) => at);
  const height = (/** @type {number} */ at) => Number(runs[at].passes) + 2 * Number(runs[at].picked);
  order.sort((a, b) => height(a) - height(b));
  return order.map((at) => drawn(runs[at], at));
}

/** @type {(name: "path" | "circle", run: PlottedRun, place: Attributes, said: string, onpick: OnPick) => SVGElement} */
function mark(name, run, place, said, onpick) {
  const state = `${run.passes ? "" : " out"}${run.picked ? " picked" : ""}`;
  const onclick = () => onpick(run.name);
  return svg(name, { class: `${lineClass(run.color)}${state}`, ...place, onclick }, svg("title", {}, said));
}

/** @type {(title: string, apart: number, isLast: boolean) => SVGElement} */
function heading(title, apart, isLast) {
  const short = shortened(title, Math.max(Math.floor(apart / 7), 6), 0.3);
  const place = isLast ? { x: RIGHT, "text-anchor": "end" } : { "text-anchor": "middle" };
  return svg("text", { class: "title", y: -16, ...place }, short, svg("title", {}, title));
}

/** @type {(key: string, value: Cell, x: number, y: number, anchor: string) => SVGElement} */
function label(key, value, x, y, anchor) {
  const shown = key === "took" ? duration : tick;
  const text = typeof value === "number" ? shown(value + 0) : shortened(String(value), 10);
  return svg("text", { class: "tick", x: round(x), y: round(y), "text-anchor": anchor }, text);
}

/** @type {(axis: PlotAxis) => PlotAxis["ticks"]} */
function ticksOf({ ticks }) {
  const every = Math.ceil(ticks.length / MOST_TICKS);
  return ticks.filter((_, k) => k % every === 0);
}

/** @type {(ticks: PlotAxis["ticks"]) => PlotAxis["ticks"]} */
function spaced(ticks) {
  let last = -Infinity;
  return ticks.filter(({ at }) => {
    if (at - last < CLOSE) return false;
    last = at;
    return true;
  });
}

/**
 * The cells between two places of an axis; none for a brush that is a click.
 * @type {(cells: Cell[], axis: PlotAxis, low: number, high: number, size: number) => Cell[]}
 */
function within(cells, axis, low, high, size) {
  if (size < LEAST) return [];
  return cells.filter((cell) => {
    const at = axis.at(cell);
    return at !== null && at >= low && at <= high;
  });
}

/**
 * Drag over a plot: show the box meanwhile, and tell the filters at the end.
 * @param {SVGElement} picture
 * @param {(from: number[], to: number[]) => { box: Record<string, number>, filters: Record<string, string> }} read
 * @param {OnBrush} onbrush
 */
function brushed(picture, read, onbrush) {
  const box = svg("rect", { class: "brushed" });
  picture.append(box);
  /** @type {number[] | null} */
  let from = null;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    from = placeIn(event, picture);
  });
  picture.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const to = placeIn(event, picture);
    if (Math.hypot(to[0] - from[0], to[1] - from[1]) < LEAST) return;
    picture.setPointerCapture(event.pointerId); // only now: a click belongs to the run that is under it
    for (const [key, value] of Object.entries(read(from, to).box)) box.setAttribute(key, String(value));
  });
  picture.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const { filters } = read(from, placeIn(event, picture));
    const isClick = Object.values(filters).every((text) => text === "");
    from = null;
    box.removeAttribute("width");
    const isOnRun = /** @type {Element} */ (event.target).closest("path, circle") !== null;
    if (!(isClick && isOnRun)) onbrush(filters);
  });
  picture.addEventListener("pointercancel", () => {
    from = null;
    box.removeAttribute("width");
  });
}

/** @type {(pixels: number) => number} */
function round(pixels) {
  return Math.round(10 * pixels) / 10;
}
