// The same thing on more and more devices; the same as guide/scaling.py.

import { baseFilters, storedFigure } from "./figures.js";
import { linesOf, mostTelling, reduceRuns, resolved } from "./query.js";
import { inOrder, passes, valueOf } from "./rows.js";
import { countedWords, leftOut } from "./warnings.js";

const MATCHED = [
  "model",
  "phase",
  "framework",
  "framework_version",
  "backend",
  "runtime",
  "precision",
  "device",
  "threads",
  "optimizer",
  "data",
  "data_store",
  "origin",
];
const MOST_LINES = 20;

export function scaleRows(data, view) {
  const columns = [...MATCHED, resolved(view, "batch")];
  let contended = 0;
  let lines = [];
  for (const [name, filters] of linesOf(data, view)) {
    const found = gather(data, view, name, filters, columns);
    lines.push(...found.lines);
    contended += found.contended;
  }
  lines = lines.filter((l) => [...l.shown].some((d) => d !== 1)); // what ran on one device only has nothing to say here
  const apart = columns.filter((d) => d !== "backend" && new Set(lines.map((l) => l.values[d])).size > 1);
  const batch = resolved(view, "batch");
  const shown = view.group.filter((d) => columns.includes(resolved(view, d)));
  const already = new Set(shown.map((s) => resolved(view, s)));
  shown.push(...apart.filter((d) => !already.has(d) && d !== batch));
  const order = [...new Set([...shown, batch])].map((d) => [
    resolved(view, d),
    inOrder(
      data.dimensions(d),
      lines.map((l) => l.values[resolved(view, d)]),
    ),
  ]);
  lines.sort((a, b) => order.map(([d, list]) => list.indexOf(a.values[d]) - list.indexOf(b.values[d])).find((v) => v) ?? 0);
  const kept = lines.slice(0, MOST_LINES);
  const names = namesOf(view, kept, shown, apart.includes(batch), batch);
  const made = kept.map((l, i) => lineOf(l, names[i], batch));
  return { view, lines: made, warnings: scalingWarnings(made, lines.length, contended), contended };
}

// Filters on what grows with the number of devices hide points, never the run on one device they are measured against.
function gather(data, view, name, filters, columns) {
  const pick = view.agg === "best" ? "max" : view.agg;
  const steady = baseFilters({ ...view, filters });
  const growing = passes(
    filters.filter((f) => !steady.includes(f)),
    data.dimensions,
    view.scaling,
  );
  const lines = new Map();
  let contended = 0;
  for (const row of reduceRuns(data.rows.filter(passes(steady, data.dimensions, view.scaling)), view, [])) {
    const shown = growing(row);
    if (!row.replicas || (row.replicas > 1 && !shown)) continue;
    if (row.contended && !view.contended) {
      contended += shown ? row.n : 0;
      continue;
    }
    const values = Object.fromEntries(columns.map((c) => [c, valueOf(row, c, view.scaling)]));
    const key = JSON.stringify(values);
    if (!lines.has(key))
      lines.set(key, { values, named: name, parts: new Map(), points: new Map(), endings: new Map(), shown: new Set() });
    const line = lines.get(key);
    if (shown) line.shown.add(row.replicas);
    const endings = line.endings.get(row.replicas) ?? {};
    line.endings.set(row.replicas, { ...endings, [row.status]: (endings[row.status] ?? 0) + row.n });
    const f = row.status === "ok" ? storedFigure(row.runs, "throughput", pick) : { value: null };
    if (f.value === null) continue;
    const part = `${shown}|${row.replicas}|${row.contended}`;
    const now = line.parts.get(part) ?? {
      devices: row.replicas,
      value: -Infinity,
      low: null,
      high: null,
      at: -Infinity,
      runs: 0,
    };
    now.runs += f.count;
    now.value = Math.max(now.value, f.value);
    if (f.low !== null && f.value > now.at) Object.assign(now, { low: f.low, high: f.high, at: f.value });
    line.parts.set(part, now);
  }
  for (const line of lines.values()) {
    for (const p of line.parts.values()) if (!(line.points.get(p.devices)?.value >= p.value)) line.points.set(p.devices, p);
  }
  return { lines: [...lines.values()], contended };
}

/** Without what is not known, unless two would then have one name. */
function namesOf(view, lines, shown, batches, batch) {
  const name = (line, unknown) => {
    const values = shown.map((d) => line.values[resolved(view, d)] || unknown);
    const size = line.values[batch] || unknown;
    return (
      [line.named, ...values, batches && size ? `batch ${size}` : ""].filter(Boolean).join(", ") ||
      (shown.length ? "unknown" : "")
    );
  };
  const short = lines.map((l) => name(l, ""));
  return new Set(short).size === short.length ? short : lines.map((l) => name(l, "unknown"));
}

function lineOf(line, name, batch) {
  const size = line.values[batch];
  const base = line.points.get(1) ?? null;
  const devices = [...line.shown].sort((a, b) => a - b);
  return {
    series: name,
    batch: Number(size || 0),
    points: devices.map((d) => scaledPoint(line, d, base)),
    base: base?.value ?? null,
  };
}

function scaledPoint(line, devices, base) {
  const p = line.points.get(devices);
  const bare = {
    devices,
    throughput: null,
    low: null,
    high: null,
    ideal: base ? base.value * devices : null,
    speedup: null,
    speedup_low: null,
    speedup_high: null,
    efficiency: null,
    efficiency_low: null,
    efficiency_high: null,
    runs: 0,
    status: "ok",
  };
  if (!p) return { ...bare, status: mostTelling(line.endings.get(devices) ?? {}, 0) };
  const point = { ...bare, throughput: p.value, low: p.low, high: p.high, runs: p.runs };
  if (!base) return point;
  const up = devices > 1 ? against(p, base) : [1, null, null];
  const share = up.map((u) => (u === null ? null : u / devices));
  return {
    ...point,
    speedup: up[0],
    speedup_low: up[1],
    speedup_high: up[2],
    efficiency: share[0],
    efficiency_low: share[1],
    efficiency_high: share[2],
  };
}

function against(p, base) {
  const value = p.value / base.value;
  if ([p.low, p.high, base.low, base.high].some((v) => v === null) || Math.min(p.low, base.low) <= 0) return [value, null, null];
  const down = Math.hypot(Math.log(p.value / p.low), Math.log(base.high / base.value));
  const up = Math.hypot(Math.log(p.high / p.value), Math.log(base.value / base.low));
  return [value, value * Math.exp(-down), value * Math.exp(up)];
}

function scalingWarnings(made, total, contended) {
  const alone = made.filter((l) => l.base === null).length;
  return [
    alone && `${countedWords(alone, "line", "have")} no run on one device, so no speed-up, no efficiency and no ideal line`,
    total > made.length && `${total - made.length} of ${total} lines are not shown; filter to choose`,
    contended && leftOut(contended),
  ].filter(Boolean);
}
