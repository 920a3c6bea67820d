// How lists, filters and series are written in addresses; the same as guide/view/notation.py.

import { FACTS } from "./facts.js";
import { sayText } from "./texts.js";

/** @type {(text: string, separator?: string) => string[]} */
export function split(text, separator = ",") {
  const parts = [];
  let current = "";
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "\\" && i + 1 < text.length) {
      current += c + text[++i];
      continue;
    }
    depth = c === "(" ? depth + 1 : c === ")" ? Math.max(depth - 1, 0) : depth;
    if (c === separator && !depth) {
      parts.push(current);
      current = "";
    } else current += c;
  }
  parts.push(current);
  return parts;
}

/** @type {(text: string) => string} */
export const plain = (text) => text.replace(/\\([\s\S])/g, "$1");

/** @type {(c: string) => number} */
const nesting = (c) => (c === "(" ? 1 : c === ")" ? -1 : 0);

/** @type {(value: string) => boolean} */
function balanced(value) {
  let depth = 0;
  for (const c of value) {
    depth += nesting(c);
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** @type {(value: string) => string} */
export function escaped(value) {
  const special = new Set(balanced(value) ? "\\,;:=" : "\\,;:=()");
  let out = "";
  let depth = 0;
  for (const c of value) {
    if (!special.has("(")) depth += nesting(c);
    out += special.has(c) && (!depth || c === "\\") ? "\\" + c : c;
  }
  if (out.trim() !== out) {
    const lead = out.length - out.trimStart().length;
    out = out.slice(0, lead).replace(/\s/g, "\\$&") + out.slice(lead);
    if (/\s$/.test(out)) out = out.replace(/(?<!\\)\s/g, "\\$&");
  }
  return out;
}

/** @type {(text: string) => string} */
export function trimmed(text) {
  const left = text.trimStart();
  const kept = left.trimEnd();
  const slashes = kept.length - kept.replace(/\\+$/, "").length;
  return kept + left.slice(kept.length, kept.length + (slashes % 2));
}

/** @type {(text: string) => string[]} */
export const valuesOf = (text) => split(text).map((part) => plain(trimmed(part)));
/** @type {(values: string[]) => string} */
export const valueText = (values) => values.map(escaped).join(",");

// The values of a filter; what looks like another filter after a comma is an error that shows how two are written.
/** @type {(key: string, text: string, divider?: string) => string[]} */
export function filterValues(key, text, divider = "; ") {
  const parts = split(text);
  const other = parts.findIndex((part, i) => i > 0 && split(part, "=").length > 1);
  if (other < 0) return valuesOf(text);
  const fields = { key, before: parts.slice(0, other).join(","), divider, part: trimmed(parts[other]) };
  throw new Error(sayText(FACTS.notation.two_filters, fields));
}

/** @type {(text: string) => [string, string[]]} */
function filterOf(text) {
  const [key, ...rest] = text.split("=");
  if (!rest.length || !key.trim()) throw new Error(sayText(FACTS.notation.no_filter, { text }));
  return [key.trim(), filterValues(key.trim(), rest.join("="))];
}

/** @type {(pairs: Filters) => Filters} */
export function canonical(pairs) {
  /** @type {Map<string, string[]>} */
  const merged = new Map();
  for (const [key, values] of pairs) merged.set(key, [...(merged.get(key) ?? []), ...values]);
  return [...merged].sort(([a], [b]) => byCode(a, b)).map(([key, values]) => [key, [...new Set(values)].sort(byCode)]);
}

/** @type {(filters: Filters) => string} */
export const filtersText = (filters) => filters.map(([key, values]) => `${key}=${valueText(values)}`).join("; ");

/** @type {(text: string) => Filters} */
export const filtersOf = (text) =>
  canonical(
    split(text, ";")
      .filter((p) => p.trim())
      .map((p) => filterOf(trimmed(p))),
  );

const codeOf = (/** @type {string} */ c) => c.codePointAt(0) ?? 0;

// By code point, as Python sorts; the locale of the reader must not change an address.
/** @type {(a: string, b: string) => number} */
export function byCode(a, b) {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) if (x[i] !== y[i]) return codeOf(x[i]) - codeOf(y[i]);
  return x.length - y.length;
}

// The ends of `8..64`, an empty one being open; null for a single value.
/** @type {(kind: string, value: string) => [string, string] | null} */
export function ends(kind, value) {
  if (kind === "text") return null;
  const at = value.indexOf("..");
  return at < 0 ? null : [value.slice(0, at), value.slice(at + 2)];
}
