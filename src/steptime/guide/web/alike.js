// The filters that leave points which differ in nothing but what the chart shows; as guide/query/alike.py.

import { before } from "./dimensions.js";
import { configurationRows, queryRows } from "./query.js";
import { groupRows } from "./reduce.js";
import { valueOf } from "./rows.js";
import { unlikeDimensions } from "./warnings.js";

/** @type {(rows: Row[], view: View) => View} */
export function alikeView(rows, view) {
  const names = unlikeDimensions(queryRows(rows, view));
  if (!names.length) return view;
  const measured = configurationRows(rows, view);
  const ranked = [...groupRows(measured, ({ row }) => JSON.stringify(names.map((d) => valueOf(row, d))))].map(([key, list]) => ({
    values: /** @type {string[]} */ (JSON.parse(key)),
    points: new Set(list.map(({ point }) => point)).size,
    runs: list.reduce((sum, { row }) => sum + row.n, 0),
  }));
  const [best] = ranked.sort((a, b) => b.points - a.points || b.runs - a.runs || firstBefore(a.values, b.values));
  const chosen = new Map(view.filters);
  names.forEach((name, i) => chosen.set(name, [best.values[i]]));
  return { ...view, filters: [...chosen] };
}

/** @type {(a: string[], b: string[]) => number} */
const firstBefore = (a, b) => a.map((text, i) => before(text, b[i])).find((order) => order !== 0) ?? 0;
