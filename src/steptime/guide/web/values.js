// What an answer puts into the explorer's chart, in the single-file report; the same as guide/kinds/chart.py, which
// does this on the server.

import { dimensionNamed, measureNamed } from "./dimensions.js";
import { FACTS } from "./facts.js";
import { TEMPLATES } from "./templates.js";
import { drawnXs } from "./warnings.js";
import { configurationText, headingOf, subtitleOf, unitOf } from "./words.js";

const GEOMETRIC_MEAN = "geometric mean";
export const UNKNOWN_VALUE = "unknown";
const LIMITS = TEMPLATES.limits;

/** @type {(status: string) => string} */
export const plainStatus = (status) => status.replaceAll("_", " ");
/** @type {(result: Result) => boolean} */
const isFaceted = (result) => Boolean(result.view.facet) && result.facets.length > 1;
/** @type {(result: Result) => boolean} */
const isNamed = (result) => dimensionNamed(result.view.x).kind === "text";
/** @type {<T>(values: T[]) => T[]} */
export const distinct = (values) => [...new Set(values)];

/** @type {(result: Result) => Row[]} */
function chartRows(result) {
  const { view } = result;
  const [numeric, faceted, label] = [dimensionNamed(view.x).kind === "number", isFaceted(result), measureNamed(view.y).label];
  const inFacet = (/** @type {Row} */ row, /** @type {string} */ facet) =>
    faceted ? { ...row, facet: facet || UNKNOWN_VALUE } : row;
  const [shown, xs] = [new Set(result.facets.slice(0, FACTS.limits.facets)), new Set(drawnXs(result))];
  const rows = result.points
    .map((p, point) => ({ ...p, point }))
    .filter((p) => shown.has(p.facet) && xs.has(p.x))
    .map((p) => {
      const mixes = Object.entries(p.mixes)
        .map(([name, n]) => `${n} × ${dimensionNamed(name).label}`)
        .join(", ");
      const row = {
        x: numeric ? Number(p.x) : p.x || UNKNOWN_VALUE,
        series: p.series || label,
        value: p.value,
        low: p.low,
        high: p.high,
        runs: p.runs,
        status: plainStatus(p.status),
        point: p.point,
      };
      const mixed = p.configurations > 1 && mixes ? { ...row, mixes } : row;
      const configuration = configurationText(p.configuration);
      return inFacet(configuration ? { ...mixed, configuration } : mixed, p.facet);
    });
  const means = isNamed(result) ? (result.means ?? []).filter((m) => shown.has(m.facet)) : [];
  return [
    ...rows,
    ...means.map((m) =>
      inFacet(
        {
          x: GEOMETRIC_MEAN,
          series: m.series || label,
          value: m.value,
          low: null,
          high: null,
          runs: m.n,
          status: `over ${m.n} of ${m.of}`,
        },
        m.facet,
      ),
    ),
  ];
}

/** @type {(view: View) => string} */
function chosenWords(view) {
  return view.filters
    .map(([name, values]) => `${dimensionNamed(name).label}: ${values.slice(0, 3).join(", ")}${values.length > 3 ? " …" : ""}`)
    .join(" · ")
    .slice(0, 160);
}

/** @type {(result: Result) => Row} */
export function chartValues(result) {
  const { view } = result;
  const [of, by, relative, log] = [
    measureNamed(view.y),
    dimensionNamed(view.x),
    Boolean(view.baseline),
    (/** @type {string} */ axis) => view.log.includes(axis),
  ];
  const [rows, named, faceted] = [chartRows(result), isNamed(result), isFaceted(result)];
  const series = result.series.map((s) => s || of.label);
  const xs =
    by.kind === "number"
      ? result.xs.map(Number)
      : [...drawnXs(result).map((x) => x || UNKNOWN_VALUE), ...(named && result.means?.length ? [GEOMETRIC_MEAN] : [])];
  const unit = relative ? `× ${view.baseline}` : of.form === "number" ? unitOf(result) : "";
  const without = rows.filter((r) => r.value === null || (log("y") && r.value <= 0)).length;
  const wide = faceted ? "child_width" : "width";
  const letters = named ? Math.max(0, ...xs.map((x) => [...String(x)].length)) * xs.length : 0;
  return {
    rows,
    xs,
    series,
    facets: result.facets.slice(0, FACTS.limits.facets).map((f) => f || UNKNOWN_VALUE),
    heading: headingOf(view),
    subtitle: [subtitleOf(view, result), chosenWords(view)].filter(Boolean),
    x_title: by.label,
    y_title: unit ? `${of.label} (${unit})` : of.label,
    legend_title: view.group.map((d) => dimensionNamed(d).label).join(", ") || null,
    named,
    dated: by.kind === "date",
    faceted,
    relative,
    many: series.length > 1,
    legend: series.length > 1 || (series.length === 1 && series[0] !== of.label),
    bars: named && !log("y") && rows.length <= LIMITS.bars,
    log_x: log("x") && by.kind === "number" && xs.length > 0 && xs.every((x) => Number(x) > 0),
    log_y: log("y"),
    flat: !rows.some((r) => r.value),
    few: xs.length <= LIMITS.ticks,
    intervals: rows.some((r) => r.low !== null),
    gaps: without > 0 && (!named || without <= LIMITS.words),
    percent: of.form === "percent" && !relative,
    bytes: of.form === "bytes" && !relative,
    ratio: of.form === "ratio" || relative,
    slanted: `${wide} < ${Math.ceil(LIMITS.letter * letters)}`,
    roomy: `${wide} >= ${LIMITS.room * xs.length * series.length}`,
    crowded: `${wide} < ${LIMITS.line * xs.length}`,
  };
}

// The size of a chart where nobody chooses one.
/** @type {(result: Result) => Row} */
export function chartSize(result) {
  const many = drawnXs(result).length;
  if (isFaceted(result))
    return { columns: 3, width: many < 12 ? 300 : 420, height: 220, entries: legendEntries(1000, result.series) };
  const places = many + (isNamed(result) && result.means?.length ? 1 : 0);
  const width = Math.min(Math.max(Math.max(places, 1) * Math.max(result.series.length, 1) * LIMITS.room + 60, 420), 1000);
  return { columns: 1, width, height: 320, entries: legendEntries(width, result.series) };
}

/** @type {(width: number, names: string[]) => number} */
export const legendEntries = (width, names) =>
  Math.max(1, Math.floor(width / (7 * Math.min(Math.max(4, ...names.map((n) => [...n].length)), LIMITS.name) + 34)));

/** @type {(columns: Record<string, any[]>) => Row[]} */
export function byRow(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, i) => Object.fromEntries(names.map((name) => [name, columns[name][i]])));
}
