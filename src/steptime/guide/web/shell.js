// The bar at the top: where one is, whether it is live, the theme, and every way to take a view along.

import { byId, h, icon, replace, svg } from "./dom.js";
import { count } from "./format.js";
import { KINDS } from "./kinds.js";
import { closeMenu, copy, menu } from "./overlay.js";
import { asCommand, asPython, but, DEFAULT, KIND_FACTS } from "./state.js";
import { switchTheme, theme } from "./theme.js";

/** @type {[string, Tab][]} */
const TABS = Object.entries(KINDS)
  .flatMap(([kind, { tab }]) => (typeof tab === "string" ? [] : [/** @type {[string, Tab]} */ ([kind, tab])]))
  .sort(([, a], [, b]) => a.place - b.place);
/** @type {Record<string, string>} */
const NAMES = {
  csv: "Table as CSV",
  json: "Answer as JSON",
  svg: "Picture as SVG",
  png: "Picture as PNG",
  "vl.json": "Chart as Vega-Lite",
};

/** @type {(app: App) => void} */
export function drawShell(app) {
  const { view } = app;
  const shown = /** @type {Record<string, ViewKind<any>>} */ (KINDS)[view.kind]?.tab;
  const current = typeof shown === "string" ? shown : view.kind;
  replace(
    byId("top"),
    h(
      "div",
      { class: "bar" },
      h(
        "a",
        {
          class: "brand",
          href: app.source.address(DEFAULT),
          "aria-label": "steptime Performance Guide",
          onclick: (e) => app.follow(e, DEFAULT),
        },
        mark(),
        h("b", null, "steptime"),
        h("span", null, "Performance Guide"),
      ),
      h(
        "nav",
        { class: "tabs", "aria-label": "Views" },
        TABS.map(([kind, tab]) => tabLink(app, kind, tab, current)),
      ),
      h(
        "div",
        { class: "right" },
        liveSign(app),
        h(
          "button",
          {
            class: "button quiet square",
            "data-key": "theme",
            "aria-label": theme() === "dark" ? "Light colours" : "Dark colours",
            title: "Light or dark",
            onclick: () => switchTheme(),
          },
          icon(theme() === "dark" ? "sun" : "moon"),
        ),
        h(
          "button",
          {
            class: "button primary",
            "data-key": "share",
            "aria-haspopup": "dialog",
            "aria-expanded": "false",
            "aria-label": "Share",
            onclick: (e) => menu(e.currentTarget, shareMenu(app)),
          },
          icon("share"),
          h("span", { class: "word" }, "Share"),
        ),
      ),
    ),
  );
}

function mark() {
  return svg(
    "svg",
    { viewBox: "0 0 32 32", "aria-hidden": "true" },
    svg("rect", { width: 32, height: 32, rx: 8, fill: "#2450d6" }),
    svg("path", {
      d: "M7 23h5v-6h6v-5h7",
      fill: "none",
      stroke: "#fff",
      "stroke-width": 3,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    }),
  );
}

// Parameters that only the kind before fixed get their defaults back.
/** @type {(app: App, kind: string, tab: Tab, current: string) => HTMLElement} */
function tabLink(app, kind, tab, current) {
  const picked = tab.count?.(app) ?? 0;
  const freed = Object.fromEntries(
    Object.keys(KIND_FACTS[app.view.kind]?.fixed ?? {}).map((name) => [name, DEFAULT[/** @type {keyof View} */ (name)]]),
  );
  const target = but(app.view, { runs: [], ...freed, ...KIND_FACTS[kind].fixed, ...tab.target?.(app), kind });
  return h(
    "a",
    { href: app.source.address(target), "aria-current": current === kind ? "page" : null, onclick: (e) => app.follow(e, target) },
    tab.label,
    picked > 0 && h("span", { class: "count", "aria-label": `${picked} picked` }, picked),
  );
}

/** @type {(app: App) => HTMLElement} */
export function liveSign(app) {
  const total = app.meta ? count(app.meta.runs, "run") : "";
  const words = app.source.live
    ? app.lost
      ? "not answering"
      : `${total} · live`
    : `${total} · ${app.meta?.written ?? "report"}`;
  return h(
    "span",
    {
      id: "live",
      class: `live${app.lost ? " off" : ""}${app.source.live ? "" : " file"}${app.fresh ? " fresh" : ""}`,
      title: app.meta?.store ?? "",
    },
    words,
  );
}

/** @type {(app: App) => any[]} */
function shareMenu(app) {
  /** @type {(name: string, symbol: Parameters<typeof icon>[0], small: string, action: () => void) => HTMLElement} */
  const item = (name, symbol, small, action) =>
    h(
      "button",
      {
        onclick: () => {
          closeMenu();
          action();
        },
      },
      icon(symbol),
      name,
      small && h("small", null, small),
    );
  const { suffixes } = KIND_FACTS[app.view.kind] ?? KIND_FACTS[DEFAULT.kind];
  const charting = suffixes.includes("svg") && suffixes.includes("csv");
  const files = app.source.formats.filter((suffix) => suffixes.includes(suffix));
  return [
    item("Copy link", "copy", "", () => copy(app.source.link(app.view), "Link copied")),
    charting && item("Copy as command", "copy", "shell", () => copy(asCommand(app.view), "Command copied")),
    charting && item("Copy as Python", "copy", "notebook", () => copy(asPython(app.view), "Python copied")),
    h("h3", null, "Download"),
    files.map((suffix) =>
      h(
        "a",
        {
          href: app.source.file(app.view, suffix),
          download: `steptime.${suffix}`,
          onclick: (e) => {
            closeMenu();
            app.source.save?.(e, app.view, suffix);
          },
        },
        icon("down"),
        NAMES[suffix],
        h("small", null, `.${suffix}`),
      ),
    ),
  ];
}
