export { openSpool, type Spool, type SpoolOptions } from "./spool.js";
export { type SpooledWebhook } from "./record-line.js";
export { type DrainOptions } from "./drain-segment.js";
export { type DrainResult } from "./drain-spool.js";
export { type SetAsideListener } from "./set-aside.js";
export { type SpoolStats } from "./spool-stats.js";
