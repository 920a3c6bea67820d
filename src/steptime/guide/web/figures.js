// What a measure of one configuration is, and its interval; the same as guide/query/measure_sql.py on rows of the rollup.

import { byKey, measureNamed } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { deviation, groupRows, mean, median } from "./reduce.js";
import { quotient } from "./relative.js";
import { valueOf } from "./rows.js";

// max | min | mean | median: what the aggregation means for the measure.
/** @type {(view: View) => string} */
export function picked(view) {
  return view.agg === "best" ? (measureNamed(view.y).better === "higher" ? "max" : "min") : view.agg;
}

/** @type {Record<string, (values: number[]) => number>} */
export const AGGREGATE = {
  max: (values) => values.reduce((a, b) => (b > a ? b : a)),
  min: (values) => values.reduce((a, b) => (b < a ? b : a)),
  mean,
  median,
};

export const isAverage = (/** @type {string} */ pick) => FACTS.averages.includes(pick);

const NO_INTERVAL = { low: null, high: null };
const NO_FIGURE = { value: null, ...NO_INTERVAL, count: 0, spread: null };

// The first for which no other has more, or less.
/** @type {<T>(list: T[], key: (item: T) => number, pick: string) => T | undefined} */
export const extreme = (list, key, pick) =>
  list.length ? list.reduce((a, b) => ((pick === "min" ? key(b) < key(a) : key(b) > key(a)) ? b : a)) : undefined;

// The interval of what has the largest (or least) value, none where that has none: never another's. Of equals the widest.
/** @type {(list: Estimated[], pick: string) => Ends} */
export function endsAt(list, pick) {
  const measured = list.filter(({ value }) => value !== null && value !== undefined);
  const value = extreme(measured, (item) => item.value ?? NaN, pick)?.value;
  const equal = measured.filter((item) => item.value === value && item.low !== null && item.high !== null);
  const [widest] = equal.sort((a, b) => (a.low ?? 0) - (b.low ?? 0) || (b.high ?? 0) - (a.high ?? 0));
  return widest ? { low: widest.low, high: widest.high } : NO_INTERVAL;
}

// The figure of a column, of the runs of one configuration.
/** @type {(runs: Row[], name: string, pick: string) => Figure} */
export function storedFigure(runs, name, pick) {
  const measured = runs.filter((run) => run[name] !== null && run[name] !== undefined);
  if (!measured.length) return NO_FIGURE;
  const values = measured.map((run) => run[name]);
  const alone = !isAverage(pick) || values.length === 1;
  const speeds = measured.map((run) => ({ value: run[name], ...runInterval(run, "throughput") }));
  const { low, high } = alone ? intervalOfMeasure(endsAt(speeds, pick), name, runs[0].effective_batch) : NO_INTERVAL;
  return { value: AGGREGATE[pick](values), low, high, count: values.length, spread: deviation(values) };
}

// From the interval of throughput to that of a measure: by the batch there is one of batch time.
/** @type {(ends: Ends, name: string, batch: number | null) => Ends} */
function intervalOfMeasure({ low, high }, name, batch) {
  if (name === "throughput") return { low, high };
  return name === "batch_time_ms" && batch && low && high
    ? { low: (batch * 1e3) / high, high: (batch * 1e3) / low }
    : NO_INTERVAL;
}

// Single runs have an interval of throughput and of batch time. One that does not hold its own value says nothing.
/** @type {(run: Row, name: string) => Ends} */
export function runInterval({ ci_low: low, ci_high: high, throughput, effective_batch: batch }, name) {
  const believable = typeof low === "number" && typeof high === "number" && low <= throughput && throughput <= high;
  return believable ? intervalOfMeasure({ low, high }, name, batch) : NO_INTERVAL;
}

// Price of a million samples: the dearest is the slowest.
/** @type {(runs: Row[], pick: string) => Figure} */
function costFigure(runs, pick) {
  const text = String(runs[0].labels?.[FACTS.price_label] ?? "").trim();
  const price = (Number(text) * 1e6) / 3600;
  if (!text || Number.isNaN(price)) return NO_FIGURE;
  const speed = storedFigure(runs, "throughput", pick === "min" ? "max" : pick === "max" ? "min" : pick);
  const over = (/** @type {number | null} */ v) => (v ? price / v : null);
  return { value: over(speed.value), low: over(speed.high), high: over(speed.low), count: speed.count, spread: null };
}

// The value of a column that must agree. Threads are compared where a CPU computes with them, not beside a GPU.
/** @type {(row: Row, name: string) => string} */
export const matchingText = (row, name) => (name === "threads" && row.device_type === "gpu" ? "" : valueOf(row, name));

// All labels but the price, which grows with the number of devices.
/** @type {(row: Row) => [string, string][]} */
export const steadyLabels = (row) =>
  Object.entries(row.labels ?? {})
    .filter(([name]) => name !== FACTS.price_label)
    .sort(byKey);

// The same for runs that differ only in the number of devices; null where the batch is unknown.
/** @type {(row: Row, scaling: string) => string | null} */
function matchKey(row, scaling) {
  const batch = valueOf(row, "batch", scaling);
  return batch && JSON.stringify([FACTS.matching.map((c) => matchingText(row, c)), steadyLabels(row), batch]);
}

// Filters but for those on what grows with the number of devices, its price included.
/** @type {(view: View, filters: Filters) => Filters} */
export function steadyFilters(view, filters) {
  const other = view.scaling === "strong" ? "replica_batch" : "effective_batch";
  const growing = [...FACTS.growing, other, FACTS.label_prefix + FACTS.price_label];
  return filters.filter(([name]) => !growing.includes(name));
}

// The fastest run on one device for every configuration: of the same interconnect, else one that names none.
/** @type {(reduced: RollupRow[], view: View) => (row: Row) => Estimated | undefined} */
export function basesOf(reduced, view) {
  const pick = picked(view);
  const keyOf = (/** @type {Row} */ row, interconnect = valueOf(row, "interconnect")) =>
    JSON.stringify([matchKey(row, view.scaling), interconnect]);
  const alone = reduced.filter((row) => row.replicas === 1 && row.status === "ok" && (view.contended || !row.contended));
  /** @type {Map<string, Estimated>} */
  const bases = new Map();
  for (const [key, rows] of groupRows(alone, (row) => keyOf(row))) {
    const speeds = rows.map((row) => storedFigure(row.runs, "throughput", pick)).filter(({ value }) => (value ?? 0) > 0);
    if (speeds.length) bases.set(key, fastest(speeds));
  }
  return (row) => (matchKey(row, view.scaling) ? (bases.get(keyOf(row)) ?? bases.get(keyOf(row, ""))) : undefined);
}

// The largest of several values, with its own interval.
/** @type {(list: Estimated[]) => Estimated} */
export const fastest = (list) => ({ value: AGGREGATE.max(list.map((f) => f.value ?? -Infinity)), ...endsAt(list, "max") });

// Speed-up over one device, or its share of the ideal.
/** @type {(row: RollupRow, view: View, pick: string, base?: Estimated) => Figure} */
function scaledFigure(row, view, pick, base) {
  const speed = storedFigure(row.runs, "throughput", pick);
  if (speed.value === null || !base) return { ...NO_FIGURE, count: speed.count };
  const { value, low, high } = quotient(speed, row.replicas > 1 ? base : { ...base, low: null });
  const share = (/** @type {number | null} */ v) => (v === null || view.y === "speedup" ? v : v / row.replicas);
  return { value: share(value), low: share(low), high: share(high), count: speed.count, spread: null };
}

// A function from a row of the rollup to its figure.
/** @type {(view: View, bases: () => (row: Row) => Estimated | undefined) => (row: RollupRow) => Figure} */
export function figureOf(view, bases) {
  const pick = picked(view);
  if (FACTS.stored_measures.includes(view.y)) return (row) => storedFigure(row.runs, view.y, pick);
  if (view.y === "cost_per_million") return (row) => costFigure(row.runs, pick);
  const baseOf = bases();
  return (row) => scaledFigure(row, view, pick, baseOf(row));
}
