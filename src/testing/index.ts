/**
 * The exam of a store, and a kit for tests of handlers.
 *
 * @module tillkit/testing
 */

export * from "../store/exam/index.js";
export { testPayments, type TestPayments, type TestPaymentsOptions } from "./test-payments.js";
