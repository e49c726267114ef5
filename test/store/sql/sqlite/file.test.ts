import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { schemaState, sqliteStore } from "tillkit/sql";
import { temporaryFiles } from "../support/temporary-files.js";

const nextFile = temporaryFiles();

it.each(["", "  ", ":memory:", "file:shop.db?mode=memory"])("refuses %j as a file", (file) => {
  expect(() => sqliteStore(file)).toThrow(expect.objectContaining({ code: "option_invalid" }));
});

it.each(["", "Upper_", "1st_", "semi;colon", "x".repeat(33)])(
  "refuses %j as a table prefix",
  (tablePrefix) => {
    expect(() => sqliteStore(nextFile(), { tablePrefix })).toThrow(
      expect.objectContaining({ code: "option_invalid" }),
    );
  },
);

it("opens nothing before its first use, and then names the file that cannot be opened", async () => {
  const file = path.join(nextFile(), "no", "such", "directory.db");
  const store = sqliteStore(file);
  await expect(store.find("p1")).rejects.toMatchObject({
    code: "store_unavailable",
    message: `The SQLite file ${file} cannot be opened: ENOENT: no such file or directory, access '${path.dirname(file)}'.`,
  });
  await store.close();
});

it("says that a file is not a database", async () => {
  const file = nextFile();
  writeFileSync(file, "a text, and no database ".repeat(100));
  const message = expect.stringMatching(
    /^The SQLite file.* cannot be written or read: file is not a database\.$/,
  );
  await expect(schemaState(file)).rejects.toMatchObject({ code: "store_unavailable", message });
  const store = sqliteStore(file);
  await expect(store.find("p1")).rejects.toMatchObject({
    code: "store_unavailable",
    message: `The SQLite file ${file} cannot be written or read: file is not a database.`,
  });
  await store.close();
});

it("names a file that is damaged", async () => {
  const file = nextFile();
  const first = sqliteStore(file);
  await first.migrate();
  await first.close();
  truncateSync(file, 5000);
  const store = sqliteStore(file);
  const damaged = `The SQLite file ${file} cannot be written or read: database disk image is malformed.`;
  await expect(store.find("p1")).rejects.toMatchObject({ code: "store_unavailable", message: damaged });
  await store.close();
});

it("names a file whose tables are too new, and one that stays locked", async () => {
  const file = nextFile();
  const first = sqliteStore(file, { busyTimeoutMs: 50 });
  await first.transaction((tx) => tx.query("update tillkit_meta set value = '99' where name = 'version'"));
  const newer = sqliteStore(file);
  await expect(newer.find("p1")).rejects.toMatchObject({
    code: "schema_too_new",
    message: expect.stringContaining(file) as string,
  });
  const other = sqliteStore(file, { tablePrefix: "other_", busyTimeoutMs: 50 });
  await first.transaction(async (tx) => {
    await tx.query("select 1");
    await expect(other.find("p1")).rejects.toMatchObject({
      code: "store_busy",
      message: expect.stringContaining(file) as string,
    });
  });
  for (const store of [first, newer, other]) await store.close();
});

it("uses a write-ahead log with full syncs, and never blocks inside SQLite", async () => {
  const store = sqliteStore(nextFile());
  const warnings = await store.warnings();
  const pragmas = await store.transaction(async (tx) => {
    const read = async (name: string): Promise<unknown> =>
      Object.values((await tx.query(`pragma ${name}`)).rows[0]!)[0];
    return {
      journal: await read("journal_mode"),
      synchronous: await read("synchronous"),
      busy: await read("busy_timeout"),
    };
  });
  expect(pragmas).toEqual(
    warnings.length === 0
      ? { journal: "wal", synchronous: 2, busy: 0 }
      : { journal: "delete", synchronous: 3, busy: 0 },
  );
  await store.close();
});

it("binds booleans, dates and bytes", async () => {
  const store = sqliteStore(nextFile());
  const at = new Date("2024-05-01T10:00:00.000Z");
  const { rows } = await store.transaction((tx) =>
    tx.query("select ? as yes, ? as no, ? as at, length(?) as bytes", [
      true,
      false,
      at,
      Buffer.from([0, 255, 0]),
    ]),
  );
  expect({ ...rows[0] }).toEqual({ yes: 1, no: 0, at: "2024-05-01T10:00:00.000Z", bytes: 3 });
  await store.close();
});

it("writes nothing outside of a transaction", async () => {
  const store = sqliteStore(nextFile());
  await store.transaction((tx) => tx.query("create table orders (id text)"));
  for (const sql of ["insert into orders values ('a')", "drop table orders"])
    await expect(store.query(sql)).rejects.toThrow("readonly");
  expect((await store.query("select id from orders")).rows).toEqual([]);
  await store.close();
});

it("keeps the tables of two prefixes in one file apart", async () => {
  const file = nextFile();
  const [shop, club] = [sqliteStore(file), sqliteStore(file, { tablePrefix: "club_" })];
  await shop.transaction((tx) =>
    shop.save(tx, {
      created: [
        {
          clientId: "p1",
          reference: "order-1",
          total: { value: "1", currency: "KMF" },
          state: "creating",
          open: true,
          createdAt: "2024-05-01T10:00:00.000Z",
          updatedAt: "2024-05-01T10:00:00.000Z",
        },
      ],
    }),
  );
  expect(await club.find("p1")).toBeUndefined();
  expect((await shop.find("p1"))?.reference).toBe("order-1");
  await Promise.all([shop.close(), club.close()]);
});

it("refuses a transaction inside another instead of waiting for ever", async () => {
  const store = sqliteStore(nextFile(), { busyTimeoutMs: 50 });
  await store.transaction(async () => {
    await expect(store.transaction(() => Promise.resolve())).rejects.toMatchObject({ code: "store_busy" });
  });
  await expect(store.transaction(() => Promise.resolve("free again"))).resolves.toBe("free again");
  await store.close();
});

it("lets a long queue wait longer than the deadline, as long as it moves", async () => {
  const store = sqliteStore(nextFile(), { busyTimeoutMs: 1500 });
  const runs = Array.from({ length: 8 }, (_, index) =>
    store.transaction(async () => {
      await delay(250);
      return index;
    }),
  );
  expect(await Promise.all(runs)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await store.close();
});

describe("while another process holds the write lock", () => {
  let holder: ChildProcessWithoutNullStreams;
  let file: string;

  beforeEach(async () => {
    file = nextFile();
    const made = sqliteStore(file);
    await made.migrate();
    await made.close();
    holder = spawn(process.execPath, [path.join(__dirname, "../support/hold-write-lock.cjs"), file]);
    await once(holder.stdout, "data");
  });

  afterEach(async () => {
    if (holder.exitCode !== null) return;
    holder.stdin.end();
    await once(holder, "exit");
  });

  it("waits without blocking the event loop, and then continues", async () => {
    const store = sqliteStore(file);
    let timer: NodeJS.Timeout | undefined;
    const fortyTicks = new Promise<void>((resolve) => {
      let ticks = 0;
      timer = setInterval(() => ++ticks === 40 && resolve(), 5);
    });
    let done = false;
    const run = store.transaction(async (tx) => {
      done = true;
      return (await tx.query("select count(*) as held from held")).rows[0]!["held"];
    });
    await fortyTicks;
    expect(done).toBe(false);
    holder.stdin.end();
    expect(await run).toBe(0);
    clearInterval(timer);
    await store.close();
  });

  it("gives up at the deadline, can read meanwhile, and begins again later", async () => {
    const store = sqliteStore(file, { busyTimeoutMs: 150 });
    const from = performance.now();
    const run = store.transaction(() => Promise.resolve());
    expect(await store.find("p1")).toBeUndefined();
    const claim = await store.claim({ handlers: [], limit: 10, leaseMs: 1000 });
    expect(claim).toEqual([]);
    await expect(run).rejects.toMatchObject({ code: "store_busy" });
    expect(performance.now() - from).toBeGreaterThanOrEqual(149);
    holder.stdin.end();
    await once(holder, "exit");
    expect(await store.transaction(() => Promise.resolve("free again"))).toBe("free again");
    await store.close();
  });
});
