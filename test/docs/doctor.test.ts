import { doctorFindings } from "../../src/cli/doctor/findings.js";
import { readSources } from "../architecture/read-imports.js";
import { read } from "./documents.js";

const rows = [...read("docs/doctor.md").matchAll(/^\| `(\w+)` \| (\w+) \| (.+?) \| (.+) \|$/gm)];

describe("the page on the doctor", () => {
  it("has an entry for every finding, in the same order, and for no other", () => {
    expect(rows.map(([, code]) => code)).toEqual(Object.keys(doctorFindings));
  });

  it.each(Object.entries(doctorFindings))(
    "says of %s how grave it is and what to do",
    (code, { severity, fix }) => {
      const [, , grave, seen, todo] = rows.find(([, one]) => one === code)!;
      expect([grave, todo]).toEqual([severity, fix]);
      expect(seen!.length).toBeGreaterThan(10);
    },
  );

  it("has no finding that nothing finds", () => {
    const sources = readSources().filter(({ file }) => /^cli\/doctor\/(?!findings)/.test(file));
    const text = sources.map((one) => one.text).join("\n");
    expect(Object.keys(doctorFindings).filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });
});
