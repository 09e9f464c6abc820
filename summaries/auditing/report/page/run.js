// One run: its findings beside its curves.

import { View, lineChart } from "./chart.js";
import { placed } from "./columns.js";
import { el, sign } from "./elements.js";
import { findingCard, foldedCards } from "./findings.js";
import { NAMES_WIDTH, heatMap, shadeBar } from "./heatmap.js";
import { counted, duration, number, whole } from "./numbers.js";
import { verdict } from "./overview.js";
import { theme } from "./theme.js";

/**
 * The page of a run: {element, view, close, keep}. `nav` is what stands above its name. `kept` is how a reader left an
 * earlier page of the same run, which this one takes over.
 */
export function runPage(row, run, { nav, baseline = null, kept = null }) {
  const charts = el("div", { class: "charts" });
  const state = { mode: kept?.mode ?? "step", view: null, panels: [] };
  const reset = el("button", { type: "button", class: "quiet", hidden: true, onclick: () => state.view.zoom(null) }, "Whole run");
  const choose = (finding) => showFinding(state, finding);
  const cards = new Map();
  const emphasize = (finding) => state.view.emphasize(finding);
  for (const finding of run.findings) cards.set(finding, findingCard(finding, choose, emphasize));

  const draw = () => {
    state.view?.destroy();
    state.panels.forEach((panel) => panel.forget());
    state.view = new View(run.curves, state.mode);
    state.view.onzoom = (zoomed) => { reset.hidden = !zoomed; };
    state.view.onpick = (finding) => pickCard(cards, finding);
    reset.hidden = true;
    state.panels = run.panels.map((panel) => panelOf(state.view, run, panel));
    charts.replaceChildren(...arranged(run, state.panels));
  };
  const axis = choice("x axis", [["step", "Step"], ["time", "Time"]], state.mode, (mode) => { state.mode = mode; draw(); });
  const element = el("section", { class: "run" },
    el("div", { class: "title" },
      nav,
      el("h1", {}, sign(verdict(row)), el("span", {}, row.name), row.name === baseline ? el("em", {}, "baseline") : null),
      facts(row, run)),
    el("aside", { "aria-label": "Findings" },
      row.failures.map((failure) => el("div", { class: "finding error failure" },
        el("div", { class: "head" }, sign("error"), el("b", {}, "Not audited")), el("p", { class: "message" }, failure))),
      el("h2", {}, run.findings.length > 0 ? counted(run.findings.length, "finding") : "No findings"),
      el("ol", {}, foldedCards(cards))),
    el("div", { class: "drawn" },
      run.curves.length > 0 ? el("div", { class: "tools" }, axis, reset,
        el("p", { class: "hint" }, "Drag to zoom, double-click for the whole run; or arrows, + and − on a chart")) : null,
      charts));
  const recolor = () => state.view.redraw();
  const drawAll = () => {
    state.panels.forEach((panel) => panel.ensure());
    state.view.fit();
  };
  theme.listeners.add(recolor);
  addEventListener("beforeprint", drawAll);
  addEventListener("afterprint", drawAll);
  draw();
  if (kept?.range) state.view.zoom(kept.range);
  const close = () => {
    theme.listeners.delete(recolor);
    removeEventListener("beforeprint", drawAll);
    removeEventListener("afterprint", drawAll);
    state.view.destroy();
  };
  const keep = () => ({ mode: state.mode, range: state.view.range === state.view.full ? null : state.view.range });
  return { element, view: () => state.view, close, keep };
}

/** Files, steps, points, start time and duration. */
function facts(row, run) {
  const start = Number(run.start);
  const began = run.start !== null && Number.isFinite(start) && Math.abs(start) < 8e12
    ? `${new Date(1000 * start).toISOString().slice(0, 16).replace("T", " ")} UTC` : null;
  const told = [
    ["Logger", run.logger],
    ["Steps", row.steps && `${whole(row.steps[0])} to ${whole(row.steps[1])}`],
    ["Points", whole(row.points)],
    ["Took", row.seconds === null ? null : duration(Number(row.seconds))],
    ["Began", began],
    [run.files.length === 1 ? "File" : "Files",
      run.files.length > 3 ? `${run.files.slice(0, 3).join("\n")}\nand ${run.files.length - 3} more` : run.files.join("\n")],
  ];
  return el("dl", { class: "facts" }, told.filter(([, value]) => value).map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** The panels: the main ones, then the further ones, which are folded at first. */
function arranged(run, panels) {
  const further = panels.filter((panel) => panel.further);
  const placedPanels = panels.filter((panel) => !panel.further).map((panel) => panel.element);
  if (further.length > 0) {
    placedPanels.push(el("details", { class: "further", open: placedPanels.length === 0 },
      el("summary", {}, counted(further.length, "further chart")),
      el("div", { class: "charts" }, further.map((panel) => panel.element))));
  }
  if (run.left_out > 0) {
    placedPanels.push(el("p", { class: "note" }, `${counted(run.left_out, "curve")} of this run did not fit into a page of so many `
      + "runs: audit this run alone to see them."));
  }
  if (panels.length === 0) placedPanels.push(el("p", { class: "note" }, "There are no scalars to draw."));
  return placedPanels;
}

/** A panel, which is drawn when it first becomes visible. */
function panelOf(view, run, { title, kind, curves, log, further }) {
  const members = curves.map((number) => run.curves[number]);
  const holder = el("div", { class: "plot", tabindex: "0", role: "group", "aria-label": `${title}: ${described(members)}` });
  const tools = el("div", { class: "options" });
  const below = el("div", { class: "below" });
  const element = el("figure", { class: kind }, el("figcaption", {}, el("h3", {}, title), drawnPoints(members), tools), holder, below);
  let watcher = null;
  const draw = kind === "heat"
    ? () => drawHeat(view, run, members, log, holder, tools, below)
    : () => drawLines(view, run, members, log, holder, tools);
  const ensure = () => {
    watcher?.disconnect();
    if (!ensure.done) { ensure.done = true; draw(); }
  };
  watcher = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) ensure(); },
    { rootMargin: "400px" });
  watcher.observe(element);
  return { element, members, further, ensure, forget: () => watcher.disconnect() };
}

/** The number of points that are drawn, if not all of them are. */
function drawnPoints(curves) {
  const count = (of) => curves.reduce((sum, curve) => sum + of(curve), 0);
  const [drawn, all] = [count(({ value }) => value.length), count(({ points }) => points)];
  return drawn < all ? el("span", { class: "thinned", title: "Thinned for drawing" },
    `${whole(drawn)} of ${whole(all)} points`) : null;
}

/** The content of a chart in words, for screen readers. */
function described(curves) {
  return curves.slice(0, 8).map(({ tag, value }) => `${tag}, last ${number(value.at(-1))}`).join("; ");
}

function drawLines(view, run, members, log, holder, tools) {
  let chart = null;
  const draw = (scale) => {
    chart?.destroy();
    chart = lineChart(view, holder, members, run.findings, scale === "log");
  };
  tools.append(choice("y axis", [["linear", "Linear"], ["log", "Log"]], log ? "log" : "linear", draw));
  draw(log ? "log" : "linear");
}

/** A heat map, and below it a line chart of a few of its variables. */
function drawHeat(view, run, members, log, holder, tools, below) {
  const readout = el("p", { class: "readout" });
  const idle = `${counted(members.length, "variable")}, a row each; click one to see its line`;
  const say = (at) => { readout.textContent = at ? `${at.name}, step ${whole(at.step)}: ${number(at.value)}` : idle; };
  const chosen = firstChosen(members, run.findings);
  let lines = null;
  const lower = el("div", { class: "plot" });
  const redraw = () => {
    lines?.destroy();
    lines = chosen.size === 0 ? null
      : lineChart(view, lower, members.filter((curve) => chosen.has(curve)), run.findings, log, NAMES_WIDTH);
  };
  const pick = (curve) => {
    if (!chosen.delete(curve)) chosen.add(curve);
    if (chosen.size > 8) chosen.delete(chosen.values().next().value);
    redraw();
  };
  say(null);
  below.append(readout, lower);
  const { shade } = heatMap(view, holder, members, run.findings, log, say, pick);
  tools.append(shadeBar(shade));
  redraw();
}

/** The variables of the first line chart: all if there are few, else those with findings and the extremes. */
function firstChosen(members, findings) {
  if (members.length <= 5) return new Set(members);
  const told = members.filter(({ tag }) => findings.some((finding) => finding.tag === tag)).slice(0, 4);
  const byLast = members.filter(({ value }) => Number.isFinite(value.at(-1))).sort((a, b) => a.value.at(-1) - b.value.at(-1));
  return new Set([...told, byLast[0], byLast.at(-1)].filter(Boolean));
}

/** Scroll to the curve of a finding, zoomed to its steps with as much again on both sides. */
function showFinding(state, finding) {
  const shows = (wanted) => state.panels.find(({ members }) => members.some(({ tag }) => tag === wanted));
  const panel = [finding.tag, ...finding.others].map(shows).find(Boolean) ?? state.panels[0];
  if (!panel) return;
  panel.element.closest("details")?.setAttribute("open", "");
  panel.ensure();
  const curve = panel.members.find(({ tag }) => tag === finding.tag) ?? panel.members[0];
  const range = finding.steps && placed(finding.steps, curve, state.mode);
  if (range) {
    const [low, high] = state.view.full;
    const room = Math.max(range[1] - range[0], (high - low) / 25);
    const wanted = [Math.max(low, range[0] - room), Math.min(high, range[1] + room)];
    state.view.zoom(wanted[0] <= low && wanted[1] >= high ? null : wanted);
  }
  panel.element.scrollIntoView({ block: "center", behavior: calm() ? "auto" : "smooth" });
  state.view.emphasize(finding);
}

/** Scroll to the card of a finding whose mark was clicked. */
function pickCard(cards, finding) {
  const card = cards.get(finding);
  card.closest(".folded")?.setAttribute("open", "");
  card.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  card.focus({ preventScroll: true });
}

function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** A group of buttons, one of which is pressed. */
export function choice(label, values, first, onchoice) {
  const buttons = values.map(([value, text]) => el("button", {
    type: "button", "aria-pressed": String(value === first), onclick: (event) => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button === event.currentTarget));
      onchoice(value);
    } }, text));
  return el("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}
