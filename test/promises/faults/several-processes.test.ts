import { onEachDatabase, openPlace, type Place } from "../processes/databases.js";
import { members, until, type MemberSettings } from "../processes/members.js";
import { completionOf, seedPayments } from "./shop.js";

const processes = members();
const count = 40;

onEachDatabase("several processes", (kind) => {
  let place: Place;
  let shop: MemberSettings;
  beforeEach(async () => {
    place = await openPlace(kind);
    await seedPayments(place, count);
    // The lease is longer than the test, so another process can only take a dispatch that was given back.
    const dispatch = { pollMs: 20, leaseMs: 300_000 };
    shop = { address: place.address, web: true, names: ["books"], dispatch };
  });
  afterEach(() => place.remove());

  it("two processes, two hosts: each event is claimed by one of them", async () => {
    const both = [await processes.start(shop), await processes.start(shop)];
    const sends = Array.from({ length: count }, (_, n) => both[n % 2]!.post(completionOf(n)));
    expect(await Promise.all(sends)).toEqual(Array(count).fill(200));
    await until(async () => (await place.ledger()).length >= count, "all effects");
    for (const member of both) member.signal("SIGTERM");
    expect(await Promise.all(both.map(({ exited }) => exited))).toEqual([0, 0]);

    const runs = both.flatMap(({ messages }) => messages.filter((one) => "handling" in one));
    expect(runs).toHaveLength(count);
    expect(new Set(runs.map(({ clientId }) => clientId)).size).toBe(count);
    expect(await place.ledger()).toHaveLength(count);
  });

  it("SIGTERM in the middle: accepts no more webhooks, and finishes running handlers", async () => {
    const ending = await processes.start({ ...shop, at: "handling", act: "linger" });
    expect(await ending.post(completionOf(0))).toBe(200);
    await ending.next("handling");
    ending.signal("SIGTERM");
    await ending.next("closing");
    expect(await ending.post(completionOf(1))).toBeUndefined();
    expect(await ending.exited).toBe(0);
    expect(await place.ledger()).toMatchObject([{ client_id: "c-0", attempt: 1 }]);
  });

  it("SIGTERM in the middle: gives back a dispatch that does not end within 10 s, and another process takes it immediately", async () => {
    const ending = await processes.start({ ...shop, at: "written", act: "hang" });
    expect(await ending.post(completionOf(0))).toBe(200);
    await ending.next("written");
    const from = performance.now();
    ending.signal("SIGTERM");
    expect(await ending.exited).toBe(0);
    expect(performance.now() - from).toBeLessThan(30_000);
    expect(await place.ledger()).toEqual([]);

    // It was released and did not fail, so the attempt is not counted.
    const next = await processes.start(shop);
    expect(await next.next("ended")).toMatchObject({ clientId: "c-0", attempt: 1 });
  });
});
