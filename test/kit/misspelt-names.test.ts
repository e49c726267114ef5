import {
  clientCredentials,
  createPayments,
  fieldsSignature,
  hmacSignature,
  optionsFromEnvironment,
  publicKeySignature,
} from "tillkit";
import { sqliteStore } from "tillkit/sql";
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
    ["edgeMS", "edgeMs", () => testKit().reconcile([], wrong({ edgeMS: 1 }))],
  ])("%s, %s", async (given, meant, use) => {
    const error: unknown = await Promise.resolve()
      .then(use)
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect(error).toMatchObject({ code: expect.stringMatching(/invalid|missing/) });
    const { message } = error as Error;
    expect(message).toContain(given);
    expect(message).toContain(`Did you mean ${meant}?`);
  });

  it("lists all names where none is near", () => {
    expect(() => createPayments(wrong({ ...testOptions(), webhooks: {}, colour: "red" }))).toThrow(
      /colour.* is not known\. The names are .*publicUrl/s,
    );
  });

  it("does not refuse variables of the kit's own tests", () => {
    expect(() =>
      optionsFromEnvironment({ ...environment, TILLKIT_TEST_SEED: "1", TILLKIT_BENCH_KIT: "x" }),
    ).not.toThrow();
  });
});
