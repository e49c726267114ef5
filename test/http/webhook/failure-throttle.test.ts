import { type Express } from "express";
import request from "supertest";
import { failureThrottle } from "../../../src/http/webhook/failure-throttle.js";
import { appOf, closeAll, testKit } from "../../support/kit.js";
import { completedBody, signed } from "../../support/webhooks.js";

afterEach(closeAll);

/** A throttle with a clock that the test moves. */
function throttled(budget: { perMinute: number; burst: number }) {
  const clock = { ms: 0 };
  const spend = failureThrottle(budget, () => clock.ms);
  const spendTimes = (times: number, address = "192.0.2.1") =>
    Array.from({ length: times }, () => spend(address));
  return { clock, spend, spendTimes };
}

describe("the budget of failures of one address", () => {
  it("starts with the burst, and then allows one failure for each part of the minute", () => {
    const { clock, spendTimes } = throttled({ perMinute: 60, burst: 3 });
    expect(spendTimes(5)).toEqual([undefined, undefined, undefined, 1, 1]);
    clock.ms = 1000;
    expect(spendTimes(2)).toEqual([undefined, 1]);
  });

  it("refills up to the burst, and no further", () => {
    const { clock, spendTimes } = throttled({ perMinute: 60, burst: 2 });
    spendTimes(2);
    clock.ms = 60 * 60 * 1000;
    expect(spendTimes(3)).toEqual([undefined, undefined, 1]);
  });

  it("names the seconds until it allows a failure again, a minute at most", () => {
    const { clock, spendTimes } = throttled({ perMinute: 1, burst: 1 });
    expect(spendTimes(2)).toEqual([undefined, 60]);
    clock.ms = 45_500;
    expect(spendTimes(1)).toEqual([15]);
  });

  it("is not delayed by further failures", () => {
    const { clock, spendTimes } = throttled({ perMinute: 6, burst: 1 });
    spendTimes(1);
    for (clock.ms = 1; clock.ms < 10_000; clock.ms += 999) expect(spendTimes(1)).not.toEqual([undefined]);
    clock.ms = 10_001;
    expect(spendTimes(1)).toEqual([undefined]);
  });

  it("belongs to one address alone", () => {
    const { spend, spendTimes } = throttled({ perMinute: 1, burst: 1 });
    spendTimes(9, "192.0.2.1");
    expect(spend("192.0.2.2")).toBeUndefined();
  });
});

describe("the table of addresses", () => {
  it("holds 10,000 addresses, and drops the one that failed longest ago", () => {
    const { spend, spendTimes } = throttled({ perMinute: 1, burst: 1 });
    spendTimes(1, "early");
    spendTimes(1, "early but failing on");
    for (let n = 0; n < 9_998; n += 1) spend(`n-${n}`);
    expect(spend("early but failing on")).toBe(60);
    // The table is full: one address more, and the first one has a full budget again.
    spend("one more");
    expect(spend("early but failing on")).toBe(60);
    expect(spend("early")).toBeUndefined();
    // It took the place of the address that failed longest ago, and not of the one that was seen first.
    expect(spend("early but failing on")).toBe(60);
  });

  it("drops none of the first 10,000 addresses", () => {
    const { spend } = throttled({ perMinute: 1, burst: 1 });
    for (let n = 0; n < 10_000; n += 1) spend(`n-${n}`);
    expect(spend("n-0")).toBe(60);
  });
});

/** Posts a webhook with a wrong signature. `from` is the sender that a proxy names. */
async function fail(app: Express, from?: string) {
  const { headers, rawBody } = signed(completedBody());
  const {
    status,
    body,
    headers: answered,
  } = await request(app)
    .post("/payments/webhook")
    .set({
      ...headers,
      "service-signature": "0".repeat(64),
      ...(from !== undefined && { "x-forwarded-for": from }),
    })
    .send(rawBody.toString());
  return { status, error: (body as { error: string }).error, retryAfter: answered["retry-after"] };
}

describe("a sender of webhooks whose signatures do not match", () => {
  // One failure in a minute: no test takes so long that the budget is refilled.
  const failures = { perMinute: 1, burst: 2 };

  it("is answered 429 with Retry-After beyond its budget, and each genuine webhook 200", async () => {
    const app = appOf(testKit({ webhook: { failures } }));
    const refused = { status: 401, error: "signature_invalid", retryAfter: undefined };
    expect([await fail(app), await fail(app)]).toEqual([refused, refused]);
    expect(await fail(app)).toEqual({
      status: 429,
      error: "too_many_failures",
      retryAfter: expect.stringMatching(/^[1-9]\d?$/) as string,
    });
    const { headers, rawBody } = signed(completedBody());
    const genuine = request(app).post("/payments/webhook").set(headers);
    expect((await genuine.send(rawBody.toString())).status).toBe(200);
  });

  it("has a budget of its own behind a trusted proxy", async () => {
    const app = appOf(testKit({ webhook: { failures } }));
    app.set("trust proxy", 1);
    const statuses: number[] = [];
    for (const _ of [1, 2, 3]) statuses.push((await fail(app, "203.0.113.66")).status);
    expect(statuses).toEqual([401, 401, 429]);
    expect((await fail(app, "198.51.100.7")).status).toBe(401);
    expect((await fail(app, "203.0.113.66")).status).toBe(429);
  });

  it("has no new budget for a header where no proxy is trusted", async () => {
    const app = appOf(testKit({ webhook: { failures } }));
    const statuses: number[] = [];
    for (const from of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) statuses.push((await fail(app, from)).status);
    expect(statuses).toEqual([401, 401, 429]);
  });

  it("has no limit with failures: false", async () => {
    const app = appOf(testKit({ webhook: { failures: false } }));
    const statuses = new Set<number>();
    // The default budget is 100.
    for (let n = 0; n <= 100; n += 1) statuses.add((await fail(app)).status);
    expect([...statuses]).toEqual([401]);
  });
});
