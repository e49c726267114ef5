import request from "supertest";
import { createSandbox, type Sandbox } from "tillkit/sandbox";

const order = (clientId: string, value = "1475") => ({
  purchase: { total: { value, currency: "KMF" } },
  clientId,
  cancelUrl: "http://shop.example/cancel",
  successUrl: "http://shop.example/success",
});

/** Creates a payment with this token, and returns the status of the response. */
async function use(sandbox: Sandbox, token: string, body = order(`c-${Math.random()}`)): Promise<number> {
  const sending = request(sandbox.app).post("/v1/payments").set("Authorization", `Bearer ${token}`);
  return (await sending.send(body)).status;
}

/** Requests a token from the token address. */
async function ask(sandbox: Sandbox) {
  const { clientId, clientSecret } = sandbox.client;
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  return request(sandbox.app).post("/oauth/token").type("form").send(form);
}

describe("access tokens", () => {
  it("expire by the sandbox's clock", async () => {
    // The machine's clock stands still, so that the token is used at the end of its lifetime.
    const sandbox = createSandbox({ now: () => new Date("2030-01-01T00:00:00.000Z") });
    const token = sandbox.accessToken({ ttlSeconds: 60 });
    await sandbox.clock.advance(59_999);
    expect(await use(sandbox, token)).toBe(201);
    await sandbox.clock.advance(1);
    expect(await use(sandbox, token)).toBe(401);
  });

  it("are listed newest first, without the tokens themselves", () => {
    const sandbox = createSandbox({ now: () => new Date("2030-01-01T00:00:00.000Z") });
    const [first, second] = [sandbox.accessToken(), sandbox.accessToken({ ttlSeconds: 1 })];
    expect(sandbox.accessTokens()).toEqual([
      {
        id: second.slice(-8),
        issuedAt: "2030-01-01T00:00:00.000Z",
        expiresAt: "2030-01-01T00:00:01.000Z",
        revoked: false,
      },
      {
        id: first.slice(-8),
        issuedAt: "2030-01-01T00:00:00.000Z",
        expiresAt: "2030-01-01T01:00:00.000Z",
        revoked: false,
      },
    ]);
  });

  it("can be revoked one by one, and all in one call", async () => {
    const sandbox = createSandbox();
    const tokens = [sandbox.accessToken(), sandbox.accessToken(), sandbox.accessToken()];
    sandbox.revokeAccessTokens(tokens[1]!.slice(-8));
    for (const id of ["nobodys", ""])
      expect(() => sandbox.revokeAccessTokens(id)).toThrow(`There is no access token with the id "${id}".`);
    expect(await Promise.all(tokens.map((token) => use(sandbox, token)))).toEqual([201, 401, 201]);
    sandbox.revokeAccessTokens();
    expect(await Promise.all(tokens.map((token) => use(sandbox, token)))).toEqual([401, 401, 401]);
    expect(sandbox.accessTokens().every(({ revoked }) => revoked)).toBe(true);
    expect(await use(sandbox, sandbox.accessToken())).toBe(201);
  });

  it("cannot be obtained while the scenario token-down is the current one", async () => {
    const sandbox = createSandbox({ scenario: "token-down" });
    const refused = await ask(sandbox);
    expect([refused.status, refused.body.error]).toEqual([503, "temporarily_unavailable"]);
    sandbox.scenario("normal");
    expect((await ask(sandbox)).status).toBe(200);
  });

  it("expire earlier than the response says under token-expired-early", async () => {
    const sandbox = createSandbox({ scenario: "token-expired-early" });
    const { access_token: token, expires_in: seconds } = (await ask(sandbox)).body;
    expect([seconds, await use(sandbox, token)]).toEqual([3600, 201]);
    await sandbox.clock.advance(60_000);
    expect(await use(sandbox, token)).toBe(401);
  });

  it("count as expired once for a payment whose clientId asks for it", async () => {
    const sandbox = createSandbox();
    const [token, other] = [sandbox.accessToken(), sandbox.accessToken()];
    const body = order("c-1:token-expired-early");
    expect(await use(sandbox, token, body)).toBe(401);
    expect(await use(sandbox, token, order("c-2"))).toBe(401);
    expect(await use(sandbox, other, order("c-3"))).toBe(201);
    const { access_token: renewed } = (await ask(sandbox)).body;
    expect(await use(sandbox, renewed, body)).toBe(201);
    await sandbox.clock.advance(120_000);
    expect(await use(sandbox, renewed)).toBe(201);
  });

  it("cannot be obtained once after a payment whose clientId asks for it", async () => {
    const sandbox = createSandbox();
    expect(await use(sandbox, sandbox.accessToken(), order("c-1:token-down"))).toBe(401);
    expect((await ask(sandbox)).status).toBe(503);
    const { access_token: renewed } = (await ask(sandbox)).body;
    expect(await use(sandbox, renewed, order("c-1:token-down"))).toBe(201);
  });

  it.each([
    ["html", 502, "text/html; charset=utf-8"],
    ["unavailable", 503, "application/json; charset=utf-8"],
  ] as const)("can be refused as %s by the program's own scenario", async (answer, code, type) => {
    const sandbox = createSandbox({ scenario: { name: "own", token: { answer } } });
    const { status, headers } = await ask(sandbox);
    expect([status, headers["content-type"]]).toEqual([code, type]);
  });

  it("get no response in a scenario that hangs, until the sandbox closes", async () => {
    const sandbox = createSandbox({ scenario: { name: "own", token: { answer: "hang" } } });
    await sandbox.start();
    const { clientId, clientSecret } = sandbox.client;
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
    });
    const signal = AbortSignal.timeout(100);
    await expect(fetch(sandbox.tokenUrl, { method: "POST", body, signal })).rejects.toMatchObject({
      name: "TimeoutError",
    });
    const asking = fetch(sandbox.tokenUrl, { method: "POST", body });
    await Promise.all([expect(asking).rejects.toThrow("fetch failed"), sandbox.close()]);
  });
});
