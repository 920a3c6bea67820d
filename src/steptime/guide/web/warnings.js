// Which warnings the explorer's chart needs; the same as guide/query/warnings.py.

import { dimensionNamed, inOrder, measureNamed } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { isAverage } from "./figures.js";
import { groupRows } from "./reduce.js";
import { resolvedName } from "./rows.js";
import { TEMPLATES } from "./templates.js";
import { sayText, warning } from "./texts.js";

/** @type {(parts: string[]) => string} */
export const listed = (parts) => (parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

/** @type {(name: string) => string} */
export function plural(name) {
  const { label } = dimensionNamed(name);
  return /** @type {Record<string, string>} */ (FACTS.plurals)[label] ?? `${label}s`;
}

// The values of x in the chart: all, or of a great many names those with the most runs. A chosen range is drawn in full.
/** @type {(result: Result) => string[]} */
export function drawnXs({ view, xs, points }) {
  const most = TEMPLATES.limits.names;
  if (dimensionNamed(view.x).kind !== "text" || view.range.length || xs.length <= most) return xs;
  const runs = new Map(xs.map((x) => [x, 0]));
  for (const p of points) if (p.value !== null) runs.set(p.x, (runs.get(p.x) ?? 0) + p.runs);
  const kept = new Set([...xs].sort((a, b) => (runs.get(b) ?? 0) - (runs.get(a) ?? 0)).slice(0, most));
  return xs.filter((x) => kept.has(x));
}

/** @type {(result: Result, missing: number) => ChartWarning[]} */
export function warningsOf(result, missing) {
  const { view, points, xs, facets } = result;
  /** @type {Record<string, number>} */
  const mixed = {};
  for (const p of points) for (const [name, n] of Object.entries(p.mixes)) mixed[name] = Math.max(mixed[name] ?? 0, n);
  const values = Object.entries(mixed).map(([name, n]) => `${n} ${plural(name)}`);
  const most = FACTS.limits.facets;
  const without = points.filter((p) => p.status === "no figure").length;
  const names = { most: TEMPLATES.limits.names, total: xs.length, names: plural(view.x) };
  const unlike = points.filter((p) => p.status === FACTS.not_averaged);
  const kinds = FACTS.kinds_of_work.filter((d) => unlike.some((p) => d in p.mixes)).map((d) => dimensionNamed(d).label);
  const apart = differing(result).map(([name, known]) => valuesText(name, known));
  return [
    values.length ? warning("mixed", { verb: mixedVerb(view.agg), values: listed(values) }) : [],
    apart.length ? warning("different", { values: listed(apart) }) : [],
    unlike.length ? warning("not_averaged", { n: unlike.length, names: listed(kinds) }) : [],
    aboveIdeal(view.y === "efficiency" ? points.map((p) => p.value) : []),
    result.contended ? warning("contended", { n: result.contended }) : [],
    facets.length > most ? warning("facets_cut", { most, total: facets.length }) : [],
    drawnXs(result).length < xs.length ? warning("names_cut", names) : [],
    missing ? warning("unknown_x", { n: missing, dimension: dimensionNamed(view.x).label }) : [],
    without ? warning(causeOf(view.y), { n: without, measure: measureNamed(view.y).label, label: FACTS.price_label }) : [],
  ].flat();
}

// In what points differ, from each other or within themselves.
/** @type {(result: Result) => string[]} */
export function unlikeDimensions(result) {
  const names = new Set([...differing(result).map(([d]) => d), ...result.points.flatMap((p) => Object.keys(p.mixes))]);
  return FACTS.mixing.filter((d) => names.has(d));
}

// In what points that a reader compares differ. Relative to a series, those are the points of one x.
/** @type {(result: Result) => [string, string[]][]} */
function differing({ view, series, selects, points }) {
  const shown = [view.x, ...view.group, ...(view.facet ? [view.facet] : [])].map((d) => resolvedName(d, view.scaling));
  const byX = view.baseline && !(series.length === 1 && series[0] === "");
  const mixed = isAverage(view.agg) ? new Set(points.flatMap((p) => Object.keys(p.mixes))) : new Set();
  const valuesOf = (/** @type {Point} */ p) => {
    const own = new Map(selects[p.series]);
    return [p.x, ...view.group.map((d) => own.get(d)?.[0] ?? ""), ...(view.facet ? [p.facet] : [])];
  };
  const measured = points.filter((p) => p.value !== null).map((p) => ({ values: valuesOf(p), of: p.configuration, p }));
  return FACTS.mixing
    .filter((d) => !mixed.has(d) && measured.some(({ of }) => d in of))
    .map((d) => {
      const leading = shown.flatMap((s, i) => (followers(s, view).includes(d) ? [i] : []));
      const key = (/** @type {typeof measured[0]} */ { p, values }) =>
        JSON.stringify([byX ? [p.x, p.facet] : [], leading.map((i) => values[i])]);
      const groups = [...groupRows(measured, key).values()].map((group) => group.map(({ of }) => of));
      return /** @type {[string, string[]]} */ ([d, knownValues(groups, d)]);
    })
    .filter(([, known]) => known.length);
}

// What differs as a matter of course from one value of a dimension to another.
/** @type {(name: string, view: View) => string[]} */
function followers(name, view) {
  /** @type {Record<string, string[]>} */
  const follows = FACTS.follows;
  const strong = view.scaling === "strong" && FACTS.growing_devices.includes(name) ? ["replica_batch"] : [];
  return [...(follows[name] ?? []), ...strong];
}

/** @type {(groups: Record<string, string>[][], name: string) => string[]} */
function knownValues(groups, name) {
  const apart = groups.flatMap((group) => {
    const known = [...new Set(group.map((of) => of[name]).filter(Boolean))];
    return known.length > 1 || (known.length && group.some((of) => !(name in of))) ? known : [];
  });
  return inOrder(dimensionNamed(name), apart);
}

/** @type {(name: string, values: string[]) => string} */
function valuesText(name, values) {
  const few = values.length <= FACTS.limits.warning_values ? values.join(", ") : `${values.length} values`;
  return `${dimensionNamed(name).label} (${few})`;
}

/** @type {(efficiencies: (number | null)[]) => ChartWarning[]} */
export function aboveIdeal(efficiencies) {
  const n = efficiencies.filter((e) => (e ?? 0) > FACTS.limits.above_ideal).length;
  return n ? [warning("above_ideal", { n })] : [];
}

/** @type {(agg: string) => string} */
export function mixedVerb(agg) {
  /** @type {Record<string, TextTemplate>} */
  const verbs = FACTS.mixed_verbs;
  return sayText(verbs[agg] ?? verbs[""], { agg });
}

// Why points have no figure of a measure.
/** @type {(measure: string) => keyof typeof FACTS.warnings} */
function causeOf(measure) {
  if (["speedup", "efficiency"].includes(measure)) return "no_single_device";
  return measure === "cost_per_million" ? "no_price" : "no_measure";
}
