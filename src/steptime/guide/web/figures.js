// What a measure of one configuration is, and its interval; the same as guide/query/measure_sql.py on rows of the rollup.

import { measureNamed } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { deviation, mean, median } from "./reduce.js";
import { quotient } from "./relative.js";
import { resolvedName, valueOf } from "./rows.js";

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

const isAverage = (/** @type {string} */ pick) => pick === "mean" || pick === "median";

const NO_INTERVAL = { low: null, high: null };
const NO_FIGURE = { value: null, ...NO_INTERVAL, count: 0, spread: null };

// The first for which no other has more, or less.
/** @type {<T>(list: T[], key: (item: T) => number, pick: string) => T | undefined} */
export const extreme = (list, key, pick) =>
  list.length ? list.reduce((a, b) => ((pick === "min" ? key(b) < key(a) : key(b) > key(a)) ? b : a)) : undefined;

// The figure of a column, of the runs of one configuration.
/** @type {(runs: Row[], name: string, pick: string) => Figure} */
export function storedFigure(runs, name, pick) {
  const values = runs.map((run) => run[name]).filter((v) => v !== null && v !== undefined);
  if (!values.length) return NO_FIGURE;
  const { low, high } = isAverage(pick) && values.length !== 1 ? NO_INTERVAL : endsOf(runs, name, pick);
  return { value: AGGREGATE[pick](values), low, high, count: values.length, spread: deviation(values) };
}

// The interval of the fastest (or slowest) run that has one.
/** @type {(runs: Row[], name: string, pick: string) => { low: number | null, high: number | null }} */
function endsOf(runs, name, pick) {
  if (name !== "throughput" && name !== "batch_time_ms") return NO_INTERVAL;
  const slowest = pick === (name === "throughput" ? "min" : "max");
  const timed = runs.filter((run) => typeof run.throughput === "number" && typeof run.ci_low === "number");
  return runInterval(extreme(timed, (run) => run.throughput, slowest ? "min" : "max") ?? {}, name);
}

// Single runs have an interval of throughput, and by the batch one of batch time.
/** @type {(run: Row, name: string) => { low: number | null, high: number | null }} */
export function runInterval({ ci_low: low, ci_high: high, effective_batch: batch }, name) {
  if (typeof low !== "number" || typeof high !== "number") return NO_INTERVAL;
  if (name === "throughput") return { low, high };
  return name === "batch_time_ms" && batch ? { low: (batch * 1e3) / high, high: (batch * 1e3) / low } : NO_INTERVAL;
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

/** @type {(row: Row, scaling: string) => string} */
function matchKey(row, scaling) {
  return [...FACTS.matching, resolvedName("batch", scaling)].map((c) => row[c] ?? "").join("\x1f");
}

// Filters but for those on what grows with the number of devices, and on labels, which may tell of it (a price does).
/** @type {(view: View, filters: Filters) => Filters} */
export function steadyFilters(view, filters) {
  const growing = [...FACTS.growing, view.scaling === "strong" ? "replica_batch" : "effective_batch"];
  return filters.filter(([name]) => !growing.includes(name) && !name.startsWith(FACTS.label_prefix));
}

// The fastest run on one device for every configuration: of the same server, else of any.
/** @type {(reduced: RollupRow[], view: View) => (row: Row) => Fastest | undefined} */
export function basesOf(reduced, view) {
  const pick = picked(view);
  const key = (/** @type {Row} */ row) => matchKey(row, view.scaling);
  const onServer = (/** @type {Row} */ row) => `${key(row)}\x1e${valueOf(row, "server")}`;
  /** @type {Map<string, Fastest>} */
  const bases = new Map();
  for (const row of reduced) {
    if (row.replicas !== 1 || row.status !== "ok" || (row.contended && !view.contended)) continue;
    const speed = storedFigure(row.runs, "throughput", pick);
    for (const k of [onServer(row), key(row)]) if (speed.value && speed.value > 0) bases.set(k, faster(bases.get(k), speed));
  }
  return (row) => bases.get(onServer(row)) ?? bases.get(key(row));
}

// The larger of two values, with the interval of the larger one that has one.
/** @type {(now: Fastest | undefined, figure: Figure) => Fastest} */
export function faster(now = { value: -Infinity, low: null, high: null, at: -Infinity, runs: 0 }, { value, low, high, count }) {
  if (value === null) return now;
  const widest = low !== null && value > now.at ? { low, high, at: value } : {};
  return { ...now, value: Math.max(now.value, value), ...widest, runs: now.runs + count };
}

// Speed-up over one device, or its share of the ideal.
/** @type {(row: RollupRow, view: View, pick: string, base?: Fastest) => Figure} */
function scaledFigure(row, view, pick, base) {
  const speed = storedFigure(row.runs, "throughput", pick);
  if (speed.value === null || !base) return { ...NO_FIGURE, count: speed.count };
  const { value, low, high } = quotient(speed, row.replicas > 1 ? base : { ...base, low: null });
  const share = (/** @type {number | null} */ v) => (v === null || view.y === "speedup" ? v : v / row.replicas);
  return { value: share(value), low: share(low), high: share(high), count: speed.count, spread: null };
}

// A function from a row of the rollup to its figure.
/** @type {(view: View, bases: () => (row: Row) => Fastest | undefined) => (row: RollupRow) => Figure} */
export function figureOf(view, bases) {
  const pick = picked(view);
  if (FACTS.stored_measures.includes(view.y)) return (row) => storedFigure(row.runs, view.y, pick);
  if (view.y === "cost_per_million") return (row) => costFigure(row.runs, pick);
  const baseOf = bases();
  return (row) => scaledFigure(row, view, pick, baseOf(row));
}
