// Where TensorBoard starts the page: its frame, and the view that the address names.

import { el, sign } from "./audit/elements.js";
import { counted } from "./audit/numbers.js";
import { SEVERITIES, overviewPage, verdict } from "./audit/overview.js";
import { startTheme, themeChanged } from "./audit/theme.js";
import { at, given, here, outer, replaceAddress, tellTensorBoard } from "./address.js";
import { clippingPage } from "./clipping.js";
import { findingsPage } from "./findings_page.js";
import { layersPage } from "./layers.js";
import { Ledger } from "./ledger.js";
import { matricesPage } from "./matrices.js";
import { pairPage } from "./pair.js";
import { asked } from "./server.js";

const STYLES = ["audit/uplot/uPlot.min.css", "audit/page.css", "plugin.css"];
const PAGES = { "": findingsPage, layers: layersPage, clipping: clippingPage, matrices: matricesPage };
const NOUNS = { error: "error", warning: "warning", info: "note" };

const ledger = new Ledger();
const filter = { text: "", verdicts: new Set(), code: "", column: 0, descending: true, norms: true, picked: new Set(), onpick: picked };
const place = { current: null, wanted: 0, scrolled: 0 };
const held = { pointers: 0, changed: new Set() }; // a page is not drawn anew under a pointer that drags
const compare = el("button", { type: "button", class: "quiet compare", hidden: true, onclick: () => {
  const [first, second] = filter.picked;
  location.hash = at("pair", first, "", { with: second });
} }, "Compare");

/** What TensorBoard calls. */
export async function render() {
  document.querySelector("base")?.remove(); // links are relative to this document
  document.documentElement.lang = "en";
  await Promise.all(STYLES.map(style)); // later ones win
  const tally = el("p", { class: "tally", id: "tally" });
  document.body.append(
    el("header", { class: "top" }, el("a", { class: "brand", href: "#/" }, "gradledger"), tally,
      el("button", { type: "button", id: "theme", class: "quiet" })),
    el("main", { id: "main", tabindex: "-1" }, el("p", { class: "note waiting" }, "Looking for runs…")),
    el("dialog", { id: "rule", "aria-label": "Rule" }));
  followTensorBoard();
  startTheme();
  ledger.listeners.add((changed) => {
    tell(tally);
    if (place.current?.waits?.()) place.current.update(changed);
    else changedRuns(changed);
  });
  for (const [kind, step] of [["pointerdown", 1], ["pointerup", -1], ["pointercancel", -1]]) {
    addEventListener(kind, () => { held.pointers = Math.max(held.pointers + step, 0); if (held.pointers === 0) changedRuns(new Set()); }, true);
  }
  addEventListener("hashchange", () => { tellTensorBoard(); route(); });
  await ledger.ask();
  const start = given();
  if (start) history.replaceState(history.state, "", start);
  tell(tally);
  route();
  ledger.follow();
}

function style(name) {
  return new Promise((resolve) => {
    const href = new URL(name, import.meta.url);
    document.head.append(el("link", { rel: "stylesheet", href, onload: resolve, onerror: resolve }));
  });
}

/** Dark when TensorBoard is, which its frames are not told; until the reader chooses otherwise. */
function followTensorBoard() {
  const body = outer()?.document.body;
  if (!body) return;
  const follow = () => {
    let chosen = null;
    try { chosen = localStorage.getItem("gradledger-theme"); } catch { /* no storage */ }
    if (!chosen) document.documentElement.dataset.theme = body.classList.contains("dark-mode") ? "dark" : "light";
  };
  follow();
  new MutationObserver(() => { follow(); themeChanged(); }).observe(body, { attributes: true, attributeFilter: ["class"] });
}

/** Show the view of the address. One that takes long must not replace another that was opened since. */
async function route() {
  const ticket = ++place.wanted;
  const address = here();
  if (place.current?.overview) place.scrolled = scrollY;
  let page = null;
  try { page = await pageAt(address); } catch (error) { page = sorry(error); }
  if (ticket !== place.wanted) return page.close();
  place.current?.close();
  place.current = page;
  document.getElementById("main").replaceChildren(page.element);
  scrollTo(0, page.overview ? place.scrolled : 0);
  page.shown?.();
}

async function pageAt({ view, name, page, chosen }) {
  const row = view === "run" || view === "pair" ? ledger.find(name) : null;
  if (row === null && name === "") return overview();
  const missing = row === null || (view === "pair" && !ledger.rows.has(chosen.with));
  if (missing && (ledger.reading || ledger.version < 1)) return waiting();
  if (missing) throw new Error("There is no run of this name here any more.");
  const go = (changes) => replaceAddress(at(view, row.name, page, { ...here().chosen, ...changes }));
  if (view === "pair") return pairPage(ledger, row, chosen, go);
  return (PAGES[page] ?? findingsPage)(ledger, row, chosen, go);
}

function overview() {
  const page = overviewPage(ledger, filter, (row) => at("run", row.name));
  page.element.querySelector(".tools").append(compare);
  picked();
  const none = el("p", { class: "note" });
  page.element.append(none);
  const update = () => {
    page.update();
    none.textContent = ledger.runs.length > 0 ? "" : ledger.reading ? "Looking for runs…" : "There are no event files there yet.";
  };
  update();
  return { ...page, update, overview: true, waits: () => ledger.runs.length === 0 };
}

/** The button that compares appears when there are two runs to compare. */
function picked() {
  const count = filter.picked.size;
  compare.hidden = count === 0;
  compare.disabled = count !== 2;
  compare.textContent = count === 2 ? "Compare these two" : "Pick two runs to compare";
}

/** Tell the page that is shown; keep the choice of runs to those that are there. */
function changedRuns(since) {
  for (const name of since) held.changed.add(name);
  if (held.pointers > 0 || held.changed.size === 0) return;
  const changed = held.changed;
  held.changed = new Set();
  for (const name of filter.picked) if (!ledger.rows.has(name)) filter.picked.delete(name);
  place.current?.update?.(changed);
  const shown = document.querySelector("#main .single h1 > .sign");
  const row = shown && ledger.find(here().name);
  if (row) shown.replaceWith(sign(verdict(row)));
}

/** Until the run of the address is listed. */
function waiting() {
  return { element: el("section", {}, el("p", { class: "note waiting" }, "Reading this run…")), update: route, close: () => {}, waits: () => true };
}

function sorry(error) {
  return { close: () => {}, element: el("section", { class: "sorry" },
    el("p", {}, error.message), el("p", {}, el("a", { href: "#/" }, "All runs"))) };
}

/** The number of runs and of findings, and what is going on. */
function tell(tally) {
  const read = ledger.runs.filter((row) => !row.reading).length;
  const sums = SEVERITIES.map((severity, position) => [severity, ledger.runs.reduce((sum, row) => sum + row.counts[position], 0)]);
  const [used, most] = ledger.memory.map((bytes) => (bytes / 1048576).toFixed(0));
  const state = ledger.unreachable ? "TensorBoard does not answer" : ledger.reading ? `reading: ${read} of ${counted(ledger.runs.length, "run")}` : "";
  tally.replaceChildren(
    el("span", { title: `Columns in memory: ${used} of at most ${most} MB` }, counted(ledger.runs.length, "run")),
    ...sums.filter(([, sum]) => sum > 0).map(([severity, sum]) => el("span", {}, sign(severity), counted(sum, NOUNS[severity]))),
    ...(state ? [el("span", { class: "state", role: "status" }, state)] : []),
    ...ledger.failures.map((failure) => el("span", { class: "state" }, sign("error"), failure)));
}
