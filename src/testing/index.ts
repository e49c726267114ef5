export * from "../store/exam/index.js";
export { testPayments, type TestPayments, type TestPaymentsOptions } from "./test-payments.js";
