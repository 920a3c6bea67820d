// What a chart is called and what its figures are; the same as in guide/charts.py. `told` has measures and dimensions(name).

import { count, sentence } from "./format.js";

export const measureNamed = (told, name) =>
  told.measures.find((m) => m.name === name) ?? { name, label: name, unit: "", better: "higher", form: "number" };

export function headingOf(view, told) {
  const per =
    view.series.length || !view.group.length ? "" : `, per ${view.group.map((g) => told.dimensions(g).label).join(" and ")}`;
  return sentence(`${measureNamed(told, view.y).label} by ${told.dimensions(view.x).label}${per}`);
}

export function subtitleOf(view, result, told) {
  const measure = measureNamed(told, view.y);
  const [better, runs] = [`${measure.better} is better`, count(result.runs, "run")];
  const parts = view.baseline
    ? [`relative to ${view.baseline} = 1`, better, runs]
    : [measure.form === "number" && measure.unit, better, view.agg === "best" ? "best run of each" : `${view.agg} of each`, runs];
  return [...parts, result.points.some((p) => p.low !== null) && "95% intervals"].filter(Boolean).join(" · ");
}
