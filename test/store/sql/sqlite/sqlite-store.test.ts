import { type SqlPaymentStore, sqliteStore } from "tillkit/sql";
import { testStore } from "tillkit/testing";
import { sqliteProbe } from "../support/application-writes.js";
import { startUpSentences } from "../support/start-up-sentences.js";
import { temporaryFiles } from "../support/temporary-files.js";
import { transactionSentences } from "../support/transaction-sentences.js";

const nextFile = temporaryFiles();
const files = new WeakMap<object, string>();

const shared = nextFile();
transactionSentences({ create: () => sqliteStore(shared), first: "?", table: "orders" });

const empty = nextFile();
startUpSentences(() => sqliteStore(empty), "tillkit_meta");

testStore({
  name: "SQLite",
  async create() {
    const store = open(nextFile());
    return { store, probe: sqliteProbe(store) };
  },
  reopen: async (store) => open(files.get(store)!),
  test: it,
});

function open(file: string): SqlPaymentStore {
  const store = sqliteStore(file);
  files.set(store, file);
  return store;
}
