// The runs of a report: dictionary-coded columns made into rows, and which of them a filter lets through.

import { ends } from "./notation.js";

// {columns: {name: {d: [values], c: [codes]} | [values]}} to one object per run; null is what is not known.
export function decodeRows(columns) {
  const names = Object.keys(columns);
  const n = names.length ? (columns[names[0]].c ?? columns[names[0]]).length : 0;
  const rows = Array.from({ length: n }, () => ({}));
  for (const name of names) {
    const column = columns[name];
    if (column.c) for (let i = 0; i < n; i++) rows[i][name] = column.d[column.c[i]];
    else for (let i = 0; i < n; i++) rows[i][name] = column[i];
  }
  return rows;
}

const text = (value) => (value === null || value === undefined ? "" : String(value));

// The value of a dimension as text: what addresses, axes and filters speak of.
export function valueOf(row, name, scaling) {
  if (name === "batch") return text(scaling === "strong" ? row.effective_batch : row.replica_batch);
  if (name === "date") return text(row.started).slice(0, 10);
  if (name === "data_type") return dataType(row);
  if (name.startsWith("label.")) return text(row.labels?.[name.slice(6)]);
  return text(row[name]);
}

function dataType(row) {
  const [data, store] = [text(row.data), text(row.data_store)];
  return store ? `${data} (${store})` : data;
}

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

const asNumber = (value) => (DECIMAL.test(value) && Number.isFinite(Number(value)) ? Number(value) : null);

const before = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

// As people sort names: resnet50 before ResNet101.
function byName(a, b) {
  const [x, y] = [a, b].map((v) => v.toLowerCase().split(/([0-9]+)/));
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const order = i % 2 ? before(BigInt(x[i]), BigInt(y[i])) : before(x[i], y[i]);
    if (order) return order;
  }
  return x.length - y.length || before(a, b);
}

// Declared order first; then, if all are numbers, by number; else by name.
export function inOrder(dimension, values) {
  const present = [...new Set(values)];
  const declared = (dimension.order ?? []).filter((v) => present.includes(v));
  const rest = present.filter((v) => !declared.includes(v));
  const numbers = new Map(rest.map((v) => [v, asNumber(v)]));
  const byNumber = (a, b) => before(numbers.get(a), numbers.get(b)) || before(a, b);
  return [...declared, ...rest.sort([...numbers.values()].includes(null) ? byName : byNumber)];
}

// Whether one value passes a filter, whose values may be ranges; the same as select.passes in Python.
export function accepts(kind, wanted) {
  const texts = new Set(wanted);
  const ranges = kind === "text" ? [] : wanted.filter((w) => w !== "").map((w) => ends(kind, w) ?? [w, w]);
  if (kind === "text") return (value) => texts.has(value);
  return (value) => (value === "" ? texts.has("") : ranges.some((range) => within(kind, value, range)));
}

function within(kind, value, [low, high]) {
  if (kind === "number") return (low === "" || Number(value) >= Number(low)) && (high === "" || Number(value) <= Number(high));
  return (low === "" || value >= low) && (high === "" || value.slice(0, high.length) <= high);
}

export function passes(filters, dimensions, scaling) {
  const tests = filters.map(([name, values]) => [name, accepts(dimensions(name).kind, values)]);
  return (row) => tests.every(([name, test]) => test(valueOf(row, name, scaling)));
}
