// A view: everything an address of the guide says; the same as guide/state.py. Views are never changed in place.

import { byCode, canonical, escaped, filtersOf, filtersText, plain, split, trimmed, valuesOf, valueText } from "./notation.js";

export const KINDS = ["chart", "scaling", "coverage", "table", "runs", "run", "compare"];
export const AGGREGATIONS = ["best", "min", "max", "mean", "median"];
const ONCE = ["view", "x", "y", "group", "facet", "agg", "scaling", "log", "baseline", "range", "contended", "run"];

export const DEFAULT = Object.freeze({
  kind: "chart",
  x: "model",
  y: "throughput",
  group: [],
  facet: "",
  agg: "best",
  scaling: "weak",
  log: "",
  baseline: "",
  range: [],
  contended: false,
  series: [],
  filters: [],
  runs: [],
});

export function parseView(query) {
  const once = {};
  const series = [];
  const filters = [];
  for (const [key, text] of new URLSearchParams(query)) {
    if (key === "series") series.push(parseSeries(text));
    else if (ONCE.includes(key)) once[key] = text;
    else filters.push([key, valuesOf(text)]);
  }
  const kind = once.view ?? DEFAULT.kind;
  return {
    kind,
    x: kind === "scaling" ? "replicas" : (once.x ?? DEFAULT.x),
    y: once.y ?? DEFAULT.y,
    group: (once.group ?? "").split(",").filter(Boolean),
    facet: once.facet ?? "",
    agg: once.agg ?? DEFAULT.agg,
    scaling: once.scaling ?? DEFAULT.scaling,
    log: once.log ?? "",
    baseline: once.baseline ?? "",
    range: once.range ? [...new Set(valuesOf(once.range))] : [],
    contended: once.contended === "1",
    series: series.filter(Boolean),
    filters: canonical(filters),
    runs: once.run ? valuesOf(once.run) : [],
  };
}

function parseSeries(text) {
  const [name, ...rest] = split(text, ":");
  return rest.length ? { name: plain(trimmed(name)), filters: filtersOf(rest.join(":")) } : null;
}

const seriesText = (series) => `${escaped(series.name)}: ${filtersText(series.filters)}`.trimEnd();

// Parameters and their text in canonical order; what has its default value is left out.
export function pairs(view) {
  const found = [
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
  ]
    .filter(([, text, usual]) => text !== usual)
    .map(([key, text]) => [key, text]);
  for (const s of view.series) found.push(["series", seriesText(s)]);
  for (const [key, values] of canonical(view.filters)) found.push([key, valueText(values)]);
  if (view.runs.length) found.push(["run", valueText(view.runs)]);
  return found;
}

const soft = (text) => encodeURIComponent(text).replace(/%(2C|3A|3B|3D|2F)/g, (code) => decodeURIComponent(code));

export const queryOf = (view) =>
  pairs(view)
    .map(([key, text]) => `${soft(key)}=${soft(text)}`)
    .join("&");

export const but = (view, changes) => ({ ...view, ...changes });

export const chosen = (filters, name) => filters.find(([key]) => key === name)?.[1] ?? [];

export function withFilter(filters, name, values) {
  const others = filters.filter(([key]) => key !== name);
  return values.length ? canonical([...others, [name, values]]) : others;
}

export function toggled(filters, name, value) {
  const now = chosen(filters, name);
  return withFilter(filters, name, now.includes(value) ? now.filter((v) => v !== value) : [...now, value].sort(byCode));
}

// The command line that draws the same chart, and the Python that does.
export function asCommand(view, store) {
  const quoted = (text) => (/^[\w.,:/=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const words = ["steptime", "chart"];
  for (const [key, text] of pairs(view)) {
    if (key === "run" || (key === "view" && !["scaling", "coverage"].includes(text))) continue;
    if (key === "contended") words.push("--contended");
    else if (ONCE.includes(key) || key === "series") words.push(`--${key}`, quoted(text));
    else words.push("--filter", quoted(`${key}=${text}`));
  }
  if (store) words.push("--store", quoted(store));
  return [...words, "-o", "chart.svg"].join(" ");
}

export function asPython(view, store = "steptime-results") {
  return `from steptime import guide\n\nguide.open(${JSON.stringify(store)}).ask(${JSON.stringify(queryOf(view))})\n`;
}
