// Draws a Vega-Lite spec into the page: our colours, our tooltip, a click or Enter on a point opens what is behind it.

import { announce, h, icon, replace } from "./dom.js";
import { hideTip, showTip } from "./overlay.js";
import { chartConfig } from "./theme.js";

const drawn = new WeakMap();

async function embed() {
  for (let i = 0; i < 400 && !globalThis.vegaEmbed; i++) await new Promise((done) => setTimeout(done, 25));
  if (!globalThis.vegaEmbed) throw new Error("the chart library did not load");
  return globalThis.vegaEmbed;
}

// options: height, tip(datum) -> nodes or null, open(datum), words (what a screen reader is told), points (for the keyboard)
export async function drawChart(element, spec, options = {}) {
  const vegaEmbed = await embed();
  const own = structuredClone(spec);
  const config = chartConfig();
  own.config = { ...own.config, ...config, axis: { ...own.config?.axis, ...config.axis }, legend: { ...own.config?.legend, ...config.legend } };
  delete own.background;
  if (options.height) own.height = options.height;
  if (options.width !== null) own.width = options.width ?? Math.max(260, element.clientWidth - 30);
  own.autosize = { type: "fit", contains: "padding", resize: true };
  const target = h("div", { role: "img", "aria-label": options.words ?? "chart", tabindex: options.points ? "0" : null });
  drawn.get(element)?.finalize();
  replace(element, target);
  const result = await vegaEmbed(target, own, { ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: false, mode: "vega-lite" });
  drawn.set(element, result);
  target.classList.remove("vega-embed");
  target.setAttribute("role", "img"); // Vega sets a role of its own
  result.view.addEventListener("mousemove", (event, item) => {
    const content = item?.datum && options.tip?.(item.datum);
    content ? showTip(event, content) : hideTip();
    target.classList.toggle("pointable", Boolean(content && options.open));
  });
  target.addEventListener("mouseleave", hideTip);
  if (options.open) result.view.addEventListener("click", (_, item) => item?.datum && options.tip?.(item.datum) && (hideTip(), options.open(item.datum)));
  if (options.points) walkable(target, options);
  return result;
}

// Arrow keys go from point to point, Enter opens one.
function walkable(target, { points, tip, open, say }) {
  let at = -1;
  target.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step && points.length) {
      at = (at + step + points.length) % points.length;
      const box = target.getBoundingClientRect();
      showTip({ clientX: box.left + (box.width * (at + 0.5)) / points.length, clientY: box.top + 40 }, tip(points[at]));
      announce(say(points[at]));
      event.preventDefault();
    } else if (event.key === "Enter" && at >= 0 && open) {
      hideTip();
      open(points[at]);
    }
  });
  target.addEventListener("blur", hideTip);
}

export function chartSkeleton() {
  return h("div", { class: "skeleton", "aria-hidden": "true" }, [46, 72, 34, 88, 58, 66, 40, 80, 52].map((p) => bar(p)));
}

function bar(percent) {
  const element = h("i");
  element.style.height = `${percent}%`;
  return element;
}

export function empty(title, words, ...rest) {
  return h("div", { class: "empty" }, icon("chart"), h("h2", null, title), h("p", null, words), rest);
}

export function problem(error, retry) {
  return h("div", { class: "empty", role: "alert" }, icon("warn"), h("h2", null, "That cannot be shown"), h("p", null, error.message), retry && h("div", { class: "row" }, retry));
}

// The first chart on the page, as a file.
export async function drawnPicture() {
  const element = document.querySelector(".chart");
  return element && drawn.has(element) ? drawn.get(element).view.toSVG() : "";
}
