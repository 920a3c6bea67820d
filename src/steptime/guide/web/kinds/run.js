// One run: its figures, every step with the warm-up marked, what it ran on, how to repeat it, what it printed.

import { chartSkeleton, drawChart, problem } from "../chart.js";
import { cardHeader, h, icon, replace } from "../dom.js";
import { verdictTag } from "../drill.js";
import { bytes, count, figure, seconds, statusWords, when } from "../format.js";
import { copy } from "../overlay.js";
import { profileCard } from "../profile.js";
import { DEFAULT } from "../state.js";

/** @type {ViewKind<RunAnswer>} */
export const runKind = {
  tab: "runs",
  page: runPage,
  facets: false,
  answer: (engine, view) => engine.run(view.runs[0] ?? ""),
  title: ({ row }) => `Run ${row.id}`,
  subtitle: () => "",
  rows: ({ row }) => [row],
};

/** @type {(app: App) => Page} */
function runPage(app) {
  const stage = h("div", null, h("section", { class: "card" }, chartSkeleton()));
  /** @type {RunAnswer | null} */
  let last = null;
  const draw = () => last && drawRun(app, last, stage);
  return {
    main: stage,
    side: false,
    ready() {},
    async show({ answer }) {
      last = answer;
      await draw();
    },
    fail: (error) =>
      replace(
        stage,
        h(
          "section",
          { class: "card" },
          problem(error, h("button", { class: "button", onclick: () => app.go({ kind: "runs", runs: [] }) }, "All runs")),
        ),
      ),
    redraw: draw,
  };
}

/** @type {(app: App, run: RunAnswer, stage: HTMLElement) => Promise<any>} */
async function drawRun(app, run, stage) {
  const { row, record } = run;
  const steps = h("div", { class: "chart tiny" });
  const histogram = h("div", { class: "chart tiny" });
  const back = { ...app.view, kind: "runs", runs: [] };
  const picked = app.picked.includes(row.id);
  replace(
    stage,
    h(
      "nav",
      { class: "crumbs", "aria-label": "Where this is" },
      h("a", { href: app.source.address(back), onclick: (e) => app.follow(e, back) }, "Runs"),
      icon("chevron"),
      h("span", { class: "mono" }, row.id),
    ),
    h(
      "div",
      { class: "run-head" },
      h(
        "div",
        null,
        h("h1", null, [row.model, row.phase, row.software || row.framework].filter(Boolean).join(", ")),
        h(
          "div",
          { class: "tags" },
          verdictTag(row),
          [
            row.precision,
            row.replica_batch && `batch ${row.replica_batch}`,
            row.replicas && count(row.replicas, "device"),
            row.threads && count(row.threads, "thread"),
            row.started && `${when(row.started)} UTC`,
            row.origin !== "steptime" && `from ${row.origin}`,
          ]
            .filter(Boolean)
            .map((w) => h("span", { class: "tag" }, w)),
          Object.entries(row.labels ?? {}).map(([k, v]) => h("span", { class: "tag accent" }, `${k}: ${v}`)),
        ),
      ),
      h(
        "div",
        { class: "actions" },
        h(
          "button",
          {
            class: "button",
            onclick: (e) => {
              app.pick(row.id);
              drawRun(app, run, stage);
            },
          },
          icon(picked ? "check" : "plus"),
          picked ? "Picked" : "Pick to compare",
        ),
        h(
          "button",
          {
            class: "button",
            onclick: () =>
              app.go({
                ...DEFAULT,
                filters: [
                  ["model", [row.model]],
                  ["phase", [row.phase]],
                ],
                x: "replica_batch",
                group: ["framework"],
              }),
          },
          icon("chart"),
          "Runs like this",
        ),
      ),
    ),
    row.status === "ok"
      ? h(
          "dl",
          { class: "figures" },
          figures(row, record).map(([name, value, unit, small]) =>
            h(
              "div",
              { class: "figure" },
              h("dt", null, name),
              h("dd", null, value, unit && h("small", null, ` ${unit}`)),
              small && h("p", null, small),
            ),
          ),
        )
      : h(
          "div",
          { class: "note fail" },
          icon("fail"),
          h("span", null, h("b", null, `${statusWords(row.status)}: `), row.message),
        ),
    run.charts &&
      h(
        "div",
        { class: "split" },
        h("section", { class: "card" }, cardHeader(h("h2", null, "Every step"), stepWords(record)), steps),
        h("section", { class: "card" }, cardHeader(h("h2", null, "Spread of the steady steps"), "ms per step"), histogram),
      ),
    run.command &&
      h(
        "section",
        { class: "card" },
        h("header", null, h("div", null, h("h2", null, "Measure it again"))),
        h(
          "div",
          { class: "body" },
          h(
            "div",
            { class: "command" },
            h("code", { tabindex: "0" }, run.command),
            h("button", { class: "button small", onclick: () => copy(run.command, "Command copied") }, icon("copy"), "Copy"),
          ),
        ),
      ),
    h(
      "div",
      { class: "columns after" },
      sections(run).map(([title, list]) =>
        h(
          "section",
          { class: "card" },
          h("header", null, h("h2", null, title)),
          h(
            "dl",
            { class: "body pairs" },
            list.map(([k, v]) => [h("dt", null, k), h("dd", null, v)]),
          ),
        ),
      ),
    ),
    profileCard(run.profile),
    run.log &&
      h(
        "section",
        { class: "card" },
        cardHeader(
          h("h2", null, "Log"),
          run.log_truncated ? "the end of what the framework printed" : "what the framework printed",
        ),
        h("div", { class: "body" }, h("pre", { class: "log", tabindex: "0" }, run.log)),
      ),
  );
  if (!run.charts) return;
  /** @type {(d: any) => any} */
  const tip = (d) =>
    d.step !== undefined && d.ms !== undefined
      ? [h("h3", null, `Step ${d.step}`), h("div", { class: "big" }, `${figure(d.ms)} ms`), d.part && h("p", null, d.part)]
      : null;
  await Promise.all([
    drawChart(steps, run.charts.steps, { height: 200, words: stepWords(record), tip }),
    drawChart(histogram, run.charts.histogram, { height: 200, words: "histogram of the steady steps" }),
  ]);
}

/** @type {(record: any) => string} */
function stepWords(record) {
  const s = record?.steps;
  if (!s) return "";
  const n = s.count ?? s.seconds?.length ?? 0;
  return `${count(n, "step")}, the first ${s.steady_start} are warm-up${s.stopped_by ? `; stopped by ${s.stopped_by}` : ""}`;
}

/** @type {(row: Row, record: any) => any[][]} */
function figures(row, record) {
  const half =
    row.ci_low !== null && row.ci_low !== undefined && row.throughput ? (row.ci_high - row.ci_low) / 2 / row.throughput : null;
  return [
    row.throughput !== null &&
      row.throughput !== undefined && [
        "Throughput",
        figure(row.throughput),
        "samples/s",
        half !== null && `± ${figure(half, "percent")}: ${figure(row.ci_low)} to ${figure(row.ci_high)}`,
      ],
    ["Step", figure(row.batch_time_ms), "ms", row.p50_ms && `median ${figure(row.p50_ms)}`],
    row.p95_ms && ["95th percentile", figure(row.p95_ms), "ms", row.p99_ms && `99th ${figure(row.p99_ms)}`],
    row.limit_share !== null &&
      row.limit_share !== undefined && [
        "Share of the limit",
        figure(row.limit_share, "percent"),
        "",
        record?.cost?.peak_flops && `of ${figure(record.cost.peak_flops / 1e9)} GFLOP/s measured here`,
      ],
    row.peak_bytes && ["Peak memory", bytes(row.peak_bytes), ""],
    row.jitter !== null &&
      row.jitter !== undefined && [
        "Jitter",
        figure(row.jitter),
        "samples/s",
        row.uncertainty !== null && `uncertainty ${figure(row.uncertainty)}`,
      ],
  ].filter(Boolean);
}

/** @type {(v: number | null | undefined) => string | null} */
const share = (v) => (v === null || v === undefined ? null : figure(v, "percent"));
/** @type {(list: any[][]) => any[][]} */
const kept = (list) => list.filter(([, v]) => v !== null && v !== undefined && v !== "" && v !== "–");
/** @type {(names: string[]) => string} */
function counted(names) {
  const found = new Map();
  for (const name of names) found.set(name, (found.get(name) ?? 0) + 1);
  return [...found].map(([name, n]) => (n > 1 ? `${n} × ${name}` : name)).join(", ");
}

/** @type {(object: any) => string} */
const joined = (object) =>
  Object.entries(object ?? {})
    .map(([k, v]) => `${k}=${v}`)
    .join(" ");

/** @type {(run: RunAnswer) => [string, any[][]][]} */
function sections({ row, record }) {
  const { machine: m, software: s, contention: q, resources: r, cost: c, case: asked } = record ?? {};
  /** @type {[string, any[][]][]} */
  const all = [
    [
      "Machine",
      m
        ? kept([
            ["host", m.host],
            ["CPU", `${m.cpu}, ${count(m.cores, "core")}`],
            ["accelerators", counted((m.accelerators ?? []).map((/** @type {any} */ a) => a.name))],
            ["memory", bytes(m.memory_bytes)],
            ["system", [m.os, m.kernel].filter(Boolean).join(", ")],
            ["virtual", m.virtualised],
          ])
        : kept([
            ["server", row.server],
            ["device", row.device],
            ["interconnect", row.interconnect],
          ]),
    ],
    [
      "Software",
      s
        ? kept([
            ["framework", `${s.framework} ${s.framework_version}`],
            ["Python", s.python],
            ["ran as", [s.precision, s.threads && count(s.threads, "thread")].filter(Boolean).join(", ")],
            ["settings", joined(s.settings)],
            ["variables", joined(s.environment)],
            ["interpreter", s.interpreter],
            ["modules", (s.modules ?? []).join(" ")],
            ["steptime", s.steptime],
          ])
        : kept([
            ["software", row.software],
            ["runtime", row.runtime],
          ]),
    ],
    [
      "What disturbed it",
      q
        ? kept([
            ["verdict", `${q.verdict}: ${q.reason}`],
            ["CPU time", `${seconds(q.cpu_seconds)} in ${seconds(q.wall_seconds)}`],
            ["CPU pressure", share(q.pressure_share)],
            ["steal", share(q.steal_share)],
            ["others used", q.foreign_cores !== null && q.foreign_cores !== undefined ? `${figure(q.foreign_cores)} cores` : ""],
            ["involuntary switches", q.involuntary_switches],
          ])
        : [],
    ],
    [
      "Resources",
      kept([
        ["parameters", c?.parameters?.toLocaleString("en")],
        ["FLOPs per step", c?.flops_per_step ? `${figure(c.flops_per_step / 1e9)} G` : ""],
        ["achieved", c?.achieved_flops ? `${figure(c.achieved_flops / 1e9)} GFLOP/s` : ""],
        ["start-up", r ? seconds(r.startup_seconds) : ""],
        ["first step", r ? seconds(r.first_step_seconds) : ""],
        ["compilation", r ? seconds(r.compile_seconds) : ""],
        ["energy", r ? (r.energy_joules === null ? "unavailable" : `${figure(r.energy_joules)} J`) : ""],
        ["optimizer", asked?.optimizer],
        ["data", [row.data, row.data_store].filter(Boolean).join(", ")],
        [
          "loss",
          record?.first_loss !== null && record?.first_loss !== undefined
            ? `${figure(record.first_loss)} to ${figure(record.last_loss)}`
            : "",
        ],
      ]),
    ],
    [
      "How it ended",
      record?.failure
        ? kept([
            ["exit code", record.failure.exit_code],
            ["signal", record.failure.signal],
            ["last words", record.failure.log_tail],
          ])
        : [],
    ],
  ];
  return all.filter(([, list]) => list.length);
}
