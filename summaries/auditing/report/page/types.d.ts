// What Python writes into a page, and what the page makes of it. Only our checks read this file: no page has it.

import type uPlot from "uplot";

export type Severity = "error" | "warning" | "info";
export type Verdict = "error" | "warning" | "pass" | "pending";

/** A number; those that JSON cannot hold come as their names. */
export type Plain = number | "NaN" | "Infinity" | "-Infinity";

/** The least and the largest of something: steps, seconds or values. */
export type Range = [low: number, high: number];

export type Column = Float64Array | Float32Array | Uint32Array | Uint16Array | Uint8Array;

/** What the horizontal axis of a run's charts has: steps, or seconds since the start of the run. */
export type Mode = "step" | "time";

// ---- payload.py: the data of the audit's page

/** `index` */
export interface Index {
  baseline: string | null;
  runs: RunRow[];
}

/** `row`; `spark` is x0, y0, x1, y1, … in a box of 96 by 20, and y is -1 where the value is not finite. */
export interface Row {
  name: string;
  counts: [errors: number, warnings: number, notes: number];
  codes: Record<string, string>;
  failures: string[];
  worst: { code: string; severity: Severity; message: string } | null;
  steps: Range | null;
  points: number;
  seconds: Plain | null;
  main: string;
  loss: Plain | null;
  spark: number[];
  norm: Norm | null;
}

export interface Norm {
  tag: string;
  last: Plain;
  spark: number[];
}

/** A row in a page; TensorBoard's tab has rows of runs that are still being read. */
export interface RunRow extends Row {
  position: number;
  rank: number;
  reading?: boolean;
  grown?: number;
  matrices?: boolean;
}

/** `finding_data` */
export interface Finding {
  code: string;
  name: string;
  severity: Severity;
  tag: string;
  others: string[];
  steps: Range | null;
  message: string;
  evidence: Record<string, number | string | null>;
  count: number;
}

export interface Panel {
  title: string;
  kind: "lines" | "heat";
  curves: number[];
  log: boolean;
  further: boolean;
}

/** An array in a body, as packed.py puts it there: its type, its offset in bytes, and its length. */
export type Entry = [type: "u1" | "u2" | "u4" | "f4" | "f8", offset: number, count: number];

/** The header of a run's body. */
export interface PackedRun {
  files: string[];
  logger: string;
  start: Plain | null;
  findings: Finding[];
  panels: Panel[];
  curves: PackedCurve[];
  left_out: number;
}

export interface PackedCurve {
  tag: string;
  role: string;
  variable: string;
  points: number;
  step: [first: number | null, ...Entry];
  seconds: [low: number | null, height: number | null, ...Entry];
  value: Entry;
}

// ---- comparison.py and comparison_page.py: the data of the page of `gradledger compare`

export interface Comparison {
  metric: string;
  measure: "final" | "best";
  maximize: boolean;
  by: string[];
  groups: Group[];
  separations: Separation[];
  outliers: { run: string; final: number | null; usual: number; deviations: number | null }[];
  identical: string[][];
  within: number | null;
  explained: string;
  taught: { good: number; bad: number; candidates: number; auc: number | null; cut: number | null } | null;
  runs: ComparedRun[];
  left_out: { run: string; reason: string }[];
  significant: number;
  curves: { step: number[]; value: (number | null)[] }[];
}

export type Hyperparameters = Record<string, string | number | boolean | null>;

export interface Group {
  hyperparameters: Hyperparameters;
  runs: string[];
  final: Interval;
  best: Interval;
  diverged: number;
  disagree: boolean;
}

export interface Interval {
  mean: number | null;
  low: number | null;
  high: number | null;
}

export interface Separation {
  hyperparameter: string;
  share: number | null;
  statistic: number | null;
  p: number | null;
  levels: Level[];
}

export interface Level {
  value: string;
  runs: number;
  median: number | null;
}

export interface ComparedRun {
  run: string;
  hyperparameters: Hyperparameters;
  final: number | null;
  best: number | null;
  best_step: number;
  diverged: boolean;
  label: string;
  verdict: string;
}

// ---- what the pages make of it

export interface Curve {
  tag: string;
  role: string;
  variable: string;
  points: number;
  step: Column;
  seconds: Column;
  value: Column;
  /** Which of the colors it has, if that is not its place among others; and whether it stays in the background. */
  color?: number;
  faint?: boolean;
  /** Of a mean: how many runs it is of at each step, and how many there are. */
  present?: Column;
  runs?: number;
}

export interface Run extends Omit<PackedRun, "curves"> {
  curves: Curve[];
}

/** The points of a curve in the order of x. */
export interface Points {
  x: Column;
  value: Column;
  step: Column;
}

/** Where a finding is marked on a chart. */
export interface Mark {
  finding: Finding;
  range: Range;
}

/** What zooms with the view of a run; uPlot's charts are, and heat maps on a canvas of their own. */
export interface Zoomed {
  setScale(scale: "x", range: { min: number; max: number }): void;
  redraw(rebuild?: boolean): void;
  destroy(): void;
  fit?(): void;
  /** What it shows as long as nobody has zoomed; everything if there is none. */
  own?: Range | null;
}

/** A line of a chart: its points, and how it looks. */
export interface Line extends Points {
  series: uPlot.Series;
}

export type Chart = uPlot & Zoomed;
export type LineChart = Chart & { lines: Line[] };

/** Options of uPlot's, of which some are always there. */
export interface ChartOptions extends uPlot.Options {
  axes: [x: uPlot.Axis, y: uPlot.Axis];
  scales: uPlot.Scales;
  cursor: uPlot.Cursor;
  hooks: uPlot.Hooks.Arrays;
}

export type Color = number[];

/** From a value to its place between the colors of both ends, 0 to 1. */
export type Share = (value: number) => number;

/** How values become colors; `cut` says whether lower and higher values have the colors of the ends. */
export interface Shade {
  low: number | null;
  high: number | null;
  cut: [boolean, boolean];
  share: Share;
}

/** Rows of cells of the same width, row after row: infinite where a value is not finite, NaN where there is none. */
export interface Cells {
  width: number;
  cells: ArrayLike<number>;
}

/** What is under the pointer on a heat map of the audit's page. */
export interface Pointed {
  name: string;
  step: number;
  value: number;
}

/** What a reader filters and sorts runs by; `picked` has names if runs can be picked. */
export interface Filter {
  text: string;
  verdicts: Set<string>;
  code: string;
  column: number;
  descending: boolean;
  norms?: boolean;
  picked?: Set<string>;
  onpick?: () => void;
}

/** How a reader left the page of a run. */
export interface Kept {
  mode: Mode;
  range: Range | null;
}

export type Child = Node | string | null | undefined;

/** An event of a form's field. */
export type FieldEvent = Event & { target: HTMLInputElement };

export interface Attributes {
  onclick?: (event: MouseEvent) => void;
  onchange?: (event: FieldEvent) => void;
  oninput?: (event: FieldEvent) => void;
  [name: string]: unknown;
}
