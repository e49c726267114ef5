// npm run demo: one whole purchase without a browser, and what the kit makes of webhooks that are copies or forged.
// Exits 0 only if each stage did what it must. --json prints the timeline as JSON.
import { parseArgs } from "node:util";
import { prepare } from "./prepare.mjs";

const { json } = parseArgs({ options: { json: { type: "boolean", default: false } } }).values;
prepare();

// Only now is there something to import.
const { play } = await import("./demo/play.mjs");
const { Timeline } = await import("./demo/timeline.mjs");

const timeline = new Timeline({ json });
try {
  await play(timeline);
} catch (error) {
  timeline.fail(error);
}
timeline.conclude();
