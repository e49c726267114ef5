import { type FileHandle } from "node:fs/promises";
import { type FileSystem } from "../../../src/webhook/spool/spool-directory.js";
import { sqliteStore, type SqlTx } from "tillkit/sql";
import { type SignedField } from "tillkit";
import request from "supertest";
import { openPlace, type Place } from "../processes/databases.js";
import { appOf, closeAll, testKit } from "../../support/kit.js";
import { signed } from "../../support/webhooks.js";
import { completionOf, seedPayments } from "./shop.js";

/** The error codes of the next writes and syncs of files through `node:fs/promises`. */
const mockDisk: { appendFile?: string; datasync?: string } = {};

jest.mock("node:fs/promises", () => {
  const real = jest.requireActual<FileSystem>("node:fs/promises");
  const failing = (handle: FileHandle): FileHandle =>
    new Proxy(handle, {
      get(target, key) {
        const code = (mockDisk as Record<string | symbol, string | undefined>)[key];
        if (code !== undefined)
          return () => Promise.reject(Object.assign(new Error(`${code}: injected`), { code }));
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  return {
    ...real,
    open: async (...args: Parameters<typeof real.open>) => failing(await real.open(...args)),
  };
});

let place: Place;
beforeEach(async () => {
  place = await openPlace("sqlite");
  await seedPayments(place, 3);
});
afterEach(async () => {
  delete mockDisk.appendFile;
  delete mockDisk.datasync;
  await closeAll();
  await place.remove();
});

/** Opens a shop whose database has no page left. Its spool is beside the file. */
async function fullShop() {
  const store = sqliteStore(place.address.url, { tablePrefix: place.address.prefix });
  const payments = testKit<SignedField, SqlTx>({ store, dispatch: { pollMs: 10_000 } });
  await payments.start({ keepAlive: false });
  await store.transaction(async (tx) => (await tx.raw).exec("pragma max_page_count = 1"));
  const app = appOf(payments);
  return (n: number) => {
    // Too large for the free space in existing pages.
    const body = completionOf(n);
    const { headers, rawBody } = signed({ ...body, padding: "x".repeat(50_000) });
    return request(app).post("/payments/webhook").set(headers).send(rawBody.toString());
  };
}

const refused = { status: 503, headers: expect.objectContaining({ "retry-after": "5" }) as unknown };

describe("when the database's disk is full", () => {
  it("disk full, fsync error: 503 and no 200 while the spool has no space either", async () => {
    const post = await fullShop();
    mockDisk.appendFile = "ENOSPC";
    expect(await post(0)).toMatchObject(refused);
    expect(await place.select("select receipt_id from @webhooks")).toEqual([]);
    delete mockDisk.appendFile;
    expect((await post(0)).status).toBe(200);
  });

  it("disk full, fsync error: 503 and no 200 while the spool's fsync fails", async () => {
    const post = await fullShop();
    expect((await post(0)).status).toBe(200);
    mockDisk.datasync = "EIO";
    expect(await post(1)).toMatchObject(refused);
    delete mockDisk.datasync;
    expect((await post(2)).status).toBe(200);
  });
});
