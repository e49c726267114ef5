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
      // The shops that are killed must print nothing, and the client warns about versions of Node that it will leave.
      process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true";
    });
    afterAll(() => emulator.close());

    storeTests({ name: "a store in DynamoDB", module: "dynamodb.cjs" });
  },
);
