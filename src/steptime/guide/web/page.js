// The page that `steptime guide` serves.

import { start } from "./main.js";
import { serverSource } from "./source.js";

start(serverSource());
