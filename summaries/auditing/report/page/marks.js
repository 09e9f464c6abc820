// Marks on charts: findings as shaded ranges with their codes, and values that are not finite.

import { color } from "./theme.js";
import { uPlot } from "./uplot/uPlot.iife.min.js";

/** @import uPlotClass from "uplot" */
/** @import { Finding, Mark, Range } from "./types.js" */

export const FLAG_HEIGHT = 15; // CSS pixels, one row of codes above the plot

/**
 * Shade the range of each finding, with its code in the margin above.
 * @type {(u: uPlotClass, marks: Mark[], active: Finding | null) => void}
 */
export function drawMarks(u, marks, active) {
  const { ctx, bbox } = u;
  const ratio = uPlot.pxRatio;
  const flagsEnd = [-Infinity, -Infinity];
  const drawn = new Set();
  ctx.save();
  writeAs(ctx, ratio, "middle");
  for (const { finding, range } of marks) {
    const span = shadedSpan(u, range);
    if (span === null) continue;
    const [left, width] = span;
    const isActive = finding === active;
    const key = `${finding.code} ${left} ${width}`;
    if (drawn.has(key) && !isActive) continue; // the same finding for several variables
    drawn.add(key);
    ctx.fillStyle = ctx.strokeStyle = color(finding.severity);
    ctx.globalAlpha = isActive ? 0.3 : 0.13;
    ctx.fillRect(left, bbox.top, width, bbox.height);
    ctx.globalAlpha = isActive ? 1 : 0.7;
    ctx.fillRect(left, bbox.top, width, (isActive ? 3 : 2) * ratio);
    const text = ctx.measureText(finding.code).width;
    const start = Math.min(Math.max(left, bbox.left), bbox.left + bbox.width - text);
    const row = flagsEnd.findIndex((end) => start > end + 6 * ratio);
    if (row < 0) continue;
    flagsEnd[row] = start + text;
    ctx.globalAlpha = 1;
    ctx.fillText(finding.code, start, bbox.top - (row + 0.5) * FLAG_HEIGHT * ratio);
  }
  ctx.restore();
}

/** @type {(ctx: CanvasRenderingContext2D, ratio: number, baseline: CanvasTextBaseline) => void} */
function writeAs(ctx, ratio, baseline) {
  ctx.font = `600 ${10.5 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = baseline;
}

/**
 * Left and width of a range in canvas pixels, inside the plot and wide enough to see; null if it is outside.
 * @type {(u: uPlotClass, range: Range) => [left: number, width: number] | null}
 */
export function shadedSpan(u, range) {
  const { bbox } = u;
  const least = 3 * uPlot.pxRatio;
  let [left, right] = range.map((x) => u.valToPos(x, "x", true));
  if (right - left < least) [left, right] = [(left + right - least) / 2, (left + right + least) / 2];
  if (right < bbox.left || left > bbox.left + bbox.width) return null;
  left = Math.max(left, bbox.left);
  return [left, Math.min(right, bbox.left + bbox.width) - left];
}

/**
 * A bar at the top of the plot where values are NaN or infinite, and a line down where each range begins.
 * @type {(u: uPlotClass, stretches: Range[]) => void}
 */
export function drawNotFinite(u, stretches) {
  const { ctx, bbox } = u;
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.fillStyle = ctx.strokeStyle = color("odd");
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  writeAs(ctx, ratio, "top");
  const text = "not finite";
  const size = ctx.measureText(text).width;
  let labelled = -Infinity;
  for (const stretch of stretches) {
    const span = shadedSpan(u, stretch);
    if (span === null) continue;
    const [left, width] = span;
    ctx.fillRect(left, bbox.top, width, 5 * ratio);
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    let start = left + 5 * ratio;
    if (start + size > bbox.left + bbox.width) start = left - size - 5 * ratio;
    if (start < labelled) continue;
    ctx.fillText(text, start, bbox.top + 8 * ratio);
    labelled = start + size + 8 * ratio;
  }
  ctx.restore();
}
