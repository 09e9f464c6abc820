// What stands above the pages of all runs: links to the others.

import { el } from "../../../auditing/report/page/elements.js";
import { addressOf, parsed } from "./address.js";

/** The pages of all runs, as addresses name them. */
export const PLACES = [
  ["", "All runs"],
  ["charts", "All charts"],
  ["table", "Table"],
  ["media", "Media"],
];

/** The table as it was left, with its columns and filters. */
let table = "";

addEventListener("hashchange", ({ oldURL }) => {
  const { hash } = new URL(oldURL);
  if (parsed(hash).view === "table") table = hash;
});

/** The address of a page of all runs; the table's is as it was left. @type {(key: string) => string} */
export function placeOf(key) {
  return key === "table" && table ? table : addressOf(key, "");
}

/** @type {(page: string) => HTMLElement} */
export function places(page) {
  const links = PLACES.map(([key, label]) => {
    const href = key === page ? addressOf(key, "") : placeOf(key);
    return el("a", { href, "aria-current": key === page ? "page" : null }, label);
  });
  return el("nav", { class: "tabs", "aria-label": "Pages" }, el("div", { class: "choice" }, links));
}
