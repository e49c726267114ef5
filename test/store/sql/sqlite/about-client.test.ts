import { eventKeyOf } from "../../../../src/webhook/message/read-message.js";
import { newId } from "../../../../src/shared/new-id.js";
import { type Changes } from "../../../../src/store/index.js";
import { saved } from "../../../../src/store/exam/checks/steps.js";
import { event, payment, webhook } from "../../../../src/store/exam/checks/fixtures.js";
import { openPlace, type Place } from "../../../promises/processes/databases.js";

const keyOf = (clientId: string): string =>
  eventKeyOf({
    id: "service-1",
    clientId,
    status: "completed",
    "total.value": "1475",
    "total.currency": "KMF",
    captured: true,
  });

// No index by clientId lists a webhook and its event where the eventKey finds them.
describe("a webhook and its event on SQLite", () => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace("sqlite");
  });
  afterEach(() => place.remove());

  /** Returns a webhook as the kit records it, and the event that follows from it. */
  const completed = (clientId: string): Changes => ({
    webhooks: [webhook(keyOf(clientId), { clientId })],
    events: [event(`event of ${clientId}`, { clientId })],
  });
  const merged = (...all: Changes[]): Changes => ({
    webhooks: all.flatMap(({ webhooks = [] }) => webhooks),
    events: all.flatMap(({ events = [] }) => events),
  });
  const known = async (clientId: string) => {
    const { webhooks, events } = await place.store.history(clientId);
    const page = await place.store.webhooks({ clientId, limit: 10 });
    expect(page.map(({ eventKey }) => eventKey)).toEqual(webhooks.map(({ eventKey }) => eventKey));
    return { webhooks: webhooks.map(({ eventKey }) => eventKey), events: events.map(({ id }) => id) };
  };
  const whole = (clientId: string) => ({
    webhooks: [keyOf(clientId)],
    events: [`event of ${clientId}`],
  });
  const listed = async (): Promise<[unknown, unknown]> => {
    const count = async (table: string) =>
      (await place.select(`select count(*) as n from ${table} where unlisted is null`))[0]!["n"];
    return [await count("@webhooks"), await count("@events")];
  };

  it.each([
    ["that an eventKey contains as a whole", () => "order-1001"],
    ["of the maximum length that an eventKey contains", () => "o".repeat(24)],
    ["that the kit creates", () => newId()],
    ["that is a UUID in capital letters", () => "8F14E45F-CEEA-467E-A9C0-3B1B2C4D5E6F"],
  ])("are found by the eventKey for a clientId %s", async (_, make) => {
    const [own, other] = [make(), "order-999"];
    await saved(place.store, merged(completed(other), completed(own)));
    expect(await listed()).toEqual([0, 0]);
    expect(await known(own)).toEqual(whole(own));
    expect(await known(other)).toEqual(whole(other));
  });

  it.each([
    ["whose beginning in eventKeys many others share", (n: number) => `our-shop-in-moroni-order-${n}`],
    ["that looks like a UUID and is a counter", (n: number) => `00000000-0000-4000-8000-00000000000${n}`],
  ])("are found by an index for a clientId %s", async (_, make) => {
    await saved(place.store, merged(completed(make(1)), completed(make(2))));
    expect(await listed()).toEqual([2, 2]);
    expect(await known(make(1))).toEqual(whole(make(1)));
    expect(await known(make(2))).toEqual(whole(make(2)));
  });

  it("are not found for another clientId whose eventKeys begin alike", async () => {
    const ids = ["a", "a:b", "a;", "A", "a%", "a_", "payment:a", "b"];
    await saved(place.store, merged(...ids.map(completed)));
    expect(await listed()).toEqual([0, 0]);
    for (const id of ids) expect(await known(id)).toEqual(whole(id));
  });

  it("are found as well if the webhook changed nothing, waits, comes from a lookup or has another eventKey", async () => {
    await saved(place.store, completed("p1"));
    await saved(place.store, {
      webhooks: [
        webhook("k1", { clientId: "p1" }),
        webhook(`${keyOf("p1")}2`, { clientId: "p1", outcome: "stale" }),
        webhook(`${keyOf("p1")}3`, { clientId: "p1", outcome: "unmatched" }),
        webhook(`${keyOf("p1")}4`, { clientId: "p1", kind: "lookup" }),
        webhook("k2"),
      ],
      events: [event("e1", { clientId: "p1" }), event("e2"), event("e3", { clientId: "p1" })],
    });
    expect(await listed()).toEqual([5, 3]);
    const { webhooks, events } = await known("p1");
    expect(webhooks.toSorted()).toEqual(
      ["k1", ...["", "2", "3", "4"].map((end) => `${keyOf("p1")}${end}`)].toSorted(),
    );
    expect(events).toEqual(["event of p1", "e1", "e3"]);
  });

  it("are found as well if the webhook was left out because it is stored already", async () => {
    await saved(place.store, { webhooks: [webhook(keyOf("p1"), { clientId: "p1", outcome: "unmatched" })] });
    await saved(place.store, completed("p1"));
    expect(await known("p1")).toEqual(whole("p1"));
  });

  it("are found among the parked webhooks after the webhook was decided again", async () => {
    await saved(place.store, completed("p1"));
    expect(await place.store.transaction((tx) => place.store.rematchable(tx, ["p1"]))).toEqual([]);
    const { receiptId } = webhook(keyOf("p1"));
    await saved(place.store, {
      rematched: [{ receiptId, outcome: "unmatched", decidedAt: "2026-11-21T10:00:00.000Z" }],
    });
    const parked = await place.store.transaction((tx) => place.store.rematchable(tx, ["p1", "p2"]));
    expect(parked).toMatchObject([{ receiptId, outcome: "unmatched" }]);
    expect(await known("p1")).toEqual(whole("p1"));
  });

  it("are found as well if a process of the previous version wrote them, with numbers that others have too", async () => {
    await saved(place.store, merged(completed("p1"), completed("p2")));
    await place.select("delete from @events");
    const at = "2026-11-21T10:00:00.000Z";
    await place.select(
      `insert into @webhooks (receipt_id, event_key, outcome, client_id, raw_body, covers, received_at)
        values ('old', 'old key', 'applied', 'p3', 'abc', 'body', '${at}')`,
    );
    await place.select(
      `insert into @events (id, type, client_id, recorded_at, payload) values ('old', 'payment.completed', 'p3', '${at}', '{}')`,
    );
    expect(await place.select("select seq from @events")).toEqual([{ seq: 1 }]);
    expect(await known("p1")).toEqual({ webhooks: [keyOf("p1")], events: [] });
    expect(await known("p3")).toEqual({ webhooks: ["old key"], events: ["old"] });
    await saved(place.store, completed("p4"));
    expect(await known("p4")).toEqual(whole("p4"));
  });
});

describe("a reference on SQLite", () => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace("sqlite");
    await saved(place.store, {
      created: [
        payment("p1", { reference: "r" }),
        payment("p2", { reference: "r", open: false }),
        payment("p3", { reference: "other" }),
      ],
    });
  });
  afterEach(() => place.remove());

  const conflict = { code: "store_conflict" };

  it("has one open payment, whichever payment a change opens", async () => {
    const opened = payment("p2", { reference: "r", open: true });
    await expect(saved(place.store, { updated: [opened] })).rejects.toMatchObject(conflict);
    expect(await place.store.find("p2")).toMatchObject({ open: false });
    await saved(place.store, { updated: [payment("p1", { reference: "r", open: false }), opened] });
    expect(await place.store.find("p2")).toMatchObject({ open: true });
  });

  it("is not opened twice by one change", async () => {
    const closed = payment("p1", { reference: "r", open: false });
    await saved(place.store, { updated: [closed] });
    const both = [payment("p1", { reference: "r" }), payment("p2", { reference: "r" })];
    await expect(saved(place.store, { updated: both })).rejects.toMatchObject(conflict);
    expect(await place.store.find("p1")).toMatchObject({ open: false });
  });

  it("leaves a new payment out while another is open, and stores it after that is closed", async () => {
    const added = payment("p4", { reference: "r" });
    expect(await saved(place.store, { created: [added] })).toMatchObject({ takenClientIds: ["p4"] });
    expect(await place.store.find("p4")).toBeUndefined();
    expect(
      await saved(place.store, { created: [payment("p5", { reference: "r", open: false })] }),
    ).toMatchObject({
      takenClientIds: [],
    });
    const closed = payment("p1", { reference: "r", open: false });
    expect(await saved(place.store, { updated: [closed], created: [added] })).toMatchObject({
      takenClientIds: [],
    });
  });
});
