// The table of runs: hyperparameters, values of any tag, verdicts; to sort, filter, group and choose from.

import { el, quietButton, select } from "../../../auditing/report/page/elements.js";
import { onlyLatest } from "../../../auditing/report/page/latest.js";
import { shortened } from "../../../auditing/report/page/names.js";
import { counted, whole } from "../../../auditing/report/page/numbers.js";
import { addressOf, here, replaceAddress } from "./address.js";
import { places } from "./places.js";
import { savePage } from "./save_page.js";
import { asked } from "./server.js";
import { adder, boxes } from "./table_columns.js";
import { asking, columnOf, exactly, filterOf, firstColumns, groupsOf, separated, sorted } from "./table_data.js";
import { plot } from "./table_plots.js";
import { cellOf, groupRow, ownCell, refocus, rowOf } from "./table_rows.js";

/** @import { FieldEvent, RunRow } from "../../../auditing/report/page/types.js" */
/** @import { Cell, Chosen, Page, Parameter, TableAnswer, TableColumn, TableState as State } from "./answers.js" */
/** @import { Ledger } from "./ledger.js" */

const CHUNK = 100; // rows are added while the reader scrolls
const MOST_DRAWN = 2000; // runs in a plot
const NAME = "name";
const SEEN_AT_ONCE = 12; // boxes; among more, one is looked for by its name

/** @type {(ledger: Ledger, chosen: Chosen, picked: Set<string>) => Promise<Page>} */
export async function tablePage(ledger, chosen, picked) {
  const [{ tags }, { parameters, main }] = await Promise.all([asked("tags"), asked("table", { columns: "[]" })]);
  const table = new Table(ledger, picked, tags, parameters, main, stateOf(chosen));
  await table.load();
  return { element: table.element, update: (changed) => table.update(changed), close: () => table.close() };
}

/** @type {(chosen: Chosen) => State} */
function stateOf({ columns, sort = "", where, group = "", x = "", y = "" }) {
  const keys = told(columns, /** @type {string[]} */ ([]));
  return { columns: Array.isArray(keys) ? keys.map(String) : [], sort, where: told(where, {}), group, x, y };
}

/**
 * What an address says in JSON.
 * @template Value
 * @param {string | undefined} text
 * @param {Value} otherwise
 * @returns {Value}
 */
function told(text, otherwise) {
  try {
    return JSON.parse(text ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

class Table {
  /**
   * @param {Ledger} ledger
   * @param {Set<string>} picked
   * @param {[tag: string, runs: number][]} tags
   * @param {Parameter[]} parameters
   * @param {string[]} main
   * @param {State} state
   */
  constructor(ledger, picked, tags, parameters, main, state) {
    this.ledger = ledger;
    this.picked = picked;
    this.tags = tags;
    this.parameters = parameters;
    this.state = state;
    this.begin = onlyLatest();
    /** The cells that the server knows, by run. @type {Map<string, Cell[]>} */
    this.cells = new Map();
    this.version = -1;
    /** Groups that are folded. @type {Set<Cell>} */
    this.folded = new Set();
    if (state.columns.length === 0) state.columns = firstColumns(parameters, main);
    this.head = el("thead");
    this.body = el("tbody");
    this.more = el("div", { class: "more" });
    this.box = el("div", { class: "wide runs-table", tabindex: "0", role: "region", "aria-label": "Table of runs" });
    this.box.append(el("table", {}, this.head, this.body), this.more);
    this.note = el("p", { class: "note", "aria-live": "polite" });
    this.charts = el("a", { class: "quiet" });
    this.all = quietButton("Show all runs", () => this.filter({}, true), { hidden: true });
    this.plots = el("div", { class: "plots" });
    this.tools = el("div", { class: "tools" });
    this.boxes = el("div", { class: "boxes" });
    // The form stays as it is while columns come: the next one may be half written.
    const form = adder(tags, (key, isShown) => this.show(key, isShown));
    const label = { placeholder: "Find a column", "aria-label": "Find a column" };
    this.finder = el("input", { type: "search", ...label, oninput: () => this.find() });
    const chooser = el("div", { class: "chooser" }, form, this.finder, this.boxes);
    const columns = el("details", { class: "columns" }, el("summary", {}, "Choose columns"), chooser);
    const heading = el("h1", {}, "Runs as a table");
    const parts = [places("table"), heading, this.tools, columns, this.plots, this.box];
    this.element = el("section", { class: "table" }, parts);
    this.watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.add(), {
      root: this.box,
      rootMargin: "600px",
    });
    this.watcher.observe(this.more);
    this.resized = new ResizeObserver(() => this.drawPlots());
    this.resized.observe(this.plots);
    /** What the body shows when it is scrolled to its end. @type {(HTMLElement | RunRow)[]} */
    this.rows = [];
    /** The place of each column among the cells that the server sends. @type {Map<string, number>} */
    this.asked = new Map();
    this.shown = 0;
  }

  /** @returns {TableColumn[]} */
  get columns() {
    return this.state.columns.flatMap((key) => columnOf(key) ?? []);
  }

  /** Ask for all cells of the columns, and draw everything anew. */
  async load() {
    const isLatest = this.begin();
    this.version = -1;
    await this.ask(isLatest);
    if (!isLatest()) return;
    this.drawTools();
    this.drawChooser();
    this.drawHead();
    this.draw();
  }

  /** The same for other columns; a server that went away is said. */
  async reload() {
    try {
      await this.load();
    } catch (error) {
      this.note.textContent = /** @type {Error} */ (error).message;
    }
  }

  /** @param {() => boolean} isLatest */
  async ask(isLatest) {
    const columns = this.columns.filter(({ kind }) => kind !== "own");
    const query = { columns: JSON.stringify(columns.map(asking)), since: this.version };
    const { version, rows, parameters } = /** @type {TableAnswer} */ (await asked("table", query));
    if (!isLatest()) return;
    if (this.version < 0) this.cells.clear();
    Object.assign(this, { version, parameters });
    for (const [run, cells] of rows) this.cells.set(run, cells);
    this.asked = new Map(columns.map(({ key }, at) => [key, at]));
  }

  /** @param {Set<string>} changed */
  async update(changed) {
    if (changed.size === 0) return;
    const isLatest = this.begin();
    try {
      await this.ask(isLatest);
    } catch {
      return; // the next change asks again
    }
    if (isLatest()) this.draw();
  }

  close() {
    this.begin();
    this.watcher.disconnect();
    this.resized.disconnect();
  }

  /** @param {Partial<State>} changes */
  change(changes) {
    Object.assign(this.state, changes);
    const { columns, where, ...others } = this.state;
    const filters = Object.keys(where).length > 0 ? JSON.stringify(where) : "";
    const at = addressOf("table", "", "", { columns: JSON.stringify(columns), where: filters, ...others });
    if (here().view === "table") replaceAddress(at);
  }

  /** What a run has in a column. @type {(row: RunRow, column: TableColumn) => Cell} */
  cell(row, { key, kind }) {
    if (kind === "own") return row.reading ? null : ownCell(row, key);
    const cell = this.cells.get(row.name)?.[this.asked.get(key) ?? -1] ?? null;
    return kind === "parameter" || cell === null ? cell : Number(cell);
  }

  /**
   * The runs that all filters let pass, in order.
   * @returns {RunRow[]}
   */
  passing() {
    const { where, sort } = this.state;
    const tests = Object.entries(where).flatMap(([key, text]) => {
      const column = key === NAME ? null : columnOf(key);
      const { test } = filterOf(text);
      if (key === NAME) return [(/** @type {RunRow} */ row) => test(row.name)];
      return column ? [(/** @type {RunRow} */ row) => test(this.cell(row, column))] : [];
    });
    const rows = this.ledger.runs.filter((row) => tests.every((test) => test(row)));
    const column = columnOf(sort.replace(/^-/, ""));
    return column ? sorted(rows, (row) => this.cell(row, column), sort.startsWith("-")) : rows;
  }

  drawTools() {
    const { state } = this;
    const known = new Set([...this.parameters.map(({ name }) => `parameter:${name}`), "verdict", ...state.columns]);
    const options = [...known].flatMap((key) => columnOf(key) ?? []);
    const groups = options.map(({ key, title }) => [key, `Group by ${shortened(title, 30)}`]);
    /** @param {string} group */
    const regroup = (group) => {
      this.folded.clear();
      this.change({ group, columns: [...new Set([...state.columns, ...(group ? [group] : [])])] });
      this.reload();
    };
    this.tools.replaceChildren(
      this.filterField(NAME, "Runs: text or /pattern/", "Runs that match"),
      select("Group by", [["", "No groups"], ...groups], state.group, regroup),
      this.charts,
      quietButton("Copy", () => this.copy()),
      quietButton("CSV", () => this.save()),
      savePage(() => ({ runs: this.told(), tags: null })) ?? "",
      this.all,
      this.note,
    );
  }

  /** @type {(key: string, hint: string, label: string) => HTMLElement} */
  filterField(key, hint, label) {
    /** @param {FieldEvent} event */
    const oninput = ({ target }) => {
      const { problem } = filterOf(target.value);
      target.setCustomValidity(problem);
      target.title = problem;
      if (!problem) this.filter({ [key]: target.value });
    };
    const value = this.state.where[key] ?? "";
    return el("input", { type: "search", placeholder: hint, "aria-label": label, "data-key": key, value, oninput });
  }

  /**
   * Change some filters; an empty one lets all pass.
   * @type {(filters: Record<string, string>, only?: boolean) => void}
   */
  filter(filters, only = false) {
    const where = { ...(only ? {} : this.state.where), ...filters };
    this.change({ where: Object.fromEntries(Object.entries(where).filter(([, text]) => text !== "")) });
    for (const field of this.element.querySelectorAll("input[data-key]")) {
      const input = /** @type {HTMLInputElement} */ (field);
      if (input !== document.activeElement) input.value = where[input.dataset.key ?? ""] ?? "";
    }
    this.draw();
  }

  drawChooser() {
    const { parameters, state } = this;
    this.boxes.replaceChildren(...boxes(parameters, state.columns, (key, isShown) => this.show(key, isShown)));
    this.finder.hidden = this.boxes.children.length <= SEEN_AT_ONCE;
    this.find();
  }

  /** Leave the boxes whose columns have the text that is looked for in their names. */
  find() {
    const wanted = this.finder.value.toLowerCase();
    for (const label of this.boxes.querySelectorAll("label")) {
      label.hidden = !`${label.title} ${label.textContent}`.toLowerCase().includes(wanted);
    }
  }

  /** @type {(key: string, isShown: boolean) => void} */
  show(key, isShown) {
    const others = this.state.columns.filter((one) => one !== key);
    const { [key]: _gone, ...where } = this.state.where;
    this.change({ columns: isShown ? [...others, key] : others, where: isShown ? this.state.where : where });
    const before = /** @type {HTMLElement | null} */ (document.activeElement?.closest(".boxes label"))?.title;
    this.reload().then(() => {
      const same = [...this.boxes.querySelectorAll("label")].find(({ title }) => before && title === before);
      same?.querySelector("input")?.focus();
    });
  }

  drawHead() {
    const { sort } = this.state;
    const heads = this.columns.map(({ key, title }) => {
      const onclick = () => {
        const next = sort === `-${key}` ? "" : sort === key ? `-${key}` : key;
        this.change({ sort: next });
        this.drawHead();
        this.draw();
        /** @type {HTMLElement | null} */ (this.head.querySelector(`[aria-sort] button, th button`))?.focus();
      };
      const order = sort === key ? "ascending" : sort === `-${key}` ? "descending" : null;
      const button = el("button", { type: "button", onclick, title }, shortened(title, 32, 0.3));
      const hide = quietButton("×", () => this.show(key, false), { "aria-label": `Hide ${title}`, class: "hide" });
      return el("th", { scope: "col", "aria-sort": order }, button, hide);
    });
    const fields = this.columns.map(({ key, title }) =>
      el("td", {}, this.filterField(key, "filter", `Filter ${title}`)),
    );
    const name = el("th", { scope: "col", class: "name" }, this.pickAll(), "Run");
    this.head.replaceChildren(
      el("tr", {}, name, heads),
      el("tr", { class: "fields" }, el("td", { class: "name" }), fields),
    );
  }

  pickAll() {
    /** @param {FieldEvent} event */
    const onchange = ({ target }) => {
      for (const { name } of this.passing()) {
        if (target.checked) this.picked.add(name);
        else this.picked.delete(name);
      }
      this.draw();
    };
    return el("input", { type: "checkbox", "aria-label": "Pick all runs that are shown", onchange });
  }

  /** Draw the rows, the plots, and what is said of them, and keep the focus where it is. */
  draw() {
    const rows = this.passing();
    const { ledger, state } = this;
    const group = columnOf(state.group);
    const focus = /** @type {HTMLElement | null} */ (document.activeElement);
    const place = [focus?.closest("tr")?.getAttribute("data-run"), focus?.tagName];
    /** @type {(HTMLElement | RunRow)[]} */
    const lines = [];
    if (group === null) lines.push(...rows);
    else {
      for (const [key, members] of groupsOf(rows, (row) => this.cell(row, group))) {
        lines.push(this.groupRow(group, key, members));
        if (!this.folded.has(key)) lines.push(...members);
      }
    }
    this.rows = lines;
    const room = Math.max(this.shown, CHUNK);
    this.body.replaceChildren();
    this.shown = 0;
    while (this.shown < Math.min(room, lines.length)) this.add();
    if (this.body.childElementCount === 0) {
      const none = ledger.runs.length === 0 ? "There are no runs yet." : "No run passes all filters.";
      this.body.append(el("tr", {}, el("td", { colspan: this.columns.length + 1, class: "note" }, none)));
    }
    if (place[0]) refocus(this.body, place[0], place[1] ?? "");
    const picked = ledger.runs.filter(({ name }) => this.picked.has(name));
    const some = rows.length === ledger.runs.length ? "" : `${whole(rows.length)} of `;
    const alsoPicked = picked.length > 0 ? `, ${whole(picked.length)} picked` : "";
    this.note.textContent = some + counted(ledger.runs.length, "run") + alsoPicked;
    this.all.hidden = Object.keys(state.where).length === 0;
    const told = this.told();
    this.charts.href = addressOf("charts", "", "", { runs: told ? exactly(told) : "" });
    this.charts.textContent = told ? `Charts of ${counted(told.length, "run")}` : "Charts of all runs";
    this.drawPlots();
  }

  /** The names of the runs that are picked, or of those that are shown; null for all. */
  told() {
    const { ledger, picked } = this;
    const chosen = ledger.runs.filter(({ name }) => picked.has(name));
    const told = chosen.length > 0 ? chosen : this.passing();
    return told.length < ledger.runs.length ? told.map(({ name }) => name) : null;
  }

  /** Add some more rows. */
  add() {
    const next = this.rows.slice(this.shown, this.shown + CHUNK);
    this.shown += next.length;
    this.body.append(...next.map((one) => (one instanceof HTMLElement ? one : this.row(one))));
  }

  /** @type {(row: RunRow) => HTMLElement} */
  row(row) {
    const color = this.ledger.color(row.name);
    const cells = this.columns.map((column) => cellOf(row, column, this.cell(row, column)));
    return rowOf(row.name, cells, color, this.picked.has(row.name), (isPicked) => this.pick(row.name, isPicked));
  }

  /** @type {(name: string, isPicked: boolean) => void} */
  pick(name, isPicked) {
    if (isPicked) this.picked.add(name);
    else this.picked.delete(name);
    this.draw();
  }

  /** @type {(by: TableColumn, key: Cell, members: RunRow[]) => HTMLElement} */
  groupRow(by, key, members) {
    const fold = () => {
      if (!this.folded.delete(key)) this.folded.add(key);
      this.draw();
    };
    const cellsOf = (/** @type {TableColumn} */ column) => members.map((row) => this.cell(row, column));
    return groupRow(by, key, members.length, this.columns, cellsOf, !this.folded.has(key), fold);
  }

  /** All runs in plots; those that pass stand out. */
  drawPlots() {
    const runs = this.ledger.runs.slice(0, MOST_DRAWN);
    const passing = new Set(this.passing().map(({ name }) => name));
    const plotted = runs.map(({ name }) => {
      return { name, color: this.ledger.color(name), passes: passing.has(name), picked: this.picked.has(name) };
    });
    const dimensions = this.columns.map((column) => {
      return { key: column.key, title: column.title, cells: runs.map((row) => this.cell(row, column)) };
    });
    const { x, y } = this.state;
    const left = this.ledger.runs.length > runs.length ? `the first ${whole(runs.length)} runs; ` : "";
    plot(
      this.plots,
      dimensions,
      plotted,
      { x, y, left },
      {
        onbrush: (filters) => this.filter(filters),
        onpick: (name) => this.pick(name, !this.picked.has(name)),
        onchoice: (changes) => {
          this.change(changes);
          this.drawPlots();
        },
      },
    );
  }

  /** The whole table as rows of cells, with full precision. */
  plain() {
    const { columns } = this;
    const rows = this.passing().map((row) => [row.name, ...columns.map((column) => this.cell(row, column))]);
    return [["run", ...columns.map(({ plain }) => plain)], ...rows];
  }

  async copy() {
    const rows = this.plain();
    try {
      await navigator.clipboard.writeText(separated(rows, "\t"));
      this.note.textContent = `Copied ${counted(rows.length - 1, "run")}`;
    } catch (error) {
      this.note.textContent = `This browser did not copy: ${/** @type {Error} */ (error).message}`;
    }
  }

  save() {
    const file = new Blob([separated(this.plain(), ",")], { type: "text/csv" });
    const href = URL.createObjectURL(file);
    el("a", { href, download: "runs.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  }
}
