import { MemoryStore } from "tillkit";
import { readEveryPage, readHistoryPage } from "../../../src/operations/reading/history-page.js";
import { event, resolution } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";

const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n).padStart(4, "0"));

describe("the pages of a history", () => {
  it("have all resolutions of a payment, also where it has nothing else", async () => {
    const store = new MemoryStore();
    const resolutions = numbers(2500).map((n) => resolution(`r-${n}`));
    await saved(store, { resolutions });
    expect((await readEveryPage(store, "p1")).resolutions).toEqual(resolutions);
  });

  it("end with the page that has the oldest record of each kind, also where it is full", async () => {
    const store = new MemoryStore();
    const resolutions = numbers(4).map((n) => resolution(`r-${n}`));
    const events = numbers(3).map((n) => event(`e-${n}`, { clientId: "p1" }));
    await saved(store, { resolutions, events });
    const first = await readHistoryPage(store, "p1", { limit: 2 });
    const { stored, isFirst, next } = await readHistoryPage(store, "p1", { limit: 2, cursor: first.next });
    expect([stored.events, stored.resolutions, isFirst, next]).toEqual([
      events.slice(0, 1),
      resolutions.slice(0, 2),
      false,
      undefined,
    ]);
    expect(first).toMatchObject({ isFirst: true, stored: { events: events.slice(1) } });
  });

  it("have each dispatch on the page of its event", async () => {
    const store = new MemoryStore();
    await store.registerHandlers([{ event: "*", name: "books" }]);
    await saved(store, { events: numbers(3).map((n) => event(`e-${n}`, { clientId: "p1" })) });
    const first = await readHistoryPage(store, "p1", { limit: 2 });
    const second = await readHistoryPage(store, "p1", { limit: 2, cursor: first.next });
    expect(
      [first, second].map(({ stored }) => stored.dispatches.map(({ eventId }) => eventId).toSorted()),
    ).toEqual([["e-0001", "e-0002"], ["e-0000"]]);
  });
});
