// Draws a specification into the page: in the room there is, with our tooltip;
// a click or Enter on a point opens what is behind it.

import { announce, h, icon, replace } from "./dom.js";
import { hideTip, showTip } from "./overlay.js";
import { fill } from "./fill.js";
import { themeValues } from "./theme.js";

const drawn = new WeakMap();
const EMBED = { ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: false, mode: "vega-lite" };
// In pixels; PANEL is the least for one of several charts. LONGEST is in letters.
const [PANEL, AXIS, PADDING, GAP, LETTER_WIDTH, LEGEND_ROW, LONGEST] = [300, 72, 16, 32, 7, 16, 37];

async function embed() {
  for (let i = 0; i < 1200 && !globalThis.vegaEmbed; i++) await new Promise((done) => setTimeout(done, 8));
  if (!globalThis.vegaEmbed) throw new Error("the chart library did not load");
  return globalThis.vegaEmbed;
}

// Files name the version of Vega-Lite that notebooks know; the library here is newer and would complain of it.
/** @type {(spec: Spec) => Spec} */
const undated = ({ $schema, ...spec }) => spec;

// A specification that is open but for size and theme, in the room that an element has.
/** @type {(spec: Spec, room: number, height: number, names: string[]) => Spec} */
function fitted(spec, room, height, names) {
  const panels = spec.concat?.length ?? (spec.facet ? Infinity : 1);
  const whole = !spec.concat && !spec.facet; // then its width includes the axis
  const columns = Math.max(1, Math.min(panels, Math.floor(room / PANEL)));
  const width = whole ? room : Math.floor((room - 2 * PADDING - GAP * (columns - 1)) / columns) - AXIS;
  const longest = Math.min(Math.max(4, ...names.map((name) => name.length)), LONGEST);
  const entries = Math.max(1, Math.floor((room - 100) / (LETTER_WIDTH * longest + 34)));
  // The plot keeps its height however many names there are.
  const legend = whole ? LEGEND_ROW * (Math.ceil(names.length / entries) - 1) : 0;
  return fill(spec, {
    ...themeValues(),
    titled: false,
    fitted: whole,
    width: Math.max(width, 140),
    height: height + Math.max(0, legend),
    columns,
    entries,
  });
}

/** @type {(spec: Spec) => boolean} */
const slants = (spec) => spec.autosize && spec.params?.some((/** @type {any} */ param) => param.name === "slanted");

// options: height, series (their names, for the legend), tip(datum) -> nodes or null, open(datum),
// words (what a screen reader is told), points (for the keyboard)
/** @type {(element: HTMLElement, spec: Spec, options?: ChartOptions) => Promise<any>} */
export async function drawChart(element, spec, options = {}) {
  const vegaEmbed = await embed();
  const own = fitted(spec, Math.max(260, element.clientWidth - 4), options.height ?? 300, options.series ?? []);
  const target = h("div", { role: "img", "aria-label": options.words ?? "chart", tabindex: options.points ? "0" : null });
  drawn.get(element)?.finalize();
  replace(element, target);
  const result = await vegaEmbed(target, undated(own), EMBED);
  drawn.set(element, result);
  if (slants(own) && result.view.signal("slanted")) await result.view.resize().runAsync(); // they need more room than was thought
  target.classList.remove("vega-embed");
  target.setAttribute("role", "img"); // Vega sets a role of its own
  /** @type {(item: any) => any} */
  const told = (item) => item?.datum && item.mark?.marktype !== "line" && options.tip?.(item.datum);
  result.view.addEventListener("mousemove", (/** @type {any} */ event, /** @type {any} */ item) => {
    const content = told(item);
    content ? showTip(event, content) : hideTip();
    target.classList.toggle("pointable", Boolean(content && options.open));
  });
  target.addEventListener("mouseleave", hideTip);
  if (options.open)
    result.view.addEventListener("click", (/** @type {any} */ _, /** @type {any} */ item) => {
      if (!told(item)) return;
      hideTip();
      options.open?.(item.datum);
    });
  if (options.points) walkable(target, result.view, options);
  return result;
}

// Arrow keys go from point to point, Enter opens one.
/** @type {(target: HTMLElement, view: any, options: ChartOptions) => void} */
function walkable(target, view, { points = [], tip, open, say }) {
  let at = -1;
  target.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step && points.length) {
      at = at < 0 && step < 0 ? points.length - 1 : (at + step + points.length) % points.length;
      const box = target.getBoundingClientRect();
      const [x, y] = placeOf(view, points[at]) ?? [box.width / 2, 40];
      showTip({ clientX: box.left + x - 12, clientY: box.top + y }, tip?.(points[at]));
      announce(say?.(points[at]) ?? "");
      event.preventDefault();
    } else if (event.key === "Enter" && at >= 0 && open) {
      hideTip();
      open(points[at]);
    } else if (event.key === "Escape") hideTip();
  });
  target.addEventListener("blur", hideTip);
}

// Where a point was drawn, in pixels from the corner of the chart.
/** @type {(view: any, datum: { point: number }) => [number, number] | null} */
function placeOf(view, { point }) {
  /** @type {(mark: any, x: number, y: number) => [number, number] | null} */
  const search = (mark, x, y) => {
    for (const item of mark.items ?? []) {
      if (mark.marktype === "group") {
        for (const inner of item.items ?? []) {
          const found = search(inner, x + (item.x ?? 0), y + (item.y ?? 0));
          if (found) return found;
        }
      } else if (item.datum?.point === point && ["rect", "symbol"].includes(mark.marktype))
        return [x + (item.bounds.x1 + item.bounds.x2) / 2, y + item.bounds.y1];
    }
    return null;
  };
  const [x, y] = view.origin();
  return search(view.scenegraph().root, x, y);
}

// A whole specification as a file, drawn where nobody sees it: "svg" gives text, "png" a blob.
/** @type {(spec: Spec, kind: string) => Promise<any>} */
export async function pictureOf(spec, kind) {
  const vegaEmbed = await embed();
  const { view } = await vegaEmbed(document.createElement("div"), undated(spec), EMBED);
  const made =
    kind === "svg"
      ? await view.toSVG()
      : await view.toCanvas(2).then((/** @type {HTMLCanvasElement} */ canvas) => new Promise((done) => canvas.toBlob(done)));
  view.finalize();
  return made;
}

export function chartSkeleton() {
  return h(
    "div",
    { class: "skeleton", "aria-hidden": "true" },
    [46, 72, 34, 88, 58, 66, 40, 80, 52].map((p) => bar(p)),
  );
}

/** @type {(percent: number) => HTMLElement} */
function bar(percent) {
  const element = h("i");
  element.style.height = `${percent}%`;
  return element;
}

/** @type {(title: string, words: string, ...rest: any[]) => HTMLElement} */
export function empty(title, words, ...rest) {
  return h("div", { class: "empty" }, icon("chart"), h("h2", null, title), h("p", null, words), rest);
}

/** @type {(error: any, retry?: any) => HTMLElement} */
export function problem(error, retry) {
  return h(
    "div",
    { class: "empty", role: "alert" },
    icon("warn"),
    h("h2", null, "That cannot be shown"),
    h("p", null, error.message),
    retry && h("div", { class: "row" }, retry),
  );
}

// What is shown in place of a view while the store has no results.
/** @type {(app: App) => HTMLElement} */
export function firstSteps(app) {
  return empty(
    "No results yet",
    `Nothing is in ${app.meta.store} yet. Measure something; it appears here by itself, without a reload.`,
    h("pre", null, "steptime setup pytorch\nsteptime run mnist_cnn --batch 16,32,64 --store ", app.meta.store),
  );
}
