// Which warnings the explorer's chart needs; the same as guide/query/warnings.py.

import { dimensionNamed, measureNamed } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { TEMPLATES } from "./templates.js";
import { sayText, warning } from "./texts.js";

/** @type {(parts: string[]) => string} */
const listed = (parts) => (parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

/** @type {(name: string) => string} */
function plural(name) {
  const { label } = dimensionNamed(name);
  return /** @type {Record<string, string>} */ (FACTS.plurals)[label] ?? `${label}s`;
}

// The values of x in the chart: all, or of a great many names those with the most runs. A chosen range is drawn in full.
/** @type {(result: Result) => string[]} */
export function drawnXs({ view, xs, points }) {
  const most = TEMPLATES.limits.names;
  if (dimensionNamed(view.x).kind !== "text" || view.range.length || xs.length <= most) return xs;
  const runs = new Map(xs.map((x) => [x, 0]));
  for (const p of points) if (p.value !== null) runs.set(p.x, (runs.get(p.x) ?? 0) + p.runs);
  const kept = new Set([...xs].sort((a, b) => (runs.get(b) ?? 0) - (runs.get(a) ?? 0)).slice(0, most));
  return xs.filter((x) => kept.has(x));
}

/** @type {(result: Result, missing: number) => ChartWarning[]} */
export function warningsOf(result, missing) {
  const { view, points, xs, facets } = result;
  /** @type {Record<string, number>} */
  const mixed = {};
  for (const p of points) for (const [name, n] of Object.entries(p.mixes)) mixed[name] = Math.max(mixed[name] ?? 0, n);
  const values = Object.entries(mixed).map(([name, n]) => `${n} ${plural(name)}`);
  const most = FACTS.limits.facets;
  const without = points.filter((p) => p.status === "no figure").length;
  const names = { most: TEMPLATES.limits.names, total: xs.length, names: plural(view.x) };
  return [
    values.length ? warning("mixed", { verb: mixedVerb(view.agg), values: listed(values) }) : [],
    result.contended ? warning("contended", { n: result.contended }) : [],
    facets.length > most ? warning("facets_cut", { most, total: facets.length }) : [],
    drawnXs(result).length < xs.length ? warning("names_cut", names) : [],
    missing ? warning("unknown_x", { n: missing, dimension: dimensionNamed(view.x).label }) : [],
    without ? warning(causeOf(view.y), { n: without, measure: measureNamed(view.y).label, label: FACTS.price_label }) : [],
  ].flat();
}

/** @type {(agg: string) => string} */
function mixedVerb(agg) {
  /** @type {Record<string, TextTemplate>} */
  const verbs = FACTS.mixed_verbs;
  return sayText(verbs[agg] ?? verbs[""], { agg });
}

// Why points have no figure of a measure.
/** @type {(measure: string) => keyof typeof FACTS.warnings} */
function causeOf(measure) {
  if (["speedup", "efficiency"].includes(measure)) return "no_single_device";
  return measure === "cost_per_million" ? "no_price" : "no_measure";
}
