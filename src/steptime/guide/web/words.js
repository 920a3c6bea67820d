// What a chart is called and what its figures are; the same as in guide/kinds/chart.py.

import { dimensionNamed, measureNamed } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { sentence } from "./format.js";
import { sayText } from "./texts.js";

const CHART = FACTS.kinds.chart.texts;

/** @type {(view: View) => string} */
export function headingOf(view) {
  const groups = view.series.length ? [] : view.group.map((g) => dimensionNamed(g).label);
  const [measure, x] = [sentence(measureNamed(view.y).label), dimensionNamed(view.x).label];
  return sayText(groups.length ? CHART.title_of_groups : CHART.title, { measure, x, groups: groups.join(" and ") });
}

// For tables and tooltips: what is known, in one line.
/** @type {(configuration: Record<string, string>) => string} */
export const configurationText = (configuration) =>
  FACTS.mixing.flatMap((d) => (configuration[d] ? [`${d}=${configuration[d]}`] : [])).join(", ");

// That of the measure; throughput of runs that do not count samples is in what they count.
/** @type {(result: Result) => string} */
export function unitOf({ view, shared }) {
  const { unit } = measureNamed(view.y);
  return unit === FACTS.samples ? shared.unit || unit : unit;
}

/** @type {(view: View, result: Result) => string} */
export function subtitleOf(view, result) {
  const measure = measureNamed(view.y);
  const better = sayText(CHART.better, measure);
  const parts = view.baseline
    ? [sayText(CHART.relative, view), better]
    : [measure.form === "number" && unitOf(result), better, sayText(view.agg === "best" ? CHART.best : CHART.agg, view)];
  const devices = Number(result.shared.replicas || 1);
  if (devices > 1) parts.push(sayText(CHART.devices, { n: devices }));
  const intervals = result.points.some((p) => p.low !== null) && sayText(CHART.intervals);
  return [...parts, sayText(CHART.runs, { n: result.runs }), intervals].filter(Boolean).join(" · ");
}
