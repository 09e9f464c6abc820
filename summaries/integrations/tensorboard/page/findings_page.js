// A run's findings beside its curves: the audit's own page of a run, which follows the run as it grows.

import { el } from "../../../auditing/report/page/elements.js";
import { onlyLatest } from "../../../auditing/report/page/latest.js";
import { runPage } from "../../../auditing/report/page/run.js";
import { unpacked } from "../../../auditing/report/page/unpack.js";
import { arrays, asked, body } from "./server.js";
import { tabs } from "./tabs.js";

/** @import { RunRow } from "../../../auditing/report/page/types.js" */
/** @import { Finer } from "../../../auditing/report/page/panels.js" */
/** @import { CurvesHeader, Page } from "./answers.js" */
/** @import { Ledger } from "./ledger.js" */

const STRETCHES = 1000; // as many as a chart has pixels

/** @type {(ledger: Ledger, row: RunRow) => Promise<Page>} */
export async function findingsPage(ledger, first) {
  const { name } = first;
  const holder = el("div");
  /** @type {ReturnType<typeof runPage> | null} */
  let page = null;
  const begin = onlyLatest();
  /** @type {Finer} */
  const finer = async (curve, mode, [from, to]) => {
    const asks = { tag: curve.tag, runs: JSON.stringify([name]), from, to, x: mode, stretches: STRETCHES };
    const { header, read } = await arrays("curves", asks);
    const [{ step, seconds, value }] = /** @type {CurvesHeader} */ (header).curves;
    return { ...curve, step: read(step), seconds: read(seconds), value: read(value) };
  };
  /** @param {RunRow} row */
  const load = async (row) => {
    const isLatest = begin();
    const run = unpacked(await body("run", { run: name }));
    await Promise.all([...new Set(run.findings.map(({ code }) => code))].map(haveRule));
    if (!isLatest()) return;
    const kept = page?.keep();
    const scrolled = scrollY;
    const wasOpen = holder.querySelector(".further")?.hasAttribute("open");
    page?.close();
    page = runPage(row, run, { nav: tabs(ledger, row, ""), kept, finer });
    if (wasOpen) page.element.querySelector(".further")?.setAttribute("open", "");
    holder.replaceChildren(page.element);
    scrollTo(0, scrolled);
  };
  await load(first);
  return {
    element: holder,
    update: (changed) => {
      const now = ledger.rows.get(name);
      if (changed.has(name) && now) load(now).catch(() => {}); // the next change asks again
    },
    close: () => {
      begin();
      page?.close();
    },
  };
}

/**
 * Have the page of a rule ready as a template, as the audit's page has it: our own text, not an event file's.
 * @type {(code: string) => Promise<void>}
 */
async function haveRule(code) {
  const id = `rule-${code}`;
  if (document.getElementById(id)) return;
  let answer = null;
  try {
    answer = await asked("rule", { code });
  } catch {
    return; // without it, the code is no button
  }
  const parsed = new DOMParser().parseFromString(answer.html, "text/html");
  const template = el("template", { id });
  template.content.append(...document.adoptNode(parsed.body).childNodes);
  if (!document.getElementById(id)) document.body.append(template);
}
