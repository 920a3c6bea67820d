// What a reader should know before believing a chart, below it.

import { h, icon } from "./dom.js";
import { sentence } from "./format.js";

// Contended runs can be included at once, so that warning comes with a button.
/** @type {(app: App, warning: ChartWarning, details?: string) => HTMLElement} */
export function warningNote(app, { code, text }, details = "") {
  const include =
    code === "contended" && h("button", { class: "link", onclick: () => app.go({ contended: true }) }, "Count them");
  const look = include ? "info" : "warn";
  return h("div", { class: `note ${look}` }, icon(look), h("span", null, `${sentence(text)}${details}.`), include);
}
