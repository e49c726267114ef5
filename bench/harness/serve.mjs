// Runs one contender's server in a process of its own.
import { answerTo } from "./answer-to.mjs";

const [, , module, options] = process.argv;
const contender = await import(module);
const running = await contender.start(0, JSON.parse(options));
let before;

const tasks = {
  /** Makes the payments that the next webhooks are about. */
  prepare: ({ first, count }) => running.prepare?.({ first, count }),
  async begin() {
    before = { database: await running.databaseCpuUs?.(), server: process.cpuUsage() };
  },
  /** The CPU time since `begin`, including the handlers that the webhooks caused. */
  async end({ count, undrained }) {
    if (!undrained) await running.drained?.(count);
    const { user, system } = process.cpuUsage(before.server);
    const database = await running.databaseCpuUs?.();
    return {
      cpuUs: user + system,
      ...(database !== undefined && { databaseCpuUs: database - before.database }),
    };
  },
  /** The number of payments that are stored as completed; `undefined` if the contender stores nothing. */
  completed: () => running.completed?.(),
  /** What is stored about one webhook; `undefined` if the contender cannot tell. */
  recordOf: ({ n }) => running.recordOf?.(n),
  /** Bytes that the database wrote, and its sizes; for bench/scale. */
  figures: () => running.databaseFigures?.(),
  /** Runs a task that only one module of bench/scale has. */
  special: ({ name, args }) => running.specials[name](args),
  async stop() {
    await running.stop?.();
    setImmediate(() => process.exit(0));
  },
};

answerTo(tasks);
process.send({ ok: { port: running.port } });
