import { runSeed } from "./run.mjs";

/** Returns the faults of a failed run without those that are not needed for the same violation, and that run with its steps. */
export async function shorten(kit, { seed, plan, problems }) {
  const [{ invariant }] = problems;
  let shortest = plan;
  for (let at = shortest.length - 1; at >= 0; at--) {
    const without = shortest.toSpliced(at, 1);
    const result = await runSeed(kit, seed, { plan: without });
    if (result.problems.some((problem) => problem.invariant === invariant)) shortest = without;
  }
  return runSeed(kit, seed, { plan: shortest, isTraced: true });
}
