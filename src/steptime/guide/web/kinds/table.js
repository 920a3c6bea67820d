// The explorer's points as a table.

import { chartKind } from "./chart.js";

/** @type {ViewKind<Result>} */
export const tableKind = { ...chartKind, tab: "chart" };
