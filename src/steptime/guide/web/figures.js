// What a measure of one configuration is, and its interval; the same as guide/figures.py on rows of the rollup.

import { deviation, mean, median, present } from "./reduce.js";
import { valueOf } from "./rows.js";

export const STORED = [
  "throughput",
  "batch_time_ms",
  "p50_ms",
  "p90_ms",
  "p95_ms",
  "p99_ms",
  "uncertainty",
  "jitter",
  "limit_share",
  "peak_bytes",
];
const MATCHING = [
  "model",
  "phase",
  "framework",
  "framework_version",
  "backend",
  "runtime",
  "precision",
  "device",
  "threads",
  "optimizer",
  "data",
  "data_store",
  "origin",
];
const GROWING = ["replicas", "devices_per_node", "nodes", "interconnect", "server"];
const HIGHER = ["throughput", "limit_share", "speedup", "efficiency"];

// max | min | mean | median: what the aggregation means for the measure.
export function picked(view) {
  return view.agg === "best" ? (HIGHER.includes(view.y) ? "max" : "min") : view.agg;
}

export const MEASURING = {
  max: (v) => v.reduce((a, b) => (b > a ? b : a)),
  min: (v) => v.reduce((a, b) => (b < a ? b : a)),
  mean,
  median,
};

// The ends of the interval of the fastest (or slowest) run that has one.
function endsOf(runs, fastest) {
  /** @type {Row | null} */
  let found = null;
  for (const run of runs) {
    if (run.throughput === null || run.throughput === undefined || run.ci_low === null || run.ci_low === undefined) continue;
    if (!found || (fastest ? run.throughput > found.throughput : run.throughput < found.throughput)) found = run;
  }
  return found ? [found.ci_low, found.ci_high] : [null, null];
}

// Runs of one configuration: {value, low, high, count, spread}; value null without a figure.
export function storedFigure(runs, name, pick) {
  const values = present(runs.map((r) => r[name]));
  if (!values.length) return { value: null, low: null, high: null, count: 0, spread: null };
  /** @type {(number | null)[]} */
  let [low, high] = [null, null];
  if (name === "throughput" || name === "batch_time_ms") {
    const fast = (pick === "max") === (name === "throughput");
    [low, high] = endsOf(runs, !(["min", "max"].includes(pick) && !fast));
    if (name === "batch_time_ms" && low !== null && high !== null) {
      const work = runs[0].effective_batch * 1e3;
      [low, high] = runs[0].effective_batch === null ? [null, null] : [work / high, work / low];
    }
    if (["mean", "median"].includes(pick) && values.length !== 1) [low, high] = [null, null];
  }
  return { value: MEASURING[pick](values), low, high, count: values.length, spread: deviation(values) };
}

function costFigure(runs, pick) {
  const said = runs[0].labels?.price_per_hour;
  const price =
    said === undefined || said === null || String(said).trim() === "" || Number.isNaN(Number(said))
      ? null
      : (Number(said) * 1e6) / 3600;
  const speed = storedFigure(runs, "throughput", { min: "max", max: "min" }[pick] ?? pick);
  const over = (v) => (price === null || !v ? null : price / v);
  return { value: over(speed.value), low: over(speed.high), high: over(speed.low), count: speed.count, spread: null };
}

function matchKey(row, scaling) {
  return [...MATCHING, scaling === "strong" ? "effective_batch" : "replica_batch"].map((c) => row[c] ?? "").join("\x1f");
}

export function baseFilters(view) {
  const other = view.scaling === "strong" ? "replica_batch" : "effective_batch";
  return view.filters.filter(([name]) => ![...GROWING, other].includes(name) && !name.startsWith("label."));
}

// The fastest run on one device for every configuration: of the same server, else of any.
export function basesOf(reduced, view) {
  const pick = picked(view);
  const [same, any] = [new Map(), new Map()];
  for (const row of reduced) {
    if (row.replicas !== 1 || row.status !== "ok" || (row.contended && !view.contended)) continue;
    const speed = storedFigure(row.runs, "throughput", pick);
    if (!(speed.value > 0)) continue;
    const key = matchKey(row, view.scaling);
    keepFastest(same, `${key}\x1e${valueOf(row, "server")}`, speed);
    keepFastest(any, key, speed);
  }
  return (row) =>
    same.get(`${matchKey(row, view.scaling)}\x1e${valueOf(row, "server")}`) ?? any.get(matchKey(row, view.scaling)) ?? null;
}

function keepFastest(map, key, speed) {
  const now = map.get(key);
  const ends = (s) => (s.low === null ? {} : { low: s.low, high: s.high, at: s.value });
  if (!now) map.set(key, { value: speed.value, low: null, high: null, at: -Infinity, ...ends(speed) });
  else
    map.set(key, {
      ...now,
      value: Math.max(now.value, speed.value),
      ...(speed.low !== null && speed.value > now.at ? ends(speed) : {}),
    });
}

function scaledFigure(row, view, pick, base) {
  const speed = storedFigure(row.runs, "throughput", pick);
  const nothing = { value: null, low: null, high: null, count: speed.count, spread: null };
  if (speed.value === null || !base) return nothing;
  const per = view.y === "speedup" ? 1 : row.replicas;
  const value = speed.value / base.value / per;
  if (row.replicas === 1 || speed.low === null || speed.high === null || base.low === null) return { ...nothing, value };
  const down = Math.exp(-Math.hypot(Math.log(speed.value / speed.low), Math.log(base.high / base.value)));
  const up = Math.exp(Math.hypot(Math.log(speed.high / speed.value), Math.log(base.value / base.low)));
  return { ...nothing, value, low: value * down, high: value * up };
}

// A function from a row of the rollup to its figure.
export function figureOf(view, bases) {
  const pick = picked(view);
  if (STORED.includes(view.y)) return (row) => storedFigure(row.runs, view.y, pick);
  if (view.y === "cost_per_million") return (row) => costFigure(row.runs, pick);
  return (row) => scaledFigure(row, view, pick, bases(row));
}
