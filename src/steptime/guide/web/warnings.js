// What a reader should know before believing a chart, in words; the same as guide/query/warnings.py.

import { dimensionNamed, measureNamed } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { TEMPLATES } from "./templates.js";

/** @type {(parts: string[]) => string} */
const listed = (parts) => (parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

/** @type {(name: string) => string} */
function plural(name) {
  const { label } = dimensionNamed(name);
  return /** @type {Record<string, string>} */ (FACTS.plurals)[label] ?? `${label}s`;
}

// '1 point has', '2 points have'.
/** @type {(n: number, noun: string, verb: "have" | "are") => string} */
export const countedWords = (n, noun, verb) =>
  n === 1 ? `${n} ${noun} ${{ have: "has", are: "is" }[verb]}` : `${n} ${noun}s ${verb}`;

/** @type {(n: number) => string} */
export const leftOut = (n) =>
  `${countedWords(n, "contended run", "are")} left out; include ${n === 1 ? "it" : "them"} with contended=1`;

// The values of x in the chart: all, or of a great many names those with the most runs. Who chose a range gets all of it.
/** @type {(result: Result) => string[]} */
export function drawnXs({ view, xs, points }) {
  const most = TEMPLATES.limits.names;
  if (dimensionNamed(view.x).kind !== "text" || view.range.length || xs.length <= most) return xs;
  const runs = new Map(xs.map((x) => [x, 0]));
  for (const p of points) if (p.value !== null) runs.set(p.x, (runs.get(p.x) ?? 0) + p.runs);
  const kept = new Set([...xs].sort((a, b) => (runs.get(b) ?? 0) - (runs.get(a) ?? 0)).slice(0, most));
  return xs.filter((x) => kept.has(x));
}

/** @type {(result: Result, missing: number) => string[]} */
export function warningsOf(result, missing) {
  const { view, points, xs, facets } = result;
  /** @type {string[]} */
  const warnings = [];
  /** @type {Record<string, number>} */
  const mixed = {};
  for (const p of points) for (const [name, n] of Object.entries(p.mixes)) mixed[name] = Math.max(mixed[name] ?? 0, n);
  if (Object.keys(mixed).length) {
    const verb = view.agg === "mean" ? "averages" : view.agg === "median" ? "is the median over" : `is the ${view.agg} of`;
    const many = listed(Object.entries(mixed).map(([name, n]) => `${n} ${plural(name)}`));
    warnings.push(`a point ${verb} up to ${many}; filter or group by them to compare like with like`);
  }
  if (result.contended) warnings.push(leftOut(result.contended));
  const most = FACTS.limits.facets;
  if (facets.length > most) warnings.push(`the first ${most} of ${facets.length} small charts are drawn; filter to choose`);
  if (drawnXs(result).length < xs.length) {
    const names = `${TEMPLATES.limits.names} of ${xs.length} ${plural(view.x)}`;
    warnings.push(`${names} are drawn, those with the most runs; filter to choose, the table has all`);
  }
  const unplaced = `${countedWords(missing, "point", "are")} not shown: the runs do not say the ${dimensionNamed(view.x).label}`;
  if (missing) warnings.push(unplaced);
  const without = points.filter((p) => p.status === "no figure").length;
  if (without) warnings.push(`${countedWords(without, "point", "have")} ${lacking(view.y)}`);
  return warnings;
}

/** @type {(measure: string) => string} */
function lacking(measure) {
  const { label } = measureNamed(measure);
  if (["speedup", "efficiency"].includes(measure)) return `no run on one device to be measured against, so no ${label}`;
  return measure === "cost_per_million" ? `no label ${FACTS.price_label}, so no cost` : `no ${label}`;
}
