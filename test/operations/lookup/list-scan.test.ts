import { TillkitError } from "tillkit";
import { LookupError } from "../../../src/service/index.js";
import { ListScan } from "../../../src/operations/lookup/list-scan.js";
import { RateLimiter } from "../../../src/operations/lookup/rate-limiter.js";
import { pendingPayment } from "../../support/webhooks.js";
import { shown, type Shown } from "./service.js";

const hourMs = 3_600_000;
const createdAt = "2026-11-20T10:00:00.000Z";

/** A scan of a list that the test can change, with the offsets that it asked for and the clientIds that it took. */
function scanOf({ giveUpAfterMs = 0, closing = new AbortController(), maxPage = 100 } = {}) {
  const listed: Shown[] = [];
  const offsets: number[] = [];
  const taken: string[] = [];
  const failures: Error[] = [];
  let now = Date.parse(createdAt);
  const scan = new ListScan({
    reader: {
      read: () => Promise.reject(new Error("A scan reads no single payment.")),
      list: async ({ limit, offset }) => {
        offsets.push(offset);
        return listed.slice(offset, offset + Math.min(limit, maxPage));
      },
    },
    limiter: new RateLimiter(1_000_000, closing.signal),
    closing: closing.signal,
    take: async (clientId) => {
      const failure = failures.shift();
      if (failure) throw failure;
      taken.push(clientId);
    },
    giveUpAfterMs,
    now: () => new Date(now),
  });
  return {
    listed,
    offsets,
    taken,
    failures,
    want: (...clientIds: string[]) => {
      for (const clientId of clientIds) scan.want(pendingPayment({ clientId, createdAt }));
    },
    run: () => scan.run(),
    pass: (ms: number) => (now += ms),
    show: (count: number) => {
      for (let n = 0; n < count; n++) listed.push(shown(`x-${n}`, { clientId: `x-${n}` }));
    },
  };
}

describe("the scan of the service's list", () => {
  it("reads nothing where no payment is looked for, and no more pages than it needs", async () => {
    const scan = scanOf();
    scan.show(650);
    await scan.run();
    expect(scan.offsets).toEqual([]);
    scan.want("x-7");
    await scan.run();
    await scan.run();
    expect([scan.offsets, scan.taken]).toEqual([[0], ["x-7"]]);
  });

  it("reads the first page and four others in one run, continues there, and begins again after the end", async () => {
    const scan = scanOf();
    scan.show(650);
    scan.want("lost");
    await scan.run();
    expect(scan.offsets.splice(0)).toEqual([0, 100, 200, 300, 400]);
    await scan.run();
    // The last page has 50 payments; after it the list has ended.
    expect(scan.offsets.splice(0)).toEqual([0, 500, 600, 650]);
    await scan.run();
    expect(scan.offsets).toEqual([0, 100, 200, 300, 400]);
  });

  it("takes each payment once, and only those that are looked for", async () => {
    const scan = scanOf();
    scan.show(5);
    scan.listed.push(shown("again", { clientId: "x-3" }));
    scan.want("x-3", "x-1", "lost");
    await scan.run();
    expect(scan.taken).toEqual(["x-1", "x-3"]);
  });

  it("takes a payment again that the store did not record, and no answer again that cannot be used", async () => {
    const scan = scanOf();
    scan.show(5);
    scan.want("x-1", "x-3");
    scan.failures.push(new TillkitError("store_unavailable", "The store is away."));
    await expect(scan.run()).rejects.toMatchObject({ code: "store_unavailable" });
    scan.failures.push(new LookupError("lookup_answer_invalid", "The answer cannot be used."));
    await expect(scan.run()).rejects.toMatchObject({ code: "lookup_answer_invalid" });
    await scan.run();
    expect(scan.taken).toEqual(["x-3"]);
  });

  it("goes on with a list that is empty for now, or of which only some payments show their clientId", async () => {
    const scan = scanOf();
    scan.want("x-1");
    await scan.run();
    scan.listed.push(shown("of-another-application"));
    scan.show(2);
    await scan.run();
    expect(scan.taken).toEqual(["x-1"]);
  });

  it("goes on after a whole page without a clientId, which other software may have created", async () => {
    const scan = scanOf();
    for (let n = 0; n < 100; n++) scan.listed.push(shown(`of-another-${n}`));
    scan.show(2);
    scan.want("x-1");
    await scan.run();
    expect([scan.offsets, scan.taken]).toEqual([[0, 100], ["x-1"]]);
  });

  it("reports once that the whole list shows no clientIds, and finds a payment that shows one later", async () => {
    const scan = scanOf();
    scan.listed.push(shown("s-1"), shown("s-2"));
    scan.want("x-1");
    await expect(scan.run()).rejects.toMatchObject({ code: "lookup_answer_invalid" });
    await scan.run();
    scan.show(2);
    await scan.run();
    expect(scan.taken).toEqual(["x-1"]);
  });

  it("reads every payment of a list whose pages are shorter than asked for", async () => {
    const scan = scanOf({ maxPage: 20 });
    scan.show(60);
    scan.want("x-45");
    await scan.run();
    expect([scan.offsets, scan.taken]).toEqual([[0, 20, 40], ["x-45"]]);
  });

  it("looks for a payment for an hour after its last lookup, however late that came", async () => {
    for (const [over, expected] of [
      [0, ["x-1"]],
      [1, []],
    ] as const) {
      const scan = scanOf({ giveUpAfterMs: 1000 });
      scan.show(2);
      scan.pass(30 * 24 * hourMs);
      scan.want("x-1");
      scan.pass(hourMs + over);
      await scan.run();
      expect(scan.taken).toEqual(expected);
    }
  });

  it("looks for a payment until the time when lookups give it up", async () => {
    for (const [over, expected] of [
      [0, ["x-1"]],
      [1, []],
    ] as const) {
      const scan = scanOf({ giveUpAfterMs: 72 * hourMs });
      scan.show(2);
      scan.want("x-1");
      scan.pass(72 * hourMs + over);
      await scan.run();
      expect(scan.taken).toEqual(expected);
    }
  });

  it("looks for a thousand payments at most, so that its memory is bounded", async () => {
    const scan = scanOf();
    scan.show(1001);
    scan.want(...Array.from({ length: 1001 }, (_, n) => `x-${1000 - n}`));
    for (let runs = 0; runs < 4; runs++) await scan.run();
    expect(scan.taken).toHaveLength(1000);
    expect(scan.taken).not.toContain("x-0");
  });

  it("asks nothing more when the kit closes", async () => {
    const closing = new AbortController();
    const scan = scanOf({ closing });
    scan.show(5);
    scan.want("x-1");
    closing.abort();
    await scan.run();
    expect([scan.offsets, scan.taken]).toEqual([[], []]);
  });
});
