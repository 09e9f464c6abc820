// How Node.js loads the pages' scripts: as the pages do.

import { readFile } from "node:fs/promises";

const SCRIPT = /\/page\/(uplot\/)?\w+(\.iife\.min)?\.js$/;

/** A script of a page is a module; uPlot's, which defines a variable, exports it, as assets.py has it. */
export async function load(url, context, nextLoad) {
  const match = SCRIPT.exec(url);
  if (match === null) return nextLoad(url, context);
  const text = await readFile(new URL(url), "utf8");
  const source = match[1] ? `${text}\nexport { uPlot };\n` : text;
  return { format: "module", source, shortCircuit: true };
}
