import { setTimeout as delay } from "node:timers/promises";
import { createSandbox, type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { sqliteStore } from "tillkit/sql";
import { temporaryFiles } from "../store/sql/support/temporary-files.js";

/** Returns a function that sends a request while another connection locks the state file of a sandbox. */
export function unwrittenBench() {
  const nextFile = temporaryFiles();
  const opened: { close: () => Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  /** Prepares a request, and sends it. `isEarly`: the answer came before the write. */
  return async <T>(
    options: SandboxOptions,
    prepare: (sandbox: Sandbox) => Promise<() => PromiseLike<T>>,
  ): Promise<{ isEarly: boolean; answer: T }> => {
    const state = nextFile();
    const sandbox = createSandbox({ state, ...options });
    const holder = sqliteStore(state, { tablePrefix: "holder_" });
    opened.push(sandbox, holder);
    await sandbox.start();
    const send = await prepare(sandbox);
    let isEarly = false;
    const answering = await holder.transaction(async (tx) => {
      await tx.query("create table held (n integer)");
      const sent = Promise.resolve(send()).then((answer) => {
        isEarly = true;
        return answer;
      });
      // Time for an answer that does not wait.
      await delay(200);
      return { sent, wasEarly: isEarly };
    });
    return { isEarly: answering.wasEarly, answer: await answering.sent };
  };
}
