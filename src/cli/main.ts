#!/usr/bin/env node
import { run } from "./run.js";

const { stdin, stdout, stderr, env, argv } = process;

// The reader of a pipe may stop early, as in `tillkit help | head -1`. The command then ends without an
// error.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  throw error;
});

// If standard error is closed, text for people is lost, but the command continues.
stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

let stopping: AbortController | undefined;

/** Returns a signal that the first Ctrl-C or SIGTERM aborts. Without this call, both end the process. */
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
