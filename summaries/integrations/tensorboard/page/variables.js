// Variables of a run as rows: their names, their order and their groups; and what a cell of one says in words.

import { distinct, isolated } from "../../../auditing/report/page/names.js";
import { number, stepRange, whole } from "../../../auditing/report/page/numbers.js";

/** @import { Range } from "../../../auditing/report/page/types.js" */
/** @import { Arrangement, Pointed, RowGroup, Variable } from "./answers.js" */

/** What a row is called. @type {(variable: Variable) => string} */
export function nameOf({ variable, tag }) {
  return variable || tag;
}

/** Rows in the order of the run, or by name and in groups. @type {(rows: Variable[], order: string) => Arrangement} */
export function arrangement(rows, order) {
  return order === "name" ? grouped(rows) : { order: [...rows.keys()], groups: null };
}

/**
 * Rows by name, in groups by the first part of their names that differs; without groups if each would have one row.
 * @type {(rows: Variable[]) => Arrangement}
 */
export function grouped(rows) {
  const names = distinct(rows.map(nameOf));
  const order = [...names.keys()].sort((a, b) => names[a].localeCompare(names[b], "en", { numeric: true }) || a - b);
  const deepest = Math.max(...names.map((name) => name.split("/").length));
  /** @param {number} depth */
  const keys = (depth) => order.map((row) => names[row].split("/").slice(0, depth).join("/"));
  let depth = 1;
  while (depth < deepest && new Set(keys(depth)).size < 2) depth++;
  /** @type {RowGroup[]} */
  const groups = [];
  keys(depth).forEach((name, line) => {
    const last = groups.at(-1);
    if (last?.name === name) last.count++;
    else groups.push({ name, first: line, count: 1 });
  });
  return { order, groups: groups.length < rows.length ? groups : null };
}

/** The whole steps in a cell, in words. @type {(cell: Range) => string} */
export function stepsInWords([from, to]) {
  const first = Math.ceil(from);
  const last = Math.max(Math.ceil(to) - 1, first);
  return first >= last ? `step ${whole(Math.round((from + to) / 2))}` : stepRange([first, last]);
}

/** What is under the pointer, in words. @type {(pointed: Pointed, describe?: (value: number) => string) => string} */
export function inWords({ name, steps, value = NaN }, describe = valueInWords) {
  return steps ? `${isolated(name)}, ${steps}: ${describe(value)}` : name;
}

/** @type {(value: number) => string} */
function valueInWords(value) {
  if (value === Infinity) return "not finite";
  return Number.isNaN(value) ? "nothing here" : number(value);
}
