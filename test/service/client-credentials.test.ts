import { EventEmitter, once } from "node:events";
import { inspect } from "node:util";
import { ConfigurationError } from "../../src/errors/index.js";
import { clientCredentials, type ClientCredentialsOptions } from "../../src/service/index.js";
import { answerJson, localServer, type Answerer, type LocalServer } from "./local-server.js";

const clientSecret = "hush & 100% secret";
let server: LocalServer | undefined;
let time = 0;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function sourceThat(answer: Answerer, options: Partial<ClientCredentialsOptions> = {}) {
  server = await localServer(answer);
  time = 1_000_000;
  const tokenUrl = `${server.url}/oauth/token`;
  return clientCredentials({ tokenUrl, clientId: "shop", clientSecret, now: () => time, ...options });
}

/** Issues token-1, token-2 and so on. */
const issuing =
  (rest: object = { expires_in: 3600 }): Answerer =>
  (response, _request, turn) =>
    answerJson(response, 200, { access_token: `token-${turn + 1}`, token_type: "Bearer", ...rest });

describe("the token's lifetime", () => {
  it.each([
    ["a minute before its hour ends", { expires_in: 3600 }, 3540],
    ["a tenth earlier where it is short", { expires_in: 100 }, 90],
    ["a tenth earlier where the number is a string", { expires_in: "100" }, 90],
    ["after five minutes, a tenth earlier, where the answer has no lifetime", {}, 270],
    ["after five minutes, a tenth earlier, where the lifetime is null", { expires_in: null }, 270],
  ])("ends %s", async (_name, rest, seconds) => {
    const source = await sourceThat(issuing(rest));
    await expect(source.get()).resolves.toBe("token-1");
    time += seconds * 1000 - 1;
    await expect(source.get()).resolves.toBe("token-1");
    time += 1;
    await expect(source.get()).resolves.toBe("token-2");
    expect(server!.received).toHaveLength(2);
  });

  it("ends immediately where the answer says so", async () => {
    const source = await sourceThat(issuing({ expires_in: 0 }));
    await expect(source.get()).resolves.toBe("token-1");
    await expect(source.get()).resolves.toBe("token-2");
  });

  it("starts before the request, and not with the answer", async () => {
    const source = await sourceThat((response, request, turn) => {
      time += 50_000;
      issuing({ expires_in: 100 })(response, request, turn);
    });
    await source.get();
    time += 40_000;
    await expect(source.get()).resolves.toBe("token-2");
  });
});

describe("the fetch of the options", () => {
  it("sends the token request", async () => {
    const fetch = jest.fn(async () => Response.json({ access_token: "token-of-the-proxy" }));
    const source = await sourceThat(issuing(), { fetch });
    await expect(source.get()).resolves.toBe("token-of-the-proxy");
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(server!.received).toEqual([]);
  });

  it("has ten seconds by default", async () => {
    const timeout = jest.spyOn(AbortSignal, "timeout");
    const source = await sourceThat(issuing());
    await source.get();
    expect(timeout.mock.calls).toEqual([[10_000]]);
    timeout.mockRestore();
  });
});

describe("callers at the same time", () => {
  it("share one request, twenty of them", async () => {
    const source = await sourceThat(issuing());
    const tokens = await Promise.all(Array.from({ length: 20 }, () => source.get()));
    expect(new Set(tokens)).toEqual(new Set(["token-1"]));
    expect(server!.received).toHaveLength(1);
  });

  it("share one renewal of the token that was refused to all of them", async () => {
    const source = await sourceThat(issuing());
    const refused = await source.get();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => source.get({ refused })));
    expect(new Set(tokens)).toEqual(new Set(["token-2"]));
    // A late refusal: another caller has renewed the token.
    await expect(source.get({ refused })).resolves.toBe("token-2");
    expect(server!.received).toHaveLength(2);
  });

  it("share one failure, and the next caller tries again", async () => {
    const source = await sourceThat((response, request, turn) => {
      if (turn === 0) answerJson(response, 503, {});
      else issuing()(response, request, turn);
    });
    const results = await Promise.allSettled([source.get(), source.get(), source.get()]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(server!.received).toHaveLength(1);
    await expect(source.get()).resolves.toBe("token-2");
  });

  it("get the token also when one of them stops waiting", async () => {
    const held: (() => void)[] = [];
    const arrival = new EventEmitter();
    const arrived = once(arrival, "request");
    const source = await sourceThat((response, request, turn) => {
      held.push(() => issuing()(response, request, turn));
      arrival.emit("request");
    });
    const leaving = new AbortController();
    const left = source.get({ signal: leaving.signal });
    const stayed = source.get();
    await arrived;
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    for (const release of held) release();
    await expect(stayed).resolves.toBe("token-1");
    expect(server!.received).toHaveLength(1);
  });

  it("do not get a refused token again when its renewal failed", async () => {
    const source = await sourceThat((response, request, turn) => {
      if (turn === 1) answerJson(response, 500, {});
      else issuing()(response, request, turn);
    });
    const refused = await source.get();
    await expect(source.get({ refused })).rejects.toHaveProperty("code", "access_token_unavailable");
    await expect(source.get()).resolves.toBe("token-3");
  });
});

describe("the options of clientCredentials", () => {
  const good: ClientCredentialsOptions = {
    tokenUrl: "https://id.example/token?a=1",
    clientId: "shop",
    clientSecret,
  };
  const problemsOf = (changes: object) => {
    try {
      clientCredentials(Object.assign({}, good, changes));
    } catch (error) {
      expect(JSON.stringify(error) + String(error)).not.toContain("hush");
      if (!(error instanceof ConfigurationError)) throw error;
      return error.problems.map(({ option, code }) => `${option} ${code}`);
    }
    return [];
  };

  it("may be undefined by type, and are refused in one error", () => {
    expect(problemsOf({ tokenUrl: undefined, clientId: "", clientSecret: undefined, timeoutMs: 0 })).toEqual([
      "clientCredentials.tokenUrl option_missing",
      "clientCredentials.clientId option_missing",
      "clientCredentials.clientSecret option_missing",
      "clientCredentials.timeoutMs option_invalid",
    ]);
  });

  it("are fine with a query in the token address, and with undefined for what has a default", () => {
    expect(problemsOf({ scope: undefined, timeoutMs: undefined, fetch: undefined, now: undefined })).toEqual(
      [],
    );
  });

  it.each([
    ["tokenUrl", "http://id.example/token"],
    ["tokenUrl", "https://shop:hush@id.example/token"],
    ["clientId", "shop\n"],
    ["clientSecret", "hush\n"],
    ["clientSecret", " hush"],
    ["clientSecret", 7],
    ["scope", ""],
    ["scope", "  "],
    ["scope", null],
    ["scpoe", "payments"],
    ["tokenUrl", "https://id.example/token#hush"],
    ["clientId", "sh\u00f6p"],
    ["scope", "a\nb"],
    ["scope", 7],
    ["fetch", "fetch"],
    ["now", 7],
  ])("refuse %s %j without repeating it", (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([`clientCredentials.${name} option_invalid`]);
  });

  it.each([
    ["tokenUrl", null],
    ["clientId", null],
    ["clientId", "  "],
    ["clientSecret", null],
    ["clientSecret", "\n"],
  ])("report %s as missing where it is %j", (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([`clientCredentials.${name} option_missing`]);
  });

  it.each<[unknown, string[]]>([
    [" sandbox_secret", ["option_invalid", "sandbox_credential_in_production"]],
    ["real_sandbox_secret", []],
    [7, ["option_invalid"]],
    [undefined, ["option_missing"]],
  ])("are refused in production with the secret %j: %j", (value, codes) => {
    const { NODE_ENV } = process.env;
    try {
      process.env.NODE_ENV = "production";
      expect(problemsOf({ clientSecret: value })).toEqual(
        codes.map((code) => `clientCredentials.clientSecret ${code}`),
      );
    } finally {
      process.env.NODE_ENV = NODE_ENV;
    }
  });

  it("refuse a sandbox secret when NODE_ENV is production, and only then", () => {
    const { NODE_ENV } = process.env;
    try {
      process.env.NODE_ENV = "production";
      expect(problemsOf({ clientSecret: "sandbox_secret" })).toEqual([
        "clientCredentials.clientSecret sandbox_credential_in_production",
      ]);
    } finally {
      process.env.NODE_ENV = NODE_ENV;
    }
    expect(problemsOf({ clientSecret: "sandbox_secret" })).toEqual([]);
  });

  it("show neither secret nor token when the source is printed", async () => {
    const source = await sourceThat(issuing());
    await source.get();
    const printed = inspect(source, { showHidden: true, depth: 9 }) + JSON.stringify(source);
    expect(printed).not.toMatch(/hush|token-1/);
  });

  it("give their code to the error when there is one problem", () => {
    const bad = { ...good, clientId: undefined };
    expect(() => clientCredentials(bad)).toThrow(expect.objectContaining({ code: "option_missing" }));
  });
});
