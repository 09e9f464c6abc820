// Dark and light: the setting of the system, unless the reader chooses.

export const theme = { colors: new Map(), listeners: new Set() };

/** A color of page.css by its name, for drawing on a canvas. */
export function color(name) {
  if (!theme.colors.has(name)) {
    theme.colors.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return theme.colors.get(name);
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function themeChanged() {
  theme.colors.clear();
  document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
  for (const listener of theme.listeners) listener();
}

export function startTheme() {
  const remembered = (write) => {
    try { return write(localStorage); } catch { return null; } // a page opened from a file may not have storage
  };
  const chosen = remembered((storage) => storage.getItem("gradledger-theme"));
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  document.getElementById("theme").addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    remembered((storage) => storage.setItem("gradledger-theme", next));
    themeChanged();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
  startPaper();
  themeChanged();
}

/** Paper is light, and narrower than most windows. Who draws on a canvas listens to `beforeprint` after this. */
function startPaper() {
  const root = document.documentElement;
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
