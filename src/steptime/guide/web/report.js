// The single-file report: the same page, with its runs packed into the file and an engine that answers in the browser.

import { drawnPicture } from "./chart.js";
import { chartSpecs, scalingSpecs } from "./charts.js";
import { download, h } from "./dom.js";
import { engineOf } from "./engine.js";
import { start } from "./main.js";
import { queryOf } from "./state.js";

async function unpack(id) {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

export function reportSource(engine, told) {
  const address = (view) => `#${queryOf(view)}`;
  const answered = (make) => async (...given) => make(...given);
  return {
    live: false,
    meta: answered(() => ({ ...engine.meta(), store: told.title, written: told.written })),
    answer: answered(engine.answer),
    facets: answered(engine.facets),
    runs: answered(engine.runs),
    run: answered(engine.run),
    address,
    link: (view) => location.href.split("#")[0] + address(view),
    read: () => location.hash.slice(1),
    file: address,
    async save(event, view, kind) {
      event.preventDefault();
      if (kind === "csv") return download("steptime.csv", "text/csv", engine.csv(view));
      if (kind === "svg") return download("steptime.svg", "image/svg+xml", await drawnPicture());
      const answer = view.kind === "run" ? engine.run(view.runs[0]) : view.kind === "runs" ? engine.runs(view, 1e9, 0) : engine.answer(view);
      const specs = answer.result ? chartSpecs(answer.result, engine.data) : answer.scaling ? Object.entries(scalingSpecs(answer.scaling)).map(([facet, spec]) => ({ facet, spec })) : [];
      const whole = specs.length === 1 ? specs[0].spec : { vconcat: specs.filter((s) => s.spec).map((s) => ({ title: s.facet, ...s.spec })) };
      return download(`steptime.${kind}`, "application/json", JSON.stringify(kind === "vl.json" ? { $schema: "https://vega.github.io/schema/vega-lite/v5.json", ...whole } : answer, null, 1));
    },
    formats: ["csv", "json", "svg", "vl.json"],
  };
}

// The charts' library is text until now: running it as a script needs no permission beyond its own hash.
unpack("vega").then((text) => document.head.append(h("script", { type: "module" }, text)));

unpack("runs").then((text) => {
  const told = JSON.parse(text);
  start(reportSource(engineOf(told), told));
});
