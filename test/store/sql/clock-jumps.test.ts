import { event, ledger } from "../../../src/store/exam/checks/fixtures.js";
import { type Claim } from "../../../src/store/index.js";
import { type SqlPaymentStore } from "../../../src/store/sql/index.js";
import { onEachDatabase, openPlace, openStore, type Place } from "../../promises/processes/databases.js";
import { completionOf, ledgerOf, openShop, seedPayments } from "../../promises/faults/shop.js";
import { until } from "../../promises/processes/members.js";
import { closeAll } from "../../support/kit.js";

const dayMs = 24 * 60 * 60 * 1000;
const hourMs = 60 * 60 * 1000;

onEachDatabase("clocks that jump", (kind) => {
  let place: Place;
  let store: SqlPaymentStore;
  beforeEach(async () => {
    place = await openPlace(kind);
    ({ store } = place);
    await store.registerHandlers([ledger]);
  });
  afterEach(async () => {
    await closeAll();
    await place.remove();
  });

  const save = (...ids: string[]) =>
    store.transaction((tx) => store.save(tx, { events: ids.map((id) => event(id)) }));
  const claim = (leaseMs: number, limit = 10) => store.claim({ handlers: [ledger], limit, leaseMs });
  const settle = ({ event: { id: eventId }, handler, fence }: Claim, state: "done" | "released") =>
    store.transaction((tx) => store.settle(tx, { eventId, handler, fence, state }));
  /** Makes all times look as if a clock had written them that was so far ahead. */
  const putAhead = (ms: number) =>
    store.transaction((tx) =>
      tx.query(`update ${place.address.prefix}dispatches set due_at = due_at + ${ms}, waits_from = waits_from + ${ms}
        where due_at > 0`),
    );
  const dueTimes = async () =>
    (await place.select<{ due_at: unknown }>("select due_at from @dispatches order by event_seq")).map(
      ({ due_at }) => Number(due_at),
    );

  it("gives new, released and revived dispatches a due time that no clock can be behind", async () => {
    await save("e0", "e1");
    const [first] = await claim(60_000, 1);
    expect((await dueTimes())[1]).toBe(0);
    await settle(first!, "released");
    expect(await dueTimes()).toEqual([0, 0]);

    const [again] = await claim(60_000, 1);
    const { fence } = again!;
    const dead = { eventId: "e0", handler: ledger.name, fence, state: "dead" } as const;
    await store.transaction((tx) => store.settle(tx, dead));
    await store.dead({ revive: true, limit: 1 });
    expect(await dueTimes()).toEqual([0, 0]);
  });

  it("takes over a lease that a clock wrote which was a day ahead, and the fence refuses the earlier run", async () => {
    await save("e0");
    const [first] = await claim(10_000);
    expect(await claim(10_000)).toEqual([]);
    await putAhead(dayMs);
    const [second] = await claim(10_000);
    expect(second).toMatchObject({ fence: 2, attempt: 2, failures: 0 });
    expect(await settle(first!, "done")).toBe(false);
    expect(await settle(second!, "done")).toBe(true);
  });

  it.each(["failed", "released"] as const)(
    "takes a %s dispatch whose wait a clock wrote that was ahead",
    async (state) => {
      await save("e0", "e1");
      const [first] = await claim(10_000, 1);
      const run = { eventId: "e0", handler: ledger.name, fence: first!.fence, state };
      await store.transaction((tx) => store.settle(tx, { ...run, retryInMs: hourMs }));
      await claim(10_000);
      expect(await claim(10_000)).toEqual([]);
      await putAhead(3 * hourMs);
      expect(await claim(10_000)).toHaveLength(2);
    },
  );

  it("waits as long as the options allow", async () => {
    await save("e0");
    const [first] = await claim(10_000);
    const run = { eventId: "e0", handler: ledger.name, fence: first!.fence, state: "failed" } as const;
    await store.transaction((tx) => store.settle(tx, { ...run, retryInMs: 36_525 * dayMs }));
    expect(await claim(10_000)).toEqual([]);
  });

  it("leaves a lease alone that was renewed after the clock was put back", async () => {
    await save("e0");
    const [first] = await claim(10_000);
    await putAhead(dayMs);
    const { fence } = first!;
    expect(await store.renew({ eventId: "e0", handler: ledger.name, fence }, 10_000)).toBe(true);
    expect(await claim(1)).toEqual([]);
  });

  it("lets a clock be put back by less than a lease, and takes nothing away", async () => {
    await save("e0");
    await claim(hourMs);
    await putAhead(hourMs / 2);
    expect(await claim(10_000)).toEqual([]);
  });

  it("waits for what an earlier version has leased, unless it is due later than any option allows", async () => {
    await save("e0", "e1");
    await claim(hourMs);
    const setDue = (id: string, dueAt: string) =>
      store.transaction((tx) =>
        tx.query(
          `update ${place.address.prefix}dispatches set waits_from = null, due_at = ${dueAt}
            where event_id = '${id}'`,
        ),
      );
    await setDue("e0", `due_at + ${40 * dayMs}`);
    await setDue("e1", `due_at + ${70 * 365 * dayMs}`);
    expect((await claim(1000)).map(({ event: { id } }) => id)).toEqual(["e1"]);
    await setDue("e0", "1");
    expect(await claim(hourMs)).toHaveLength(1);
  });

  it("leaves a lease alone that an earlier version wrote over a wait from before the clock was put back", async () => {
    await save("e0");
    await claim(10_000);
    await putAhead(dayMs);
    await store.transaction((tx) =>
      tx.query(`update ${place.address.prefix}dispatches set due_at = due_at - ${dayMs}`),
    );
    expect(await claim(10_000)).toEqual([]);
  });

  it("calls a handler whose earlier process died before its database's clock was put back by a day", async () => {
    await store.registerHandlers([{ event: "payment.completed", name: "books" }]);
    await seedPayments(place, 1);
    const web = await openShop(place, { dispatch: false });
    expect(await web.post(completionOf(0))).toBe(200);
    const dying = openStore(place.address);
    const handlers = [{ event: "payment.completed", name: "books" }] as const;
    expect(await dying.claim({ handlers, limit: 1, leaseMs: 10_000 })).toHaveLength(1);
    await dying.close();
    await putAhead(dayMs);

    await openShop(place);
    await until(async () => (await place.ledger()).length > 0, "the handler ran");
    expect(await place.ledger()).toHaveLength(1);
  });

  it("leaves a run and a retry alone that another process began with longer times", async () => {
    await seedPayments(place, 3);
    const started: string[] = [];
    const slow = { leaseMs: 60_000, pollMs: 20, firstDelayMs: 60_000, maxDelayMs: 120_000 };
    const open = async (dispatch: object) => {
      const { payments, post } = await openShop(place, { dispatch: { concurrency: 8, ...dispatch } });
      payments.onPaymentCompleted(
        async ({ payment }, { attempt }) => {
          started.push(`${payment.clientId} ${attempt}`);
          if (started.length === 1) throw new Error("the first one fails");
          await new Promise<void>((resolve) => (end = resolve));
        },
        { name: "slow" },
      );
      await payments.start({ keepAlive: false });
      return post;
    };
    let end = (): void => {};
    const post = await open(slow);
    for (const index of [0, 1]) {
      await post(completionOf(index));
      await until(async () => started.length === index + 1, `run ${index} began`);
    }
    await open({ leaseMs: 300, pollMs: 20, firstDelayMs: 10, maxDelayMs: 20 });
    // This event comes last, and the other process handles it, so it has seen the dispatches before it.

    await post(completionOf(2));
    await until(async () => started.length === 3, "the run of the newest event began");
    expect(new Set(started).size).toBe(3);
    end();
  });

  it("commits the writes of one run when the clock jumps forward during a run, so that its lease ends early", async () => {
    await seedPayments(place, 1);
    const write = ledgerOf(place);
    const starts: (() => void)[] = [];
    const open = async () => {
      const { payments, post } = await openShop(place, { dispatch: { pollMs: 20, leaseMs: 60_000 } });
      payments.onPaymentCompleted(
        async (reported, context) => {
          await new Promise<void>((resolve) => starts.push(resolve));
          await write(reported, context);
        },
        { name: "slow" },
      );
      await payments.start({ keepAlive: false });
      return post;
    };
    const post = await open();
    await open();
    await post(completionOf(0));
    await until(async () => starts.length === 1, "the first run began");
    await store.transaction((tx) =>
      tx.query(`update ${place.address.prefix}dispatches set due_at = due_at - ${dayMs} where handler = 'slow'
        and due_at > 0`),
    );
    await until(async () => starts.length === 2, "the second run began");
    for (const start of starts) start();
    await until(async () => {
      const rows = await place.select(
        "select state from @dispatches where state <> 'done' and handler = 'slow'",
      );
      return rows.length === 0;
    }, "both runs ended");
    // One row of the handler "books", and one of "slow".
    expect(await place.ledger()).toHaveLength(2);
  });
});
