import { sqliteStore } from "tillkit/sql";
import { testStore } from "tillkit/testing";
import { sqliteProbe } from "../support/application-writes.js";
import { temporaryFiles } from "../support/temporary-files.js";

const nextFile = temporaryFiles();

// The statements of this folder are the same on all databases; the exams of the others are in their folders.
testStore({
  name: "the tables on SQLite",
  async create() {
    const store = sqliteStore(nextFile());
    return { store, probe: sqliteProbe(store) };
  },
  test: it,
});
