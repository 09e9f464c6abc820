// What stands above the pages of all runs: links to the others.

import { el } from "../../../auditing/report/page/elements.js";
import { addressOf } from "./address.js";

/** The pages of all runs, as addresses name them. */
export const PLACES = [
  ["", "All runs"],
  ["charts", "All charts"],
  ["table", "Table"],
  ["media", "Media"],
];

/** @type {(page: string) => HTMLElement} */
export function places(page) {
  const links = PLACES.map(([key, label]) => {
    const href = key === "" ? "#/" : addressOf(key, "");
    return el("a", { href, "aria-current": key === page ? "page" : null }, label);
  });
  return el("nav", { class: "tabs", "aria-label": "Pages" }, el("div", { class: "choice" }, links));
}
