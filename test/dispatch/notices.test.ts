import pino from "pino";
import { logNotices, Notices } from "../../src/dispatch/notices.js";
import { handlerEvent } from "../../src/dispatch/run-claim.js";
import { type NoticeMap, type NoticeType } from "../../src/model/notice-map.js";
import { event as stored } from "../../src/store/exam/checks/fixtures.js";

const error = new Error("no");

describe("a notice", () => {
  it("is sent to every listener of its type, until the listener is removed", () => {
    const { add, notify } = new Notices();
    const seen: string[] = [];
    const remove = add("lookup.failed", () => seen.push("removed"));
    add("lookup.failed", ({ clientId }) => seen.push(`${clientId}`));
    add("store.unavailable", ({ during }) => seen.push(during));
    notify("lookup.failed", { clientId: "c-1", error });
    remove();
    notify("lookup.failed", { clientId: "c-2", error });
    notify("store.unavailable", { during: "claim", error });
    notify("webhook.set_aside", { reason: "no listener", file: "f" });
    expect(seen).toEqual(["removed", "c-1", "c-2", "claim"]);
  });
});

describe("the log of notices", () => {
  const event = handlerEvent({ event: stored("e-1"), handler: "books", fence: 1, attempt: 1, failures: 0 });
  const about = { event: "payment.completed", eventId: "e-1", handler: "books" };
  const err = expect.objectContaining({ type: "Error", message: "no" });
  const [warning, failure] = [40, 50];
  const since = "2026-11-20T10:00:00.000Z";

  it.each<{ [Type in NoticeType]: [Type, NoticeMap[Type], object] }[NoticeType]>([
    [
      "dispatch.failed",
      { event, handler: "books", failures: 2, error },
      { level: warning, err, ...about, failures: 2 },
    ],
    ["dispatch.dead", { event, handler: "books", error: "no" }, { level: failure, ...about, error: "no" }],
    ["webhook.spooled", { receiptId: "r-1", error }, { level: warning, err, receiptId: "r-1" }],
    [
      "webhook.set_aside",
      { reason: "unreadable", file: "f" },
      { level: failure, reason: "unreadable", file: "f" },
    ],
    ["spool.unavailable", { error }, { level: failure, err }],
    ["lookup.failed", { clientId: "c-1", error }, { level: warning, err, clientId: "c-1" }],
    ["lookup.failed", { error }, { level: warning, err }],
    ["store.unavailable", { during: "claim", error }, { level: failure, err, during: "claim" }],
    ["store.went_back", { error }, { level: failure, err }],
    [
      "webhooks.silent",
      { since, waiting: 9, expected: 8, probability: 0.001 },
      { level: failure, since, waiting: 9, expected: 8 },
    ],
    ["webhooks.recovered", { since, silentMs: 7 }, { level: 30, since, silentMs: 7 }],
  ])("has one line about %s, with what it names", (type, notice, fields) => {
    const lines: string[] = [];
    const { add, notify } = new Notices();
    const as = { base: null, timestamp: false, serializers: { err: (one: unknown) => one } } as const;
    logNotices(add, pino(as, { write: (line: string) => void lines.push(line) }));
    notify(type, notice as never);
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ ...fields, msg: expect.stringMatching(/\w/) }]);
  });

  it("has no line about a refused webhook, because the request has one", () => {
    const lines: string[] = [];
    const { add, notify } = new Notices();
    logNotices(add, pino({ write: (line: string) => void lines.push(line) }));
    notify("webhook.rejected", { code: "signature_mismatch", status: 401 });
    expect(lines).toEqual([]);
  });
});
