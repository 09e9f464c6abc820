// Creating elements. Data from event files reaches the page only through these functions, and only as text.

/** An HTML element: el("p", {class: "note", onclick: f}, "text", child, …); null children are left out. */
export function el(name, attributes = {}, ...children) {
  return furnished(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svg(name, attributes = {}, ...children) {
  return furnished(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function furnished(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
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

/** The sign of a severity, or of a pass. */
export function sign(severity) {
  const [outline, stroke, label] = SIGNS[severity];
  return svg("svg", { class: `sign ${severity}`, viewBox: "0 0 16 16", role: "img", "aria-label": label },
    svg("path", { class: "outline", d: outline }), svg("path", { class: "stroke", d: stroke }));
}

/** A name of at most `most` characters: the middle of a longer one is left out, because runs differ at their ends. */
export function middleLeftOut(name, most = 56) {
  if (name.length <= most) return name;
  const half = Math.floor((most - 1) / 2);
  return `${name.slice(0, most - 1 - half)}…${name.slice(-half)}`;
}
