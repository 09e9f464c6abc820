// What the server answers, and what the tab makes of it; answers.py says the same. Only our checks read this file.

import type {
  Cells,
  Color,
  Column,
  Entry,
  Finding,
  Plain,
  Range,
  Row,
  RunRow,
  Share,
} from "../../../auditing/report/page/types.js";

/** `runs`; rows of runs that are still being read have only a name. */
export interface RunsAnswer {
  version: number;
  reading: boolean;
  failures: string[];
  memory: [used: number, most: number];
  runs: (Partial<Row> & Pick<RunRow, "name" | "reading" | "matrices">)[];
  gone: string[];
  order: string[] | null;
}

/** `layers`: a statistic of a run's variables. */
export interface LayersHeader {
  kinds: Kind[];
  kind: string | null;
  findings: PlacedFinding[];
  rows: Variable[];
  steps: Range;
  from: number;
  to: number;
  width: number;
  cells: Entry;
}

export interface Kind {
  key: string;
  title: string;
  log: boolean;
  rows: number;
}

export interface Variable {
  tag: string;
  variable: string;
}

export type PlacedFinding = Finding & { steps: Range };

/** `curve` */
export interface CurveHeader {
  tag: string;
  points: number;
  step: Entry;
  value: Entry;
}

/** `tags` */
export interface TagsAnswer {
  tags: [tag: string, runs: number][];
}

/** `curves` of one tag */
export interface CurvesHeader {
  tag: string;
  curves: { run: string; points: number; step: Entry; seconds: Entry; value: Entry; smooth: Entry | null }[];
}

/** `bands` of one tag */
export interface BandsHeader {
  tag: string;
  bands: { group: string; runs: number; points: number; step: Entry; mean: Entry; low: Entry; high: Entry }[];
}

/** `norms`, if the run has any. */
export interface Norms {
  tags: string[];
  tag: string;
  steps: number;
  nonfinite: number;
  sorted: number[];
  suggested: number;
  capped: boolean;
  bound: Plain | null;
}

/** `matrices`: a tag that has matrices. */
export interface MatrixTag {
  tag: string;
  shape: [rows: number, columns: number];
  steps: number[];
}

/** `matrix`: at one step, in means of blocks if it is large. */
export interface MatrixHeader {
  step: number;
  shape: [rows: number, columns: number];
  size: [rows: number, columns: number];
  range: [low: Plain, high: Plain];
  values: Entry;
}

// ---- what the tab makes of it

/** Cells of a range of steps. */
export interface Part extends Cells {
  from: number;
  to: number;
  cells: Column;
}

/** What a heat map draws: rows of cells, as fine as they are asked for. */
export interface CellSource {
  rows: Variable[];
  steps: Range;
  whole: Part;
  between(from: number, to: number, width: number, signal?: AbortSignal): Promise<Part>;
}

/** Neighbouring rows of a heat map that belong together. */
export interface RowGroup {
  name: string;
  first: number;
  count: number;
}

/** Rows from top to bottom, in groups or not. */
export interface Arrangement {
  order: number[];
  groups: RowGroup[] | null;
}

/** What is under the pointer on a heat map: a row's name, or one of its cells. */
export interface Pointed {
  name: string;
  row: number;
  steps?: string;
  value?: number;
}

/** A place on a heat map; `step` is null on a row's name. */
export interface Hit {
  line: number;
  row: number;
  step: number | null;
}

/** Pixels of the part of a canvas that has the data. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface HeatOptions extends Arrangement {
  cells: CellSource;
  share: Share;
  /** The colors of shares; asked again when the theme has changed. */
  ramp: () => Color[];
  findings: PlacedFinding[];
  /** Pixels of all rows together, at most. */
  height?: number;
  /** Pixels for the names of rows, at most. */
  names?: number;
  say: (pointed: Pointed | null) => void;
  pick: (row: number) => void;
  /** The name of the color of a row's line, if it has one. */
  chosen?: (row: number) => string | undefined;
}

/** What an address says beside the page: the order of rows, steps, a tag. */
export type Chosen = Record<string, string | undefined>;

/** Change some of that; null takes it out. */
export type Go = (changes: Record<string, string | number | null>) => void;

/** A view of the tab. */
export interface Page {
  element: HTMLElement;
  close(): void;
  update?(changed: Set<string>): void;
  /** Whether what it is about is not there yet. */
  waits?(): boolean;
  overview?: boolean;
}
