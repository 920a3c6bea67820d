// Where the time of a run went, as a profiler saw it: one table for each kind of entry, a bar for each share.

import { h } from "./dom.js";
import { count, figure, seconds } from "./format.js";
import { dataTable } from "./table.js";

/** @type {Record<string, string>} */
const PROFILE_TITLES = { kernel: "Kernels", operator: "Operators", copy: "Copies", runtime: "Runtime calls" };
const PROFILE_ORDER = ["kernel", "operator", "copy", "runtime"];

/** @type {(profile: any) => HTMLElement | null} */
export function profileCard(profile) {
  if (!profile?.entries?.length) return null;
  const found = [...new Set(/** @type {any[]} */ (profile.entries).map((e) => /** @type {string} */ (e.kind)))];
  const kinds = [...PROFILE_ORDER.filter((k) => found.includes(k)), ...found.filter((k) => !PROFILE_ORDER.includes(k))];
  return h(
    "section",
    { class: "card profile-card" },
    h(
      "header",
      null,
      h(
        "div",
        null,
        h("h2", null, "Profile"),
        h(
          "p",
          null,
          `${profileWords(profile)}. This is time under a profiler (${profile.source}), which is longer than without one.`,
        ),
      ),
    ),
    kinds.map((kind, i) =>
      h("details", { class: "body", open: i === 0 }, h("summary", null, kindSummary(profile, kind)), profileTable(profile, kind)),
    ),
  );
}

/** @type {(profile: any) => string} */
function profileWords(profile) {
  const share = profile.device_busy_share;
  return [
    share === null || share === undefined
      ? "No device was profiled"
      : `The device was busy for ${figure(share, "percent")} of the time`,
    `${seconds(profile.span_seconds)} in all${profile.steps ? `, ${count(profile.steps, "step")}` : ""}`,
  ].join("; ");
}

/** @type {(profile: any, kind: string) => string} */
function kindSummary(profile, kind) {
  const busy = profile.busy_seconds?.[kind];
  return `${PROFILE_TITLES[kind] ?? kind}${busy === undefined ? "" : `: at least one ran for ${seconds(busy)}`}`;
}

/** @type {(profile: any, kind: string) => any[]} */
function profileTable(profile, kind) {
  const entries = profile.entries.filter((/** @type {any} */ e) => e.kind === kind);
  const more = profile.left_out?.[kind];
  /** @type {TableColumn<any>[]} */
  const columns = [
    ["Name", (e) => e.name, (e) => h("span", { title: e.name }, e.name), "name"],
    [
      "Share",
      (e) => e.share,
      (e) =>
        h(
          "div",
          { class: "share" },
          h("span", null, figure(e.share, "percent")),
          h("meter", { min: "0", max: "1", value: e.share, "aria-hidden": "true" }),
        ),
      "r",
    ],
    ["Self", (e) => e.self_seconds, (e) => seconds(e.self_seconds), "r"],
    ["With what it called", (e) => e.total_seconds, (e) => seconds(e.total_seconds), "r"],
    ["Calls", (e) => e.calls, (e) => e.calls.toLocaleString("en"), "r"],
  ];
  const table = dataTable(columns, entries, `${PROFILE_TITLES[kind] ?? kind} by their own time`);
  table.classList.add("profile");
  return [table, more && h("p", { class: "muted" }, `${count(more, "other")} that took less`)];
}
