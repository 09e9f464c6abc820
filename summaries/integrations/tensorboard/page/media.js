// What runs logged beside scalars, side by side for several runs: images, sounds, texts and PR curves step by step,
// histograms over steps.

import { choice, el, quietButton } from "../../../auditing/report/page/elements.js";
import { onlyLatest } from "../../../auditing/report/page/latest.js";
import { shortened } from "../../../auditing/report/page/names.js";
import { counted, number, whole } from "../../../auditing/report/page/numbers.js";
import { addressOf, here, query, replaceAddress, tensorBoard } from "./address.js";
import { histogramPlot, prPlot } from "./histograms.js";
import { places } from "./places.js";
import { asked, source } from "./server.js";
import { lineClass, matching, nearest } from "./wall_data.js";

/** @import { FieldEvent } from "../../../auditing/report/page/types.js" */
/** @import { Chosen, Page, ShelfAnswer, StepsAnswer, ValueAnswer } from "./answers.js" */
/** @import { Ledger } from "./ledger.js" */

const MOST_RUNS = 8; // beside one another at first
const OPEN = 3; // sections
const NO_ROOM = "There was no room for it in this file: gradledger view --output page.html --media MB gives it more.";
const MEDIA = new URL("../data/media", import.meta.url);
const SHOWN = ["images", "histograms", "texts", "audio", "pr_curves"];

/** @typedef {{ kind: string, tags: string, runs: string, as: string }} State */
/** @typedef {StepsAnswer["runs"][number]} StepsOfRun */

/** @type {(ledger: Ledger, chosen: Chosen) => Promise<Page>} */
export async function mediaPage(ledger, chosen) {
  const { retagged } = ledger;
  const shelf = /** @type {ShelfAnswer} */ (await asked("shelf"));
  const { kind = "", tags = "", runs = "", as = "" } = chosen;
  const media = new Media(ledger, shelf, { kind, tags, runs, as });
  media.retagged = retagged;
  return { element: media.element, update: (changed) => media.update(changed), close: () => media.begin() };
}

class Media {
  /**
   * @param {Ledger} ledger
   * @param {ShelfAnswer} shelf
   * @param {State} state
   */
  constructor(ledger, shelf, state) {
    this.ledger = ledger;
    this.state = state;
    this.shelf = shelf;
    /** How often tags had changed when they were asked for. */
    this.retagged = 0;
    this.begin = onlyLatest();
    /** @type {Section[]} */
    this.sections = [];
    this.most = MOST_RUNS;
    this.tools = el("div", { class: "tools" });
    this.as = el("div");
    this.body = el("div");
    this.element = el("section", { class: "media" }, places("media"), el("h1", {}, "Media"), this.tools, this.body);
    this.element.append(elsewhere(shelf));
    this.draw();
  }

  get kinds() {
    return SHOWN.flatMap((shown) => this.shelf.kinds.find(({ kind }) => kind === shown) ?? []);
  }

  /** @param {Partial<State>} changes */
  change(changes) {
    Object.assign(this.state, changes);
    if (here().view === "media") replaceAddress(addressOf("media", "", "", this.state));
    this.drawSections();
  }

  draw() {
    const { kinds, state } = this;
    /** @type {(key: "tags" | "runs", what: string) => HTMLElement} */
    const search = (key, what) => {
      /** @param {FieldEvent} event */
      const oninput = ({ target }) => {
        const { problem } = matching(target.value);
        target.setCustomValidity(problem);
        if (!problem) this.change({ [key]: target.value });
      };
      const label = { placeholder: `${what}: text or /pattern/`, "aria-label": `${what} that match` };
      return el("input", { type: "search", value: state[key], ...label, oninput });
    };
    if (!kinds.some(({ kind }) => kind === state.kind)) state.kind = kinds[0]?.kind ?? "";
    const nouns = Object.fromEntries(kinds.map(({ kind, noun, tags }) => [kind, `${noun} (${whole(tags.length)})`]));
    const kind = choice("Kind", nouns, state.kind, (chosen) => this.change({ kind: chosen }));
    this.as = choice("Histograms as", { "": "Heat maps", ridges: "Ridges" }, state.as, (how) =>
      this.change({ as: how }),
    );
    this.tools.replaceChildren(search("tags", "Tags"), search("runs", "Runs"), kind, this.as);
    this.drawSections();
  }

  drawSections() {
    const { state, ledger, most } = this;
    const { test } = matching(state.tags);
    const runs = matching(state.runs);
    const shelf = this.kinds.find(({ kind }) => kind === state.kind);
    this.as.style.display = state.kind === "histograms" ? "" : "none";
    const names = ledger.runs.filter((row) => !row.reading && runs.test(row.name)).map(({ name }) => name);
    const tags = (shelf?.tags ?? []).filter(([tag]) => test(tag));
    for (const section of this.sections) section.begin();
    this.sections = tags.map(([tag], at) => new Section(ledger, state, tag, names, most, at < OPEN));
    this.body.replaceChildren(...this.sections.map(({ element }) => element));
    if (tags.length === 0)
      this.body.append(el("p", { class: "note" }, shelf ? "No tag matches." : "There are none yet."));
    if (names.length > most) {
      const more = () => {
        this.most = names.length;
        this.drawSections();
      };
      this.body.prepend(quietButton(`Show all ${counted(names.length, "run")}, not only the first ${most}`, more));
    }
  }

  /** @param {Set<string>} changed */
  async update(changed) {
    if (changed.size === 0) return;
    const isLatest = this.begin();
    const { retagged } = this.ledger;
    const isKnown = retagged === this.retagged;
    const shelf = isKnown ? this.shelf : /** @type {ShelfAnswer | null} */ (await asked("shelf").catch(() => null));
    if (!isLatest() || shelf === null) return; // the next change asks again
    this.retagged = retagged;
    const isSame = JSON.stringify(shelf) === JSON.stringify(this.shelf);
    this.shelf = shelf;
    if (!isSame) this.draw();
    else for (const section of this.sections) if (section.isOf(changed)) section.load();
  }
}

/** The values of a tag, beside one another for some runs. */
class Section {
  /**
   * @param {Ledger} ledger
   * @param {State} state
   * @param {string} tag
   * @param {string[]} names
   * @param {number} most
   * @param {boolean} isOpen
   */
  constructor(ledger, { kind, as }, tag, names, most, isOpen) {
    this.ledger = ledger;
    this.kind = kind;
    this.as = as;
    this.tag = tag;
    this.names = names;
    this.most = most;
    /** @type {StepsOfRun[]} */
    this.runs = [];
    this.noRoom = false;
    /** All steps of all runs. @type {number[]} */
    this.steps = [];
    this.begin = onlyLatest();
    this.beginValues = onlyLatest();
    this.said = el("span", { class: "thinned" });
    this.slider = el("input", { type: "range", min: 0, "aria-label": `Step of ${tag}`, oninput: () => this.show() });
    this.cards = el("div", { class: "cards" });
    const stepped = el("div", { class: "stepped" }, kind === "histograms" ? null : this.slider, this.said);
    const title = el("summary", {}, el("bdi", {}, tag));
    this.element = el("details", { class: "further", open: isOpen }, title, stepped, this.cards);
    this.element.addEventListener("toggle", () => {
      if (this.element.hasAttribute("open") && this.runs.length === 0) this.load();
    });
    if (isOpen) this.load();
  }

  /** @param {Set<string>} changed */
  isOf(changed) {
    return this.element.hasAttribute("open") && this.names.some((name) => changed.has(name));
  }

  async load() {
    const isLatest = this.begin();
    const wasLast = this.slider.value === this.slider.max || this.steps.length === 0;
    const before = this.steps[Number(this.slider.value)];
    const asks = { kind: this.kind, tag: this.tag, runs: JSON.stringify(this.names), most: this.most };
    try {
      const { runs } = /** @type {StepsAnswer} */ (await asked("steps", asks));
      if (!isLatest()) return;
      this.runs = runs.filter(({ steps }) => steps.length > 0);
      this.noRoom = runs.length > this.runs.length && source.saved;
    } catch (error) {
      if (isLatest()) this.cards.replaceChildren(el("p", { class: "note" }, /** @type {Error} */ (error).message));
      return;
    }
    this.steps = [...new Set(this.runs.flatMap(({ steps }) => steps))].sort((a, b) => a - b);
    const last = Math.max(this.steps.length - 1, 0);
    this.slider.max = String(last);
    this.slider.value = String(wasLast ? last : (nearest(Float64Array.from(this.steps), before) ?? last));
    this.slider.disabled = last === 0;
    this.cards.replaceChildren(...this.runs.map(({ run }) => this.card(run)));
    if (this.runs.length === 0)
      this.cards.append(el("p", { class: "note" }, this.noRoom ? NO_ROOM : "None of these runs has it."));
    await this.show();
  }

  /** @param {string} run */
  card(run) {
    const mark = el("span", { class: `mark ${lineClass(this.ledger.color(run))}` });
    const link = el("a", { href: addressOf("run", run), title: run }, el("bdi", {}, shortened(run, 40)));
    return el(
      "figure",
      {},
      el("figcaption", {}, el("h3", {}, mark, link), el("span", { class: "thinned" })),
      el("div", { class: "shown" }),
    );
  }

  /** Show each run's last value up to the chosen step. */
  async show() {
    const isLatest = this.beginValues();
    const step = this.steps[Number(this.slider.value)] ?? 0;
    const many = counted(this.steps.length, "step");
    this.slider.setAttribute("aria-valuetext", `step ${step}`);
    const all = this.runs.reduce((sum, { steps, points = steps.length }) => sum + points, 0);
    const kept = this.runs.reduce((sum, { steps }) => sum + steps.length, 0);
    const left = source.saved && kept < all ? `; this file has ${whole(kept)} of ${counted(all, "value")}` : "";
    this.said.textContent = (this.kind === "histograms" ? many : `step ${whole(step)}, of ${many}`) + left;
    await Promise.all(
      this.runs.map(async ({ run, steps }, at) => {
        const [caption, shown] = [".thinned", ".shown"].map((name) => this.cards.children[at]?.querySelector(name));
        const index = steps.filter((one) => one <= step).length - 1;
        const told = await this.value(run, index).catch((error) => [el("p", { class: "note" }, error.message)]);
        if (!isLatest() || !shown || !caption) return;
        shown.replaceChildren(...told);
        if (this.kind !== "histograms") caption.textContent = index < 0 ? "" : `step ${whole(steps[index])}`;
      }),
    );
  }

  /** @type {(run: string, index: number) => Promise<HTMLElement[]>} */
  async value(run, index) {
    const { tag, kind } = this;
    if (kind === "histograms") return histogramPlot(run, tag, this.as === "ridges");
    if (index < 0) return [el("p", { class: "note" }, "Nothing yet at this step.")];
    const value = /** @type {ValueAnswer} */ (await asked("value", { kind, run, tag, index }));
    if (value.precision && value.recall) return [prPlot(value.recall.map(Number), value.precision.map(Number))];
    if (value.texts) return [...value.texts.map((text) => el("pre", { dir: "auto" }, text)), ...cut(value)];
    if (!value.types) return [el("p", { class: "note" }, value.about ?? "")];
    return value.types.map((type, item) => {
      const src = value.sources?.[item] ?? `${MEDIA.href}?${query({ kind, run, tag, index, item })}`;
      if (type.startsWith("image/"))
        return el("img", { src, alt: `${tag}, ${run}, step ${value.step}`, title: (value.size ?? []).join(" × ") });
      const label = value.labels?.[item] ? el("p", {}, value.labels[item]) : null;
      if (type.startsWith("audio/")) return el("div", {}, el("audio", { src, controls: true, preload: "none" }), label);
      return el("p", { class: "note" }, "No browser shows this: it is no PNG, JPEG, GIF, WAV, Ogg, FLAC or MP3.");
    });
  }
}

/** @type {(value: ValueAnswer) => HTMLElement[]} */
function cut(value) {
  return value.cut ? [el("p", { class: "note" }, "The text goes on; gradledger show has all of it.")] : [];
}

/** What TensorBoard shows, and how to open it. @type {(shelf: ShelfAnswer) => HTMLElement} */
function elsewhere({ kinds, command }) {
  const meshes = kinds.find(({ kind }) => kind === "meshes");
  const also = meshes ? ` (${number(meshes.tags.length)} tags of meshes are here)` : "";
  const how = tensorBoard() ? "are in TensorBoard's own tabs" : "are shown by TensorBoard";
  const what = `Graphs, meshes${also}, embeddings and custom layouts ${how}`;
  const hasCommand = command !== "" && !tensorBoard();
  return el("p", { class: "note elsewhere" }, what, ...(hasCommand ? [": ", el("code", {}, command)] : ["."]));
}
