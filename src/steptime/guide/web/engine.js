// The engine of the single-file report: the same answers as guide/engine.py, from the rows that the file brings.

import { compareSides } from "./comparing.js";
import { mostTelling, queryRows } from "./query.js";
import { groupRows, numberConfigurations } from "./reduce.js";
import { accepts, decodeRows, inOrder, passes, valueOf } from "./rows.js";
import { scaleRows } from "./scale.js";
import { fill } from "./fill.js";
import { FORMS } from "./forms.js";
import { byRow, chartSize, chartValues, compareValues, coverageValues, scalingSize, scalingValues } from "./values.js";

const IMPLIED = ["data", "data_store", "replica_batch", "effective_batch", "software", "date", "verdict", "sweep"];
const MOST_VALUES = 200;
const MOST_LABELS = 20;
const MOST_SHOWN = 200;

// told: {columns | rows, dimensions, measures, details}
export function engineOf(told) {
  const rows = told.rows ?? decodeRows(told.columns);
  numberConfigurations(rows);
  const known = new Map(told.dimensions.map((d) => [d.name, d]));
  const dimensions = (name) => known.get(name) ?? { name, label: name.replace("label.", ""), kind: "text", order: [] };
  const labels = [...new Set(rows.flatMap((r) => Object.keys(r.labels ?? {})))].map((l) => `label.${l}`).sort();
  const data = { rows, dimensions, measures: told.measures, labels };
  const details = new Map((told.details ?? []).map((d) => [d.record.id, d]));
  const newest = [...rows].sort((a, b) => byText(b.started ?? "", a.started ?? "") || byText(b.id, a.id));
  const engine = {
    data,
    meta: () => ({
      runs: rows.length,
      version: "",
      measures: told.measures,
      dimensions: [...known.keys(), ...labels].map((name) => ({
        name,
        label: dimensions(name).label,
        kind: dimensions(name).kind,
        values: new Set(rows.map((r) => valueOf(r, name, "weak"))).size,
      })),
    }),
    query: (view) => queryRows(data, view),
    coverage: (view) => coverRows(data, view),
    scaling: (view) => scaleRows(data, view),
    facets: (view, names) => facetsOf(data, view, names),
    compare: (view) => compareSides(data, view),
    answer(view) {
      if (view.kind === "coverage") return { coverage: engine.coverage(view) };
      if (view.kind === "compare") return { comparison: engine.compare(view) };
      if (view.kind === "scaling") return drawable("scaling", engine.scaling(view), scalingValues);
      return view.kind === "table"
        ? { result: engine.query(view) }
        : drawable("result", engine.query(view), (result) => chartValues(result, data));
    },
    // The chart of a view but for its theme, in the size it has when nobody says otherwise.
    chart(view) {
      const { result, scaling, coverage, comparison, spec } = engine.answer({
        ...view,
        kind: view.kind === "table" ? "chart" : view.kind,
      });
      if (coverage) return fill(FORMS.coverage, coverageValues(coverage, data));
      if (comparison) return fill(FORMS.compare, compareValues(comparison, data));
      return fill(spec, scaling ? scalingSize(scaling) : chartSize(result, data));
    },
    runs(view, limit, offset) {
      const wanted = view.runs.length ? new Set(view.runs) : null;
      const chosen = newest.filter(passes(view.filters, dimensions, view.scaling)).filter((r) => !wanted || wanted.has(r.id));
      return { view, rows: chosen.slice(offset, offset + limit), total: chosen.length };
    },
    run(id) {
      const row = rows.find((r) => r.id === id);
      if (!row) throw new Error(`This report has no run ${id}.`);
      const detail = details.get(id);
      return {
        row,
        record: detail?.record ?? null,
        command: detail?.command ?? "",
        charts: detail?.charts ? stepCharts(detail.charts) : null,
        log: detail?.log ?? "",
        log_truncated: true,
        profile: detail?.record?.profile ?? null,
      };
    },
    csv: (view) => csvOf(engine, view),
  };
  return engine;
}

const drawable = (name, answer, valuesOf) => ({
  [name]: answer,
  spec: fill(FORMS[name === "result" ? "chart" : name], valuesOf(answer)),
});

const stepCharts = (charts) =>
  Object.fromEntries(
    Object.entries(charts).map(([name, values]) => [name, fill(FORMS[name], { ...values, rows: byRow(values.columns) })]),
  );

const byText = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

function facetsOf({ rows, dimensions, labels }, view, names) {
  const filtered = new Map(view.filters);
  const all = names ?? [
    ...DIMENSION_ORDER.filter((d) => !IMPLIED.includes(d) || filtered.has(d)),
    ...labels.slice(0, MOST_LABELS),
  ];
  const wanted = names ? all : [...all, ...[...filtered.keys()].filter((k) => !all.includes(k))];
  const clean = view.contended ? rows : rows.filter((r) => r.verdict !== "contended");
  const shared = clean.filter(passes(view.filters, dimensions, view.scaling));
  return wanted.map((name) => {
    const mine = filtered.has(name)
      ? clean.filter(
          passes(
            view.filters.filter(([k]) => k !== name),
            dimensions,
            view.scaling,
          ),
        )
      : shared;
    const counts = new Map();
    for (const row of mine) {
      const value = valueOf(row, name, view.scaling);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return facetOf(dimensions(name), counts, filtered.get(name) ?? []);
  });
}

function facetOf(of, counts, chosenValues) {
  const accepted = chosenValues.length ? accepts(of.kind, chosenValues) : () => false;
  let ordered = inOrder(of, counts.keys());
  if (ordered.length > MOST_VALUES) {
    const kept = new Set(
      [...counts]
        .sort(([a, m], [b, n]) => n - m || byText(a, b))
        .slice(0, MOST_VALUES)
        .map(([v]) => v),
    );
    ordered = ordered.filter((v) => kept.has(v) || accepted(v));
  }
  const values = ordered.map((value) => ({ value, runs: counts.get(value), chosen: accepted(value) }));
  return { dimension: of.name, label: of.label, kind: of.kind, values, more: counts.size - values.length };
}

const DIMENSION_ORDER = [
  "model",
  "phase",
  "framework",
  "framework_version",
  "backend",
  "software",
  "runtime",
  "precision",
  "device",
  "device_type",
  "replicas",
  "devices_per_node",
  "nodes",
  "interconnect",
  "server",
  "batch",
  "replica_batch",
  "effective_batch",
  "threads",
  "optimizer",
  "data",
  "data_store",
  "data_type",
  "origin",
  "status",
  "verdict",
  "date",
  "sweep",
];

// Contended runs count as measured: the question here is what exists.
function coverRows({ rows, dimensions }, view) {
  const of = view.group.length ? view.group : view.x === "framework" ? ["model"] : ["framework"];
  const inRange = view.range.length ? accepts(dimensions(view.x).kind, view.range) : () => true;
  const cells = new Map();
  for (const row of rows.filter(passes(view.filters, dimensions, view.scaling))) {
    const x = valueOf(row, view.x, view.scaling);
    if (!inRange(x)) continue;
    const key = JSON.stringify([of.map((d) => valueOf(row, d, view.scaling)), x]);
    const now = cells.get(key) ?? {};
    now[row.status] = (now[row.status] ?? 0) + 1;
    cells.set(key, now);
  }
  const keys = [...cells.keys()].map((k) => JSON.parse(k));
  const xs = inOrder(
    dimensions(view.x),
    keys.map(([, x]) => x),
  ).slice(0, MOST_SHOWN);
  const orders = of.map((d, i) =>
    inOrder(
      dimensions(d),
      keys.map(([row]) => row[i]),
    ),
  );
  const unique = [
    ...groupRows(
      keys.map(([row]) => row),
      (row) => JSON.stringify(row),
    ).values(),
  ].map(([row]) => row);
  const placed = unique
    .sort((a, b) => a.map((v, i) => orders[i].indexOf(v) - orders[i].indexOf(b[i])).find((d) => d) ?? 0)
    .slice(0, MOST_SHOWN);
  const name = (row) => row.map((v) => v || "unknown").join(", ");
  const made = placed.flatMap((row) =>
    xs.map((x) => {
      const statuses = cells.get(JSON.stringify([row, x]));
      const status = !statuses ? "not run" : statuses.ok ? "ok" : mostTelling(statuses, 0);
      return {
        x,
        row: name(row),
        status,
        runs: Object.values(statuses ?? {}).reduce((a, b) => a + b, 0),
        statuses: statuses ?? {},
      };
    }),
  );
  const counts = {};
  for (const cell of made) counts[cell.status] = (counts[cell.status] ?? 0) + 1;
  return { view, of, xs, rows: placed.map(name), cells: made, counts };
}

function csvOf(engine, view) {
  const quoted = (v) => {
    const t = v === null || v === undefined ? "" : typeof v === "object" ? JSON.stringify(v) : String(v);
    return /[",\n]/.test(t) ? `"${t.replaceAll('"', '""')}"` : t;
  };
  const lines = (columns, rows) =>
    [columns.join(","), ...rows.map((r) => columns.map((c) => quoted(r[c])).join(","))].join("\n") + "\n";
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
