// Histograms over steps, as a heat map or as ridges; and PR curves.

import { el, svg } from "../../../auditing/report/page/elements.js";
import { number, stepRange } from "../../../auditing/report/page/numbers.js";
import { picture, SEQUENTIAL } from "../../../auditing/report/page/shades.js";
import { arrays } from "./server.js";

/** @import { Column } from "../../../auditing/report/page/types.js" */
/** @import { HistogramsHeader } from "./answers.js" */

const MOST_STEPS = { heat: 400, ridges: 24 };
const [WIDTH, HEIGHT, OVER] = [360, 200, 46]; // CSS pixels; a ridge rises over those behind it
const SQUARE = 240;

/** @type {(run: string, tag: string, asRidges: boolean) => Promise<HTMLElement[]>} */
export async function histogramPlot(run, tag, asRidges) {
  const stretches = asRidges ? MOST_STEPS.ridges : MOST_STEPS.heat;
  const { header, read } = await arrays("histograms", { run, tag, stretches });
  const { bins, low, high, points } = /** @type {HistogramsHeader} */ (header);
  const [steps, cells] = [read(header.steps), read(header.cells)];
  const [from, to] = [number(Number(low)), number(Number(high))];
  const range = stepRange([steps[0], steps[steps.length - 1]]);
  const some = steps.length < points ? `, ${steps.length} of ${points}` : "";
  const said = `${asRidges ? "from left to right" : "from below"}: ${from} to ${to}; ${range}${some}`;
  const drawn = asRidges ? ridges(steps.length, bins, cells) : heat(steps.length, bins, cells);
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", `Histograms of ${tag}, ${said}`);
  const ends = asRidges ? [from, to] : [`step ${number(steps[0])}`, `step ${number(steps[steps.length - 1])}`];
  const under = el(
    "div",
    { class: "ends" },
    ends.map((end) => el("span", {}, end)),
  );
  return [el("div", { class: "histogram" }, drawn, under, el("p", { class: "readout" }, said))];
}

/**
 * A column for each step, a line for each bin, the highest on top; the brighter, the more lies there.
 * @type {(steps: number, bins: number, cells: Column) => HTMLElement}
 */
function heat(steps, bins, cells) {
  const most = Math.max(greatest(cells), Number.MIN_VALUE);
  const order = Array.from({ length: bins }, (_, line) => bins - 1 - line);
  const drawn = picture({ width: steps, cells }, order, (share) => Math.sqrt(share / most), SEQUENTIAL);
  const canvas = el("canvas", { width: steps, height: bins });
  canvas.getContext("2d")?.drawImage(drawn, 0, 0);
  return canvas;
}

/**
 * An outline for each step, the first ones behind.
 * @type {(steps: number, bins: number, cells: Column) => SVGElement}
 */
function ridges(steps, bins, cells) {
  const most = Math.max(greatest(cells), Number.MIN_VALUE);
  const apart = (HEIGHT - OVER) / Math.max(steps - 1, 1);
  const lines = Array.from({ length: steps }, (_, at) => {
    const base = OVER + at * apart;
    let outline = `M0 ${base}`;
    for (let bin = 0; bin < bins; bin++) {
      const share = cells[bin * steps + at];
      const y = base - (Number.isNaN(share) ? 0 : (share / most) * OVER);
      outline += `L${(((bin + 0.5) / bins) * WIDTH).toFixed(1)} ${y.toFixed(1)}`;
    }
    return svg("path", { d: `${outline}L${WIDTH} ${base}` });
  });
  return svg("svg", { class: "ridges", viewBox: `0 0 ${WIDTH} ${HEIGHT + 2}` }, lines);
}

/** @type {(cells: Column) => number} */
function greatest(cells) {
  let most = 0;
  for (const cell of cells) if (cell > most) most = cell;
  return most;
}

/** @type {(recall: number[], precision: number[]) => HTMLElement} */
export function prPlot(recall, precision) {
  const points = recall.flatMap((x, at) => {
    const y = precision[at];
    return Number.isFinite(x) && Number.isFinite(y)
      ? `${(x * SQUARE).toFixed(1)} ${((1 - y) * SQUARE).toFixed(1)}`
      : [];
  });
  const said = "Precision (upwards) over recall, both from 0 to 1";
  const box = svg("rect", { width: SQUARE, height: SQUARE });
  const line = svg("path", { d: points.length > 0 ? `M${points.join("L")}` : "" });
  const drawn = svg(
    "svg",
    { class: "pr", viewBox: `-2 -2 ${SQUARE + 4} ${SQUARE + 4}`, role: "img", "aria-label": said },
    box,
    line,
  );
  return el("div", {}, drawn, el("p", { class: "readout" }, said));
}
