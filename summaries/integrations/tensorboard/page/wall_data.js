// What the wall of charts computes: which names match, groups of tags and of runs, the point at the crosshair.

/** @import { Column } from "../../../auditing/report/page/types.js" */

/** @typedef {{ test: (name: string) => boolean, problem: string }} Pattern */

/**
 * What somebody searches for: text that names contain, in any case; or, between slashes, a regular expression.
 * @type {(text: string) => Pattern}
 */
export function matching(text) {
  const between = /^\/(.*)\/([i]?)$/.exec(text);
  if (!between) {
    const wanted = text.trim().toLowerCase();
    return { test: (name) => name.toLowerCase().includes(wanted), problem: "" };
  }
  try {
    const pattern = new RegExp(between[1], between[2]);
    return { test: (name) => pattern.test(name), problem: "" };
  } catch (error) {
    return { test: () => false, problem: /** @type {Error} */ (error).message };
  }
}

/**
 * Tags by what stands before their first slash, those without one last.
 * @type {(tags: string[]) => Map<string, string[]>}
 */
export function grouped(tags) {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const tag of tags) {
    const slash = tag.indexOf("/", 1);
    const name = slash < 0 ? "" : tag.slice(0, slash);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name)?.push(tag); // it may have very many: it is not copied
  }
  const alone = groups.get("");
  if (alone) {
    groups.delete("");
    groups.set("", alone);
  }
  return groups;
}

/**
 * Runs by their names without what a search matches in them, such as seed=0; null if nothing is searched for.
 * @type {(names: string[], text: string) => Map<string, string[]> | null}
 */
export function alike(names, text) {
  if (text.trim() === "") return null;
  const between = /^\/(.*)\/([i]?)$/.exec(text);
  const escaped = text.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = between ? new RegExp(between[1], `g${between[2]}`) : new RegExp(escaped, "gi");
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const name of names) {
    const group = name.replace(pattern, "").replace(/^[\s_,/-]+|[\s_,/-]+$/g, "") || "all";
    groups.set(group, [...(groups.get(group) ?? []), name]);
  }
  return groups;
}

/**
 * The index of the point that is nearest to x, of the last one for null; null if there is none.
 * @type {(column: Column, x: number | null) => number | null}
 */
export function nearest(column, x) {
  if (column.length === 0) return null;
  if (x === null) return column.length - 1;
  let [low, high] = [0, column.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - column[low - 1] < column[low] - x ? low - 1 : low;
}

/**
 * Whether a column has points about x, or `near` it: after its end, a run has no value. Sparse points say as much as
 * they lie apart. For null, there is always one.
 * @type {(column: Column, x: number | null, near: number) => boolean}
 */
export function reaches(column, x, near) {
  if (x === null || column.length === 0) return true;
  const [first, last] = [column[0], column[column.length - 1]];
  const room = Math.max(near, (last - first) / Math.max(column.length - 1, 1));
  return x >= first - room && x <= last + room;
}

/**
 * The order of values, the largest first; what is no number has no place among them, and comes last.
 * @type {(a: number, b: number) => number}
 */
export function falling(a, b) {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a === b ? 0 : b - a;
}

const COLORS = 8;

/**
 * The class of what shows the number of a run's color: beyond eight, a line is dashed.
 * @type {(color: number | undefined) => string}
 */
export function lineClass(color = 0) {
  return `line-${color % COLORS} dash-${Math.floor(color / COLORS) % 4}`;
}

/** The tags that a link pins. @type {(text: string | undefined) => string[]} */
export function pinsOf(text = "[]") {
  try {
    const pins = JSON.parse(text);
    return Array.isArray(pins) ? pins.filter((pin) => typeof pin === "string") : [];
  } catch {
    return [];
  }
}
