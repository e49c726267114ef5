import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { TillkitError } from "../../src/errors/index.js";
import { accessTokenProblems, sendWithToken, unprinted } from "../../src/service/access-token.js";
import { clientCredentials, createPaymentService, type AccessToken } from "../../src/service/index.js";
import { envelope, request } from "./creation.js";
import { answerJson, localServer, type LocalServer } from "./local-server.js";

let server: LocalServer;
beforeEach(async () => {
  server = await localServer((response) => answerJson(response, 201, envelope()));
});
afterEach(async () => {
  await server.close();
});

const create = (accessToken: AccessToken) =>
  createPaymentService({ baseUrl: server.url, accessToken, timeoutMs: 5000 }).createPayment(request);

/** Returns an error of another part of the kit, whose message and cause contain the text. */
const errorWith = (text: string) =>
  inspect(new TillkitError("store_unavailable", text, { cause: new Error(text) }));

describe("the errors of the kit", () => {
  it.each<[string, (secret: string) => unknown]>([
    ["the configured access token", unprinted],
    [
      "the secret for the issuer of tokens",
      (secret) => clientCredentials({ tokenUrl: server.url, clientId: "shop", clientSecret: secret }),
    ],
    ["an access token that a function returned", (secret) => create(() => secret)],
    ["an access token that a source gave", (secret) => create({ get: () => Promise.resolve(secret) })],
  ])("do not show %s, once it is in use", async (_, use) => {
    const secret = randomUUID();
    expect(errorWith(secret)).toContain(secret);
    await use(secret);
    expect(errorWith(secret)).not.toContain(secret);
  });
});

describe("the access token among the options", () => {
  it.each<[string, AccessToken | undefined]>([
    ["a function", () => "tok"],
    ["a source", { get: () => Promise.resolve("tok") }],
    ["undefined", undefined],
  ])("stays as it is where it is %s", (_, accessToken) => {
    expect(unprinted(accessToken)).toBe(accessToken);
  });

  it("becomes a function that returns it where it is a string", () => {
    expect(unprinted("tok")).toEqual(expect.any(Function));
    expect([unprinted("tok")].map((token) => typeof token === "function" && token())).toEqual(["tok"]);
  });

  it.each<[unknown, string]>([
    [null, "option_missing"],
    ["", "option_missing"],
    [[], "option_invalid"],
    [true, "option_invalid"],
  ])("is refused where it is %j: %s", (value, code) => {
    expect(accessTokenProblems("token", value)).toEqual([expect.objectContaining({ code, option: "token" })]);
  });
});

describe("an access token in production", () => {
  const { NODE_ENV } = process.env;
  beforeEach(() => {
    process.env.NODE_ENV = "production";
  });
  afterEach(() => {
    process.env.NODE_ENV = NODE_ENV;
  });

  it("is accepted where it is not of the sandbox", async () => {
    expect(accessTokenProblems("token", "tok_sandbox_1")).toEqual([]);
    await expect(create("tok_sandbox_1")).resolves.toHaveProperty("status", "pending");
  });
});

describe("a request with a token", () => {
  /** Sends a request that gets these statuses one after the other. */
  const sending = async (statuses: readonly number[], tokens: readonly string[]) => {
    const refused: unknown[] = [];
    const sent: string[] = [];
    const responses: Response[] = [];
    const { response, token } = await sendWithToken(
      async (asks) => tokens[refused.push(asks) - 1]!,
      async (current) => {
        const status = statuses[sent.push(current) - 1]!;
        return responses[responses.push(new Response("{}", { status })) - 1]!;
      },
    );
    return { refused, sent, status: response.status, token, discarded: responses.map((one) => one.bodyUsed) };
  };

  it.each([201, 400, 403, 500])("gets one token where the answer is %i", async (status) => {
    const result = await sending([status], ["first", "second"]);
    expect(result).toMatchObject({ refused: [undefined], sent: ["first"], status, token: "first" });
  });

  it("is sent a second time after a 401 with another token", async () => {
    const result = await sending([401, 201], ["first", "second"]);
    expect(result).toMatchObject({ refused: [undefined, "first"], status: 201, token: "second" });
    expect(result).toMatchObject({ sent: ["first", "second"], discarded: [true, false] });
  });

  it("is not sent a second time after a 401 where there is no other token", async () => {
    const result = await sending([401], ["first", "first"]);
    expect(result).toMatchObject({ refused: [undefined, "first"], sent: ["first"], discarded: [false] });
  });

  it("frees the connection of a 401 where no other token can be got", async () => {
    const response = new Response("{}", { status: 401 });
    const sealed = new Error("the vault is sealed");
    const getToken = async (refused: string | undefined) => {
      if (refused !== undefined) throw sealed;
      return "first";
    };
    await expect(sendWithToken(getToken, async () => response)).rejects.toBe(sealed);
    expect(response.bodyUsed).toBe(true);
  });
});
