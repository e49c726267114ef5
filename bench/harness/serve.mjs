// One contender's server, in a process of its own.
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
  /** What the server used since `begin`; where handlers run, until the last of them is done. */
  async end({ count, undrained }) {
    if (!undrained) await running.drained?.(count);
    const { user, system } = process.cpuUsage(before.server);
    const database = await running.databaseCpuUs?.();
    return {
      cpuUs: user + system,
      ...(database !== undefined && { databaseCpuUs: database - before.database }),
    };
  },
  /** How many payments are completed on record; `undefined` where nothing is kept. */
  completed: () => running.completed?.(),
  /** What is on record about one webhook; `undefined` where the contender cannot tell. */
  recordOf: ({ n }) => running.recordOf?.(n),
  /** Bytes that the database wrote, and what else it tells; of bench/scale. */
  figures: () => running.databaseFigures?.(),
  /** What only one module of bench/scale does. */
  special: ({ name, args }) => running.specials[name](args),
  async stop() {
    await running.stop?.();
    setImmediate(() => process.exit(0));
  },
};

answerTo(tasks);
process.send({ ok: { port: running.port } });
