// The search field of rules/symptoms.html: it shows the rows that have most of what was typed. `gradledger rule` searches
// alike, with the same small words and endings: summaries/auditing/rules/handbook.py, `about`, says why.

const SMALL = new Set(
  `
    a after all am an and anything are at be becomes been between but by can data did do does doesn don even ever for
    from get gets getting go goes going got had has have how i in is isn it its just keep keeps model my network
    no not of on or our so some suddenly t that the there this to too very was we what when while why will with
    won
  `
    .trim()
    .split(/\s+/),
);
const ENDING = /(?<=\w{3})(?:ings?|ed|es|er|ly|s|e)$/;
const ENOUGH = 0.5;

document.addEventListener("DOMContentLoaded", () => {
  const field = document.getElementById("symptom");
  const none = document.getElementById("no-symptom");
  if (!(field instanceof HTMLInputElement) || !none) return;
  const rows = all("article section section tbody tr");
  const search = () => {
    const wanted = found(
      field.value,
      rows.map((row) => row.textContent ?? ""),
    );
    rows.forEach((row, i) => {
      row.hidden = !wanted.has(i);
    });
    const sections = all("article section section");
    for (const section of sections) section.hidden = !section.querySelector("tbody tr:not([hidden])");
    none.hidden = wanted.size > 0;
  };
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.addEventListener("input", search);
  search();
});

/**
 * The numbers of the texts that have most of these words; all, if there are none.
 * @type {(typed: string, texts: string[]) => Set<number>}
 */
function found(typed, texts) {
  const words = texts.map(wordsOf);
  const beginnings = new Set(wordsOf(typed).filter(isTelling).map(beginningOf));
  if (!beginnings.size) return new Set(texts.keys());
  const scores = texts.map(() => 0);
  let sum = 0;
  for (const beginning of beginnings) {
    const having = words.flatMap((of, i) => (of.some((word) => word.startsWith(beginning)) ? [i] : []));
    const weight = Math.log1p(texts.length / (having.length || 1));
    sum += having.length ? weight : weight / 2;
    for (const i of having) scores[i] += weight;
  }
  const best = Math.max(...scores);
  const likeliest = [...scores.keys()].filter((i) => best - scores[i] < 1e-9);
  return new Set(best > 0 && best >= ENOUGH * sum ? likeliest : []);
}

/** @type {(text: string) => string[]} */
function wordsOf(text) {
  return text.toLowerCase().match(/[^\W_]+/g) ?? [];
}

/** @type {(word: string) => boolean} */
function isTelling(word) {
  return !SMALL.has(word) && !/^\d+$/.test(word);
}

/** @type {(word: string) => string} */
function beginningOf(word) {
  const short = word.replace(ENDING, "");
  return short.length > 3 && short.at(-1) === short.at(-2) ? short.slice(0, -1) : short;
}

/** @type {(selector: string) => HTMLElement[]} */
function all(selector) {
  return [...document.querySelectorAll(selector)].filter((element) => element instanceof HTMLElement);
}
