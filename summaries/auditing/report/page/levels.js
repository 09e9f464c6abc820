// The values of hyperparameters in a comparison: their order, their colors, and the runs at each.

import { number } from "./numbers.js";

/** @import { ComparedRun, Comparison, Hyperparameters, Level } from "./types.js" */

const MOST_VALUES = 12; // more are cut into ranges, as they are tested

/** A value of a hyperparameter as text. @type {(value: Hyperparameters[string] | undefined) => string} */
export function shown(value) {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? number(value) : String(value);
}

/**
 * The values of a hyperparameter as texts, in their natural order: numbers by size, then texts.
 * @type {(runs: ComparedRun[], name: string) => string[]}
 */
export function valuesOf(runs, name) {
  const values = new Map(runs.map(({ hyperparameters }) => [shown(hyperparameters[name]), hyperparameters[name]]));
  /** @type {(one: [string, unknown], other: [string, unknown]) => number} */
  const compare = ([a, x], [b, y]) => {
    if (typeof x === "number" && typeof y === "number") return x - y;
    if (typeof x === "number" || typeof y === "number") return typeof x === "number" ? -1 : 1;
    return a < b ? -1 : 1;
  };
  return [...values].sort(compare).map(([text]) => text);
}

/**
 * The color of a value: its own, or, of many values, one that it shares with its neighbours.
 * @type {(values: string[], value: string, colors: number) => number}
 */
export function levelColor(values, value, colors) {
  const at = Math.max(values.indexOf(value), 0);
  return values.length <= colors ? at : Math.floor((colors * at) / values.length);
}

/**
 * The runs at each level of a hyperparameter, with the median of what they are compared by; null if most diverged.
 * @param {Pick<Comparison, "runs" | "separations" | "measure">} data
 * @param {string} name
 */
export function groupsByLevel({ runs, separations, measure }, name) {
  const levels = separations.find(({ hyperparameter }) => hyperparameter === name)?.levels ?? [];
  const values = valuesOf(runs, name);
  const isRanged = values.length > MOST_VALUES && levels.length > 0;
  const ranges = isRanged ? rangesOf(runs, name, levels) : null;
  const labels = isRanged ? ascending(levels).map(({ value }) => value) : values;
  return labels.map((label) => {
    const there = runs.filter((run) => label === (ranges ? ranges.get(run) : shown(run.hyperparameters[name])));
    return { label, runs: there, median: median(there.map((run) => run[measure] ?? Infinity)) };
  });
}

/**
 * The range of each run: ranges hold so many runs each, in the order of their values.
 * @type {(runs: ComparedRun[], name: string, levels: Level[]) => Map<ComparedRun, string>}
 */
function rangesOf(runs, name, levels) {
  /** @param {ComparedRun} run */
  const numberOf = (run) => Number(run.hyperparameters[name]);
  const having = runs.filter((run) => name in run.hyperparameters).sort((a, b) => numberOf(a) - numberOf(b));
  const ranges = ascending(levels).flatMap((level) => Array(level.runs).fill(level.value));
  return new Map(having.map((run, at) => [run, ranges[at]]));
}

/** Ranges of numbers, from the smallest. @type {(levels: Level[]) => Level[]} */
function ascending(levels) {
  return [...levels].sort((a, b) => parseFloat(a.value) - parseFloat(b.value));
}

/** @type {(values: number[]) => number | null} */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [Math.floor((values.length - 1) / 2), Math.floor(values.length / 2)];
  const middle = values.length > 0 ? (sorted[low] + sorted[high]) / 2 : Infinity;
  return Number.isFinite(middle) ? middle : null;
}
