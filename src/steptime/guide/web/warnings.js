// What a reader should know before believing a chart, in words; the same as guide/warnings.py.

import { FORMS } from "./forms.js";

export const MOST_FACETS = 24;
const PLURALS = {
  "batch size": "batch sizes",
  "replica batch size": "replica batch sizes",
  "number of devices": "numbers of devices",
  phase: "phases",
  nodes: "numbers of nodes",
  threads: "numbers of threads",
};

const listed = (parts) => (parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

// '1 point has', '2 points have'.
export const countedWords = (n, noun, verb) =>
  n === 1 ? `${n} ${noun} ${{ have: "has", are: "is" }[verb]}` : `${n} ${noun}s ${verb}`;

export const leftOut = (n) =>
  `${countedWords(n, "contended run", "are")} left out; include ${n === 1 ? "it" : "them"} with contended=1`;

// The values of x in the chart: all, or of a great many names those with the most runs. Who chose a range gets all of it.
export function drawnXs({ view, xs, points }, dimensions) {
  const most = FORMS.limits.names;
  if (dimensions(view.x).kind !== "text" || view.range.length || xs.length <= most) return xs;
  const runs = new Map(xs.map((x) => [x, 0]));
  for (const p of points) if (p.value !== null) runs.set(p.x, runs.get(p.x) + p.runs);
  const kept = new Set([...xs].sort((a, b) => runs.get(b) - runs.get(a)).slice(0, most));
  return xs.filter((x) => kept.has(x));
}

export function warningsOf(result, missing, { dimensions, measures }) {
  const { view, points } = result;
  const found = [];
  const mixed = {};
  for (const p of points) for (const [name, n] of Object.entries(p.mixes)) mixed[name] = Math.max(mixed[name] ?? 0, n);
  const plural = (name) => PLURALS[dimensions(name).label] ?? `${dimensions(name).label}s`;
  if (Object.keys(mixed).length) {
    const verb = view.agg === "mean" ? "averages" : view.agg === "median" ? "is the median over" : `is the ${view.agg} of`;
    const many = listed(Object.entries(mixed).map(([name, n]) => `${n} ${plural(name)}`));
    found.push(`a point ${verb} up to ${many}; filter or group by them to compare like with like`);
  }
  if (result.contended) found.push(leftOut(result.contended));
  if (result.facets.length > MOST_FACETS)
    found.push(`the first ${MOST_FACETS} of ${result.facets.length} small charts are drawn; filter to choose`);
  if (drawnXs(result, dimensions).length < result.xs.length) {
    const names = `${FORMS.limits.names} of ${result.xs.length} ${plural(view.x)}`;
    found.push(`${names} are drawn, those with the most runs; filter to choose, the table has all`);
  }
  if (missing)
    found.push(`${countedWords(missing, "point", "are")} not shown: the runs do not say the ${dimensions(view.x).label}`);
  const without = points.filter((p) => p.status === "no figure").length;
  const label = measures.find((m) => m.name === view.y)?.label ?? view.y;
  if (without && ["speedup", "efficiency"].includes(view.y))
    found.push(`${countedWords(without, "point", "have")} no run on one device to be measured against, so no ${label}`);
  else if (without && view.y === "cost_per_million")
    found.push(`${countedWords(without, "point", "have")} no label price_per_hour, so no cost`);
  else if (without) found.push(`${countedWords(without, "point", "have")} no ${label}`);
  return found;
}
