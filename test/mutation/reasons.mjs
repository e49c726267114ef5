const sameResult = "equivalent: the way below it has the same result, and is slower";
const testedSince = "a test was written for it after this measurement";

/** Why mutants survive, by a part of their line and, where several mutants are in one line, by the replacement. */
export const reasons = [
  {
    file: "model/status-order.ts",
    from: "difference === 0 ?",
    to: "difference >= 0",
    why: "equivalent: a difference of 0 never comes here",
  },
  { file: "model/money.ts", from: 'if (isAmount(value) && !value.includes("."))', why: sameResult },
  { file: "model/money.ts", from: "if (a === b) return", why: sameResult },
  { file: "model/money.ts", from: 'if (!value.includes(".")) return isAmount', why: sameResult },
  { file: "model/money.ts", from: "", why: testedSince },
];
