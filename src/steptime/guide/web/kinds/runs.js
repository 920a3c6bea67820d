// Runs: every record that the filters leave, newest first; pick some to compare.

import { chips } from "../ask.js";
import { empty, firstSteps, problem } from "../chart.js";
import { h, replace } from "../dom.js";
import { verdictTag } from "../drill.js";
import { FACTS } from "../facts.js";
import { count, figure, statusWords, when } from "../format.js";
import { dataTable } from "../table.js";

const PAGE = 100;

/** @type {ViewKind<RunList>} */
export const runsKind = {
  tab: { label: "Runs", place: 4 },
  page: runsPage,
  answer: (engine, view) => engine.runs(view, Infinity, 0),
  title: () => "Runs",
  subtitle: () => "",
  rows: (list) => list.rows,
};

/** @type {(app: App) => Page} */
function runsPage(app) {
  const narrowed = h("div");
  const stage = h("section", { class: "card" }, h("p", { class: "starting" }, "Reading…"));
  let offset = 0;
  let shown = "";
  /** @type {(list: RunList) => Promise<any>} */
  const show = async (list) => {
    stage.classList.remove("busy");
    if (!app.meta.runs) return replace(stage, firstSteps(app));
    if (!list.total) return replace(stage, empty("No runs match", "Remove a filter to see what there is."));
    const rows = list.rows.slice(0, PAGE);
    /** @type {(by: number) => Promise<void>} */
    const turn = async (by) => {
      offset += by;
      stage.classList.add("busy");
      show(await app.source.runs(app.view, PAGE, offset));
    };
    replace(
      stage,
      h(
        "header",
        null,
        h("div", null, h("h1", null, count(list.total, "run")), h("p", null, "newest first; pick two or more to compare them")),
        h(
          "button",
          {
            class: "button primary",
            id: "compare-picked",
            disabled: app.picked.length < 2,
            onclick: () => app.go({ kind: "compare", runs: app.picked }),
          },
          compareWords(app),
        ),
      ),
      h("div", { class: "body" }, runsTable(app, rows)),
      list.total > PAGE &&
        h(
          "div",
          { class: "pager" },
          `${offset + 1}–${offset + rows.length} of ${list.total.toLocaleString("en")}`,
          h("button", { class: "button small", disabled: offset === 0, onclick: () => turn(-PAGE) }, "Newer"),
          h("button", { class: "button small", disabled: offset + PAGE >= list.total, onclick: () => turn(PAGE) }, "Older"),
        ),
    );
  };
  return {
    main: h("div", null, narrowed, stage),
    side: true,
    ready(view) {
      replace(narrowed, chips(app));
      const now = JSON.stringify(view);
      if (now !== shown) offset = 0;
      shown = now;
      stage.classList.add("busy");
    },
    show: async ({ answer }) => show(offset ? await app.source.runs(app.view, PAGE, offset) : answer),
    fail: (error) => replace(stage, problem(error)),
    redraw() {},
  };
}

/** @type {(app: App) => string} */
const compareWords = (app) => (app.picked.length > 1 ? `Compare ${app.picked.length} runs` : "Compare");

/** @type {(app: App, rows: Row[]) => HTMLElement} */
function runsTable(app, rows) {
  /** @type {(row: Row) => HTMLElement} */
  const link = (row) => {
    const target = { ...app.view, kind: "run", runs: [row.id] };
    return h(
      "a",
      { href: app.source.address(target), onclick: (e) => app.follow(e, target) },
      row.started ? when(row.started) : row.id,
    );
  };
  /** @type {(row: Row) => HTMLElement} */
  const toggle = (row) =>
    h("input", {
      type: "checkbox",
      "aria-label": `Pick run ${row.id}`,
      checked: app.picked.includes(row.id),
      onchange: () => {
        app.pick(row.id);
        const button = /** @type {HTMLButtonElement | null} */ (document.getElementById("compare-picked"));
        if (button) {
          button.disabled = app.picked.length < 2;
          button.textContent = compareWords(app);
        }
      },
    });
  return dataTable(
    [["", (r) => r.id, toggle], ["started", (r) => r.started, link], ...FACTS.run_table.map(runColumn)],
    rows,
    "Runs",
  );
}

/** @type {(column: { name: string, title: string, form: string, number: boolean, figure: boolean }) => TableColumn<Row>} */
function runColumn({ name, title, form, number, figure: isFigure }) {
  const value = RUN_VALUES[name] ?? ((r) => r[name]);
  return [title, value, RUN_CELLS[name] ?? (isFigure ? (r) => figure(value(r), form) : null), number ? "r" : undefined];
}

/** @type {(r: Row) => number | null} */
const spread = (r) =>
  r.throughput && r.ci_low !== null && r.ci_low !== undefined ? (r.ci_high - r.ci_low) / 2 / r.throughput : null;

// Columns that show more than their own value.
/** @type {Record<string, (row: Row) => any>} */
const RUN_VALUES = { software: (r) => r.software || r.framework, ci_low: spread };

/** @type {Record<string, (row: Row) => any>} */
const RUN_CELLS = {
  throughput: (r) =>
    r.status === "ok" ? figure(r.throughput) : h("span", { class: "tag bad", title: r.message }, statusWords(r.status)),
  ci_low: (r) => figure(spread(r), "percent"),
  verdict: (r) => (r.status === "ok" ? verdictTag(r) : ""),
};
