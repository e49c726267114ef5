import { openPlantedShop } from "./planted-shop.js";

describe("what the doctor records in an app", () => {
  it("is two unrecognised webhooks, however often it runs, and none with --unsigned-only", async () => {
    const shop = await openPlantedShop();
    const outcomes = () =>
      shop.payments.store.transaction(async (tx) => {
        const sql = "select outcome, count(*) as count from tillkit_webhooks group by outcome";
        return (await tx.query<{ outcome: string; count: number }>(sql)).rows.map((row) => ({ ...row }));
      });
    const seen = await shop.examine("--unsigned-only");
    expect(seen).toMatchObject({ code: 0, findings: [] });
    expect(seen.skipped[0]).toBe("correctly signed webhooks (--unsigned-only)");
    expect(await outcomes()).toEqual([]);
    await shop.examine();
    await shop.examine();
    expect(await outcomes()).toEqual([{ outcome: "unrecognised", count: 2 }]);
    expect(await shop.orders.attention()).toEqual([]);
    await shop.close();
  });
});
