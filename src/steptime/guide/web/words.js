// What a chart is called and what its figures are; the same as in guide/charts/chart_values.py.

import { dimensionNamed, measureNamed } from "./dimensions.js";
import { count, sentence } from "./format.js";

/** @type {(view: View) => string} */
export function headingOf(view) {
  const groups = view.series.length ? [] : view.group.map((g) => dimensionNamed(g).label);
  const per = groups.length ? `, per ${groups.join(" and ")}` : "";
  return sentence(`${measureNamed(view.y).label} by ${dimensionNamed(view.x).label}${per}`);
}

/** @type {(view: View, result: Result) => string} */
export function subtitleOf(view, result) {
  const measure = measureNamed(view.y);
  const [better, runs] = [`${measure.better} is better`, count(result.runs, "run")];
  const parts = view.baseline
    ? [`relative to ${view.baseline} = 1`, better, runs]
    : [measure.form === "number" && measure.unit, better, view.agg === "best" ? "best run of each" : `${view.agg} of each`, runs];
  return [...parts, result.points.some((p) => p.low !== null) && "95% intervals"].filter(Boolean).join(" · ");
}
