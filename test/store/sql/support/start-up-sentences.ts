import { type SqlPaymentStore } from "tillkit/sql";

/** Tests of the start of stores that hold on every database. `create` opens the same empty tables each time. */
export function startUpSentences(create: () => SqlPaymentStore, meta: string): void {
  it("makes the tables once, however many processes start at the same moment", async () => {
    const stores = Array.from({ length: 6 }, create);
    await Promise.all(stores.map((store) => store.migrate()));
    await Promise.all(stores.map((store) => store.migrate()));
    for (const store of stores) expect(await store.find("nobody")).toBeUndefined();
    await Promise.all(stores.map((store) => store.close()));
  });

  it("refuses tables that a newer tillkit made", async () => {
    const store = create();
    const setVersion = (version: string): Promise<unknown> =>
      store.transaction((tx) => tx.query(`update ${meta} set value = '${version}' where name = 'version'`));
    const { rows } = await store.transaction((tx) =>
      tx.query<{ value: string }>(`select value from ${meta} where name = 'version'`),
    );
    await setVersion("99");
    const older = create();
    await expect(older.find("nobody")).rejects.toMatchObject({ code: "schema_too_new" });
    await setVersion(rows[0]!.value);
    // A start that failed is tried again at the next use.
    expect(await older.find("nobody")).toBeUndefined();
    await Promise.all([store.close(), older.close()]);
  });
}
