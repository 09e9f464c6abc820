// Routing: all runs at #/, one run at #/<its position>.

import { el, sign } from "./elements.js";
import { counted } from "./numbers.js";
import { SEVERITIES, overviewPage, passes, sorted } from "./overview.js";
import { runPage } from "./run.js";
import { startTheme } from "./theme.js";
import { inflated, unpacked } from "./unpack.js";

const index = JSON.parse(document.getElementById("index").textContent);
const filter = { text: "", verdicts: new Set(), code: "", column: 0, descending: true };
const place = { current: null, wanted: 0, scrolled: 0 };

index.runs.forEach((row, position) => {
  row.position = position;
  row.rank = 1e12 * (row.counts[0] + row.failures.length) + 1e6 * row.counts[1] + row.counts[2];
});

/** Show the page of the address. A run that takes long to unpack must not replace a page that was opened since. */
async function route() {
  const ticket = ++place.wanted;
  const position = location.hash.startsWith("#/") && location.hash.length > 2 ? Number(location.hash.slice(2)) : null;
  const known = position !== null && position in index.runs;
  if (place.current?.overview) place.scrolled = scrollY;
  const page = known ? await pageOf(position) : overviewPage(index, filter);
  if (ticket !== place.wanted) return page.close();
  place.current?.close();
  place.current = { ...page, overview: !known };
  document.getElementById("main").replaceChildren(page.element);
  document.title = known ? `${index.runs[position].name} – gradledger audit` : "gradledger audit";
  scrollTo(0, known ? 0 : place.scrolled);
}

/** The page of one run. */
async function pageOf(position) {
  const run = unpacked(await inflated(document.getElementById(`run-${position}`).textContent));
  const nav = el("nav", { "aria-label": "Runs" }, el("a", { href: "#/" }, "All runs"), neighbours(position));
  return runPage(index.runs[position], run, { nav, baseline: index.baseline });
}

/** Links to the previous and the next run, in the order and with the filter of the overview. */
function neighbours(position) {
  const order = sorted(index.runs.filter((row) => passes(row, filter)), filter);
  const at = order.findIndex((row) => row.position === position);
  const link = (row, text) => (row ? el("a", { href: `#/${row.position}`, title: row.name }, text) : el("span", {}, text));
  return [link(order[at - 1], "Previous"), link(at < 0 ? null : order[at + 1], "Next")];
}

/** The number of runs, and of findings by severity. */
function tally() {
  const sums = SEVERITIES.map((severity, at) => [severity, index.runs.reduce((sum, row) => sum + row.counts[at], 0)]);
  const noun = { error: "error", warning: "warning", info: "note" };
  const failures = index.runs.reduce((sum, row) => sum + row.failures.length, 0);
  const failed = failures > 0 ? [el("span", {}, sign("error"), `${counted(failures, "part")} not audited`)] : [];
  document.getElementById("tally").append(counted(index.runs.length, "run"), ...failed, ...sums.filter(([, sum]) => sum > 0)
    .map(([severity, sum]) => el("span", {}, sign(severity), counted(sum, noun[severity]))));
}

startTheme();
tally();
addEventListener("hashchange", route);
if (location.protocol === "about:") { // in a notebook's frame, where a link would lead to the page around it
  addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (!link) return;
    event.preventDefault();
    location.hash = link.hash;
  });
}
route();
