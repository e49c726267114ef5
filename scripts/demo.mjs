// npm run demo: one complete purchase without a browser, and then a repeated, a forged and a changed webhook.
// Exits with 0 only if every check passed. --json prints the timeline as JSON.
import { parseArgs } from "node:util";
import { prepare } from "./prepare.mjs";

const { json } = parseArgs({ options: { json: { type: "boolean", default: false } } }).values;
prepare();

// These modules exist only after `prepare`.
const { play } = await import("./demo/play.mjs");
const { Timeline } = await import("./demo/timeline.mjs");

const timeline = new Timeline({ json });
try {
  await play(timeline);
} catch (error) {
  timeline.fail(error);
}
timeline.conclude();
