// Compare: each side against the first, with an interval and a verdict, and in what they differ.

import { chips, seriesDialog } from "../ask.js";
import { empty, problem } from "../chart.js";
import { compareSides } from "../comparing.js";
import { cardHeader, h, icon, replace, svg } from "../dom.js";
import { measureNamed } from "../dimensions.js";
import { FACTS } from "../facts.js";
import { count, figure, sentence, statusWords, when, withUnit } from "../format.js";
import { warningNote } from "../notes.js";
import { but } from "../state.js";
import { TEMPLATES } from "../templates.js";
import { sayText } from "../texts.js";
import { distinct } from "../values.js";

const COMPARE = FACTS.kinds.compare.texts;

/** @type {ViewKind<Comparison>} */
export const compareKind = {
  tab: {
    label: "Compare",
    place: 5,
    target: (app) => ({ runs: app.picked.length ? app.picked : app.view.runs }),
    count: (app) => app.picked.length,
  },
  page: comparePage,
  fetch: fetchComparison,
  answer: ({ rows }, view) => compareSides(rows, view),
  title: comparisonTitle,
  subtitle: () => sayText(COMPARE.subtitle),
  values: compareValues,
  size: () => ({ width: 460 }),
  rows: ({ differences }) => differences,
};

// With the rows of the runs that are compared, from which their names are made.
/** @type {(app: App, view: View) => Promise<any>} */
async function fetchComparison(app, view) {
  if (!comparable(view)) return { answer: null, title: "Comparison", subtitle: "" };
  if (!view.runs.length) return app.source.answer(view);
  const [answered, { rows }] = await Promise.all([
    app.source.answer(view),
    app.source.runs({ ...view, kind: "runs", filters: [] }, 50, 0),
  ]);
  return { ...answered, rows };
}

/** @type {(app: App) => Page} */
function comparePage(app) {
  const narrowed = h("div");
  const stage = h("div", null, h("section", { class: "card" }, h("p", { class: "starting" }, "Comparing…")));
  return {
    main: h("div", null, narrowed, stage),
    get side() {
      return !app.view.runs.length;
    },
    ready() {
      replace(narrowed, app.view.runs.length ? null : chips(app));
    },
    async show({ answer: comparison, title, rows }) {
      if (!comparison) return replace(stage, invitation(app));
      named = new Map((rows ?? []).map((/** @type {Row} */ row) => [row.id, row]));
      return replace(stage, body(app, comparison, title));
    },
    fail: (error) =>
      replace(
        stage,
        h(
          "section",
          { class: "card" },
          problem(error, h("button", { class: "button", onclick: () => app.go({ runs: [], series: [] }) }, "Choose again")),
        ),
      ),
    redraw() {},
  };
}

/** @type {(view: View) => boolean} */
const comparable = (view) => view.runs.length > 1 || (!view.runs.length && view.series.length > 1);

/** @type {(app: App) => HTMLElement} */
function invitation(app) {
  return h(
    "section",
    { class: "card" },
    empty(
      "Compare two or more",
      "Pick runs in the list, or name groups of runs by their filters. The first is the baseline.",
      h(
        "div",
        { class: "row" },
        h("button", { class: "button primary", onclick: () => app.go({ kind: "runs", runs: [] }) }, "Pick runs"),
        h(
          "button",
          { class: "button", onclick: () => seriesDialog(app, -1) },
          icon("plus"),
          app.view.series.length ? "Name another group" : "Name a group",
        ),
      ),
    ),
  );
}

/** @type {(app: App, c: Comparison, title: string) => any[]} */
function body(app, c, title) {
  const measure = measureNamed(app.view.y);
  const [least, most] = [
    Math.min(0.95, ...c.differences.map((d) => d.low ?? d.ratio ?? 1)),
    Math.max(1.05, ...c.differences.map((d) => d.high ?? d.ratio ?? 1)),
  ];
  const [low, high] = [least - 0.06 * (most - least), most + 0.06 * (most - least)];
  const sections = ["configuration", "software", "hardware", "measurement"];
  const differing = [...c.differing].sort((a, b) => sections.indexOf(a.section) - sections.indexOf(b.section));
  return [
    h(
      "section",
      { class: "card" },
      cardHeader(h("h1", null, withNames(app, title)), `${measure.better} is better · ratios with 95% intervals`),
      h(
        "div",
        { class: "body table-wrap" },
        h(
          "table",
          { class: "roomy" },
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              ["", measure.label, "against the first", "", "verdict", ""].map((t, i) =>
                h("th", { scope: "col", class: i === 1 ? "r" : null }, t),
              ),
            ),
          ),
          h(
            "tbody",
            null,
            c.sides.map((side, i) => sideRow(app, side, i ? c.differences[i - 1] : null, [low, high], i)),
          ),
        ),
      ),
      h(
        "div",
        { class: "notes" },
        c.differences.map((d) =>
          h(
            "div",
            { class: "note info" },
            icon("info"),
            h("span", null, plainWords(app, d), d.basis ? h("span", { class: "muted" }, ` (${d.basis})`) : ""),
          ),
        ),
        c.warnings.map((w) => warningNote(app, w)),
      ),
    ),
    h(
      "section",
      { class: "card" },
      cardHeader(h("h2", null, "What differs"), c.differing.length ? "everything else is the same" : "nothing that was recorded"),
      c.differing.length > 0 &&
        h(
          "div",
          { class: "body table-wrap" },
          h(
            "table",
            null,
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                ["", "", ...c.sides.map((s) => sideName(app, s))].map((t) => h("th", { scope: "col" }, t)),
              ),
            ),
            h(
              "tbody",
              null,
              differing.map((d, i) =>
                h(
                  "tr",
                  null,
                  h("td", { class: "muted" }, differing[i - 1]?.section === d.section ? "" : d.section),
                  h("th", { scope: "row" }, d.name.includes(".") ? d.name : d.name.replaceAll("_", " ")),
                  d.values.map((v) => h("td", { class: "wrap" }, v === "" ? "–" : v)),
                ),
              ),
            ),
          ),
        ),
    ),
  ];
}

// Runs are called by what they ran, as far as that tells them apart; groups by the name they were given.
/** @type {Map<string, Row>} */
let named = new Map();

/** @type {(app: App, name: string) => string} */
function nameOf(app, name) {
  const row = named.get(name);
  if (!row) return name;
  const rows = app.view.runs.flatMap((id) => named.get(id) ?? []);
  const apart = FACTS.telling.filter((c) => new Set(rows.map((r) => r[c])).size > 1);
  const words = (apart.length ? apart : ["model", "software"])
    .slice(0, 3)
    .map((c) => (!row[c] ? "" : c === "replica_batch" ? `batch ${row[c]}` : c === "replicas" ? count(row[c], "device") : row[c]));
  const text = words.filter(Boolean).join(" · ");
  return rows.filter((r) => r !== row && apart.every((c) => r[c] === row[c])).length ? `${text}, ${when(row.started)}` : text;
}

/** @type {(app: App, side: Side) => string} */
const sideName = (app, side) => nameOf(app, side.name);

/** @type {(app: App, side: Side, difference: Difference | null, ends: [number, number], i: number) => HTMLElement} */
function sideRow(app, side, difference, [low, high], i) {
  const measure = measureNamed(app.view.y);
  const run = app.view.runs.length ? but(app.view, { kind: "run", runs: side.run_ids.slice(0, 1) }) : null;
  const remove = () =>
    app.go(run ? { runs: app.view.runs.filter((_, j) => j !== i) } : { series: app.view.series.filter((_, j) => j !== i) });
  const first = () =>
    app.go(
      run
        ? { runs: [app.view.runs[i], ...app.view.runs.filter((_, j) => j !== i)] }
        : { series: [app.view.series[i], ...app.view.series.filter((_, j) => j !== i)] },
    );
  return h(
    "tr",
    null,
    h(
      "th",
      { scope: "row" },
      run ? h("a", { href: app.source.address(run), onclick: (e) => app.follow(e, run) }, sideName(app, side)) : side.name,
      h(
        "div",
        { class: "muted sub" },
        count(side.runs, "run"),
        side.configurations > 1 ? `, ${side.configurations} configurations` : "",
      ),
    ),
    h(
      "td",
      { class: "r" },
      side.value === null
        ? h("span", { class: "tag bad" }, statusWords(side.status))
        : h("b", null, withUnit(side.value, measure)),
      side.low !== null &&
        h("div", { class: "muted sub" }, `${figure(side.low, measure.form)} – ${figure(side.high, measure.form)}`),
    ),
    h("td", null, difference ? interval(difference, low, high) : h("span", { class: "muted" }, "baseline")),
    h("td", { class: "r" }, difference?.ratio ? `${figure(difference.ratio, "ratio")}×` : ""),
    h("td", null, difference && h("span", { class: `verdict ${difference.verdict.split(" ")[0]}` }, difference.verdict)),
    h(
      "td",
      null,
      i > 0 && h("button", { class: "button quiet small", onclick: first }, "make first"),
      h("button", { class: "button quiet small", "aria-label": `Leave ${side.name} out`, onclick: remove }, icon("close")),
    ),
  );
}

/** @type {(difference: Difference) => string} */
const withoutVerdict = ({ words, verdict }) => (words.startsWith(`${verdict}: `) ? words.slice(verdict.length + 2) : words);

// The sentence without the verdict, which is a badge already, and with names in place of ids.
/** @type {(app: App, d: Difference) => string} */
const plainWords = (app, d) => withNames(app, withoutVerdict(d));

/** @type {(app: App, text: string) => string} */
const withNames = (app, text) => [...named.keys()].reduce((words, id) => words.replaceAll(id, nameOf(app, id)), text);

// The interval of the ratio on a line, with 1 marked.
/** @type {(d: Difference, low: number, high: number) => any} */
function interval(d, low, high) {
  if (d.ratio === null) return "";
  /** @type {(v: number) => string} */
  const at = (v) => `${(100 * (v - low)) / (high - low)}%`;
  const colour = { faster: "var(--good)", slower: "var(--bad)" }[d.verdict] ?? "var(--muted)";
  return h(
    "div",
    { class: "span", title: `${figure(d.low, "ratio")} to ${figure(d.high, "ratio")}` },
    svg(
      "svg",
      {
        role: "img",
        "aria-label": `ratio ${figure(d.ratio, "ratio")}, between ${figure(d.low, "ratio")} and ${figure(d.high, "ratio")}`,
      },
      svg("line", { x1: at(1), x2: at(1), y1: 2, y2: 28, stroke: "var(--line-strong)", "stroke-dasharray": "3 3" }),
      d.low !== null &&
        d.high !== null &&
        svg("line", {
          x1: at(d.low),
          x2: at(d.high),
          y1: 15,
          y2: 15,
          stroke: colour,
          "stroke-width": 3,
          "stroke-linecap": "round",
        }),
      svg("circle", { cx: at(d.ratio), cy: 15, r: 5.5, fill: colour }),
    ),
  );
}

/** @type {(comparison: Comparison) => Row} */
function compareValues(comparison) {
  const first = comparison.sides[0].name;
  const rows = comparison.differences.map(({ name, ratio, low, high, verdict, words }) => ({
    name,
    ratio,
    low,
    high,
    verdict,
    words,
  }));
  const ratios = [1, ...rows.flatMap((r) => [r.low ?? [], r.ratio ?? [], r.high ?? []].flat())];
  return {
    wide: Math.max(...ratios) > TEMPLATES.limits.wide * Math.min(...ratios),
    rows,
    present: distinct(rows.map((r) => r.verdict)),
    ends: rows.some((r) => r.low),
    x_title: sayText(COMPARE.x_title, { measure: measureNamed(comparison.view.y).label, base: first }),
    heading: compareKind.title(comparison),
    subtitle: [compareKind.subtitle(comparison)],
  };
}

/** @type {(comparison: Comparison) => string} */
function comparisonTitle({ view, sides: [base, ...others] }) {
  const many = sayText(view.runs.length ? COMPARE.other_runs : COMPARE.other_groups, { n: others.length });
  const name = others.length === 1 ? others[0].name : many;
  return sayText(COMPARE.title, { measure: sentence(measureNamed(view.y).label), others: name, base: base.name });
}
