// The search field of rules/symptoms.html: rows that do not have every word that was typed are hidden. Words are compared by
// their first five letters, so that "exploding" finds "explodes".
const SMALL = new Set("a an and are do does i in is it my of our the".split(" "));

document.addEventListener("DOMContentLoaded", () => {
  const field = document.getElementById("symptom");
  if (!field) return;
  const none = document.getElementById("no-symptom");
  const search = () => {
    const words = field.value.toLowerCase().split(/\W+/).filter((word) => word && !SMALL.has(word)).map((word) => word.slice(0, 5));
    let shown = 0;
    for (const section of document.querySelectorAll("article section section")) {
      let here = 0;
      for (const row of section.querySelectorAll("tbody tr")) {
        row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
        here += !row.hidden;
      }
      section.hidden = !here;
      shown += here;
    }
    none.hidden = shown > 0;
  };
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.addEventListener("input", search);
  search();
});
