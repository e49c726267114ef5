import { sqliteStore } from "tillkit/sql";
import { numberEvents } from "../../../../../src/store/sql/sqlite/synchronous/save-sync.js";
import { event, payment } from "../../../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../../../src/store/exam/checks/steps.js";
import { temporaryFiles } from "../../support/temporary-files.js";

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

describe("a payment that is changed several times in one transaction", () => {
  const nextFile = temporaryFiles();

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
