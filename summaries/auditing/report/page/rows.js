// The rows of runs: their verdicts, their order, and which of them a filter lets pass.

/** @import { Filter, Range, Row, RunRow, Severity, Verdict } from "./types.js" */

/** @type {Severity[]} */
export const SEVERITIES = ["error", "warning", "info"];

/** The verdict of a run. Notes pass; a run that was not fully audited does not. @type {(row: RunRow) => Verdict} */
export function verdict(row) {
  if (row.reading) return "pending";
  return row.counts[0] + row.failures.length > 0 ? "error" : row.counts[1] > 0 ? "warning" : "pass";
}

/** A number to sort verdicts by: the worst has the largest. @type {(row: Row) => number} */
export function rankOf({ counts: [errors, warnings, notes], failures }) {
  return 1e12 * (errors + failures.length) + 1e6 * warnings + notes;
}

/**
 * How many steps a run took: 300 for steps 0 to 299, as the terminal says.
 * @type {(steps: Range | null) => number | null}
 */
export function stepsIn(steps) {
  return steps && steps[1] - steps[0] + 1;
}

/**
 * How many findings of each severity all runs have together, without those that none has.
 * @type {(rows: Row[]) => [severity: Severity, sum: number][]}
 */
export function sums(rows) {
  return SEVERITIES.map((severity, at) => {
    const sum = rows.reduce((before, row) => before + row.counts[at], 0);
    return /** @type {[Severity, number]} */ ([severity, sum]);
  }).filter(([, sum]) => sum > 0);
}

/**
 * The columns of the table of runs: title, class, sort key of a row, and whether the largest comes first.
 * @type {[title: string, kind: string, key: ((row: RunRow) => number | string) | null, largestFirst: boolean][]}
 */
export const COLUMNS = [
  ["", "verdict", (row) => row.rank, true],
  ["Run", "name", (row) => row.position, false],
  ["Worst finding", "worst", (row) => (row.worst ? row.worst.code : "~"), false],
  ["Errors", "count", (row) => row.counts[0], true],
  ["Warnings", "count", (row) => row.counts[1], true],
  ["Info", "count", (row) => row.counts[2], true],
  ["Steps", "steps", (row) => stepsIn(row.steps) ?? -Infinity, true],
  ["Took", "took", (row) => Number(row.seconds ?? -Infinity), true],
  ["Loss or reward", "spark", null, false],
  ["Last value", "loss", (row) => sizeOf(row.loss), false],
  ["Gradient norm", "spark norm", null, false],
  ["Last norm", "loss norm", (row) => sizeOf(row.norm?.last ?? null), true],
];

/**
 * A number to sort by: what is not finite comes after all numbers, what is missing last.
 * @type {(value: number | string | null) => number}
 */
function sizeOf(value) {
  if (value === null) return Infinity;
  return Number.isFinite(Number(value)) ? Number(value) : 1e308;
}

/** Whether a filter lets a run pass. @type {(row: RunRow, filter: Filter) => boolean} */
export function passes(row, { text, verdicts, code }) {
  if (!row.name.toLowerCase().includes(text.toLowerCase())) return false;
  return (verdicts.size === 0 || verdicts.has(verdict(row))) && (code === "" || code in row.codes);
}

/** The rows that pass, in the order of a column. @type {(rows: RunRow[], filter: Filter) => RunRow[]} */
export function chosenRows(rows, filter) {
  const key = COLUMNS[filter.column][2];
  const keys = new Map(rows.map((row) => [row, key?.(row) ?? 0]));
  /** @type {(a: RunRow, b: RunRow) => number} */
  const compare = (a, b) => {
    const [x, y] = [keys.get(a) ?? 0, keys.get(b) ?? 0];
    return x === y ? a.position - b.position : x < y !== filter.descending ? -1 : 1;
  };
  return rows.filter((row) => passes(row, filter)).sort(compare);
}
