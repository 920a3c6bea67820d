// What a reader should know before believing a chart, below it.

import { h, icon } from "./dom.js";
import { sentence } from "./format.js";

// What can be mended at once comes with a button: contended runs are included, points made comparable.
/** @type {(app: App, warning: ChartWarning, details?: string) => HTMLElement} */
export function warningNote(app, { code, text }, details = "") {
  const include = () => app.go({ contended: true });
  const filter = async () => app.go({ filters: (await app.source.alike(app.view)).filters });
  const [act, words] =
    code === "contended" ? [include, "Count them"] : code === "different" ? [filter, "Compare like with like"] : [];
  const look = code === "contended" ? "info" : "warn";
  const button = act && h("button", { class: "link", onclick: act }, words);
  return h("div", { class: `note ${look}` }, icon(look), h("span", null, `${sentence(text)}${details}.`), button);
}
