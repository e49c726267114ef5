import { fork } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { type CreatedPayment } from "tillkit";
import { buildKit } from "../../support/built-kit.js";
import { onEachDatabase, openPlace, type Place } from "../processes/databases.js";

jest.setTimeout(300_000);

/** After how many requests of a process it is killed: in the first group, between groups, and in later ones. */
const kills = Array.from(
  { length: Number(process.env["TILLKIT_TEST_KILLS"] ?? 6) },
  (_, n) => 1 + ((n * 7) % 48),
);

let kit: string;
let place: Place;
let service: Server;
/** The clientIds of all requests that the service got, in their order. */
let asked: string[];

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { clientId, purchase } = JSON.parse(await text(request)) as { clientId: string; purchase: object };
  asked.push(clientId);
  service.emit("asked");
  const billing = { submitUrl: `https://pay.invalid/${clientId}` };
  const data = { id: `s-${clientId}`, status: "pending", purchase, billing };
  response.writeHead(201, { "content-type": "application/json" });
  response.end(JSON.stringify({ next: billing.submitUrl, data }));
}

beforeAll(() => {
  kit = buildKit();
});
afterAll(() => rmSync(kit, { recursive: true, force: true }));
beforeEach(async () => {
  asked = [];
  service = createServer((request, response) => {
    void answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(service, "listening");
});
afterEach(() => {
  service.closeAllConnections();
  service.close();
});

type Created = CreatedPayment & { reference: string };

/** Starts a process that creates payments, and kills it after so many requests. Returns the results that it had. */
async function killAfter(requests: number, orders: string): Promise<Created[]> {
  const { port } = service.address() as AddressInfo;
  const creator = { kit, address: place.address, service: `http://127.0.0.1:${port}`, orders };
  const env = { ...process.env, CREATOR: JSON.stringify(creator), NODE_NO_WARNINGS: "1" };
  const child = fork(path.join(__dirname, "creator.cjs"), { env, execArgv: [] });
  const exited = once(child, "exit");
  const created: Created[] = [];
  const failures: string[] = [];
  child.on("message", (message: { created?: Created; failed?: string }) => {
    if (message.created) created.push(message.created);
    if (message.failed !== undefined) failures.push(message.failed);
  });
  const last = asked.length + requests;
  while (asked.length < last) await Promise.race([once(service, "asked"), exited]);
  child.kill("SIGKILL");
  await exited;
  expect(failures).toEqual([]);
  return created;
}

onEachDatabase("the kills of processes that create payments", (kind) => {
  afterEach(() => place.remove());

  it("a killed process has stored every payment that it asked the service for, and every one that it returned", async () => {
    place = await openPlace(kind);
    await place.store.migrate();
    const created: Created[] = [];
    for (const [number, requests] of kills.entries())
      created.push(...(await killAfter(requests, `order-${number}`)));

    const rows = await place.select<Record<string, string | null>>(
      "select client_id, reference, state, open_reference, checkout_url from @payments",
    );
    const byId = new Map(rows.map((row) => [row["client_id"], row]));
    expect(asked.filter((clientId) => !byId.has(clientId))).toEqual([]);
    expect(new Set(asked).size).toBe(asked.length);
    const lost = created.filter(({ clientId, checkoutUrl }) => {
      const row = byId.get(clientId);
      return row?.["state"] !== "pending" || row["checkout_url"] !== checkoutUrl;
    });
    expect(lost).toEqual([]);
    // Both calls of a reference have one attempt, also where the process ended in between.
    expect(new Set(rows.map(({ reference }) => reference)).size).toBe(rows.length);
    expect(rows.every((row) => row["open_reference"] === row["reference"])).toBe(true);
    process.stderr.write(
      `${kind}: ${kills.length} kills, ${asked.length} requests, ${created.length} results\n`,
    );
  });
});
