import { fc } from "../../support/property.js";
import { openWiredShop, talk, webhookFor, type Stream, type WiredShop } from "./wire.js";

const webhook = webhookFor(0);
// The signature of another webhook, so the service signed none of these requests.
const forged = webhook.request.replace(webhook.signature, webhookFor(1).signature);
const returning = "GET /payments/success/c-1~AAAAAAAAAAAAAAAAAAAAAA HTTP/1.1\r\nHost: shop\r\n\r\n";

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
/** Separators of HTTP, and pieces that have a meaning at wrong places. */
const meaningful = fc.constantFrom(
  "\r\n",
  "\r\n\r\n",
  "\n",
  "\r",
  "\0",
  ":",
  " ",
  "\t",
  ",",
  ";",
  "0\r\n\r\n",
  "ffffffff\r\n",
  "Content-Length: 7\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Connection: close\r\n",
  "Connection: keep-alive, Upgrade\r\n",
  "Expect: 100-continue\r\n",
  "HTTP/1.1",
  "HTTP/1.0",
);

/** Returns a request that is cut or changed at random places. */
const mangled = fc
  .tuple(
    fc.constantFrom(
      forged,
      returning,
      forged.replace("POST", "GET"),
      forged.replace("/webhook", "/cancel/x/state"),
    ),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.nat(12),
        fc.oneof(
          meaningful,
          bytes.map((text) => text.toString("latin1")),
        ),
      ),
      {
        maxLength: 4,
      },
    ),
    fc.oneof({ weight: 2, arbitrary: fc.constant(Infinity) }, fc.nat(700)),
  )
  .map(([text, changes, end]) => {
    let changed = text;
    for (const [at, removed, put] of changes) {
      const place = at % changed.length;
      changed = changed.slice(0, place) + put + changed.slice(place + removed);
    }
    return changed.slice(0, end);
  });

const part = fc.oneof(
  { weight: 4, arbitrary: mangled },
  { weight: 2, arbitrary: fc.constantFrom(forged, returning) },
  bytes,
  meaningful,
);
const stream: fc.Arbitrary<Stream> = fc.record({
  parts: fc.array(fc.oneof({ weight: 3, arbitrary: part }, fc.nat(60)), { minLength: 1, maxLength: 6 }),
  ends: fc.boolean(),
});

describe("any bytes on a socket", () => {
  let shop: WiredShop;
  const faults: unknown[] = [];
  const onFault = (fault: unknown) => void faults.push(fault);
  beforeAll(async () => {
    shop = await openWiredShop();
    process.on("uncaughtException", onFault);
    process.on("unhandledRejection", onFault);
  });
  afterAll(async () => {
    process.off("uncaughtException", onFault);
    process.off("unhandledRejection", onFault);
    await shop.close();
  });

  it("leave no connection hanging, get no server error, record nothing and call no handler", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stream, { minLength: 100, maxLength: 100 }), async (streams) => {
        const talks = await Promise.all(streams.map((one) => talk(shop.port, one)));
        expect(talks.filter(({ hung }) => hung)).toEqual([]);
        const statuses = new Set(talks.flatMap(({ statuses }) => statuses));
        expect([...statuses].filter((status) => status < 400 || status >= 500)).toEqual([]);
        expect(shop.store.recorded).toEqual([]);
        expect(shop.told).toEqual([]);
      }),
      // A stream that hangs takes seconds, so shrinking a hundred of them would take hours.
      { numRuns: 4, endOnFailure: true },
    );
  });

  it("leave the shop able to accept webhooks, without an uncaught error", async () => {
    const { statuses } = await talk(shop.port, { parts: [webhook.request] });
    expect(statuses).toEqual([200]);
    expect(faults).toEqual([]);
  });

  it.each<[string, Stream, number[]]>([
    ["that sends nothing is closed", { parts: [] }, [408]],
    ["that stops within its headers is answered 408", { parts: [webhook.request.slice(0, 60)] }, [408]],
    ["that drips its headers is answered 408", { parts: dripping(webhook.request.slice(0, 100)) }, [408]],
    ["that stops within its body is answered 408", { parts: [webhook.request.slice(0, -20)] }, [408]],
    [
      "that drips its body is answered 408",
      { parts: [webhook.request.slice(0, -60), ...dripping(webhook.body.slice(-60))] },
      [408],
    ],
    ["that closes within its body is closed", { parts: [webhook.request.slice(0, -20)], ends: true }, [400]],
    ["that waits after its answer is closed", { parts: [webhookFor(2).request] }, [200]],
  ])("a sender %s", async (_, one, statuses) => {
    expect(await talk(shop.port, one)).toEqual({ hung: false, statuses });
  });
});

/** Splits a text into single bytes with pauses. */
function dripping(text: string): (string | number)[] {
  return Array.from(text).flatMap((character) => [character, 40]);
}
