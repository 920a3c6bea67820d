// A chart's points: filter, group, aggregate; the same as guide/query/points.py, held to it by tests/guide/golden.json.

import { byKey, byPlaces, dimensionNamed, inOrder } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { AGGREGATE, basesOf, endsAt, extreme, figureOf, isAverage, picked, steadyFilters } from "./figures.js";
import { ends } from "./notation.js";
import { groupRows, reduceRuns } from "./reduce.js";
import { relative } from "./relative.js";
import { accepts, passes, resolvedName, valueOf } from "./rows.js";
import { studentQuantile } from "./student.js";
import { warningsOf } from "./warnings.js";

const UNKNOWN = "unknown";
/** @type {(facet: string, series: string, x: string) => string} */
const keyOf = (...parts) => JSON.stringify(parts);

/** @type {(rows: Row[], view: View) => Result} */
export function queryRows(rows, view) {
  /** @type {Map<string, Gathered>} */
  const gathered = new Map();
  /** @type {Map<string, SeriesChoice>} */
  const choices = new Map();
  linesOf(view).forEach(([name, filters], place) => {
    for (const [key, point] of pointsOf(rows, view, { name, filters, place }, choices)) gathered.set(key, point);
  });
  const of = dimensionNamed(view.x);
  const placed = [...gathered.values()].filter(({ x }) => x !== "" || of.kind === "text");
  const accepted = view.range.length ? accepts(of.kind, view.range) : () => true;
  const shown = placed.filter(({ x }) => accepted(x));
  const xs = orderedXs(
    view,
    shown.map(({ x }) => x),
  );
  const facets = inOrder(
    dimensionNamed(view.facet),
    shown.map(({ facet }) => facet),
  );
  const series = orderedSeries(choices, view).filter((name) => shown.some((point) => point.series === name));
  const grid = facets.flatMap((f) => series.flatMap((s) => xs.map((x) => /** @type {const} */ ([f, s, x]))));
  const filled = of.kind === "text" && grid.length <= FACTS.limits.cells;
  const cells = filled ? grid : grid.filter((cell) => gathered.has(keyOf(...cell)));
  const made = cells.map(([f, s, x]) => pointOf(gathered.get(keyOf(f, s, x)) ?? gatheredAt(f, s, x), view));
  const { points, shared } = withoutShared(made);
  const result = {
    view,
    xs,
    series,
    facets,
    points,
    shared,
    means: [],
    warnings: [],
    runs: points.reduce((sum, p) => sum + p.runs, 0),
    contended: points.reduce((sum, p) => sum + p.contended, 0),
    selects: Object.fromEntries(series.map((name) => [name, choices.get(name)?.filters ?? []])),
  };
  return relative({ ...result, warnings: warningsOf(result, gathered.size - placed.length) });
}

/** @type {(view: View) => [string, Filters][]} */
export const linesOf = (view) =>
  view.series.length ? view.series.map((s) => [s.name, narrowed(view.filters, s.filters)]) : [["", view.filters]];

// Both must hold. A filter of the page and one of the series on the same dimension leave what passes both.
/** @type {(base: Filters, more: Filters) => Filters} */
export function narrowed(base, more) {
  const all = new Map(base);
  for (const [name, values] of more) all.set(name, both(dimensionNamed(name).kind, all.get(name), values));
  return [...all].sort(byKey);
}

/** @type {(kind: string, one: string[] | undefined, other: string[]) => string[]} */
function both(kind, one, other) {
  if (!one) return other;
  const [inOne, inOther] = [accepts(kind, one), accepts(kind, other)];
  const kept = [...one.filter((v) => !ends(kind, v) && inOther(v)), ...other.filter((v) => !ends(kind, v) && inOne(v))];
  const number = (/** @type {string} */ v) => (kind === "number" ? Number(v) : v);
  for (const a of one.flatMap((v) => [ends(kind, v) ?? []])) {
    for (const b of other.flatMap((v) => [ends(kind, v) ?? []])) {
      if (!a.length || !b.length) continue;
      const [low] = [a[0], b[0]].filter(Boolean).sort((p, q) => (number(p) < number(q) ? 1 : -1));
      const [high] = [a[1], b[1]].filter(Boolean).sort((p, q) => (number(p) < number(q) ? -1 : 1));
      kept.push(`${low ?? ""}..${high ?? ""}`);
    }
  }
  const unique = [...new Set(kept)].filter(Boolean).sort();
  return unique.length ? unique : [/** @type {Record<string, string>} */ (FACTS.nothing)[kind]];
}

/** @type {(facet: string, series: string, x: string) => Gathered} */
const gatheredAt = (facet, series, x) => ({ facet, series, x, statuses: {}, contended: 0, figure: null });

// All points of one named series (or of the whole view), split by the groups.
/** @type {(rows: Row[], view: View, line: NamedFilters, choices: Map<string, SeriesChoice>) => Map<string, Gathered>} */
function pointsOf(rows, view, { name, filters, place }, choices) {
  const shown = [view.x, ...view.group, ...(view.facet ? [view.facet] : [])].map((d) => resolvedName(d, view.scaling));
  const chosen = reduceRuns(rows.filter(passes(filters, view.scaling)), view, runDimensions(view));
  const steady = () => rows.filter(passes(steadyFilters(view, view.filters), view.scaling));
  const measure = figureOf(view, () => basesOf(reduceRuns(steady(), view), view));
  /** @type {Map<string, Gathered>} */
  const points = new Map();
  const groups = groupRows(chosen, (row) => {
    const [x, ...rest] = shown.map((d) => valueOf(row, d));
    const own = rest.slice(0, view.group.length);
    const series = [...(name ? [name] : []), ...own.map((v) => v || UNKNOWN)].join(", ");
    if (!choices.has(series)) {
      const grouped = view.group.map((d, i) => /** @type {[string, string[]]} */ ([d, [own[i]]]));
      choices.set(series, { filters: [...new Map([...filters, ...grouped])].sort(byKey), place });
    }
    const facet = view.facet ? rest[view.group.length] : "";
    const key = keyOf(facet, series, x);
    if (!points.has(key)) points.set(key, gatheredAt(facet, series, x));
    return key;
  });
  for (const [key, members] of groups) {
    const point = /** @type {Gathered} */ (points.get(key));
    const counted = members.filter((row) => view.contended || !row.contended);
    point.contended = members.reduce((n, row) => n + (row.contended && !view.contended ? row.n : 0), 0);
    for (const row of counted) point.statuses[row.status] = (point.statuses[row.status] ?? 0) + row.n;
    const measured = counted.filter((row) => row.status === "ok").map((row) => ({ row, ...measure(row) }));
    point.figure = summarised(measured, view, shown);
  }
  return points;
}

// Every configuration that has a figure, and the point that it belongs to.
/** @type {(rows: Row[], view: View) => { row: RollupRow, point: string }[]} */
export function configurationRows(rows, view) {
  const shown = [view.x, ...view.group, ...(view.facet ? [view.facet] : [])];
  const steady = () => rows.filter(passes(steadyFilters(view, view.filters), view.scaling));
  const measure = figureOf(view, () => basesOf(reduceRuns(steady(), view), view));
  return linesOf(view).flatMap(([, filters], place) =>
    reduceRuns(rows.filter(passes(filters, view.scaling)), view, runDimensions(view))
      .filter((row) => row.status === "ok" && (view.contended || !row.contended) && measure(row).value !== null)
      .map((row) => ({ row, point: JSON.stringify([place, ...shown.map((d) => valueOf(row, d, view.scaling))]) })),
  );
}

// Dimensions of the view that only single runs have.
/** @type {(view: View) => string[]} */
const runDimensions = (view) => FACTS.of_runs.filter((d) => [view.x, ...view.group, view.facet].includes(d));

// The figures of configurations as one.
/** @type {(figures: (Figure & { row: RollupRow })[], view: View, shown: string[]) => Summary | null} */
function summarised(figures, view, shown) {
  const measured = figures.flatMap((f) => (f.value === null ? [] : [{ ...f, value: f.value }]));
  if (!measured.length) return null;
  const pick = picked(view);
  const end = pick === "min" ? "min" : "max";
  const others = FACTS.mixing.filter((d) => !shown.includes(d));
  const mixes = Object.fromEntries(others.map((d) => [d, different(measured, d)]).filter(([, n]) => Number(n) > 1));
  const top = AGGREGATE[end](measured.map((m) => m.value));
  const rows = measured.filter((m) => m.value === top).map((m) => m.row);
  const agreed = others.filter((d) => !(isAverage(view.agg) && d in mixes) && new Set(rows.map((r) => valueOf(r, d))).size === 1);
  return {
    configurations: view.contended ? new Set(measured.map((m) => m.row.config)).size : measured.length,
    runs: measured.reduce((a, m) => a + m.count, 0),
    value: AGGREGATE[pick](measured.map((m) => m.value)),
    ...endsAt(measured, end),
    spread: measured.find((m) => m.spread !== null)?.spread ?? null,
    mixes,
    configuration: Object.fromEntries(agreed.map((d) => [d, valueOf(rows[0], d)])),
  };
}

// Points, each with what it is besides what x, series and facet say; and apart from that what all of them are.
/** @type {(points: Point[]) => { points: Point[], shared: Record<string, string> }} */
function withoutShared(points) {
  const [first, ...rest] = points.filter((p) => p.configurations).map((p) => p.configuration);
  const same = Object.entries(first ?? {}).filter(([d, value]) => rest.every((other) => other[d] === value));
  const shared = Object.fromEntries(same);
  const own = (/** @type {Record<string, string>} */ of) =>
    Object.fromEntries(Object.entries(of).filter(([d]) => !(d in shared)));
  return { points: points.map((p) => ({ ...p, configuration: own(p.configuration) })), shared };
}

/** @type {(measured: { row: RollupRow }[], name: string) => number} */
function different(measured, name) {
  const values = new Set(measured.map(({ row }) => valueOf(row, name)));
  values.delete("");
  return values.size;
}

/** @type {(view: View, xs: string[]) => string[]} */
function orderedXs(view, xs) {
  const of = dimensionNamed(view.x);
  const listed = view.range.length && !view.range.some((v) => ends(of.kind, v));
  return listed ? view.range.filter((v) => xs.includes(v)) : inOrder(of, xs);
}

// Named series as they were given; within each, groups in the order of their dimensions.
/** @type {(choices: Map<string, SeriesChoice>, view: View) => string[]} */
function orderedSeries(choices, view) {
  const groups = [...choices].map(([name, { filters, place }]) => {
    const own = new Map(filters);
    return { name, place, values: view.group.map((d) => own.get(d)?.[0] ?? "") };
  });
  const orders = view.group.map((d, i) =>
    inOrder(
      dimensionNamed(d),
      groups.map(({ values }) => values[i]),
    ),
  );
  const order = byPlaces(orders);
  return groups.sort((a, b) => a.place - b.place || order(a.values, b.values)).map(({ name }) => name);
}

// Why there is no figure: the most frequent failure.
/** @type {(statuses: Record<string, number>, contended: number) => string} */
export function mostTelling(statuses, contended) {
  if (statuses.ok) return "no figure";
  const failure = extreme(
    FACTS.failures.filter((s) => statuses[s]),
    (s) => statuses[s],
    "max",
  );
  return failure ?? (contended ? "contended" : "not run");
}

/** @type {(gathered: Gathered, view: View) => Point} */
function pointOf({ figure, ...at }, view) {
  const bare = { ...at, value: null, low: null, high: null, runs: 0, configurations: 0, mixes: {}, configuration: {} };
  if (!figure) return { ...bare, status: mostTelling(at.statuses, at.contended) };
  const { spread, ...shown } = figure;
  const unlike = isAverage(view.agg) && FACTS.kinds_of_work.some((d) => d in figure.mixes);
  if (unlike) return { ...bare, ...shown, value: null, low: null, high: null, status: FACTS.not_averaged };
  const [low, high] = intervalOf(figure, view);
  return { ...bare, ...shown, low, high, status: "ok" };
}

// That of the chosen run; of a mean or median over runs of one configuration, that of their spread; else none.
/** @type {(f: Summary, view: View) => [number | null, number | null]} */
function intervalOf(f, view) {
  if (!isAverage(view.agg) || (f.configurations === 1 && f.runs === 1)) return around(f);
  if (f.configurations !== 1 || !FACTS.stored_measures.includes(view.y) || f.spread === null) return [null, null];
  const wider = view.agg === "median" ? Math.sqrt(Math.PI / 2) : 1;
  const half = (wider * studentQuantile(f.runs - 1) * f.spread) / Math.sqrt(f.runs);
  return [Math.max(f.value - half, 0), f.value + half];
}

// An interval that does not hold its own value says nothing.
/** @type {(f: Summary) => [number | null, number | null]} */
const around = ({ value, low, high }) =>
  low !== null && high !== null && low <= value && value <= high ? [low, high] : [null, null];
