import path from "node:path";
import * as tillkit from "tillkit";
import { type StoreModule } from "./modules/store-module.js";
import { startDynamodb } from "./support/dynamodb-emulator.js";
import { withPackages } from "./support/package-of.js";
import { storeTests } from "./support/store-tests.js";

/** The transaction of the example, whose types need packages that may be absent. */
type Tx = tillkit.BatchTx<object>;

const storeModule = path.resolve(__dirname, "modules/dynamodb.cjs");

withPackages(
  "the tests of a store in DynamoDB",
  ["dynalite", "@aws-sdk/client-dynamodb", "@aws-sdk/lib-dynamodb"],
  () => {
    let emulator: Awaited<ReturnType<typeof startDynamodb>>;
    beforeAll(async () => {
      emulator = await startDynamodb();
      process.env["TILLKIT_TEST_DYNAMODB_URL"] = emulator.endpoint;
      // The shops that are killed must print nothing, and the client warns about versions of Node that it will leave.
      process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true";
    });
    afterAll(() => emulator.close());

    storeTests({ name: "a store in DynamoDB", module: "dynamodb.cjs" });

    it("rejects with store_conflict where the condition of a write of the application is not met", async () => {
      const { create } = (await import(storeModule)) as StoreModule<Tx>;
      const address = { folder: "", prefix: "conflict_" };
      const { store, prepare, rows, remove } = await create(address, tillkit);
      await prepare!();
      const Item = { part: "ledger", key: "ledger/1", version: 1, value: "{}" };
      const put = { TableName: "conflict_records", Item, ConditionExpression: "attribute_not_exists(part)" };
      const add = () => store.transaction(async (tx) => tx.add({ Put: put }));
      await add();
      await expect(add()).rejects.toMatchObject({ code: "store_conflict" });
      expect(await rows()).toEqual([{}]);
      await remove!();
    });
  },
);
