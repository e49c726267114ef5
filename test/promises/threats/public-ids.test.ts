import { type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { onEachDatabase, openPlace, openStore } from "../processes/databases.js";
import { until } from "../processes/members.js";
import { appOf, closeAll, serve, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, type WebhookBody } from "../../support/webhooks.js";
import { openEndpoint } from "./endpoint.js";

afterEach(closeAll);

/** Ids that some collations treat as equal: by case, accent, composition, width, and a space at the end. */
const alike = [
  "café",
  "cafe\u0301",
  "cafe",
  "CAFÉ",
  "Café",
  "café ",
  "ｃａｆé",
  "cafe\u0301\u0323",
  "cafe\u0323\u0301",
];
const clientIds = ["ab", "Ab", "aB", "AB", "a.b", "a_b", "a:b", "a-b", "constructor"];

onEachDatabase("ids that look alike", (kind) => {
  it("NUL, case and accent folding, NFC/NFD in ids (MySQL collations): no id is confused with another, and none is changed", async () => {
    const place = await openPlace(kind);
    const created = alike.map((word, n) =>
      pendingPayment({ clientId: clientIds[n]!, reference: word, serviceId: word }),
    );
    await place.store.transaction((tx) => place.store.save(tx, { created }));
    const payments = testKit<SignedField, SqlTx>({
      store: openStore(place.address),
      dispatch: { pollMs: 20 },
    });
    const received: string[] = [];
    payments.onAny(({ type, ...event }) => {
      received.push(`${type} ${"payment" in event ? event.payment.reference : ""}`);
    });
    const post = sender(await serve(appOf(payments)));

    for (const [n, word] of alike.entries())
      expect(await post(completedBody({ clientId: clientIds[n], id: word }))).toBe(200);
    const rows = await place.select<{ outcome: string; client_id: string }>(
      "select outcome, client_id from @webhooks",
    );
    expect(rows.map(({ outcome }) => outcome)).toEqual(alike.map(() => "applied"));
    expect(rows.map((row) => row.client_id).toSorted()).toEqual(clientIds.toSorted());
    // None is raised as the second payment of another order.
    await until(async () => received.length >= alike.length, "an event for each payment");
    expect(received.toSorted()).toEqual(alike.map((word) => `payment.completed ${word}`).toSorted());
    for (const [n, word] of alike.entries())
      expect(await payments.find(clientIds[n]!)).toMatchObject({ reference: word, serviceId: word });

    for (const clientId of ["AB.", "Constructor", "A.B", "a.b-"])
      expect(await post(completedBody({ clientId, id: `s ${clientId}` }))).toBe(200);
    for (const id of ["caf\u0000é", "café\u0000"])
      expect(await post(completedBody({ clientId: "ab", id }))).toBe(200);
    const later = await place.select<{ outcome: string }>(
      "select outcome from @webhooks where outcome <> 'applied' order by outcome",
    );
    expect(later.map(({ outcome }) => outcome)).toEqual([
      "inadmissible",
      "inadmissible",
      ...Array<string>(4).fill("unmatched"),
    ]);
    await closeAll();
    await place.remove();
  });
});

function sender(address: string) {
  return async (body: WebhookBody): Promise<number> => {
    const { headers, rawBody } = signed(body);
    const answer = await fetch(`${address}/payments/webhook`, { method: "POST", headers, body: rawBody });
    await answer.arrayBuffer();
    return answer.status;
  };
}

const names = ["__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "valueOf"];

it("__proto__, constructor keys anywhere: inert in a body, at every level", async () => {
  const kit = await openEndpoint();
  const poison = { status: "completed", outcome: "applied", polluted: true, prototype: { polluted: true } };
  const extra = names.map((name) => `"${name}":${JSON.stringify(poison)}`).join();
  const body = JSON.stringify(
    completedBody({ status: "pending", captured: false }, { topic: "payment.pending" }),
  )
    .replace('"topic"', `${extra},"topic"`)
    .replace('"data":{', `"data":{${extra},`)
    .replace('"total":{', `"total":{${extra},`);
  // It is accepted, because unknown fields are allowed, and it decides nothing.
  expect((await kit.post(body, signed(body).headers)).status).toBe(200);
  expect(await kit.payments.find("c-1")).toMatchObject({ state: "pending" });

  const borrowed = `{"__proto__":${JSON.stringify(completedBody())},"constructor":{"prototype":{"polluted":true}}}`;
  expect((await kit.post(borrowed, signed(borrowed).headers)).status).toBe(200);
  expect(kit.webhooks().map(({ outcome }) => outcome)).toEqual(["stale", "inadmissible"]);
  for (const clean of [{}, [], () => {}, Object.prototype] as Record<string, unknown>[])
    for (const key of ["polluted", "status", "outcome", "data", "topic"]) expect(clean[key]).toBeUndefined();
});

it("__proto__, constructor keys anywhere: inert as ids, tokens, headers and fields of a webhook", async () => {
  const known = names.map((name) => ({ clientId: name, reference: name, serviceId: `s ${name}` }));
  const kit = await openEndpoint({}, { payments: known });
  for (const name of names) {
    expect((await kit.get(`/payments/success/${name}`)).status).toBe(404);
    expect((await kit.get(`/payments/${name}/${name}`)).status).toBe(404);
    expect((await kit.get(`/payments/webhook`, { [name]: "x" }, "PUT")).status).toBe(405);
    const body = completedBody({ clientId: name, id: `s ${name}`, source: name });
    expect((await kit.post(JSON.stringify(body), { ...signed(body).headers })).status).toBe(200);
    expect(await kit.payments.find(name)).toMatchObject({ state: "completed" });
    expect(await kit.payments.find(`${name}2`)).toBeUndefined();
  }
  expect(kit.webhooks().map(({ outcome }) => outcome)).toEqual(names.map(() => "applied"));
});
