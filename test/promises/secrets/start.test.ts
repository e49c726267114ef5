import {
  clientCredentials,
  createPayments,
  hmacSignature,
  optionsFromEnvironment,
  paymentRouter,
} from "tillkit";
import { mysqlStore, postgresStore, sqliteStore, sqlStore } from "tillkit/sql";
import { secrets as known } from "./known-secrets.js";
import { betrayals, openKit, scheme, show, showError, shown, watchEverything } from "./witness.js";

watchEverything();
const secret = known["the webhook secret"];

describe("no secret, token or signature is shown", () => {
  it("by a configuration that is refused", async () => {
    const password = known["the database's password"];
    const token = known["the access token"];
    const complete = {
      publicUrl: "https://shop.example",
      service: { baseUrl: "https://pay.invalid", accessToken: token },
      signature: scheme,
      logger: false as const,
    };
    const address = (kind: string) => `${kind}://shop:${password}#@db/shop`;
    await showError("no store", () => createPayments({ ...complete, store: undefined }));
    await showError("every option wrong", () =>
      createPayments({
        publicUrl: `https://shop:${password}@shop.example?${secret}`,
        service: { baseUrl: `http://x:${password}@pay.example/#${token}`, accessToken: `Bearer ${token}` },
        signature: undefined,
        store: undefined,
        returns: { backUrl: `javascript:${secret}`, successUrl: `//${secret}` },
      }),
    );
    for (const spoilt of [`${secret} `, `\n${secret}`, [secret, ""], [secret, secret.slice(0, 8)]])
      await showError("a spoilt secret", () => hmacSignature({ secret: spoilt }));
    await showError("spoilt credentials", () =>
      clientCredentials({
        tokenUrl: `https://shop:${password}@id.example`,
        clientId: "",
        clientSecret: `${known["the client secret"]}\n`,
      }),
    );
    await showError("a PostgreSQL address", () => postgresStore(address("postgres")));
    await showError("a MySQL address", () => mysqlStore(address("mysql")));
    await showError("an address of another kind", () => sqlStore(address("mongodb")));
    await showError("an address in place of a file", () => sqliteStore(address("postgres")));
    await showError("an environment", () =>
      optionsFromEnvironment({
        TILLKIT_PUBLIC_URL: `http://${password}@shop.example`,
        TILLKIT_ACCESS_TOKEN: `${token} ${token}`,
        TILLKIT_WEBHOOK_SECRET: ` ${secret}`,
        TILLKIT_WEBHOOK_SECRET_PREVIOUS: `${known["the previous webhook secret"]}\t`,
        TILLKIT_DATABASE: address("redis"),
        TILLKIT_BACK_URL: `javascript:${secret}`,
      }),
    );
    expect(shown.length).toBeGreaterThan(11);
    expect(betrayals()).toEqual([]);
  });

  it("by a database that refuses the password, or does not exist", async () => {
    const password = known["the database's password"];
    const server = (name: string) => {
      const given = process.env[`TILLKIT_TEST_${name.toUpperCase()}_URL`];
      return given === undefined || given === "none" ? "127.0.0.1:9" : new URL(given).host;
    };
    for (const host of ["127.0.0.1:9", server("postgres")]) {
      const store = postgresStore(`postgres://nobody:${password}@${host}/shop`);
      show("the store", store);
      await showError("PostgreSQL", () => store.find("c-1"));
      const payments = openKit("none", { store, webhook: { recordTimeoutMs: 2000 } });
      await showError("a start without PostgreSQL", () => payments.start({ keepAlive: false }));
    }
    for (const host of ["127.0.0.1:9", server("mysql")]) {
      const store = mysqlStore(`mysql://nobody:${password}@${host}/shop`);
      show("the store", store);
      await showError("MySQL", () => store.find("c-1"));
    }
    expect(betrayals()).toEqual([]);
  });

  it("by printing the kit, its options, its schemes or its stores", () => {
    const payments = openKit("printed");
    for (const part of [
      payments,
      payments.options,
      payments.options.signature,
      payments.store,
      paymentRouter(payments),
    ])
      show("what was printed", part);
    expect(betrayals()).toEqual([]);
  });
});
