// Scaling: throughput with its ideal, speed-up and efficiency over the number of devices. No baseline is ever invented.

import { axisSwitches, chips, dimensionOptions, pick } from "../ask.js";
import { chartSkeleton, drawChart, empty, firstSteps, problem } from "../chart.js";
import { cardHeader, h, replace } from "../dom.js";
import { FACTS } from "../facts.js";
import { count, figure, sentence, statusWords } from "../format.js";
import { warningNote } from "../notes.js";
import { scaleRows } from "../scale.js";
import { dataTable } from "../table.js";
import { sayText } from "../texts.js";
import { distinct, legendEntries, plainStatus } from "../values.js";

const SCALING = FACTS.kinds.scaling.texts;

/** @type {ViewKind<Scaling>} */
export const scalingKind = {
  tab: { label: "Scaling", place: 2 },
  page: scalingPage,
  answer: ({ rows }, view) => scaleRows(rows, view),
  title: ({ view }) => sayText(SCALING.title, { scaling: sentence(view.scaling) }),
  subtitle: scalingSubtitle,
  values: scalingValues,
  size: ({ lines }) => ({ width: 320, height: 280, columns: 3, entries: legendEntries(1000, lines.map(lineName)) }),
  rows: ({ lines }) => lines.flatMap((l) => l.points.map((p) => ({ series: l.series, batch: l.batch, ...p }))),
};

/** @type {(app: App) => Page} */
function scalingPage(app) {
  const ask = h("div");
  const narrowed = h("div");
  const stage = h("div", null, h("section", { class: "card" }, chartSkeleton()));
  /** @type {Answered<Scaling> | null} */
  let last = null;
  const draw = () => last && drawScaling(app, last, stage);
  return {
    main: h("div", null, ask, narrowed, stage),
    side: true,
    ready() {
      replace(ask, sentenceBar(app));
      replace(narrowed, chips(app));
    },
    async show(answer) {
      last = answer;
      await draw();
    },
    fail(error) {
      replace(stage, h("section", { class: "card" }, problem(error)));
    },
    redraw: draw,
  };
}

/** @type {(app: App) => HTMLElement} */
function sentenceBar(app) {
  const { view } = app;
  const dims = dimensionOptions(app).filter(([name]) => !FACTS.scaled.includes(name));
  return h(
    "div",
    { class: "ask", role: "group", "aria-label": "What is scaled" },
    pick(
      "ask/scaling",
      "Scaling",
      [
        ["weak", "Weak scaling"],
        ["strong", "Strong scaling"],
      ],
      view.scaling,
      (scaling) => app.go({ scaling }),
      null,
    ),
    h("span", null, sayText(view.scaling === "weak" ? SCALING.weak : SCALING.strong)),
    h("span", null, "· per"),
    pick("ask/group0", "Group by", [["", "nothing"], ...dims], view.group[0] ?? "", (g) => app.go({ group: g ? [g] : [] })),
  );
}

/** @type {(app: App, answered: Answered<Scaling>, stage: HTMLElement) => Promise<any>} */
async function drawScaling(app, { answer: scaling, title, subtitle, spec }, stage) {
  const lines = scaling.lines.filter((l) => l.points.some((p) => p.throughput !== null));
  if (!app.meta.runs) return replace(stage, h("section", { class: "card" }, firstSteps(app)));
  if (!lines.length) {
    return replace(
      stage,
      h(
        "section",
        { class: "card" },
        empty(
          "Nothing to scale",
          "There are no measured runs of the same configuration on one and on more devices among these filters.",
          h("pre", null, "steptime run resnet50 --devices 1,2,4,8"),
        ),
      ),
    );
  }
  const unbased = lines.filter((l) => l.base === null);
  const notes = h(
    "div",
    { class: "notes" },
    scaling.warnings.map((w) => warningNote(app, w, w.code === "lines_without_single_device" ? `: ${linesText(unbased)}` : "")),
  );
  const holder = h("div", { class: "chart" });
  replace(
    stage,
    h(
      "section",
      { class: "card" },
      cardHeader(h("h1", null, title), subtitle),
      h("div", { class: "stage" }, holder),
      notes,
      axes(app),
    ),
    h("section", { class: "card" }, h("header", null, h("h2", null, "Figures")), table(lines)),
  );
  await drawChart(holder, spec ?? {}, {
    height: 290,
    series: lines.map((l) => lineName(l)),
    words: "Throughput, speed-up and efficiency over the number of devices; the table below has all figures.",
    tip: (d) => scalingTip(d, lines),
  });
}

/** @type {(app: App) => HTMLElement} */
function axes(app) {
  return h(
    "div",
    { class: "tools" },
    axisSwitches(app, ["y", "x"]),
    h(
      "label",
      { class: "switch" },
      h("input", {
        type: "checkbox",
        role: "switch",
        checked: app.view.contended,
        "data-key": "tools/contended",
        onchange: (e) => app.go({ contended: e.target.checked }),
      }),
      "count contended runs",
    ),
  );
}

/** @type {(lines: ScalingLine[]) => string} */
const linesText = (lines) =>
  lines.slice(0, 5).map(lineName).join("; ") + (lines.length > 5 ? ` and ${lines.length - 5} more` : "");

/** @type {(line: ScalingLine) => string} */
const lineName = (line) => line.series || `batch ${line.batch}`;

/** @type {(datum: any, lines: ScalingLine[]) => any} */
function scalingTip(datum, lines) {
  const devices = Number(datum.devices ?? datum.x);
  const line = lines.find(
    (l) =>
      (l.series === datum.series || lineName(l) === datum.series || !datum.series) &&
      (datum.batch === undefined || l.batch === datum.batch),
  );
  const p = line?.points.find((q) => q.devices === devices);
  if (!line || !p || p.throughput === null) return null;
  return [
    h("h3", null, `${lineName(line)} · ${count(devices, "device")}`),
    h("div", { class: "big" }, `${figure(p.throughput)} samples/s`),
    p.low !== null && h("p", null, `95% between ${figure(p.low)} and ${figure(p.high)}`),
    p.speedup !== null
      ? h("p", null, `speed-up ${figure(p.speedup, "ratio")}× · efficiency ${figure(p.efficiency, "percent")}`)
      : h("p", { class: "w" }, "no run on one device"),
    h("p", null, `n = ${count(p.runs, "run")}`),
  ];
}

/** @type {(lines: ScalingLine[]) => HTMLElement} */
function table(lines) {
  const rows = lines.flatMap((line) => line.points.map((p) => ({ line, ...p })));
  return dataTable(
    [
      ["series", (r) => lineName(r.line)],
      ["devices", (r) => r.devices, null, "r"],
      [
        "samples/s",
        (r) => r.throughput,
        (r) => (r.throughput === null ? h("span", { class: "tag bad" }, statusWords(r.status)) : figure(r.throughput)),
        "r",
      ],
      ["95% from", (r) => r.low, (r) => figure(r.low), "r"],
      ["to", (r) => r.high, (r) => figure(r.high), "r"],
      ["speed-up", (r) => r.speedup, (r) => figure(r.speedup, "ratio"), "r"],
      ["efficiency", (r) => r.efficiency, (r) => figure(r.efficiency, "percent"), "r"],
      ["runs", (r) => r.runs, null, "r"],
    ],
    rows,
    sentence("scaling"),
  );
}

/** @type {(scaling: Scaling) => string} */
function scalingSubtitle({ view, lines }) {
  const points = lines.flatMap((l) => l.points);
  return [
    view.scaling === "weak" ? SCALING.weak : SCALING.strong,
    points.some((p) => p.ideal !== null) ? SCALING.ideal : [],
    points.some((p) => p.low !== null) ? SCALING.intervals : [],
  ]
    .flat()
    .map((text) => sayText(text))
    .join(" · ");
}

/** @type {(scaling: Scaling) => Row} */
function scalingValues(answer) {
  const { view, lines } = answer;
  const names = lines.map(lineName);
  const rows = lines.flatMap((l, i) =>
    l.points.map((p) => ({
      devices: p.devices,
      series: names[i],
      throughput: p.throughput,
      throughput_low: p.low,
      throughput_high: p.high,
      ideal: p.ideal,
      speedup: p.speedup,
      speedup_low: p.speedup_low,
      speedup_high: p.speedup_high,
      efficiency: p.efficiency,
      efficiency_low: p.efficiency_low,
      efficiency_high: p.efficiency_high,
      runs: p.runs,
      status: plainStatus(p.status),
    })),
  );
  const any = (/** @type {keyof (typeof rows)[0]} */ field) => rows.some((r) => r[field] !== null);
  return {
    rows,
    series: names,
    legend: names.length > 1,
    devices: distinct(rows.map((r) => r.devices)).sort((a, b) => a - b),
    heading: scalingKind.title(answer),
    subtitle: [scalingSubtitle(answer)],
    log_x: view.log.includes("x"),
    log_y: view.log.includes("y"),
    based: any("speedup"),
    ideal: any("ideal"),
    failed: rows.some((r) => r.throughput === null),
    throughput_ends: any("throughput_low"),
    speedup_ends: any("speedup_low"),
    efficiency_ends: any("efficiency_low"),
  };
}
