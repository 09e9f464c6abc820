// The rows of all runs, which are asked for again and again: only what has changed is sent.

import { encoded } from "./address.js";
import { asked } from "./server.js";

const PAUSE = { reading: 400, idle: 2000 }; // milliseconds
const EMPTY = { counts: [0, 0, 0], codes: {}, failures: [], worst: null, steps: null, points: 0, seconds: null, main: "",
  loss: null, spark: [], norm: null };

export class Ledger {
  constructor() {
    this.baseline = null;
    this.runs = [];
    this.reading = true;
    this.failures = [];
    this.memory = [0, 0];
    this.unreachable = false;
    this.listeners = new Set();
    this.version = -1;
    this.rows = new Map();
  }

  /** Ask for ever; a frame that TensorBoard hides has no width, and does not ask. */
  async follow() {
    for (;;) {
      if (this.version < 0 || document.documentElement.clientWidth > 0) await this.ask();
      await new Promise((resolve) => { setTimeout(resolve, this.reading ? PAUSE.reading : PAUSE.idle); });
    }
  }

  /** Ask once, and tell the listeners the names of the runs that have changed. */
  async ask() {
    let answer = null;
    try { answer = await asked("runs", { since: this.version }); } catch { /* TensorBoard was stopped, or will be back */ }
    const before = [this.reading, this.unreachable, this.memory[0], this.failures.length].join();
    this.unreachable = answer === null;
    const changed = new Set();
    if (answer !== null) this.take(answer, changed);
    if (changed.size > 0 || before !== [this.reading, this.unreachable, this.memory[0], this.failures.length].join()) {
      for (const listener of this.listeners) listener(changed);
    }
  }

  take(answer, changed) {
    if (answer.version < this.version) { this.version = -1; this.rows.clear(); return; } // another TensorBoard answers now
    Object.assign(this, { version: answer.version, reading: answer.reading, failures: answer.failures, memory: answer.memory });
    for (const name of answer.gone) { this.rows.delete(name); changed.add(name); }
    for (const row of answer.runs) {
      if (row.reading && this.rows.has(row.name)) continue; // keep what is known until it is read again
      this.rows.set(row.name, { ...EMPTY, ...row });
      changed.add(row.name);
    }
    if (answer.order) this.runs = answer.order.filter((name) => this.rows.has(name)).map((name) => this.rows.get(name));
    this.runs.forEach((row, position) => {
      row.position = position;
      row.rank = row.reading ? -1 : 1e12 * (row.counts[0] + row.failures.length) + 1e6 * row.counts[1] + row.counts[2];
    });
  }

  /** The row of a run by its name in an address. */
  find(name) {
    return this.runs.find((row) => encoded(row.name) === name) ?? null;
  }
}
