// Baseline-relative mode: every value as a multiple of the baseline's, and geometric means; as guide/query/points.py.

import { FACTS } from "./facts.js";
import { warning } from "./texts.js";

/** @type {(result: Result) => Result} */
export function relative(result) {
  const name = result.view.baseline;
  if (!name || !result.points.length) return result;
  const bySeries = !(result.series.length === 1 && result.series[0] === "");
  const known = bySeries ? result.series : result.xs;
  if (!known.includes(name)) throw new Error(`unknown baseline '${name}'; known: ${known.join(", ")}`);
  const at = (/** @type {Point} */ p) => JSON.stringify([p.facet, bySeries ? p.x : p.series]);
  const bases = new Map(
    result.points.filter((p) => (bySeries ? p.series : p.x) === name && p.value !== null && p.value > 0).map((p) => [at(p), p]),
  );
  let missing = 0;
  const points = result.points.map((p) => {
    if (p.value === null) return p;
    const base = bases.get(at(p));
    if (p === base) return { ...p, value: 1, low: null, high: null };
    if (base) return { ...p, ...quotient(p, base) };
    missing++;
    return { ...p, value: null, low: null, high: null, status: "no baseline" };
  });
  return {
    ...result,
    points,
    means: bySeries && !FACTS.kinds_of_work.includes(result.view.x) ? geometricMeans(points, [...bases.values()], result) : [],
    warnings: [...result.warnings, ...(missing ? [warning("no_baseline", { n: missing, baseline: name })] : [])],
  };
}

// Value and interval of a quotient: relative errors of both, each on its side, add as squares.
/** @type {(p: Estimated, base: Estimated) => { value: number, low: number | null, high: number | null }} */
export function quotient(p, base) {
  const [over, under] = [p.value ?? NaN, base.value ?? NaN];
  const value = over / under;
  if (!p.low || !p.high || !base.low || !base.high || Math.min(p.low, base.low) <= 0) return { value, low: null, high: null };
  const down = Math.hypot(Math.log(over / p.low), Math.log(base.high / under));
  const up = Math.hypot(Math.log(p.high / over), Math.log(under / base.low));
  return { value, low: value * Math.exp(-down), high: value * Math.exp(up) };
}

/** @type {(points: Point[], bases: Point[], result: Result) => Mean[]} */
function geometricMeans(points, bases, result) {
  return result.facets.flatMap((facet) => {
    const of = bases.filter((base) => base.facet === facet).length;
    return result.series.flatMap((series) => {
      const values = points.filter((p) => p.facet === facet && p.series === series).flatMap((p) => p.value || []);
      const logs = values.map(Math.log);
      const value = Math.exp(logs.reduce((a, b) => a + b, 0) / logs.length);
      return logs.length ? [{ series, facet, value, n: logs.length, of }] : [];
    });
  });
}
