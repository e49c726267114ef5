import { Writable } from "node:stream";
import { pino } from "pino";
import {
  clientCredentials,
  ConfigurationError,
  createPayments,
  fieldsSignature,
  hmacSignature,
  optionsFromEnvironment,
  paymentRouter,
  type PaymentsOptions,
} from "tillkit";
import { createSandbox } from "tillkit/sandbox";
import { openPlace } from "../processes/databases.js";
import { localServer } from "../../service/local-server.js";
import { closeAll, secret, testKit, testOptions } from "../../support/kit.js";

afterEach(closeAll);

/** Returns the codes of all problems that prevent a kit. */
function refusals(make: () => unknown): string[] {
  try {
    make();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.map(({ code }) => code);
  }
}

const weak: [string, string | undefined, string][] = [
  ["not set", undefined, "secret_missing"],
  ["empty", "", "secret_missing"],
  ["blank", "                                ", "secret_missing"],
  ["fifteen bytes", "k7Jq2vR9sXw4ZbN", "secret_too_short"],
  ["a placeholder", "changeme-before-going-live-please", "secret_placeholder"],
  ["a template's", "${PAY_WEBHOOK_SECRET}", "secret_placeholder"],
  ["one character many times", "0".repeat(64), "secret_placeholder"],
];

it.each(weak)(
  "Secret empty, blank, shorter than 16 bytes, a placeholder (CVE-2026-87974, -103517, -103300, -103298): %s refuses to start",
  (_, value, code) => {
    for (const signature of [
      () => hmacSignature({ secret: value }),
      () => hmacSignature({ secret: [secret, value] }),
      () => fieldsSignature({ secret: value, merchantId: "m-1" }),
    ])
      expect(refusals(() => paymentRouter({ ...testOptions(), signature: signature() }))).toEqual([code]);

    const environment = {
      TILLKIT_PUBLIC_URL: "https://shop.example/payments",
      TILLKIT_SERVICE_URL: "https://api.pay.example",
      TILLKIT_ACCESS_TOKEN: "a-token",
      TILLKIT_DATABASE: "shop.db",
      TILLKIT_WEBHOOK_SECRET: value,
    };
    expect(refusals(() => optionsFromEnvironment(environment))).toEqual([code]);
  },
);

it("Secret empty, blank, shorter than 16 bytes, a placeholder (CVE-2026-87974, -103517, -103300, -103298): a missing scheme refuses to start, and also a scheme that is switched off", () => {
  for (const signature of [undefined, null, false, {}, "none", { header: "x", covers: "body" }])
    expect(refusals(() => createPayments(testOptions({ signature: signature as never })))).toHaveLength(1);
});

it("Secret empty, blank, shorter than 16 bytes, a placeholder (CVE-2026-87974, -103517, -103300, -103298): 16 to 31 bytes give a warning without the secret, and 32 bytes give none", () => {
  const linesOf = (value: string) => {
    const lines: string[] = [];
    const logger = pino(
      new Writable({ write: (line: Buffer, _, done) => (lines.push(line.toString()), done()) }),
    );
    testKit({ logger, signature: hmacSignature({ secret: value }) });
    return lines;
  };
  const short = "k7Jq2vR9sXw4ZbN8";
  const [line, ...others] = linesOf(short);
  expect(JSON.parse(line!)).toMatchObject({ level: 40, option: "signature" });
  expect([line!.includes(short), others]).toEqual([false, []]);
  expect(linesOf(secret)).toEqual([]);
});

const notNumbers: unknown[] = [
  "64kb",
  "10mb",
  "abc",
  "",
  "65536",
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -1,
  0,
  1.5,
];
const others: unknown[] = [null, true, [], {}, 1n, 2 ** 53];

it.each([...notNumbers, ...others].map((value) => [value]))(
  "A limit option that does not parse (CVE-2026-12590): %p refuses to start, and never means no limit",
  (value) => {
    const wrong: PaymentsOptions["webhook"][] = [
      { limitBytes: value as number },
      { bodyTimeoutMs: value as number },
      { recordTimeoutMs: value as number },
      { failures: { perMinute: value as number } },
      { failures: { burst: value as number } },
    ];
    for (const webhook of wrong)
      expect([webhook, refusals(() => paymentRouter({ ...testOptions(), webhook }))]).toEqual([
        webhook,
        ["option_invalid"],
      ]);
  },
);

it.each([[true], [null], [0], [60], ["off"]])(
  "A limit option that does not parse (CVE-2026-12590): failures %p refuses to start",
  (failures) => {
    expect(refusals(() => createPayments(testOptions({ webhook: { failures: failures as never } })))).toEqual(
      ["option_invalid"],
    );
  },
);

describe("where NODE_ENV is production", () => {
  const before = process.env["NODE_ENV"];
  beforeEach(() => void (process.env["NODE_ENV"] = "production"));
  afterEach(() => void (process.env["NODE_ENV"] = before));
  const sandboxed = "sandbox_k7Jq2vR9sXw4ZbN8cT5yLmP1";

  it("Sandbox used in production, or production secrets in the sandbox: the kit refuses the sandbox's secrets and tokens, of every kind", async () => {
    const place = await openPlace("sqlite");
    const { store } = place;
    const service = await localServer((response) => response.destroy());
    const kit = (accessToken: () => string) => ({
      ...testOptions({ store, signature: hmacSignature({ secret }) }),
      service: { baseUrl: service.url, accessToken },
    });
    const refused = ["sandbox_credential_in_production"];
    expect(refusals(() => hmacSignature({ secret: [secret, sandboxed] }))).toEqual(refused);
    expect(refusals(() => fieldsSignature({ secret: sandboxed, merchantId: "m-1" }))).toEqual(refused);
    expect(
      refusals(() =>
        createPayments({ ...kit(() => ""), service: { baseUrl: service.url, accessToken: sandboxed } }),
      ),
    ).toEqual(refused);
    expect(
      refusals(() => clientCredentials({ tokenUrl: service.url, clientId: "shop", clientSecret: sandboxed })),
    ).toEqual(refused);
    // A token that is only known later is refused before it is sent.
    const payments = testKit(kit(() => sandboxed) as never);
    await expect(
      payments.create({ reference: "order-1", total: { value: "1", currency: "KMF" } }),
    ).rejects.toMatchObject({ cause: { code: "sandbox_credential_in_production" } });
    expect(service.received).toEqual([]);
    await service.close();
    await closeAll();
    await place.remove();
  });

  it("Sandbox used in production, or production secrets in the sandbox: the sandbox does not start", () => {
    expect(refusals(() => createSandbox())).toContain("sandbox_credential_in_production");
  });
});

it("Sandbox used in production, or production secrets in the sandbox: the sandbox accepts no secret without its prefix, and is reached from and calls only this machine", async () => {
  expect(refusals(() => createSandbox({ signature: { scheme: "hmac", secret } }))).toEqual([
    "option_invalid",
  ]);
  for (const url of ["https://shop.example/w", "http://192.0.2.1/w", "http://127.0.0.1.shop.example/w"])
    expect(refusals(() => createSandbox({ webhookUrls: [url] }))).toEqual(["option_invalid"]);
  const sandbox = createSandbox();
  await sandbox.start();
  expect(new URL(sandbox.url).hostname).toBe("127.0.0.1");
  for (const made of [sandbox.secret, sandbox.accessToken(), sandbox.client.clientSecret])
    expect(made).toMatch(/^sandbox_/);
  await sandbox.close();
});
