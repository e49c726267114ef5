import { createRequire } from "node:module";
import path from "node:path";
import { install } from "./install.mjs";

const require = createRequire(import.meta.url);
let isInstalled = false;

/** Loads a compiled kit of this folder into the simulated world. Time, files and random numbers are replaced first. */
export function loadKit(folder) {
  if (!isInstalled) install();
  isInstalled = true;
  // Thousands of errors are made on purpose; their stacks would take much of the time.
  Error.stackTraceLimit = 0;
  const { createPayments, paymentRouter, hmacSignature, fieldsSignature, storeOver, TillkitError } = require(
    path.join(folder, "index.js"),
  );
  const { newId } = require(path.join(folder, "shared", "new-id.js"));
  const { runLazily } = require(path.join(folder, "store", "rules", "run-lazily.js"));
  const { pino } = require("pino");
  const logger = pino({ enabled: false });
  return {
    createPayments,
    paymentRouter,
    hmacSignature,
    fieldsSignature,
    TillkitError,
    newId,
    runLazily,
    storeOver,
    logger,
  };
}
