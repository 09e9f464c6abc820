// The list of a run's findings, and the pages of the rules.

import { byId, el, quietButton, sign } from "./elements.js";
import { number, stepRange, whole } from "./numbers.js";

/** @import { Finding } from "./types.js" */

const UNFOLDED = 3; // findings of one rule and severity; more are folded after the first

/**
 * A finding as a card; `choose` shows it on its curve, `emphasize` highlights it there while the pointer is on it.
 * @type {(finding: Finding, choose: (told: Finding) => void, emphasize: (told: Finding | null) => void) => HTMLElement}
 */
export function findingCard(finding, choose, emphasize) {
  const where = [
    ...(finding.steps ? [stepRange(finding.steps)] : []),
    ...(finding.count > 1 ? [`${whole(finding.count)} times`] : []),
  ].join(", ");
  const card = el(
    "li",
    { class: `finding ${finding.severity}`, tabindex: "0" },
    el("div", { class: "head" }, sign(finding.severity), ruleButton(finding)),
    el("p", { class: "message" }, finding.message),
    finding.tag ? el("p", { class: "tag" }, finding.tag) : null,
    where ? el("p", { class: "where" }, where) : null,
    evidenceOf(finding),
  );
  card.addEventListener("click", ({ target }) => {
    const control = /** @type {Element} */ (target).closest("button, details, a");
    if (!control || !card.contains(control)) choose(finding);
  });
  card.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === card) choose(finding);
  });
  for (const kind of ["mouseenter", "focus"]) card.addEventListener(kind, () => emphasize(finding));
  for (const kind of ["mouseleave", "blur"]) card.addEventListener(kind, () => emphasize(null));
  return card;
}

/** @type {(finding: Finding) => HTMLElement | null} */
function evidenceOf({ evidence }) {
  const parts = Object.entries(evidence).flatMap(([name, value]) => [
    el("dt", {}, name.replaceAll("_", " ")),
    el("dd", {}, typeof value === "number" ? number(value) : value),
  ]);
  return parts.length > 0 ? el("details", {}, el("summary", {}, "Evidence"), el("dl", {}, parts)) : null;
}

/**
 * Cards in order; if a rule has more than three of one severity, those after the first are folded.
 * @type {(cards: Map<Finding, HTMLElement>) => HTMLElement[]}
 */
export function foldedCards(cards) {
  /** @type {Map<string, Finding[]>} */
  const groups = new Map();
  for (const finding of cards.keys()) {
    const key = `${finding.severity} ${finding.code}`;
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()].flatMap((findings) => {
    const [first, ...others] = findings.flatMap((finding) => cards.get(finding) ?? []);
    if (findings.length <= UNFOLDED) return [first, ...others];
    const summary = el("summary", {}, `${whole(others.length)} more of ${findings[0].code}`);
    return [first, el("li", {}, el("details", { class: "folded" }, summary, el("ol", {}, others)))];
  });
}

/**
 * The code and name of a rule; a button that opens its page, if this file contains it.
 * @type {(finding: Finding) => HTMLElement}
 */
function ruleButton({ code, name }) {
  const label = [el("b", {}, code), " ", name];
  const page = document.getElementById(`rule-${code}`);
  if (!(page instanceof HTMLTemplateElement)) return el("span", { class: "rule" }, label);
  const title = "What this means and what to do";
  return el("button", { type: "button", class: "rule", title, onclick: () => openRule(page) }, label);
}

/**
 * Show the page of a rule in a dialog.
 * @param {HTMLTemplateElement} page
 */
function openRule(page) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("rule"));
  const text = /** @type {DocumentFragment} */ (page.content.cloneNode(true));
  for (const link of text.querySelectorAll("a")) link.setAttribute("rel", "noopener noreferrer");
  const close = quietButton("Close", () => dialog.close());
  dialog.replaceChildren(close, el("article", {}, ...text.childNodes));
  dialog.showModal();
}
