// The measured build without grouping: a commit starts immediately, so that each webhook is answered by itself. It is compared
// with the kit, which waits for the end of the event loop's iteration. The two builds differ in one line.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { freshFolder, kitFolder } from "../harness/build.mjs";
import { signHex } from "../harness/sign.mjs";

/** The line of group-commit.js that waits for the end of the event loop's iteration. */
const waiting = /setImmediate\(\(\) => (void [\w.#]+\(\))\);/g;

export const sign = signHex;
const webhookPath = "/payments/webhook";
export { webhookPath as path };

export async function start(port, options) {
  process.env.TILLKIT_BENCH_KIT = copyWithoutGroups(kitFolder());
  const tillkit = await import("./tillkit.mjs");
  return tillkit.start(port, options);
}

function copyWithoutGroups(build) {
  const folder = freshFolder("bench-ungrouped-");
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  cpSync(build, folder, { recursive: true });
  const found = readdirSync(folder, { recursive: true }).find((file) => /\bgroup-commit\.js$/.test(file));
  const file = path.join(folder, found ?? "group-commit.js");
  const code = readFileSync(file, "utf8");
  if (code.match(waiting)?.length !== 1) throw new TypeError(`group-commit.js has no line like ${waiting}.`);
  writeFileSync(file, code.replace(waiting, "$1;"));
  return folder;
}
