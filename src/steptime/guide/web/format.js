// How figures are written: a few significant digits, units beside them, never a zero for what is missing.

/** @type {(value: number | null | undefined, form?: string) => string} */
export function figure(value, form = "number") {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (form === "percent") return `${trim(value * 100, 3)}%`;
  if (form === "bytes") return bytes(value);
  if (form === "ratio") return trim(value, 3);
  return trim(value, 4);
}

/** @type {(value: number | null | undefined, measure: { form: string, unit: string }) => string} */
export function withUnit(value, measure) {
  const text = figure(value, measure.form);
  return text === "–" || ["percent", "bytes"].includes(measure.form) || !measure.unit
    ? text
    : measure.unit === "×"
      ? `${text}×`
      : `${text} ${measure.unit}`;
}

/** @type {(value: number, digits: number) => string} */
function trim(value, digits) {
  const size = Math.abs(value);
  if (size >= 10 ** digits) return Math.round(value).toLocaleString("en");
  if (size && size < 1e-4) return value.toExponential(2);
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/** @type {(count: number | null | undefined) => string} */
export function bytes(count) {
  if (count === null || count === undefined) return "–";
  for (const unit of ["B", "kB", "MB", "GB", "TB"]) {
    if (count < 1000 || unit === "TB") return `${Number(count.toPrecision(3))} ${unit}`;
    count /= 1000;
  }
  return "";
}

/** @type {(n: number, word: string, many?: string) => string} */
export const count = (n, word, many = `${word}s`) => `${n.toLocaleString("en")} ${n === 1 ? word : many}`;

/** @type {(s: number | null | undefined) => string} */
export function seconds(s) {
  if (s === null || s === undefined) return "–";
  return s < 1 ? `${trim(s * 1e3, 3)} ms` : s < 100 ? `${trim(s, 3)} s` : `${trim(s / 60, 3)} min`;
}

/** @type {(iso: string | null | undefined) => string} */
export function when(iso) {
  return iso ? `${iso.slice(0, 10)} ${iso.slice(11, 16)}` : "–";
}

/** @type {(text: string) => string} */
export const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) : text);

/** @type {Record<string, string>} */
const STATUS_WORDS = {
  ok: "measured",
  unsupported: "unsupported",
  out_of_memory: "out of memory",
  illegal_instruction: "illegal instruction",
  crash: "crashed",
  timeout: "timed out",
  cancelled: "cancelled",
  wrong_result: "wrong result",
  node_failure: "node failed",
  launch_failed: "could not start",
};

/** @type {(status: string) => string} */
export const statusWords = (status) => STATUS_WORDS[status] ?? status;
