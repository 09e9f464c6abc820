// Which columns the table of runs has: boxes for what runs state of themselves, a form for the values of tags.

import { el, quietButton, select } from "../../../auditing/report/page/elements.js";
import { shortened } from "../../../auditing/report/page/names.js";
import { counted } from "../../../auditing/report/page/numbers.js";
import { columnOf, MEASURES, OWN } from "./table_data.js";

/** @import { FieldEvent } from "../../../auditing/report/page/types.js" */
/** @import { Parameter } from "./answers.js" */

const MOST_HINTS = 300; // tags that are offered while one is typed

/** @typedef {(key: string, isShown: boolean) => void} OnShow */

/** @type {(parameters: Parameter[], shown: string[], onshow: OnShow) => HTMLElement[]} */
export function boxes(parameters, shown, onshow) {
  /** @type {(key: string, title?: string) => HTMLElement} */
  const box = (key, title) => {
    /** @param {FieldEvent} event */
    const onchange = ({ target }) => onshow(key, target.checked);
    const field = el("input", { type: "checkbox", checked: shown.includes(key), "data-column": key, onchange });
    return el("label", { title }, field, el("bdi", {}, shortened(columnOf(key)?.title ?? "", 40)));
  };
  const own = Object.keys(OWN).map((key) => box(key));
  const stated = parameters.map(({ name, source, values, runs }) =>
    box(`parameter:${name}`, `${name}, from ${source}: ${values} different in ${counted(runs, "run")}`),
  );
  return [...own, ...stated];
}

/** @type {(tags: [string, number][], onshow: OnShow) => HTMLElement} */
export function adder(tags, onshow) {
  const hints = el("datalist", { id: "tags-of-runs" });
  /** @param {string} text */
  const offer = (text) => {
    const found = tags.filter(([tag]) => tag.toLowerCase().includes(text.toLowerCase())).slice(0, MOST_HINTS);
    hints.replaceChildren(...found.map(([tag]) => el("option", { value: tag })));
  };
  offer("");
  /** @param {FieldEvent} event */
  const oninput = ({ target }) => {
    target.setCustomValidity("");
    offer(target.value);
  };
  const tag = el("input", { type: "search", list: hints.id, placeholder: "Tag", "aria-label": "Tag", oninput });
  const step = el("input", { type: "number", step: 1, value: 0, "aria-label": "Step", hidden: true });
  let measure = "last";
  const measures = select("Which value", Object.entries(MEASURES), measure, (chosen) => {
    measure = chosen;
    step.hidden = measure !== "at";
  });
  const add = () => {
    const isKnown = tags.some(([known]) => known === tag.value);
    tag.setCustomValidity(isKnown ? "" : "No run has scalars with this tag.");
    const at = measure === "at" ? `@${Math.trunc(Number(step.value))}` : "";
    if (!tag.reportValidity()) return;
    onshow(`${measure}${at}:${tag.value}`, true);
    tag.value = "";
    offer("");
  };
  return el("div", { class: "adder" }, measures, step, tag, hints, quietButton("Add column", add));
}
