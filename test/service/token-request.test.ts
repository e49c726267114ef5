import { inspect } from "node:util";
import { clientCredentials, type ClientCredentialsOptions } from "../../src/service/index.js";
import { errorOf } from "./creation.js";
import { answerJson, breakOff, localServer, type Answerer, type LocalServer } from "./local-server.js";

const clientSecret = "hush & 100% secret";
let server: LocalServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function sourceThat(answer: Answerer, options: Partial<ClientCredentialsOptions> = {}) {
  server = await localServer(answer);
  const tokenUrl = `${server.url}/oauth/token`;
  return clientCredentials({ tokenUrl, clientId: "shop", clientSecret, ...options });
}

/** Issues token-1, token-2 and so on. */
const issuing =
  (rest: object = { expires_in: 3600 }): Answerer =>
  (response, _request, turn) =>
    answerJson(response, 200, { access_token: `token-${turn + 1}`, token_type: "Bearer", ...rest });

describe("the token request", () => {
  it("is the form POST of RFC 6749, 4.4.2", async () => {
    const source = await sourceThat(issuing(), { scope: "payments read" });
    await expect(source.get()).resolves.toBe("token-1");
    const [sent] = server!.received;
    expect(sent).toMatchObject({ method: "POST", path: "/oauth/token" });
    expect(sent!.headers).toMatchObject({
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
    });
    expect(Object.fromEntries(new URLSearchParams(sent!.body))).toEqual({
      grant_type: "client_credentials",
      client_id: "shop",
      client_secret: clientSecret,
      scope: "payments read",
    });
  });

  it("leaves out the scope where none is configured", async () => {
    const source = await sourceThat(issuing());
    await source.get();
    expect(new URLSearchParams(server!.received[0]!.body).has("scope")).toBe(false);
  });
});

describe("a token", () => {
  it.each([200, 201, 299])("is taken from an answer with status %i", async (status) => {
    const source = await sourceThat((response) => answerJson(response, status, { access_token: "token-1" }));
    await expect(source.get()).resolves.toBe("token-1");
  });
});

describe("a lifetime", () => {
  it.each([3600, "3600", "9999999999"])("of %j keeps the token", async (seconds) => {
    const source = await sourceThat(issuing({ expires_in: seconds }));
    expect([await source.get(), await source.get()]).toEqual(["token-1", "token-1"]);
  });

  it("below zero keeps no token", async () => {
    const source = await sourceThat(issuing({ expires_in: -3600 }));
    expect([await source.get(), await source.get()]).toEqual(["token-1", "token-2"]);
  });
});

describe("an issuer that fails", () => {
  it.each([400, 401, 403])(
    "with %i refuses: access_token_refused, with the RFC's error code",
    async (status) => {
      const source = await sourceThat((response) =>
        answerJson(response, status, { error: "invalid_client" }),
      );
      const error = await errorOf(source.get());
      expect(error.code).toBe("access_token_refused");
      expect(error.message).toContain(`${status} (invalid_client)`);
    },
  );

  it.each([
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
  ])("with the error code %s shows it", async (code) => {
    const source = await sourceThat((response) => answerJson(response, 400, { error: code }));
    const error = await errorOf(source.get());
    expect(error.message).toContain(`(${code})`);
  });

  it.each<[string, Answerer]>([
    [
      "an error code of its own that echoes the secret",
      (response) => answerJson(response, 401, { error: clientSecret }),
    ],
    ["a refusal that breaks off", (response) => breakOff(response, 401, "{")],
    ["a refusal that is null", (response) => answerJson(response, 400, null)],
    ["a refusal that is a string", (response) => answerJson(response, 400, "invalid_client")],
    ["a refusal without a body", (response) => response.writeHead(403).end()],
    ["a refusal in HTML", (response) => response.writeHead(400).end("<h1>no</h1>")],
  ])("with %s still counts as a refusal", async (_name, answer) => {
    const source = await sourceThat(answer);
    const error = await errorOf(source.get());
    expect(error.code).toBe("access_token_refused");
    expect(inspect(error)).not.toContain("hush");
  });

  it.each<[string, Answerer]>([
    ["a 404", (response) => answerJson(response, 404, {})],
    ["a 429", (response) => answerJson(response, 429, {})],
    ["a 500", (response) => answerJson(response, 500, { access_token: "token" })],
    ["a redirect", (response) => response.writeHead(307, { location: "/elsewhere" }).end()],
    ["HTML", (response) => response.writeHead(200).end("<h1>hello</h1>")],
    ["no token", (response) => answerJson(response, 200, { expires_in: 60 })],
    ["a token with a line break", (response) => answerJson(response, 200, { access_token: "very\nwrong" })],
    [
      "an odd lifetime",
      (response) => answerJson(response, 200, { access_token: "very", expires_in: "later" }),
    ],
    ...["x100", "100x", "-100", "1e3", "", " 100", "1.5", "12345678901", [60]].map(
      (seconds): [string, Answerer] => [
        `a lifetime of ${JSON.stringify(seconds)}`,
        (response) => answerJson(response, 200, { access_token: "very", expires_in: seconds }),
      ],
    ),
    ["no JSON at all, and no body", (response) => response.writeHead(204).end()],
    ["more than 64 KiB", (response) => answerJson(response, 200, { access_token: "x".repeat(70_000) })],
    ["a reset", (response) => response.socket?.resetAndDestroy()],
    ["a reset in the middle", (response) => breakOff(response, 200, '{"access_token":"very')],
  ])("with %s is access_token_unavailable, and gets one request", async (_name, answer) => {
    const source = await sourceThat(answer);
    const error = await errorOf(source.get());
    expect(error.code).toBe("access_token_unavailable");
    expect(inspect(error)).not.toMatch(/hush|very/);
    expect(server!.received).toHaveLength(1);
  });

  it.each<[number, string, Answerer]>([
    [300, "an access token", (response) => answerJson(response, 300, { access_token: "very" })],
    [404, "a body", (response) => answerJson(response, 404, {})],
    [500, "a body that never ends", (response) => response.writeHead(500).write("{")],
  ])("with %i and %s is unavailable by its status alone", async (status, _body, answer) => {
    const source = await sourceThat(answer);
    const error = await errorOf(source.get());
    expect(error.code).toBe("access_token_unavailable");
    expect(error.message).toContain(String(status));
    expect(error).not.toHaveProperty("cause");
  });

  it("with one byte more than 64 KiB is unavailable, and not with exactly 64 KiB", async () => {
    const body = JSON.stringify({ access_token: "token-1", expires_in: 0 }).padEnd(64 * 1024);
    const source = await sourceThat((response, _request, turn) =>
      response.writeHead(200).end(turn === 0 ? body : `${body} `),
    );
    await expect(source.get()).resolves.toBe("token-1");
    const error = await errorOf(source.get());
    expect(error.code).toBe("access_token_unavailable");
    expect(error.message).toContain(`${64 * 1024} bytes`);
  });

  it("has its connection freed where its answer is not read", async () => {
    const response = new Response("{}", { status: 500 });
    const source = await sourceThat(issuing(), { fetch: async () => response });
    await expect(source.get()).rejects.toHaveProperty("code", "access_token_unavailable");
    expect(response.bodyUsed).toBe(true);
  });

  it("keeps the network's error as the cause", async () => {
    const source = await sourceThat((response) => response.socket?.resetAndDestroy());
    expect((await errorOf(source.get())).cause).toHaveProperty("message", "fetch failed");
  });

  it.each<[string, Answerer]>([
    ["before it answers", () => {}],
    ["in the middle of its answer", (response) => response.writeHead(200).write("{")],
  ])("that hangs %s reaches the time limit", async (_name, answer) => {
    const source = await sourceThat(answer, { timeoutMs: 60 });
    const error = await errorOf(source.get());
    expect(error.code).toBe("access_token_unavailable");
    expect(error.message).toContain("60 ms");
    expect(error.cause).toHaveProperty("name", "TimeoutError");
  });
});
