import http from "node:http";
import { createSandbox, type Sandbox, type SandboxEvent, type SandboxOptions } from "tillkit/sandbox";
import { type Merchant, status } from "./merchant.js";
import { openSandbox } from "./open-sandbox.js";
import { unwrittenBench } from "./unwritten-bench.js";

const total = { value: "1475", currency: "KMF" };

describe("the control addresses", () => {
  const sendWhileUnwritten = unwrittenBench();
  let merchant: Merchant;
  let sandbox: Sandbox;

  async function open(options: SandboxOptions = {}): Promise<void> {
    ({ sandbox, merchant } = await openSandbox({ retryDelaysMs: [], ...options }));
    await sandbox.start();
  }
  const at = (path: string) => `${sandbox.url}/sandbox/api${path}`;
  async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const answer = await fetch(at(path), {
      method,
      headers: { ...(body && { "Content-Type": "application/json" }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: JSON.parse(await answer.text()), headers: answer.headers };
  }

  it("show the state of the sandbox", async () => {
    await open({ cancelWebhook: true });
    sandbox.create({ clientId: "c-1", total });
    await sandbox.tryWebhook("wh1");
    sandbox.holdWebhooks();
    const { body, headers } = await call("GET", "/");
    expect(body).toMatchObject({
      merchantName: "Sandbox merchant",
      now: expect.stringMatching(/Z$/),
      client: sandbox.client,
      signing: { scheme: "hmac", secret: sandbox.secret },
      webhookAddresses: [{ id: "wh1", url: merchant.webhookUrl }],
      scenario: "normal",
      settings: { cancelWebhook: true },
      webhooksHeld: true,
      payments: 1,
      deliveries: 1,
    });
    expect(headers.get("cache-control")).toBe("no-store");
  });

  it("answer a change only when it is on disk", async () => {
    const { isEarly, answer } = await sendWhileUnwritten({}, async (one) => {
      sandbox = one;
      return () => call("PUT", "/settings", { readBack: true });
    });
    expect([isEarly, answer.status]).toEqual([false, 200]);
  });

  it("list payments, deliveries, refusals and scenarios", async () => {
    await open();
    await fetch(`${sandbox.url}/v1/payments`, { method: "POST" });
    const { refusals } = (await call("GET", "/refusals")).body;
    expect([refusals.length, refusals]).toEqual([1, sandbox.refusals]);
    sandbox.create({ clientId: "c-1", total });
    await sandbox.pay("c-1");
    const listed = await call("GET", "/payments");
    expect(listed.body.payments).toEqual(sandbox.payments());
    expect(listed.headers.get("cache-control")).toBe("no-store");
    expect((await call("GET", "/deliveries")).body.deliveries).toEqual(sandbox.deliveries);
    expect((await call("GET", "/scenarios")).body).toEqual({
      current: "normal",
      scenarios: sandbox.scenarios,
    });
  });

  it("pay, cancel and fail a payment, by its id or clientId, without waiting for its webhook", async () => {
    await open();
    const [first, second, third] = ["c-1", "c-2", "c-3"].map((clientId) =>
      sandbox.create({ clientId, total }),
    );
    sandbox.holdWebhooks();
    expect((await call("POST", `/payments/${first!.id}/pay`, { provider: "PYP" })).body).toMatchObject({
      status: "completed",
      source: "PYP",
    });
    expect((await call("POST", `/payments/${second!.clientId}/cancel`)).body.status).toBe("canceled");
    expect((await call("POST", `/payments/${third!.clientId}/fail`)).body.status).toBe("failed");
  });

  it("choose scenarios: for all later payments, for one payment, and the program's own", async () => {
    await open();
    sandbox.create({ clientId: "c-1", total });
    await call("PUT", "/scenario", { scenario: "webhook-doubled" });
    expect(sandbox.currentScenario).toBe("webhook-doubled");
    await call("PUT", "/scenario", { scenario: { name: "own", webhooks: [] } });
    expect(sandbox.currentScenario).toBe("own");
    await call("PUT", "/payments/c-1/scenario", { scenario: "webhook-never" });
    expect(sandbox.find("c-1")!.scenario).toBe("webhook-never");
  });

  it("change settings, and return all of them", async () => {
    await open();
    expect((await call("PUT", "/settings", { readBack: true })).body).toEqual(sandbox.settings);
    expect(sandbox.settings.readBack).toBe(true);
  });

  it("add, try and remove addresses", async () => {
    await open({ webhookUrls: [] });
    const { body } = await call("POST", "/addresses", { url: merchant.webhookUrl });
    expect(body).toEqual(sandbox.webhookAddresses[0]);
    expect((await call("POST", `/addresses/${body.id}/try`)).body).toMatchObject({ status: 200, attempt: 1 });
    expect(merchant.webhooks).toHaveLength(1);
    expect((await call("DELETE", `/addresses/${body.id}`)).body).toEqual({ done: true });
    expect(sandbox.webhookAddresses).toEqual([]);
  });

  it("send a delivery again", async () => {
    await open();
    sandbox.create({ clientId: "c-1", total });
    merchant.answers.push(status(500));
    const [delivery] = await sandbox.pay("c-1");
    const again = await call("POST", `/deliveries/${delivery!.id}/again`);
    expect(again.body).toMatchObject({ attempt: 2, status: 200, requestBody: delivery!.requestBody });
  });

  it("rotate the secret and revoke tokens, one or all", async () => {
    await open();
    const before = sandbox.secret;
    const { body } = await call("POST", "/secret/rotate");
    expect([body.secret === sandbox.secret, body.secret === before]).toEqual([true, false]);
    const [first] = [sandbox.accessToken(), sandbox.accessToken(), sandbox.accessToken()];
    const revoked = () => sandbox.accessTokens().filter((token) => token.revoked).length;
    await call("POST", "/tokens/revoke", { id: first.slice(-8) });
    expect(revoked()).toBe(1);
    await call("POST", "/tokens/revoke");
    expect(revoked()).toBe(3);
  });

  it("hold webhooks, and release them", async () => {
    await open();
    sandbox.create({ clientId: "c-1", total });
    await call("POST", "/webhooks/hold");
    expect(sandbox.webhooksHeld).toBe(true);
    const paid = sandbox.pay("c-1");
    await sandbox.settled();
    expect(merchant.webhooks).toHaveLength(0);
    await call("POST", "/webhooks/release");
    await paid;
    expect([sandbox.webhooksHeld, merchant.webhooks.length]).toEqual([false, 1]);
  });

  it("put the clock forward, and respond when everything due has ended", async () => {
    await open({ webhookDelayMs: 60_000, now: () => new Date("2030-01-01T00:00:00.000Z") });
    sandbox.create({ clientId: "c-1", total });
    void sandbox.pay("c-1");
    expect((await call("POST", "/clock", { advanceMs: 60_000 })).body).toEqual({
      now: "2030-01-01T00:01:00.000Z",
    });
    expect(merchant.webhooks).toHaveLength(1);
    expect((await call("POST", "/clock", { set: "2031-01-01T00:00:00Z" })).body).toEqual({
      now: "2031-01-01T00:00:00.000Z",
    });
  });

  it("stream events, one JSON object on each line, until the client or the sandbox closes", async () => {
    await open({ now: () => new Date("2030-01-01T00:00:00.000Z") });
    const answer = await fetch(at("/events"));
    expect(answer.headers.get("content-type")).toMatch(/^application\/x-ndjson/);
    const read = linesOf(answer);
    const { id } = sandbox.create({ clientId: "c-1", total });
    await sandbox.clock.advance(60_000);
    await sandbox.pay("c-1");
    const events = [await read(), await read(), await read()];
    expect(events).toMatchObject([
      { type: "payment.created", payment: { id, status: "pending" }, at: "2030-01-01T00:00:00.000Z" },
      { type: "payment.moved", payment: { id, status: "completed" }, at: "2030-01-01T00:01:00.000Z" },
      { type: "delivery", delivery: { paymentId: id, status: 200 } },
    ]);
    await sandbox.close();
    expect(await read().catch(() => undefined)).toBeUndefined();
  });

  it("stop to listen for events when their client has left", async () => {
    await open();
    const watch = sandbox.watch.bind(sandbox);
    const left = new Promise<void>((resolve) => {
      const noted: typeof watch = (listener) => {
        const stop = watch(listener);
        return () => (stop(), resolve());
      };
      Object.assign(sandbox, { watch: noted });
    });
    const leaving = new AbortController();
    await fetch(at("/events"), { signal: leaving.signal });
    leaving.abort();
    await expect(left).resolves.toBeUndefined();
  });

  it("read a body of 256 KiB, and no larger one", async () => {
    await open();
    const revoke = (length: number) => call("POST", "/tokens/revoke", { id: "x".repeat(length) });
    expect([(await revoke(250_000)).status, await revoke(270_000)]).toMatchObject([
      409,
      { status: 413, body: { status: 413, title: "Refused" } },
    ]);
  });

  it("refuse a body of another type whose length is not told beforehand", async () => {
    await open();
    const headers = { "Content-Type": "text/plain", "Transfer-Encoding": "chunked" };
    expect(await statusOf("POST", at("/tokens/revoke"), headers)).toBe(400);
  });

  it.each<[string, string, string, object | undefined, number]>([
    ["an unknown payment", "POST", "/payments/c-9/pay", undefined, 409],
    ["an unknown provider", "POST", "/payments/c-1/pay", { provider: "ZZZ" }, 409],
    ["an unknown scenario", "PUT", "/scenario", { scenario: "webhook-sometimes" }, 409],
    ["no scenario", "PUT", "/scenario", {}, 409],
    ["an unknown setting", "PUT", "/settings", { cancelWebhooks: true }, 409],
    ["an address on another machine", "POST", "/addresses", { url: "http://192.0.2.1/" }, 409],
    ["no address", "POST", "/addresses", {}, 409],
    ["an address that is not registered", "POST", "/addresses/wh9/try", undefined, 409],
    ["an unknown delivery", "POST", "/deliveries/d-9/again", undefined, 409],
    ["a negative step of the clock", "POST", "/clock", { advanceMs: -1 }, 409],
    ["a step of the clock beyond the year 9999", "POST", "/clock", { advanceMs: 9e15 }, 409],
    ["no time", "POST", "/clock", {}, 409],
    ["a step of the clock as a string", "POST", "/clock", { advanceMs: "60000" }, 409],
    ["a step of the clock with a time", "POST", "/clock", { advanceMs: 1, set: "2040-01-01" }, 409],
    ["a provider that is not a string", "POST", "/payments/c-1/pay", { provider: 5 }, 409],
    ["a field that is not known", "POST", "/payments/c-1/cancel", { provider: "PYP" }, 409],
    ["an address in a body", "DELETE", "/addresses/wh1", { url: "http://localhost/" }, 409],
    ["a secret", "POST", "/secret/rotate", { secret: "a secret of mine" }, 409],
    ["an unknown path", "GET", "/nothing", undefined, 404],
  ])("refuse %s with a reason", async (_what, method, path, body, code) => {
    await open();
    sandbox.create({ clientId: "c-1", total });
    const answer = await call(method, path, body);
    expect(answer).toMatchObject({ status: code, body: { status: code, detail: expect.any(String) } });
    expect(answer.body.code).toBe(code === 409 ? "sandbox_misused" : undefined);
    expect(sandbox.find("c-1")!.status).toBe("pending");
  });

  it("name what they expected in place of a field or value that is not known", async () => {
    await open();
    sandbox.create({ clientId: "c-1", total });
    const codes = sandbox.providers.map(({ code }) => code).join(", ");
    for (const [path, body, detail] of [
      ["/payments/c-1/pay", { providr: "PYP" }, '"providr" is not known. Did you mean provider?'],
      [
        "/payments/c-1/pay",
        { provider: "ZZZ" },
        `There is no provider with the code "ZZZ". The codes are ${codes}.`,
      ],
      ["/clock", { advance: 1 }, '"advance" is not known. Did you mean advanceMs?'],
      ["/webhooks/hold", { all: true }, '"all" is not known.'],
    ] as const)
      expect((await call("POST", path, body)).body.detail).toContain(detail);
    expect([sandbox.find("c-1")!.status, sandbox.webhooksHeld]).toEqual(["pending", false]);
  });

  it.each<[string, string, object | string]>([
    ["another content type", "application/x-www-form-urlencoded", { id: "01234567" }],
    ["no content type of its own", "text/plain;charset=UTF-8", { id: "01234567" }],
    ["an id that is not a string", "application/json", { id: 5 }],
    ["a misspelt field", "application/json", { Id: "01234567" }],
    ["a list", "application/json", ["01234567"]],
    ["an unknown id", "application/json", { id: "nobodys" }],
    ["no JSON", "application/json", "01234567"],
  ])("revoke no token for a body with %s", async (_what, type, body) => {
    await open();
    sandbox.accessToken();
    const answer = await fetch(at("/tokens/revoke"), {
      method: "POST",
      headers: { "Content-Type": type },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const { status: code, detail } = JSON.parse(await answer.text());
    expect([code, detail]).toEqual([answer.status, expect.any(String)]);
    expect(answer.status).toBe(type === "application/json" && typeof body !== "string" ? 409 : 400);
    expect(sandbox.accessTokens().map(({ revoked }) => revoked)).toEqual([false]);
  });

  it("refuse what is not JSON", async () => {
    await open();
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(at("/clock"), { method: "POST", headers, body: "{" });
    expect([answer.status, JSON.parse(await answer.text()).status]).toEqual([400, 400]);
  });

  it.each<[string, Record<string, string>]>([
    ["a page of another site", { "Sec-Fetch-Site": "cross-site" }],
    ["a page of another subdomain", { "Sec-Fetch-Site": "same-site" }],
    ["a form of another site", { Origin: "http://evil.example" }],
    ["a page on another port of this machine", { Origin: "http://127.0.0.1:1" }],
    ["a page from a file", { Origin: "null" }],
    ["a host name that points to this machine", { Host: "evil.example" }],
    ["such a host name with a matching origin", { Host: "evil.example", Origin: "http://evil.example" }],
    ["a host name that begins with localhost", { Host: "localhost.evil.example" }],
    ["a name below localhost, which a name server may answer", { Host: "shop.localhost" }],
    ["a host name that begins with an IP address", { Host: "127.0.0.1.evil.example" }],
  ])("refuse commands and reads from %s", async (_who, headers) => {
    await open();
    for (const [method, path] of [
      ["POST", "/webhooks/hold"],
      ["GET", "/"],
      ["GET", "/events"],
    ] as const)
      expect([path, await statusOf(method, at(path), headers)]).toEqual([path, 403]);
    expect(sandbox.webhooksHeld).toBe(false);
  });

  it.each<[string, (url: URL) => Record<string, string>]>([
    ["a program", () => ({})],
    ["its own pages", ({ origin }) => ({ "Sec-Fetch-Site": "same-origin", Origin: origin })],
    ["an address that was typed into the browser", () => ({ "Sec-Fetch-Site": "none" })],
    ["the name localhost", ({ port }) => ({ Host: `Localhost:${port}` })],
    ["the IPv6 address of this machine", ({ port }) => ({ Host: `[::1]:${port}` })],
    ["the public address", () => ({ Host: "pay.example", Origin: "https://pay.example" })],
  ])("accept commands from %s", async (_who, headersFor) => {
    const first = createSandbox();
    await first.start();
    const url = new URL(first.url);
    await first.close();
    await open({ port: Number(url.port), publicUrl: "https://pay.example" });
    const address = `${url.origin}/sandbox/api/webhooks/hold`;
    expect(await statusOf("POST", address, headersFor(url))).toBe(200);
    expect(sandbox.webhooksHeld).toBe(true);
  });

  it("allow a link from another site, which changes nothing", async () => {
    await open();
    const visit = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" };
    for (const method of ["GET", "HEAD"]) expect(await statusOf(method, at("/scenarios"), visit)).toBe(200);
    expect(await statusOf("POST", at("/webhooks/hold"), visit)).toBe(403);
  });
});

/** Sends a request with headers that fetch does not send, and returns the status. */
function statusOf(method: string, url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sending = http.request(url, { method, headers, agent: false }, (answer) => {
      answer.destroy();
      resolve(answer.statusCode!);
    });
    sending.on("error", reject).end();
  });
}

/** Returns a function that reads the next event; `undefined` at the end. */
function linesOf(answer: Response): () => Promise<SandboxEvent | undefined> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return async () => {
    while (!text.includes("\n")) {
      const { value, done } = await reader.read();
      if (done) return undefined;
      text += value;
    }
    const [line, ...rest] = text.split("\n");
    text = rest.join("\n");
    return JSON.parse(line!);
  };
}
