// Routing: all runs at #/, one run at #/<its position>.

import { byId, el, sign } from "./elements.js";
import { counted } from "./numbers.js";
import { findingSums, overviewPage } from "./overview.js";
import { chosenRows, rankOf } from "./rows.js";
import { runPage } from "./run.js";
import { startTheme } from "./theme.js";
import { inflated, unpacked } from "./unpack.js";

/** @import { Filter, Index, RunRow } from "./types.js" */

/** @type {Index} */
const index = JSON.parse(byId("index").textContent);
/** @type {Filter} */
const filter = { text: "", verdicts: new Set(), code: "", column: 0, descending: true };
const place = {
  /** @type {(ReturnType<typeof overviewPage> | ReturnType<typeof runPage>) & { overview: boolean } | null} */
  current: null,
  wanted: 0,
  scrolled: 0,
};

index.runs.forEach((row, position) => {
  Object.assign(row, { position, rank: rankOf(row) });
});

/** @type {(row: RunRow) => string} */
function addressOf(row) {
  return `#/${row.position}`;
}

/** Show the page of the address. A run that takes long to unpack must not replace a page that was opened since. */
async function route() {
  const ticket = ++place.wanted;
  const named = location.hash.startsWith("#/") && location.hash.length > 2;
  const row = named ? index.runs[Number(location.hash.slice(2))] : undefined;
  if (place.current?.overview) place.scrolled = scrollY;
  const page = row ? await pageOf(row) : overviewPage(index, filter, addressOf);
  if (ticket !== place.wanted) return page.close();
  place.current?.close();
  place.current = { ...page, overview: !row };
  byId("main").replaceChildren(page.element);
  document.title = row ? `${row.name} – gradledger audit` : "gradledger audit";
  scrollTo(0, row ? 0 : place.scrolled);
}

/**
 * The page of one run.
 * @param {RunRow} row
 */
async function pageOf(row) {
  const run = unpacked(await inflated(byId(`run-${row.position}`).textContent));
  const nav = el("nav", { "aria-label": "Runs" }, el("a", { href: "#/" }, "All runs"), neighbours(row));
  return runPage(row, run, { nav, baseline: index.baseline });
}

/**
 * Links to the previous and the next run, in the order and with the filter of the overview.
 * @type {(row: RunRow) => HTMLElement[]}
 */
function neighbours(row) {
  const order = chosenRows(index.runs, filter);
  const at = order.indexOf(row);
  /** @type {(other: RunRow | null, text: string) => HTMLElement} */
  const link = (other, text) =>
    other ? el("a", { href: addressOf(other), title: other.name }, text) : el("span", {}, text);
  return [link(order[at - 1], "Previous"), link(at < 0 ? null : order[at + 1], "Next")];
}

/** The number of runs, of findings by severity, and of what could not be audited. */
function tally() {
  const failures = index.runs.reduce((sum, row) => sum + row.failures.length, 0);
  const failed = failures > 0 ? [el("span", {}, sign("error"), `${counted(failures, "part")} not audited`)] : [];
  byId("tally").append(counted(index.runs.length, "run"), ...failed, ...findingSums(index.runs));
}

startTheme();
tally();
addEventListener("hashchange", route);
if (location.protocol === "about:") {
  // In a notebook's frame, a link would lead to the page around it.
  addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    if (!(link instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    location.hash = link.hash;
  });
}
route();
