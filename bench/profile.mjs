// Shows where the CPU time of a webhook goes: node bench/profile.mjs "tillkit in memory" [webhooks] [connections]
// Runs one contender under --cpu-prof, and counts the samples by folder and by function.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { suites } from "./contenders/index.mjs";
import { Child } from "./harness/child.mjs";
import { Entrant } from "./harness/measure.mjs";
import { usePostgres } from "./harness/postgres-server.mjs";

const [, , name = "tillkit in memory", count = "20000", connections = "64"] = process.argv;
const contender = suites.flatMap((suite) => suite.contenders).find((one) => one.name === name);
if (!contender) throw new TypeError(`There is no contender "${name}".`);

const folder = mkdtempSync(path.join(os.tmpdir(), "tillkit-profile-"));
const postgres = /postgres/i.test(name) ? await usePostgres() : undefined;
const entrant = new Entrant(contender, Number(connections), ["--cpu-prof", `--cpu-prof-dir=${folder}`]);
const load = new Child("load.mjs");
await entrant.start();
// Only the last round is long, so that compiling, which happens in the first ones, hardly counts.
for (const webhooks of [1000, 3000, Number(count)]) {
  entrant.perSecond = webhooks;
  await entrant.round(load, 1);
}
const { cpuUs, perSecond } = entrant.rounds.at(-1);
await entrant.stop();
load.end();
await postgres?.stop();

const [file] = readdirSync(folder);
const profile = JSON.parse(readFileSync(path.join(folder, file), "utf8"));
rmSync(folder, { recursive: true });
const total = profile.samples.length;
const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
const counts = { places: new Map(), functions: new Map() };
const add = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
for (const id of profile.samples) {
  const { functionName, url, lineNumber } = nodes.get(id).callFrame;
  if (functionName === "(idle)") continue;
  add(counts.places, placeOf(url, functionName));
  add(counts.functions, `${functionName || "(anonymous)"} ${shortOf(url)}:${lineNumber + 1}`);
}
const busy = [...counts.places.values()].reduce((sum, each) => sum + each, 0);
console.log(`${name}: ${cpuUs.toFixed(0)} µs a webhook under the profiler, ${perSecond.toFixed(0)}/s`);
console.log(`${busy} of ${total} samples were busy\n`);
for (const [title, map] of Object.entries(counts)) {
  console.log(title);
  for (const [key, samples] of [...map]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, title === "places" ? 24 : 45))
    console.log(`  ${((100 * samples) / busy).toFixed(1).padStart(5)} %  ${key}`);
}

function placeOf(url, functionName) {
  if (url === "") return functionName.startsWith("(") ? functionName : "(native)";
  const kit = /dist\/\w+\/(.*)\/[^/]*$|dist\/\w+\/()[^/]*$/.exec(url);
  if (kit) return `tillkit/${kit[1] ?? ""}`;
  const module = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url);
  if (module) return module[1];
  return url.startsWith("node:") ? url : shortOf(url);
}

function shortOf(url) {
  return url.replace(/.*\/(dist|node_modules|bench)\//, "");
}
