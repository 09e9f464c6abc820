// Dark and light: the setting of the system, unless the reader chooses.

import { byId } from "./elements.js";

/** @import { Color } from "./types.js" */

const STORED = "gradledger-theme";

export const theme = {
  /** @type {Map<string, string>} */
  colors: new Map(),
  /** @type {Set<() => void>} */
  listeners: new Set(),
};

/** A color of page.css by its name, for drawing on a canvas. @type {(name: string) => string} */
export function color(name) {
  const stored = theme.colors.get(name);
  if (stored !== undefined) return stored;
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  theme.colors.set(name, value);
  return value;
}

/** A color of page.css that stands there as three numbers. @type {(name: string) => Color} */
export function components(name) {
  return color(name).split(" ").map(Number);
}

/**
 * Call a function whenever an element has another size, and one when the theme changes; returns what ends that.
 * @type {(element: Element, resized: () => void, recolored?: () => void) => () => void}
 */
export function whenLooksChange(element, resized, recolored = resized) {
  const observer = new ResizeObserver(resized);
  observer.observe(element);
  theme.listeners.add(recolored);
  return () => {
    observer.disconnect();
    theme.listeners.delete(recolored);
  };
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function themeChanged() {
  theme.colors.clear();
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  for (const listener of theme.listeners) listener();
}

/** What the reader chose, or null: a page opened from a file may not have storage. */
export function chosenTheme() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

export function startTheme() {
  const chosen = chosenTheme();
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  byId("theme").addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem(STORED, next);
    } catch {
      // without storage, the choice holds for this page
    }
    themeChanged();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
  startPaper();
  themeChanged();
}

/** Paper is light, and narrower than most windows. Who draws on a canvas listens to `beforeprint` after this. */
function startPaper() {
  const root = document.documentElement;
  /** @type {string | undefined} */
  let shown;
  addEventListener("beforeprint", () => {
    shown = root.dataset.theme;
    root.dataset.theme = "light";
    root.classList.add("paper");
    themeChanged();
  });
  addEventListener("afterprint", () => {
    if (shown) root.dataset.theme = shown;
    else delete root.dataset.theme;
    root.classList.remove("paper");
    themeChanged();
  });
}
