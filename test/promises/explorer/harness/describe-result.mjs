import { describeFault } from "./plan.mjs";

/** Returns the result of many runs, for people. */
export function describeResult({ runs, steps, virtualMs, struck, ms, failed, first }) {
  const hours = Math.round(virtualMs / 360_000) / 10;
  const lines = [
    `${runs} runs, ${steps} steps, ${struck} faults, ${hours} simulated hours, in ${Math.round(ms / 1000)} s`,
    ...failed.flatMap(({ seed, problems }) =>
      problems.map(({ invariant, text }) => `seed ${seed} violates ${invariant}: ${text}`),
    ),
  ];
  if (first) lines.push("", ...describeRun(first));
  return lines.join("\n");
}

function describeRun({ seed, plan, problems, trace }) {
  return [
    `seed ${seed}, with the faults that it needs:`,
    ...(plan.length > 0 ? plan.map((fault) => `  ${describeFault(fault)}`) : ["  none"]),
    "its steps:",
    ...trace.map((line) => `  ${line}`),
    ...problems.map(({ invariant, text }) => `violates ${invariant}: ${text}`),
    `again: npm run explore -- --seed ${seed} --runs 1`,
  ];
}

/** Returns the table of planted faults. */
export function describePlanted(found) {
  return found
    .map(({ name, runs, seed, problem, faults }) =>
      runs === undefined
        ? `NOT FOUND        ${name}`
        : `${String(runs).padStart(5)} runs  ${name} (${problem.invariant}, seed ${seed}, with ${faults.length} faults)`,
    )
    .join("\n");
}
