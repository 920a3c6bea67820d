// Where answers come from. The page asks the server; the single-file report brings an engine along that answers alike.

import { parseView, queryOf } from "./state.js";

export class Refused extends Error {}

/** @type {(path: string) => Promise<any>} */
async function ask(path) {
  let answer;
  try {
    answer = await fetch(path, { headers: { accept: "application/json" }, credentials: "same-origin" });
  } catch {
    throw new Error("The guide does not answer. Is `steptime guide` still running?");
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new (answer.status < 500 ? Refused : Error)(body.error ?? `the guide answered ${answer.status}`);
  return body;
}

/** @type {() => Source} */
export function serverSource() {
  return {
    live: true,
    meta: () => ask("/api/meta"),
    version: () => ask("/api/version"),
    answer: (view) => ask(`/api/view?${queryOf(view)}`),
    alike: async (view) => parseView((await ask(`/api/alike?${queryOf(view)}`)).query),
    facets: (view) => ask(`/api/facets?${queryOf(view)}`),
    runs: (view, limit, offset) => ask(`/api/runs?${queryOf(view)}&limit=${limit}&offset=${offset}`),
    address: (view) => `/guide${queryOf(view) ? "?" + queryOf(view) : ""}`,
    link: (view) => `${location.origin}/guide${queryOf(view) ? "?" + queryOf(view) : ""}`,
    read: () => location.search,
    file: (view, suffix) => `/guide.${suffix}${queryOf(view) ? "?" + queryOf(view) : ""}`,
    formats: ["csv", "json", "svg", "png", "vl.json"],
  };
}
