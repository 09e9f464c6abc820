// Plots in SVG: scales with axes, one for curves over steps, and one for the runs at each value of a hyperparameter.

import { svg } from "./elements.js";
import { number, tick } from "./numbers.js";

const SIDE = 56; // CSS pixels for the labels of the y axis
const BELOW = 24;
const LOG_FROM = 10; // ratio of largest to smallest value from which a linear axis would hide the small ones

/** A vertical scale over these values: {y: value → pixels, ticks}. Logarithmic if all are positive and far apart. */
function valueAxis(values, top, height) {
  const finite = values.filter((value) => value !== null && Number.isFinite(value));
  let [low, high] = finite.length > 0 ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
  const log = low > 0 && high / low > LOG_FROM;
  if (low === high) [low, high] = low === 0 ? [-1, 1] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2];
  const to = log ? Math.log10 : (value) => value;
  const room = 0.06 * (to(high) - to(low));
  const [first, last] = [to(low) - room, to(high) + room];
  const y = (value) => top + height * (1 - (to(value) - first) / (last - first));
  return { y, ticks: log ? powers(first, last) : round(first, last) };
}

/** About five round numbers between two others. */
function round(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high; at++) found.push(Number((at * step).toPrecision(12)));
  return found;
}

/** Round numbers of a logarithmic axis between two powers of ten. */
function powers(low, high) {
  const digits = high - low < 2.5 ? [1, 2, 5] : [1];
  const step = Math.max(1, Math.ceil((high - low) / 6));
  const found = [];
  for (let power = Math.floor(low); power <= high; power += step) {
    for (const digit of digits) {
      const value = Number(`${digit}e${power}`);
      if (Math.log10(value) >= low && Math.log10(value) <= high) found.push(value);
    }
  }
  return found;
}

/** Lines and labels for the ticks of the y axis. */
function yAxis({ y, ticks }, width) {
  return ticks.flatMap((value) => [
    svg("line", { class: "grid", x1: SIDE, x2: width, y1: y(value), y2: y(value) }),
    svg("text", { class: "tick", x: SIDE - 8, y: y(value) + 4, "text-anchor": "end" }, tick(value)),
  ]);
}

/** Curves over steps: [{step, value, color, name, key}]; a line breaks where a value is missing. */
export function curvesPlot(lines, width, height) {
  const steps = lines.flatMap(({ step }) => [step[0], step.at(-1)]).filter((step) => step !== undefined);
  const [first, last] = steps.length > 0 ? [Math.min(...steps), Math.max(...steps)] : [0, 1];
  const axis = valueAxis(lines.flatMap(({ value }) => value), 8, height - BELOW - 8);
  const x = (step) => SIDE + ((width - SIDE - 8) * (step - first)) / (last - first || 1);
  const path = ({ step, value }) => {
    let pen = "M";
    return step.map((at, i) => {
      if (value[i] === null) { pen = "M"; return ""; }
      const point = `${pen}${x(at).toFixed(1)} ${axis.y(value[i]).toFixed(1)}`;
      pen = "L";
      return point;
    }).join("");
  };
  return svg("svg", { class: "curves", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The metric of all runs" },
    yAxis(axis, width),
    round(first, last).filter((step) => Number.isInteger(step)).map((step) =>
      svg("text", { class: "tick", x: x(step), y: height - 6, "text-anchor": "middle" }, tick(step))),
    lines.map((line) => svg("path", { d: path(line), stroke: `var(--line-${line.color})`, "data-key": line.key },
      svg("title", {}, line.name))));
}

/**
 * The runs at each level of a hyperparameter: [{label, median, runs: [{value, color, name, key, odd}]}].
 * Runs that diverged are crosses above the plot.
 */
export function stripPlot(levels, width, height) {
  const top = 26;
  const axis = valueAxis(levels.flatMap(({ runs }) => runs.map(({ value }) => value)), top, height - top - BELOW);
  const room = (width - SIDE - 8) / levels.length;
  const every = Math.ceil(64 / room); // labels that would overlap are left out
  const mark = ({ value, color, name, key, odd }, x) => (value === null
    ? svg("path", { class: "diverged", d: `M${x - 4} 8l8 8m0-8l-8 8`, "data-key": key }, svg("title", {}, `${name}: diverged`))
    : svg("circle", { class: odd ? "odd" : null, cx: x, cy: axis.y(value), r: 4, fill: `var(--line-${color})`, "data-key": key },
      svg("title", {}, `${name}: ${number(value)}`)));
  return svg("svg", { class: "strip", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Runs at each value" },
    yAxis(axis, width),
    levels.flatMap(({ label, median, runs }, at) => {
      const middle = SIDE + room * (at + 0.5);
      const gap = Math.min(11, (0.7 * room) / Math.max(runs.length, 1));
      return [
        median === null ? null : svg("line", { class: "median", x1: middle - 0.36 * room, x2: middle + 0.36 * room,
          y1: axis.y(median), y2: axis.y(median) }),
        ...runs.map((run, i) => mark(run, middle + gap * (i - (runs.length - 1) / 2))),
        at % every ? null : svg("text", { class: "tick", x: middle, y: height - 6, "text-anchor": "middle" }, label),
      ];
    }).filter((child) => child !== null));
}

/** A mean with its interval, in a row of a table: a dot and a whisker on the scale of all rows. */
export function whisker({ mean, low, high }, [least, most]) {
  const x = (value) => 4 + (152 * (Math.min(Math.max(value, least), most) - least)) / (most - least || 1);
  return svg("svg", { class: "whisker", viewBox: "0 0 160 18", "aria-hidden": "true" },
    low === null ? null : svg("line", { x1: x(low), x2: x(high), y1: 9, y2: 9 }),
    mean === null ? null : svg("circle", { cx: x(mean), cy: 9, r: 3.5 }));
}
