// What stands above every page of a run: the way back, and its other pages.

import { el, select, sign } from "../../../auditing/report/page/elements.js";
import { shortened } from "../../../auditing/report/page/names.js";
import { verdict } from "../../../auditing/report/page/rows.js";
import { addressOf } from "./address.js";
import { source } from "./server.js";

/** @import { RunRow } from "../../../auditing/report/page/types.js" */
/** @import { Ledger } from "./ledger.js" */

const TABS = [
  ["", "Findings and curves"],
  ["layers", "Layers over steps"],
  ["clipping", "Clipping"],
  ["matrices", "Matrices"],
];

/**
 * Links to all runs and to the pages of this one, and a choice of the run to compare it with.
 * @type {(ledger: Ledger, row: RunRow, page: string) => HTMLElement}
 */
export function tabs(ledger, row, page) {
  const others = ledger.runs.filter((other) => other.name !== row.name && !other.reading).map(({ name }) => name);
  const names = others.map((name, at) => [String(at), shortened(name, 40)]);
  /** @param {string} at */
  const compare = (at) => {
    if (at) location.hash = addressOf("pair", row.name, "", { with: others[Number(at)] });
  };
  const lacking = new Set([...(source.saved ? ["clipping", "matrices"] : []), ...(row.matrices ? [] : ["matrices"])]);
  const shown = TABS.filter(([key]) => !lacking.has(key) || page === key);
  const links = shown.map(([key, label]) =>
    el("a", { href: addressOf("run", row.name, key), "aria-current": key === page ? "page" : null }, label),
  );
  return el(
    "nav",
    { class: "tabs", "aria-label": "Pages of this run" },
    el("a", { href: "#/" }, "All runs"),
    el("div", { class: "choice" }, links),
    others.length > 0 ? select("Compare with", [["", "Compare with…"], ...names], "", compare) : null,
  );
}

/**
 * The title of a page of a run that is not the audit's own.
 * @type {(ledger: Ledger, row: RunRow, page: string) => HTMLElement}
 */
export function title(ledger, row, page) {
  const name = el("h1", {}, sign(verdict(row)), el("span", {}, row.name));
  return el("div", { class: "title" }, tabs(ledger, row, page), name);
}
