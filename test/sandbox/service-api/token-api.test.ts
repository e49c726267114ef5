import request from "supertest";
import { createSandbox } from "tillkit/sandbox";
import { unwrittenBench } from "../unwritten-bench.js";

const clients = [
  { clientId: "first", clientSecret: "sandbox_first secret" },
  { clientId: "second", clientSecret: "sandbox_second:secret" },
];
const credentials = { client_id: "second", client_secret: "sandbox_second:secret" };

function ask(fields: Record<string, string>, sandbox = createSandbox({ clients })) {
  return request(sandbox.app).post("/oauth/token").type("form").send(fields);
}

describe("the token address", () => {
  const sendWhileUnwritten = unwrittenBench();

  it("gives a token to every registered client, and forbids caches to store it", async () => {
    const response = await ask({ grant_type: "client_credentials", ...credentials }).expect(200);
    expect(response.body).toEqual({
      access_token: expect.stringMatching(/^sandbox_[0-9a-f]{48}$/),
      token_type: "Bearer",
      expires_in: 3600,
    });
    expect(response.get("Cache-Control")).toBe("no-store");
  });

  it("answers only when the token is on disk", async () => {
    const fields = { grant_type: "client_credentials", ...credentials };
    const { isEarly, answer } = await sendWhileUnwritten(
      { clients },
      async (sandbox) => () => ask(fields, sandbox),
    );
    expect([isEarly, answer.status]).toEqual([false, 200]);
  });

  it("accepts credentials in HTTP Basic, form-encoded as OAuth requires", async () => {
    const { app } = createSandbox({ clients: [{ ...clients[0]!, clientId: "the first" }] });
    const basic = Buffer.from("the+first:sandbox_first+secret").toString("base64");
    const response = await request(app)
      .post("/oauth/token")
      .set("Authorization", `basic ${basic}`)
      .type("form")
      .send({ grant_type: "client_credentials" });
    expect(response.status).toBe(200);
  });

  it("accepts credentials in HTTP Basic without form-encoding, as most merchants send them", async () => {
    const clientSecret = "sandbox_100%+more/than=that:too";
    const { app } = createSandbox({ clients: [{ clientId: "plain", clientSecret }] });
    const asking = request(app).post("/oauth/token").auth("plain", clientSecret).type("form");
    // The form may name the client again.
    const form = { grant_type: "client_credentials", client_id: "plain" };
    expect((await asking.send(form)).status).toBe(200);
  });

  it.each([
    ["a wrong secret", { ...credentials, client_secret: "sandbox_first secret" }],
    ["an unknown client", { ...credentials, client_id: "third" }],
  ])("refuses %s with 401 invalid_client", async (_what, wrong) => {
    const response = await ask({ grant_type: "client_credentials", ...wrong }).expect(401);
    expect(response.body.error).toBe("invalid_client");
    expect(response.headers).not.toHaveProperty("www-authenticate");
  });

  it("challenges a client that used HTTP Basic", async () => {
    const { app } = createSandbox({ clients });
    const response = await request(app)
      .post("/oauth/token")
      .auth("first", "wrong")
      .type("form")
      .send({ grant_type: "client_credentials" })
      .expect(401);
    expect(response.get("WWW-Authenticate")).toMatch(/^Basic /);
  });

  it.each([
    ["no grant type", credentials, "invalid_request"],
    ["another grant type", { grant_type: "password", ...credentials }, "unsupported_grant_type"],
    ["no credentials", { grant_type: "client_credentials" }, "invalid_request"],
  ])("refuses %s with 400", async (_what, fields, error) => {
    const response = await ask(fields).expect(400);
    expect(response.body).toEqual({ error, error_description: expect.any(String) });
  });

  it.each([
    ["a repeated field", "grant_type=client_credentials&grant_type=client_credentials"],
    ["JSON", JSON.stringify({ grant_type: "client_credentials", ...credentials })],
    ["an empty body", ""],
  ])("refuses %s with 400", async (what, body) => {
    const { app } = createSandbox({ clients });
    const type = what === "JSON" ? "application/json" : "application/x-www-form-urlencoded";
    const response = await request(app).post("/oauth/token").set("Content-Type", type).send(body).expect(400);
    expect(response.body.error).toBe("invalid_request");
  });

  it("refuses credentials that are both in the header and in the form", async () => {
    const response = await ask({ grant_type: "client_credentials", ...credentials })
      .auth("second", credentials.client_secret)
      .expect(400);
    expect(response.body.error).toBe("invalid_request");
  });

  it("keeps every refused request with its reason: another method, a large body", async () => {
    const sandbox = createSandbox();
    const wrongMethod = await request(sandbox.app).get("/oauth/token?grant_type=a").expect(405);
    expect(wrongMethod.get("Allow")).toBe("POST");
    const large = await ask({ grant_type: "x".repeat(20_000) }, sandbox).expect(413);
    await ask({ grant_type: "x".repeat(15_000) }, createSandbox()).expect(400);
    for (const { body } of [wrongMethod, large])
      expect(body).toEqual({ error: "invalid_request", error_description: expect.any(String) });
    expect(sandbox.refusals).toMatchObject([
      { request: "GET /oauth/token", status: 405, detail: wrongMethod.body.error_description },
      { request: "POST /oauth/token", status: 413, detail: "Send at most 16 KiB." },
    ]);
    const page = await request(sandbox.app).get("/oauth/token").set("Accept", "text/html").expect(404);
    expect(page.type).toBe("text/html");
  });
});
