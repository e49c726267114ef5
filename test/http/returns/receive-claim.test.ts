import express, { type RequestHandler } from "express";
import {
  fetchHandler,
  MemoryStore,
  paymentRouter,
  type MemoryTx,
  type Payment,
  type ReturnOptions,
} from "tillkit";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { send, type Answer } from "../../promises/corpora/world.js";
import { closeAll, serve, testKit } from "../../support/kit.js";
import { saidBy, shapeOf } from "../../support/markup.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { collectedLog } from "../collected-log.js";

afterEach(closeAll);

const minute = 60 * 1000;
const started = Date.parse("2026-11-20T10:00:00.000Z");
const { token, hash } = makeReturnToken("c-1");
const page = `/payments/success/${token}`;
const form = `${page}?claim`;

interface Setting {
  returns?: ReturnOptions;
  payment?: Partial<Payment>;
  others?: Payment[];
  before?: RequestHandler;
}

/** Opens a shop whose customer came back two minutes ago, and returns what a browser of the customer does. */
async function open({ returns, payment, others = [], before }: Setting = {}) {
  const { logger, lines } = collectedLog();
  const store = new MemoryStore();
  const clock = { now: started };
  const payments = testKit<never, MemoryTx>({ store, returns, logger, now: () => new Date(clock.now) });
  const created = [pendingPayment({ returnKeyHash: hash, ...payment }), ...others];
  await store.transaction((tx) => store.save(tx, { created }));
  const app = express();
  if (before) app.use(before);
  app.use("/payments", paymentRouter(payments));
  const url = await serve(app);
  await send(url, { path: page });
  clock.now += 2 * minute;
  const post = (number: string, { path = form, headers = {} }: { path?: string; headers?: object } = {}) =>
    send(url, {
      method: "POST",
      path,
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: Buffer.from(new URLSearchParams({ number }).toString()),
    });
  const claims = async (clientId = "c-1") =>
    (await payments.history(clientId)).entries.filter(({ kind }) => kind === "claim");
  return { url, store, payments, clock, lines, post, claims, get: (path = page) => send(url, { path }) };
}

const headerOf = ({ headers }: Answer, name: string) => String(headers[name]);

describe("the offer to say that a payment is paid", () => {
  it("is made two minutes after the first return, and not before", async () => {
    const { clock, get } = await open();
    clock.now = started + 2 * minute - 1;
    expect((await get(`${page}/state`)).body).toContain('"canClaim":false');
    expect((await get()).body).not.toContain("data-can-claim=");
    expect((await get(form)).body).toContain('data-state="delayed"');
    clock.now = started + 2 * minute;
    expect((await get(`${page}/state`)).body).toContain('"canClaim":true');
    expect((await get()).body).toMatch(
      /data-can-claim=""[^]*<a class="button claim" href="\?claim">I have paid/,
    );
    expect((await get(form)).body).toContain('data-state="claim"');
  });

  it("is no longer made for a payment that is paid, nor on the cancel page", async () => {
    const { payments, get, post, claims } = await open();
    const cancel = page.replace("success", "cancel");
    expect((await get(cancel)).body).not.toContain("data-can-claim=");
    expect((await post("MVK-778", { path: `${cancel}?claim` })).status).toBe(303);
    await payments.receiveWebhook(signed(completedBody()));
    expect((await get(form)).body).toContain('data-state="paid"');
    expect((await post("MVK-778")).status).toBe(303);
    expect(await claims()).toEqual([]);
  });

  it("has a form that does not reload itself, and may be sent to its own address only", async () => {
    const { get } = await open();
    const answer = await get(form);
    expect(answer.body).not.toContain("refresh");
    expect(answer.body).not.toContain("<script");
    expect(headerOf(answer, "content-security-policy")).toContain("form-action 'self'");
    expect(headerOf(await get(), "content-security-policy")).toContain("form-action 'none'");
  });

  it.each([
    ["the page", page],
    ["the form", form],
  ])("keeps the headers of a return page: %s", async (_, path) => {
    const { get } = await open();
    expect((await get(path)).headers).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "content-type": "text/html; charset=utf-8",
    });
  });
});

describe("a customer who says that the payment is paid", () => {
  it("is thanked, and stands in the history of the payment, which stays pending", async () => {
    const { post, get, claims, payments, clock } = await open();
    const answer = await post("  mvk 778 ");
    expect([answer.status, answer.headers["location"], answer.headers["cache-control"]]).toEqual([
      303,
      "?",
      "no-store",
    ]);
    const { body } = await get(`${page}?`);
    expect(body).toMatch(/data-state="claimed"[^]*Thank you, we have your number[^]*Correct the number/);
    expect(body).not.toContain("mvk");
    expect(await claims()).toEqual([
      {
        kind: "claim",
        at: new Date(clock.now).toISOString(),
        number: "mvk 778",
        isReported: false,
        text: "the customer says that it is paid, with the number mvk 778",
      },
    ]);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending", open: true });
  });

  it("sees the service's number once the payment is confirmed, and never the own one", async () => {
    const { post, get, payments, claims } = await open();
    await post("mvk 999");
    await post("mvk 778");
    await payments.receiveWebhook(signed(completedBody({ providerId: 'MVK-778"><b>' })));
    const { body } = await get();
    expect(body).toContain('<dd id="receipt">MVK-778&quot;&gt;&lt;b&gt;</dd>');
    expect(body).not.toContain("mvk");
    expect(JSON.parse((await get(`${page}/state`)).body)).toMatchObject({ receipt: 'MVK-778"><b>' });
    expect((await claims()).map((entry) => "isReported" in entry && entry.isReported)).toEqual([
      false,
      false,
    ]);
  });

  it("has the claim marked where the service reported the same number", async () => {
    const { post, payments, claims } = await open();
    await post("mvk 778");
    await payments.receiveWebhook(signed(completedBody()));
    expect(await claims()).toMatchObject([
      { isReported: true, text: expect.stringContaining("which the service") },
    ]);
  });

  it("sees no number that the signature does not cover", async () => {
    const reported = { status: "completed", at: "", providerId: "MVK-778" };
    const paid = { state: "completed", completedAt: "2026-11-20T10:00:00.000Z" } as const;
    const { get } = await open({ payment: { ...paid, reported: { ...reported, verified: ["status"] } } });
    expect((await get()).body).toContain('data-state="paid"');
    expect((await get()).body).not.toContain("MVK-778");
    expect((await get(`${page}/state`)).body).not.toContain("MVK-778");
  });

  it("is found by the number, in any spelling, before and after the payment is paid", async () => {
    const { post, payments } = await open();
    await post("mvk 778");
    const found = async (providerId: string) => (await payments.find({ providerId }))?.clientId;
    expect([await found("MVK-778"), await found("MVK-779")]).toEqual(["c-1", undefined]);
    expect((await payments.list({ claimed: "MVK778", state: "pending" })).payments).toMatchObject([
      { clientId: "c-1" },
    ]);
    await payments.receiveWebhook(signed(completedBody({ providerId: "T-1" })));
    expect([await found("MVK-778"), await found("T-1")]).toEqual(["c-1", "c-1"]);
    expect((await payments.list({ claimed: "MVK778", state: "pending" })).payments).toEqual([]);
  });

  it("is answered as before where the application has parsed the form", async () => {
    const { post, claims } = await open({ before: express.urlencoded({ extended: true }) });
    expect((await post("MVK-778")).status).toBe(303);
    expect(await claims()).toMatchObject([{ number: "MVK-778" }]);
  });

  it("can do so through a fetch handler", async () => {
    const { payments, claims } = await open();
    const handler = fetchHandler(paymentRouter(payments));
    const body = new URLSearchParams({ number: "MVK-778" });
    const answer = await handler(new Request(`https://shop.example${form}`, { method: "POST", body }));
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "?"]);
    expect(await claims()).toMatchObject([{ number: "MVK-778" }]);
  });

  it.each([
    ["fr", "Écrivez 4 à 40 lettres et chiffres"],
    ["en", "Please write 4 to 40 letters and digits"],
  ])("who writes no number sees the form again, in the language of the payment: %s", async (locale, text) => {
    const { post, claims } = await open({ payment: { locale } });
    const answer = await post("?!");
    expect(answer.status).toBe(422);
    expect(answer.body).toContain(text);
    expect(answer.body).toContain('value="?!"');
    expect(headerOf(answer, "cache-control")).toBe("no-store");
    expect(await claims()).toEqual([]);
  });
});

describe("an attack on the form", () => {
  it("of markup is shown to its sender as text, and is never kept", async () => {
    const { post, get, claims } = await open();
    const harmless = shapeOf((await post("?")).body);
    for (const text of [
      '"><script>alert(1)</script>',
      "<img src=x onerror=alert(1)>",
      "=1+1|' /C calc'!A0",
    ]) {
      const { status, body } = await post(text);
      expect([status, shapeOf(body)]).toEqual([422, harmless]);
      expect(saidBy(body).some((said) => said.includes(text.slice(0, 40)))).toBe(true);
    }
    expect((await get()).body).toContain('data-state="delayed"');
    expect(await claims()).toEqual([]);
  });

  it("with the token of another payment, or a forged one, claims nothing for this one", async () => {
    const other = makeReturnToken("c-2");
    const others = [
      pendingPayment({ clientId: "c-2", serviceId: "s-2", reference: "order-2", returnKeyHash: other.hash }),
    ];
    const { post, claims, url, clock } = await open({ others });
    await send(url, { path: `/payments/success/${other.token}` });
    clock.now += 2 * minute;
    const stolen = other.token.replace("c-2", "c-1");
    for (const forged of [stolen, `${token}x`, "c-1~", "c-1"])
      expect((await post("MVK-778", { path: `/payments/success/${forged}?claim` })).status).toBe(404);
    await post("MVK-778", { path: `/payments/success/${other.token}?claim` });
    expect([await claims("c-1"), await claims("c-2")]).toMatchObject([[], [{ number: "MVK-778" }]]);
  });

  it("says the same of a number that another customer gave, and of one that the service knows", async () => {
    const other = makeReturnToken("c-2");
    const reported = { status: "completed", at: "", providerId: "MVK-1", verified: ["providerId"] as const };
    const others = [
      pendingPayment({
        clientId: "c-2",
        serviceId: "s-2",
        reference: "order-2",
        state: "completed",
        reported,
        returnKeyHash: other.hash,
      }),
    ];
    const { post, get, payments } = await open({ others });
    const seen = [];
    for (const number of ["MVK-1", "MVK-2"]) {
      const { status, body, headers } = await post(number);
      const after = (await get()).body.replaceAll(/nonce(="|-)[^"']+/g, "");
      seen.push({ status, body, location: headers["location"], after });
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
  });

  it("from another site is refused, and one from an old browser without these headers is not", async () => {
    const { post, claims } = await open();
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "cross-site", origin: "https://shop.example" },
      { origin: "https://evil.example" },
      { origin: "https://shop.example.evil.example" },
    ])
      expect((await post("MVK-1", { headers })).status).toBe(403);
    expect(await claims()).toEqual([]);
    for (const headers of [
      { "sec-fetch-site": "same-origin", origin: "null" },
      { origin: "https://shop.example" },
      { origin: "null" },
    ])
      expect((await post("MVK-1", { headers })).status).toBe(303);
    expect(await claims()).toHaveLength(1);
  });

  it.each([
    ["a body that is too long", Buffer.from(`number=${"1".repeat(5000)}`)],
    ["another form", Buffer.from("a=b")],
    ["no body", Buffer.alloc(0)],
    ["bytes that are no text", Buffer.from([0x6e, 0xff, 0xfe, 0x00])],
  ])("with %s is shown the form again", async (_, body) => {
    const { url, claims } = await open();
    const { status } = await send(url, { method: "POST", path: form, body });
    expect([status, await claims()]).toEqual([422, []]);
  });

  it("of posts that nothing could be kept of spends the budget of its address only", async () => {
    const { post, claims, clock } = await open();
    clock.now = started + minute;
    // The budget must not be refilled meanwhile.
    const stopped = jest.spyOn(performance, "now").mockReturnValue(performance.now());
    const statuses: number[] = [];
    for (let sent = 0; sent < 60; sent++) statuses.push((await post("MVK-1")).status);
    expect(new Set(statuses)).toEqual(new Set([303]));
    const answer = await post("MVK-1");
    stopped.mockRestore();
    expect([answer.status, headerOf(answer, "retry-after")]).toEqual([429, "3"]);
    expect(await claims()).toEqual([]);
  });

  it("of posts about many payments spends one budget of their address", async () => {
    const { post } = await open();
    const stopped = jest.spyOn(performance, "now").mockReturnValue(performance.now());
    const statuses: number[] = [];
    for (let sent = 0; sent < 61; sent++) {
      const other = makeReturnToken(`other-${sent}`).token;
      statuses.push((await post("MVK-1", { path: `/payments/success/${other}?claim` })).status);
    }
    stopped.mockRestore();
    expect(statuses).toEqual([...Array<number>(60).fill(404), 429]);
  });

  it("of many numbers for one payment spends five claims, and then one in a minute", async () => {
    const { post } = await open();
    let now = performance.now();
    const stopped = jest.spyOn(performance, "now").mockImplementation(() => now);
    const answers: Answer[] = [];
    for (let sent = 1; sent <= 6; sent++) answers.push(await post(`GUESS-${sent}`));
    now += minute + 1;
    answers.push(await post("GUESS-7"), await post("GUESS-8"));
    stopped.mockRestore();
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303, 429, 303, 429]);
    expect(headerOf(answers[5]!, "retry-after")).toBe("60");
  });

  it("of a customer who came too early leaves the budget of the payment", async () => {
    const { post, claims, clock } = await open();
    clock.now = started + minute;
    for (let sent = 0; sent < 6; sent++) await post("MVK-1");
    clock.now = started + 2 * minute;
    expect((await post("MVK-1")).status).toBe(303);
    expect(await claims()).toHaveLength(1);
  });

  it("with a long number is shown the first 40 characters, and nothing of a body that is too long", async () => {
    const { post } = await open();
    const valueIn = ({ body }: Answer) => /name="number"\s+value="([^"]*)"/.exec(body)?.[1] ?? "";
    expect(valueIn(await post("x".repeat(300)))).toBe("x".repeat(40));
    expect(valueIn(await post("x".repeat(2048)))).toBe("");
  });

  it("of ten thousand posts makes a handful of writes, leaves three claims, and decides nothing", async () => {
    const { store, payments, claims, lines } = await open();
    const handler = fetchHandler(paymentRouter(payments));
    const save = jest.spyOn(store, "save");
    const began = performance.now();
    const statuses = new Map<number, number>();
    const waits = new Set<number>();
    for (let index = 0; index < 10_000; index++) {
      const body = new URLSearchParams({ number: `GUESS-${index}` });
      const { status, headers } = await handler(
        new Request(`https://shop.example${form}`, { method: "POST", body }),
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      // 0 where the answer has none.
      waits.add(Number(headers.get("retry-after")) > 0 ? status : 0);
    }
    const kept = statuses.get(303)!;
    expect(new Set(statuses.keys())).toEqual(new Set([303, 429]));
    expect(waits).toEqual(new Set([0, 429]));
    expect(kept).toBeGreaterThanOrEqual(5);
    // One more each minute, where the test takes so long.
    expect(kept).toBeLessThanOrEqual(6 + Math.floor((performance.now() - began) / minute));
    expect(save).toHaveBeenCalledTimes(kept);
    expect(await claims()).toHaveLength(3);
    expect(await store.notes({ kind: "claimed" })).toHaveLength(3);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
    expect(JSON.stringify(lines)).not.toContain("GUESS");
  });
});
