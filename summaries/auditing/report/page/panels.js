// The panels of a run: line charts and heat maps, which are drawn when they first become visible.

import { lineChart, RESTS } from "./chart.js";
import { choice, el } from "./elements.js";
import { heatMap, NAMES_WIDTH, shadeBar } from "./heatmap.js";
import { onlyLatest } from "./latest.js";
import { isolated } from "./names.js";
import { counted, number, whole } from "./numbers.js";

/** @import { Chart, Curve, Finding, Mode, Panel, Pointed, Range, Run } from "./types.js" */
/** @import { View } from "./view.js" */

/** @typedef {ReturnType<typeof chartPanel>} ChartPanel */

const MOST_LINES = 8; // below a heat map
const ALL_LINES = 5; // so few are all drawn at first
const TOLD_LINES = 4; // of those with findings, at first

/**
 * All points of a curve in a range of x, if that many can be drawn.
 * @typedef {(curve: Curve, mode: Mode, range: Range) => Promise<Curve>} Finer
 */

/**
 * What is drawn: lines, which can be drawn anew with other points.
 * @typedef {{ lines: () => Curve[], redraw: (finer?: Map<Curve, Curve>) => void }} Drawn
 */

/**
 * A panel; `ensure` draws it now, `refine` asks for the points of a zoom once it is seen, `forget` gives up waiting.
 * @param {View} view
 * @param {Run} run
 * @param {Panel} panel
 * @param {Finer | null} finer
 */
export function chartPanel(view, run, { title, kind, curves, log, further }, finer) {
  const members = curves.map((at) => run.curves[at]);
  const holder = el("div", {
    class: "plot",
    tabindex: "0",
    role: "group",
    "aria-label": `${title}: ${inWords(members)}`,
  });
  const tools = el("div", { class: "options" });
  const below = el("div", { class: "below" });
  const thinned = drawnPoints(members);
  const caption = el("figcaption", {}, el("h3", {}, title), thinned, tools);
  const element = el("figure", { class: kind }, caption, holder, below);
  /** @type {Drawn | null} */
  let drawn = null;
  const begin = onlyLatest();
  let [isSeen, isStale, timer] = [false, false, 0];
  const ensure = () => {
    if (kind === "heat") drawn ??= drawHeat(view, members, run.findings, log, { holder, tools, below }, refine);
    else drawn ??= drawLines(view, members, run.findings, log, { holder, tools });
  };
  const load = async () => {
    isStale = false;
    const isLatest = begin();
    const { isZoomed, mode, range } = view;
    const coarse = finer && isZoomed && drawn ? drawn.lines().filter(isThinned) : [];
    const found = await Promise.all(coarse.map((curve) => finer?.(curve, mode, range) ?? curve)).catch(() => null);
    if (!isLatest() || found === null) return; // another zoom, or nobody answers: the points stay as they are
    drawn?.redraw(new Map(coarse.map((curve, at) => [curve, found[at]])));
    if (thinned) thinned.hidden = coarse.length > 0;
  };
  const refine = () => {
    if (finer === null || !members.some(isThinned)) return;
    isStale = true;
    clearTimeout(timer);
    timer = setTimeout(() => isSeen && isStale && load(), RESTS);
  };
  const watcher = new IntersectionObserver(
    (entries) => {
      isSeen = entries.at(-1)?.isIntersecting ?? false;
      if (isSeen) ensure();
      if (isSeen && isStale) load();
    },
    { rootMargin: "400px" },
  );
  watcher.observe(element);
  const forget = () => {
    watcher.disconnect();
    clearTimeout(timer);
    begin();
  };
  return { element, members, further, ensure, refine, forget };
}

/** @type {(curve: Curve) => boolean} */
function isThinned({ value, points }) {
  return value.length < points;
}

/** The number of points that are drawn, if not all of them are. @type {(curves: Curve[]) => HTMLElement | null} */
function drawnPoints(curves) {
  const drawn = curves.reduce((sum, { value }) => sum + value.length, 0);
  const all = curves.reduce((sum, { points }) => sum + points, 0);
  if (drawn >= all) return null;
  return el("span", { class: "thinned", title: "Thinned for drawing" }, `${whole(drawn)} of ${whole(all)} points`);
}

/** The content of a chart in words, for screen readers. @type {(curves: Curve[]) => string} */
function inWords(curves) {
  const some = curves.slice(0, MOST_LINES);
  return some.map(({ tag, value }) => `${isolated(tag)}, last ${number(value.at(-1))}`).join("; ");
}

/** @typedef {{ holder: HTMLElement, tools: HTMLElement }} Places */

/** @type {(view: View, members: Curve[], findings: Finding[], log: boolean, places: Places) => Drawn} */
function drawLines(view, members, findings, log, { holder, tools }) {
  /** @type {Chart | null} */
  let chart = null;
  /** @type {"linear" | "log"} */
  let scale = log ? "log" : "linear";
  let shown = members;
  const draw = () => {
    chart?.destroy();
    chart = lineChart(view, holder, shown, findings, scale === "log");
  };
  const scales = choice("y axis", { linear: "Linear", log: "Log" }, scale, (chosen) => {
    scale = chosen;
    draw();
  });
  tools.append(scales);
  draw();
  /** @type {Drawn["redraw"]} */
  const redraw = (finer) => {
    shown = members.map((curve) => finer?.get(curve) ?? curve);
    draw();
  };
  return { lines: () => members, redraw };
}

/**
 * A heat map, and below it a line chart of a few of its variables.
 * @param {View} view
 * @param {Curve[]} members
 * @param {Finding[]} findings
 * @param {boolean} log
 * @param {Places & { below: HTMLElement }} places
 * @param {() => void} onpick
 * @returns {Drawn}
 */
function drawHeat(view, members, findings, log, { holder, tools, below }, onpick) {
  const readout = el("p", { class: "readout" });
  const idle = `${counted(members.length, "variable")}, a row each; click one to see its line`;
  /** @param {Pointed | null} at */
  const say = (at) => {
    readout.textContent = at ? `${isolated(at.name)}, step ${whole(at.step)}: ${number(at.value)}` : idle;
  };
  const chosen = firstChosen(members, findings);
  const lower = el("div", { class: "plot" });
  /** @type {Chart | null} */
  let lines = null;
  const picked = () => members.filter((curve) => chosen.has(curve));
  /** @type {Drawn["redraw"]} */
  const redraw = (finer) => {
    lines?.destroy();
    const shown = picked().map((curve) => finer?.get(curve) ?? curve);
    lines = shown.length === 0 ? null : lineChart(view, lower, shown, findings, log, { side: NAMES_WIDTH });
  };
  /** @param {Curve} curve */
  const pick = (curve) => {
    if (!chosen.delete(curve)) chosen.add(curve);
    const [oldest] = chosen;
    if (chosen.size > MOST_LINES) chosen.delete(oldest);
    redraw();
    onpick();
  };
  say(null);
  below.append(readout, lower);
  const shade = heatMap(view, holder, members, findings, log, say, pick);
  tools.append(shadeBar(shade));
  redraw();
  return { lines: picked, redraw };
}

/**
 * The variables of the first line chart: all if there are few, else those with findings and the extremes.
 * @type {(members: Curve[], findings: Finding[]) => Set<Curve>}
 */
function firstChosen(members, findings) {
  if (members.length <= ALL_LINES) return new Set(members);
  const told = members.filter(({ tag }) => findings.some((finding) => finding.tag === tag)).slice(0, TOLD_LINES);
  /** @param {Curve} curve */
  const last = ({ value }) => value.at(-1) ?? NaN;
  const byLast = members.filter((curve) => Number.isFinite(last(curve))).sort((a, b) => last(a) - last(b));
  return new Set([...told, ...byLast.slice(0, 1), ...byLast.slice(-1)]);
}
