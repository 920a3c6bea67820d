// Sentences, from the templates that Python has (guide/view/texts.py).

import { FACTS } from "./facts.js";

/** @type {(template: TextTemplate, fields?: Record<string, any>) => string} */
export const sayText = ({ many, one }, fields = {}) =>
  (one && fields.n === 1 ? one : many).replace(/\{(\w+)(:,)?\}/g, (_, name, grouped) =>
    grouped ? Number(fields[name]).toLocaleString("en") : String(fields[name]),
  );

/** @type {(code: keyof typeof FACTS.warnings, fields?: Record<string, any>) => ChartWarning} */
export const warning = (code, fields = {}) => ({ code, text: sayText(FACTS.warnings[code], fields) });
