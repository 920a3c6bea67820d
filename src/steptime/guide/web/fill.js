// Puts values into a form, by the rules of guide/charts/spec_template.py. All that JavaScript knows of how charts are written.

/** @type {(form: any, values: Record<string, any>) => any} */
export function fill(form, values) {
  if (Array.isArray(form)) return form.map((part) => fill(part, values)).filter((part) => part !== undefined);
  if (form === null || typeof form !== "object") return form;
  if ("$" in form) return form.$ in values ? values[form.$] : form;
  if ("$if" in form && form.$if in values) return fill(values[form.$if] ? form.then : form.else, values);
  return Object.fromEntries(
    Object.entries(form)
      .map(([key, part]) => [key, fill(part, values)])
      .filter(([, part]) => part !== undefined),
  );
}
