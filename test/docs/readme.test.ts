import { createPayments, eventTypes } from "tillkit";
import { optionRows } from "../../src/kit/options/option-table.js";
import { partVariables } from "../../src/kit/options/read-variables.js";
import { testOptions } from "../support/kit.js";
import { membersOf, read } from "./documents.js";

const readme = read("README.md");

/** The rows of the tables of these pages: the names in the first cell, and the other cells. */
const rows = [...(read("docs/options.md") + read("docs/events.md")).matchAll(/^\| (`.+?) \|(.*)\|$/gm)].map(
  (match) => ({
    names: [...match[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
    cells: match[2]!.split(" | ").map((cell) => cell.trim()),
  }),
);
const named = rows.flatMap(({ names }) => names);
const missing = (wanted: readonly string[]) => wanted.filter((name) => !named.includes(name));

describe("the README", () => {
  it("begins with what tillkit is, and has the program and a picture on its first screens", () => {
    // test/docs/quick-start.test.ts runs the program.
    const lines = readme.split("\n");
    expect(lines[2]).toMatch(/^tillkit is Express middleware for /);
    expect(lines.indexOf("```ts")).toBeLessThan(30);
    expect(readme.indexOf("](docs/images/purchase.svg)")).toBeLessThan(readme.indexOf("```ts"));
  });

  it("stays short enough to be read", () => {
    expect(readme.split("\n").length).toBeLessThan(200);
    expect(readme.split(/\s+/).length).toBeLessThan(1200);
  });

  it("has the three forms in which the kit is used", () => {
    for (const form of ["app.use(paymentRouter())", "payments.onPaymentCompleted(", "storeOver({ "])
      expect(readme).toContain(form);
  });
});

describe("the pages on options and events", () => {
  it("has a row for every option", () => {
    const under = (group: string, names: string[]) => names.map((name) => `${group}.${name}`);
    const groups = ["service", "webhook", "health", "returns", "dispatch"];
    const top = membersOf("src/kit/options/options.ts", "PaymentsOptions").filter(
      (name) => !groups.includes(name),
    );
    const options = [
      ...top,
      ...under("service", membersOf("src/service/service-options.ts", "PaymentServiceOptions")),
      ...under("webhook", membersOf("src/kit/options/options.ts", "WebhookOptions")),
      ...under("health", membersOf("src/kit/options/options.ts", "HealthOptions")),
      ...under("returns", membersOf("src/kit/options/return-options.ts", "ReturnOptions")),
      ...under("dispatch", membersOf("src/kit/options/options.ts", "DispatchOptions")),
      ...under("dispatch", membersOf("src/dispatch/handler.ts", "RetryOptions")),
      "dispatch",
    ];
    expect(options.length).toBeGreaterThan(25);
    expect(missing(options)).toEqual([]);
  });

  it("gives the defaults that the code has", () => {
    // The tests' own limits would replace the defaults.
    const { webhook: _, dispatch: __, ...given } = testOptions({ spool: { directory: "spool" } });
    const { options } = createPayments(given);
    const actual = (name: string): unknown =>
      name
        .split(".")
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], options);
    const numeric = rows.filter(({ cells }) => /^\d+$/.test(cells[0]!));
    // The client of the service has this default.
    const resolved = numeric.filter(({ names }) => names[0] !== "service.timeoutMs");
    expect(resolved.length).toBeGreaterThan(10);
    for (const { names, cells } of resolved) {
      expect([names[0], actual(names[0]!)]).toEqual([names[0], Number(cells[0])]);
    }
  });

  it("has a row for every environment variable that is read, and for no other", () => {
    const variables = new Set([
      ...optionRows.flatMap(([, { variable }]) => variable ?? []),
      ...Object.values(partVariables),
    ]);
    expect(variables.size).toBeGreaterThan(15);
    const shown = rows.flatMap(({ names, cells }) => [
      ...names,
      ...cells.map((cell) => cell.replaceAll("`", "")),
    ]);
    const found = new Set(shown.filter((name) => /^TILLKIT_\w+$/.test(name)));
    expect([...found].toSorted()).toEqual([...variables].toSorted());
  });

  it("has a row for every event and every notice", () => {
    const notices = membersOf("src/model/notice-map.ts", "NoticeMap");
    expect(notices).toContain("webhook.rejected");
    expect(missing([...eventTypes, ...notices])).toEqual([]);
  });
});

describe("the pages on stores", () => {
  it("names every member of the contract and every option of the SQL stores", () => {
    const page = read("docs/stores.md") + read("docs/store-contract.md");
    const members = [
      ...membersOf("src/store/contract.ts", "PaymentStore"),
      ...membersOf("src/store/sql/options.ts", "SqlStoreOptions"),
    ];
    expect(members.length).toBeGreaterThan(10);
    expect(members.filter((name) => !page.includes(`| \`${name}`))).toEqual([]);
  });
});

describe("the page on the sandbox", () => {
  it("names every option", () => {
    const page = read("docs/sandbox.md");
    const options = membersOf("src/sandbox/options/options.ts", "SandboxOptions");
    expect(options.length).toBeGreaterThan(10);
    expect(options.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
