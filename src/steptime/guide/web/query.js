// A chart's points: filter, group, aggregate; the same as guide/query.py, held to it by tests/guide/golden.json.

import { baseFilters, basesOf, figureOf, MEASURING, picked, STORED } from "./figures.js";
import { ends } from "./notation.js";
import { groupRows } from "./reduce.js";
import { relative } from "./relative.js";
import { accepts, inOrder, passes, valueOf } from "./rows.js";
import { studentQuantile } from "./student.js";
import { warningsOf } from "./warnings.js";

const MIXING = [
  "model",
  "phase",
  "framework",
  "framework_version",
  "precision",
  "device",
  "replicas",
  "nodes",
  "interconnect",
  "server",
  "replica_batch",
  "threads",
  "optimizer",
  "data_type",
  "runtime",
  "origin",
];
const OF_RUNS = ["date", "verdict", "sweep"];
const MOST_CELLS = 500;
const keyOf = (...parts) => JSON.stringify(parts);

export const resolved = (view, name) =>
  name === "batch" ? (view.scaling === "strong" ? "effective_batch" : "replica_batch") : name;

// Rows of the rollup: one for each configuration, way of ending, and value of what only single runs have.
export function reduceRuns(rows, view, extra) {
  const merging = view.contended && ["mean", "median"].includes(view.agg);
  const disturbed = (r) => !merging && r.verdict === "contended";
  const grouped = groupRows(
    rows,
    (r) => `${r.config}|${r.status}|${disturbed(r)}|${extra.map((e) => valueOf(r, e)).join("\x1f")}`,
  );
  return [...grouped.values()].map((runs) => ({ ...runs[0], contended: disturbed(runs[0]), runs, n: runs.length }));
}

export function queryRows(data, view) {
  const { rows, dimensions } = data;
  const found = { values: new Map(), endings: new Map(), contended: new Map(), selects: new Map() };
  for (const [name, filters] of linesOf(data, view)) askLine(rows, dimensions, view, name, filters, found);
  const of = dimensions(view.x);
  const keys = new Map([...found.endings.keys(), ...found.contended.keys()].map((k) => [k, JSON.parse(k)]));
  const said = [...keys].filter(([, [, , x]]) => x !== "" || of.kind === "text");
  const accepted = view.range.length ? accepts(of.kind, view.range) : () => true;
  const shown = new Map(said.filter(([, [, , x]]) => accepted(x)));
  const missing = keys.size - said.length;
  const all = [...shown.values()];
  const xs = orderedXs(
    view,
    of,
    all.map(([, , x]) => x),
  );
  const facets = view.facet
    ? inOrder(
        dimensions(view.facet),
        all.map(([f]) => f),
      )
    : [""];
  const series = orderedSeries(found.selects, view, dimensions).filter((name) => all.some(([, s]) => s === name));
  const grid = facets.flatMap((f) => series.flatMap((s) => xs.map((x) => keyOf(f, s, x))));
  const cells = of.kind === "text" && grid.length <= MOST_CELLS ? grid : grid.filter((k) => shown.has(k));
  const points = cells.map((k) => pointOf(k, found, view));
  const sum = (pickOut) => points.reduce((a, p) => a + pickOut(p), 0);
  const result = {
    view,
    xs,
    series,
    facets: all.length ? facets : [],
    points,
    means: [],
    warnings: [],
    runs: sum((p) => p.runs),
    contended: sum((p) => p.contended),
    selects: Object.fromEntries(series.map((name) => [name, found.selects.get(name)])),
  };
  return relative({ ...result, warnings: warningsOf(result, missing, data) });
}

export function linesOf(data, view) {
  return view.series.length
    ? view.series.map((s) => [s.name, narrowed(view.filters, s.filters, data.dimensions)])
    : [["", view.filters]];
}

// Both must hold. A filter of the page and one of the series on the same dimension leave what passes both.
export function narrowed(base, more, dimensions) {
  const all = new Map(base);
  for (const [name, values] of more) all.set(name, all.has(name) ? both(dimensions(name).kind, all.get(name), values) : values);
  return [...all].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

function both(kind, one, other) {
  const [inOne, inOther] = [accepts(kind, one), accepts(kind, other)];
  const kept = [...one.filter((v) => !ends(kind, v) && inOther(v)), ...other.filter((v) => !ends(kind, v) && inOne(v))];
  const order = kind === "number" ? Number : (v) => v;
  for (const a of one.map((v) => ends(kind, v)).filter(Boolean)) {
    for (const b of other.map((v) => ends(kind, v)).filter(Boolean)) {
      const low = [a[0], b[0]].filter(Boolean).sort((p, q) => (order(p) < order(q) ? 1 : -1))[0] ?? "";
      const high = [a[1], b[1]].filter(Boolean).sort((p, q) => (order(p) < order(q) ? -1 : 1))[0] ?? "";
      kept.push(`${low}..${high}`);
    }
  }
  const unique = [...new Set(kept)].filter(Boolean).sort();
  return unique.length ? unique : [kind === "text" ? "\x01none" : "0..-1"];
}

function askLine(rows, dimensions, view, name, filters, found) {
  const shown = [view.x, ...view.group, ...(view.facet ? [view.facet] : [])];
  const extra = [...new Set(shown.map((s) => resolved(view, s)))].filter((s) => OF_RUNS.includes(s));
  const mixing = MIXING.filter((d) => !shown.map((s) => resolved(view, s)).includes(d));
  const chosen = reduceRuns(rows.filter(passes(filters, dimensions, view.scaling)), view, extra);
  const scaling = ["speedup", "efficiency"].includes(view.y);
  const bases = scaling
    ? basesOf(reduceRuns(rows.filter(passes(baseFilters(view), dimensions, view.scaling)), view, []), view)
    : null;
  const figure = figureOf(view, bases);
  const pick = picked(view);
  const groups = groupRows(chosen, (row) => pointKeyOf(row, view, shown, name, filters, found.selects));
  for (const [key, members] of groups) {
    const measured = [];
    for (const row of members) {
      if (row.contended && !view.contended) found.contended.set(key, (found.contended.get(key) ?? 0) + row.n);
      else {
        const now = found.endings.get(key) ?? {};
        found.endings.set(key, { ...now, [row.status]: (now[row.status] ?? 0) + row.n });
      }
      if (row.status !== "ok" || (row.contended && !view.contended)) continue;
      const f = figure(row);
      if (f.value !== null) measured.push({ ...f, row });
    }
    if (!measured.length) continue;
    const ended = measured.filter((m) => m.low !== null);
    const at = ended.length ? ended.reduce((a, b) => ((pick === "max" ? b.value > a.value : b.value < a.value) ? b : a)) : null;
    found.values.set(key, {
      configurations: view.contended ? new Set(measured.map((m) => m.row.config)).size : measured.length,
      runs: measured.reduce((a, m) => a + m.count, 0),
      value: MEASURING[pick](measured.map((m) => m.value)),
      low: at?.low ?? null,
      high: at?.high ?? null,
      spread: measured.find((m) => m.spread !== null)?.spread ?? null,
      mixes: Object.fromEntries(mixing.map((d) => /** @type {const} */ ([d, different(measured, d)])).filter(([, n]) => n > 1)),
    });
  }
}

const NUMBERS = ["replicas", "nodes", "replica_batch", "threads"];

function different(measured, name) {
  const values = measured.map(({ row }) => valueOf(row, name));
  return new Set(NUMBERS.includes(name) ? values.filter((v) => v !== "") : values).size;
}

function pointKeyOf(row, view, shown, name, filters, selects) {
  const values = shown.map((d) => valueOf(row, d, view.scaling));
  const groups = values.slice(1, 1 + view.group.length);
  const facet = view.facet ? values.at(-1) : "";
  const series = [...(name ? [name] : []), ...groups.map((v) => v || "unknown")].join(", ");
  if (!selects.has(series)) {
    const own = new Map([...filters, ...view.group.map((d, i) => [d, [groups[i]]])]);
    selects.set(
      series,
      [...own].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
    );
  }
  return keyOf(facet, series, values[0]);
}

function orderedXs(view, of, xs) {
  if (view.range.length && !view.range.some((v) => ends(of.kind, v))) return view.range.filter((v) => xs.includes(v));
  return inOrder(of, xs);
}

function orderedSeries(selects, view, dimensions) {
  const chosen = (name) => new Map(selects.get(name));
  const places = view.group.map((d) =>
    inOrder(
      dimensions(d),
      [...selects.keys()].map((s) => chosen(s).get(d)[0]),
    ),
  );
  const named = view.series.map((s) => s.name);
  /** @type {(name: string) => number[]} */
  const place = (name) => [
    Math.max(
      0,
      named.findIndex((n) => name === n || name.startsWith(`${n}, `)),
    ),
    ...view.group.map((d, i) => places[i].indexOf(chosen(name).get(d)[0])),
  ];
  return [...selects.keys()]
    .map((name) => [name, place(name)])
    .sort(([, a], [, b]) => a.map((v, i) => v - b[i]).find((d) => d) ?? 0)
    .map(([name]) => name);
}

const FAILING = [
  "unsupported",
  "out_of_memory",
  "illegal_instruction",
  "crash",
  "timeout",
  "cancelled",
  "wrong_result",
  "node_failure",
  "launch_failed",
];

export function mostTelling(endings, contended) {
  if (endings.ok) return "no figure";
  const failures = FAILING.filter((s) => endings[s]);
  if (failures.length) return failures.reduce((a, b) => (endings[b] > endings[a] ? b : a));
  return contended ? "contended" : "not run";
}

function pointOf(key, found, view) {
  const [facet, series, x] = JSON.parse(key);
  const statuses = found.endings.get(key) ?? {};
  const contended = found.contended.get(key) ?? 0;
  const f = found.values.get(key);
  const bare = {
    x,
    series,
    facet,
    value: null,
    low: null,
    high: null,
    runs: 0,
    configurations: 0,
    status: "ok",
    statuses,
    contended,
    mixes: {},
  };
  if (!f) return { ...bare, status: mostTelling(statuses, contended) };
  const [low, high] = intervalOf(f, view);
  return { ...bare, value: f.value, low, high, runs: f.runs, configurations: f.configurations, mixes: f.mixes };
}

function intervalOf(f, view) {
  if (!["mean", "median"].includes(view.agg)) return [f.low, f.high];
  if (f.configurations !== 1) return [null, null];
  if (f.runs === 1) return [f.low, f.high];
  if (!STORED.includes(view.y) || f.spread === null) return [null, null];
  const wider = view.agg === "median" ? Math.sqrt(Math.PI / 2) : 1;
  const half = (wider * studentQuantile(f.runs - 1) * f.spread) / Math.sqrt(f.runs);
  return [Math.max(f.value - half, 0), f.value + half];
}
