// What may be asked of results, and in which order values come; the tables are those of guide/view/dimensions.py.

import { FACTS } from "./facts.js";

/** @type {Map<string, Dimension>} */
const DIMENSIONS = new Map(FACTS.dimensions.map((d) => [d.name, d]));
/** @type {Map<string, Measure>} */
const MEASURES = new Map(FACTS.measures.map((m) => [m.name, m]));

const labelled = (/** @type {string} */ name) => ({
  name,
  label: name.replace(FACTS.label_prefix, ""),
  kind: "text",
  order: [],
  configures: true,
});

/** @type {(name: string) => Dimension} */
export const dimensionNamed = (name) => DIMENSIONS.get(name) ?? labelled(name);

/** @type {(name: string) => string} */
export const labelOf = (name) => dimensionNamed(name).label;

/** @type {(name: string) => Measure} */
export const measureNamed = (name) =>
  MEASURES.get(name) ?? { name, label: name, unit: "", better: "higher", form: "number", interval: false };

/** @type {<T extends string | number | bigint>(a: T, b: T) => number} */
export const before = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** @type {(a: [string, unknown], b: [string, unknown]) => number} */
export const byKey = ([a], [b]) => before(a, b);

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** @type {(value: string) => boolean} */
const isNumber = (value) => DECIMAL.test(value) && Number.isFinite(Number(value));

// As people sort names: resnet50 before ResNet101.
/** @type {(a: string, b: string) => number} */
function byName(a, b) {
  const [x, y] = [a, b].map((v) => v.toLowerCase().split(/([0-9]+)/));
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const order = i % 2 ? before(BigInt(x[i]), BigInt(y[i])) : before(x[i], y[i]);
    if (order) return order;
  }
  return x.length - y.length || before(a, b);
}

// Declared order first; then, if all are numbers, by number; else by name.
/** @type {(dimension: Dimension, values: Iterable<string>) => string[]} */
export function inOrder(dimension, values) {
  const present = new Set(values);
  const declared = dimension.order.filter((v) => present.has(v));
  const rest = [...present].filter((v) => !declared.includes(v));
  /** @type {(a: string, b: string) => number} */
  const byNumber = (a, b) => Number(a) - Number(b) || before(a, b);
  return [...declared, ...rest.sort(rest.every(isNumber) ? byNumber : byName)];
}

// Rows of which each is a list of values, by the order that each place has.
/** @type {(orders: string[][]) => (a: string[], b: string[]) => number} */
export const byPlaces = (orders) => (a, b) =>
  orders.map((order, i) => order.indexOf(a[i]) - order.indexOf(b[i])).find((difference) => difference) ?? 0;
