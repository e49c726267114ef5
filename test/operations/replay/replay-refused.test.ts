import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { hmacSignature, MemoryStore, standardWebhooksSignature } from "tillkit";
import { onEachDatabase } from "../../promises/processes/databases.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";

afterEach(closeAll);

const by = { by: "Amina", reason: "the secret was corrected" };

onEachDatabase("replays of refused webhooks", (kind) => {
  const bench = shopBench(kind);
  const { shop, recorded, save } = bench;

  it("record the webhook once, as if the service had sent it again", async () => {
    await save({ created: [pendingPayment()] });
    const payments = shop();
    const refused = signed(completedBody());
    const would = await payments.replay({ refused });
    expect(would).toMatchObject({ dryRun: true, looked: 1, changed: 1 });
    expect(would.changes).toMatchObject([
      { clientId: "c-1", from: "refused", to: "applied", state: { from: "pending", to: "completed" } },
    ]);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
    expect((await bench.place.store.history("c-1")).webhooks).toEqual([]);

    const did = await payments.replay({ refused, dryRun: false, ...by });
    expect(did.changes).toMatchObject([{ from: "refused", to: "applied", state: { to: "completed" } }]);
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
    expect(await recorded()).toEqual(["payment.completed"]);
    const { entries } = await payments.history("c-1");
    expect(entries.map(({ text }) => text)).toContain(
      "replayed by Amina (refused → applied): the secret was corrected",
    );
    for (const dryRun of [true, false])
      expect(await payments.replay({ refused, dryRun })).toMatchObject({ changed: 0, changes: [] });
    expect(await recorded()).toHaveLength(1);
  });

  it("do not complete a payment of another amount, and keep a webhook without a payment", async () => {
    await save({ created: [pendingPayment()] });
    const payments = shop();
    const short = signed(completedBody({ total: { value: "1400", currency: "KMF" } }));
    const alone = signed(completedBody({ clientId: "c-9", id: "s-9" }));
    for (const [refused, to] of [
      [short, "mismatch"],
      [alone, "unmatched"],
    ] as const)
      for (const dryRun of [true, false])
        expect((await payments.replay({ refused, dryRun })).changes).toMatchObject([{ from: "refused", to }]);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
    expect((await payments.attention()).entries[0]).toMatchObject({ id: "mismatched:c-1" });
  });
});

describe("a replay of a refused webhook", () => {
  it("is refused if the signature does not match, or is too old for its scheme", async () => {
    const other = hmacSignature({ secret: "whsec_00112233445566778899aabbccddeeff" });
    const forged = signed(completedBody(), other);
    const payments = testKit();
    for (const dryRun of [true, false])
      await expect(payments.replay({ refused: forged, dryRun })).rejects.toMatchObject({
        code: "signature_mismatch",
      });
    expect(await payments.store.webhooks({ limit: 1 })).toEqual([]);

    const scheme = standardWebhooksSignature({
      secret: `whsec_${Buffer.from("9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b").toString("base64")}`,
    });
    const strict = testKit({ signature: scheme });
    const headers = {
      "webhook-id": "m-1",
      "webhook-timestamp": "1700000000",
      "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")}`,
    };
    const old = strict.replay({ refused: { rawBody: forged.rawBody, headers } });
    await expect(old).rejects.toThrow(/signed \d+ seconds .* 300 are allowed/);
  });

  it("keeps the person's name with the webhook, so that no failure between them loses it", async () => {
    const store = new MemoryStore();
    const payments = testKit({ store });
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const save = store.save.bind(store);
    let failures = 1;
    store.save = async (tx, changes) => {
      if (changes.resolutions && failures-- > 0) throw new Error("The disk is full.");
      return save(tx, changes);
    };
    const replay = () => payments.replay({ refused: signed(completedBody()), dryRun: false, ...by });
    await expect(replay()).rejects.toThrow("full");
    expect(await replay()).toMatchObject({ changes: [{ from: "refused", to: "applied" }] });
    const { resolutions } = await store.history("c-1");
    expect(resolutions).toMatchObject([{ action: "replayed", before: "refused", after: "applied", ...by }]);
  });

  it("spools nothing while the store is away, because the spool would not keep the person's name", async () => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const directory = mkdtempSync(path.join(tmpdir(), "tillkit-replay-"));
    const payments = testKit({ store, spool: { directory } });
    const record = jest.spyOn(store, "record").mockRejectedValue(new Error("The database is restarting."));
    const replay = () => payments.replay({ refused: signed(completedBody()), dryRun: false, ...by });
    await expect(replay()).rejects.toThrow("restarting");
    expect((await payments.health()).spool).toMatchObject({ records: 0 });
    record.mockRestore();
    expect(await replay()).toMatchObject({ changes: [{ from: "refused", to: "applied" }] });
    expect((await store.history("c-1")).resolutions).toMatchObject([{ action: "replayed", ...by }]);
    await closeAll();
    rmSync(directory, { recursive: true, force: true });
  });

  it("reports its progress as a replay of stored webhooks does", async () => {
    const seen: unknown[] = [];
    await testKit().replay({
      refused: signed(completedBody()),
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen).toEqual([{ looked: 1, changed: 1 }]);
  });

  it("takes no selection of stored webhooks", async () => {
    const mixed = testKit().replay({ refused: signed(completedBody()), outcome: "foreign" });
    await expect(mixed).rejects.toMatchObject({ code: "query_invalid" });
  });
});
