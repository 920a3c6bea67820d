// How lists, filters and series are written in addresses; the same as guide/notation.py, held to it by tests/guide/golden.json.

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

export const plain = (text) => text.replace(/\\([\s\S])/g, "$1");

const nesting = (c) => (c === "(" ? 1 : c === ")" ? -1 : 0);

function balanced(value) {
  let depth = 0;
  for (const c of value) {
    depth += nesting(c);
    if (depth < 0) return false;
  }
  return depth === 0;
}

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

export function trimmed(text) {
  const left = text.trimStart();
  const kept = left.trimEnd();
  const slashes = kept.length - kept.replace(/\\+$/, "").length;
  return kept + left.slice(kept.length, kept.length + (slashes % 2));
}

export const valuesOf = (text) => split(text).map((part) => plain(trimmed(part)));
export const valueText = (values) => values.map(escaped).join(",");

function filterOf(text) {
  const at = text.indexOf("=");
  return at < 0 ? null : [text.slice(0, at).trim(), valuesOf(text.slice(at + 1))];
}

export function canonical(pairs) {
  const found = new Map();
  for (const [key, values] of pairs) found.set(key, [...(found.get(key) ?? []), ...values]);
  return [...found.keys()].sort(byCode).map((key) => [key, [...new Set(found.get(key))].sort(byCode)]);
}

export const filtersText = (filters) => filters.map(([key, values]) => `${key}=${valueText(values)}`).join("; ");

export const filtersOf = (text) =>
  canonical(
    split(text, ";")
      .filter((p) => p.trim())
      .map((p) => filterOf(trimmed(p)))
      .filter(Boolean),
  );

// By code point, as Python sorts; the locale of the reader must not change an address.
export function byCode(a, b) {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) if (x[i] !== y[i]) return x[i].codePointAt(0) - y[i].codePointAt(0);
  return x.length - y.length;
}

// The ends of `8..64`, an empty one being open; null for a single value.
export function ends(kind, value) {
  if (kind === "text") return null;
  const at = value.indexOf("..");
  return at < 0 ? null : [value.slice(0, at), value.slice(at + 2)];
}
