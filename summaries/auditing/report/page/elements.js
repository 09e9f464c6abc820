// Creating elements. Data from event files reaches the page only through these functions, and only as text.

/** @import { Attributes, Child, Color, FieldEvent, Verdict, Severity } from "./types.js" */

/**
 * An HTML element: el("p", {class: "note", onclick: f}, "text", child, …); null children are left out.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
export function el(name, attributes = {}, ...children) {
  return furnished(document.createElement(name), attributes, children);
}

/**
 * The same for SVG.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
export function svg(name, attributes = {}, ...children) {
  return furnished(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
function furnished(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// A shape and a sign for each severity, so that they differ not only by color.
const SIGNS = {
  error: ["M5 1h6l4 4v6l-4 4H5l-4-4V5z", "M5.5 5.5l5 5m0-5l-5 5", "error"],
  warning: ["M8 1.2L15.4 14.6H.6z", "M8 6v4m0 2v.6", "warning"],
  info: ["M8 1a7 7 0 110 14A7 7 0 018 1z", "M8 7.2v4.3m0-7v.6", "info"],
  pending: ["M8 1a7 7 0 110 14A7 7 0 018 1z", "M8 4.4v3.9l2.6 1.5", "not read yet"],
  pass: ["M8 1a7 7 0 110 14A7 7 0 018 1z", "M4.8 8.3l2.2 2.3 4.2-4.8", "nothing found"],
};

/** The sign of a severity, or of a verdict. @type {(severity: Severity | Verdict) => SVGElement} */
export function sign(severity) {
  const [outline, stroke, label] = SIGNS[severity];
  return svg(
    "svg",
    { class: `sign ${severity}`, viewBox: "0 0 16 16", role: "img", "aria-label": label },
    svg("path", { class: "outline", d: outline }),
    svg("path", { class: "stroke", d: stroke }),
  );
}

/**
 * A quiet button, such as those that close something or go back.
 * @type {(text: string, onclick: () => void, attributes?: Attributes) => HTMLButtonElement}
 */
export function quietButton(text, onclick, attributes = {}) {
  return el("button", { type: "button", class: "quiet", onclick, ...attributes }, text);
}

/**
 * A group of buttons, one of which is pressed; `texts` are by their values.
 * @template {string} Value
 * @param {string} label
 * @param {Record<Value, string>} texts
 * @param {Value} first
 * @param {(value: Value) => void} onchoice
 */
export function choice(label, texts, first, onchoice) {
  const values = /** @type {Value[]} */ (Object.keys(texts));
  const buttons = values.map((value) => {
    const onclick = () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      onchoice(value);
    };
    const button = el("button", { type: "button", "aria-pressed": String(value === first), onclick }, texts[value]);
    return button;
  });
  return el("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}

/**
 * A list to select from; `texts` are [value, text].
 * @type {(label: string, texts: string[][], chosen: string, onchoice: (value: string) => void) => HTMLElement}
 */
export function select(label, texts, chosen, onchoice) {
  /** @param {FieldEvent} event */
  const onchange = ({ target }) => onchoice(target.value);
  const options = texts.map(([value, text]) => el("option", { value, selected: value === chosen }, text));
  return el("select", { "aria-label": label, onchange }, options);
}

/** A bar with these colors from left to right. @type {(colors: Color[]) => HTMLCanvasElement} */
export function colorBar(colors) {
  const bar = el("canvas", { width: colors.length, height: 1, class: "bar", "aria-hidden": "true" });
  const ctx = drawing(bar);
  colors.forEach((color, x) => {
    ctx.fillStyle = `rgb(${color.join(" ")})`;
    ctx.fillRect(x, 0, 1, 1);
  });
  return bar;
}

/** What draws on a canvas. @type {(canvas: HTMLCanvasElement) => CanvasRenderingContext2D} */
export function drawing(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/** The element with this id, which the page has. @type {(id: string) => HTMLElement} */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}
