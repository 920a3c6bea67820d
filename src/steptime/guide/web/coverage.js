// Coverage: which combinations have been measured, which failed, and which nobody has tried.

import { chips, dimensionOptions, pick } from "./ask.js";
import { empty, problem } from "./chart.js";
import { h, replace } from "./dom.js";
import { firstSteps, labelOf } from "./explore.js";
import { count, sentence, statusWords } from "./format.js";
import { withFilter } from "./state.js";

export function coveragePage(app) {
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
    async show({ coverage }) {
      stage.classList.remove("busy");
      replace(stage, app.meta.runs ? matrix(app, coverage) : firstSteps(app));
    },
    fail: (error) => replace(stage, problem(error)),
    redraw() {},
  };
}

function matrix(app, coverage) {
  if (!coverage.cells.length) return empty("No runs match", "Remove a filter to see what there is.");
  const cells = new Map(coverage.cells.map((c) => [JSON.stringify([c.row, c.x]), c]));
  const most = Math.max(1, ...coverage.cells.map((c) => c.statuses.ok ?? 0));
  const done = coverage.cells.filter((c) => (c.statuses.ok ?? 0) > 0).length;
  return [
    h(
      "header",
      null,
      h(
        "div",
        null,
        h("h1", null, sentence(`${coverage.of.map((o) => labelOf(o)).join(" / ")} × ${labelOf(app.view.x)}`)),
        h("p", null, `${done} of ${count(coverage.cells.length, "combination")} measured${summary(coverage)}`),
      ),
      key(),
    ),
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

function summary(coverage) {
  const failed = Object.entries(coverage.counts)
    .filter(([s, n]) => n && !["ok", "not run"].includes(s))
    .map(([s, n]) => `${n} ${statusWords(s)}`);
  return failed.length ? ` · ${failed.join(", ")}` : "";
}

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
