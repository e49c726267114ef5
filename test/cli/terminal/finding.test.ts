import { bySeverity, type Finding, printFindings } from "../../../src/cli/terminal/finding.js";
import { type Output } from "../../../src/cli/terminal/output.js";

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

it("findings are printed in this order, each with its fix and the colour of its severity", () => {
  const lines: string[] = [];
  const output = {
    width: 24,
    print: (text = "") => void lines.push(text),
    paint: (style: unknown, text: string) => `${String(style)}(${text})`,
  };
  const found = [finding("n1", "note"), finding("w1", "warning"), finding("e1", "error")];
  printFindings(
    [...found, { ...finding("e2", "error"), message: "seen by everybody here", fix: "do this or do that" }],
    output as Output,
  );
  expect(lines).toEqual([
    "",
    "red(error) bold(e1)",
    "  seen",
    "  dim(fix:) do",
    "",
    "red(error) bold(e2)",
    "  seen by everybody here",
    "  dim(fix:) do this or do\n       that",
    "",
    "yellow(warning) bold(w1)",
    "  seen",
    "  dim(fix:) do",
    "",
    "cyan(note) bold(n1)",
    "  seen",
    "  dim(fix:) do",
  ]);
});
