// The single-file report: the same page, with its runs packed into the file and an engine that answers in the browser.

import { pictureOf } from "./chart.js";
import { byId, download, h } from "./dom.js";
import { engineOf } from "./engine.js";
import { fill } from "./fill.js";
import { start } from "./main.js";
import { queryOf } from "./state.js";
import { themeValues } from "./theme.js";

/** @type {(id: string) => Promise<string>} */
async function unpack(id) {
  const packed = Uint8Array.from(atob(byId(id).textContent.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** @type {(engine: Engine, data: ReportData) => Source} */
function reportSource(engine, data) {
  /** @type {(view: View) => string} */
  const address = (view) => `#${queryOf(view)}`;
  return {
    live: false,
    meta: async () => ({ ...engine.meta(), store: data.title, written: data.written }),
    answer: async (view) => engine.answer(view),
    alike: async (view) => engine.alike(view),
    facets: async (view) => engine.facets(view),
    runs: async (view, limit, offset) => engine.runs(view, limit, offset),
    address,
    link: (view) => location.href.split("#")[0] + address(view),
    read: () => location.hash.slice(1),
    file: address,
    async save(event, view, suffix) {
      event.preventDefault();
      if (suffix === "csv") return download("steptime.csv", "text/csv", engine.csv(view));
      if (suffix === "json")
        return download("steptime.json", "application/json", JSON.stringify(engine.answer(view).answer, null, 1));
      const spec = fill(engine.chart(view), themeValues());
      if (suffix === "vl.json") return download("steptime.vl.json", "application/json", JSON.stringify(spec, null, 1));
      return download(`steptime.${suffix}`, suffix === "svg" ? "image/svg+xml" : "image/png", await pictureOf(spec, suffix));
    },
    formats: ["csv", "json", "svg", "png", "vl.json"],
  };
}

// The charts' library is text until now: running it as a script needs no permission beyond its own hash.
unpack("vega").then((text) => document.head.append(h("script", { type: "module" }, text)));

unpack("runs").then((text) => {
  const data = JSON.parse(text);
  start(reportSource(engineOf(data), data));
});
