// Filters: every dimension with its values and how many runs each would leave. A value that would leave none is not offered.

import { h, icon, replace } from "./dom.js";
import { FACTS } from "./facts.js";
import { chosen, toggled, withFilter } from "./state.js";

const FEW = 8;
/** @type {Map<string, boolean>} */
const openState = new Map();
/** @type {Set<string>} */
const shownAll = new Set();

/** @type {(place: string) => void} */
export function foldAll(place) {
  for (const key of openState.keys()) if (key.startsWith(`${place}/`)) openState.delete(key);
}

// `change(filters)` is called with new filters; `place` tells the lists of the page and of dialogs apart.
/** @type {(facets: Facet[], filters: Filters, change: Refilter, place?: string, search?: string) => any[]} */
export function facetList(facets, filters, change, place = "side", search = "") {
  const wanted = search.trim().toLowerCase();
  const useful = facets.filter((f) => f.values.length > 1 || chosen(filters, f.dimension).length);
  const constant = facets.filter(
    (f) => f.values.length === 1 && f.values[0].value !== "" && !chosen(filters, f.dimension).length,
  );
  const shown = useful.map((f) => facet(f, filters, change, place, wanted)).filter(Boolean);
  return [
    shown.length
      ? shown
      : h("p", { class: "values muted" }, wanted ? `Nothing called “${search}”.` : "Nothing to choose between."),
    !wanted &&
      constant.length > 0 &&
      h(
        "details",
        {
          class: "facet",
          open: openState.get(`${place}/same`) ?? false,
          ontoggle: (e) => openState.set(`${place}/same`, e.target.open),
        },
        h(
          "summary",
          { "data-key": `${place}/same` },
          icon("chevron"),
          "The same in all",
          h("span", { class: "many" }, constant.length),
        ),
        h(
          "dl",
          { class: "pairs values same" },
          constant.map((f) => [h("dt", null, f.label), h("dd", null, f.values[0].value)]),
        ),
      ),
  ];
}

/** @type {(of: Facet, filters: Filters, change: Refilter, place: string, wanted: string) => HTMLElement | null} */
function facet(of, filters, change, place, wanted) {
  const key = `${place}/${of.dimension}`;
  const mine = chosen(filters, of.dimension);
  const named = of.label.toLowerCase().includes(wanted);
  const values = wanted && !named ? of.values.filter((v) => v.value.toLowerCase().includes(wanted)) : of.values;
  if (wanted && !named && !values.length) return null;
  const open = wanted
    ? true
    : (openState.get(key) ?? (place === "side" ? FACTS.unfolded.includes(of.dimension) || mine.length > 0 : false));
  const extra = mine
    .filter((v) => !of.values.some((known) => known.value === v))
    .map((value) => ({ value, runs: value.includes("..") ? null : 0 }));
  const all = [...extra, ...values];
  const limit = shownAll.has(key) || wanted ? all.length : FEW;
  const label = mine.length === 1 ? mine[0] || "unknown" : `${mine.length} chosen`;
  return h(
    "details",
    { class: "facet", open, ontoggle: (e) => !wanted && openState.set(key, e.target.open) },
    h(
      "summary",
      { "data-key": key },
      icon("chevron"),
      of.label,
      mine.length
        ? h("span", { class: "chosen", title: mine.join(", ") }, label)
        : h("span", { class: "many" }, of.values.length + (of.more ?? 0)),
    ),
    h(
      "div",
      { class: "values", role: "group", "aria-label": of.label },
      all.slice(0, limit).map((v) => valueRow(of, v, mine, filters, change, place)),
      all.length > limit &&
        h(
          "button",
          {
            class: "link more",
            "data-key": `${key}/more`,
            onclick: (e) => {
              shownAll.add(key);
              const list = e.currentTarget.parentElement;
              replace(
                list,
                all.map((v) => valueRow(of, v, mine, filters, change, place)),
              );
              list.querySelectorAll("input")[limit]?.focus();
            },
          },
          `Show all ${all.length}`,
        ),
      of.more > 0 && limit >= all.length && h("p", { class: "muted more" }, `and ${of.more} more`),
      mine.length > 0 &&
        h(
          "button",
          { class: "link more", "data-key": `${key}/any`, onclick: () => change(withFilter(filters, of.dimension, [])) },
          "Any",
        ),
    ),
  );
}

/** @type {(of: Facet, v: OfferedValue, mine: string[], filters: Filters, change: Refilter, place: string) => HTMLElement} */
function valueRow(of, v, mine, filters, change, place) {
  const on = mine.includes(v.value);
  const words = v.value === "" ? "unknown" : v.value;
  const key = `${place}/${of.dimension}/${v.value}`;
  return h(
    "label",
    { class: `value${v.runs === 0 && !on ? " none" : ""}`, title: words },
    h("input", {
      type: "checkbox",
      checked: on,
      "data-key": key,
      "aria-label": `${of.label}: ${words}`,
      onchange: () => change(toggled(filters, of.dimension, v.value)),
    }),
    h("span", { class: "name" }, words),
    v.runs !== null && h("span", { class: "n", "aria-hidden": "true" }, v.runs.toLocaleString("en")),
    h(
      "button",
      {
        class: "link only",
        tabindex: "-1",
        "aria-hidden": "true",
        onclick: (e) => {
          e.preventDefault();
          change(withFilter(filters, of.dimension, [v.value]));
        },
      },
      "only",
    ),
  );
}

/** @type {(app: App) => SidePanel} */
export function sidePanel(app) {
  let search = "";
  /** @type {Facet[]} */
  let known = [];
  /** @type {Filters} */
  let filters = [];
  const list = h("div", { class: "list" });
  const draw = () => replace(list, facetList(known, filters, change, "side", search));
  /** @type {Refilter} */
  const change = (next) => app.go({ filters: next });
  const reset = h("button", { class: "link", "data-key": "side/reset", onclick: () => change([]) }, "Clear");
  const element = h(
    "aside",
    { class: "side", "aria-label": "Filters" },
    h(
      "div",
      { class: "side-head" },
      h(
        "div",
        { class: "row" },
        h("h2", null, "Filters"),
        h(
          "span",
          null,
          reset,
          h("button", { class: "button quiet small close", "aria-label": "Close filters", onclick: () => hide() }, icon("close")),
        ),
      ),
      h("input", {
        class: "plain",
        type: "search",
        placeholder: "Find a filter or value",
        "aria-label": "Find a filter or value",
        "data-key": "side/search",
        oninput: (e) => {
          search = e.target.value;
          draw();
        },
      }),
    ),
    list,
  );
  /** @type {HTMLElement | null} */
  let veil = null;
  const hide = () => {
    element.classList.remove("shown");
    veil?.remove();
    veil = null;
  };
  const show = () => {
    element.classList.add("shown");
    document.body.append((veil = h("div", { class: "veil", onclick: hide })));
    element.querySelector("input")?.focus();
  };
  element.addEventListener("keydown", (e) => e.key === "Escape" && hide());
  return {
    element,
    show,
    hide,
    update(view, facets) {
      if (facets) known = facets;
      filters = view.filters;
      reset.hidden = !filters.length;
      app.keepFocus(draw);
    },
  };
}
