import { fieldsSignature, rejectionStatus, type SignatureScheme } from "tillkit";
import { send } from "../corpora/world.js";
import { closeAll } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";
import { secrets as known } from "./known-secrets.js";
import {
  betrayals,
  genuine,
  open,
  openKit,
  show,
  showFiles,
  shown,
  watchEverything,
  webhook,
} from "./witness.js";

watchEverything();
const secret = known["the webhook secret"];

describe("no secret, token or signature is shown", () => {
  it("by any refused webhook or by an accepted one: answers, log, notices, rows", async () => {
    const payments = openKit("refusals", { webhook: { limitBytes: 2000 } });
    payments.onAny((event) => show("an event", event));
    await payments.start({ keepAlive: false });
    const created = [pendingPayment({ clientId: "c-1", serviceId: "s-1" })];
    await payments.store.transaction((tx) => payments.store.save(tx, { created }));
    const url = `${await open(payments)}/payments/webhook`;
    const eaten = `${await open(openKit("eaten"), true)}/payments/webhook`;
    const own = (verify: SignatureScheme["verify"]) =>
      openKit("own", { signature: { header: "service-signature", covers: "body", verify } });
    const throwing = `${await open(
      own(({ headers }) => {
        throw new Error(`${String(headers["service-signature"])} is not made with ${secret}`);
      }),
    )}/payments/webhook`;
    const fields = `${await open(openKit("fields", { signature: fieldsSignature({ secret, merchantId: "m-1" }) }))}/payments/webhook`;
    const away = openKit("away", { webhook: { recordTimeoutMs: 100 }, spool: false });
    const awayUrl = `${await open(away)}/payments/webhook`;
    await away.start({ keepAlive: false });
    await away.store.close?.();

    const { rawBody, headers } = webhook;
    const type = { "content-type": "application/json" };
    const right = headers["service-signature"];
    const answers = await Promise.all([
      send(url, { method: "PUT", headers, body: rawBody }),
      send(url, {
        method: "POST",
        headers: { ...headers, "content-type": "multipart/form-data" },
        body: rawBody,
      }),
      send(url, { method: "POST", headers: { ...headers, "content-encoding": "br" }, body: rawBody }),
      send(url, { method: "POST", headers, body: Buffer.alloc(3000) }),
      send(eaten, { method: "POST", headers, body: rawBody }),
      send(url, { method: "POST", headers: type, body: rawBody }),
      send(url, {
        method: "POST",
        headers: { ...type, "service-signature": `${right},${secret}` },
        body: rawBody,
      }),
      send(url, { method: "POST", headers: { ...type, "service-signature": secret }, body: rawBody }),
      send(url, { method: "POST", headers, body: Buffer.from(`${rawBody.toString()} `) }),
      send(throwing, { method: "POST", headers, body: rawBody }),
      send(fields, { method: "POST", headers, body: Buffer.from(`{"${secret.slice(0, 3)}":1,`) }),
      send(awayUrl, { method: "POST", headers, body: rawBody }),
      send(url, {
        method: "POST",
        path: `/payments/webhook?token=${secret}&${right}`,
        headers,
        body: rawBody,
      }),
    ]);
    for (const { status, headers: answered, body } of answers)
      show(`the answer ${status}`, `${JSON.stringify(answered)}${body}`);
    const codes = new Set(
      [...shown].flatMap(([, text]) => [...text.matchAll(/"code":"([a-z_]+)"/g)].map(([, code]) => code)),
    );
    // The two refusals of senders that stop are in the tests of raw sockets.
    const wanted = Object.keys(rejectionStatus).filter(
      (code) => !["body_incomplete", "body_timeout"].includes(code),
    );
    expect(wanted.filter((code) => !codes.has(code))).toEqual([]);
    await closeAll();
    showFiles();
    expect(betrayals()).toEqual([]);
  });

  it("by the pages and redirects of a return, genuine, forged or unavailable, or by the record of its payment", async () => {
    const payments = openKit("returns", {
      returns: {
        shopName: "Shop",
        backUrl: "/orders/{reference}",
        render: (view) => {
          if (view.kind === "cancel") throw new Error(`cannot render with ${secret}`);
          return JSON.stringify(view);
        },
      },
    });
    await payments.start({ keepAlive: false });
    const created = [
      pendingPayment({
        clientId: "c-return",
        returnKeyHash: genuine.hash,
        createdAt: new Date().toISOString(),
      }),
    ];
    await payments.store.transaction((tx) => payments.store.save(tx, { created }));
    const url = await open(payments);
    const { token } = genuine;
    for (const part of [
      token,
      `${token}/state`,
      `${token}x`,
      `${token}%ff`,
      `${token}/x`,
      `${token}?x=${secret}`,
    ]) {
      for (const kind of ["success", "cancel"]) {
        const { status, headers, body } = await send(url, { path: `/payments/${kind}/${part}` });
        show(`the page ${status} of ${kind}`, `${JSON.stringify(headers)}${body}`);
      }
    }
    show("the payment", await payments.find("c-return"));
    await closeAll();
    showFiles();
    expect(shown.length).toBeGreaterThan(20);
    expect(betrayals()).toEqual([]);
  });

  it("by handlers that fail with a secret in their error: log, notices, the row of the dead dispatch", async () => {
    const payments = openKit("dispatches", {
      service: { baseUrl: "https://pay.invalid", accessToken: known["the access token"] },
    });
    const said = `${secret} ${Buffer.from(secret).toString("base64")} Bearer ${known["the access token"]}`;
    const dead = new Promise<void>((resolve) => {
      payments.on("dispatch.dead", () => resolve());
    });
    payments.onPaymentCompleted(() => {
      throw Object.assign(new Error(said, { cause: new Error(said) }), { code: secret, request: said });
    });
    await payments.start({ keepAlive: false });
    const created = [pendingPayment({ clientId: "c-1", serviceId: "s-1" })];
    await payments.store.transaction((tx) => payments.store.save(tx, { created }));
    const { rawBody, headers } = webhook;
    expect(
      (await send(`${await open(payments)}/payments/webhook`, { method: "POST", headers, body: rawBody }))
        .status,
    ).toBe(200);
    await dead;
    show("the health", await payments.health());
    show("the history", await payments.history("c-1"));
    await closeAll();
    showFiles();
    expect(shown.filter(([where]) => where === "the log").length).toBeGreaterThan(1);
    expect(betrayals()).toEqual([]);
  });
});
