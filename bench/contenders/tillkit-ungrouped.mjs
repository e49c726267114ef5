// The measured build without grouping: a commit starts immediately, so that each webhook is answered by itself. It is compared
// with the kit, which waits for the end of the event loop's iteration. The two builds differ in one line.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { freshFolder } from "../harness/build.mjs";
import { kitFolder } from "../harness/kit-folder.mjs";
import { signHex } from "../harness/sign.mjs";

/** The line of group-commit.ts that waits for the end of the event loop's iteration. */
const waiting = /setImmediate\(\(\) => (void this\.#drain\(\))\);/;

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
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".js"))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => waiting.test(readFileSync(file, "utf8")));
  if (files.length !== 1) throw new TypeError(`${files.length} files have a line like ${waiting}, not one.`);
  writeFileSync(files[0], readFileSync(files[0], "utf8").replace(waiting, "$1;"));
  return folder;
}
