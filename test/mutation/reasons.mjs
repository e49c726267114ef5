/** Why mutants survive, by a part of their line and, where several mutants are in one line, by the replacement. */
export const reasons = [
  {
    file: "model/money.ts",
    from: 'if (isAmount(value) && !value.includes("."))',
    why: "equivalent: the way below it has the same result, and is slower",
  },
  {
    file: "model/money.ts",
    from: "if (a === b) return",
    why: "equivalent: the comparison below has the same result",
  },
  {
    file: "model/money.ts",
    from: 'if (!value.includes(".")) return isAmount',
    why: "equivalent: the way below it has the same result, and is slower",
  },
];
