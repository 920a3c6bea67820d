// What is asked, as a sentence with choices in it; below it what narrows it down, and the named series.

import { dimensionNamed } from "./dimensions.js";
import { failure, h, icon, replace } from "./dom.js";
import { sentence } from "./format.js";
import { facetList, foldAll } from "./filters.js";
import { dialog, menu } from "./overlay.js";
import { AGGREGATIONS, but, withFilter } from "./state.js";

// Somebody who types the beginning of a name is left to finish before the page follows.
const TYPING_MS = 600;

/**
 * @type {(key: string, label: string, options: string[][], value: string, change: (value: string) => void,
 *   unset?: string | null) => HTMLElement}
 */
export function pick(key, label, options, value, change, unset = "") {
  let typed = 0;
  let timer = 0;
  const follow = (/** @type {HappeningAt} */ event) => {
    const chosenValue = event.target.value;
    clearTimeout(timer);
    timer = setTimeout(() => change(chosenValue), performance.now() - typed < TYPING_MS ? TYPING_MS : 0);
  };
  const known = options.some(([v]) => v === value) ? options : [...options, [value, value]];
  return h(
    "span",
    { class: "pickwrap" },
    h(
      "select",
      {
        "data-key": key,
        "aria-label": label,
        class: value === unset ? "unset" : null,
        onchange: follow,
        onkeydown: (e) => {
          if (e.key.length === 1) typed = performance.now();
        },
      },
      known.map(([v, words]) => h("option", { value: v, selected: v === value }, words)),
    ),
    icon("chevron"),
  );
}

// Dimensions in which the runs differ come first: the others would make a chart of one bar.
/** @type {(app: App) => [string, string][]} */
export function dimensionOptions(app) {
  const varied = app.meta.dimensions.filter((d) => d.values > 1);
  const same = app.meta.dimensions.filter((d) => d.values <= 1);
  return [...varied, ...same].map((d) => [d.name, d.label]);
}

/** @type {(app: App) => HTMLElement} */
export function askBar(app) {
  const { view } = app;
  const dims = dimensionOptions(app);
  const none = [["", "nothing"]];
  const free = dims.filter(([name]) => name !== view.x);
  const groups = view.series.length ? [] : [...view.group, ""].slice(0, 3);
  return h(
    "div",
    { class: "ask", role: "group", "aria-label": "What the chart shows" },
    pick(
      "ask/agg",
      "Aggregation",
      AGGREGATIONS.map((a) => [a, sentence(a)]),
      view.agg,
      (agg) => app.go({ agg }),
      null,
    ),
    pick(
      "ask/y",
      "Vertical axis",
      app.meta.measures.map((m) => [m.name, m.label]),
      view.y,
      (y) => app.go({ y }),
      null,
    ),
    h("span", null, "by"),
    pick(
      "ask/x",
      "Horizontal axis",
      dims,
      view.x,
      (x) =>
        app.go({
          x,
          range: [],
          group: view.group.filter((g) => g !== x),
          facet: view.facet === x ? "" : view.facet,
          baseline: "",
        }),
      null,
    ),
    groups.length > 0 && h("span", null, "per"),
    groups.map((g, i) => [
      i > 0 && h("span", null, "and"),
      pick(
        `ask/group${i}`,
        i ? `Group by, ${i + 1}` : "Group by",
        [...none, ...free.filter(([n]) => n === g || !view.group.includes(n))],
        g,
        (next) => app.go({ group: [...view.group.slice(0, i), next, ...view.group.slice(i + 1)].filter(Boolean), baseline: "" }),
      ),
    ]),
    h("span", null, "split by"),
    pick("ask/facet", "One small chart for each", [...none, ...free], view.facet, (facet) => app.go({ facet })),
  );
}

/** @type {(app: App, swatches?: Record<string, string>) => HTMLElement} */
export function chips(app, swatches = {}) {
  const { view } = app;
  const named = ["chart", "table", "compare"].includes(view.kind);
  /** @type {(k: string, words: string, remove: () => void, label: string) => HTMLElement} */
  const chip = (k, words, remove, label) =>
    h(
      "span",
      { class: "chip" },
      h("span", { class: "k" }, k),
      h("b", { title: words }, words),
      h("button", { "aria-label": label, onclick: remove }, icon("close")),
    );
  return h(
    "div",
    { class: "chips" },
    h(
      "button",
      { class: "button small only-narrow", "data-key": "chips/filters", onclick: () => app.showFilters() },
      icon("filter"),
      view.filters.length ? `Filters (${view.filters.length})` : "Filters",
    ),
    named &&
      view.series.map((s, i) =>
        h(
          "span",
          { class: "chip series", vars: { "--swatch": swatches[s.name] ?? "var(--accent)" } },
          h("i"),
          h(
            "button",
            {
              class: "open",
              "data-key": `series/${i}`,
              title:
                s.filters.map(([k, v]) => `${dimensionNamed(k).label} ${v.join(", ")}`).join("; ") || "no filters of its own",
              onclick: () => seriesDialog(app, i),
            },
            s.name,
          ),
          h(
            "button",
            {
              "aria-label": `Remove series ${s.name}`,
              onclick: () => app.go({ series: view.series.filter((_, j) => j !== i), baseline: "" }),
            },
            icon("close"),
          ),
        ),
      ),
    named &&
      h(
        "button",
        { class: "button small quiet", "data-key": "chips/add", onclick: () => seriesDialog(app, -1) },
        icon("plus"),
        view.series.length ? "Series" : "Named series",
      ),
    view.filters.map(([name, values]) =>
      chip(
        dimensionNamed(name).label,
        values.map((v) => v || "unknown").join(", "),
        () => app.go({ filters: withFilter(view.filters, name, []) }),
        `Remove filter ${dimensionNamed(name).label}`,
      ),
    ),
    view.range.length > 0 &&
      chip(
        `${dimensionNamed(view.x).label} shown`,
        view.range.join(", "),
        () => app.go({ range: [] }),
        "Show all of the horizontal axis",
      ),
  );
}

// A series that a person names, with filters of its own on top of those of the page.
/** @type {(app: App, index: number) => void} */
export function seriesDialog(app, index) {
  const existing = app.view.series[index];
  foldAll("dialog");
  let filters = existing?.filters ?? [];
  const name = h("input", {
    class: "plain",
    maxlength: 80,
    value: existing?.name ?? "",
    placeholder: "What to call it in the legend",
    "aria-label": "Name of the series",
  });
  const list = h("div", null, h("p", { class: "muted" }, "Counting…"));
  const problem = h("p", { class: "muted" });
  const refresh = async () => {
    const asked = but(app.view, { kind: "chart", filters: combined(app.view.filters, filters), series: [] });
    /** @type {Facet[]} */
    let facets;
    try {
      facets = await app.source.facets(asked);
    } catch (error) {
      return replace(list, failure(error));
    }
    const element = list.closest("dialog");
    const at = element?.querySelector(".scroll")?.scrollTop ?? 0;
    app.keepFocus(() =>
      list.replaceChildren(
        ...facetList(
          facets,
          filters,
          (next) => {
            filters = next;
            refresh();
          },
          "dialog",
        )
          .flat(3)
          .filter((n) => n instanceof Node),
      ),
    );
    element?.querySelector(".scroll")?.scrollTo({ top: at });
  };
  const save = (/** @type {() => void} */ close) => {
    const text = name.value.trim() || filters.map(([, v]) => v.join("/")).join(" ");
    const others = app.view.series.filter((_, i) => i !== index);
    problem.textContent = !text
      ? "Choose a filter or give it a name."
      : others.some((s) => s.name === text)
        ? `There is already a series called ${text}.`
        : "";
    if (problem.textContent) return;
    const made = { name: text, filters };
    const series = existing ? app.view.series.map((s, i) => (i === index ? made : s)) : [...app.view.series, made];
    close();
    app.go({ series, group: [], baseline: "" });
  };
  dialog(
    existing ? "Edit series" : "Add a named series",
    [
      h("label", { class: "field" }, "Name", name),
      h("h3", null, "Runs with"),
      h("p", { class: "muted field" }, "on top of the filters of the page"),
      list,
    ],
    (close) => [
      problem,
      h("button", { class: "button", onclick: close }, "Cancel"),
      h("button", { class: "button primary", onclick: () => save(close) }, existing ? "Save" : "Add series"),
    ],
  );
  name.focus();
  name.addEventListener("keydown", (e) => e.key === "Enter" && save(() => name.closest("dialog")?.close()));
  refresh();
}

/** @type {(page: Filters, own: Filters) => Filters} */
function combined(page, own) {
  let all = page;
  for (const [key, values] of own) all = withFilter(all, key, values);
  return all;
}

/** @type {(label: string, key: string, options: string[][], value: string, change: (value: string) => void) => HTMLElement} */
export const segments = (label, key, options, value, change) =>
  h(
    "span",
    { class: "control" },
    label,
    h(
      "span",
      { class: "segments", role: "group", "aria-label": label || key },
      options.map(([v, words]) =>
        h("button", { "aria-pressed": String(v === value), "data-key": `${key}/${v}`, onclick: () => change(v) }, words),
      ),
    ),
  );

// Linear or logarithmic, for each axis.
/** @type {(app: App, axes: string[]) => HTMLElement[]} */
export function axisSwitches(app, axes) {
  /** @type {(axis: string) => boolean} */
  const log = (axis) => app.view.log.includes(axis);
  /** @type {(axis: string) => (value: string) => void} */
  const set = (axis) => (on) => app.go({ log: ["x", "y"].filter((a) => (a === axis ? on : log(a))).join("") });
  return axes.map((axis) =>
    segments(
      `${axis} axis`,
      `tools/log${axis}`,
      [
        ["", "linear"],
        [axis, "log"],
      ],
      log(axis) ? axis : "",
      set(axis),
    ),
  );
}

/** @type {(app: App, result?: Result) => HTMLElement} */
export function tools(app, result) {
  const { view } = app;
  const { kind } = dimensionNamed(view.x);
  const candidates = result
    ? result.series.length > 1 || view.series.length
      ? result.series
      : result.xs
    : view.baseline
      ? [view.baseline]
      : [];
  return h(
    "div",
    { class: "tools" },
    segments(
      "",
      "tools/kind",
      [
        ["chart", "Chart"],
        ["table", "Table"],
      ],
      view.kind,
      (kind) => app.go({ kind }),
    ),
    axisSwitches(app, kind === "number" ? ["y", "x"] : ["y"]),
    segments(
      "scaling",
      "tools/scaling",
      [
        ["weak", "weak"],
        ["strong", "strong"],
      ],
      view.scaling,
      (scaling) => app.go({ scaling }),
    ),
    h(
      "label",
      { class: "control" },
      "relative to",
      h(
        "select",
        { class: "plain", "data-key": "tools/baseline", onchange: (e) => app.go({ baseline: e.target.value }) },
        h("option", { value: "", selected: !view.baseline }, "nothing"),
        [...new Set([...candidates, ...(view.baseline ? [view.baseline] : [])])].map((v) =>
          h("option", { value: v, selected: v === view.baseline }, v),
        ),
      ),
    ),
    h(
      "button",
      {
        class: "button small",
        "data-key": "tools/range",
        "aria-haspopup": "dialog",
        onclick: (e) => menu(e.currentTarget, rangeMenu(app, kind !== "text")),
      },
      "x values…",
    ),
    h(
      "label",
      { class: "switch" },
      h("input", {
        type: "checkbox",
        role: "switch",
        checked: view.contended,
        "data-key": "tools/contended",
        onchange: (e) => app.go({ contended: e.target.checked }),
      }),
      "count contended runs",
    ),
  );
}

/** @type {(app: App, ordered: boolean) => any[]} */
function rangeMenu(app, ordered) {
  const { view } = app;
  const list = h("div", { class: "list" }, h("p", { class: "muted pick" }, "Reading…"));
  const open = view.range.length === 1 && view.range[0].includes("..") ? view.range[0].split("..") : ["", ""];
  const [low, high] = ["from", "to"].map((word, i) =>
    h("input", { class: "plain", placeholder: word, value: open[i], "aria-label": `${word} this value of x` }),
  );
  const apply = () => app.go({ range: low.value || high.value ? [`${low.value.trim()}..${high.value.trim()}`] : [] });
  app.source
    .answer(but(view, { kind: "table", range: [], baseline: "" }))
    .then(({ answer }) => {
      /** @type {string[]} */
      const values = answer.xs;
      const now = new Set(view.range.length && !view.range[0].includes("..") ? view.range : values);
      list.replaceChildren(
        ...values.map((value) =>
          h(
            "label",
            { class: "pick" },
            h("input", {
              type: "checkbox",
              checked: now.has(value),
              onchange: (e) => {
                e.target.checked ? now.add(value) : now.delete(value);
                app.go({ range: now.size === values.length || !now.size ? [] : values.filter((v) => now.has(v)) });
              },
            }),
            value || "unknown",
          ),
        ),
      );
    })
    .catch((error) => replace(list, failure(error)));
  return [
    h("h3", null, "Show these values of x"),
    ordered && h("div", { class: "ends" }, low, "–", high, h("button", { class: "button small", onclick: apply }, "Apply")),
    list,
    h("button", { onclick: () => app.go({ range: [] }) }, icon("check"), "All"),
  ];
}
