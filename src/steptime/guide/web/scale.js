// The same thing on more and more devices; the same as guide/kinds/scaling.py.

import { byPlaces, dimensionNamed, inOrder } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { fastest, matchingText, steadyFilters, steadyLabels, storedFigure } from "./figures.js";
import { linesOf, mostTelling } from "./query.js";
import { reduceRuns } from "./reduce.js";
import { quotient } from "./relative.js";
import { passes, resolvedName, valueOf } from "./rows.js";
import { warning } from "./texts.js";
import { aboveIdeal, listed, mixedVerb, plural } from "./warnings.js";

const LABEL = new RegExp(`^${FACTS.label_name}$`);

// Whether it is a label that an address can name.
/** @type {(name: string) => boolean} */
const isLabel = (name) => name.startsWith(FACTS.label_prefix) && LABEL.test(name.slice(FACTS.label_prefix.length));

/** @type {(rows: Row[], view: View) => Scaling} */
export function scaleRows(rows, view) {
  const batch = resolvedName("batch", view.scaling);
  const columns = [...FACTS.matching, batch];
  const gathered = linesOf(view).map((line) => gather(rows, view, line, columns));
  const sum = (/** @type {"contended" | "unknown"} */ name) => gathered.reduce((n, one) => n + one[name], 0);
  // What ran on one device only has nothing to say here.
  const lines = gathered.flatMap((one) => withBases(one.lines)).filter((l) => [...l.shown].some((d) => d !== 1));
  const labels = [...new Set(lines.flatMap((l) => Object.keys(l.values)))].filter(isLabel).sort();
  const told = [...columns.filter((d) => d !== "backend"), "interconnect", ...labels];
  const valueIn = (/** @type {GatheredLine} */ line, /** @type {string} */ d) => line.values[d] ?? "";
  const apart = told.filter((d) => new Set(lines.map((l) => valueIn(l, d))).size > 1);
  const grouped = view.group.map((d) => resolvedName(d, view.scaling));
  const shown = [...new Set([...grouped, ...apart])].filter((d) => d !== batch && d !== "replicas");
  const sorting = [...shown, batch];
  const orders = sorting.map((d) => inOrder(dimensionNamed(d), lines.map((l) => valueIn(l, d)))); // prettier-ignore
  const order = byPlaces(orders);
  const valuesOf = (/** @type {GatheredLine} */ line) => sorting.map((d) => valueIn(line, d));
  const kept = lines.sort((a, b) => order(valuesOf(a), valuesOf(b))).slice(0, FACTS.limits.lines);
  const names = namesOf(kept, shown, apart.includes(batch) ? batch : "");
  const made = kept.map((line, i) => lineOf(line, names[i], batch));
  const counts = { total: lines.length, contended: sum("contended"), unknown: sum("unknown") };
  return { view, lines: made, warnings: scalingWarnings(made, kept, counts), contended: counts.contended };
}

// Filters on what grows with the number of devices hide points, never the run on one device they are measured against.
/** @type {(rows: Row[], view: View, line: [string, Filters], columns: string[]) => GatheredLines} */
function gather(rows, view, [name, filters], columns) {
  const pick = view.agg === "best" ? "max" : view.agg;
  const steady = steadyFilters(view, filters);
  const growing = passes(
    filters.filter((f) => !steady.includes(f)),
    view.scaling,
  );
  const groups = view.group
    .map((d) => resolvedName(d, view.scaling))
    .filter((d) => ![...columns, "interconnect", "replicas"].includes(d) && !d.startsWith(FACTS.label_prefix));
  /** @type {Map<string, GatheredLine>} */
  const lines = new Map();
  let [contended, unknown] = [0, 0];
  for (const row of reduceRuns(
    rows.filter(passes(steady, view.scaling)),
    view,
    groups.filter((d) => FACTS.of_runs.includes(d)),
  )) {
    const shown = growing(row);
    if (!row.replicas || (row.replicas > 1 && !shown)) continue;
    if (row.contended && !view.contended) contended += shown ? row.n : 0;
    else if (!valueOf(row, "batch", view.scaling)) unknown += shown && row.replicas > 1 ? row.n : 0;
    else addRow(lineAt(lines, row, name, columns, groups), row, shown, pick);
  }
  return { lines: [...lines.values()], contended, unknown };
}

// The line that a row belongs to. `alike` is what the run on one device must share with it, the interconnect aside.
/** @type {(lines: Map<string, GatheredLine>, row: Row, named: string, columns: string[], groups: string[]) => GatheredLine} */
function lineAt(lines, row, named, columns, groups) {
  const matching = columns.map((c) => matchingText(row, c));
  const interconnect = valueOf(row, "interconnect");
  const labels = steadyLabels(row);
  const own = groups.map((d) => valueOf(row, d));
  const key = JSON.stringify([matching, labels, interconnect, own]);
  const line = lines.get(key) ?? {
    alike: JSON.stringify([matching, labels, own.filter((_, i) => !FACTS.growing.includes(groups[i]))]),
    values: {
      ...Object.fromEntries(columns.map((c, i) => [c, matching[i]])),
      interconnect,
      ...Object.fromEntries(labels.map(([label, value]) => [FACTS.label_prefix + label, value])),
      ...Object.fromEntries(groups.map((d, i) => [d, own[i]])),
    },
    named,
    parts: new Map(),
    statuses: new Map(),
    shown: new Set(),
    mixes: new Map(),
  };
  lines.set(key, line);
  return line;
}

/** @type {(line: GatheredLine, row: RollupRow, shown: boolean, pick: string) => void} */
function addRow(line, row, shown, pick) {
  const { replicas, status, n } = row;
  if (shown) line.shown.add(replicas);
  const statuses = line.statuses.get(replicas) ?? {};
  line.statuses.set(replicas, { ...statuses, [status]: (statuses[status] ?? 0) + n });
  const figure = storedFigure(row.runs, "throughput", pick);
  if (status !== "ok" || figure.value === null) return;
  const parts = line.parts.get(replicas) ?? new Map();
  const part = `${shown}|${row.contended}`;
  line.parts.set(replicas, parts.set(part, [...(parts.get(part) ?? []), figure]));
  const mixes = line.mixes.get(replicas) ?? FACTS.scaling_mixes.map(() => new Set());
  FACTS.scaling_mixes.forEach((d, i) => valueOf(row, d) && mixes[i].add(valueOf(row, d)));
  line.mixes.set(replicas, mixes);
}

// Lines without a run on one device get that of the same thing without an interconnect, or in another of the groups.
/** @type {(lines: GatheredLine[]) => GatheredLine[]} */
function withBases(lines) {
  /** @type {Map<string, GatheredLine>} */
  const bases = new Map();
  const speed = (/** @type {GatheredLine | undefined} */ line) => (line && fastestOf(line, 1)?.value) ?? -Infinity;
  const keyOf = (/** @type {GatheredLine} */ line, interconnect = line.values.interconnect) => `${line.alike}|${interconnect}`;
  for (const line of lines) if (line.parts.has(1) && speed(line) > speed(bases.get(keyOf(line)))) bases.set(keyOf(line), line);
  const unbased = lines.filter((line) => !line.parts.has(1));
  for (const line of unbased) {
    const base = bases.get(keyOf(line)) ?? bases.get(keyOf(line, ""));
    if (!base) continue;
    line.parts.set(1, base.parts.get(1) ?? new Map());
    line.statuses.set(1, base.statuses.get(1) ?? {});
    if (base.shown.has(1)) line.shown.add(1);
  }
  return lines;
}

// The fastest of what was run on so many devices.
/** @type {(line: GatheredLine, devices: number) => (Estimated & { runs: number }) | null} */
function fastestOf(line, devices) {
  const parts = [...(line.parts.get(devices)?.values() ?? [])];
  const figures = parts.map((list) => ({ ...fastest(list), runs: list.reduce((n, { count }) => n + count, 0) }));
  return figures.length ? figures.reduce((a, b) => ((b.value ?? 0) > (a.value ?? 0) ? b : a)) : null;
}

// Without what is not known, unless two would then have one name.
/** @type {(lines: GatheredLine[], shown: string[], batch: string) => string[]} */
function namesOf(lines, shown, batch) {
  const name = (/** @type {GatheredLine} */ line, /** @type {string} */ unknown) => {
    const size = batch && (line.values[batch] || unknown);
    const values = shown.map((d) => line.values[d] || unknown);
    const parts = [line.named, ...values, size && `batch ${size}`].filter(Boolean);
    return parts.join(", ") || (shown.length ? "unknown" : "");
  };
  const short = lines.map((l) => name(l, ""));
  return new Set(short).size === short.length ? short : lines.map((l) => name(l, "unknown"));
}

/** @type {(line: GatheredLine, name: string, batch: string) => ScalingLine} */
function lineOf(line, name, batch) {
  const base = fastestOf(line, 1);
  const devices = [...line.shown].sort((a, b) => a - b);
  const points = devices.map((d) => scaledPoint(line, d, base));
  return { series: name, batch: Number(line.values[batch] || 0), points, base: base?.value ?? null };
}

/** @type {(line: GatheredLine, devices: number, base: Estimated | null) => ScalingPoint} */
function scaledPoint(line, devices, base) {
  const best = fastestOf(line, devices);
  const { value, low, high, runs } = best ?? { value: null, low: null, high: null, runs: 0 };
  const alone = { value: 1, low: null, high: null };
  const up = best && base ? (devices > 1 ? quotient(best, base) : alone) : { ...alone, value: null };
  const share = (/** @type {number | null} */ v) => (v === null ? null : v / devices);
  return {
    devices,
    throughput: value,
    low,
    high,
    ideal: base?.value ? base.value * devices : null,
    speedup: up.value,
    speedup_low: up.low,
    speedup_high: up.high,
    efficiency: share(up.value),
    efficiency_low: share(up.low),
    efficiency_high: share(up.high),
    runs,
    status: best ? "ok" : mostTelling(line.statuses.get(devices) ?? {}, 0),
  };
}

/** @type {(made: ScalingLine[], kept: GatheredLine[], counts: ScalingCounts) => ChartWarning[]} */
function scalingWarnings(made, kept, { total, contended, unknown }) {
  const alone = made.filter((l) => l.base === null).length;
  const points = kept.flatMap((line) => [...line.shown].map((devices) => line.mixes.get(devices) ?? []));
  const most = FACTS.scaling_mixes.map((_, i) => Math.max(0, ...points.map((mixes) => mixes[i]?.size ?? 0)));
  const values = FACTS.scaling_mixes.flatMap((d, i) => (most[i] > 1 ? [`${most[i]} ${plural(d)}`] : []));
  return [
    values.length ? warning("mixed", { verb: mixedVerb("best"), values: listed(values) }) : [],
    alone ? warning("lines_without_single_device", { n: alone }) : [],
    aboveIdeal(made.flatMap((l) => l.points.map((p) => p.efficiency))),
    unknown ? warning("unknown_batch", { n: unknown }) : [],
    total > made.length ? warning("lines_cut", { n: total - made.length, total }) : [],
    contended ? warning("contended", { n: contended }) : [],
  ].flat();
}
