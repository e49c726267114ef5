#!/usr/bin/env node
import { because } from "../shared/because.js";
import { run } from "./run.js";

const { stdin, stdout, stderr, env, argv } = process;

const stopping = new AbortController();
let listens = false;
let unwritable: NodeJS.ErrnoException | undefined;

// A command that stores something must not end in the middle, so it runs to its end without output. Only a
// command that runs until it is stopped, such as the sandbox, ends early.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  stopping.abort();
  // The reader of a pipe may stop early, as in `tillkit help | head -1`. This is no error.
  if (error.code !== "EPIPE") unwritable ??= error;
});

// If standard error is closed, text for people is lost, but the command continues.
stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

/** Returns a signal that the first Ctrl-C or SIGTERM aborts. Without this call, both end the process. */
function stopSignal(): AbortSignal {
  if (!listens) for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stopping.abort());
  listens = true;
  return stopping.signal;
}

async function main(): Promise<void> {
  const code = await run(argv.slice(2), {
    stdin,
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    get signal() {
      return stopSignal();
    },
  });
  process.exitCode = code;
  // The last text may not be written yet.
  await new Promise((resolve) => stdout.write("", resolve));
  if (unwritable === undefined) return;
  stderr.write(
    `error file_unwritable: Standard output cannot be written${because(unwritable)} The command ran to its end ` +
      `with the exit code ${code}.\n`,
  );
  process.exitCode = 3;
}

void main();
