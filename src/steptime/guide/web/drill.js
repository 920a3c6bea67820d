// From a point to its runs: a drawer with each run, its figure and its interval, and a way to compare them.

import { measureNamed } from "./dimensions.js";
import { failure, h, replace } from "./dom.js";
import { count, figure, sentence, statusWords, when, withUnit } from "./format.js";
import { canonical } from "./notation.js";
import { closeDrawer, drawer } from "./overlay.js";
import { DEFAULT } from "./state.js";

const MOST = 50;
/** @type {Record<string, string>} */
const VERDICT_TAGS = { clean: "good", noisy: "warn", contended: "bad" };

// The runs of a point: the filters of its series, its x, its facet.
/** @type {(view: View, result: Result, point: Point) => View} */
function runsView(view, result, point) {
  const own = new Map(result.selects[point.series] ?? view.filters);
  own.set(view.x, [point.x]);
  if (view.facet) own.set(view.facet, [point.facet]);
  return { ...view, kind: "runs", filters: canonical([...own]), series: [], group: [], facet: "", range: [], baseline: "" };
}

/** @type {(app: App, result: Result, point: Point | undefined) => Promise<void>} */
export async function drillDown(app, result, point) {
  if (!point) return;
  const target = runsView(app.view, result, point);
  const body = h("div", null, h("p", { class: "starting" }, "Reading the runs…"));
  const foot = h("div", { class: "row" });
  drawer(
    [point.series, point.x, point.facet].filter(Boolean).join(" · ") || "unknown",
    sentence(`${measureNamed(app.view.y).label}, run by run`),
    body,
    foot,
  );
  try {
    const found = await app.source.runs(target, MOST, 0);
    replace(
      body,
      runRows(app, found.rows),
      found.total > found.rows.length &&
        h("p", { class: "values muted" }, `and ${(found.total - found.rows.length).toLocaleString("en")} more`),
    );
    replace(
      foot,
      compareButton(app, found.rows),
      h(
        "a",
        {
          class: "button",
          href: app.source.address(target),
          onclick: (e) => {
            closeDrawer();
            app.follow(e, target);
          },
        },
        `All ${count(found.total, "run")}`,
      ),
    );
  } catch (error) {
    replace(body, failure(error));
  }
}

/** @type {(app: App, rows: Row[]) => any} */
function runRows(app, rows) {
  if (!rows.length) return h("p", { class: "starting" }, "No runs.");
  const measure = measureNamed(app.view.y in rows[0] ? app.view.y : DEFAULT.y);
  const values = rows.map((r) => r[measure.name]).filter((v) => v !== null && v !== undefined);
  const best = measure.better === "higher" ? Math.max(...values) : Math.min(...values);
  return rows.map((row) => {
    const target = { ...app.view, kind: "run", runs: [row.id] };
    const words = [
      row.model,
      row.phase,
      row.framework,
      row.precision,
      row.replica_batch && `batch ${row.replica_batch}`,
      row.replicas > 1 && `${row.replicas} devices`,
      row.device,
    ]
      .filter(Boolean)
      .join(" · ");
    return h(
      "div",
      { class: `runrow${row[measure.name] === best && values.length > 1 ? " best" : ""}` },
      h("input", {
        type: "checkbox",
        "aria-label": `Pick run ${row.id} to compare`,
        checked: app.picked.includes(row.id),
        onchange: () => app.pick(row.id),
      }),
      h(
        "div",
        null,
        h(
          "a",
          {
            href: app.source.address(target),
            onclick: (e) => {
              closeDrawer();
              app.follow(e, target);
            },
          },
          row.started ? when(row.started) : row.id,
        ),
        " ",
        verdictTag(row),
        h("div", { class: "sub", title: words }, words),
      ),
      h(
        "div",
        { class: "fig" },
        row.status === "ok" ? withUnit(row[measure.name], measure) : h("span", { class: "tag bad" }, statusWords(row.status)),
        row.status === "ok" &&
          row.ci_low !== null &&
          measure.name === "throughput" &&
          h("small", null, `${figure(row.ci_low)} – ${figure(row.ci_high)}`),
      ),
    );
  });
}

/** @type {(row: Row) => HTMLElement | null} */
export function verdictTag(row) {
  if (row.status !== "ok") return h("span", { class: "tag bad" }, statusWords(row.status));
  const kind = VERDICT_TAGS[row.verdict];
  return row.verdict && kind ? h("span", { class: `tag ${kind}` }, row.verdict) : null;
}

/** @type {(app: App, rows: Row[]) => HTMLElement} */
function compareButton(app, rows) {
  return h(
    "button",
    {
      class: "button primary",
      disabled: rows.length < 2,
      onclick: () => {
        const among = rows.filter((r) => app.picked.includes(r.id)).map((r) => r.id);
        const runs =
          among.length > 1
            ? among
            : rows
                .filter((r) => r.status === "ok")
                .slice(0, 2)
                .map((r) => r.id);
        closeDrawer();
        app.go({ kind: "compare", runs });
      },
    },
    "Compare",
  );
}
