// Light, dark, or as the system says; the same for page and charts.

import { THEMES } from "./themes.js";

export function theme() {
  const set = document.documentElement.dataset.theme;
  return set ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

export function loadTheme() {
  try {
    const kept = localStorage.getItem("steptime-theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // a report opened from a file may have no storage
  }
}

export function switchTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("steptime-theme", next);
  } catch {
    // then it lasts as long as the page
  }
  dispatchEvent(new Event("steptime-theme"));
}

/** @type {(listener: () => void) => void} */
export function onTheme(listener) {
  addEventListener("steptime-theme", listener);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", listener);
}

// What the theme puts into charts, and the colours of series.
/** @type {() => Record<string, any>} */
export const themeValues = () => /** @type {Record<string, any>} */ (THEMES)[theme()];
