// A view: everything an address of the guide says; the same as guide/view/view.py. Views are never changed in place.

import { FACTS } from "./facts.js";
import {
  byCode,
  canonical,
  escaped,
  filtersOf,
  filtersText,
  filterValues,
  plain,
  split,
  trimmed,
  valuesOf,
  valueText,
} from "./notation.js";
import { sayText } from "./texts.js";

export const AGGREGATIONS = FACTS.aggregations;
const ONCE = FACTS.parameters.filter((name) => name !== "series");

/** @type {Record<string, KindFacts>} */
export const KIND_FACTS = FACTS.kinds;

/** @type {View} */
export const DEFAULT = Object.freeze(FACTS.view);

// An Error says in one line what is wrong with the address.
/** @type {(query: string) => View} */
export function parseView(query) {
  /** @type {Record<string, string>} */
  const once = {};
  /** @type {Series[]} */
  const series = [];
  /** @type {Filters} */
  const filters = [];
  for (const [key, text] of new URLSearchParams(query)) {
    if (key === "series") series.push(parseSeries(text));
    else if (ONCE.includes(key)) once[key] = text;
    else filters.push([key, filterValues(key, text, "&")]);
  }
  const kind = once.view ?? DEFAULT.kind;
  return {
    kind,
    x: once.x ?? DEFAULT.x,
    y: once.y ?? DEFAULT.y,
    group: (once.group ?? "").split(",").filter(Boolean),
    facet: once.facet ?? "",
    agg: once.agg ?? DEFAULT.agg,
    scaling: once.scaling ?? DEFAULT.scaling,
    log: once.log ?? "",
    baseline: once.baseline ?? "",
    range: once.range ? [...new Set(valuesOf(once.range))] : [],
    contended: once.contended === "1",
    series,
    filters: canonical(filters),
    runs: once.run ? valuesOf(once.run) : [],
    ...KIND_FACTS[kind]?.fixed,
  };
}

/** @type {(text: string) => Series} */
function parseSeries(text) {
  const [first, ...rest] = split(text, ":");
  const name = plain(trimmed(first));
  if (!rest.length || !name) throw new Error(sayText(FACTS.notation.no_series, { text }));
  return { name, filters: filtersOf(rest.join(":")) };
}

/** @type {(series: Series) => string} */
const seriesText = (series) => `${escaped(series.name)}: ${filtersText(series.filters)}`.trimEnd();

/** @type {(key: string, text: string) => [string, string]} */
const pair = (key, text) => [key, text];

// Parameters and their text in canonical order; what has its default value is left out.
/** @type {(view: View) => [string, string][]} */
export function pairs(view) {
  /** @type {[string, string, string][]} */
  const single = [
    ["view", view.kind, DEFAULT.kind],
    ["x", view.x, DEFAULT.x],
    ["y", view.y, DEFAULT.y],
    ["group", view.group.join(","), ""],
    ["facet", view.facet, ""],
    ["agg", view.agg, DEFAULT.agg],
    ["scaling", view.scaling, DEFAULT.scaling],
    ["log", view.log, ""],
    ["baseline", view.baseline, ""],
    ["range", valueText(view.range), ""],
    ["contended", view.contended ? "1" : "", ""],
  ];
  return [
    ...single.flatMap(([key, text, usual]) => (text === usual ? [] : [pair(key, text)])),
    ...view.series.map((s) => pair("series", seriesText(s))),
    ...canonical(view.filters).map(([key, values]) => pair(key, valueText(values))),
    ...(view.runs.length ? [pair("run", valueText(view.runs))] : []),
  ];
}

/** @type {(text: string) => string} */
const soft = (text) => encodeURIComponent(text).replace(/%(2C|3A|3B|3D|2F)/g, (code) => decodeURIComponent(code));

/** @type {(view: View) => string} */
export const queryOf = (view) =>
  pairs(view)
    .map(([key, text]) => `${soft(key)}=${soft(text)}`)
    .join("&");

/** @type {(view: View, changes: Partial<View>) => View} */
export const but = (view, changes) => ({ ...view, ...changes });

/** @type {(filters: Filters, name: string) => string[]} */
export const chosen = (filters, name) => filters.find(([key]) => key === name)?.[1] ?? [];

/** @type {(filters: Filters, name: string, values: string[]) => Filters} */
export function withFilter(filters, name, values) {
  const others = filters.filter(([key]) => key !== name);
  return values.length ? canonical([...others, [name, values]]) : others;
}

/** @type {(filters: Filters, name: string, value: string) => Filters} */
export function toggled(filters, name, value) {
  const now = chosen(filters, name);
  return withFilter(filters, name, now.includes(value) ? now.filter((v) => v !== value) : [...now, value].sort(byCode));
}

// The command line that draws the same chart, and the Python that does.
/** @type {(view: View, store?: string) => string} */
export function asCommand(view, store) {
  const quoted = (/** @type {string} */ text) => (/^[\w.,:/=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const words = ["steptime", "chart"];
  for (const [key, text] of pairs(view)) {
    if (ONCE.includes(key) && key !== "view" && !KIND_FACTS[view.kind].parameters.includes(key)) continue;
    if (key === "contended") words.push("--contended");
    else if (ONCE.includes(key) || key === "series") words.push(`--${key}`, quoted(text));
    else words.push("--filter", quoted(`${key}=${text}`));
  }
  if (store) words.push("--store", quoted(store));
  return [...words, "-o", "chart.svg"].join(" ");
}

/** @type {(view: View, store?: string) => string} */
export function asPython(view, store = "steptime-results") {
  return `from steptime import guide\n\nguide.open(${JSON.stringify(store)}).ask(${JSON.stringify(queryOf(view))})\n`;
}
