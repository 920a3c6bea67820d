// Runs reduced to one row for each configuration and way of ending, as store/rollup.py does.

import { byKey } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { valueOf } from "./rows.js";

// A number for each different configuration, worked out once for all runs.
/** @type {(rows: Row[]) => void} */
export function numberConfigurations(rows) {
  /** @type {Map<string, number>} */
  const known = new Map();
  for (const row of rows) {
    const key = JSON.stringify([FACTS.configuration.map((c) => row[c] ?? null), Object.entries(row.labels ?? {}).sort(byKey)]);
    if (!known.has(key)) known.set(key, known.size);
    row.config = known.get(key);
  }
}

/** @type {<T>(rows: Iterable<T>, key: (row: T) => string) => Map<string, T[]>} */
export function groupRows(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const list = groups.get(key(row));
    if (list) list.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}

// One row for each configuration, way of ending, and value of what only single runs have.
/** @type {(rows: Row[], view: View, extra?: string[]) => RollupRow[]} */
export function reduceRuns(rows, view, extra = []) {
  const merging = view.contended && ["mean", "median"].includes(view.agg);
  const disturbed = (/** @type {Row} */ row) => !merging && row.verdict === "contended";
  const keys = (/** @type {Row} */ row) => [row.config, row.status, disturbed(row), ...extra.map((e) => valueOf(row, e))];
  const groups = groupRows(rows, (row) => keys(row).join("\x1f"));
  return [...groups.values()].map((runs) => ({ ...runs[0], contended: disturbed(runs[0]), runs, n: runs.length }));
}

/** @type {(values: number[]) => number} */
export const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

/** @type {(values: number[]) => number} */
export function median(values) {
  const list = [...values].sort((a, b) => a - b);
  const half = list.length >> 1;
  return list.length % 2 ? list[half] : (list[half - 1] + list[half]) / 2;
}

// Of a sample; null where there is only one.
/** @type {(values: number[]) => number | null} */
export function deviation(values) {
  if (values.length < 2) return null;
  const m = mean(values);
  return Math.sqrt(values.reduce((a, v) => a + (v - m) ** 2, 0) / (values.length - 1));
}
