// What is saved of a chart: a drawing in SVG, the same as PNG, and its points as CSV.

import { path } from "../../../auditing/report/page/axes.js";
import { drawing, el, svg } from "../../../auditing/report/page/elements.js";
import { placeOn } from "../../../auditing/report/page/many.js";
import { durations, ticks } from "../../../auditing/report/page/numbers.js";
import { color } from "../../../auditing/report/page/theme.js";
import { asinhTicks, logTicks, roundTicks } from "../../../auditing/report/page/ticks.js";

/** @import uPlotClass from "uplot" */
/** @import { Curve, Line, LineChart, Mode } from "../../../auditing/report/page/types.js" */
/** @import { View } from "../../../auditing/report/page/view.js" */

const [WIDTH, HEIGHT] = [800, 400];
const [LEFT, TOP, RIGHT, BOTTOM] = [70, 40, 30, 40];
const LEGEND = 18; // pixels for a name
const MOST_NAMES = 40;
const FINE = 2; // pixels of a PNG for one of the drawing

/** @typedef {{ at: (value: number) => number, ticks: number[] }} Place */

/**
 * A chart as a drawing of its own, with title, axes and legend.
 * @type {(chart: LineChart, title: string, mode: Mode) => SVGSVGElement}
 */
export function chartDrawing(chart, title, mode) {
  const { lines } = chart;
  const named = lines.filter(({ series }) => series.alpha === 1).slice(0, MOST_NAMES);
  const height = HEIGHT + LEGEND * named.length;
  const across = scaled(chart.scales.x, LEFT, WIDTH - RIGHT);
  const up = scaled(chart.scales.y, HEIGHT - BOTTOM, TOP);
  const [beside, below] = [ticks(up.ticks), (mode === "step" ? ticks : durations)(across.ticks)];
  const font = { "font-family": "system-ui, sans-serif", "font-size": 12, fill: color("ink") };
  const frame = { id: "inside", x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM };
  const inside = svg("clipPath", { id: frame.id }, svg("rect", { ...frame, id: null }));
  const bounds = { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height };
  return svg(
    "svg",
    { ...bounds, ...font },
    inside,
    svg("rect", { width: WIDTH, height, fill: color("panel") }),
    svg("text", { x: LEFT, y: 24, "font-size": 15, "font-weight": 600 }, legible(title)),
    up.ticks.flatMap((value, k) => [
      svg("path", { d: `M${LEFT} ${up.at(value)}H${WIDTH - RIGHT}`, stroke: color("grid") }),
      svg("text", { x: LEFT - 8, y: up.at(value) + 4, "text-anchor": "end" }, beside[k]),
    ]),
    across.ticks.map((value, k) =>
      svg("text", { x: across.at(value), y: HEIGHT - 18, "text-anchor": "middle" }, below[k]),
    ),
    svg("g", { "clip-path": "url(#inside)", fill: "none" }, ...lines.map((line) => drawn(line, across, up))),
    named.flatMap(({ series }, k) => [
      svg("path", { d: `M${LEFT} ${HEIGHT + LEGEND * k - 4}h24`, ...stroke(series) }),
      svg("text", { x: LEFT + 32, y: HEIGHT + LEGEND * k }, legible(String(series.label))),
    ]),
  );
}

/**
 * Text without what XML does not have; other characters are escaped when it is written.
 * @type {(text: string) => string}
 */
function legible(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what XML does not have
  return text.replace(/\p{Surrogate}|[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu, "\ufffd");
}

/** @type {(line: Line, across: Place, up: Place) => SVGElement} */
function drawn({ series, x, value }, across, up) {
  const there = [...x.keys()].filter((i) => Number.isFinite(across.at(x[i])));
  const places = there.map((i) => across.at(x[i]));
  const heights = there.map((i) => (Number.isFinite(up.at(value[i])) ? value[i] : null));
  return svg("path", { d: path(places, heights, up.at), ...stroke(series) });
}

/** @type {(series: uPlotClass.Series) => Record<string, unknown>} */
function stroke({ class: name = "", width = 1, alpha = 1, dash }) {
  return { stroke: color(name), "stroke-width": width, "stroke-opacity": alpha, "stroke-dasharray": dash?.join(" ") };
}

/**
 * A scale of uPlot's, from one pixel to another, with ticks of our own.
 * @type {(scale: uPlotClass.Scale, first: number, last: number) => Place}
 */
function scaled(scale, first, last) {
  const { min = 0, max = 1, distr = 1, asinh = 1 } = scale;
  const ticks = distr === 3 ? logTicks(min, max) : distr === 4 ? asinhTicks(min, max, asinh) : roundTicks(min, max, 8);
  return { at: placeOn(scale, first, last), ticks };
}

/**
 * Points as CSV, of those curves or means that lie in the view: as RFC 4180 has it, and numbers as exact as they are.
 * @type {(tag: string, curves: Curve[], edges: Curve[], view: View) => string}
 */
export function asTable(tag, curves, edges, { mode, range: [low, high] }) {
  const isBand = edges.length > 0;
  const rows = [["run", "tag", "step", ...(isBand ? ["mean", "min", "max"] : ["seconds", "value"])]];
  curves.forEach((curve, k) => {
    const x = mode === "step" ? curve.step : curve.seconds;
    curve.value.forEach((value, i) => {
      if (!(x[i] >= low && x[i] <= high)) return;
      const rest = isBand ? [value, edges[2 * k + 1].value[i], edges[2 * k].value[i]] : [curve.seconds[i], value];
      rows.push([curve.tag, tag, ...[curve.step[i], ...rest].map(String)]);
    });
  });
  return rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

/** A field of CSV. What a spreadsheet would take for a formula is a text to it. @type {(text: string) => string} */
function quoted(text) {
  const safe = /^[=+@\t\r-]/.test(text) && !Number.isFinite(Number(text)) && text !== "-Infinity" ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Let the browser save something. @type {(name: string, type: string, content: BlobPart) => void} */
export function saved(name, type, content) {
  const href = URL.createObjectURL(new Blob([content], { type }));
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** The text of a drawing, for a file. @type {(picture: SVGSVGElement) => string} */
export function asText(picture) {
  return new XMLSerializer().serializeToString(picture);
}

/** Save a drawing as PNG. @type {(name: string, picture: SVGSVGElement) => Promise<void>} */
export async function savedPicture(name, picture) {
  const [width, height] = [picture.viewBox.baseVal.width, picture.viewBox.baseVal.height];
  const image = new Image(width, height);
  image.src = `data:image/svg+xml,${encodeURIComponent(asText(picture))}`;
  await image.decode();
  const canvas = el("canvas", { width: FINE * width, height: FINE * height });
  drawing(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
  const content = await new Promise((resolve) => canvas.toBlob(resolve));
  saved(name, "image/png", content);
}
