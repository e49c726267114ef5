import { type DoctorCode, doctorFixes, severityOf } from "../../src/cli/doctor/findings.js";
import { readSources } from "../architecture/read-imports.js";
import { read } from "./documents.js";

const rows = [...read("docs/doctor.md").matchAll(/^\| `(\w+)` \| (\w+) \| (.+?) \| (.+) \|$/gm)];

describe("the page on the doctor", () => {
  it("has a row for every finding, in the same order, and no others", () => {
    expect(rows.map(([, code]) => code)).toEqual(Object.keys(doctorFixes));
  });

  it.each(Object.entries(doctorFixes))("has the severity and the fix of %s", (code, fix) => {
    const [, , severity, seen, toDo] = rows.find(([, one]) => one === code)!;
    expect([severity, toDo]).toEqual([severityOf(code as DoctorCode), fix]);
    expect(seen!.length).toBeGreaterThan(10);
  });

  it("has no finding that no check returns", () => {
    const sources = readSources().filter(({ file }) => /^cli\/doctor\/(?!findings)/.test(file));
    const text = sources.map((one) => one.text).join("\n");
    expect(Object.keys(doctorFixes).filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });
});
