import { openWiredShop, talk, webhookFor, type Talk, type WiredShop } from "./wire.js";
import { bodies, conflicts } from "./hostile-requests.js";

describe("bytes on a raw socket", () => {
  let shop: WiredShop;
  beforeAll(async () => {
    shop = await openWiredShop();
  });
  afterAll(() => shop.close());

  /** Sends every hostile request concurrently, each around a webhook for a payment of its own. */
  const hostile = [...conflicts(webhookFor(0)), ...bodies(webhookFor(0))].map(
    ([name], n): [string, number] => [name, n],
  );
  const talks: Talk[] = [];
  beforeAll(async () => {
    const requests = hostile.map(([, n]) => {
      const webhook = webhookFor(n);
      return [...conflicts(webhook), ...bodies(webhook)][n]![1];
    });
    talks.push(...(await Promise.all(requests.map((text) => talk(shop.port, { parts: [text] })))));
  });

  it.each(hostile)("with %s are refused, and hide no webhook", async (_, n) => {
    const { statuses, hung } = talks[n]!;
    // Some are refused only by closing the connection. A second answer would mean a second request.
    expect({ hung, answers: statuses.length <= 1 }).toEqual({ hung: false, answers: true });
    expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([]);
    expect(shop.store.recorded.filter(({ clientId }) => clientId === `c-${n}`)).toEqual([]);
    expect(await shop.store.find(`c-${n}`)).toMatchObject({ state: "pending" });
  });

  it("leave no row, and reach no handler", () => {
    expect(shop.store.recorded).toEqual([]);
    expect(shop.told).toEqual([]);
  });

  it("are separated where requests follow each other, and a good request between bad ones is accepted", async () => {
    const [good, other] = [webhookFor(190), webhookFor(191)];
    const bad = good.request.replace(good.signature, other.signature);
    const { statuses, hung } = await talk(shop.port, {
      parts: [bad + good.request + bad + bad + other.request],
    });
    expect({ hung, statuses }).toEqual({ hung: false, statuses: [401, 200, 401, 401, 200] });
    expect(shop.store.recorded.map(({ clientId, outcome }) => [clientId, outcome])).toEqual([
      ["c-190", "applied"],
      ["c-191", "applied"],
    ]);
  });

  it("are one webhook whatever the pieces, pauses or address", async () => {
    const { request, type, signature, body } = webhookFor(192);
    const chunks = body.match(/[^]{1,7}/g)!.map((text) => `${text.length.toString(16)};x=y\r\n${text}\r\n`);
    const chunked = [
      request.split("\r\n")[0],
      "Host: shop",
      type,
      signature,
      "transfer-ENCODING: Chunked",
      "",
      "",
    ];
    const talks = await Promise.all([
      talk(shop.port, { parts: Array.from(request) }),
      talk(shop.port, { parts: [request.slice(0, 30), 40, request.slice(30, 300), 40, request.slice(300)] }),
      talk(shop.port, { parts: [`${chunked.join("\r\n")}${chunks.join("")}0\r\nX-Trailer: y\r\n\r\n`] }),
      talk(shop.port, { parts: [`\r\n${request}`] }),
      talk(shop.port, { parts: [request.replace("HTTP/1.1", "HTTP/1.0")] }),
      talk(shop.port, { parts: [request.replace("Host:", "Expect: 100-continue\r\nHost:")] }),
      talk(shop.port, { parts: [request.replace("/payments", "http://shop/payments")] }),
    ]);
    expect(talks.map(({ statuses }) => statuses)).toEqual(talks.map(() => [200]));
    expect(shop.store.recorded.filter(({ clientId }) => clientId === "c-192")).toHaveLength(1);
  });
});
