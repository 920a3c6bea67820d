// Coverage: which combinations have been measured, which failed, and which nobody has tried.

import { chips, dimensionOptions, pick } from "../ask.js";
import { empty, firstSteps, problem } from "../chart.js";
import { byPlaces, dimensionNamed, inOrder, labelOf } from "../dimensions.js";
import { h, replace } from "../dom.js";
import { FACTS } from "../facts.js";
import { statusWords } from "../format.js";
import { mostTelling } from "../query.js";
import { groupRows } from "../reduce.js";
import { accepts, passes, valueOf } from "../rows.js";
import { withFilter } from "../state.js";
import { sayText } from "../texts.js";
import { distinct, plainStatus, UNKNOWN_VALUE } from "../values.js";

const COVERAGE = FACTS.kinds.coverage.texts;

/** @type {ViewKind<Coverage>} */
export const coverageKind = {
  tab: { label: "Coverage", place: 3 },
  page: coveragePage,
  answer: ({ rows }, view) => coverRows(rows, view),
  title: ({ of, view }) => sayText(COVERAGE.title, { rows: of.map(labelOf).join(" / "), x: labelOf(view.x) }),
  subtitle: ({ cells, counts }) => sayText(COVERAGE.subtitle, { ok: counts.ok ?? 0, total: cells.length }),
  values: coverageValues,
  size: () => ({}),
  rows: ({ cells }) => cells,
};

/** @type {(app: App) => Page} */
function coveragePage(app) {
  const ask = h("div");
  const narrowed = h("div");
  const stage = h("section", { class: "card" }, h("p", { class: "starting" }, "Counting…"));
  return {
    main: h("div", null, ask, narrowed, stage),
    side: true,
    ready(view) {
      const dims = dimensionOptions(app);
      replace(
        ask,
        h(
          "div",
          { class: "ask", role: "group", "aria-label": "What the matrix shows" },
          h("span", null, "What has been measured of each"),
          pick(
            "ask/group0",
            "Rows",
            dims.filter(([n]) => n !== view.x),
            view.group[0] ?? "framework",
            (g) => app.go({ group: [g] }),
            null,
          ),
          h("span", null, "with each"),
          pick(
            "ask/x",
            "Columns",
            dims.filter(([n]) => n !== (view.group[0] ?? "framework")),
            view.x,
            (x) => app.go({ x, range: [] }),
            null,
          ),
        ),
      );
      replace(narrowed, chips(app));
      stage.classList.add("busy");
    },
    async show({ answer: coverage, title, subtitle }) {
      stage.classList.remove("busy");
      replace(stage, app.meta.runs ? matrix(app, coverage, title, subtitle) : firstSteps(app));
    },
    fail: (error) => replace(stage, problem(error)),
    redraw() {},
  };
}

/** @type {(app: App, coverage: Coverage, title: string, subtitle: string) => any} */
function matrix(app, coverage, title, subtitle) {
  if (!coverage.cells.length) return empty("No runs match", "Remove a filter to see what there is.");
  const cells = new Map(coverage.cells.map((c) => [JSON.stringify([c.row, c.x]), c]));
  const most = Math.max(1, ...coverage.cells.map((c) => c.statuses.ok ?? 0));
  return [
    h("header", null, h("div", null, h("h1", null, title), h("p", null, subtitle + summary(coverage))), key()),
    h(
      "div",
      { class: "body table-wrap" },
      h(
        "table",
        { class: "matrix" },
        h("caption", { class: "visually-hidden" }, "Runs of each combination"),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("td"),
            coverage.xs.map((x) => h("th", { scope: "col" }, x || "unknown")),
          ),
        ),
        h(
          "tbody",
          null,
          coverage.rows.map((row) =>
            h(
              "tr",
              null,
              h("th", { scope: "row", title: row }, row || "unknown"),
              coverage.xs.map((x) => h("td", null, cellOf(app, coverage, cells.get(JSON.stringify([row, x])), row, x, most))),
            ),
          ),
        ),
      ),
    ),
  ];
}

/** @type {(coverage: Coverage) => string} */
function summary(coverage) {
  const failed = Object.entries(coverage.counts)
    .filter(([s, n]) => n && !["ok", "not run"].includes(s))
    .map(([s, n]) => `${n} ${statusWords(s)}`);
  return failed.length ? ` · ${failed.join(", ")}` : "";
}

/** @type {(app: App, coverage: Coverage, cell: Cell | undefined, row: string, x: string, most: number) => HTMLElement} */
function cellOf(app, coverage, cell, row, x, most) {
  if (!cell || cell.status === "not run")
    return h("div", { class: "cell absent" }, h("span", { class: "visually-hidden" }, "not run"), "·");
  const good = cell.statuses.ok ?? 0;
  const bad = Object.entries(cell.statuses).filter(([s]) => s !== "ok");
  const kind = good ? (bad.length ? "mixed" : "ok") : "failed";
  const words = Object.entries(cell.statuses)
    .map(([s, n]) => `${n} ${statusWords(s)}`)
    .join(", ");
  const open = () => {
    let filters = withFilter(app.view.filters, app.view.x, [x]);
    const values = coverage.of.length === 1 ? [row] : row.split(", ");
    if (values.length === coverage.of.length)
      coverage.of.forEach((name, i) => {
        filters = withFilter(filters, name, [values[i] === "unknown" ? "" : values[i]]);
      });
    app.go({ kind: "runs", filters, range: [] });
  };
  return h(
    "button",
    {
      class: `cell ${kind}`,
      vars: { "--strength": `${14 + 46 * Math.sqrt(good / most)}%` },
      title: words,
      "aria-label": `${row}, ${x}: ${words}`,
      onclick: open,
    },
    good ? good.toLocaleString("en") : statusWords(cell.status),
  );
}

function key() {
  /** @type {(kind: string, words: string) => HTMLElement} */
  const swatch = (kind, words) => h("span", null, h("i", { class: `cell ${kind}` }), words);
  return h(
    "div",
    { class: "key" },
    swatch("ok", "measured (runs)"),
    swatch("mixed", "some failed"),
    swatch("failed", "failed"),
    swatch("absent", "not run"),
  );
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

/** @type {(coverage: Coverage) => Row} */
function coverageValues(coverage) {
  const rows = coverage.cells.map((c) => ({
    x: c.x || UNKNOWN_VALUE,
    row: c.row,
    status: plainStatus(c.status),
    runs: c.runs || null,
  }));
  return {
    rows,
    xs: coverage.xs.map((x) => x || UNKNOWN_VALUE),
    ys: coverage.rows,
    present: distinct(rows.map((r) => r.status)),
    x_title: dimensionNamed(coverage.view.x).label,
    y_title: coverage.of.map((d) => dimensionNamed(d).label).join(", "),
    heading: coverageKind.title(coverage),
    subtitle: [coverageKind.subtitle(coverage)],
  };
}
