// Vega-Lite from answers. Names have their own order, what failed is marked and never drawn as zero, logarithmic axes have
// points instead of bars (a bar from nowhere says nothing), and colours come with shapes.

export const PALETTE = ["#2f6fdf", "#e08a00", "#0b9b72", "#d1495b", "#8e5bd0", "#1a9cc7", "#a3742a", "#d65fa8", "#6b7a8f", "#7a9a01"];
const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"];
const FORMATS = { percent: "~%", bytes: ".3~s", ratio: "~r", number: ",.12~g" };
const MARKS = { contended: "≈", "not run": "", "no figure": "", "no baseline": "" };

const seriesScale = (names) => ({ domain: names, range: names.map((_, i) => PALETTE[i % PALETTE.length]) });
const shapeScale = (names) => ({ domain: names, range: names.map((_, i) => SHAPES[i % SHAPES.length]) });

export function seriesColours(result) {
  return Object.fromEntries(result.series.map((name, i) => [name, PALETTE[i % PALETTE.length]]));
}

// One chart for each facet, all with the same vertical axis, so that they can be compared.
export function chartSpecs(result, { dimensions, measures }) {
  const facets = result.facets.length ? result.facets : [""];
  const shared = { result, of: dimensions(result.view.x), measure: shownAs(result, measures), extent: extentOf(result.points) };
  return facets.map((facet) => ({ facet, spec: chartSpec(shared, facet, dimensions) }));
}

function shownAs(result, measures) {
  const measure = measures.find((m) => m.name === result.view.y);
  if (result.view.baseline) return { ...measure, title: `${measure.label}, relative to ${result.view.baseline}`, form: "ratio" };
  return { ...measure, title: measure.unit && measure.form === "number" ? `${measure.label} (${measure.unit})` : measure.label };
}

function extentOf(points) {
  const values = points.flatMap((p) => [p.value, p.low, p.high]).filter((v) => v !== null && Number.isFinite(v));
  return values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
}

function chartSpec(shared, facet, dimensions) {
  const { result, of } = shared;
  const rows = result.points.filter((p) => p.facet === facet || !result.view.facet).map((p) => ({
    x: of.kind === "number" ? Number(p.x) : p.x, series: p.series, facet: p.facet, value: p.value, low: p.low, high: p.high, mark: p.value === null ? MARKS[p.status] ?? "✕" : "",
  }));
  const layer = of.kind === "text" ? namedLayers(shared, rows) : lineLayers(shared, rows);
  const many = result.series.length > 1 || result.series[0] !== "";
  const title = result.view.series.length ? null : result.view.group.map((g) => dimensions(g).label).join(", ") || null;
  return { data: { values: rows }, encoding: {}, layer: layer.map((l) => withLegend(l, many, title)) };
}

// The same legend in every layer, or Vega-Lite drops it.
function withLegend(one, many, title) {
  for (const channel of ["color", "shape"]) {
    if (one.encoding[channel]) one.encoding[channel].legend = many ? { title, orient: "top", columns: 6, symbolOpacity: 1 } : null;
  }
  return one;
}

function vertical({ result, measure, extent }, bars) {
  const log = result.view.log.includes("y");
  const [low, high] = extent;
  const scale = log ? { type: "log", domain: [Math.max(low, high / 1e9) * 0.8, high * 1.25], nice: false } : bars || low >= 0 ? { domain: [0, high * 1.04 || 1], nice: true } : {};
  const format = measure.form === "bytes" ? { format: FORMATS.bytes } : { format: FORMATS[measure.form] ?? FORMATS.number };
  return { field: "value", type: "quantitative", title: measure.title, scale, axis: { ...format, tickCount: 7, grid: true, domain: false, ticks: false } };
}

function namedLayers(shared, rows) {
  const { result, of } = shared;
  const { xs, series, view } = result;
  const pointwise = view.log.includes("y") || Boolean(view.baseline);
  const longest = Math.max(...xs.map((x) => x.length), 1);
  const x = {
    field: "x", type: "nominal", title: of.label, scale: { domain: xs, paddingInner: xs.length < 4 ? 0.45 : 0.22, paddingOuter: 0.12 },
    axis: { labelAngle: xs.length * longest > 95 ? -30 : 0, labelLimit: 190, ticks: false, grid: false, labelExpr: "datum.label == '' ? '(none)' : datum.label" },
  };
  const xOffset = { field: "series", type: "nominal", scale: { domain: series, paddingInner: series.length > 1 ? 0.06 : 0 } };
  const y = vertical(shared, !pointwise);
  const color = { field: "series", type: "nominal", scale: seriesScale(series) };
  const known = { filter: "datum.value !== null" };
  const body = pointwise
    ? { mark: { type: "point", filled: true, size: 95, opacity: 1 }, encoding: { x, xOffset, y, color, shape: { field: "series", type: "nominal", scale: shapeScale(series) } }, transform: [known] }
    : { mark: { type: "bar", cornerRadiusEnd: 3 }, encoding: { x, xOffset, y, color }, transform: [known] };
  const ends = { mark: { type: "rule", strokeWidth: 1.6 }, transform: [{ filter: "datum.low !== null && datum.value !== null" }],
    encoding: { x, xOffset, y: { ...y, field: "low" }, y2: { field: "high" }, ...(pointwise ? { color: { ...color } } : {}) } };
  const failed = { mark: { type: "text", baseline: "bottom", dy: -3, fontSize: 13, fontWeight: 700, color: "#c33a31" }, transform: [{ filter: "datum.mark !== ''" }],
    encoding: { x, xOffset, y: { value: "height" }, text: { field: "mark" } } };
  const one = view.baseline ? [reference(1)] : [];
  return [...one, body, ...(hasEnds(rows) ? [ends] : []), ...(rows.some((r) => r.mark) ? [failed] : [])];
}

// One line, not one for each row.
const reference = (at) => ({ data: { values: [{}] }, mark: { type: "rule", strokeDash: [5, 4], opacity: 0.55 }, encoding: { y: { datum: at } } });

// A layer without rows would be an axis without an extent.
const hasEnds = (rows) => rows.some((r) => r.low !== null && r.value !== null);

function lineLayers(shared, rows) {
  const { result, of } = shared;
  const { xs, series, view } = result;
  const date = of.kind === "date";
  const log = view.log.includes("x") && !date;
  const numbers = xs.map(Number).filter((v) => !log || v > 0);
  const x = date ? { field: "x", type: "temporal", title: of.label, scale: { type: "utc" }, axis: { grid: false, format: "%Y-%m-%d", labelOverlap: true, tickCount: Math.min(8, xs.length) } }
    : { field: "x", type: "quantitative", title: of.label, scale: { type: log ? "log" : "linear", zero: false, nice: false, padding: 24 }, axis: { grid: false, format: "~r", ...(numbers.length <= 14 ? { values: numbers, labelOverlap: true } : {}) } };
  const y = vertical(shared, false);
  const color = { field: "series", type: "nominal", scale: seriesScale(series) };
  const usable = log ? "datum.value !== null && datum.x > 0" : "datum.value !== null";
  return [
    ...(view.baseline ? [reference(1)] : []),
    { mark: { type: "line", strokeWidth: 2.2, opacity: 0.9 }, transform: [{ filter: usable }], encoding: { x, y, color: { ...color } } },
    ...(hasEnds(rows) ? [{ mark: { type: "rule", strokeWidth: 1.6, opacity: 0.75 }, transform: [{ filter: `${usable} && datum.low !== null` }], encoding: { x, y: { ...y, field: "low" }, y2: { field: "high" }, color: { ...color } } }] : []),
    { mark: { type: "point", filled: true, size: 72, opacity: 1 }, transform: [{ filter: usable }], encoding: { x, y, color, shape: { field: "series", type: "nominal", scale: shapeScale(series) } } },
    ...(rows.some((r) => r.mark) ? [{ mark: { type: "text", baseline: "bottom", dy: -3, fontSize: 13, fontWeight: 700, color: "#c33a31" }, transform: [{ filter: "datum.mark !== ''" }], encoding: { x, y: { value: "height" }, text: { field: "mark" } } }] : []),
  ];
}

// Throughput with its ideal, speed-up with its ideal, efficiency with 100%.
export function scalingSpecs(scaling) {
  const names = scaling.lines.map((l) => l.series || `batch ${l.batch}`);
  const rows = scaling.lines.flatMap((l, i) => l.points.map((p) => ({ devices: p.devices, series: names[i], throughput: p.throughput, throughput_low: p.low, throughput_high: p.high, ideal: p.ideal, speedup: p.speedup, speedup_low: p.speedup_low, speedup_high: p.speedup_high, efficiency: p.efficiency, efficiency_low: p.efficiency_low, efficiency_high: p.efficiency_high })));
  const devices = [...new Set(rows.map((r) => r.devices))].sort((a, b) => a - b);
  const make = (field, title, format, ideal, columns) => {
    const known = rows.filter((r) => r[field] !== null);
    if (!known.length) return null;
    const x = { field: "devices", type: "quantitative", title: "devices", scale: { nice: false, zero: false, padding: 20 }, axis: { values: devices, grid: false, format: "d" } };
    const y = { field, type: "quantitative", title, scale: { zero: true }, axis: { format, domain: false, ticks: false, tickCount: 6 } };
    const legend = names.length > 1 && (field === "throughput" || names.length < 5) ? { title: null, orient: "top", columns, labelLimit: 320, symbolOpacity: 1 } : null;
    const color = { field: "series", type: "nominal", scale: seriesScale(names), legend };
    return { data: { values: rows }, layer: [
      ...ideal.map((l) => (l.encoding.x === undefined ? l : { ...l, encoding: { ...l.encoding, x, color: l.encoding.color && color } })),
      { mark: { type: "line", strokeWidth: 2.2 }, transform: [{ filter: `datum.${field} !== null` }], encoding: { x, y, color } },
      ...(rows.some((r) => r[`${field}_low`] !== null) ? [{ mark: { type: "rule", strokeWidth: 1.5, opacity: 0.75 }, transform: [{ filter: `datum.${field}_low !== null` }], encoding: { x, y: { ...y, field: `${field}_low` }, y2: { field: `${field}_high` }, color } }] : []),
      { mark: { type: "point", filled: true, size: 72, opacity: 1 }, transform: [{ filter: `datum.${field} !== null` }], encoding: { x, y, color, shape: { field: "series", type: "nominal", scale: shapeScale(names), legend } } },
    ] };
  };
  const dashed = { type: "line", strokeDash: [5, 4], opacity: 0.6, strokeWidth: 1.5 };
  return {
    throughput: make("throughput", "samples/s", ",.12~g", !rows.some((r) => r.ideal !== null) ? [] : [{ mark: dashed, transform: [{ filter: "datum.ideal !== null" }], encoding: { x: 1, y: { field: "ideal", type: "quantitative" }, color: 1 } }], 3),
    speedup: make("speedup", "speed-up", "~r", [{ mark: dashed, encoding: { x: 1, y: { field: "devices", type: "quantitative" } } }], 2),
    efficiency: make("efficiency", "efficiency", "~%", [reference(1)], 2),
  };
}

// Every step, warm-up apart; `steps` are [number, milliseconds].
export function stepsSpec(record, steps) {
  const start = record.steps.steady_start;
  const values = steps.map(([step, ms]) => ({ step, ms, part: step <= start ? "warm-up" : "steady" }));
  const steady = values.filter((v) => v.part === "steady").map((v) => v.ms).sort((a, b) => a - b);
  const middle = steady.length ? steady[steady.length >> 1] : null;
  const color = { field: "part", type: "nominal", title: null, scale: { domain: ["warm-up", "steady"], range: [PALETTE[1], PALETTE[0]] }, legend: { orient: "top-right" } };
  return { data: { values }, layer: [
    ...(start > 0 ? [{ data: { values: [{}] }, mark: { type: "rect", opacity: 0.12, color: PALETTE[1] }, encoding: { x: { datum: 0.5, type: "quantitative" }, x2: { datum: start + 0.5 } } }] : []),
    { mark: { type: "point", filled: true, size: steps.length > 150 ? 14 : 30, opacity: 0.85 }, encoding: { x: { field: "step", type: "quantitative", title: "step", scale: { nice: false }, axis: { grid: false, tickCount: 10, format: "d" } }, y: { field: "ms", type: "quantitative", title: "ms", scale: { zero: true }, axis: { domain: false, ticks: false, tickCount: 5 } }, color } },
    ...(middle === null ? [] : [reference(middle)]),
  ] };
}

export function histogramSpec(record, steps) {
  const ms = steps.filter(([step]) => step > record.steps.steady_start).map(([, v]) => v);
  if (ms.length < 2) return null;
  const [low, high] = [Math.min(...ms), Math.max(...ms)];
  const bins = Math.max(5, Math.min(30, Math.ceil(2 * Math.cbrt(ms.length))));
  const width = (high - low) / bins || 1;
  const values = Array.from({ length: bins }, (_, i) => ({ from: low + i * width, to: low + (i + 1) * width, steps: 0 }));
  for (const v of ms) values[Math.min(bins - 1, Math.floor((v - low) / width))].steps++;
  return { data: { values }, mark: { type: "rect", color: PALETTE[0], stroke: null }, encoding: {
    x: { field: "from", type: "quantitative", title: "ms per step", axis: { grid: false, tickCount: 5 }, scale: { zero: false, nice: false } }, x2: { field: "to" },
    y: { field: "steps", type: "quantitative", title: "steps", axis: { domain: false, ticks: false, tickCount: 4, format: "d" } }, y2: { datum: 0 },
  } };
}
