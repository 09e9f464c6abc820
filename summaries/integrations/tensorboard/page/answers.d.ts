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
  runs: (Partial<Row> & Pick<RunRow, "name" | "reading" | "grown" | "matrices">)[];
  gone: string[];
  /** Another number once runs have other tags. */
  tagged: number;
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
  curves: { run: string; points: number; step: Entry; seconds: Entry; value: Entry; smooth: Entry | null; kept?: number }[];
}

/** What a page in a file has: the answers `runs` and `tags`, and how many points there are, and are in the file. */
export interface SavedIndex {
  runs: RunsAnswer;
  /** Where these runs lie among all of the place: the colors are the same there. */
  places: number[];
  tags: TagsAnswer["tags"];
  points: number;
  kept: number;
  superseded: number;
  shelf: Shelf[];
  media: [kept: number, all: number];
  /** The hash of the address with which the file opens. */
  start: string;
}

/** The curves of one run there. */
export interface SavedHeader {
  curves: { tag: string; points: number; step: Rising; milliseconds: Rising; value: Entry }[];
  kinds: SavedKind[];
}

export type SavedKind = Omit<Kind, "rows"> & { rows: Variable[] };

/** The cells of all runs there: those of the parameters, and the last, the smallest and the largest of each tag. */
export interface SavedTable {
  parameters: Parameter[];
  main: string[];
  cells: [run: string, cells: [stated: Cell[], ends: (Cell[] | null)[]]][];
}

/** The values of a tag of a run there, or its histograms. */
export interface SavedMedia {
  kind: string;
  tag: string;
  points: number;
  steps: number[];
  values?: (ValueAnswer & { files: [type: string, data: Entry][] })[];
  low?: Plain;
  high?: Plain;
  bins?: number;
  cells?: Entry;
}

type Rising = [first: number | null, ...differences: Entry];

/** One of them, unpacked; `points` is how many there were before thinning. */
export interface SavedCurve {
  points: number;
  step: Column;
  seconds: Column;
  value: Column;
}

/** `bands` of one tag */
export interface BandsHeader {
  tag: string;
  bands: {
    group: string;
    runs: number;
    points: number;
    step: Entry;
    /** How many of the runs have a value there. */
    present: Entry;
    mean: Entry;
    low: Entry;
    high: Entry;
  }[];
}

/** `table` */
export interface TableAnswer {
  version: number;
  parameters: Parameter[];
  main: string[];
  rows: [run: string, cells: Cell[]][];
}

export interface Parameter {
  name: string;
  runs: number;
  values: number;
  source: string;
  chosen: boolean;
}

/** Those that JSON cannot hold come as their names. */
export type Cell = number | string | boolean | null;

/** `shelf` */
export interface ShelfAnswer {
  kinds: Shelf[];
  command: string;
}

export interface Shelf {
  kind: string;
  noun: string;
  tags: [tag: string, runs: number][];
}

/** `steps` */
export interface StepsAnswer {
  runs: { run: string; steps: number[]; points?: number }[];
}

/** `value`: of images, sounds, texts, PR curves, or something else. */
export interface ValueAnswer {
  step: number;
  size?: [width: number, height: number];
  types?: string[];
  sources?: string[];
  labels?: string[];
  texts?: string[];
  cut?: boolean;
  precision?: Plain[];
  recall?: Plain[];
  about?: string;
}

/** `histograms` */
export interface HistogramsHeader {
  tag: string;
  points: number;
  steps: Entry;
  bins: number;
  low: Plain;
  high: Plain;
  cells: Entry;
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

/** A column of the table of runs. */
export interface TableColumn {
  key: string;
  kind: string;
  name: string;
  step: number;
  title: string;
  /** The same for a file. */
  plain: string;
}

/** What the address says of the table: keys of columns, filters by them, and the columns of the plot of points. */
export interface TableState {
  columns: string[];
  sort: string;
  where: Record<string, string>;
  group: string;
  x: string;
  y: string;
}

/** Where cells lie on an axis, in pixels from its lower end; null where a cell has no place. */
export interface PlotAxis {
  at: (cell: Cell) => number | null;
  ticks: { value: Cell; at: number }[];
}

/** A column as an axis of a plot, and a run as a line or a point. */
export interface Dimension {
  key: string;
  title: string;
  cells: Cell[];
}

export interface PlottedRun {
  name: string;
  color: number;
  passes: boolean;
  picked: boolean;
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
