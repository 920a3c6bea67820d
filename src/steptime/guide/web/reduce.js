// Runs reduced to one row for each configuration and way of ending, as store/rollup.py does.

export const CONFIGURES = [
  "phase",
  "model",
  "framework",
  "framework_version",
  "backend",
  "software",
  "runtime",
  "precision",
  "data",
  "data_store",
  "server",
  "device",
  "device_type",
  "devices_per_node",
  "nodes",
  "interconnect",
  "replicas",
  "replica_batch",
  "effective_batch",
  "threads",
  "optimizer",
  "origin",
];

const sorted = (object) => Object.entries(object ?? {}).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

// A number for each different configuration, worked out once for all runs.
export function numberConfigurations(rows) {
  const known = new Map();
  for (const row of rows) {
    const key = JSON.stringify([CONFIGURES.map((c) => row[c] ?? null), sorted(row.labels)]);
    if (!known.has(key)) known.set(key, known.size);
    row.config = known.get(key);
  }
}

export function groupRows(rows, key) {
  const found = new Map();
  for (const row of rows) {
    const k = key(row);
    const list = found.get(k);
    if (list) list.push(row);
    else found.set(k, [row]);
  }
  return found;
}

export const present = (values) => values.filter((v) => v !== null && v !== undefined);

export const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

export function median(values) {
  const list = [...values].sort((a, b) => a - b);
  const half = list.length >> 1;
  return list.length % 2 ? list[half] : (list[half - 1] + list[half]) / 2;
}

// Of a sample; null where there is only one.
export function deviation(values) {
  if (values.length < 2) return null;
  const m = mean(values);
  return Math.sqrt(values.reduce((a, v) => a + (v - m) ** 2, 0) / (values.length - 1));
}
