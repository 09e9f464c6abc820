// A run's findings beside its curves: the audit's own page of a run, which follows the run as it grows.

import { runPage } from "./audit/run.js";
import { unpacked } from "./audit/unpack.js";
import { el } from "./audit/elements.js";
import { asked, body } from "./server.js";
import { tabs } from "./tabs.js";

/** The page of a run: {element, update, close}. */
export async function findingsPage(ledger, row) {
  const holder = el("div");
  let page = null;
  let ticket = 0;
  const load = async (row) => {
    const wanted = ++ticket;
    const run = unpacked(await body("run", { run: row.name }));
    await Promise.all([...new Set(run.findings.map(({ code }) => code))].map(haveRule));
    if (wanted !== ticket) return;
    const kept = page?.keep();
    const scrolled = scrollY;
    const open = holder.querySelector(".further")?.open;
    page?.close();
    page = runPage(row, run, { nav: tabs(ledger, row, ""), kept });
    if (open) page.element.querySelector(".further")?.setAttribute("open", "");
    holder.replaceChildren(page.element);
    scrollTo(0, scrolled);
  };
  await load(row);
  return {
    element: holder,
    view: () => page.view(),
    update: (changed) => {
      const now = ledger.rows.get(row.name);
      if (changed.has(row.name) && now) load(now).catch(() => {}); // the next change asks again
    },
    close: () => { ticket++; page?.close(); },
  };
}

/** Have the page of a rule ready as a template, as the audit's page has it: our own text, not an event file's. */
async function haveRule(code) {
  const id = `rule-${code}`;
  if (document.getElementById(id)) return;
  let answer = null;
  try { answer = await asked("rule", { code }); } catch { return; } // without it, the code is no button
  const parsed = new DOMParser().parseFromString(answer.html, "text/html");
  const template = el("template", { id });
  template.content.append(...document.adoptNode(parsed.body).childNodes);
  if (!document.getElementById(id)) document.body.append(template);
}
