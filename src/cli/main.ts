#!/usr/bin/env node
import { run } from "./run.js";

const { stdin, stdout, stderr, env, argv } = process;

// Whoever reads the output may have read enough: `tillkit help | head -1`.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  throw error;
});

let stopping: AbortController | undefined;

/**
 * For a command that asks for it, the first Ctrl-C lets it end as it should, and Node's own way of a second one ends it at
 * once. Any other command ends at the first.
 */
function stopSignal(): AbortSignal {
  if (!stopping) {
    const controller = (stopping = new AbortController());
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort());
  }
  return stopping.signal;
}

async function main(): Promise<void> {
  process.exitCode = await run(argv.slice(2), {
    stdin,
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    get signal() {
      return stopSignal();
    },
  });
}

void main();
