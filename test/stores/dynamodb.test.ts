import { startDynamodb } from "./support/dynamodb-emulator.js";
import { withPackages } from "./support/package-of.js";
import { storeTests } from "./support/store-tests.js";

withPackages(
  "the tests of a store in DynamoDB",
  ["dynalite", "@aws-sdk/client-dynamodb", "@aws-sdk/lib-dynamodb"],
  () => {
    let emulator: Awaited<ReturnType<typeof startDynamodb>>;
    beforeAll(async () => {
      emulator = await startDynamodb();
      process.env["TILLKIT_TEST_DYNAMODB_URL"] = emulator.endpoint;
    });
    afterAll(() => emulator.close());

    storeTests({ name: "a store in DynamoDB", module: "dynamodb.cjs" });
  },
);
