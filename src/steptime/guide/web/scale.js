// The same thing on more and more devices; the same as guide/kinds/scaling.py.

import { byPlaces, dimensionNamed, inOrder } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { faster, steadyFilters, storedFigure } from "./figures.js";
import { linesOf, mostTelling } from "./query.js";
import { reduceRuns } from "./reduce.js";
import { quotient } from "./relative.js";
import { passes, resolvedName, valueOf } from "./rows.js";
import { warning } from "./texts.js";

/** @type {(rows: Row[], view: View) => Scaling} */
export function scaleRows(rows, view) {
  const batch = resolvedName("batch", view.scaling);
  const columns = [...FACTS.matching, batch];
  const gathered = linesOf(view).map((line) => gather(rows, view, line, columns));
  const contended = gathered.reduce((sum, found) => sum + found.contended, 0);
  // What ran on one device only has nothing to say here.
  const lines = gathered.flatMap((found) => found.lines).filter((l) => [...l.shown].some((d) => d !== 1));
  const apart = columns.filter((d) => d !== "backend" && new Set(lines.map((l) => l.values[d])).size > 1);
  const grouped = view.group.map((d) => resolvedName(d, view.scaling)).filter((d) => columns.includes(d));
  const shown = [...new Set([...grouped, ...apart.filter((d) => d !== batch)])];
  const sorting = [...new Set([...shown, batch])];
  const valuesOf = (/** @type {GatheredLine} */ line) => sorting.map((d) => line.values[d]);
  const order = byPlaces(
    sorting.map((d) =>
      inOrder(
        dimensionNamed(d),
        lines.map((l) => l.values[d]),
      ),
    ),
  );
  const kept = lines.sort((a, b) => order(valuesOf(a), valuesOf(b))).slice(0, FACTS.limits.lines);
  const names = namesOf(kept, shown, apart.includes(batch) ? batch : "");
  const made = kept.map((line, i) => lineOf(line, names[i], batch));
  return { view, lines: made, warnings: scalingWarnings(made, lines.length, contended), contended };
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
  /** @type {Map<string, GatheredLine>} */
  const lines = new Map();
  let contended = 0;
  for (const row of reduceRuns(rows.filter(passes(steady, view.scaling)), view)) {
    const shown = growing(row);
    if (!row.replicas || (row.replicas > 1 && !shown)) continue;
    if (row.contended && !view.contended) {
      contended += shown ? row.n : 0;
      continue;
    }
    const values = Object.fromEntries(columns.map((c) => [c, valueOf(row, c)]));
    const key = JSON.stringify(values);
    const line = lines.get(key) ?? { values, named: name, parts: new Map(), statuses: new Map(), shown: new Set() };
    lines.set(key, line);
    addRow(line, row, shown, pick);
  }
  return { lines: [...lines.values()], contended };
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
  line.parts.set(replicas, parts.set(part, faster(parts.get(part), figure)));
}

// The fastest of what was run on so many devices.
/** @type {(line: GatheredLine, devices: number) => Fastest | null} */
function fastestOf(line, devices) {
  const parts = [...(line.parts.get(devices)?.values() ?? [])];
  return parts.length ? parts.reduce((a, b) => (b.value > a.value ? b : a)) : null;
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

/** @type {(line: GatheredLine, devices: number, base: Fastest | null) => ScalingPoint} */
function scaledPoint(line, devices, base) {
  const fastest = fastestOf(line, devices);
  const { value, low, high, runs } = fastest ?? { value: null, low: null, high: null, runs: 0 };
  const alone = { value: 1, low: null, high: null };
  const up = fastest && base ? (devices > 1 ? quotient(fastest, base) : alone) : { ...alone, value: null };
  const share = (/** @type {number | null} */ v) => (v === null ? null : v / devices);
  return {
    devices,
    throughput: value,
    low,
    high,
    ideal: base ? base.value * devices : null,
    speedup: up.value,
    speedup_low: up.low,
    speedup_high: up.high,
    efficiency: share(up.value),
    efficiency_low: share(up.low),
    efficiency_high: share(up.high),
    runs,
    status: fastest ? "ok" : mostTelling(line.statuses.get(devices) ?? {}, 0),
  };
}

/** @type {(made: ScalingLine[], total: number, contended: number) => ChartWarning[]} */
function scalingWarnings(made, total, contended) {
  const alone = made.filter((l) => l.base === null).length;
  return [
    alone ? warning("lines_without_single_device", { n: alone }) : [],
    total > made.length ? warning("lines_cut", { n: total - made.length, total }) : [],
    contended ? warning("contended", { n: contended }) : [],
  ].flat();
}
