// The search field of rules/symptoms.html: rows that do not have every word that was typed are hidden. Words are
// compared by their first five letters, so that "exploding" finds "explodes".

const SMALL = new Set("a an and are do does i in is it my of our the".split(" "));
const LETTERS = 5;

document.addEventListener("DOMContentLoaded", () => {
  const field = document.getElementById("symptom");
  const none = document.getElementById("no-symptom");
  if (!(field instanceof HTMLInputElement) || !none) return;
  const search = () => {
    const words = wordsOf(field.value);
    for (const row of all("article section section tbody tr")) {
      const text = (row.textContent ?? "").toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const sections = all("article section section");
    for (const section of sections) section.hidden = !section.querySelector("tbody tr:not([hidden])");
    none.hidden = sections.some((section) => !section.hidden);
  };
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.addEventListener("input", search);
  search();
});

/** @type {(text: string) => string[]} */
function wordsOf(text) {
  const words = text.toLowerCase().split(/\W+/);
  return words.filter((word) => word && !SMALL.has(word)).map((word) => word.slice(0, LETTERS));
}

/** @type {(selector: string) => HTMLElement[]} */
function all(selector) {
  return [...document.querySelectorAll(selector)].filter((element) => element instanceof HTMLElement);
}
