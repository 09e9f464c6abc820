// The page as one file, with what is chosen on it, for somebody else: the server makes it.

import { el, quietButton } from "../../../auditing/report/page/elements.js";
import { query } from "./address.js";
import { source } from "./server.js";
import { saved } from "./wall_export.js";

const MOST_CHARACTERS = 60_000; // of an address, which servers of Python bound at 64 KiB

/**
 * What is chosen: names of runs and of tags; null for all.
 * @typedef {{ runs: string[] | null, tags: string[] | null }} Choice
 */

/**
 * A button that gives the file; none in a file, which can be sent itself.
 * @type {(chosen: () => Choice) => HTMLElement | null}
 */
export function savePage(chosen) {
  if (source.saved) return null;
  const said = el("span", { role: "status", class: "saving" });
  const title = "This page as one file, with the runs and tags that are chosen: it needs no server and no network";
  const button = quietButton("Save as a file", save, { title });
  async function save() {
    const { runs, tags } = chosen();
    const values = { runs: runs && JSON.stringify(runs), tags: tags && JSON.stringify(tags), at: location.hash };
    if (query(values).length > MOST_CHARACTERS) {
      said.textContent = "These are too many names for a request: choose fewer, or all.";
      return;
    }
    /** @type {HTMLButtonElement} */ (button).disabled = true;
    said.textContent = "Writing the file…";
    try {
      saved("runs.html", "text/html", await (await source.answer("page", values)).blob());
      said.textContent = "Saved runs.html";
    } catch (error) {
      said.textContent = /** @type {Error} */ (error).message;
    }
    /** @type {HTMLButtonElement} */ (button).disabled = false;
  }
  return el("span", { class: "save-page" }, button, said);
}
