import { event, ledger, mailer } from "../../../src/store/exam/checks/fixtures.js";
import { claimed, pairs, saved } from "../../../src/store/exam/checks/steps.js";
import { type Claim } from "../../../src/store/index.js";
import { onEachDatabase, openPlace, openStore, type Place } from "../../promises/processes/databases.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { until } from "../../webhook/spool/fixtures.js";

onEachDatabase("the registration of handlers", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await closeAll();
    await place.remove();
  });

  it("does not wait for the events that earlier handlers have not got yet, and leaves them to these", async () => {
    await place.store.registerHandlers([mailer]);
    const backlog = Array.from({ length: 3000 }, (_, n) => event(`e${n}`));
    await saved(place.store, { events: backlog });
    await place.store.registerHandlers([mailer, ledger]);
    expect(await place.select("select 1 as one from @dispatches")).toEqual([]);
    await saved(place.store, { events: [event("new")] });
    // On a slow machine, one claim does not give all of these events their dispatches.
    let own: Claim[] = [];
    await until(async () => (own = await claimed(place.store, [ledger])).length > 0);
    expect(pairs(own)).toEqual(["new ledger"]);
    expect(await claimed(place.store, [mailer], { limit: 4000 })).toHaveLength(3001);
  });

  it("of another event under a name that has events to come makes no dispatch twice", async () => {
    await place.store.registerHandlers([ledger]);
    await saved(place.store, { events: [event("e1")] });
    const all = { event: "*", name: ledger.name } as const;
    await place.store.registerHandlers([{ ...all, since: event("e1").recordedAt }]);
    await saved(place.store, { events: [event("e2")] });
    expect(pairs(await claimed(place.store, [all]))).toEqual(["e1 ledger", "e2 ledger"]);
  });

  describe("is repeated where the store has forgotten a handler", () => {
    const eventAt = (id: string, seconds: number) =>
      event(id, {
        recordedAt: new Date(Date.parse("2026-11-20T10:00:00.000Z") + seconds * 1000).toISOString(),
      });
    const forgotten = [{ ...mailer, since: eventAt("e", 2000).recordedAt }];
    /** Saves an event of a process whose clock is an hour behind. */
    const saveBehind = (id: string) => saved(place.store, { events: [eventAt(id, -3600)] });
    const register = async (count: number) => {
      await place.store.registerHandlers([ledger]);
      await saved(place.store, { events: Array.from({ length: count }, (_, n) => eventAt(`e${n}`, n)) });
      await claimed(place.store, [ledger], { limit: count });
      await place.store.registerHandlers([ledger, mailer]);
      await place.select("delete from @handlers where name = 'mailer'");
    };
    /** Returns the events that the forgotten handler gets. */
    const mailed = async () => {
      for (let call = 0; call < 2; call++) await place.store.registerHandlers(forgotten);
      return pairs(await claimed(place.store, [mailer], { limit: 2000 }));
    };

    it.each([2, 1100])(
      "and gives it the events after %d others, also those with an earlier time",
      async (count) => {
        await register(count);
        await saveBehind("new");
        await place.store.claim({ handlers: [ledger], limit: 1, leaseMs: 1000 });
        await saveBehind("unexpanded");
        expect(await mailed()).toEqual(["new mailer", "unexpanded mailer"]);
      },
    );

    it.each([50, 1050])(
      "and gives it the events after an older copy, which lacks %d events",
      async (lost) => {
        await register(1100);
        const [last] = await place.select<{ seq: unknown }>("select max(seq) as seq from @events");
        for (const table of ["dispatches", "events"])
          await place.select(
            `delete from @${table} where ${table === "events" ? "" : "event_"}seq > ${Number(last!.seq) - lost}`,
          );
        await saved(place.store, { events: [eventAt("new", 1990)] });
        expect(await mailed()).toEqual(["new mailer"]);
      },
    );
  });

  it("is repeated where the store has forgotten a handler, as an older copy has: it gets the events of that time", async () => {
    const created = [1, 2, 3].map((n) =>
      pendingPayment({ clientId: `c-${n}`, serviceId: `s-${n}`, reference: `order-${n}` }),
    );
    await place.store.migrate();
    await place.store.transaction((tx) => place.store.save(tx, { created }));
    const payments = testKit({ store: openStore(place.address), spool: false, dispatch: { pollMs: 20 } });
    const [booked, mailed]: string[][] = [[], []];
    payments.onPaymentCompleted(({ payment }) => void booked!.push(payment.clientId));
    payments.onPaymentCompleted(({ payment }) => void mailed!.push(payment.clientId), { name: "mail" });
    await payments.start({ keepAlive: false });
    const pay = (n: number) =>
      payments.receiveWebhook(signed(completedBody({ clientId: `c-${n}`, id: `s-${n}` })));
    await pay(1);
    await until(() => booked!.length === 1 && mailed!.length === 1);

    await place.select("delete from @handlers where name = 'mail'");
    await pay(2);
    await until(() => booked!.length === 2);
    // The next registration is due.
    const now = performance.now.bind(performance);
    jest.spyOn(performance, "now").mockImplementation(() => now() + 11_000);
    await pay(3);
    await until(() => booked!.length === 3 && mailed!.length === 3);
    expect([booked, mailed]).toEqual([
      ["c-1", "c-2", "c-3"],
      ["c-1", expect.any(String), expect.any(String)],
    ]);
    expect(new Set(mailed)).toEqual(new Set(["c-1", "c-2", "c-3"]));
  });

  it("is repeated when the kit closes, so that the next process runs a forgotten handler for the last events", async () => {
    await place.store.migrate();
    await place.store.transaction((tx) => place.store.save(tx, { created: [pendingPayment()] }));
    const mailed: string[] = [];
    const startKit = async (by: string) => {
      const payments = testKit({ store: openStore(place.address), spool: false, dispatch: { pollMs: 20 } });
      payments.onPaymentCompleted(({ payment }) => void mailed.push(`${payment.clientId} ${by}`), {
        name: "mail",
      });
      await payments.start({ keepAlive: false });
      return payments;
    };
    const first = await startKit("first");
    await place.select("delete from @handlers where name = 'mail'");
    await first.receiveWebhook(signed(completedBody()));
    await first.close();
    const second = await startKit("second");
    await until(() => mailed.length > 0);
    await second.close(); // It waits for the commit.
    await startKit("third");
    const claims = {
      handlers: [{ event: "payment.completed", name: "mail" }],
      limit: 1,
      leaseMs: 1,
    } as const;
    expect(await place.store.claim(claims)).toEqual([]);
    expect(mailed).toEqual(["c-1 second"]);
  });
});
