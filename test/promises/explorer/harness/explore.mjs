import { loadKit } from "./load-kit.mjs";
import { plant, planted, plantIn } from "./planted.mjs";
import { runSeed } from "./run.mjs";
import { shorten } from "./shorten.mjs";

/** After so many violations the rest of the runs adds little. */
const maxFailed = 20;

/** Runs the seeds, and shortens the first run that violates something. Resolves to the sums and the violations. */
export async function explore(folder, { runs, seed, maxMs = Infinity, trace, twice }, progress) {
  const kit = loadKit(folder);
  const startedAt = performance.now();
  const total = { runs: 0, steps: 0, virtualMs: 0, struck: 0 };
  const failed = [];
  let first;
  for (let next = seed; next < seed + runs; next++) {
    const isTraced = twice || (trace && next === seed);
    const result = await runSeed(kit, next, { isTraced });
    if (twice) compare(result, await runSeed(kit, next, { isTraced }));
    total.runs += 1;
    for (const name of ["steps", "virtualMs", "struck"]) total[name] += result[name];
    progress?.tick(failed.length);
    if (trace) first ??= result;
    if (result.problems.length > 0) {
      failed.push({ seed: next, problems: result.problems });
      if (failed.length === 1) first = await shorten(kit, result);
    }
    if (failed.length >= maxFailed || performance.now() - startedAt > maxMs) break;
  }
  const ms = Math.round(performance.now() - startedAt);
  return { ok: failed.length === 0, seed, ...total, ms, failed, ...(first && { first }) };
}

/** Adds a violation where two runs of one seed differ. */
function compare({ trace, problems }, again) {
  const at = trace.findIndex((step, index) => step !== again.trace[index]);
  if (at === -1 && trace.length === again.trace.length) return;
  problems.push({ invariant: "determinism", text: `${trace[at]} / ${again.trace[at]}` });
}

/** Runs the kit with each planted fault until it is found. Resolves to the number of runs that each of them took. */
export async function findPlanted(folder, { runs, seed, names }, onFound) {
  const found = [];
  // Before anything is looked for: a fault that no longer fits would be noticed hours later.
  for (const fault of planted) plantIn(folder, fault);
  const wanted = planted.filter(({ name }) => !names || names.some((part) => name.includes(part)));
  for (const fault of wanted) {
    const copy = plant(folder, fault);
    try {
      const kit = loadKit(copy.folder);
      const result = await findOne(kit, { runs, seed });
      found.push({ name: fault.name, ...result });
      onFound?.(found.at(-1));
    } finally {
      copy.remove();
    }
  }
  return found;
}

async function findOne(kit, { runs, seed }) {
  for (let run = 1; run <= runs; run++) {
    const result = await runSeed(kit, seed + run - 1);
    if (result.problems.length === 0) continue;
    const { plan, problems, trace } = await shorten(kit, result);
    return { runs: run, seed: result.seed, problem: problems[0], faults: plan, steps: trace.length };
  }
  return { runs: undefined };
}
