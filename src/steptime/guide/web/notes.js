// What a reader should know before believing a chart, below it.

import { count } from "./format.js";

export const disturbedWords = (n) => `${count(n, "run")} left out because something else disturbed ${n === 1 ? "it" : "them"}`;
