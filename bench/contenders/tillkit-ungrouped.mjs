// The kit as it would be without groups: a commit begins at once, so that a webhook is answered by itself and not together with
// the others of its turn. What releasing them together is compared with. It is the build that is measured, but for one line.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { freshFolder, kitFolder } from "../harness/build.mjs";
import { signHex } from "../harness/sign.mjs";

const grouped = "setImmediate(() => void drain());";
const ungrouped = "void drain();";

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
  const file = path.join(folder, "recording/group-commit.js");
  const around = readFileSync(file, "utf8").split(grouped);
  if (around.length !== 2) throw new TypeError(`group-commit.js has no line "${grouped}" any more.`);
  writeFileSync(file, around.join(ungrouped));
  return folder;
}
