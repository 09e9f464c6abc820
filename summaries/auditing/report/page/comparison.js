// The page of a comparison: the runs' curves beside what was found, a plot for each hyperparameter, groups and runs.

import { curvesPlot, stripPlot, whisker } from "./axes.js";
import { byId, el, select, svg } from "./elements.js";
import { groupsByLevel, levelColor, shown, valuesOf } from "./levels.js";
import { isolated } from "./names.js";
import { counted, number, rounded, whole } from "./numbers.js";
import { startTheme } from "./theme.js";

/** @import { Attributes, Child, Interval, Range } from "./types.js" */
/** @import { ComparedRun, Comparison, Group, Level, Separation } from "./types.js" */

/** @type {Comparison} */
const data = JSON.parse(byId("data").textContent);
const CHUNK = 200; // rows of the table of runs at first: thousands at once would be slow
const COLORS = 8;
const outlying = new Set(data.outliers.map(({ run }) => run));
const places = new Map(data.runs.map(({ run }, at) => [run, at]));
const tested = data.separations.map(({ hyperparameter }) => hyperparameter);
const colored = { by: tested[0] ?? data.by[0] ?? "" };
const strips = el("div", { class: "strips" });

/**
 * From a run to its color: that of its value of the chosen hyperparameter; many values share the eight colors in order.
 * @type {() => (run: ComparedRun) => number}
 */
function coloring() {
  const values = valuesOf(data.runs, colored.by);
  return (run) => levelColor(values, shown(run.hyperparameters[colored.by]), COLORS);
}

/** Light up some runs in all plots; none for an empty list. @type {(names: string[]) => void} */
function light(names) {
  const keys = new Set(names.map((name) => String(places.get(name))));
  for (const plot of document.querySelectorAll("svg.curves, svg.strip")) {
    plot.classList.toggle("dimmed", keys.size > 0);
    for (const mark of plot.querySelectorAll("[data-key]")) {
      mark.classList.toggle("lit", keys.has(mark.getAttribute("data-key") ?? ""));
    }
  }
}

/** @type {(names: string[]) => Attributes} */
function lighting(names) {
  return { onmouseenter: () => light(names), onmouseleave: () => light([]) };
}

/** @type {(kind: string, head: Child[], text: string, names?: string[], extra?: Child) => HTMLElement} */
function card(kind, head, text, names = [], extra = null) {
  const parts = [el("div", { class: "head" }, head), extra, el("p", {}, text)];
  return el("li", { class: `finding ${kind}`, ...lighting(names) }, parts);
}

/** @type {(share: number) => SVGElement} */
function shareBar(share) {
  return svg(
    "svg",
    { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { width: 100, height: 6 }),
    svg("rect", { class: "full", width: 100 * share, height: 6 }),
  );
}

/** What stands out: what marks teach, hyperparameters, groups, seeds, copies, outliers. */
function findings() {
  const cards = [
    ...(data.taught ? [taughtCard(data.taught)] : []),
    ...data.separations.map(separationCard),
    ...(data.explained ? [explainedCard()] : []),
    ...data.groups.filter(({ disagree }) => disagree).map(seedsCard),
    ...data.identical.map(copiesCard),
    ...data.outliers.map(outlierCard),
  ];
  return el("ol", { class: "findings", "aria-label": "What stands out" }, cards);
}

/** @type {(taught: NonNullable<Comparison["taught"]>) => HTMLElement} */
function taughtCard({ good, bad, candidates, auc, cut }) {
  const metric = `${data.metric} (${data.measure}, the best of ${candidates})`;
  const rule = `good is ${data.maximize ? "at least" : "at most"} ${number(cut)}`;
  const text = `${good} good and ${bad} bad ones are told apart by ${metric}: AUC ${rounded(auc, 3)}; ${rule}.`;
  return card("", [el("b", {}, "Marked runs")], text);
}

/** @type {(separation: Separation) => HTMLElement} */
function separationCard({ hyperparameter, share, statistic, p, levels }) {
  const isSure = p !== null && p < data.significant;
  /** @param {Level} level */
  const level = ({ value, median }) => `${value} (${median === null ? "most diverge" : `median ${number(median)}`})`;
  const ends = isSure ? `Best ${level(levels[0])}, worst ${level(levels[levels.length - 1])}. ` : "";
  const test = `Kruskal–Wallis H ${rounded(statistic, 3)}, p ${rounded(p, 2)}.`;
  const effect = isSure ? `explains ${Math.round(100 * (share ?? 0))} % of the ranks` : "no effect is seen";
  const head = [el("b", {}, hyperparameter), effect];
  return card(isSure ? "" : "weak", head, ends + test, [], shareBar(share ?? 0));
}

function explainedCard() {
  const sentence = `${data.explained[0].toUpperCase()}${data.explained.slice(1)}.`;
  return card("weak", [el("b", {}, "Groups")], sentence, [], shareBar(1 - (data.within ?? 0)));
}

/** @type {(group: Group) => HTMLElement} */
function seedsCard({ hyperparameters, runs }) {
  const name = data.by.map((by) => `${by}=${shown(hyperparameters[by])}`).join(" ") || "all runs";
  const text = `${runs[0]} is in the best quarter of all runs, ${runs.at(-1)} in the worst.`;
  return card("disagree", [el("b", {}, name), "seeds disagree"], text, runs);
}

/** @type {(names: string[]) => HTMLElement} */
function copiesCard(names) {
  const same = `${names.join(", ")}: ${data.metric} is the same, bit for bit.`;
  const text = `${same} What differs between them has no effect, or one is a copy.`;
  return card("disagree", [el("b", {}, counted(names.length, "identical run"))], text, names);
}

/** @type {(outlier: Comparison["outliers"][number]) => HTMLElement} */
function outlierCard({ run, final, usual, deviations }) {
  const far = deviations === null ? null : Math.abs(deviations);
  const text =
    final === null
      ? `It diverged; its group is at ${number(usual)}.`
      : `${number(final)}, its group is at ${number(usual)}: ${rounded(far, 2)} deviations off.`;
  return card("odd", [el("b", {}, run), "outlier"], text, [run]);
}

function curvesFigure() {
  const holder = el("div", { class: "plot" });
  const legend = el("div", { class: "legend" });
  const draw = () => {
    const colorOf = coloring();
    const lines = data.runs.map((run, key) => ({ ...data.curves[key], color: colorOf(run), name: run.run, key }));
    const plot = curvesPlot(lines, Math.max(holder.clientWidth, 300), 330);
    plot.querySelectorAll("path").forEach((line, at) => {
      line.addEventListener("mouseenter", () => light([data.runs[at].run]));
      line.addEventListener("mouseleave", () => light([]));
    });
    holder.replaceChildren(plot);
    legend.replaceChildren(...legendParts());
  };
  const names = [...new Set([...tested, ...data.by])];
  /** @param {string} name */
  const recolor = (name) => {
    colored.by = name;
    draw();
    drawStrips();
  };
  const options = names.map((name) => [name, `Color by ${isolated(name)}`]);
  const choose = names.length > 1 ? select("Color by", options, colored.by, recolor) : null;
  new ResizeObserver(draw).observe(holder);
  const caption = el("figcaption", {}, el("h2", {}, data.metric), choose);
  return el("figure", { class: "lines" }, caption, legend, holder);
}

/** The colors of values; of many, the first value of each color. */
function legendParts() {
  const values = colored.by ? valuesOf(data.runs, colored.by) : [];
  const isMany = values.length > COLORS;
  const firsts = Array.from({ length: COLORS }, (_, at) => `from ${values[Math.ceil((at * values.length) / COLORS)]}`);
  return (isMany ? firsts : values).map((text, at) => {
    const circle = svg("circle", { cx: 6, cy: 6, r: 5, fill: `var(--line-${at})` });
    return el("span", {}, svg("svg", { viewBox: "0 0 12 12" }, circle), text);
  });
}

function drawStrips() {
  const colorOf = coloring();
  const figures = tested.map((name) => {
    const levels = groupsByLevel(data, name).map(({ label, median, runs }) => ({
      label,
      median,
      runs: runs.map((run) => ({
        value: run[data.measure],
        color: colorOf(run),
        name: run.run,
        key: places.get(run.run) ?? 0,
        odd: outlying.has(run.run),
      })),
    }));
    const title = el("h3", {}, `${isolated(data.metric)} (${data.measure}) by ${name}`);
    return el("figure", {}, el("figcaption", {}, title), stripPlot(levels, 560, 230));
  });
  strips.replaceChildren(...figures);
}

/** @typedef {[title: string, kind?: "numeric"]} Title */

/** @type {(titles: Title[], rows: HTMLElement[]) => HTMLElement} */
function table(titles, rows) {
  const heads = titles.map(([title, kind]) => el("th", { scope: "col", class: kind }, title));
  const head = el("thead", {}, el("tr", {}, heads));
  return el("div", { class: "wide" }, el("table", {}, head, el("tbody", {}, rows)));
}

/** @type {(text: string) => HTMLElement} */
function numeric(text) {
  return el("td", { class: "numeric" }, text);
}

/** @type {(flags: [text: string | false | 0, kind: string][]) => HTMLElement} */
function flags(all) {
  const shownFlags = all.filter(([text]) => text).map(([text, kind]) => el("em", { class: kind }, String(text)));
  return el("td", { class: "flags" }, shownFlags);
}

/** @type {(interval: Interval) => string} */
function intervalText({ mean, low, high }) {
  if (mean === null || low === null || high === null) return number(mean);
  return `${number(mean)} ± ${rounded((high - low) / 2, 2)}`;
}

/** The hyperparameters that make groups, as columns. */
const byTitles = data.by.map((name) => /** @type {Title} */ ([name]));

function groupsTable() {
  const ends = data.groups.flatMap(({ final }) => final.mean ?? []);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const room = ends.length > 0 ? 0.15 * (most - least) : 0;
  /** @type {Range} */
  const scale = [least - room, most + room];
  const rows = data.groups.map((group) =>
    el(
      "tr",
      lighting(group.runs),
      data.by.map((name) => el("td", {}, shown(group.hyperparameters[name]))),
      numeric(whole(group.runs.length)),
      numeric(intervalText(group.final)),
      el("td", {}, whisker(group.final, scale)),
      numeric(intervalText(group.best)),
      flags([
        [group.diverged > 0 && `${whole(group.diverged)} diverged`, "diverges"],
        [group.disagree && "seeds disagree", "disagrees"],
      ]),
    ),
  );
  return table([...byTitles, ["Runs", "numeric"], ["Final", "numeric"], [""], ["Best", "numeric"], [""]], rows);
}

function runsTable() {
  const rows = data.runs.slice(0, CHUNK).map((run) =>
    el(
      "tr",
      lighting([run.run]),
      el("td", { class: "name", title: run.run }, run.run),
      data.by.map((name) => el("td", {}, shown(run.hyperparameters[name]))),
      numeric(run.diverged ? "–" : number(run.final)),
      numeric(number(run.best)),
      numeric(whole(run.best_step)),
      flags([
        [run.diverged && "diverged", "diverges"],
        [outlying.has(run.run) && "outlier", "outlying"],
        [run.label && `marked ${run.label}`, run.label],
        [run.verdict !== run.label && run.verdict && `looks ${run.verdict}`, run.verdict],
      ]),
    ),
  );
  const left = data.runs.length - rows.length;
  const note = left > 0 ? [el("p", { class: "note" }, `${whole(left)} more runs are in the JSON.`)] : [];
  return [
    table([["Run"], ...byTitles, ["Final", "numeric"], ["Best", "numeric"], ["at step", "numeric"], [""]], rows),
    ...note,
  ];
}

function tallyParts() {
  const reasons = data.left_out.map(({ run, reason }) => `${isolated(run)}: ${reason}`).join("\n");
  const leftOut = el("span", { title: reasons }, `${whole(data.left_out.length)} left out`);
  return [
    el("span", {}, counted(data.runs.length, "run")),
    el("span", {}, counted(data.groups.length, "group")),
    el("span", {}, data.maximize ? "larger is better" : "smaller is better"),
    ...(data.left_out.length > 0 ? [leftOut] : []),
  ];
}

startTheme();
byId("tally").append(...tallyParts());
drawStrips();
byId("main").replaceChildren(
  el("div", { class: "beside" }, curvesFigure(), findings()),
  strips,
  el("h2", {}, "Groups"),
  groupsTable(),
  el("h2", {}, "Runs, best first"),
  ...runsTable(),
);
