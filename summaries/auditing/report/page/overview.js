// All runs as a table: worst first, with sorting and filters.

import { el, middleLeftOut, sign, svg } from "./elements.js";
import { counted, duration, number, whole } from "./numbers.js";

const CHUNK = 150; // rows are added in chunks while the reader scrolls: 5,000 at once would be slow
export const SEVERITIES = ["error", "warning", "info"];
const LABELS = { error: "with errors", warning: "with warnings", pass: "passed" };

/** The verdict of a run: error, warning or pass. Notes pass; a run that was not fully audited does not. */
export function verdict(row) {
  if (row.reading) return "pending";
  return row.counts[0] + row.failures.length > 0 ? "error" : row.counts[1] > 0 ? "warning" : "pass";
}

/** How many steps a run took: 300 for steps 0 to 299, as the terminal says. */
function stepsOf(row) {
  return row.steps && row.steps[1] - row.steps[0] + 1;
}

// Header, class, sort key of a row, and whether the largest comes first.
const COLUMNS = [
  ["", "verdict", (row) => row.rank, true],
  ["Run", "name", (row) => row.position, false],
  ["Worst finding", "worst", (row) => (row.worst ? row.worst.code : "~"), false],
  ["Errors", "count", (row) => row.counts[0], true],
  ["Warnings", "count", (row) => row.counts[1], true],
  ["Info", "count", (row) => row.counts[2], true],
  ["Steps", "steps", (row) => stepsOf(row) ?? -Infinity, true],
  ["Took", "took", (row) => Number(row.seconds ?? -Infinity), true],
  ["Loss or reward", "spark", null, false],
  ["Last value", "loss", (row) => sizeOf(row.loss), false],
  ["Gradient norm", "spark norm", null, false],
  ["Last norm", "loss norm", (row) => sizeOf(row.norm?.last ?? null), true],
];

/** A number to sort by: what is not finite comes after all numbers, what is missing last. */
function sizeOf(value) {
  return value === null ? Infinity : Number.isFinite(Number(value)) ? Number(value) : 1e308;
}

/**
 * The table and its filters: {element, update, close}. `state` keeps the filters while other pages are shown; with a set
 * `state.picked`, rows can be picked by their names. `address` is where the page of a row is. Call `update` when rows
 * have changed.
 */
export function overviewPage(index, state, address = (row) => `#/${row.position}`) {
  const body = el("tbody");
  const filters = el("div", { class: "filters" });
  const note = el("p", { class: "note", "aria-live": "polite" });
  const more = el("div", { class: "more" });
  let rows = [];
  let shown = 0;
  const add = () => {
    const next = rows.slice(shown, shown + CHUNK);
    shown += next.length;
    body.append(...next.map((row) => rowOf(row, index.baseline, address, state)));
  };
  const update = () => {
    filters.replaceChildren(...[verdictButtons(index, state, redraw), codeSelect(index, state, redraw)].filter(Boolean));
    redraw();
  };
  const redraw = () => {
    const room = Math.max(shown, CHUNK);
    rows = sorted(index.runs.filter((row) => passes(row, state)), state);
    body.replaceChildren();
    shown = 0;
    while (shown < Math.min(room, rows.length)) add();
    note.textContent = rows.length === index.runs.length ? "" : `${whole(rows.length)} of ${counted(index.runs.length, "run")}`;
  };
  const watcher = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting) && shown < rows.length) add(); },
    { rootMargin: "800px" });
  watcher.observe(more);
  const element = el("section", { class: "overview" },
    el("h1", { class: "unseen" }, "All runs"),
    el("div", { class: "tools" }, searchBox(state, redraw), filters, note),
    el("div", { class: "wide" }, el("table", {}, el("thead", {}, headers(state, redraw)), body)), more);
  update();
  return { element, update, close: () => watcher.disconnect() };
}

export function passes(row, { text, verdicts, code }) {
  return (text === "" || row.name.toLowerCase().includes(text.toLowerCase()))
    && (verdicts.size === 0 || verdicts.has(verdict(row))) && (code === "" || code in row.codes);
}

export function sorted(rows, { column, descending }) {
  const key = COLUMNS[column][2];
  const compare = (a, b) => (a === b ? 0 : a < b ? -1 : 1);
  return rows.sort((a, b) => (descending ? -1 : 1) * compare(key(a), key(b)) || a.position - b.position);
}

function headers(state, update) {
  const cells = columns(state).map(([label, kind, key, largestFirst], column) => {
    if (key === null) return el("th", { class: kind, scope: "col" }, label);
    const button = el("button", { type: "button", onclick: () => {
      state.descending = state.column === column ? !state.descending : largestFirst;
      state.column = column;
      mark();
      update();
    } }, label || "Verdict");
    return el("th", { class: kind, scope: "col" }, button);
  });
  const mark = () => cells.forEach((cell, column) => {
    if (column === state.column) cell.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
  mark();
  return el("tr", {}, cells);
}

/** The columns of the table; norms only if somebody asks for them, which takes room. */
function columns(state) {
  return state.norms ? COLUMNS : COLUMNS.slice(0, -2);
}

function rowOf(row, baseline, address, state) {
  const link = el("a", { href: address(row) }, middleLeftOut(row.name));
  const name = el("th", { class: "name", scope: "row", title: row.name }, state.picked ? pickBox(row, state) : null, link,
    row.name === baseline ? el("em", {}, "baseline") : null);
  const open = (event) => { if (!event.target.closest("a, input") && !String(getSelection())) location.hash = address(row); };
  const sparks = [[row.main, row.spark, row.loss], [row.norm?.tag, row.norm?.spark, row.norm?.last ?? null]];
  const told = row.reading ? el("td", { class: "worst" }, "Reading…") : worstCell(row);
  return el("tr", { class: verdict(row), onclick: open }, el("td", { class: "verdict" }, sign(verdict(row))), name, told, counts(row),
    sparks.slice(0, state.norms ? 2 : 1).flatMap(([tag, spark, last], at) => [
      el("td", { class: at ? "spark norm" : "spark", title: tag }, sparkline(spark ?? [])),
      el("td", { class: at ? "loss norm" : "loss" }, last === null || last === undefined ? "–" : number(Number(last)))]));
}

/** A box that picks a run. */
function pickBox(row, state) {
  return el("input", { type: "checkbox", "aria-label": `Pick ${row.name}`, checked: state.picked.has(row.name), onchange: (event) => {
    if (event.target.checked) state.picked.add(row.name);
    else state.picked.delete(row.name);
    state.onpick();
  } });
}

/** How many findings of each severity, how many steps, and how long it took. */
function counts(row) {
  const [errors, warnings, infos] = row.counts;
  const count = (many, severity) => el("td", { class: `count ${many > 0 ? severity : "none"}` }, many > 0 ? whole(many) : "·");
  return [count(errors, "error"), count(warnings, "warning"), count(infos, "info"),
    el("td", { class: "steps" }, row.steps ? whole(stepsOf(row)) : "–"),
    el("td", { class: "took" }, row.seconds === null ? "–" : duration(Number(row.seconds)))];
}

/** What could not be audited; otherwise the worst finding. */
function worstCell({ failures, worst }) {
  const [label, severity, message] = failures.length > 0 ? ["Not audited", "error", failures[0]]
    : [worst?.code, worst?.severity, worst?.message];
  return el("td", { class: "worst", title: message }, label ? el("div", {}, el("span", { class: `code ${severity}` }, label), " ", message) : null);
}

/** The loss in a box of 96 x 20: a line, with ticks at the top where it is not finite. */
function sparkline(points) {
  if (points.length === 0) return null;
  let line = "";
  let odd = "";
  let pen = "M";
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = [points[i], points[i + 1]];
    if (y < 0) { odd += `M${x} 0v6`; pen = "M"; continue; }
    line += `${pen}${x} ${y}`;
    pen = "L";
  }
  return svg("svg", { class: "sparkline", viewBox: "-2 -3 100 26", "aria-hidden": "true" },
    svg("path", { d: line }), odd ? svg("path", { class: "odd", d: odd }) : null);
}

function searchBox(state, update) {
  return el("input", { type: "search", placeholder: "Filter by name", "aria-label": "Filter runs by name", value: state.text,
    oninput: (event) => { state.text = event.target.value; update(); } });
}

/** A button for each verdict, with its number of runs. Pressed ones are shown; if none is pressed, all are. */
function verdictButtons(index, state, update) {
  return el("div", { class: "choice", role: "group", "aria-label": "Verdicts" }, Object.entries(LABELS).map(([kind, label]) => {
    const count = index.runs.filter((row) => verdict(row) === kind).length;
    return el("button", { type: "button", "aria-pressed": String(state.verdicts.has(kind)), disabled: count === 0, onclick: (event) => {
      if (!state.verdicts.delete(kind)) state.verdicts.add(kind);
      event.currentTarget.setAttribute("aria-pressed", String(state.verdicts.has(kind)));
      update();
    } }, sign(kind), `${whole(count)} ${label}`);
  }));
}

/** The rules that found something, and in how many runs. */
function codeSelect(index, state, update) {
  const found = new Map();
  for (const { codes } of index.runs) {
    for (const [code, name] of Object.entries(codes)) found.set(code, { name, runs: (found.get(code)?.runs ?? 0) + 1 });
  }
  if (found.size === 0) return null;
  const options = [...found].sort().map(([code, { name, runs }]) =>
    el("option", { value: code, selected: code === state.code }, `${code} ${name}: ${counted(runs, "run")}`));
  return el("select", { "aria-label": "Filter by rule", onchange: (event) => { state.code = event.target.value; update(); } },
    el("option", { value: "" }, "Every rule"), options);
}
