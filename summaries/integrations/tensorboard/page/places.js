// What stands above the pages of all runs: links to the others.

import { el } from "../../../auditing/report/page/elements.js";
import { addressOf } from "./address.js";
import { source } from "./server.js";

const PLACES = [
  ["", "All runs"],
  ["charts", "All charts"],
  ["table", "Table"],
  ["media", "Media"],
];
const IN_A_FILE = 2; // of these: the others need the server

/** The pages of all runs, as addresses name them. */
export function pagesHere() {
  return source.saved ? PLACES.slice(0, IN_A_FILE) : PLACES;
}

/** @type {(page: string) => HTMLElement} */
export function places(page) {
  const links = pagesHere().map(([key, label]) => {
    const href = key === "" ? "#/" : addressOf(key, "");
    return el("a", { href, "aria-current": key === page ? "page" : null }, label);
  });
  return el("nav", { class: "tabs", "aria-label": "Pages" }, el("div", { class: "choice" }, links));
}
