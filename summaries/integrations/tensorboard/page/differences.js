// By how much the cells of one run are larger than those of another.

import { number, rounded } from "../../../auditing/report/page/numbers.js";

/** @import { Column, Range } from "../../../auditing/report/page/types.js" */
/** @import { CellSource, Part } from "./answers.js" */
/** @import { Statistic } from "./cells.js" */

const OVERVIEW = 1200; // columns of the picture of the whole run

/**
 * Only some rows of a statistic, in this order, over these steps.
 * @type {(statistic: Statistic, rows: number[], steps: Range) => CellSource}
 */
export function onlyRows(statistic, rows, steps) {
  /** @param {Part} part */
  const only = (part) => {
    const cells = new Float64Array(rows.length * part.width);
    rows.forEach((row, line) => {
      cells.set(part.cells.subarray(row * part.width, (row + 1) * part.width), line * part.width);
    });
    return { ...part, cells };
  };
  return {
    rows: rows.map((row) => statistic.rows[row]),
    steps,
    whole: only(statistic.whole),
    between: async (...range) => only(await statistic.between(...range)),
  };
}

/**
 * The rows of two statistics that are about the same variables: [row of the first, row of the second].
 * @type {(names: string[], others: string[]) => [number, number][]}
 */
export function sharedRows(names, others) {
  const places = new Map(others.map((name, row) => [name, row]));
  return names.flatMap((name, row) => {
    const other = places.get(name);
    return other === undefined ? [] : [[row, other]];
  });
}

/**
 * By how much the second is larger than the first.
 * @type {(first: CellSource, second: CellSource, log: boolean) => Promise<CellSource>}
 */
export async function difference(first, second, log) {
  /** @type {CellSource["between"]} */
  const between = async (...range) => {
    const [a, b] = await Promise.all([first.between(...range), second.between(...range)]);
    return { ...a, cells: differences(a.cells, b.cells, log) };
  };
  const { rows, steps } = first;
  return { rows, steps, between, whole: await between(...steps, OVERVIEW) };
}

/**
 * Powers of two if values are logarithmic, else differences; infinite where a value is not finite, NaN where one lacks.
 * @type {(first: Column, second: Column, log: boolean) => Float64Array}
 */
export function differences(first, second, log) {
  return Float64Array.from(first, (value, at) => {
    const other = second[at];
    if (Number.isNaN(value) || Number.isNaN(other)) return NaN;
    if (!Number.isFinite(value) || !Number.isFinite(other)) return Infinity;
    if (!log) return other - value;
    if (value > 0 && other > 0) return Math.log2(other / value);
    return value === other ? 0 : NaN;
  });
}

/**
 * The largest difference that has a color of its own: 19 of 20 are smaller.
 * @type {(cells: Column, log: boolean) => number}
 */
export function spread(cells, log) {
  const sizes = cells.filter(Number.isFinite).map(Math.abs).sort();
  const most = sizes[Math.floor(0.95 * (sizes.length - 1))] ?? 0;
  return log ? Math.max(Math.ceil(most), 1) : most || 1;
}

/** A difference in words. @type {(value: number, log: boolean) => string} */
export function larger(value, log) {
  if (value === Infinity) return "not finite in one of them";
  if (Number.isNaN(value)) return "nothing to compare";
  if (!log) return `${value > 0 ? "+" : ""}${number(value)}`;
  if (Math.abs(value) < 0.01) return "equal";
  return `${rounded(2 ** Math.abs(value), 3)} times larger in the ${value > 0 ? "second" : "first"}`;
}
