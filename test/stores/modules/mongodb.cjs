// In JavaScript, so that the types of the driver are not needed where it is not installed.
const path = require("node:path");

const examples = path.resolve(__dirname, "../../../examples/stores");
const { MongoClient } = require(require.resolve("mongodb", { paths: [examples] }));
const { mongodbAdapter } = require("../../../examples/stores/mongodb.ts");

/** Makes the store of the MongoDB example, on the server at TILLKIT_TEST_MONGODB_URL. The ledger is a collection. */
module.exports.create = ({ prefix }, { storeOver }) => {
  const client = new MongoClient(process.env["TILLKIT_TEST_MONGODB_URL"]);
  const db = client.db(`${prefix}shop`);
  const ledger = db.collection("ledger");
  return {
    // A busy machine can need longer than the default limit.
    store: storeOver({ ...mongodbAdapter(db, "payment_records", 60_000), close: () => client.close() }),
    write: (tx, row) => tx.add((session) => ledger.insertOne({ ...row }, { session })),
    prepare: async () =>
      void (await db.createCollection("ledger", { validator: { attempt: { $type: "number" } } })),
    async rows() {
      const reader = new MongoClient(process.env["TILLKIT_TEST_MONGODB_URL"]);
      const rows = reader
        .db(`${prefix}shop`)
        .collection("ledger")
        .find({}, { projection: { _id: 0 } });
      return rows.toArray().finally(() => reader.close());
    },
  };
};
