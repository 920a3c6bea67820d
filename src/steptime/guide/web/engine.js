// The engine of the single-file report: the same answers as guide/engine.py, from the rows that the file brings.

import { alikeView } from "./alike.js";
import { before, dimensionNamed, inOrder } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { fill } from "./fill.js";
import { KINDS } from "./kinds.js";
import { groupRows, numberConfigurations } from "./reduce.js";
import { accepts, decodeRows, passes, valueOf } from "./rows.js";
import { KIND_FACTS } from "./state.js";
import { TEMPLATES } from "./templates.js";
import { byRow } from "./values.js";

/** @type {(data: ReportData) => Engine} */
export function engineOf(data) {
  const rows = data.rows ?? decodeRows(data.columns ?? {});
  numberConfigurations(rows);
  const details = new Map((data.details ?? []).map((d) => [d.record.id, d]));
  const newest = [...rows].sort((a, b) => before(b.started ?? "", a.started ?? "") || before(b.id, a.id));
  /** @type {Engine} */
  const engine = {
    rows,
    meta: () => metaOf(rows),
    alike: (view) => alikeView(rows, view),
    facets: (view, names) => facetsOf(rows, view, names),
    answer(view) {
      const kind = kindOf(view);
      const answer = kind.answer(engine, view);
      const named = { answer, title: kind.title(answer), subtitle: kind.subtitle(answer) };
      return KIND_FACTS[view.kind].page_draws ? { ...named, spec: openSpec(view, answer) } : named;
    },
    // The chart of a view but for its theme, in the size it has where nobody chooses one.
    chart(view) {
      const answer = kindOf(view).answer(engine, view);
      return fill(openSpec(view, answer), { titled: true, fitted: false, ...kindOf(view).size?.(answer) });
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
    csv(view) {
      const kind = kindOf(view);
      return csvText(KIND_FACTS[view.kind].columns, kind.rows(kind.answer(engine, view)));
    },
  };
  return engine;
}

/** @type {(view: View) => ViewKind<any>} */
const kindOf = (view) => /** @type {Record<string, any>} */ (KINDS)[view.kind];

/** @type {(view: View, answer: any) => Spec} */
const openSpec = (view, answer) =>
  fill(/** @type {Record<string, Spec>} */ (TEMPLATES)[view.kind], kindOf(view).values?.(answer) ?? {});

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
      fill(/** @type {Record<string, Spec>} */ (TEMPLATES)[name], { ...values, rows: byRow(values.columns) }),
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

/** @type {(value: any) => string} */
function quotedField(value) {
  const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @type {(columns: string[], rows: Row[]) => string} */
const csvText = (columns, rows) =>
  [columns.join(","), ...rows.map((r) => columns.map((c) => quotedField(r[c])).join(","))].join("\n") + "\n";
