import { bySeverity, type Finding } from "../../../src/cli/terminal/finding.js";

const finding = (code: string, severity: Finding["severity"]): Finding => ({
  code,
  severity,
  message: "seen",
  fix: "do",
});

it("findings are in the order of their severity, errors first, and keep their order within one", () => {
  const found = [
    finding("n1", "note"),
    finding("w1", "warning"),
    finding("e1", "error"),
    finding("e2", "error"),
  ];
  expect(bySeverity(found).map(({ code }) => code)).toEqual(["e1", "e2", "w1", "n1"]);
  expect(found[0]?.code).toBe("n1");
});
