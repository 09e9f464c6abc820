// One run: its findings beside its curves.

import { placed } from "./columns.js";
import { choice, el, quietButton, sign } from "./elements.js";
import { findingCard, foldedCards } from "./findings.js";
import { counted, duration, whole } from "./numbers.js";
import { chartPanel } from "./panels.js";
import { verdict } from "./rows.js";
import { theme } from "./theme.js";
import { extent, View } from "./view.js";

/** @import { Finding, Kept, Mode, Range, Run, RunRow } from "./types.js" */
/** @import { ChartPanel, Finer } from "./panels.js" */

const MOST_FILES = 3; // that are named
const LATEST_START = 8e12; // seconds, the largest time that JavaScript's dates can say

/**
 * The page of a run. `nav` is what stands above its name. `kept` is how a reader left an earlier page of the same run,
 * which this one takes over.
 * `finer` has the points of a zoom, if there are more than the page has.
 * @param {RunRow} row
 * @param {Run} run
 * @param {{ nav: HTMLElement, baseline?: string | null, kept?: Kept, finer?: Finer | null }} options
 */
export function runPage(row, run, { nav, baseline = null, kept = { mode: "step", range: null }, finer = null }) {
  const charts = el("div", { class: "charts" });
  let view = new View(extent(run.curves, kept.mode), kept.mode);
  /** @type {ChartPanel[]} */
  let panels = [];
  const reset = wholeRunButton(() => view);
  /** @param {Finding} finding */
  const choose = (finding) => showFinding(view, panels, finding);
  /** @param {Finding | null} finding */
  const emphasize = (finding) => view.emphasize(finding);
  const cards = new Map(run.findings.map((finding) => [finding, findingCard(finding, choose, emphasize)]));
  /** @param {Mode} mode */
  const draw = (mode) => {
    view.destroy();
    for (const panel of panels) panel.forget();
    view = new View(extent(run.curves, mode), mode);
    view.onzoom = (zoomed) => {
      reset.update(zoomed);
      for (const panel of panels) panel.refine();
    };
    view.onpick = (finding) => pickCard(cards.get(finding));
    reset.update(false);
    panels = run.panels.map((panel) => chartPanel(view, run, panel, finer));
    charts.replaceChildren(...arranged(run, panels));
  };
  const hint = "Drag to zoom, double-click for the whole run; or arrows, + and − on a chart";
  const axis = choice("x axis", { step: "Step", time: "Time" }, kept.mode, draw);
  const tools = el("div", { class: "tools" }, axis, reset.button, el("p", { class: "hint" }, hint));
  const name = row.name === baseline ? el("em", {}, "baseline") : null;
  const element = el(
    "section",
    { class: "run" },
    el(
      "div",
      { class: "title" },
      nav,
      el("h1", {}, sign(verdict(row)), el("span", {}, row.name), name),
      facts(row, run),
    ),
    el("aside", { "aria-label": "Findings" }, listed(row, run, cards)),
    el("div", { class: "drawn" }, run.curves.length > 0 ? tools : null, charts),
  );
  const recolor = () => view.redraw();
  const drawAll = () => {
    for (const panel of panels) panel.ensure();
    view.fit();
  };
  theme.listeners.add(recolor);
  addEventListener("beforeprint", drawAll);
  addEventListener("afterprint", drawAll);
  draw(kept.mode);
  if (kept.range) view.zoom(kept.range);
  const close = () => {
    theme.listeners.delete(recolor);
    removeEventListener("beforeprint", drawAll);
    removeEventListener("afterprint", drawAll);
    for (const panel of panels) panel.forget();
    view.destroy();
  };
  /** @returns {Kept} */
  const keep = () => ({ mode: view.mode, range: view.isZoomed ? view.range : null });
  return { element, view: () => view, close, keep };
}

/**
 * The button back to the whole run, which is there while the view is zoomed.
 * @param {() => View} view
 */
export function wholeRunButton(view) {
  const button = quietButton("Whole run", () => view().zoom(null), { hidden: true });
  /** @param {boolean} zoomed */
  const update = (zoomed) => {
    button.hidden = !zoomed;
  };
  return { button, update };
}

/**
 * What could not be audited, what could not be judged, and the findings.
 * @type {(row: RunRow, run: Run, cards: Map<Finding, HTMLElement>) => HTMLElement[]}
 */
function listed({ failures, main, points }, { findings }, cards) {
  const head = () => el("div", { class: "head" }, sign("error"), el("b", {}, "Not audited"));
  return [
    ...failures.map((failure) =>
      el("div", { class: "finding error failure" }, head(), el("p", { class: "message" }, failure)),
    ),
    el("h2", {}, findings.length > 0 ? counted(findings.length, "finding") : "No findings"),
    ...(points > 0 && !main ? [el("p", {}, "No tag is a loss or a reward, so none was looked at.")] : []),
    el("ol", {}, foldedCards(cards)),
  ];
}

/** Files, steps, points, start time and duration. @type {(row: RunRow, run: Run) => HTMLElement} */
function facts({ steps, points, seconds }, { logger, start, files }) {
  const began = start === null ? NaN : Number(start);
  const date =
    Math.abs(began) < LATEST_START ? new Date(1000 * began).toISOString().slice(0, 16).replace("T", " ") : null;
  const more = files.length > MOST_FILES ? [`and ${files.length - MOST_FILES} more`] : [];
  /** @type {[string, string | null][]} */
  const told = [
    ["Logger", logger],
    ["Steps", steps && `${whole(steps[0])} to ${whole(steps[1])}`],
    ["Points", whole(points)],
    ["Took", seconds === null ? null : duration(Number(seconds))],
    ["Began", date && `${date} UTC`],
    [files.length === 1 ? "File" : "Files", [...files.slice(0, MOST_FILES), ...more].join("\n")],
  ];
  const parts = told
    .filter(([, value]) => value)
    .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  return el("dl", { class: "facts" }, parts);
}

/**
 * The panels: the main ones, then the further ones, which are folded at first.
 * @type {(run: Run, panels: ChartPanel[]) => HTMLElement[]}
 */
function arranged(run, panels) {
  const shown = panels.filter((panel) => !panel.further).map(({ element }) => element);
  const further = panels.filter((panel) => panel.further).map(({ element }) => element);
  if (further.length > 0) {
    const summary = el("summary", {}, counted(further.length, "further chart"));
    const open = shown.length === 0;
    shown.push(el("details", { class: "further", open }, summary, el("div", { class: "charts" }, further)));
  }
  /** @param {string} text */
  const note = (text) => shown.push(el("p", { class: "note" }, text));
  if (run.left_out > 0) {
    const curves = counted(run.left_out, "curve");
    note(`${curves} of this run did not fit into a page of so many runs: audit this run alone to see them.`);
  }
  if (panels.length === 0) note("There are no scalars to draw.");
  return shown;
}

/**
 * Scroll to the curve of a finding, zoomed to its steps with as much again on both sides.
 * @type {(view: View, panels: ChartPanel[], finding: Finding) => void}
 */
function showFinding(view, panels, finding) {
  /** @param {string} wanted */
  const shows = (wanted) => panels.find(({ members }) => members.some(({ tag }) => tag === wanted));
  const panel = [finding.tag, ...finding.others].map(shows).find(Boolean) ?? panels[0];
  if (!panel) return;
  panel.element.closest("details")?.setAttribute("open", "");
  panel.ensure();
  const curve = panel.members.find(({ tag }) => tag === finding.tag) ?? panel.members[0];
  const range = finding.steps && placed(finding.steps, curve, view.mode);
  if (range) view.zoom(around(range, view.full));
  panel.element.scrollIntoView({ block: "center", behavior: scrolling() });
  view.emphasize(finding);
}

/**
 * A range with as much again on both sides, or more if it is narrow; null if that is all there is.
 * @type {(range: Range, full: Range) => Range | null}
 */
export function around([from, to], [low, high]) {
  const room = Math.max(to - from, (high - low) / 25);
  const [left, right] = [Math.max(low, from - room), Math.min(high, to + room)];
  return left <= low && right >= high ? null : [left, right];
}

/** Scroll to the card of a finding whose mark was clicked. @type {(card: HTMLElement | undefined) => void} */
function pickCard(card) {
  card?.closest(".folded")?.setAttribute("open", "");
  card?.scrollIntoView({ block: "nearest", behavior: scrolling() });
  card?.focus({ preventScroll: true });
}

function scrolling() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}
