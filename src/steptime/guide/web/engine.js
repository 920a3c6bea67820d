// The engine of the single-file report: the same answers as guide/engine.py, from the rows that the file brings.

import { compareSides } from "./comparing.js";
import { before, byPlaces, dimensionNamed, inOrder } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { fill } from "./fill.js";
import { FORMS } from "./forms.js";
import { mostTelling, queryRows } from "./query.js";
import { groupRows, numberConfigurations } from "./reduce.js";
import { accepts, decodeRows, passes, valueOf } from "./rows.js";
import { scaleRows } from "./scale.js";
import { byRow, chartSize, chartValues, compareValues, coverageValues, scalingSize, scalingValues } from "./values.js";

/** @type {(data: ReportData) => Engine} */
export function engineOf(data) {
  const rows = data.rows ?? decodeRows(data.columns ?? {});
  numberConfigurations(rows);
  const details = new Map((data.details ?? []).map((d) => [d.record.id, d]));
  const newest = [...rows].sort((a, b) => before(b.started ?? "", a.started ?? "") || before(b.id, a.id));
  /** @type {Engine} */
  const engine = {
    meta: () => metaOf(rows),
    query: (view) => queryRows(rows, view),
    coverage: (view) => coverRows(rows, view),
    scaling: (view) => scaleRows(rows, view),
    facets: (view, names) => facetsOf(rows, view, names),
    compare: (view) => compareSides(rows, view),
    answer(view) {
      if (view.kind === "coverage") return { coverage: engine.coverage(view) };
      if (view.kind === "compare") return { comparison: engine.compare(view) };
      if (view.kind === "scaling") {
        const scaling = engine.scaling(view);
        return { scaling, spec: fill(FORMS.scaling, scalingValues(scaling)) };
      }
      const result = engine.query(view);
      return view.kind === "table" ? { result } : { result, spec: fill(FORMS.chart, chartValues(result)) };
    },
    // The chart of a view but for its theme, in the size it has when nobody says otherwise.
    chart(view) {
      const { result, scaling, coverage, comparison, spec } = engine.answer({
        ...view,
        kind: view.kind === "table" ? "chart" : view.kind,
      });
      if (coverage) return fill(FORMS.coverage, coverageValues(coverage));
      if (comparison) return fill(FORMS.compare, compareValues(comparison));
      return fill(spec, scaling ? scalingSize(scaling) : result ? chartSize(result) : {});
    },
    runs(view, limit, offset) {
      const wanted = view.runs.length ? new Set(view.runs) : null;
      const chosen = newest.filter(passes(view.filters, view.scaling)).filter((r) => !wanted || wanted.has(r.id));
      return { view, rows: chosen.slice(offset, offset + limit), total: chosen.length };
    },
    run(id) {
      const row = rows.find((r) => r.id === id);
      if (!row) throw new Error(`This report has no run ${id}.`);
      const { record = null, command = "", charts = null, log = "" } = details.get(id) ?? {};
      return {
        row,
        record,
        command,
        charts: charts && stepCharts(charts),
        log,
        log_truncated: true,
        profile: record?.profile ?? null,
      };
    },
    csv: (view) => csvOf(engine, view),
  };
  return engine;
}

/** @type {(rows: Row[]) => string[]} */
const labelsOf = (rows) =>
  [...new Set(rows.flatMap((r) => Object.keys(r.labels ?? {})))].map((l) => FACTS.label_prefix + l).sort();

/** @type {(rows: Row[]) => Meta} */
function metaOf(rows) {
  const names = [...FACTS.dimensions.map((d) => d.name), ...labelsOf(rows)];
  const dimensions = names.map((name) => {
    const { label, kind } = dimensionNamed(name);
    return { name, label, kind, values: new Set(rows.map((r) => valueOf(r, name))).size };
  });
  return { runs: rows.length, version: "", measures: FACTS.measures, dimensions };
}

/** @type {(charts: Record<string, any>) => Record<string, Spec>} */
const stepCharts = (charts) =>
  Object.fromEntries(
    Object.entries(charts).map(([name, values]) => [
      name,
      fill(/** @type {Record<string, Spec>} */ (FORMS)[name], { ...values, rows: byRow(values.columns) }),
    ]),
  );

// Filter values and how many runs have them. A dimension's own filter does not count for it, so there are no dead ends.
/** @type {(rows: Row[], view: View, names?: string[]) => Facet[]} */
function facetsOf(rows, view, names) {
  const filtered = new Map(view.filters);
  const usual = FACTS.dimensions.map((d) => d.name).filter((d) => !FACTS.implied.includes(d) || filtered.has(d));
  const wanted = names ?? [...new Set([...usual, ...labelsOf(rows).slice(0, FACTS.limits.labels), ...filtered.keys()])];
  const clean = view.contended ? rows : rows.filter((r) => r.verdict !== "contended");
  const shared = clean.filter(passes(view.filters, view.scaling));
  return wanted.map((name) => {
    const others = view.filters.filter(([k]) => k !== name);
    const mine = filtered.has(name) ? clean.filter(passes(others, view.scaling)) : shared;
    const counts = new Map([...groupRows(mine, (row) => valueOf(row, name, view.scaling))].map(([v, list]) => [v, list.length]));
    return facetOf(dimensionNamed(name), counts, filtered.get(name) ?? []);
  });
}

/** @type {(of: Dimension, counts: Map<string, number>, chosenValues: string[]) => Facet} */
function facetOf(of, counts, chosenValues) {
  const accepted = chosenValues.length ? accepts(of.kind, chosenValues) : () => false;
  let ordered = inOrder(of, counts.keys());
  if (ordered.length > FACTS.limits.values) {
    const most = [...counts].sort(([a, m], [b, n]) => n - m || before(a, b)).slice(0, FACTS.limits.values);
    const kept = new Set(most.map(([v]) => v));
    ordered = ordered.filter((v) => kept.has(v) || accepted(v));
  }
  const values = ordered.map((value) => ({ value, runs: counts.get(value) ?? 0, chosen: accepted(value) }));
  return { dimension: of.name, label: of.label, kind: of.kind, values, more: counts.size - values.length };
}

// Contended runs count as measured: the question here is what exists.
/** @type {(rows: Row[], view: View) => Coverage} */
function coverRows(rows, view) {
  const of = view.group.length ? view.group : view.x === "framework" ? ["model"] : ["framework"];
  const inRange = view.range.length ? accepts(dimensionNamed(view.x).kind, view.range) : () => true;
  const placed = rows
    .filter(passes(view.filters, view.scaling))
    .map((row) => ({
      x: valueOf(row, view.x, view.scaling),
      values: of.map((d) => valueOf(row, d, view.scaling)),
      status: row.status,
    }))
    .filter(({ x }) => inRange(x));
  const cells = groupRows(placed, ({ x, values }) => JSON.stringify([values, x]));
  const xs = inOrder(
    dimensionNamed(view.x),
    placed.map(({ x }) => x),
  ).slice(0, FACTS.limits.matrix);
  const orders = of.map((d, i) =>
    inOrder(
      dimensionNamed(d),
      placed.map(({ values }) => values[i]),
    ),
  );
  const unique = [...groupRows(placed, ({ values }) => JSON.stringify(values)).values()].map(([{ values }]) => values);
  const shown = unique.sort(byPlaces(orders)).slice(0, FACTS.limits.matrix);
  const name = (/** @type {string[]} */ values) => values.map((v) => v || "unknown").join(", ");
  const made = shown.flatMap((values) =>
    xs.map((x) => cellOfRuns(x, name(values), cells.get(JSON.stringify([values, x])) ?? [])),
  );
  return { view, of, xs, rows: shown.map(name), cells: made, counts: countsBy(made) };
}

/** @type {(x: string, row: string, runs: { status: string }[]) => Cell} */
function cellOfRuns(x, row, runs) {
  const statuses = countsBy(runs);
  return { x, row, status: statuses.ok ? "ok" : mostTelling(statuses, 0), runs: runs.length, statuses };
}

/** @type {(list: { status: string }[]) => Record<string, number>} */
const countsBy = (list) => Object.fromEntries([...groupRows(list, (item) => item.status)].map(([s, items]) => [s, items.length]));

/** @type {(value: any) => string} */
function quotedField(value) {
  const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @type {(engine: Engine, view: View) => string} */
function csvOf(engine, view) {
  const lines = (/** @type {string[]} */ columns, /** @type {Row[]} */ rows) =>
    [columns.join(","), ...rows.map((r) => columns.map((c) => quotedField(r[c])).join(","))].join("\n") + "\n";
  if (["runs", "run", "compare"].includes(view.kind)) {
    const { rows } = engine.runs(view.kind === "runs" ? view : { ...view, filters: [] }, Infinity, 0);
    return lines(
      Object.keys(rows[0] ?? { id: 1 }).filter((c) => c !== "config"),
      rows,
    );
  }
  if (view.kind === "coverage") return lines(["row", "x", "status", "runs"], engine.coverage(view).cells);
  if (view.kind === "scaling") {
    const rows = engine.scaling(view).lines.flatMap((l) => l.points.map((p) => ({ series: l.series, batch: l.batch, ...p })));
    return lines(["series", "batch", "devices", "throughput", "low", "high", "speedup", "efficiency", "runs", "status"], rows);
  }
  return lines(["facet", "series", "x", "value", "low", "high", "runs", "configurations", "status"], engine.query(view).points);
}
