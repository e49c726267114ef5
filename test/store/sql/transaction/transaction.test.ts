import { sqliteStore } from "tillkit/sql";
import { temporaryFiles } from "../support/temporary-files.js";
import { transactionSentences } from "../support/transaction-sentences.js";

const file = temporaryFiles()();

// What transactions do is the same on all databases; the tests of the others are in their folders.
transactionSentences({ create: () => sqliteStore(file), first: "?", table: "orders" });
