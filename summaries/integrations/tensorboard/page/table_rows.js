// Rows of the table of runs: a run's, and the one above a group of runs.

import { el, quietButton, sign } from "../../../auditing/report/page/elements.js";
import { isolated, shortened } from "../../../auditing/report/page/names.js";
import { counted, duration, number } from "../../../auditing/report/page/numbers.js";
import { stepsIn, verdict } from "../../../auditing/report/page/rows.js";
import { addressOf } from "./address.js";
import { spread } from "./table_data.js";
import { lineClass } from "./wall_data.js";

/** @import { FieldEvent, RunRow } from "../../../auditing/report/page/types.js" */
/** @import { Cell, TableColumn } from "./answers.js" */

const WIDEST_TEXT = 44; // characters of a cell

/** @typedef {(picked: boolean) => void} OnPick */

/** @type {(name: string, cells: HTMLElement[], color: number, picked: boolean, onpick: OnPick) => HTMLElement} */
export function rowOf(name, cells, color, picked, onpick) {
  /** @param {FieldEvent} event */
  const onchange = ({ target }) => onpick(target.checked);
  const box = el("input", { type: "checkbox", "aria-label": `Pick ${name}`, checked: picked, onchange });
  const link = el("a", { href: addressOf("run", name), title: name }, el("bdi", {}, shortened(name)));
  const head = el("th", { scope: "row", class: "name" }, box, el("span", { class: `mark ${lineClass(color)}` }), link);
  return el("tr", { "data-run": name, class: picked ? "picked" : null }, head, cells);
}

/** @type {(row: RunRow, column: TableColumn, cell: Cell) => HTMLElement} */
export function cellOf(row, { key }, cell) {
  if (key === "verdict") {
    const code = row.worst && !row.reading ? ` ${row.worst.code}` : "";
    return el("td", { title: row.worst?.message }, sign(verdict(row)), code);
  }
  if (cell === null) return el("td", { class: "number" }, "–");
  if (typeof cell !== "number") {
    return el("td", { title: String(cell) }, el("bdi", {}, shortened(String(cell), WIDEST_TEXT)));
  }
  return el("td", { class: "number", title: String(cell) }, key === "took" ? duration(cell) : number(cell));
}

/**
 * The row above a group: how many runs it has, what they have in common, and their means.
 * @param {TableColumn} by
 * @param {Cell} key
 * @param {number} runs
 * @param {TableColumn[]} columns
 * @param {(column: TableColumn) => Cell[]} cellsOf
 * @param {boolean} isOpen
 * @param {() => void} fold
 */
export function groupRow(by, key, runs, columns, cellsOf, isOpen, fold) {
  const named = isolated(shortened(`${by.title} = ${key ?? "none"}`, 50));
  const text = `${isOpen ? "▾" : "▸"} ${named}: ${counted(runs, "run")}`;
  const head = el("th", { scope: "row", class: "name" }, quietButton(text, fold, { "aria-expanded": String(isOpen) }));
  const cells = columns.map((column) => {
    if (column.kind === "parameter") return inCommon(cellsOf(column));
    const found = column.key === by.key ? null : spread(cellsOf(column));
    if (found === null) return el("td");
    const shown = column.key === "took" ? duration : number;
    const apart = found.deviation > 0 ? ` ± ${shown(Number(found.deviation.toPrecision(2)))}` : "";
    const left = found.left > 0 ? `, without ${counted(found.left, "run")} without a finite number` : "";
    const title = `Mean ± standard deviation${left}`;
    return el("td", { class: "number", title }, shown(found.mean), apart, left ? "*" : "");
  });
  return el("tr", { class: "group", "data-run": `group ${key}` }, head, cells);
}

/** What all runs of a group have; nothing if they differ: a mean of seeds would say nothing. @param {Cell[]} cells */
function inCommon(cells) {
  const [first, ...others] = new Set(cells);
  if (others.length > 0 || first === null) return el("td");
  const isNumber = typeof first === "number";
  return el(
    "td",
    { class: isNumber ? "number" : null },
    isNumber ? number(first) : shortened(String(first), WIDEST_TEXT),
  );
}

/** What a row of the audit says in one of its own columns. @type {(row: RunRow, key: string) => Cell} */
export function ownCell(row, key) {
  if (key === "verdict") return verdict(row);
  if (key === "worst") return row.worst ? `${row.worst.code} ${row.worst.message}` : null;
  if (key === "steps") return stepsIn(row.steps);
  if (key === "took") return row.seconds === null ? null : Number(row.seconds);
  return row.points;
}

/**
 * Give the focus back to the same element of a run's row.
 * @type {(body: HTMLElement, run: string, tagName: string) => void}
 */
export function refocus(body, run, tagName) {
  const row = [...body.children].find((one) => one.getAttribute("data-run") === run);
  /** @type {HTMLElement | null | undefined} */ (row?.querySelector(tagName))?.focus({ preventScroll: true });
}
