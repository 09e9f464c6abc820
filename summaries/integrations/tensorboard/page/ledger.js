// The rows of all runs, which are asked for again and again: only what has changed is sent.

import { rankOf } from "../../../auditing/report/page/rows.js";
import { encoded } from "./address.js";
import { asked, pause, source } from "./server.js";

/** @import { Row, RunRow } from "../../../auditing/report/page/types.js" */
/** @import { RunsAnswer } from "./answers.js" */

const PAUSE = { asking: 200, resting: 2000 }; // milliseconds until it is asked again, and if nobody sees or answers
const WAIT = 5; // seconds that the server may wait for a change before it answers
/** @type {Omit<Row, "name">} */
const EMPTY = {
  counts: [0, 0, 0],
  codes: {},
  failures: [],
  worst: null,
  steps: null,
  points: 0,
  seconds: null,
  main: "",
  loss: null,
  spark: [],
  norm: null,
};

export class Ledger {
  constructor() {
    this.baseline = null;
    /** @type {RunRow[]} */
    this.runs = [];
    this.reading = true;
    /** @type {string[]} */
    this.failures = [];
    this.memory = [0, 0];
    this.unreachable = false;
    /** @type {Set<(changed: Set<string>) => void>} */
    this.listeners = new Set();
    this.version = -1;
    /** How often the tags of the runs have changed since the page was opened. */
    this.retagged = 0;
    /** How often another server has begun to answer. */
    this.restarts = 0;
    this.tagged = -1;
    /** @type {Map<string, RunRow>} */
    this.rows = new Map();
    /** The number of each run's color: its place among all runs. @type {Map<string, number>} */
    this.colors = new Map();
  }

  /** Ask for ever; a frame that TensorBoard hides has no width, and does not ask. */
  async follow() {
    for (;;) {
      const isSeen = this.version < 0 || document.documentElement.clientWidth > 0;
      const isCurious = isSeen && !document.hidden; // a browser has six connections to a server, for all of its tabs
      if (isSeen) await this.ask(isCurious ? WAIT : 0);
      await pause(isCurious && !this.unreachable ? PAUSE.asking : PAUSE.resting);
    }
  }

  /** Ask once for what has changed, or will in some seconds; tell the listeners those runs. @param {number} [wait] */
  async ask(wait = 0) {
    /** @type {RunsAnswer | null} */
    let answer = null;
    try {
      answer = await asked("runs", { since: this.version, wait });
    } catch {
      // TensorBoard was stopped, or will be back
    }
    const before = this.state();
    this.unreachable = answer === null;
    const changed = answer === null ? [] : this.take(answer);
    if (changed.length > 0 || before !== this.state()) {
      for (const listener of this.listeners) listener(new Set(changed));
    }
  }

  /** What is told beside the rows. */
  state() {
    return [this.reading, this.unreachable, this.memory[0], this.failures.length].join();
  }

  /**
   * Take over what has changed; the names of those runs.
   * @param {RunsAnswer} answer
   * @returns {string[]}
   */
  take({ version, reading, failures, memory, gone, tagged, runs, order }) {
    if (version < this.version) {
      this.version = this.tagged = -1; // another TensorBoard answers now
      this.restarts++;
      this.rows.clear();
      return [];
    }
    if (tagged !== this.tagged) this.retagged++;
    Object.assign(this, { version, reading, failures, memory, tagged });
    for (const name of gone) this.rows.delete(name);
    // Until it is read again, keep it.
    const changed = runs.filter((row) => !row.reading || row.steps || !this.rows.has(row.name));
    for (const row of changed) this.rows.set(row.name, { ...EMPTY, ...row, position: 0, rank: 0 });
    const names = order ?? this.runs.map(({ name }) => name);
    if (order) this.colors = new Map(order.map((name, at) => [name, source.places?.[at] ?? at]));
    this.runs = names.flatMap((name) => this.rows.get(name) ?? []);
    this.runs.forEach((row, position) => {
      Object.assign(row, { position, rank: row.reading ? -1 : rankOf(row) });
    });
    return [...gone, ...changed.map(({ name }) => name)];
  }

  /** The number of the color that a run has everywhere. @type {(name: string) => number} */
  color(name) {
    return this.colors.get(name) ?? 0;
  }

  /**
   * The row of a run by its name in an address.
   * @param {string} name
   */
  find(name) {
    return this.runs.find((row) => encoded(row.name) === name) ?? null;
  }
}
