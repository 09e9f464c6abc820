// What stands above every page of a run: the way back, and its other pages.

import { el, middleLeftOut, sign } from "./audit/elements.js";
import { verdict } from "./audit/overview.js";
import { at } from "./address.js";

const TABS = [["", "Findings and curves"], ["layers", "Layers over steps"], ["clipping", "Clipping"], ["matrices", "Matrices"]];

/** Links to all runs and to the pages of this one, and a choice of the run to compare it with. */
export function tabs(ledger, row, page) {
  const others = ledger.runs.filter((other) => other !== row && other.name !== row.name && !other.reading);
  const choose = el("select", { "aria-label": "Compare with", onchange: (event) => {
    if (event.target.value) location.hash = at("pair", row.name, "", { with: others[Number(event.target.value) - 1].name });
  } }, el("option", { value: "" }, "Compare with…"), others.map((other, position) => el("option", { value: position + 1 }, middleLeftOut(other.name, 40))));
  return el("nav", { class: "tabs", "aria-label": "Pages of this run" },
    el("a", { href: "#/" }, "All runs"),
    el("div", { class: "choice" }, TABS.filter(([key]) => key !== "matrices" || row.matrices || page === key).map(([key, label]) =>
      el("a", { href: at("run", row.name, key), "aria-current": key === page ? "page" : null }, label))),
    others.length > 0 ? choose : null);
}

/** The title of a page of a run that is not the audit's own. */
export function title(ledger, row, page) {
  return el("div", { class: "title" }, tabs(ledger, row, page), el("h1", {}, sign(verdict(row)), el("span", {}, row.name)));
}
