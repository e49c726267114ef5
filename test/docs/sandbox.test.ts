import { existsSync } from "node:fs";
import path from "node:path";
import { catalogue, createSandbox } from "tillkit/sandbox";
import { scenarioSchema } from "../../src/sandbox/scenario/scenario-schema.js";
import { read, root } from "./documents.js";

const page = read("docs/sandbox.md");
/** The rows of a section's tables, cell by cell. */
function rowsUnder(heading: string, row = /^\| (`.*) \|$/gm): string[][] {
  const section = page.split(/^#{2,3} /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(row)].map((match) => match[1]!.split(/ ?\| ?/).map((cell) => cell.trim()));
}

/** Every key that a scenario can have, at any depth. */
function keysOf(schema: unknown): string[] {
  const { shape, def } = schema as {
    shape?: Record<string, unknown>;
    def: { innerType?: unknown; element?: unknown };
  };
  if (shape) return Object.entries(shape).flatMap(([key, inner]) => [key, ...keysOf(inner)]);
  const inner = def.innerType ?? def.element;
  return typeof inner === "object" && inner !== null ? keysOf(inner) : [];
}

describe("the page on the sandbox", () => {
  it("has every scenario with its amount and what happens, in the catalogue's order, and what a shop must do", () => {
    const rows = rowsUnder("Scenarios");
    expect(rows.map(([name, amount, about]) => [name, amount, about])).toEqual(
      catalogue.map(({ name, about }, index) => [`\`${name}\``, String(777_001 + index), about]),
    );
    expect(rows.filter(([, , , must = ""]) => must.length < 5)).toEqual([]);
  });

  it("says what the sandbox does by default where the document is silent", () => {
    const rows = rowsUnder("What the document does not show", /^\| (\d.*) \|$/gm);
    const { settings, signing, providers } = createSandbox();
    const seconds = (ms: number) => `${ms / 1000} s`;
    const text = rows.map(([, , does]) => does).join("\n");
    for (const shown of [
      `${settings.successStatus}; the option successStatus`,
      `valid for ${settings.accessTokenTtlSeconds} s`,
      `Any 2xx within ${seconds(settings.webhookTimeoutMs)}`,
      `pauses: ${settings.retryDelaysMs.map(seconds).join(", ")}.`,
      `HMAC over the raw body, in hexadecimal, in ${signing.header}`,
      `source is one of ${providers.map(({ code }) => code).join(", ")};`,
    ])
      expect(text).toContain(shown);
    for (const off of [
      "readBack",
      "statuses",
      "cancelWebhook",
      "failureWebhook",
      "statusWebhooks",
    ] as const) {
      expect(text).toMatch(new RegExp(`[Oo]ption.* ${off}|${off}.*decide`));
      expect([false, []]).toContainEqual(settings[off]);
    }
    expect(new Set(rows.map(([section]) => section)).size).toBeGreaterThan(10);
  });

  it("names every field that a scenario can have", () => {
    const named = rowsUnder("Scenarios of your own").flat().join(" ");
    const keys = new Set(keysOf(scenarioSchema));
    expect([...keys]).toEqual(
      expect.arrayContaining(["webhooks", "loseFirst", "expiresAfterMs", "approved"]),
    );
    expect([...keys].filter((key) => !new RegExp(`\\b${key}\\b`).test(named))).toEqual([]);
  });

  it("has every control address, and none that is not there", () => {
    const source = read("src/sandbox/control-api.ts");
    const routes = [...source.matchAll(/^ {2}("(?:GET|POST|PUT|DELETE) [^"]+")/gm)].map(([, route]) =>
      route!.replaceAll('"', "`"),
    );
    expect(routes.length).toBeGreaterThan(15);
    expect(rowsUnder("Control addresses").map(([address]) => address)).toEqual(routes);
  });

  it("names no file that is not there", () => {
    const files = [...page.matchAll(/`((?:test|examples|src)\/[^`]+)`/g)].map((match) => match[1]!);
    expect(files.length).toBeGreaterThan(1);
    expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });
});
