import { setTimeout as delay } from "node:timers/promises";
import { event, payment, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { type Changes, type Locked, type LockKeys } from "../../../src/store/index.js";
import { type Driver } from "../../../src/store/sql/driver/driver.js";
import { MysqlDriver } from "../../../src/store/sql/mysql/mysql-driver.js";
import { resolveSqlStoreOptions } from "../../../src/store/sql/options.js";
import { PostgresDriver } from "../../../src/store/sql/postgres/postgres-driver.js";
import { SqlStore } from "../../../src/store/sql/sql-store.js";
import { SqliteDriver } from "../../../src/store/sql/sqlite/sqlite-driver.js";
import { tablesUnder } from "../../../src/store/sql/tables/names.js";
import { onEachServer, openPlace, type Place } from "../../promises/processes/databases.js";

const drivers = { sqlite: SqliteDriver, postgres: PostgresDriver, mysql: MysqlDriver };

/** Opens a store over a driver whose fast ways to record are counted, or removed. */
async function openRecorder({ address: { kind, url, prefix } }: Place, isFast: boolean) {
  const tables = tablesUnder(prefix);
  const driver: Driver<unknown> = new drivers[kind](url, tables, resolveSqlStoreOptions());
  const store = new SqlStore(driver, tables);
  await store.migrate();
  let used = 0;
  const beginPipelined = driver.beginPipelined?.bind(driver);
  if (isFast && beginPipelined) {
    // On a busy machine the connection may take longer to open than a group waits for it.
    let first = await beginPipelined();
    for (; !first; first = await beginPipelined()) await delay(10);
    await first.rollback();
  }
  const counted = beginPipelined && {
    beginPipelined: () => (used++, beginPipelined().then((open) => open ?? unused())),
  };
  Object.assign(driver, isFast ? counted : { beginPipelined: undefined });
  return { store, used: () => used };
}

function unused(): never {
  throw new Error("The pipelined connection was not used.");
}

/** Returns the stored rows in the order of their keys or numbers, without the numbers: failed inserts leave gaps. */
async function rowsOf(place: Place): Promise<Record<string, unknown[]>> {
  const read = async (table: string, order: string) =>
    (await place.select(`select * from @${table} order by ${order}`)).map(({ seq: _, ...row }) => row);
  return {
    payments: await read("payments", "client_id"),
    webhooks: await read("webhooks", "event_key"),
    events: await read("events", "seq"),
  };
}

interface Group {
  keys: LockKeys;
  decide: (locked: Locked) => Changes;
}

const completed = (id: string, over: Changes = {}): Group => ({
  keys: { clientIds: [id], eventKeys: [`k-${id}`] },
  decide: ({ payments }) => ({
    updated: payments
      .filter(({ clientId }) => clientId === id)
      .map((found) => ({ ...found, state: "completed", open: false, completedAt: found.createdAt })),
    webhooks: [webhook(`k-${id}`, { clientId: id })],
    events: [event(`e-${id}`, { clientId: id })],
    ...over,
  }),
});

/** Groups as the recorder passes them, and groups that a store must refuse. */
const groups: readonly (readonly [string, Group])[] = [
  ["one webhook", completed("p1")],
  [
    "three payments that change in different ways",
    {
      keys: { clientIds: ["p2", "p3", "p4"], eventKeys: ["k-2", "k-3"] },
      decide: ({ payments }) => ({
        updated: payments.map((found, index) => ({
          ...found,
          ...(index === 1
            ? { overdueAt: found.createdAt }
            : { state: "failed", open: false, failure: found.clientId }),
        })),
        webhooks: [
          webhook("k-2", { clientId: "p2", reason: 'a "reason" with \\ and NUL \0' }),
          webhook("k-3"),
        ],
        events: ["p2", "p3", "p4"].map((id) => event(`e-${id}`, { clientId: id })),
      }),
    },
  ],
  [
    "a webhook that waits",
    {
      keys: { clientIds: ["nobody"], eventKeys: ["k-w"] },
      decide: () => ({ webhooks: [webhook("k-w", { outcome: "unmatched", clientId: "nobody" })] }),
    },
  ],
  [
    "copies of two webhooks",
    {
      keys: { eventKeys: ["k-p1", "k-w"] },
      decide: ({ eventKeys }) => ({
        copies: eventKeys.map((eventKey, index) => ({ eventKey, count: index + 1 })),
      }),
    },
  ],
  [
    "a payment that only its service id names",
    { keys: { serviceIds: ["s-5"] }, decide: completed("p5").decide },
  ],
  [
    "an attempt that closes and one that opens",
    {
      keys: { references: ["order-6"] },
      decide: ({ payments }) => ({ updated: payments.map((found) => ({ ...found, open: !found.open })) }),
    },
  ],
  ["nothing at all", { keys: { clientIds: ["p1"] }, decide: () => ({}) }],
  ["a webhook that is taken", completed("p8", { webhooks: [webhook("k-new"), webhook("k-p1")] })],
  ["an event whose id is taken", completed("p8", { events: [event("e-p1")] })],
  ["a payment that is not locked", completed("p8", { updated: [payment("p1", { state: "failed" })] })],
  [
    "a decision that fails",
    {
      keys: { clientIds: ["p8"] },
      decide: () => {
        throw new Error("undecided");
      },
    },
  ],
  ["the payment of the refused groups", completed("p8")],
];

/** Records every group. Returns the locked payments, the outcomes, and the rows at the end. */
async function recordAll(place: Place, isFast: boolean) {
  const { store, used } = await openRecorder(place, isFast);
  const created = ["p1", "p2", "p3", "p4", "p8"].map((id) => payment(id, { reference: `order-${id}` }));
  created.push(payment("p5", { reference: "order-5", serviceId: "s-5" }));
  created.push(payment("p6", { reference: "order-6" }), payment("p7", { reference: "order-6", open: false }));
  await store.transaction((tx) => store.save(tx, { created }));
  const seen: unknown[] = [];
  for (const [about, { keys, decide }] of groups) {
    const recording = store.record(keys, (locked) => {
      seen.push([about, locked]);
      return decide(locked);
    });
    seen.push([
      about,
      await recording.catch((error: Error & { code?: string }) => error.code ?? error.message),
    ]);
  }
  await store.close();
  return { seen, rows: await rowsOf(place), used: used() };
}

onEachServer("the fast way to record", (kind) => {
  const places: Place[] = [];
  const open = async (): Promise<Place> => {
    const place = await openPlace(kind);
    places.push(place);
    return place;
  };
  afterAll(async () => {
    for (const place of places) await place.remove();
  });

  it("locks, returns, refuses and stores the same as the plain way", async () => {
    const [fast, plain] = [await recordAll(await open(), true), await recordAll(await open(), false)];
    expect(fast.seen).toEqual(plain.seen);
    expect(fast.rows).toEqual(plain.rows);
    expect([fast.used, plain.used]).toEqual([groups.length, 0]);
    expect(fast.rows["payments"]).toHaveLength(8);
  });
});
