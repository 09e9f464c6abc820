// The list of a run's findings, and the pages of the rules.

import { el, sign } from "./elements.js";
import { number, stepRange, whole } from "./numbers.js";

/** A finding as a card; `choose` shows it on its curve, `emphasize` highlights it there while the pointer is on it. */
export function findingCard(finding, choose, emphasize) {
  const evidence = Object.entries(finding.evidence);
  const where = [
    finding.steps && stepRange(finding.steps),
    finding.count > 1 && `${whole(finding.count)} times`,
  ].filter(Boolean).join(", ");
  const card = el("li", { class: `finding ${finding.severity}`, tabindex: "0" },
    el("div", { class: "head" }, sign(finding.severity), ruleButton(finding)),
    el("p", { class: "message" }, finding.message),
    finding.tag ? el("p", { class: "tag" }, finding.tag) : null,
    where ? el("p", { class: "where" }, where) : null,
    evidence.length === 0 ? null : el("details", {},
      el("summary", {}, "Evidence"),
      el("dl", {}, evidence.flatMap(([name, value]) => [
        el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, typeof value === "number" ? number(value) : value)]))));
  const inner = (event) => card.contains(event.target.closest("button, details, a"));
  card.addEventListener("click", (event) => { if (!inner(event)) choose(finding); });
  card.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target === card) choose(finding); });
  for (const kind of ["mouseenter", "focus"]) card.addEventListener(kind, () => emphasize(finding));
  for (const kind of ["mouseleave", "blur"]) card.addEventListener(kind, () => emphasize(null));
  return card;
}

/** Cards in order; if a rule has more than three of one severity, those after the first are folded. */
export function foldedCards(cards) {
  const groups = new Map();
  for (const [finding, card] of cards) {
    const key = `${finding.severity} ${finding.code}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(card);
  }
  return [...groups].flatMap(([key, [first, ...others]]) => (others.length < 3 ? [first, ...others] : [first,
    el("li", {}, el("details", { class: "folded" },
      el("summary", {}, `${whole(others.length)} more of ${key.split(" ")[1]}`), el("ol", {}, others)))]));
}

/** The code and name of a rule; a button that opens its page, if this file contains it. */
function ruleButton({ code, name }) {
  const label = [el("b", {}, code), " ", name];
  if (!document.getElementById(`rule-${code}`)) return el("span", { class: "rule" }, label);
  return el("button", { type: "button", class: "rule", title: "What this means and what to do", onclick: () => openRule(code) }, label);
}

/** Show the page of a rule in a dialog. */
function openRule(code) {
  const dialog = document.getElementById("rule");
  const text = document.getElementById(`rule-${code}`).content.cloneNode(true);
  for (const link of text.querySelectorAll("a")) link.setAttribute("rel", "noopener noreferrer");
  const close = el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Close");
  dialog.replaceChildren(close, el("article", {}, ...text.childNodes));
  dialog.showModal();
}
