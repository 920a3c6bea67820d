// Baseline-relative mode: every value as a multiple of the baseline's, and geometric means; the same as guide/relative.py.

import { countedWords } from "./warnings.js";

export function relative(result) {
  const name = result.view.baseline;
  if (!name || !result.points.length) return result;
  const bySeries = !(result.series.length === 1 && result.series[0] === "");
  const known = bySeries ? result.series : result.xs;
  if (!known.includes(name)) throw new Error(`unknown baseline '${name}'; known: ${known.join(", ")}`);
  const at = (p) => JSON.stringify([p.facet, bySeries ? p.x : p.series]);
  const bases = new Map(
    result.points.filter((p) => (bySeries ? p.series : p.x) === name && p.value !== null && p.value > 0).map((p) => [at(p), p]),
  );
  let missing = 0;
  const points = result.points.map((p) => {
    const base = bases.get(at(p));
    if (p.value === null) return p;
    if (!base) {
      missing++;
      return { ...p, value: null, low: null, high: null, status: "no baseline" };
    }
    return p === base ? { ...p, value: 1, low: null, high: null } : { ...p, ...quotient(p, base) };
  });
  const words = `${countedWords(missing, "point", "are")} not shown relative to ${name}: it has no figure there`;
  return {
    ...result,
    points,
    means: bySeries ? geometricMeans(points, bases, result) : [],
    warnings: missing ? [...result.warnings, words] : result.warnings,
  };
}

function quotient(p, base) {
  const value = p.value / base.value;
  if ([p.low, p.high, base.low, base.high].some((v) => v === null) || Math.min(p.low, base.low) <= 0)
    return { value, low: null, high: null };
  const down = Math.hypot(Math.log(p.value / p.low), Math.log(base.high / base.value));
  const up = Math.hypot(Math.log(p.high / p.value), Math.log(base.value / base.low));
  return { value, low: value * Math.exp(-down), high: value * Math.exp(up) };
}

function geometricMeans(points, bases, result) {
  const found = [];
  for (const facet of result.facets) {
    const of = [...bases.keys()].filter((k) => JSON.parse(k)[0] === facet).length;
    for (const series of result.series) {
      const logs = points.filter((p) => p.facet === facet && p.series === series && p.value).map((p) => Math.log(p.value));
      if (logs.length)
        found.push({ series, facet, value: Math.exp(logs.reduce((a, b) => a + b, 0) / logs.length), n: logs.length, of });
    }
  }
  return found;
}
