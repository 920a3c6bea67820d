// Elements from plain values. Text is always text: nothing here ever parses HTML, so a record cannot bring markup along.

const SVG = "http://www.w3.org/2000/svg";

/** @type {MakeElement<HTMLElementTagNameMap>} */
export function h(name, attributes, ...children) {
  return furnish(document.createElement(name), attributes, children);
}

/** @type {MakeElement<SVGElementTagNameMap>} */
export function svg(name, attributes, ...children) {
  return furnish(document.createElementNS(SVG, name), attributes, children);
}

/** @type {<E extends HTMLElement | SVGElement>(element: E, attributes: Attributes | null | undefined, children: any[]) => E} */
function furnish(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.setAttribute("class", value);
    else if (key === "vars") for (const [name, v] of Object.entries(value)) element.style.setProperty(name, v);
    else if (PROPERTIES.has(key)) Object.assign(element, { [key]: value });
    else element.setAttribute(key, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

const PROPERTIES = new Set(["value", "checked", "selected", "disabled", "open", "indeterminate"]);

/** @type {(element: Element, children: any[]) => void} */
function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** @type {<E extends Element>(element: E, ...children: any[]) => E} */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

const ICONS = {
  share: "M12 15V4m0 0L8 8m4-4 4 4M5 13v5a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-5",
  filter: "M4 6h16M7 12h10M10 18h4",
  close: "M6 6l12 12M18 6 6 18",
  moon: "M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z",
  sun:
    "M12 4V2m0 20v-2m8-8h2M2 12h2m13.7-5.7 1.4-1.4M4.9 19.1l1.4-1.4" +
    "m0-11.4L4.9 4.9m14.2 14.2-1.4-1.4M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8z",
  plus: "M12 5v14M5 12h14",
  warn: "M12 9v4m0 3.5v.01M10.3 4.6 2.9 17.5A2 2 0 0 0 4.6 20.5h14.8a2 2 0 0 0 1.7-3L13.7 4.6a2 2 0 0 0-3.4 0z",
  fail: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9 9l6 6m0-6-6 6",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zm0-10v5m0-8v.01",
  chevron: "M9 6l6 6-6 6",
  back: "M15 6l-6 6 6 6",
  chart: "M4 20V10m6 10V4m6 16v-7m4 7H2",
  table: "M4 5h16v14H4zM4 10h16M4 15h16M10 5v14",
  copy: "M9 9h10v11H9zM5 15V4h10",
  down: "M12 4v11m0 0-4-4m4 4 4-4M5 20h14",
  check: "M5 12.5l4.5 4.5L19 7.5",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
};

/** @type {(name: keyof typeof ICONS) => SVGElement} */
export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/**
 * The top of a card: its heading, and a line of text below.
 * @param {HTMLElement} heading @param {string} text
 */
export const cardHeader = (heading, text) => h("header", null, h("div", null, heading, h("p", null, text)));

// What went wrong, where something small was expected; a whole card has `problem` of chart.js.
/** @type {(error: any) => HTMLElement} */
export const failure = (error) => h("p", { class: "note fail" }, icon("fail"), error.message);

// An element that the page itself has.
/** @type {(id: string) => HTMLElement} */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

// One sentence for those who cannot see what changed.
/** @type {(text: string) => void} */
export function announce(text) {
  byId("announce").textContent = text;
}

/** @type {(name: string, type: string, content: BlobPart) => void} */
export function download(name, type, content) {
  const link = h("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
