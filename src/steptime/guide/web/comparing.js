// Runs or groups of runs against the first of them; the same as guide/compare.py and stats/comparison.py.

import { STORED } from "./figures.js";
import { narrowed } from "./query.js";
import { CONFIGURES, groupRows } from "./reduce.js";
import { passes, valueOf } from "./rows.js";
import { studentQuantile } from "./student.js";

const MARGIN = 0.02;
const MANY = 1e6;
const VERDICTS = { "more higher": "faster", "less higher": "slower", "more lower": "slower", "less lower": "faster" };
const KEYS = CONFIGURES.filter((d) => d !== "software");

export function compareSides(data, view) {
  const of = data.measures.find((m) => m.name === view.y);
  if (!STORED.includes(view.y)) throw new Error(`compare takes a measure of single runs: ${STORED.join(", ")}; got '${view.y}'`);
  const groups = view.runs.length
    ? view.runs.map((id) =>
        fillGroup(
          id,
          data.rows.filter((r) => r.id === id),
          view,
        ),
      )
    : view.series.map((s) =>
        fillGroup(
          s.name,
          data.rows
            .filter(passes(narrowed(view.filters, s.filters, data.dimensions), data.dimensions, view.scaling))
            .filter((r) => view.contended || r.verdict !== "contended"),
          view,
          s.filters,
        ),
      );
  if (groups.length < 2) throw new Error("compare takes at least two runs (run=A,B) or two named series");
  return {
    view,
    sides: groups.map(sideOf),
    differences: groups.slice(1).map((g) => differenceOf(groups[0], g, of)),
    differing: betweenGroups(groups, data),
    warnings: groups.flatMap((g) => groupWarnings(g, view)),
  };
}

function fillGroup(name, found, view, filters = []) {
  const recent = (row) => `${row.started ?? ""} ${row.id}`;
  const newest = [...found].sort((a, b) => (recent(a) < recent(b) ? 1 : -1));
  const rows = newest
    .filter((r) => r.status === "ok" && r[view.y])
    .map((row) => ({ row, value: row[view.y], ...endsFor(row, view.y) }));
  return {
    name,
    named: new Set(filters.map(([key]) => key)),
    rows,
    all: newest,
    configurations: new Set(rows.map((r) => r.row.config)).size,
  };
}

function endsFor(row, name) {
  const { ci_low: low, ci_high: high, effective_batch: batch } = row;
  const known = low !== null && low !== undefined;
  if (name === "throughput" && known) return { low, high };
  if (name === "batch_time_ms" && known && batch) return { low: (batch * 1e3) / high, high: (batch * 1e3) / low };
  return { low: null, high: null };
}

function estimate(rows) {
  if (rows.length > 1) {
    const logs = rows.map((r) => Math.log(r.value));
    const centre = logs.reduce((a, b) => a + b, 0) / logs.length;
    const spread = logs.reduce((a, x) => a + (x - centre) ** 2, 0) / (logs.length - 1);
    return { centre, variance: spread / logs.length, freedom: logs.length - 1 };
  }
  const [{ value, low, high }] = rows;
  if (low === null || high === null || low <= 0) return { centre: Math.log(value), variance: null, freedom: MANY };
  const error = Math.log(high / low) / 2 / studentQuantile(MANY);
  return { centre: Math.log(value), variance: error * error, freedom: MANY };
}

function intervalAround(centre, variance, freedom) {
  const half = studentQuantile(freedom) * Math.sqrt(variance);
  return { value: Math.exp(centre), low: Math.exp(centre - half), high: Math.exp(centre + half) };
}

function sideOf(group) {
  const ids = (group.rows.length ? group.rows.map((r) => r.row.id) : group.all.map((r) => r.id)).slice(0, 20);
  if (!group.rows.length) {
    const status = mostFrequent(group.all.map((r) => r.status)) ?? "not run";
    return {
      name: group.name,
      value: null,
      low: null,
      high: null,
      runs: 0,
      configurations: 0,
      run_ids: ids,
      status: status === "ok" ? "no figure" : status,
    };
  }
  const e = estimate(group.rows);
  const found =
    e.variance === null ? { value: Math.exp(e.centre), low: null, high: null } : intervalAround(e.centre, e.variance, e.freedom);
  const one = group.configurations === 1;
  return {
    name: group.name,
    value: found.value,
    low: one ? found.low : null,
    high: one ? found.high : null,
    runs: group.rows.length,
    configurations: group.configurations,
    run_ids: ids,
    status: "ok",
  };
}

function mostFrequent(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [undefined, 0])[0];
}

function ratioOf(held) {
  const n = held.length;
  const estimates = held.map(([a, b]) => [estimate(a), estimate(b)]);
  const centre = estimates.reduce((s, [a, b]) => s + b.centre - a.centre, 0) / n;
  const flat = estimates.flat();
  if (flat.some((e) => e.variance === null)) return { value: Math.exp(centre), low: null, high: null };
  const parts = flat.map((e) => e.variance / n ** 2);
  const total = parts.reduce((a, b) => a + b, 0);
  if (total === 0) return { value: Math.exp(centre), low: Math.exp(centre), high: Math.exp(centre) };
  const freedom = total ** 2 / parts.reduce((s, p, i) => s + (p * p) / flat[i].freedom, 0);
  return intervalAround(centre, total, freedom);
}

function verdictOf({ low, high }) {
  if (low === null || high === null) return "undecided";
  if (low >= 1 - MARGIN && high <= 1 + MARGIN) return "same";
  return low > 1 ? "more" : high < 1 ? "less" : "undecided";
}

function heldAgainst(first, other) {
  if (!first.rows.length || !other.rows.length) return [];
  if (first.configurations === 1 && other.configurations === 1) return [[first.rows, other.rows]];
  const only = (group, d) => {
    const values = new Set(group.rows.map((r) => r.row[d] ?? null));
    return values.size === 1 ? [...values][0] : undefined;
  };
  // What they differ in as a whole is what is compared, or comes with it.
  const apart = (d) => only(first, d) !== undefined && only(other, d) !== undefined && only(first, d) !== only(other, d);
  const shared = KEYS.filter((d) => !first.named.has(d) && !other.named.has(d) && !apart(d));
  const by = (group) => groupRows(group.rows, (r) => JSON.stringify(shared.map((d) => r.row[d] ?? null)));
  const [left, right] = [by(first), by(other)];
  return [...left.keys()].filter((k) => right.has(k)).map((k) => [left.get(k), right.get(k)]);
}

function differenceOf(first, other, of) {
  const held = heldAgainst(first, other);
  if (!held.length) {
    const words =
      first.rows.length && other.rows.length ? "nothing to compare: they have no configuration in common" : "no figure";
    return {
      name: other.name,
      ratio: null,
      low: null,
      high: null,
      verdict: "no figure",
      words: `${other.name}: ${words}`,
      basis: "",
    };
  }
  const found = ratioOf(held);
  const plain = verdictOf(found);
  const verdict = VERDICTS[`${plain} ${of.better}`] ?? plain;
  return {
    name: other.name,
    ratio: found.value,
    low: found.low,
    high: found.high,
    verdict,
    words: wordsFor(other, first, found, verdict, of),
    basis: basisOf(held),
  };
}

const short = (value, digits) => String(Number(value.toPrecision(digits)));

function wordsFor(other, first, found, verdict, of) {
  const change = 100 * (found.value - 1);
  const said =
    found.value < 2
      ? `${other.name} has ${short(Math.abs(change), 2)}% ${change >= 0 ? "more" : "less"} ${of.label} than ${first.name}`
      : `${other.name} has ${short(found.value, 3)} times the ${of.label} of ${first.name}`;
  if (found.low === null) return `${verdict}: ${said}; there is no interval to judge it by`;
  return `${verdict}: ${said} (95% interval of the ratio ${short(found.low, 4)} to ${short(found.high, 4)})`;
}

function basisOf(held) {
  const fewest = Math.min(...held.flat().map((side) => side.length));
  const many = held.length > 1 ? `${held.length} configurations that both have; ` : "";
  return fewest === 1
    ? `${many}single runs: the interval covers the steps of a run, not what differs from run to run`
    : `${many}at least ${fewest} runs on each side: the interval covers what differs from run to run`;
}

function betweenGroups(groups, { dimensions }) {
  const section = (name) =>
    ["server", "device", "device_type", "interconnect"].includes(name)
      ? "hardware"
      : ["software", "framework", "framework_version", "runtime"].includes(name)
        ? "software"
        : "configuration";
  const few = (values) =>
    values.length ? values.slice(0, 3).join(", ") + (values.length > 3 ? ` and ${values.length - 3} more` : "") : "-";
  return CONFIGURES.map((name) => [
    name,
    groups.map((g) =>
      [...new Set((g.rows.length ? g.rows.map((r) => r.row) : g.all).map((row) => valueOf(row, name) || "-"))].sort(),
    ),
  ])
    .filter(([, values]) => values.some((v) => JSON.stringify(v) !== JSON.stringify(values[0])))
    .map(([name, values]) => ({ section: section(name), name: dimensions(name).name, values: values.map(few) }));
}

function groupWarnings(group, view) {
  return [
    view.runs.length &&
      group.rows.some((r) => r.row.verdict === "contended") &&
      `${group.name} was contended: something else used the machine`,
    group.configurations > 1 &&
      `${group.name} has ${group.configurations} configurations; only those that both sides have are compared`,
  ].filter(Boolean);
}
