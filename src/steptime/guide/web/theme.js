// Light, dark, or as the system says; and the same colours for charts.

export function theme() {
  const set = document.documentElement.dataset.theme;
  return set ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

export function loadTheme() {
  try {
    const kept = localStorage.getItem("steptime-theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // a report opened from a file may have no storage
  }
}

export function switchTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("steptime-theme", next);
  } catch {
    // then it lasts as long as the page
  }
  dispatchEvent(new Event("steptime-theme"));
}

export function onTheme(listener) {
  addEventListener("steptime-theme", listener);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", listener);
}

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const token = (name) => style.getPropertyValue(`--${name}`).trim();
  return Object.fromEntries(["ink", "soft", "muted", "faint", "line", "surface", "accent", "bad", "warn"].map((name) => [name, token(name)]));
}

// Laid over the config of a spec, whatever theme it was made for.
export function chartConfig() {
  const c = colours();
  const font = getComputedStyle(document.body).fontFamily;
  const axis = { labelColor: c.muted, titleColor: c.soft, gridColor: c.line, domainColor: c.line, tickColor: c.line, labelFont: font, titleFont: font };
  return {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: { ...axis, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 550, labelPadding: 6, titlePadding: 10, tickSize: 4 },
    legend: { labelColor: c.soft, titleColor: c.muted, labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 550, symbolSize: 90, labelLimit: 220 },
    title: { color: c.ink, font },
    text: { color: c.ink, font },
    rule: { color: c.ink },
    line: { color: c.ink },
  };
}
