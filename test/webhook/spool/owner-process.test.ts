import { keeper, spoolBench, until } from "./fixtures.js";
import { compiledModules, startOwner } from "./owner-process.js";

const modules = compiledModules();
const bench = spoolBench();
const owners: ReturnType<typeof startOwner>[] = [];
const start = () => {
  const owner = startOwner(modules, bench.directory);
  owners.push(owner);
  return owner;
};
afterEach(async () => {
  await Promise.all(owners.splice(0).map((owner) => owner.kill()));
});

describe("a process that owns a segment", () => {
  it("is killed: its segment is adopted immediately, long before its heartbeat is too old", async () => {
    const owner = start();
    for (const id of ["a", "b", "c"]) await owner.append(id);
    const { ids, record } = keeper();
    const spool = bench.open({ heartbeatMs: 60_000, deadAfterMs: 3_600_000 });
    expect(await spool.drain(record)).toEqual({ drained: 0, setAside: 0 });
    await owner.kill();
    expect(await spool.drain(record)).toEqual({ drained: 3, setAside: 0 });
    expect(ids).toEqual(["a", "b", "c"]);
  });

  it("is killed during a burst of appends: every acknowledged webhook is drained", async () => {
    const owner = start();
    for (let id = 0; id < 3000; id += 1) owner.tell({ append: String(id) });
    await until(() => owner.acknowledged.length > 100);
    await owner.kill();
    const { ids, record } = keeper();
    await bench.open().drain(record);
    expect(owner.refused).toEqual([]);
    expect(ids).toEqual(ids.toSorted((a, b) => Number(a) - Number(b)));
    expect(owner.acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it("is stopped, adopted and resumed: it continues in a new segment and loses nothing", async () => {
    const owner = start();
    await owner.append("a");
    owner.stop();
    await until(() => owner.isStopped());
    const { ids, record } = keeper();
    const spool = bench.open({ heartbeatMs: 50, deadAfterMs: 400 });
    await until(async () => (await spool.drain(record)).drained > 0);
    expect(await bench.segments()).toEqual([]);

    owner.wake();
    await owner.append("b");
    await owner.kill();
    await spool.drain(record);
    expect(ids).toEqual(["a", "b"]);
  });

  it("is stopped between fsync and acknowledgement: it acknowledges the webhook only in a new segment", async () => {
    const owner = start();
    await owner.append("a");
    owner.tell({ append: "b", stopAfterSync: true });
    await until(() => owner.isStopped());
    expect(owner.acknowledged).toEqual(["a"]);
    const { ids, record } = keeper();
    const spool = bench.open({ heartbeatMs: 50, deadAfterMs: 400 });
    await until(async () => (await spool.drain(record)).drained > 0);
    expect(ids).toEqual(["a", "b"]);

    owner.wake();
    await until(() => owner.acknowledged.includes("b"));
    await owner.kill();
    await spool.drain(record);
    // Recorded twice, which is harmless because the receipt id is the same.
    expect(ids).toEqual(["a", "b", "b"]);
    expect(owner.acknowledged).toEqual(["a", "b"]);
  });
});
