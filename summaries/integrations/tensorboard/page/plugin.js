// Where TensorBoard starts the page: its frame, and the view that the address names.

import { byId, el, quietButton, sign } from "../../../auditing/report/page/elements.js";
import { onlyLatest } from "../../../auditing/report/page/latest.js";
import { counted } from "../../../auditing/report/page/numbers.js";
import { findingSums, overviewPage } from "../../../auditing/report/page/overview.js";
import { verdict } from "../../../auditing/report/page/rows.js";
import { chosenTheme, startTheme, themeChanged } from "../../../auditing/report/page/theme.js";
import { addressOf, deepLink, here, replaceAddress, tellTensorBoard, tensorBoard } from "./address.js";
import { clippingPage } from "./clipping.js";
import { findingsPage } from "./findings_page.js";
import { layersPage } from "./layers.js";
import { Ledger } from "./ledger.js";
import { matricesPage } from "./matrices.js";
import { mediaPage } from "./media.js";
import { pairPage } from "./pair.js";
import { PLACES, placeOf } from "./places.js";
import { source } from "./server.js";
import { tablePage } from "./table.js";
import { wallPage } from "./wall.js";

/** @import { Filter } from "../../../auditing/report/page/types.js" */
/** @import { Go, Page } from "./answers.js" */

const MEGABYTE = 1 << 20;
const PAGES = new Map([
  ["", findingsPage],
  ["layers", layersPage],
  ["clipping", clippingPage],
  ["matrices", matricesPage],
]);

const OF_ALL_RUNS = new Map([
  ["charts", wallPage],
  ["table", tablePage],
  ["media", mediaPage],
]);

const ledger = new Ledger();
const picked = new Set();
/** @type {Filter} */
const filter = {
  text: "",
  verdicts: new Set(),
  code: "",
  column: 0,
  descending: true,
  norms: true,
  picked,
  onpick: updateCompare,
};
const place = {
  /** @type {Page | null} */
  current: null,
  begin: onlyLatest(),
  scrolled: 0,
};
// A page is not drawn anew under a pointer that drags.
const held = { pointers: 0, changed: new Set() };
const compare = quietButton("Compare", openPair, { class: "quiet compare", hidden: true });

function openPair() {
  const [first, second] = picked;
  location.hash = addressOf("pair", first, "", { with: second });
}

/** What TensorBoard calls. */
export async function render() {
  document.querySelector("base")?.remove(); // links are relative to this document
  document.documentElement.lang = "en";
  await style();
  const tally = el("p", { class: "tally", id: "tally" });
  const brand = el("a", { class: "brand", href: "#/" }, "gradledger");
  const themeButton = el("button", { type: "button", id: "theme", class: "quiet" });
  document.body.append(
    el("header", { class: "top" }, brand, tally, themeButton),
    el("main", { id: "main", tabindex: "-1" }, el("p", { class: "note waiting" }, "Looking for runs…")),
    el("dialog", { id: "rule", "aria-label": "Rule" }),
  );
  await begin();
  ledger.follow();
}

/** Fill the frame, which a page in a file has already. */
export async function begin() {
  const tally = byId("tally");
  followTensorBoard();
  startTheme();
  ledger.listeners.add((changed) => {
    tell(tally);
    if (place.current?.waits?.()) place.current.update?.(changed);
    else changedRuns(changed);
  });
  followPointers();
  addEventListener("hashchange", () => {
    tellTensorBoard();
    route();
  });
  await ledger.ask();
  const start = deepLink();
  if (start) history.replaceState(history.state, "", start);
  tell(tally);
  route();
}

/** @returns {Promise<Event>} */
function style() {
  return new Promise((resolve) => {
    const href = new URL("plugin.css", import.meta.url);
    document.head.append(el("link", { rel: "stylesheet", href, onload: resolve, onerror: resolve }));
  });
}

/** Dark when TensorBoard is, which its frames are not told; until the reader chooses otherwise. */
function followTensorBoard() {
  const body = tensorBoard()?.document.body;
  if (!body) return;
  const follow = () => {
    if (chosenTheme()) return;
    document.documentElement.dataset.theme = body.classList.contains("dark-mode") ? "dark" : "light";
  };
  follow();
  const observer = new MutationObserver(() => {
    follow();
    themeChanged();
  });
  observer.observe(body, { attributes: true, attributeFilter: ["class"] });
}

/** Count the pointers that are held down, and catch up when the last one is let go. */
function followPointers() {
  /** @param {number} step */
  const count = (step) => () => {
    held.pointers = Math.max(held.pointers + step, 0);
    if (held.pointers === 0) changedRuns(new Set());
  };
  addEventListener("pointerdown", count(1), true);
  addEventListener("pointerup", count(-1), true);
  addEventListener("pointercancel", count(-1), true);
}

/** Show the view of the address. One that takes long must not replace another that was opened since. */
async function route() {
  const isLatest = place.begin();
  if (place.current?.overview) place.scrolled = scrollY;
  const page = await pageAt(here()).catch(sorry);
  if (!isLatest()) return page.close();
  place.current?.close();
  place.current = page;
  byId("main").replaceChildren(page.element);
  scrollTo(0, page.overview ? place.scrolled : 0);
}

/**
 * @param {ReturnType<typeof here>} address
 * @returns {Promise<Page>}
 */
async function pageAt({ view, name, page, chosen }) {
  const ofAll = OF_ALL_RUNS.get(view);
  if (ofAll) return ledger.version < 1 || ledger.runs.length === 0 ? waiting() : ofAll(ledger, chosen, picked);
  const row = view === "run" || view === "pair" ? ledger.find(name) : null;
  if (row === null && name === "") return overview();
  if (row === null || (view === "pair" && !ledger.rows.has(chosen.with ?? ""))) {
    if (ledger.reading || ledger.version < 1) return waiting();
    throw new Error("There is no run of this name here any more.");
  }
  /** @type {Go} */
  const go = (changes) => replaceAddress(addressOf(view, row.name, page, { ...here().chosen, ...changes }));
  if (view === "pair") return pairPage(ledger, row, chosen, go);
  return (PAGES.get(page) ?? findingsPage)(ledger, row, chosen, go);
}

/** @returns {Page} */
function overview() {
  const page = overviewPage(ledger, filter, (row) => addressOf("run", row.name));
  const none = el("p", { class: "note" });
  const shown = PLACES.slice(1).map(([key, label]) => el("a", { class: "quiet", href: placeOf(key) }, label));
  page.element.querySelector(".tools")?.append(...shown, compare);
  page.element.append(none);
  updateCompare();
  const update = () => {
    page.update();
    const idle = ledger.reading ? "Looking for runs…" : "There are no event files there yet.";
    none.textContent = ledger.runs.length > 0 ? "" : idle;
  };
  update();
  return { ...page, update, overview: true, waits: () => ledger.runs.length === 0 };
}

/** The button that compares appears when there are two runs to compare. */
function updateCompare() {
  compare.hidden = picked.size === 0;
  compare.disabled = picked.size !== 2;
  compare.textContent = picked.size === 2 ? "Compare these two" : "Pick two runs to compare";
}

/**
 * Tell the page that is shown; keep the choice of runs to those that are there.
 * @param {Set<string>} since
 */
function changedRuns(since) {
  for (const name of since) held.changed.add(name);
  if (held.pointers > 0 || held.changed.size === 0) return;
  const changed = held.changed;
  held.changed = new Set();
  for (const name of picked) if (!ledger.rows.has(name)) picked.delete(name);
  place.current?.update?.(changed);
  const shown = document.querySelector("#main .single h1 > .sign");
  const row = ledger.find(here().name);
  if (shown && row) shown.replaceWith(sign(verdict(row)));
}

/**
 * Until the run of the address is listed.
 * @returns {Page}
 */
function waiting() {
  const element = el("section", {}, el("p", { class: "note waiting" }, "Reading this run…"));
  return { element, update: route, close: () => {}, waits: () => true };
}

/**
 * @param {Error} error
 * @returns {Page}
 */
function sorry({ message }) {
  const back = el("p", {}, el("a", { href: "#/" }, "All runs"));
  return { element: el("section", { class: "sorry" }, el("p", {}, message), back), close: () => {} };
}

/**
 * The number of runs and of findings, and what is going on.
 * @param {HTMLElement} tally
 */
function tell(tally) {
  const { runs, failures, memory, reading, unreachable } = ledger;
  const [used, most] = memory.map((bytes) => (bytes / MEGABYTE).toFixed(0));
  const read = runs.filter((row) => !row.reading).length;
  const progress = reading ? `reading: ${read} of ${counted(runs.length, "run")}` : "";
  const state = unreachable ? `${tensorBoard() ? "TensorBoard" : "gradledger view"} does not answer` : progress;
  tally.replaceChildren(
    el(
      "span",
      { title: source.saved ? null : `Columns in memory: ${used} of at most ${most} MB` },
      counted(runs.length, "run"),
    ),
    ...findingSums(runs),
    ...(state ? [el("span", { class: "state", role: "status" }, state)] : []),
    ...failures.map((failure) => el("span", { class: "state" }, sign("error"), failure)),
  );
}
