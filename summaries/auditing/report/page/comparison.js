// The page of a comparison: the runs' curves beside what was found, a plot for each hyperparameter, groups and runs.

import { curvesPlot, stripPlot, whisker } from "./axes.js";
import { el, svg } from "./elements.js";
import { counted, number, whole } from "./numbers.js";
import { startTheme } from "./theme.js";

const data = JSON.parse(document.getElementById("data").textContent);
const CHUNK = 200; // rows of the table of runs at first: thousands at once would be slow
const outlying = new Map(data.outliers.map((one) => [one.run, one]));
const byName = new Map(data.runs.map((run, at) => [run.run, { ...run, at }]));
const colored = { by: data.separations[0]?.hyperparameter ?? data.by[0] ?? "" };

/** A value of a hyperparameter as text. */
function shown(value) {
  return value === null || value === undefined ? "–" : typeof value === "number" ? number(value) : String(value);
}

/** The values of a hyperparameter in their natural order: numbers by size, then texts. */
function valuesOf(name) {
  const found = new Map(data.runs.map((run) => [shown(run.hyperparameters[name]), run.hyperparameters[name]]));
  return [...found].sort(([a, x], [b, y]) => (typeof x === "number" && typeof y === "number" ? x - y : a < b ? -1 : 1)).map(([text]) => text);
}

/** The color of a run: that of its value of the chosen hyperparameter; many values share the eight colors in order. */
function colorOf(run) {
  const values = valuesOf(colored.by);
  const at = values.indexOf(shown(run.hyperparameters[colored.by]));
  return values.length <= 8 ? Math.max(at, 0) : Math.floor((8 * Math.max(at, 0)) / values.length);
}

/** Ranges of numbers, from the smallest. */
function inOrder(levels) {
  return [...levels].sort((a, b) => parseFloat(a.value) - parseFloat(b.value));
}

/** A function from a run to its range: ranges hold so many runs each, in the order of their values. */
function rangesOf(name, levels) {
  const runs = data.runs.filter((run) => name in run.hyperparameters).sort((a, b) => a.hyperparameters[name] - b.hyperparameters[name]);
  const ranges = inOrder(levels).flatMap((level) => Array(level.runs).fill(level.value));
  const found = new Map(runs.map((run, at) => [run.run, ranges[at]]));
  return (run) => found.get(run.run);
}

/** The runs at each level of a hyperparameter, for `stripPlot`; many numbers are cut into ranges, as they are tested. */
function levelsOf(name) {
  const levels = data.separations.find((one) => one.hyperparameter === name)?.levels ?? [];
  const values = valuesOf(name);
  const ranged = values.length > 12 && levels.length > 0;
  const place = ranged ? rangesOf(name, levels) : (run) => shown(run.hyperparameters[name]);
  const names = ranged ? inOrder(levels).map(({ value }) => value) : values;
  return names.map((label) => {
    const runs = data.runs.filter((run) => place(run) === label).map((run) => ({
      value: run[data.measure], color: colorOf(run), name: run.run, key: byName.get(run.run).at, odd: outlying.has(run.run) }));
    const finite = runs.map(({ value }) => value ?? Infinity).sort((a, b) => a - b);
    const middle = finite.length > 0 ? (finite[Math.floor((finite.length - 1) / 2)] + finite[Math.floor(finite.length / 2)]) / 2 : null;
    return { label, median: Number.isFinite(middle) ? middle : null, runs };
  });
}

/** Light up some runs in all plots; none for an empty set. */
function light(names) {
  const keys = new Set(names.map((name) => String(byName.get(name)?.at)));
  for (const plot of document.querySelectorAll("svg.curves, svg.strip")) {
    plot.classList.toggle("dimmed", keys.size > 0);
    for (const mark of plot.querySelectorAll("[data-key]")) mark.classList.toggle("lit", keys.has(mark.dataset.key));
  }
}

function lighting(names) {
  return { onmouseenter: () => light(names), onmouseleave: () => light([]) };
}

function card(kind, head, text, names = [], extra = null) {
  return el("li", { class: `finding ${kind}`, ...lighting(names) }, el("div", { class: "head" }, head), extra, el("p", {}, text));
}

/** What stands out: hyperparameters, seeds, outliers, what marks teach. */
function findings() {
  const bar = (share) => svg("svg", { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { width: 100, height: 6 }), svg("rect", { class: "full", width: 100 * share, height: 6 }));
  const cards = data.separations.map((one) => {
    const sure = one.p < data.significant;
    const [best, worst] = [one.levels[0], one.levels.at(-1)];
    const level = ({ value, median }) => `${value} (${median === null ? "most diverge" : `median ${number(median)}`})`;
    return card(sure ? "" : "weak", [el("b", {}, one.hyperparameter), sure ? `explains ${Math.round(100 * one.share)} % of the ranks` : "no effect is seen"],
      `${sure ? `Best ${level(best)}, worst ${level(worst)}. ` : ""}Kruskal–Wallis H ${number(Number(one.statistic.toPrecision(3)))}, p ${number(Number(one.p.toPrecision(2)))}.`, [], bar(one.share));
  });
  if (data.taught) {
    const { good, bad, auc, cut, candidates } = data.taught;
    cards.unshift(card("", [el("b", {}, "Marked runs")],
      `${good} good and ${bad} bad ones are told apart by ${data.metric} (${data.measure}, the best of ${candidates}): AUC ${number(Number(auc.toPrecision(3)))}; good is ${data.maximize ? "at least" : "at most"} ${number(cut)}.`));
  }
  if (data.explained) {
    cards.push(card("weak", [el("b", {}, "Groups")], `${data.explained[0].toUpperCase()}${data.explained.slice(1)}.`, [], bar(1 - data.within)));
  }
  for (const group of data.groups.filter(({ disagree }) => disagree)) {
    cards.push(card("disagree", [el("b", {}, named(group)), "seeds disagree"],
      `${group.runs[0]} is in the best quarter of all runs, ${group.runs.at(-1)} in the worst.`, group.runs));
  }
  for (const names of data.identical) {
    cards.push(card("disagree", [el("b", {}, counted(names.length, "identical run"))],
      `${names.join(", ")}: ${data.metric} is the same, bit for bit. What differs between them has no effect, or one is a copy.`, names));
  }
  for (const one of data.outliers) {
    cards.push(card("odd", [el("b", {}, one.run), "outlier"], one.final === null
      ? `It diverged; its group is at ${number(one.usual)}.`
      : `${number(one.final)}, its group is at ${number(one.usual)}: ${number(Number(Math.abs(one.deviations).toPrecision(2)))} deviations off.`, [one.run]));
  }
  return el("ol", { class: "findings", "aria-label": "What stands out" }, cards);
}

function named(group) {
  return data.by.map((name) => `${name}=${shown(group.hyperparameters[name])}`).join(" ") || "all runs";
}

function curvesFigure() {
  const holder = el("div", { class: "plot" });
  const legend = el("div", { class: "legend" });
  const draw = () => {
    const lines = data.runs.map((run, at) => ({ ...data.curves[at], color: colorOf(run), name: run.run, key: at }));
    const plot = curvesPlot(lines, Math.max(holder.clientWidth, 300), 330);
    for (const line of plot.querySelectorAll("path")) {
      line.addEventListener("mouseenter", () => light([data.runs[Number(line.dataset.key)].run]));
      line.addEventListener("mouseleave", () => light([]));
    }
    holder.replaceChildren(plot);
    const values = valuesOf(colored.by);
    const colors = values.length <= 8 ? values.map((value, at) => [value, at])
      : [...Array(8).keys()].map((at) => [`from ${values[Math.ceil((at * values.length) / 8)]}`, at]);
    legend.replaceChildren(...(colored.by ? colors : []).map(([value, at]) =>
      el("span", {}, svg("svg", { viewBox: "0 0 12 12" }, svg("circle", { cx: 6, cy: 6, r: 5, fill: `var(--line-${at})` })), value)));
  };
  const names = [...new Set([...data.separations.map((one) => one.hyperparameter), ...data.by])];
  const choose = names.length > 1 ? el("select", { "aria-label": "Color by", onchange: (event) => { colored.by = event.target.value; draw(); drawStrips(); } },
    names.map((name) => el("option", { value: name, selected: name === colored.by }, `Color by ${name}`))) : null;
  new ResizeObserver(draw).observe(holder);
  return el("figure", { class: "lines" }, el("figcaption", {}, el("h2", {}, data.metric), choose), legend, holder);
}

const strips = el("div", { class: "strips" });

function drawStrips() {
  const names = data.separations.map((one) => one.hyperparameter);
  strips.replaceChildren(...names.map((name) => el("figure", {},
    el("figcaption", {}, el("h3", {}, `${data.metric} (${data.measure}) by ${name}`)), stripPlot(levelsOf(name), 560, 230))));
}

function table(titles, rows) {
  return el("div", { class: "wide" }, el("table", {},
    el("thead", {}, el("tr", {}, titles.map(([title, kind]) => el("th", { scope: "col", class: kind }, title)))), el("tbody", {}, rows)));
}

function flag(text, kind) {
  return el("em", { class: kind }, text);
}

function groupsTable() {
  const ends = data.groups.flatMap(({ final }) => [final.mean]).filter((value) => value !== null);
  const spread = ends.length > 0 ? Math.max(...ends) - Math.min(...ends) : 0;
  const scale = [Math.min(...ends) - 0.15 * spread, Math.max(...ends) + 0.15 * spread];
  const interval = ({ mean, low, high }) => (mean === null ? "–" : number(mean) + (low === null ? "" : ` ± ${number(Number(((high - low) / 2).toPrecision(2)))}`));
  return table([...data.by.map((name) => [name]), ["Runs", "numeric"], ["Final", "numeric"], [""], ["Best", "numeric"], [""]],
    data.groups.map((group) => el("tr", lighting(group.runs),
      data.by.map((name) => el("td", {}, shown(group.hyperparameters[name]))),
      el("td", { class: "numeric" }, whole(group.runs.length)),
      el("td", { class: "numeric" }, interval(group.final)), el("td", {}, whisker(group.final, scale)),
      el("td", { class: "numeric" }, interval(group.best)),
      el("td", { class: "flags" }, group.diverged > 0 ? flag(`${whole(group.diverged)} diverged`, "diverges") : null,
        group.disagree ? flag("seeds disagree", "disagrees") : null))));
}

function runsTable() {
  const rows = data.runs.slice(0, CHUNK).map((run) => el("tr", lighting([run.run]),
    el("td", { class: "name", title: run.run }, run.run),
    data.by.map((name) => el("td", {}, shown(run.hyperparameters[name]))),
    el("td", { class: "numeric" }, run.diverged ? "–" : number(run.final)), el("td", { class: "numeric" }, number(run.best)),
    el("td", { class: "numeric" }, whole(run.best_step)),
    el("td", { class: "flags" }, run.diverged ? flag("diverged", "diverges") : null, outlying.has(run.run) ? flag("outlier", "outlying") : null,
      run.label ? flag(`marked ${run.label}`, run.label) : null,
      run.verdict && run.verdict !== run.label ? flag(`looks ${run.verdict}`, run.verdict) : null)));
  const left = data.runs.length - rows.length;
  return [table([["Run"], ...data.by.map((name) => [name]), ["Final", "numeric"], ["Best", "numeric"], ["at step", "numeric"], [""]], rows),
    left > 0 ? el("p", { class: "note" }, `${whole(left)} more runs are in the JSON.`) : null];
}

startTheme();
document.getElementById("tally").append(el("span", {}, counted(data.runs.length, "run")), el("span", {}, counted(data.groups.length, "group")),
  el("span", {}, data.maximize ? "larger is better" : "smaller is better"),
  ...(data.left_out.length > 0 ? [el("span", { title: data.left_out.map(({ run, reason }) => `${run}: ${reason}`).join("\n") }, `${whole(data.left_out.length)} left out`)] : []));
drawStrips();
document.getElementById("main").replaceChildren(...[
  el("div", { class: "beside" }, curvesFigure(), findings()),
  strips, el("h2", {}, "Groups"), groupsTable(), el("h2", {}, "Runs, best first"), runsTable(),
].flat().filter((part) => part !== null));
