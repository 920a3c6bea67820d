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

/** @type {(view: View, result: Result) => string} */
export function subtitleOf(view, result) {
  const measure = measureNamed(view.y);
  const better = sayText(CHART.better, measure);
  const parts = view.baseline
    ? [sayText(CHART.relative, view), better]
    : [measure.form === "number" && measure.unit, better, sayText(view.agg === "best" ? CHART.best : CHART.agg, view)];
  const intervals = result.points.some((p) => p.low !== null) && sayText(CHART.intervals);
  return [...parts, sayText(CHART.runs, { n: result.runs }), intervals].filter(Boolean).join(" · ");
}
