import {
  clientCredentials,
  createPayments,
  fieldsSignature,
  hmacSignature,
  optionsFromEnvironment,
  paymentRouter,
  publicKeySignature,
  storeOver,
} from "tillkit";
import { createSandbox } from "tillkit/sandbox";
import { readStatement } from "tillkit/statement";
import { sqliteStore } from "tillkit/sql";
import { memoryAdapter } from "../store/over/memory-adapter.js";
import { closeAll, secret, testKit, testOptions } from "../support/kit.js";

afterEach(closeAll);

/** Passes what the compiler would refuse, as JavaScript does. */
const wrong = (value: object) => value as never;
const withOptions = (more: object) => () => createPayments(wrong({ ...testOptions(), ...more }));

const environment = {
  TILLKIT_PUBLIC_URL: "https://shop.example/payments",
  TILLKIT_SERVICE_URL: "https://pay.example",
  TILLKIT_ACCESS_TOKEN: "token",
  TILLKIT_WEBHOOK_SECRET: secret,
  TILLKIT_DATABASE: "shop.db",
};
const { service } = testOptions();
const request = { reference: "order-1", total: { value: "1475", currency: "KMF" } };
const sandbox = (options: object) => () => createSandbox(wrong(options));
const scenario = (fields: object) => sandbox({ scenarios: [{ name: "mine", ...fields }] });

/** Returns a function that opens a store whose adapter has one member under another name. */
const renamed = (name: string, other: string) => () => {
  const members = Object.entries(memoryAdapter());
  return storeOver(
    wrong(Object.fromEntries(members.map(([key, value]) => [key === name ? other : key, value]))),
  );
};

describe("a misspelt name is refused with the name that was meant:", () => {
  it.each<[string, string, () => unknown]>([
    ["publicURL", "publicUrl", withOptions({ publicURL: "https://shop.example" })],
    ["overduMs", "overdueMs", withOptions({ overduMs: 1000 })],
    ["service.accesToken", "accessToken", withOptions({ service: { ...service, accesToken: "t" } })],
    ["webhook.limitbytes", "limitBytes", withOptions({ webhook: { limitbytes: 1 } })],
    ["webhook.failures.perMinutes", "perMinute", withOptions({ webhook: { failures: { perMinutes: 1 } } })],
    ["dispatch.concurency", "concurrency", withOptions({ dispatch: { concurency: 1 } })],
    ["lookup.afterMS", "afterMs", withOptions({ lookup: { afterMS: 1 } })],
    ["spool.directry", "directory", withOptions({ spool: { directory: "spool", directry: "x" } })],
    ["returns.backURL", "backUrl", withOptions({ returns: { backURL: "/" } })],
    ["tablePrefx", "tablePrefix", () => sqliteStore("shop.db", wrong({ tablePrefx: "a_" }))],
    ["signature.algoritm", "algorithm", () => hmacSignature(wrong({ secret, algoritm: "sha512" }))],
    ["signature.merchantID", "merchantId", () => fieldsSignature(wrong({ secret, merchantID: "m-7" }))],
    ["signature.publickey", "publicKey", () => publicKeySignature(wrong({ publickey: "" }))],
    ["clientCredentials.scopes", "scope", () => clientCredentials(wrong({ scopes: "a" }))],
    [
      "TILLKIT_SPOL",
      "TILLKIT_SPOOL",
      () => optionsFromEnvironment({ ...environment, TILLKIT_SPOL: "/var/spool" }),
    ],
    [
      "payment.complete",
      "payment.completed",
      () => testKit().on("payment.complete" as "payment.completed", () => undefined),
    ],
    ["dispatch.ded", "dispatch.dead", () => testKit().on("dispatch.ded" as "dispatch.dead", () => undefined)],
    ["timeoutMS", "timeoutMs", () => testKit().onPaymentCompleted(() => {}, wrong({ timeoutMS: 1 }))],
    ["referense", "reference", () => testKit().list(wrong({ referense: "order-1" }))],
    ["receiptID", "receiptId", () => testKit().replay(wrong({ receiptID: "r-1" }))],
    ["handlr", "handler", () => testKit().replayDispatches(wrong({ handlr: "ledger", dryRun: false }))],
    [
      "resaon",
      "reason",
      () => testKit().resolve(wrong({ action: "dismiss", clientId: "c-1", resaon: "paid", by: "A" })),
    ],
    ["edgeMS", "edgeMs", () => testKit().compareStatement([], wrong({ edgeMS: 1 }))],
    ["colums", "columns", () => readStatement("", wrong({ colums: {} }))],
    ["clientid", "clientId", () => readStatement("", wrong({ columns: { clientid: 1 } }))],
    ["curency", "currency", () => readStatement("", wrong({ fixed: { curency: "KMF" } }))],
    ["clientID", "clientId", () => testKit().create(wrong({ ...request, clientID: "c-1" }))],
    ["referense", "reference", () => testKit().create(wrong({ ...request, referense: "order-2" }))],
    [
      "serviceID",
      "serviceId",
      () => testKit().adopt(wrong({ ...request, clientId: "c-1", serviceID: "s-1" })),
    ],
    ["befor", "before", () => testKit().prune(wrong({ befor: new Date() }))],
    ["keepAliv", "keepAlive", () => testKit().start(wrong({ keepAliv: false }))],
    ["{refrence}", "{reference}", withOptions({ returns: { backUrl: "/orders/{refrence}" } })],
    [
      "onPaymentComplete",
      "onPaymentCompleted",
      () => paymentRouter(wrong({ ...testOptions(), onPaymentComplete() {} })),
    ],
    ["adapter.raed", "read", renamed("read", "raed")],
    ["adapter.scann", "scan", renamed("scan", "scann")],
    ["adapter.wirte", "write", renamed("write", "wirte")],
    ["adapter.durabel", "durable", renamed("durable", "durabel")],
    ["adapter.transacton", "transaction", renamed("transaction", "transacton")],
    ["busyTimeoutMS", "busyTimeoutMs", () => storeOver(memoryAdapter(), wrong({ busyTimeoutMS: 1 }))],
    ["webhookUrl", "webhookUrls", sandbox({ webhookUrl: "http://localhost:3000" })],
    ["readback", "readBack", sandbox({ readback: true })],
    ["signature.secrte", "secret", sandbox({ signature: { scheme: "hmac", secrte: "sandbox_x" } })],
    ["webhook-dubled", "webhook-doubled", sandbox({ scenario: "webhook-dubled" })],
    ["creaton", "creation", scenario({ creaton: {} })],
    ["delayMS", "delayMs", scenario({ webhooks: [{ delayMS: 1 }] })],
    ["strct", "strict", () => createSandbox().change(wrong({ strct: false }))],
    ["token-dow", "token-down", () => createSandbox().scenario("token-dow")],
  ])("%s, %s", async (given, meant, use) => {
    const error: unknown = await Promise.resolve()
      .then(use)
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect(error).toMatchObject({ code: expect.stringMatching(/invalid|missing|^sandbox_/) });
    const { message } = error as Error;
    expect(message).toContain(given);
    expect(message).toContain(`Did you mean ${meant}?`);
    expect(message).not.toContain("?.");
  });

  it("lists all names where none is near", () => {
    expect(() => createPayments(wrong({ ...testOptions(), webhooks: {}, colour: "red" }))).toThrow(
      /colour.* is not known\. The names are .*publicUrl/s,
    );
  });

  it.each([
    ["TILLKIT_LOOKUP", "yes"],
    ["TILLKIT_LOG", "of"],
  ])("refuses another word than on and off: %s=%s", (name, value) => {
    expect(() => optionsFromEnvironment({ ...environment, [name]: value })).toThrow(
      `${name}: must be on or off.`,
    );
  });

  it("refuses a replay of an outcome that no webhook has, and a prune without a time", async () => {
    const payments = testKit();
    const message = expect.stringMatching(/^outcome must be one of applied, .*unmatched/) as string;
    await expect(payments.replay({ outcome: "unmached" as "unmatched" })).rejects.toMatchObject({ message });
    await expect(payments.prune(wrong({}))).rejects.toMatchObject({ code: "query_invalid" });
  });

  it("lets an adapter have members of its own", () => {
    const own = { pool: {}, table: "records", connect() {}, migrated: true };
    expect(() => storeOver({ ...memoryAdapter(), ...own, migrate: async () => {} })).not.toThrow();
  });

  it("does not refuse variables of the kit's own tests", () => {
    expect(() =>
      optionsFromEnvironment({ ...environment, TILLKIT_TEST_SEED: "1", TILLKIT_BENCH_KIT: "x" }),
    ).not.toThrow();
  });
});

it("options of a handler are refused for a notice, whose listener would not follow them", () => {
  const options = wrong({ timeoutMs: 1000 });
  expect(() => testKit().on("lookup.failed", () => {}, options)).toThrow(
    expect.objectContaining({
      code: "option_invalid",
      message: expect.stringContaining("lookup.failed is a notice"),
    }),
  );
  expect(() => testKit().on("payment.completed", () => {}, options)).not.toThrow();
});
