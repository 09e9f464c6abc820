// Drawing on canvases in CSS pixels.

import { drawing } from "../../../auditing/report/page/elements.js";

/** @import { Range } from "../../../auditing/report/page/types.js" */
/** @import { Box } from "./answers.js" */

const FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif";

/**
 * An empty canvas of this size, on which a unit is a CSS pixel.
 * @type {(canvas: HTMLCanvasElement, width: number, height: number) => CanvasRenderingContext2D}
 */
export function emptied(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  const [columns, lines] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== columns) canvas.width = columns; // which empties it, and takes time
  if (canvas.height !== lines) canvas.height = lines;
  canvas.style.height = `${height}px`;
  const ctx = drawing(canvas);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return ctx;
}

/**
 * How texts are written: their size in pixels, and where the point is that they are written at.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} size
 * @param {CanvasTextAlign} align
 * @param {CanvasTextBaseline} baseline
 * @param {number} weight
 */
export function writeLike(ctx, size, align, baseline, weight = 400) {
  ctx.font = `${weight} ${size}px ${FONT}`;
  ctx.textAlign = align;
  ctx.textBaseline = baseline;
}

/** Draw only into a box, until `ctx.restore()`. @type {(ctx: CanvasRenderingContext2D, box: Box) => void} */
export function clipTo(ctx, { left, top, width, height }) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
}

/**
 * A line from one point to another.
 * @type {(ctx: CanvasRenderingContext2D, from: [x: number, y: number], to: [x: number, y: number]) => void}
 */
export function stroke(ctx, [x, y], [toX, toY]) {
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

/**
 * From steps to pixels, and back.
 * @param {Range} range
 * @param {Pick<Box, "left" | "width">} box
 */
export function scaleOf([low, high], { left, width }) {
  return {
    x: (/** @type {number} */ step) => left + ((step - low) / (high - low)) * width,
    step: (/** @type {number} */ x) => low + ((x - left) / width) * (high - low),
  };
}

/**
 * Where a pointer is in an element, in pixels.
 * @type {(event: MouseEvent, element: Element) => [x: number, y: number]}
 */
export function placeIn({ clientX, clientY }, element) {
  const { left, top } = element.getBoundingClientRect();
  return [clientX - left, clientY - top];
}
