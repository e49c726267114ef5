import { sqliteStore } from "tillkit/sql";
import { testStore } from "tillkit/testing";
import { temporaryFiles } from "../support/temporary-files.js";

const nextFile = temporaryFiles();

// The statements of this folder are the same on all databases; the exams of the others are in their folders.
testStore({ name: "the tables on SQLite", create: async () => sqliteStore(nextFile()), test: it });
