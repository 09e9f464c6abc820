// A run's findings beside its curves: the audit's own page of a run, which follows the run as it grows.

import { el } from "../../../auditing/report/page/elements.js";
import { runPage } from "../../../auditing/report/page/run.js";
import { unpacked } from "../../../auditing/report/page/unpack.js";
import { asked, body, onlyLatest } from "./server.js";
import { tabs } from "./tabs.js";

/** @import { RunRow } from "../../../auditing/report/page/types.js" */
/** @import { Page } from "./answers.js" */
/** @import { Ledger } from "./ledger.js" */

/** @type {(ledger: Ledger, row: RunRow) => Promise<Page>} */
export async function findingsPage(ledger, first) {
  const { name } = first;
  const holder = el("div");
  /** @type {ReturnType<typeof runPage> | null} */
  let page = null;
  const begin = onlyLatest();
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
    page = runPage(row, run, { nav: tabs(ledger, row, ""), kept });
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
