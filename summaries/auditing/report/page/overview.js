// All runs as a table: worst first, with sorting and filters.

import { el, select, sign, svg } from "./elements.js";
import { shortened } from "./names.js";
import { counted, duration, number, whole } from "./numbers.js";
import { COLUMNS, chosenRows, SEVERITIES, stepsIn, sums, verdict } from "./rows.js";

/** @import { FieldEvent, Filter, Index, Plain, RunRow } from "./types.js" */

const CHUNK = 150; // rows are added in chunks while the reader scrolls: 5,000 at once would be slow
/** @type {["error" | "warning" | "pass", string][]} */
const LABELS = [
  ["error", "with errors"],
  ["warning", "with warnings"],
  ["pass", "passed"],
];
const NOUNS = { error: "error", warning: "warning", info: "note" };

/**
 * The table and its filters. `filter` stays while other pages are shown; with a set `filter.picked`, rows can be picked
 * by their names. `address` is where the page of a row is. Call `update` when rows have changed.
 * @param {Pick<Index, "baseline" | "runs">} index
 * @param {Filter} filter
 * @param {(row: RunRow) => string} address
 */
export function overviewPage(index, filter, address) {
  const body = el("tbody");
  const filters = el("div", { class: "filters" });
  const note = el("p", { class: "note", "aria-live": "polite" });
  const more = el("div", { class: "more" });
  /** @type {RunRow[]} */
  let rows = [];
  let shown = 0;
  const add = () => {
    const next = rows.slice(shown, shown + CHUNK);
    shown += next.length;
    body.append(...next.map((row) => rowOf(row, index.baseline, address, filter)));
  };
  const redraw = () => {
    const room = Math.max(shown, CHUNK);
    rows = chosenRows(index.runs, filter);
    body.replaceChildren();
    shown = 0;
    while (shown < Math.min(room, rows.length)) add();
    const all = counted(index.runs.length, "run");
    note.textContent = rows.length === index.runs.length ? "" : `${whole(rows.length)} of ${all}`;
  };
  const update = () => {
    const hasNorms = index.runs.some((row) => row.norm || row.reading);
    element.classList.toggle("no-norms", !hasNorms && index.runs.length > 0);
    filters.replaceChildren(verdictButtons(index.runs, filter, redraw), ...codeSelect(index.runs, filter, redraw));
    redraw();
  };
  const watcher = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting) && shown < rows.length) add();
    },
    { rootMargin: "800px" },
  );
  watcher.observe(more);
  const head = el("thead", {}, headers(filter, redraw));
  const element = el(
    "section",
    { class: "overview" },
    el("h1", { class: "unseen" }, "All runs"),
    el("div", { class: "tools" }, searchBox(filter, redraw), filters, note),
    el("div", { class: "wide" }, el("table", {}, head, body)),
    more,
  );
  update();
  return { element, update, close: () => watcher.disconnect() };
}

/** How many runs there are, and how many findings of each severity. @type {(runs: RunRow[]) => HTMLElement[]} */
export function findingSums(runs) {
  return sums(runs).map(([severity, sum]) => el("span", {}, sign(severity), counted(sum, NOUNS[severity])));
}

/** @type {(filter: Filter, update: () => void) => HTMLElement} */
function headers(filter, update) {
  const columns = filter.norms ? COLUMNS : COLUMNS.slice(0, -2); // norms take room
  const cells = columns.map(([title, kind, key, largestFirst], column) => {
    const onclick = () => {
      filter.descending = filter.column === column ? !filter.descending : largestFirst;
      filter.column = column;
      mark();
      update();
    };
    const content = key === null ? title : el("button", { type: "button", onclick }, title || "Verdict");
    return el("th", { class: kind, scope: "col" }, content);
  });
  const mark = () => {
    for (const cell of cells) cell.removeAttribute("aria-sort");
    cells[filter.column].setAttribute("aria-sort", filter.descending ? "descending" : "ascending");
  };
  mark();
  return el("tr", {}, cells);
}

/** @type {(row: RunRow, baseline: string | null, address: (row: RunRow) => string, filter: Filter) => HTMLElement} */
function rowOf(row, baseline, address, filter) {
  const name = el(
    "th",
    { class: "name", scope: "row", title: row.name },
    filter.picked ? pickBox(row, filter.picked, filter) : null,
    el("a", { href: address(row) }, el("bdi", {}, shortened(row.name))),
    row.name === baseline ? el("em", {}, "baseline") : null,
  );
  /** @param {MouseEvent} event */
  const onclick = ({ target }) => {
    const isControl = /** @type {Element} */ (target).closest("a, input");
    if (!isControl && !String(getSelection())) location.hash = address(row);
  };
  return el(
    "tr",
    { class: verdict(row), onclick },
    el("td", { class: "verdict" }, sign(verdict(row))),
    name,
    row.reading ? el("td", { class: "worst" }, "Reading…") : worstCell(row),
    amounts(row),
    sparkCells("", row.main, row.spark, row.loss),
    filter.norms ? sparkCells(" norm", row.norm?.tag, row.norm?.spark, row.norm?.last) : [],
  );
}

/**
 * A curve in small, and its last value.
 * @type {(kind: string, tag?: string | null, spark?: number[], last?: Plain | null) => HTMLElement[]}
 */
function sparkCells(kind, tag, spark = [], last = null) {
  const title = tag && `${tag}: by its logarithm, if it is positive and spans more than a factor of 10`;
  return [
    el("td", { class: `spark${kind}`, title }, sparkline(spark)),
    el("td", { class: `loss${kind}` }, last === null ? "–" : number(Number(last))),
  ];
}

/** A box that picks a run. @type {(row: RunRow, picked: Set<string>, filter: Filter) => HTMLElement} */
function pickBox({ name }, picked, filter) {
  /** @param {FieldEvent} event */
  const onchange = ({ target }) => {
    if (target.checked) picked.add(name);
    else picked.delete(name);
    filter.onpick?.();
  };
  return el("input", { type: "checkbox", "aria-label": `Pick ${name}`, checked: picked.has(name), onchange });
}

/** How many findings of each severity, how many steps, and how long it took. @type {(row: RunRow) => HTMLElement[]} */
function amounts(row) {
  const steps = stepsIn(row.steps);
  return [
    ...row.counts.map((many, at) =>
      el("td", { class: `count ${many > 0 ? SEVERITIES[at] : "none"}` }, many > 0 ? whole(many) : "·"),
    ),
    el("td", { class: "steps" }, steps === null ? "–" : whole(steps)),
    el("td", { class: "took" }, row.seconds === null ? "–" : duration(Number(row.seconds))),
  ];
}

/** What could not be audited; otherwise the worst finding. @type {(row: RunRow) => HTMLElement} */
function worstCell({ failures: [failure], worst }) {
  const told = failure === undefined ? worst : { code: "Not audited", severity: "error", message: failure };
  if (told === null) return el("td", { class: "worst" });
  const code = el("span", { class: `code ${told.severity}` }, told.code);
  return el("td", { class: "worst", title: told.message }, el("div", {}, code, " ", told.message));
}

/**
 * The loss in a box of 96 x 20: a line, with ticks at the top where it is not finite.
 * @type {(points: number[]) => SVGElement | null}
 */
function sparkline(points) {
  if (points.length === 0) return null;
  let line = "";
  let odd = "";
  let pen = "M";
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = [points[i], points[i + 1]];
    if (y < 0) odd += `M${x} 0v6`;
    else line += `${pen}${x} ${y}`;
    pen = y < 0 ? "M" : "L";
  }
  return svg(
    "svg",
    { class: "sparkline", viewBox: "-2 -3 100 26", "aria-hidden": "true" },
    svg("path", { d: line }),
    odd ? svg("path", { class: "odd", d: odd }) : null,
  );
}

/** @type {(filter: Filter, update: () => void) => HTMLElement} */
function searchBox(filter, update) {
  /** @param {FieldEvent} event */
  const oninput = ({ target }) => {
    filter.text = target.value;
    update();
  };
  const label = { placeholder: "Filter by name", "aria-label": "Filter runs by name" };
  return el("input", { type: "search", ...label, value: filter.text, oninput });
}

/**
 * A button for each verdict, with its number of runs. Pressed ones are shown; if none is pressed, all are.
 * @type {(runs: RunRow[], filter: Filter, update: () => void) => HTMLElement}
 */
function verdictButtons(runs, { verdicts }, update) {
  const buttons = LABELS.map(([kind, label]) => {
    const count = runs.filter((row) => verdict(row) === kind).length;
    const onclick = () => {
      if (!verdicts.delete(kind)) verdicts.add(kind);
      button.setAttribute("aria-pressed", String(verdicts.has(kind)));
      update();
    };
    const state = { "aria-pressed": String(verdicts.has(kind)), disabled: count === 0 };
    const button = el("button", { type: "button", ...state, onclick }, sign(kind), `${whole(count)} ${label}`);
    return button;
  });
  return el("div", { class: "choice", role: "group", "aria-label": "Verdicts" }, buttons);
}

/**
 * The rules that found something, and in how many runs.
 * @type {(runs: RunRow[], filter: Filter, update: () => void) => HTMLElement[]}
 */
function codeSelect(runs, filter, update) {
  /** @type {Map<string, { name: string, count: number }>} */
  const rules = new Map();
  for (const [code, name] of runs.flatMap(({ codes }) => Object.entries(codes))) {
    rules.set(code, { name, count: (rules.get(code)?.count ?? 0) + 1 });
  }
  if (rules.size === 0) return [];
  const codes = [...rules.keys()].sort();
  const options = codes.map((code) => {
    const { name, count } = rules.get(code) ?? { name: "", count: 0 };
    return [code, `${code} ${name}: ${counted(count, "run")}`];
  });
  /** @param {string} code */
  const choose = (code) => {
    filter.code = code;
    update();
  };
  return [select("Filter by rule", [["", "Every rule"], ...options], filter.code, choose)];
}
