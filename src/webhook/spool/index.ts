export { openSpool, type Spool, type SpoolOptions } from "./spool.js";
export { type SpooledWebhook } from "./record-line.js";
export { type DrainOptions, type DrainResult } from "./drain-spool.js";
export { type SetAsideListener } from "./set-aside.js";
export { type SpoolStats } from "./segment-counter.js";
