// Runs or groups of runs against the first of them; the same as guide/kinds/compare.py and analysis/comparison.py.

import { byKey, measureNamed } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { extreme, runInterval } from "./figures.js";
import { narrowed } from "./query.js";
import { groupRows, mean } from "./reduce.js";
import { passes, valueOf } from "./rows.js";
import { studentQuantile } from "./student.js";
import { sayText, warning } from "./texts.js";

const MANY = 1e6;
const TEXTS = FACTS.kinds.compare.texts;

/** @type {(rows: Row[], view: View) => Comparison} */
export function compareSides(rows, view) {
  const known = FACTS.stored_measures;
  if (!known.includes(view.y)) throw new Error(`compare takes a measure of single runs: ${known.join(", ")}; got '${view.y}'`);
  const byRun = (/** @type {string} */ id) => rows.filter((r) => r.id === id);
  const bySeries = (/** @type {Series} */ s) =>
    rows
      .filter(passes(narrowed(view.filters, s.filters), view.scaling))
      .filter((r) => view.contended || r.verdict !== "contended");
  const groups = view.runs.length
    ? view.runs.map((id) => groupOf(id, byRun(id), view.y))
    : view.series.map((s) => groupOf(s.name, bySeries(s), view.y, s.filters));
  if (groups.length < 2) throw new Error("compare takes at least two runs (run=A,B) or two named series");
  return {
    view,
    sides: groups.map(sideOf),
    differences: groups.slice(1).map((g) => differenceOf(groups[0], g, measureNamed(view.y))),
    differing: betweenGroups(groups),
    warnings: groups.flatMap((g) => groupWarnings(g, view)),
  };
}

/** @type {(name: string, runs: Row[], measure: string, filters?: Filters) => ComparedGroup} */
function groupOf(name, runs, measure, filters = []) {
  const recent = (/** @type {Row} */ row) => `${row.started ?? ""} ${row.id}`;
  const all = [...runs].sort((a, b) => (recent(a) < recent(b) ? 1 : -1));
  const rows = all
    .filter((row) => row.status === "ok" && row[measure])
    .map((row) => ({ row, value: row[measure], ...runInterval(row, measure) }));
  const configurations = new Set(rows.map((r) => r.row.config)).size;
  return { name, named: new Set(filters.map(([key]) => key)), rows, all, configurations };
}

/** @type {(runs: ComparedRun[]) => LogEstimate} */
function estimate(runs) {
  if (runs.length > 1) {
    const logs = runs.map((r) => Math.log(r.value));
    const centre = mean(logs);
    const spread = logs.reduce((a, x) => a + (x - centre) ** 2, 0) / (logs.length - 1);
    return { centre, variance: spread / logs.length, freedom: logs.length - 1 };
  }
  const [{ value, low, high }] = runs;
  if (low === null || high === null || low <= 0) return { centre: Math.log(value), variance: null, freedom: MANY };
  const error = Math.log(high / low) / 2 / studentQuantile(MANY);
  return { centre: Math.log(value), variance: error * error, freedom: MANY };
}

/** @type {(of: LogEstimate) => { value: number, low: number | null, high: number | null }} */
function intervalAround({ centre, variance, freedom }) {
  if (variance === null) return { value: Math.exp(centre), low: null, high: null };
  const half = studentQuantile(freedom) * Math.sqrt(variance);
  return { value: Math.exp(centre), low: Math.exp(centre - half), high: Math.exp(centre + half) };
}

/** @type {(group: ComparedGroup) => Side} */
function sideOf({ name, rows, all, configurations }) {
  const run_ids = (rows.length ? rows.map((r) => r.row) : all).map((row) => row.id).slice(0, FACTS.limits.ids);
  if (!rows.length) {
    const statuses = [...groupRows(all, (row) => row.status)];
    const [status] = extreme(statuses, ([, list]) => list.length, "max") ?? ["not run"];
    const words = status === "ok" ? "no figure" : status;
    return { name, value: null, low: null, high: null, runs: 0, configurations: 0, run_ids, status: words };
  }
  const counts = { name, runs: rows.length, configurations, run_ids };
  const unlike = new Set(rows.map(kindOfWork)).size > 1;
  if (unlike) return { ...counts, value: null, low: null, high: null, status: FACTS.not_averaged };
  return { ...counts, ...valueAndEnds(rows, configurations), status: "ok" };
}

// One run has the interval that it has everywhere; several runs of one configuration that of their spread.
/** @type {(rows: ComparedRun[], configurations: number) => Estimated} */
function valueAndEnds(rows, configurations) {
  const [{ value, low, high }] = rows;
  if (rows.length === 1) return { value, low, high };
  const interval = intervalAround(estimate(rows));
  return configurations === 1 ? interval : { value: interval.value, low: null, high: null };
}

/** @type {(run: ComparedRun) => string} */
const kindOfWork = ({ row }) => FACTS.kinds_of_work.map((d) => valueOf(row, d)).join("\x1f");

/** @type {(pairs: ComparedRun[][][]) => { value: number, low: number | null, high: number | null }} */
function ratioOf(pairs) {
  const n = pairs.length;
  const estimates = pairs.map(([a, b]) => [estimate(a), estimate(b)]);
  const centre = estimates.reduce((sum, [a, b]) => sum + b.centre - a.centre, 0) / n;
  const parts = estimates.flat().map((e) => ({ part: (e.variance ?? NaN) / n ** 2, freedom: e.freedom }));
  const total = parts.reduce((sum, { part }) => sum + part, 0);
  if (Number.isNaN(total)) return intervalAround({ centre, variance: null, freedom: MANY });
  const freedom = total ? total ** 2 / parts.reduce((sum, { part, freedom: f }) => sum + (part * part) / f, 0) : MANY;
  return intervalAround({ centre, variance: total, freedom });
}

/** @type {(ratio: Estimated) => string} */
function verdictOf({ value, low, high }) {
  if (low === null || high === null) {
    return (value ?? 1) >= FACTS.unmistakable ? "more" : (value ?? 1) <= 1 / FACTS.unmistakable ? "less" : "undecided";
  }
  if (low >= 1 - FACTS.margin && high <= 1 + FACTS.margin) return "same";
  return low > 1 ? "more" : high < 1 ? "less" : "undecided";
}

// Runs to be held against each other. One configuration on each side: those. Else by what both sides have in common.
/** @type {(first: ComparedGroup, other: ComparedGroup) => ComparedRun[][][]} */
function pairsOf(first, other) {
  if (!first.rows.length || !other.rows.length) return [];
  if (first.configurations === 1 && other.configurations === 1) return [[first.rows, other.rows]];
  const values = (/** @type {ComparedGroup} */ group, /** @type {string} */ d) =>
    new Set(group.rows.map((r) => r.row[d] ?? null));
  // What they differ in as a whole is what is compared, or comes with it.
  const apart = (/** @type {string} */ d) => {
    const [one, two] = [values(first, d), values(other, d)];
    return one.size === 1 && two.size === 1 && !two.has([...one][0]);
  };
  const shared = FACTS.compared.filter((d) => !first.named.has(d) && !other.named.has(d) && !apart(d));
  const by = (/** @type {ComparedGroup} */ group) =>
    groupRows(group.rows, (r) => JSON.stringify(shared.map((d) => r.row[d] ?? null)));
  const right = by(other);
  return [...by(first)].flatMap(([key, runs]) => (right.has(key) ? [[runs, right.get(key) ?? []]] : []));
}

/** @type {(first: ComparedGroup, other: ComparedGroup, of: Measure) => Difference} */
function differenceOf(first, other, of) {
  const { name } = other;
  const pairs = pairsOf(first, other);
  if (!pairs.length) {
    const both = first.rows.length && other.rows.length;
    const words = sayText(TEXTS[both ? "nothing_shared" : "no_figure"], { name });
    return { name, ratio: null, low: null, high: null, verdict: "no figure", words, basis: "" };
  }
  const ratio = ratioOf(pairs);
  const kinds = ratiosByKind(pairs);
  const changes = kinds.map(([, each]) => verdictOf(each));
  const change = changes.includes("more") && changes.includes("less") ? "undecided" : verdictOf(ratio);
  const verdict = /** @type {Record<string, string>} */ (FACTS.verdicts)[`${change} ${of.better}`] ?? change;
  const words = wordsFor(name, first.name, ratio, verdict, of);
  return { name, ratio: ratio.value, low: ratio.low, high: ratio.high, verdict, words, basis: basisOf(pairs, kinds) };
}

/** @type {(value: number, digits: number) => string} */
const short = (value, digits) => String(Number(value.toPrecision(digits)));

/** @type {(name: string, base: string, ratio: Estimated & { value: number }, verdict: string, of: Measure) => string} */
function wordsFor(name, base, { value, low, high }, verdict, of) {
  const change = 100 * (value - 1);
  const text = value >= 2 ? "times" : change >= 0 ? "more" : "less";
  const figure = text === "times" ? short(value, 3) : short(Math.abs(change), 2);
  const difference = sayText(TEXTS[text], { name, figure, measure: of.label, base });
  if (low === null || high === null) {
    const words = verdict === "undecided" ? TEXTS.no_interval : TEXTS.unmistakable;
    return sayText(words, { verdict, difference, factor: FACTS.unmistakable });
  }
  return sayText(TEXTS.interval, { verdict, difference, low: short(low, 4), high: short(high, 4) });
}

// Of training and inference apart, where both are compared.
/** @type {(pairs: ComparedRun[][][]) => [string, Estimated & { value: number }][]} */
const ratiosByKind = (pairs) =>
  [...groupRows(pairs, ([first]) => kindOfWork(first[0]))].sort(byKey).map(([kind, list]) => [kind, ratioOf(list)]);

/** @type {(pairs: ComparedRun[][][], kinds: [string, Estimated & { value: number }][]) => string} */
function basisOf(pairs, kinds) {
  const fewest = Math.min(...pairs.flat().map((side) => side.length));
  const basis = sayText(TEXTS.runs, { n: fewest });
  const all = pairs.length > 1 ? sayText(TEXTS.configurations, { n: pairs.length, basis }) : basis;
  if (kinds.length === 1) return all;
  const named = kinds.map(([kind, { value }]) => `${kind.split("\x1f").filter(Boolean).join(" ")} ${short(value, 4)}`);
  return `${all}; ${sayText(TEXTS.kinds_of_work, { ratios: named.join(", ") })}`;
}

// Dimensions whose values are not the same on all sides.
/** @type {(groups: ComparedGroup[]) => Differing[]} */
function betweenGroups(groups) {
  const few = (/** @type {string[]} */ values) =>
    values.length ? values.slice(0, 3).join(", ") + (values.length > 3 ? ` and ${values.length - 3} more` : "") : "-";
  return FACTS.configuration.flatMap((name) => {
    const values = groups.map(({ rows, all }) => {
      const texts = (rows.length ? rows.map((r) => r.row) : all).map((row) => valueOf(row, name) || "-");
      return [...new Set(texts)].sort();
    });
    const section = /** @type {Record<string, string>} */ (FACTS.sections)[name];
    const same = values.every((v) => JSON.stringify(v) === JSON.stringify(values[0]));
    return same ? [] : [{ section, name, values: values.map(few) }];
  });
}

/** @type {(group: ComparedGroup, view: View) => ChartWarning[]} */
function groupWarnings({ name, rows, configurations }, view) {
  const contended = view.runs.length && rows.some((r) => r.row.verdict === "contended");
  return [
    contended ? warning("side_contended", { name }) : [],
    configurations > 1 ? warning("side_configurations", { name, n: configurations }) : [],
  ].flat();
}
