import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { errorFixes, rejectionStatus } from "tillkit";
import { readSources } from "../architecture/read-imports.js";

const page = readFileSync(resolve(__dirname, "../../docs/errors.md"), "utf8");
const codes = Object.keys(errorFixes);

/** The entries of the page: each code with the text under its heading. */
const entries = page
  .split(/^(?=#{1,3} )/m)
  .map((section) => ({ heading: section.split("\n")[0]!, text: section.slice(section.indexOf("\n") + 1) }))
  .filter(({ heading }) => heading.startsWith("### "))
  .map(({ heading, text }) => ({ code: heading.slice("### ".length), text }));

describe("the page of error codes", () => {
  it("has one entry for every code, in the order of the list, and no others", () => {
    expect(entries.map(({ code }) => code)).toEqual(codes);
  });

  it.each(entries)("says of $code what happened, what was expected and what to do", ({ text }) => {
    const labels = [...text.matchAll(/^- \*\*(.+?):\*\* \S/gm)].map((match) => match[1]);
    expect(labels.filter((label) => label !== "Status")).toEqual(["What happened", "Expected", "What to do"]);
  });

  it("names the status of every refused webhook, and of nothing else", () => {
    const named = entries.flatMap(({ code, text }) => {
      const status = /^- \*\*Status:\*\* (\d+)$/m.exec(text)?.[1];
      return status === undefined ? [] : [[code, Number(status)] as const];
    });
    expect(Object.fromEntries(named)).toEqual(rejectionStatus);
  });

  it("links only to its own headings", () => {
    const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map((match) =>
      match[1]!.toLowerCase().replaceAll(" ", "-"),
    );
    const links = [...page.matchAll(/\]\(#(.+?)\)/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((link) => !anchors.includes(link))).toEqual([]);
  });
});

describe("the codes", () => {
  it("have a fix that is a full sentence", () => {
    const unfinished = Object.entries(errorFixes).filter(([, fix]) => !/^[A-Z].*\.$/.test(fix));
    expect(unfinished).toEqual([]);
  });

  it("contain every code that the sources throw", () => {
    const thrown = readSources().flatMap(({ text }) =>
      [
        ...text.matchAll(
          /\bnew (?:Tillkit|WebhookRejected|PaymentCreation)Error\(\s*"([^"]*)"|\bcode: "([a-z_]+)",?\s+option\b/g,
        ),
      ].map((match) => match[1] ?? match[2]!),
    );
    expect(thrown.length).toBeGreaterThan(codes.length / 2);
    expect(thrown.filter((code) => !codes.includes(code))).toEqual([]);
  });

  it("are all used in the sources, apart from the list itself", () => {
    const elsewhere = readSources()
      .filter(({ file }) => file !== "errors/codes.ts")
      .map(({ text }) => text)
      .join("\n");
    expect(codes.filter((code) => !new RegExp(`"${code}"|\\b${code}:`).test(elsewhere))).toEqual([]);
  });
});
