import { completedBody, pendingPayment } from "../../support/webhooks.js";
import { onEachDatabase, openPlace, type Place } from "../processes/databases.js";
import { members, until, type MemberSettings } from "../processes/members.js";

const processes = members();

onEachDatabase("killed processes", (kind) => {
  let place: Place;
  let shop: MemberSettings;
  beforeEach(async () => {
    place = await openPlace(kind);
    await place.store.transaction((tx) => place.store.save(tx, { created: [pendingPayment()] }));
    const dispatch = { leaseMs: 400, pollMs: 20 };
    shop = { address: place.address, web: true, names: ["books"], dispatch };
  });
  afterEach(() => place.remove());

  const webhooks = () => place.select("select receipt_id from @webhooks");
  const oneEffect = async () => {
    await until(async () => (await place.ledger()).length > 0, "an effect");
    return place.ledger();
  };

  const ways = [
    { way: "in one call", inSteps: false },
    { way: "in steps", inSteps: true },
  ];

  it.each(ways)("kill -9 before the record commits: no 200, no row ($way)", async ({ inSteps }) => {
    const killed = await processes.start({ ...shop, inSteps, at: "saved", act: "die" });
    expect(await killed.post(completedBody())).toBeUndefined();
    expect(await killed.exited).toBeNull();
    expect(await webhooks()).toEqual([]);
    expect(await place.store.find("c-1")).toMatchObject({ state: "pending" });

    const next = await processes.start(shop);
    expect(await next.post(completedBody())).toBe(200);
    expect(await oneEffect()).toMatchObject([{ client_id: "c-1" }]);
  });

  it("kill -9 after the decision, possibly during the commit: all or nothing is stored, and there is one effect", async () => {
    const killed = await processes.start({ ...shop, dispatch: false, at: "sent", act: "die" });
    // SQLite commits and answers synchronously. With the others the process dies in between.
    const status = await killed.post(completedBody());
    expect(kind === "sqlite" ? [undefined, 200] : [undefined]).toContain(status);
    expect(await killed.exited).toBeNull();
    // The database may still be committing.
    const { state } = await place.store.transaction(async (tx) => {
      const { payments } = await place.store.lock(tx, { clientIds: ["c-1"] });
      return payments[0]!;
    });
    expect(await webhooks()).toHaveLength(state === "completed" ? 1 : 0);
    expect([undefined, state === "completed" ? 200 : undefined]).toContain(status);

    const next = await processes.start(shop);
    expect(await next.post(completedBody())).toBe(200);
    await next.next("ended");
    expect(await oneEffect()).toHaveLength(1);
    expect(await webhooks()).toHaveLength(1);
  });

  it.each(ways)(
    "kill -9 after commit, before or after the 200: one row, and a second delivery has no second effect (before, $way)",
    async ({ inSteps }) => {
      const killed = await processes.start({
        ...shop,
        inSteps,
        dispatch: false,
        at: "committed",
        act: "die",
      });
      expect(await killed.post(completedBody())).toBeUndefined();
      expect(await killed.exited).toBeNull();
      expect(await webhooks()).toHaveLength(1);

      const next = await processes.start(shop);
      expect(await next.post(completedBody())).toBe(200);
      await next.next("ended");
      expect(await next.post(completedBody())).toBe(200);
      expect(await oneEffect()).toHaveLength(1);
      expect(await webhooks()).toHaveLength(1);
    },
  );

  it("kill -9 after commit, before or after the 200: one row, and a second delivery has no second effect (after)", async () => {
    const killed = await processes.start({ ...shop, dispatch: false });
    expect(await killed.post(completedBody())).toBe(200);
    killed.signal("SIGKILL");
    await killed.exited;
    expect(await webhooks()).toHaveLength(1);

    const next = await processes.start(shop);
    expect(await next.post(completedBody())).toBe(200);
    await next.next("ended");
    expect(await oneEffect()).toHaveLength(1);
    expect(await webhooks()).toHaveLength(1);
  });

  it("kill -9 inside a handler, before its transaction commits: rolled back, and runs again when the lease ends", async () => {
    const killed = await processes.start({ ...shop, at: "written", act: "die" });
    await killed.post(completedBody());
    expect(await killed.exited).toBeNull();
    expect(await place.ledger()).toEqual([]);

    const next = await processes.start(shop);
    expect(await next.next("ended")).toMatchObject({ attempt: 2 });
    expect(await oneEffect()).toMatchObject([{ client_id: "c-1", attempt: 2 }]);
  });

  it("kill -9 after an effect outside the database: runs again with the same idempotencyKey", async () => {
    // Its message to the parent is the effect outside the database.
    const killed = await processes.start({ ...shop, at: "handling", act: "die" });
    await killed.post(completedBody());
    const { idempotencyKey } = await killed.next("handling");
    expect(await killed.exited).toBeNull();

    const next = await processes.start(shop);
    expect(await next.next("ended")).toMatchObject({ idempotencyKey, attempt: 2 });
    expect(await oneEffect()).toMatchObject([{ idempotency_key: idempotencyKey }]);
  });

  it("process stopped longer than its lease, then continued: its commit is refused by the fence", async () => {
    // Renewals fail, so that only the fence can prevent the late commit. The process stops before its first write, because a
    // process that is stopped in a transaction of SQLite locks the file.
    const slow: MemberSettings = { ...shop, at: "handling", act: "linger", renewalFails: true };
    const stopped = await processes.start(slow);
    expect(await stopped.post(completedBody())).toBe(200);
    await stopped.next("handling");
    stopped.signal("SIGSTOP");

    const other = await processes.start(shop);
    expect(await other.next("ended")).toMatchObject({ attempt: 2 });
    await until(async () => (await place.ledger()).length > 0, "the other's commit");
    stopped.signal("SIGCONT");
    expect(await stopped.next("ended")).toMatchObject({ attempt: 1 });
    stopped.signal("SIGTERM");
    expect(await stopped.exited).toBe(0);
    expect(await place.ledger()).toMatchObject([{ attempt: 2 }]);
  });

  it("an event that kills the process each time: the attempt is counted before the run, and the dispatch is dead after N runs", async () => {
    const deadly: MemberSettings = {
      ...shop,
      dispatch: { leaseMs: 100, pollMs: 20, maxLostLeases: 2 },
      at: "handling",
      act: "die",
    };
    const first = await processes.start(deadly);
    await first.post(completedBody());
    expect(await first.exited).toBeNull();
    const second = await processes.start(deadly);
    expect(await second.next("handling")).toMatchObject({ attempt: 2 });
    expect(await second.exited).toBeNull();

    const third = await processes.start(deadly);
    expect((await third.next("dead")).dead).toContain("2 runs");
    expect(third.child.exitCode).toBeNull();
    expect(await place.store.counts()).toMatchObject({ dead: 1 });
  });
});
