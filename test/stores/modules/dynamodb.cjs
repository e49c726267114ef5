// In JavaScript, so that the types of the client are not needed where it is not installed.
const { randomUUID } = require("node:crypto");
const path = require("node:path");

const examples = path.resolve(__dirname, "../../../examples/stores");
const packageOf = (name) => require(require.resolve(name, { paths: [examples] }));
const { DynamoDB } = packageOf("@aws-sdk/client-dynamodb");
const { DynamoDBDocument } = packageOf("@aws-sdk/lib-dynamodb");
const { dynamodbAdapter } = require("../../../examples/stores/dynamodb.ts");

/** Makes the store of the DynamoDB example, in the emulator at TILLKIT_TEST_DYNAMODB_URL. The ledger is a partition of its table. */
module.exports.create = ({ prefix }, { storeOver }) => {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const endpoint = process.env["TILLKIT_TEST_DYNAMODB_URL"];
  const client = new DynamoDB({ endpoint, region: "eu-west-1", credentials });
  const TableName = `${prefix}records`;
  const adapter = dynamodbAdapter(DynamoDBDocument.from(client), TableName);
  const text = (name) => ({ AttributeName: name, AttributeType: "S" });
  return {
    store: storeOver(adapter),
    write(tx, row) {
      const Item = { part: "ledger", key: `ledger/${randomUUID()}`, version: 1, value: JSON.stringify(row) };
      tx.add({ Put: { TableName, Item } });
    },
    async rows() {
      const rows = await adapter.scan({ from: "ledger/", to: "ledger0", limit: 10_000, reverse: false });
      return rows.map(({ value }) => JSON.parse(value));
    },
    async prepare() {
      await client.createTable({
        TableName,
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [
          { AttributeName: "part", KeyType: "HASH" },
          { AttributeName: "key", KeyType: "RANGE" },
        ],
        AttributeDefinitions: [text("part"), text("key")],
      });
    },
    remove: async () => void (await client.deleteTable({ TableName })),
  };
};
