import { sqliteStore } from "tillkit/sql";
import { numberEvents } from "../../../../../src/store/sql/sqlite/synchronous/save-sync.js";
import { event, payment, webhook } from "../../../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../../../src/store/exam/checks/steps.js";
import { temporaryFiles } from "../../support/temporary-files.js";

const nextFile = temporaryFiles();

/** Returns events about these clientIds; `undefined` stands for an event about none. */
const about = (...clientIds: (string | undefined)[]) =>
  clientIds.map((clientId, index) => event(`e${index}`, clientId === undefined ? {} : { clientId }));

const numbers = (clientIds: readonly (string | undefined)[], ofWebhooks: Record<string, number>) =>
  numberEvents(about(...clientIds), new Map(Object.entries(ofWebhooks)), 100).map(
    ({ seq, isOfWebhook }) => `${seq}${isOfWebhook ? " of a webhook" : ""}`,
  );

describe("the number of an event", () => {
  it("is that of the webhook about its payment", () => {
    expect(numbers(["a", "b"], { a: 10, b: 11 })).toEqual(["10 of a webhook", "11 of a webhook"]);
  });

  it("is a fresh one where there is no such webhook, and for an event about no payment", () => {
    expect(numbers(["a", undefined], { b: 11 })).toEqual(["100", "101"]);
  });

  it("is given only once", () => {
    expect(numbers(["a", "a"], { a: 10 })).toEqual(["10 of a webhook", "100"]);
  });

  it("grows from event to event, whatever the order of the webhooks", () => {
    expect(numbers(["b", "a", "c"], { a: 10, b: 11, c: 12 })).toEqual(["11 of a webhook", "100", "101"]);
  });
});

it("events about a recorded webhook, about no payment and about another one are stored in their order", async () => {
  const store = sqliteStore(nextFile());
  const webhooks = [webhook("payment:order-1:1", { clientId: "order-1" })];
  await saved(store, { webhooks, events: about("order-1", undefined, "order-2") });
  const { rows } = await store.query<{ id: string }>("select id from tillkit_events order by seq");
  expect(rows.map(({ id }) => id)).toEqual(["e0", "e1", "e2"]);
  await store.close();
});

describe("a payment that is changed several times in one transaction", () => {
  it.each([
    ["its status", { status: "submitted" }],
    ["its need of a person", { attention: "paid_late" as const }],
    ["whether it is open", { open: false }],
  ])("has what the last change says, also where that is what it had before: %s", async (_, change) => {
    const store = sqliteStore(nextFile());
    const before = payment("p1");
    await saved(store, { created: [before] });
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p1"] });
      await store.save(tx, { updated: [{ ...before, ...change }] });
      await store.save(tx, { updated: [before] });
    });
    expect(await store.find("p1")).toEqual(before);
    await store.close();
  });
});
