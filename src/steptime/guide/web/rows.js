// The runs of a report: dictionary-coded columns made into rows, and which of them a filter lets through.

import { dimensionNamed } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { ends } from "./notation.js";

// One object per run; null is what is not known.
/** @type {(columns: Record<string, CodedColumn>) => Row[]} */
export function decodeRows(columns) {
  /** @type {Row[]} */
  const rows = [];
  for (const [name, column] of Object.entries(columns)) {
    const values = Array.isArray(column) ? column : column.c.map((code) => column.d[code]);
    values.forEach((value, i) => ((rows[i] ??= {})[name] = value));
  }
  return rows;
}

const text = (/** @type {unknown} */ value) => (value === null || value === undefined ? "" : String(value));

// `batch` depends on the scaling.
/** @type {(name: string, scaling?: string) => string} */
export const resolvedName = (name, scaling) =>
  name === "batch" ? (scaling === "strong" ? "effective_batch" : "replica_batch") : name;

// The value of a dimension as text: what addresses, axes and filters speak of.
/** @type {(row: Row, name: string, scaling?: string) => string} */
export function valueOf(row, name, scaling) {
  if (name === "date") return text(row.started).slice(0, 10);
  if (name === "data_type") return text(row.data) + (row.data_store ? ` (${row.data_store})` : "");
  if (name.startsWith(FACTS.label_prefix)) return text(row.labels?.[name.slice(FACTS.label_prefix.length)]);
  return text(row[resolvedName(name, scaling)]);
}

// Whether one value passes a filter, whose values may be ranges; the same as `passes` of guide/query/filter_sql.py.
/** @type {(kind: string, wanted: string[]) => (value: string) => boolean} */
export function accepts(kind, wanted) {
  const texts = new Set(wanted);
  if (kind === "text") return (value) => texts.has(value);
  const ranges = wanted.filter((w) => w !== "").map((w) => ends(kind, w) ?? [w, w]);
  return (value) => (value === "" ? texts.has("") : ranges.some((range) => within(kind, value, range)));
}

/** @type {(kind: string, value: string, range: string[]) => boolean} */
function within(kind, value, [low, high]) {
  if (kind === "number") return (low === "" || Number(value) >= Number(low)) && (high === "" || Number(value) <= Number(high));
  return (low === "" || value >= low) && (high === "" || value.slice(0, high.length) <= high);
}

/** @type {(filters: Filters, scaling: string) => (row: Row) => boolean} */
export function passes(filters, scaling) {
  const tests = filters.map(([name, values]) => ({ name, test: accepts(dimensionNamed(name).kind, values) }));
  return (row) => tests.every(({ name, test }) => test(valueOf(row, name, scaling)));
}
