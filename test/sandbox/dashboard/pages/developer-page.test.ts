import { tmpdir } from "node:os";
import path from "node:path";
import request from "supertest";
import { optionsFromEnvironment } from "tillkit";
import { createSandbox } from "tillkit/sandbox";
import { OpenDashboard } from "../open-dashboard.js";

/** Returns the value of the element with this id, as a copy button copies it. */
function valueOf(text: string, id: string): string {
  const value = new RegExp(`id="${id}"[^>]*>([^<]*)<`).exec(text)?.[1] ?? "";
  return value.replaceAll("&amp;", "&");
}

describe("the credentials of the dashboard", () => {
  let dashboard: OpenDashboard;
  beforeEach(async () => {
    dashboard = await OpenDashboard.open();
  });

  it("are what a merchant obtains a token with, and creates a payment", async () => {
    const text = await dashboard.read("/developer");
    expect(valueOf(text, "token-url")).toBe(`${valueOf(text, "base-url")}/oauth/token`);
    const answer = await request(dashboard.sandbox.app)
      .post("/oauth/token")
      .type("form")
      .send({
        grant_type: "client_credentials",
        client_id: valueOf(text, "client-id"),
        client_secret: valueOf(text, "client-secret"),
      })
      .expect(200);
    await request(dashboard.sandbox.app)
      .post("/v1/payments")
      .set("Authorization", `Bearer ${answer.body.access_token}`)
      .send(dashboard.merchant.order("order-7"))
      .expect(201);
  });

  it("hide secrets until a click", async () => {
    const text = await dashboard.read("/developer");
    const open = text.replaceAll(/<details>[^]*?<\/details>/g, "");
    expect(text).toContain(dashboard.sandbox.client.clientSecret);
    expect(open).not.toContain("sandbox_");
  });

  it.each([
    ["hmac", { scheme: "hmac" }],
    ["hmac with another header and algorithm", { scheme: "hmac", header: "X-Signed", algorithm: "sha512" }],
    ["fields", { scheme: "fields", merchantId: "m-17" }],
  ] as const)("are an environment that a shop made with tillkit starts with: %s", async (_, signature) => {
    const sandbox = createSandbox({
      signature,
      publicUrl: "http://localhost:4000",
      webhookUrls: ["http://localhost:3000/pay/webhook"],
    });
    sandbox.rotateSecret();
    const { text } = await request(sandbox.app).get("/developer").expect(200);
    const lines = valueOf(text, "environment-lines")
      .split("\n")
      .map((line): [string, string] => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]);
    const environment = Object.fromEntries(lines);
    expect(environment).toMatchObject({
      TILLKIT_PUBLIC_URL: "http://localhost:3000/pay",
      TILLKIT_WEBHOOK_SECRET: sandbox.secret,
      TILLKIT_WEBHOOK_SECRET_PREVIOUS: sandbox.signing.previousSecret,
    });
    const { service, signature: scheme } = optionsFromEnvironment({
      ...environment,
      TILLKIT_DATABASE: path.join(tmpdir(), "never-opened.db"),
    });
    expect(service).toMatchObject({ baseUrl: "http://localhost:4000" });
    expect(scheme!.header.toLowerCase()).toBe(sandbox.signing.header.toLowerCase());
    await sandbox.close();
  });

  it("leave the secret out where the program gave a scheme of its own", async () => {
    const own = createSandbox({ signature: { header: "X-Own", sign: () => "00" } });
    const { text } = await request(own.app).get("/developer").expect(200);
    expect(valueOf(text, "environment-lines")).not.toContain("WEBHOOK_SECRET");
    expect(text).toContain("given by the program");
    await own.close();
  });

  it("are an environment with an example of an address where no webhook address is the kit's", async () => {
    const sandbox = createSandbox({ webhookUrls: ["http://localhost:3000/webhook/pay"] });
    const { text } = await request(sandbox.app).get("/developer").expect(200);
    expect(valueOf(text, "environment-lines")).toContain(
      "TILLKIT_PUBLIC_URL=http://localhost:3000/payments\n",
    );
  });

  it("list the newest twenty access tokens", async () => {
    const tokens = Array.from({ length: 21 }, () => dashboard.sandbox.accessToken());
    const text = await dashboard.read("/developer");
    expect(text).toContain('data-live="Access tokens: 21"');
    const listed = [...text.matchAll(/<code class="what">…([0-9a-f]{8})</g)].map(([, id]) => id);
    expect(listed).toEqual(
      tokens
        .map((token) => token.slice(-8))
        .toReversed()
        .slice(0, 20),
    );
  });

  it("list the access tokens, and revoke one or all", async () => {
    const none = await dashboard.read("/developer");
    expect(none).toContain("is valid for 1 hour.");
    expect(none).not.toContain("Revoke all");
    const tokens = [
      dashboard.sandbox.accessToken(),
      dashboard.sandbox.accessToken(),
      dashboard.sandbox.accessToken({ ttlSeconds: 0 }),
    ];
    const uses = (token: string) =>
      request(dashboard.sandbox.app).post("/v1/payments").set("Authorization", `Bearer ${token}`).send({});
    const text = await dashboard.read("/developer");
    for (const token of tokens) {
      expect(text).toContain(`…${token.slice(-8)}`);
      expect(text).not.toContain(token);
    }
    expect(text).toContain(">expired<");
    const { issuedAt, expiresAt } = dashboard.sandbox.accessTokens().at(-1)!;
    const times = [issuedAt, expiresAt].map((time) => `<time datetime="${time}">`);
    expect(text).toMatch(new RegExp(`issued ${times[0]}[^]*?expires ${times[1]}`));
    const one = await dashboard.does("/developer/tokens/revoke", { id: tokens[0]!.slice(-8) });
    expect(one).toMatch(/The token stopped working[^]*>revoked</);
    expect([(await uses(tokens[0]!)).status, (await uses(tokens[1]!)).status]).toEqual([401, 400]);
    await request(dashboard.sandbox.app).post("/developer/tokens/revoke").send({ id: "nobodys" }).expect(400);
    expect((await uses(tokens[1]!)).status).toBe(400);
    expect(text).toMatch(/name="all"[^>]*>\s*Revoke all/);
    const all = await dashboard.does("/developer/tokens/revoke", { all: "all" });
    expect(all).toContain("Every token issued so far stopped working.");
    expect(all).not.toContain(">expired<");
    expect((await uses(tokens[1]!)).status).toBe(401);
  });
});
