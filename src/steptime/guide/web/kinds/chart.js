// The explorer: the question, its chart or table, what must be said about it, and the runs behind every point.

import { askBar, chips, tools } from "../ask.js";
import { chartSkeleton, drawChart, empty, firstSteps, problem } from "../chart.js";
import { labelOf, measureNamed } from "../dimensions.js";
import { h, icon, replace } from "../dom.js";
import { FACTS } from "../facts.js";
import { count, figure, sentence, statusWords, withUnit } from "../format.js";
import { drillDown } from "../drill.js";
import { warningNote } from "../notes.js";
import { queryRows } from "../query.js";
import { groupRows } from "../reduce.js";
import { dataTable } from "../table.js";
import { themeValues } from "../theme.js";
import { chartSize, chartValues } from "../values.js";
import { configurationText, headingOf, subtitleOf, unitOf } from "../words.js";

/** @type {ViewKind<Result>} */
export const chartKind = {
  tab: { label: "Explore", place: 1 },
  page: explorePage,
  answer: ({ rows }, view) => queryRows(rows, view),
  title: (result) => headingOf(result.view),
  subtitle: (result) => subtitleOf(result.view, result),
  values: chartValues,
  size: chartSize,
  rows: ({ points, shared }) =>
    points.map((p) => ({ ...p, configuration: p.runs ? configurationText({ ...shared, ...p.configuration }) : "" })),
};

/** @type {(app: App) => Measure} */
const measureOf = (app) => measureNamed(app.view.y);

/** @type {(app: App) => Page} */
function explorePage(app) {
  const ask = h("div");
  const narrowed = h("div");
  const title = h("h1");
  const under = h("p");
  const stage = h("div", { class: "stage" }, chartSkeleton());
  const notes = h("div", { class: "notes" });
  const foot = h("div");
  const card = h(
    "section",
    { class: "card", "aria-live": "off" },
    h("header", null, h("div", null, title, under)),
    stage,
    notes,
    foot,
  );
  /** @type {Answered<Result> | null} */
  let last = null;
  const draw = async () => last && (await drawResult(app, last, stage));
  return {
    main: h("div", null, ask, narrowed, card),
    side: true,
    ready(view) {
      replace(ask, askBar(app));
      replace(narrowed, chips(app, swatches(last)));
      card.classList.add("busy");
      replace(foot, tools(app, last?.answer));
    },
    async show(answered) {
      const result = { ...answered.answer, view: app.view };
      last = { ...answered, answer: result };
      card.classList.remove("busy");
      title.textContent = answered.title;
      under.textContent = answered.subtitle;
      replace(narrowed, chips(app, swatches(last)));
      replace(foot, tools(app, result));
      replace(notes, notesOf(app, result));
      await draw();
    },
    fail(error) {
      card.classList.remove("busy");
      last = null;
      under.textContent = "";
      replace(notes);
      replace(
        stage,
        problem(error, [
          app.view.baseline &&
            h("button", { class: "button primary", onclick: () => app.go({ baseline: "" }) }, "Not relative to anything"),
          h(
            "button",
            {
              class: "button",
              onclick: () => app.go({ filters: [], series: [], group: [], facet: "", baseline: "", range: [], log: "" }),
            },
            "Start afresh",
          ),
        ]),
      );
    },
    redraw() {
      replace(narrowed, chips(app, swatches(last)));
      return draw();
    },
  };
}

/** @type {(answered: Answered<Result> | null) => Record<string, string>} */
const swatches = (answered) =>
  Object.fromEntries(
    (answered?.answer.series ?? []).map((name, i) => [name, themeValues().palette[i % themeValues().palette.length]]),
  );

/** @type {(app: App, answered: Answered<Result>, stage: HTMLElement) => Promise<any>} */
async function drawResult(app, { answer: result, title, spec = {} }, stage) {
  if (!result.points.length) return replace(stage, nothing(app));
  if (app.view.kind === "table") return replace(stage, pointsTable(app, result, title));
  const figures = result.points.filter((p) => p.value !== null);
  if (!figures.length)
    return replace(
      stage,
      empty(
        "No figure to draw",
        `All ${count(result.points.length, "combination")} failed, were disturbed, or have no ${measureOf(app).label}. ` +
          "The notes below say which.",
      ),
    );
  const holder = h("div", { class: "chart" });
  replace(stage, holder);
  const points = result.points.map((p, point) => ({ ...p, point }));
  return drawChart(holder, spec, {
    height: spec.facet ? 220 : Math.max(320, Math.min(460, innerHeight - 420)),
    series: result.series,
    words: `${title}. ${count(figures.length, "point")}; the table has all figures.`,
    tip: (datum) => (points[datum.point] ? tipOf(app, result, points[datum.point]) : meanTip(app, result, datum)),
    open: (datum) => drillDown(app, result, points[datum.point]),
    points: points.filter((p) => p.value !== null),
    say: (p) => `${[p.facet, p.series, p.x].filter(Boolean).join(", ")}: ${withUnit(p.value, shownMeasure(app, result))}`,
  });
}

/** @type {(app: App) => HTMLElement} */
function nothing(app) {
  const filtered = app.view.filters.length || app.view.range.length || app.view.series.length;
  if (!app.meta.runs) return firstSteps(app);
  return empty(
    "No runs match",
    "Every combination of these filters is without a run. Remove one, or look at what there is.",
    h(
      "div",
      { class: "row" },
      filtered &&
        h("button", { class: "button primary", onclick: () => app.go({ filters: [], series: [], range: [] }) }, "Clear filters"),
      h("button", { class: "button", onclick: () => app.go({ kind: "coverage" }) }, "What has been measured"),
    ),
  );
}

/** @type {(app: App, result: Result) => Measure} */
function shownMeasure(app, result) {
  const measure = measureOf(app);
  return app.view.baseline ? { ...measure, unit: "×", form: "ratio" } : { ...measure, unit: unitOf(result) };
}

/** @type {(app: App, result: Result, p: Point) => any[]} */
function tipOf(app, result, p) {
  const measure = shownMeasure(app, result);
  const spread = p.low !== null && p.high !== null;
  return [
    h("h3", null, [p.series, p.x, p.facet].filter(Boolean).join(" · ") || "unknown"),
    p.value === null ? h("div", { class: "big" }, statusWords(p.status)) : h("div", { class: "big" }, withUnit(p.value, measure)),
    spread && h("p", null, `95% between ${figure(p.low, measure.form)} and ${figure(p.high, measure.form)}`),
    h("p", null, `n = ${count(p.runs, "run")}${p.configurations > 1 ? ` of ${p.configurations} configurations` : ""}`),
    Object.keys(p.mixes ?? {}).length > 0 &&
      h(
        "p",
        { class: "w" },
        `mixes ${Object.entries(p.mixes)
          .slice(0, 4)
          .map(([name, n]) => `${n} × ${labelOf(name)}`)
          .join(", ")}`,
      ),
    Object.values(p.configuration).some(Boolean) && h("p", null, configurationText(p.configuration)),
    failedWords(p) && h("p", { class: "w" }, failedWords(p)),
    p.contended > 0 && h("p", { class: "w" }, `${count(p.contended, "contended run")} left out`),
    h("p", { class: "hint" }, "click for the runs"),
  ];
}

/** @type {(app: App, result: Result, mean: Row) => any[] | null} */
function meanTip(app, result, { x, series, value, status }) {
  return value === undefined || !series
    ? null
    : [
        h("h3", null, `${series} · ${x}`),
        h("div", { class: "big" }, withUnit(value, shownMeasure(app, result))),
        h("p", null, `${status} values of ${labelOf(app.view.x)}`),
      ];
}

/** @type {(p: Point) => string} */
const failedWords = (p) =>
  Object.entries(p.statuses ?? {})
    .filter(([s]) => s !== "ok")
    .map(([s, n]) => `${n} ${statusWords(s)}`)
    .join(", ");

/** @type {(app: App, result: Result) => any[]} */
function notesOf(app, result) {
  const failed = result.points.filter(
    (p) => p.value === null && !["ok", "contended", "not run", "no figure", "no baseline", FACTS.not_averaged].includes(p.status),
  );
  const byStatus = groupRows(failed, (p) => p.status);
  const disturbed = result.points.filter((p) => p.status === "contended").length;
  return [
    result.means?.length > 0 &&
      h(
        "div",
        { class: "note info" },
        icon("info"),
        h(
          "span",
          null,
          h("b", null, "Geometric means: "),
          result.means
            .map((m) => `${[m.facet, m.series].filter(Boolean).join(" · ")} ${figure(m.value, "ratio")}× (${m.n} of ${m.of})`)
            .join(" · "),
        ),
      ),
    result.warnings.map((w) =>
      warningNote(app, w, w.code === "contended" && disturbed ? `; ${count(disturbed, "point")} had no other` : ""),
    ),
    [...byStatus].map(([status, list]) =>
      h(
        "div",
        { class: "note fail" },
        icon("fail"),
        h(
          "span",
          null,
          h("b", null, `${sentence(statusWords(status))}: `),
          list
            .slice(0, 6)
            .map((p) => [p.facet, p.series, p.x].filter(Boolean).join(" · "))
            .join("; "),
          list.length > 6 ? ` and ${list.length - 6} more` : "",
        ),
        h(
          "button",
          {
            class: "link",
            onclick: () =>
              app.go({ kind: "runs", filters: [...app.view.filters.filter(([k]) => k !== "status"), ["status", [status]]] }),
          },
          "Show these runs",
        ),
      ),
    ),
  ];
}

/** @type {(app: App, result: Result, title: string) => HTMLElement} */
function pointsTable(app, result, title) {
  const { view } = app;
  const measure = shownMeasure(app, result);
  const series = view.series.length ? "series" : view.group.map((g) => labelOf(g)).join(" / ");
  /** @type {(title: string, value: (p: Point) => any) => TableColumn<Point>[]} */
  const named = (title, value) => (title ? [[title, value]] : []);
  /** @type {TableColumn<Point>[]} */
  const columns = [
    ...named(view.facet && labelOf(view.facet), (p) => p.facet),
    ...named(series, (p) => p.series),
    [labelOf(view.x), (p) => p.x],
    [
      `${measure.label}${measure.unit && measure.form === "number" ? ` (${measure.unit})` : ""}`,
      (p) => p.value ?? p.status,
      (p) =>
        p.value === null
          ? h("span", { class: `tag ${p.status === "not run" ? "" : "bad"}` }, statusWords(p.status))
          : figure(p.value, measure.form),
      "r",
    ],
    ["95% from", (p) => p.low, (p) => figure(p.low, measure.form), "r"],
    ["to", (p) => p.high, (p) => figure(p.high, measure.form), "r"],
    ["runs", (p) => p.runs, (p) => p.runs, "r"],
    ["configurations", (p) => p.configurations, (p) => p.configurations, "r"],
    ...named(result.points.some((p) => Object.values(p.configuration).some(Boolean)) ? "configuration" : "", (p) =>
      configurationText(p.configuration),
    ),
    [
      "",
      () => "",
      (p) =>
        p.runs || Object.keys(p.statuses).length
          ? h("button", { class: "link", onclick: () => drillDown(app, result, p) }, "runs")
          : "",
    ],
  ];
  return dataTable(columns, result.points, title);
}
