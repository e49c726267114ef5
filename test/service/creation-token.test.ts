import { inspect } from "node:util";
import { TillkitError } from "../../src/errors/index.js";
import {
  type AccessToken,
  type AccessTokenRequest,
  clientCredentials,
  createPaymentService,
} from "../../src/service/index.js";
import { envelope, errorOf, request } from "./creation.js";
import { answerJson, localServer, type LocalServer } from "./local-server.js";

/** The tokens that the server accepts. It answers 401 to all others. */
const accepted = new Set<string>();
let server: LocalServer;

beforeEach(async () => {
  accepted.clear();
  accepted.add("good");
  server = await localServer((response, { headers }) => {
    const bearer = headers.authorization?.replace("Bearer ", "") ?? "";
    if (accepted.has(bearer)) answerJson(response, 201, envelope());
    else answerJson(response, 401, { title: `Token ${bearer} is not valid` });
  });
});

afterEach(() => server.close());

const create = (accessToken: AccessToken, timeoutMs = 5000) =>
  createPaymentService({ baseUrl: server.url, accessToken, timeoutMs }).createPayment(request);

const bearers = () => server.received.map(({ headers }) => headers.authorization);

describe("the access token of a creation", () => {
  it("is not tried twice when it is a plain string", async () => {
    const error = await errorOf(create("stale"));
    expect(error).toMatchObject({
      code: "access_token_refused",
      certainty: "failed",
      httpStatus: 401,
      serviceMessage: "Token [token] is not valid",
    });
    expect(bearers()).toEqual(["Bearer stale"]);
    expect(inspect(error)).not.toContain("stale");
  });

  it("is requested again after a 401, and the payment is sent a second time", async () => {
    const tokens = ["stale", "good"];
    await expect(create(() => tokens.shift()!)).resolves.toHaveProperty("status", "pending");
    expect(bearers()).toEqual(["Bearer stale", "Bearer good"]);
    expect(server.received[1]!.body).toBe(server.received[0]!.body);
  });

  it("ends the creation when the second token is refused too", async () => {
    const tokens = ["stale", "staler", "good"];
    const error = await errorOf(create(() => Promise.resolve(tokens.shift()!)));
    expect(error).toMatchObject({ code: "access_token_refused", certainty: "failed", httpStatus: 401 });
    expect(bearers()).toEqual(["Bearer stale", "Bearer staler"]);
  });

  it("comes from a source, which gets the refused token and the signal of the time limit", async () => {
    const asked: unknown[] = [];
    const source = {
      get: async (asks: AccessTokenRequest = {}) => {
        asked.push(asks);
        return asks.refused === undefined ? "stale" : "good";
      },
    };
    await create(source);
    const signal = expect.any(AbortSignal) as AbortSignal;
    expect(asked).toEqual([
      { refused: undefined, signal },
      { refused: "stale", signal },
    ]);
  });

  it("is renewed one time for many creations that are refused at the same time", async () => {
    let issued = 0;
    const issuer = await localServer((response) => {
      issued += 1;
      answerJson(response, 200, { access_token: issued === 1 ? "stale" : "good", expires_in: 3600 });
    });
    try {
      const accessToken = clientCredentials({
        tokenUrl: `${issuer.url}/token`,
        clientId: "shop",
        clientSecret: "hush",
      });
      const service = createPaymentService({ baseUrl: server.url, accessToken, timeoutMs: 5000 });
      const all = await Promise.all(Array.from({ length: 20 }, () => service.createPayment(request)));
      expect(all).toHaveLength(20);
      expect(issuer.received).toHaveLength(2);
    } finally {
      await issuer.close();
    }
  });

  it("leaves the payment failed when it cannot be obtained, and keeps the reason", async () => {
    const cause = new Error("vault is sealed");
    const error = await errorOf(create(() => Promise.reject(cause)));
    expect(error).toMatchObject({ code: "access_token_unavailable", certainty: "failed", cause });
    expect(error).not.toHaveProperty("httpStatus");
    expect(error.message).toContain("vault is sealed");
    expect(server.received).toEqual([]);
  });

  it("leaves the payment failed when it cannot be renewed after a 401", async () => {
    let calls = 0;
    const error = await errorOf(
      create(() => {
        calls += 1;
        if (calls > 1) throw new Error("vault is sealed");
        return "stale";
      }),
    );
    expect(error).toMatchObject({ code: "access_token_unavailable", certainty: "failed", httpStatus: 401 });
    expect(server.received).toHaveLength(1);
  });

  it("leaves the payment failed with access_token_refused where the issuer refuses", async () => {
    const cause = new TillkitError("access_token_refused", "no");
    const error = await errorOf(create({ get: () => Promise.reject(cause) }));
    expect(error).toMatchObject({
      name: "PaymentCreationError",
      code: "access_token_refused",
      certainty: "failed",
      cause,
    });
  });

  it("is not waited for after the time limit", async () => {
    const error = await errorOf(create(() => new Promise<string>(() => {}), 50));
    expect(error).toMatchObject({ code: "access_token_unavailable", certainty: "failed" });
    expect(error.message).toContain("50 ms");
    expect(server.received).toEqual([]);
  });

  it.each(["", "  ", "a b", "tok\n", "Bearer tok", "tök", JSON.parse("7")])(
    "is not sent when a function gives %j",
    async (token) => {
      const error = await errorOf(create(() => token));
      expect(error).toMatchObject({ code: "access_token_unavailable", certainty: "failed" });
      expect(error.cause).toHaveProperty("code", "access_token_unavailable");
      expect(server.received).toEqual([]);
    },
  );
});

describe("a sandbox token in production", () => {
  const { NODE_ENV } = process.env;
  beforeEach(() => {
    process.env.NODE_ENV = "production";
    accepted.add("sandbox_token");
  });
  afterEach(() => {
    process.env.NODE_ENV = NODE_ENV;
  });

  it("is not sent, whatever kind of option returned it", async () => {
    const error = await errorOf(create(() => "sandbox_token"));
    expect(error).toMatchObject({ code: "access_token_unavailable", certainty: "failed" });
    expect(error.cause).toHaveProperty("code", "sandbox_credential_in_production");
    expect(server.received).toEqual([]);
  });

  it("is accepted outside of production", async () => {
    process.env.NODE_ENV = "development";
    await expect(create("sandbox_token")).resolves.toHaveProperty("status", "pending");
  });
});
