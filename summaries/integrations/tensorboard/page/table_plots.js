// The plots above the table of runs: which columns they have, and how much room.

import { el, select } from "../../../auditing/report/page/elements.js";
import { shortened } from "../../../auditing/report/page/names.js";
import { parallelPlot, scatterPlot } from "./plots.js";

/** @import { Dimension, PlottedRun } from "./answers.js" */
/** @import { OnBrush, OnPick } from "./plots.js" */

const MOST_AXES = 12;
const MOST_TEXTS = 40; // of an axis
const BESIDE = 900; // CSS pixels from which both plots stand side by side
const [LEAST, APART, EDGES] = [280, 110, 30]; // CSS pixels: of a plot, of two axes, of a figure's edges

/** @typedef {{ onbrush: OnBrush, onpick: OnPick, onchoice: (changes: { x?: string, y?: string }) => void }} Actions */

/**
 * Draw both plots into an element; nothing if there are no two columns in which runs differ.
 * @param {HTMLElement} holder
 * @param {Dimension[]} columns
 * @param {PlottedRun[]} runs
 * @param {{ x: string, y: string, left: string }} chosen
 * @param {Actions} actions
 */
export function plot(holder, columns, runs, chosen, { onbrush, onpick, onchoice }) {
  const axes = columns.filter(tellsApart).slice(0, MOST_AXES);
  const focused = holder.contains(document.activeElement) && document.activeElement?.getAttribute("aria-label");
  const scrolled = holder.querySelector(".plot")?.scrollLeft ?? 0;
  if (runs.length < 2 || axes.length < 2) {
    holder.replaceChildren();
    return;
  }
  const all = holder.clientWidth;
  const isBeside = all > BESIDE;
  const [share, other] = isBeside ? [0.62, 0.38] : [1, 1];
  holder.classList.toggle("beside", isBeside);
  const across =
    axes.find(({ key }) => key === chosen.x) ?? axes.find(({ key }) => key.startsWith("parameter:")) ?? axes[0];
  const up = axes.find(({ key }) => key === chosen.y) ?? axes.filter(({ key }) => isValue(key)).at(-1) ?? axes[1];
  const options = axes.map(({ key, title }) => [key, shortened(title, 30)]);
  const choices = [
    select("Up", options, up.key, (y) => onchoice({ y })),
    " over ",
    select("Across", options, across.key, (x) => onchoice({ x })),
  ];
  const hint = el("span", { class: "thinned" }, `${chosen.left}drag along an axis to filter, click it for all`);
  const wide = Math.max(share * all - EDGES - 10, APART * axes.length);
  const parallel = parallelPlot(axes, runs, wide, onbrush, onpick);
  const scatter = scatterPlot(across, up, runs, Math.max(other * all - EDGES - 10, LEAST), onbrush, onpick);
  holder.replaceChildren(
    el(
      "figure",
      {},
      el("figcaption", {}, el("h3", {}, "Columns side by side"), hint),
      el("div", { class: "plot", role: "group", "aria-label": "Columns side by side", tabindex: "0" }, parallel),
    ),
    el(
      "figure",
      {},
      el("figcaption", {}, el("div", {}, choices)),
      el("div", { class: "plot", role: "group", "aria-label": "Two columns", tabindex: "0" }, scatter),
    ),
  );
  /** @type {Element} */ (holder.querySelector(".plot")).scrollLeft = scrolled;
  if (focused) /** @type {HTMLElement | null} */ (holder.querySelector(`[aria-label="${focused}"]`))?.focus();
}

/** @type {(key: string) => boolean} */
function isValue(key) {
  return /^(last|smallest|largest|at)\b/.test(key);
}

/** @type {(column: Dimension) => boolean} */
function tellsApart({ cells }) {
  const different = new Set(cells.filter((cell) => cell !== null));
  return (
    different.size > 1 && (different.size <= MOST_TEXTS || [...different].every((cell) => typeof cell === "number"))
  );
}
