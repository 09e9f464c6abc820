// What the table of runs computes: columns and their names, filters, orders, groups, places on an axis, and CSV.

import { valueAxis } from "../../../auditing/report/page/axes.js";
import { isolated } from "../../../auditing/report/page/names.js";
import { matching } from "./wall_data.js";

/** @import { Cell, PlotAxis, TableColumn } from "./answers.js" */

/** What each row says of its run by itself. @type {Record<string, string>} */
export const OWN = { verdict: "Verdict", worst: "Worst finding", steps: "Steps", points: "Points", took: "Took" };
/** What the table says of the values of a tag. */
export const MEASURES = { last: "Last value", smallest: "Smallest", largest: "Largest", at: "At step" };

const BETWEEN = /^(\S*?)\s*\.\.\s*(\S*)$/;
const COMPARED = /^(<=|>=|<|>|=|!=)\s*(.+)$/s;
const KEY = /^(parameter|last|smallest|largest|at)(?:@(-?\d+))?:(.*)$/s;
const RANKS = { number: 0, odd: 1, text: 2, none: 3 };
const collator = new Intl.Collator("en", { numeric: true });

/** @type {Record<string, (a: number, b: number) => boolean>} */
const COMPARE = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

/**
 * A column by its key, such as took, parameter:lr, last:val/loss or at@100:val/loss; null if there is no such column.
 * @type {(key: string) => TableColumn | null}
 */
export function columnOf(key) {
  if (Object.hasOwn(OWN, key)) return { key, kind: "own", name: key, step: 0, title: OWN[key], plain: OWN[key] };
  const [, kind, step = "0", name] = KEY.exec(key) ?? [];
  if (kind === undefined) return null;
  const told = { parameter: "", last: ", last", smallest: ", smallest", largest: ", largest", at: ` at ${step}` };
  const after = told[/** @type {keyof typeof told} */ (kind)];
  return { key, kind, name, step: Number(step), title: isolated(name) + after, plain: name + after };
}

/** What the server is asked for a column. @type {(column: TableColumn) => (string | number)[]} */
export function asking({ kind, name, step }) {
  return kind === "at" ? [kind, name, step] : [kind, name];
}

/**
 * The columns that are shown first: what tells the runs apart, the last values of the main tags, which are the loss and
 * its validation, and the smallest of the latter.
 * @type {(parameters: { name: string, values: number, chosen: boolean }[], main: string[]) => string[]}
 */
export function firstColumns(parameters, main) {
  const differ = parameters.filter(({ values }) => values > 1);
  const chosen = differ.filter((one) => one.chosen);
  const told = (chosen.length > 0 ? chosen : differ).slice(0, 8).map(({ name }) => `parameter:${name}`);
  const values = [...main.map((tag) => `last:${tag}`), ...main.slice(-1).map((tag) => `smallest:${tag}`)];
  return ["verdict", ...told, ...values, "steps", "took"];
}

/**
 * Which cells a filter lets pass: `< 0.1`, `0.1..0.3`, `= relu`, `!= relu`, a text, or a pattern between slashes.
 * @type {(text: string) => { test: (cell: Cell) => boolean, problem: string }}
 */
export function filterOf(text) {
  const wanted = text.trim();
  const [, from, to] = BETWEEN.exec(wanted) ?? [];
  const [low, high] = [from ? Number(from) : -Infinity, to ? Number(to) : Infinity];
  if (from !== undefined && !Number.isNaN(low) && !Number.isNaN(high)) {
    return { test: (cell) => typeof cell === "number" && cell >= low && cell <= high, problem: "" };
  }
  const [, sign, other = ""] = COMPARED.exec(wanted) ?? [];
  if (sign === "=" || sign === "!=") {
    const isSame = (/** @type {Cell} */ cell) => cell !== null && String(cell) === String(other);
    const isEqual = (/** @type {Cell} */ cell) => isSame(cell) || (typeof cell === "number" && cell === Number(other));
    return { test: (cell) => isEqual(cell) === (sign === "="), problem: "" };
  }
  if (sign && !Number.isNaN(Number(other))) {
    return { test: (cell) => typeof cell === "number" && COMPARE[sign](cell, Number(other)), problem: "" };
  }
  const { test, problem } = matching(wanted);
  return { test: (cell) => wanted === "" || (cell !== null && test(String(cell))), problem };
}

/** A pattern that matches exactly these names, as a search reads it. @type {(names: string[]) => string} */
export function exactly(names) {
  const breaks = { "\n": "\\n", "\r": "\\r", "\u2028": "\\u2028", "\u2029": "\\u2029" };
  const escaped = names.map((name) =>
    name
      .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
      .replace(/[\n\r\u2028\u2029]/g, (found) => breaks[/** @type {keyof typeof breaks} */ (found)]),
  );
  return `/^(?:${escaped.join("|")})$/`;
}

/**
 * The filter that lets these cells of a brush pass, all of one kind; "" if there are none.
 * @type {(cells: Cell[]) => string}
 */
export function filterFor(cells) {
  if (cells.length === 0) return "";
  const numbers = cells.filter((cell) => typeof cell === "number");
  if (numbers.length < cells.length) return exactly([...new Set(cells.map(String))]);
  return `${Math.min(...numbers)}..${Math.max(...numbers)}`;
}

/** @type {(cell: Cell) => number} */
function rank(cell) {
  if (cell === null) return RANKS.none;
  if (typeof cell !== "number") return RANKS.text;
  return Number.isFinite(cell) ? RANKS.number : RANKS.odd;
}

/**
 * Items in the order of their cells: numbers, what is not finite, texts; what is missing always comes last.
 * @template Item
 * @param {Item[]} items
 * @param {(item: Item) => Cell} cell
 * @param {boolean} descending
 */
export function sorted(items, cell, descending) {
  const keyed = items.map((item, at) => ({ item, at, key: cell(item) }));
  keyed.sort((a, b) => {
    const apart = rank(a.key) - rank(b.key);
    if (apart !== 0) return apart;
    const numbers = typeof a.key === "number" && typeof b.key === "number";
    const order = numbers ? Number(a.key) - Number(b.key) : collator.compare(String(a.key), String(b.key));
    return (descending ? -order : order) || a.at - b.at;
  });
  return keyed.map(({ item }) => item);
}

/**
 * Items by their cells, in order of first appearance.
 * @template Item
 * @param {Item[]} items
 * @param {(item: Item) => Cell} cell
 */
export function groupsOf(items, cell) {
  /** @type {Map<Cell, Item[]>} */
  const groups = new Map();
  for (const item of items) {
    const key = cell(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/**
 * Mean and standard deviation of the finite numbers; null if there is something else, or nothing.
 * @type {(cells: Cell[]) => { mean: number, deviation: number, left: number } | null}
 */
export function spread(cells) {
  const told = cells.filter((cell) => cell !== null);
  const numbers = told.filter((cell) => typeof cell === "number");
  const finite = numbers.filter(Number.isFinite);
  if (finite.length === 0 || numbers.length < told.length) return null;
  const mean = finite.reduce((sum, value) => sum + value / finite.length, 0);
  const squares = finite.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / Math.max(finite.length - 1, 1));
  return { mean, deviation, left: cells.length - finite.length };
}

/**
 * Where cells lie on an axis of so many pixels, from its lower end: numbers by size, texts beside one another.
 * @type {(cells: Cell[], length: number) => PlotAxis}
 */
export function axisOf(cells, length) {
  const told = cells.filter((cell) => cell !== null);
  const numbers = told.filter((cell) => typeof cell === "number");
  if (numbers.length === told.length) {
    const { y, ticks } = valueAxis(numbers, 0, length);
    const at = (/** @type {Cell} */ cell) => (Number.isFinite(cell) ? length - y(Number(cell)) : null);
    const inside = ticks.map((value) => ({ value, at: length - y(value) }));
    return { at, ticks: inside.filter((tick) => tick.at >= 0 && tick.at <= length) };
  }
  const texts = [...new Set(told.map(String))].sort(collator.compare);
  const place = new Map(texts.map((text, k) => [text, ((k + 0.5) / texts.length) * length]));
  return {
    at: (cell) => (cell === null ? null : (place.get(String(cell)) ?? null)),
    ticks: texts.map((text) => ({ value: text, at: place.get(text) ?? 0 })),
  };
}

/**
 * Rows of cells as text, with commas or tabs between them. A text that a spreadsheet would take for a formula has an
 * apostrophe before it.
 * @type {(rows: Cell[][], separator: "," | "\t") => string}
 */
export function separated(rows, separator) {
  /** @param {Cell} cell */
  const written = (cell) => {
    if (typeof cell !== "string") return cell === null ? "" : String(cell);
    const text = /^[=+\-@\t\r]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell;
    return /["\n\r]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(written).join(separator)}\r\n`).join("");
}
