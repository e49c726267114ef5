import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { createSandbox } from "tillkit/sandbox";
import request from "supertest";
import { eventTypes } from "../../src/model/event-map.js";
import { readMessage } from "../../src/webhook/message/read-message.js";
import { checkDescription } from "../sandbox/service-api/description-checker.js";
import { eventChannels } from "./event-channels.js";
import { eventSchema } from "./event-schema.js";
import { tool, toolsFolder, withTools } from "./tools.js";
import { webhookSchema } from "./webhook-schema.js";

type Json = Record<string, unknown>;

const folder = path.resolve("docs/interfaces");
const fileOf = (name: string): string => path.join(folder, name);
const parsed = (name: string): Json => JSON.parse(readFileSync(fileOf(name), "utf8")) as Json;

/** Returns the description that a sandbox with its defaults serves. */
async function serviceDescription(): Promise<Json> {
  const { body } = await request(createSandbox().app).get("/openapi.json").set("Host", "localhost:4000");
  return body as Json;
}

/** Returns the content of a file, for the comparison with what the sources make. `npm run tables` writes the file first. */
function fileFor(name: string, made: Json): Json {
  if (process.env["TILLKIT_TEST_WRITE_TABLE"] === "1")
    writeFileSync(fileOf(name), `${JSON.stringify(made, undefined, "\t")}\n`);
  return parsed(name);
}

describe("the documents for machines", () => {
  it("have the service as the sandbox describes it", async () => {
    const made = await serviceDescription();
    expect(fileFor("service.openapi.json", made)).toEqual(JSON.parse(JSON.stringify(made)));
  });

  it("have the webhook as the kit's rules of its fields say", () => {
    const made = webhookSchema();
    expect(fileFor("webhook.schema.json", made)).toEqual(JSON.parse(JSON.stringify(made)));
  });

  it("have the webhooks and events as channels of AsyncAPI 3", () => {
    const made = eventChannels();
    expect(fileFor("asyncapi.json", made)).toEqual(JSON.parse(JSON.stringify(made)));
  });

  it("describe the router in OpenAPI 3.1", () => {
    expect(() => checkDescription(parsed("router.openapi.json"))).not.toThrow();
  });
});

describe("the schema of the webhook", () => {
  const validate = new Ajv2020({ strict: false, formats: fullFormats }).compile(webhookSchema());
  const isAdmissible = (body: object): boolean =>
    readMessage({ rawBody: Buffer.from(JSON.stringify(body)), covers: "body" }).kind === "payment";
  const data = {
    id: "pay_1",
    status: "completed",
    captured: true,
    total: { value: "1475", currency: "KMF" },
    submittedAt: "2026-11-20T10:00:00.000Z",
    clientId: "order-1001-1",
    providerId: "MVK-1",
    source: "MVK",
  };
  const webhook = {
    topic: "payment.completed",
    timestamp: "2026-11-20T10:00:05.000Z",
    type: "payment",
    data,
  };

  it("takes the webhook of the interface document", () => {
    expect(validate(webhook)).toBe(true);
    expect(isAdmissible(webhook)).toBe(true);
  });

  it("takes what the kit takes, and refuses what it refuses, wherever a single field is odd", () => {
    const odd = fc.oneof(
      fc.constantFrom(
        undefined,
        null,
        "",
        0,
        1475,
        true,
        {},
        [],
        "KMF",
        "1475.5",
        "01",
        "-1",
        "a b",
        "x".repeat(300),
      ),
      fc.constantFrom(
        "2026-11-20",
        "2026-11-20T10:00:00Z",
        "2026-11-20 10:00:00",
        "2026-11-20T10:00:00.123456+03:00",
      ),
      fc.string({ unit: fc.constantFrom("a", "Z", "9", ".", "_", ":", "-", " ", "é"), maxLength: 70 }),
    );
    const places = ["id", "status", "captured", "submittedAt", "clientId", "providerId", "source"] as const;
    const place = fc.constantFrom(
      ...places.map((name) => `data.${name}`),
      "topic",
      "timestamp",
      "value",
      "currency",
    );
    fc.assert(
      fc.property(place, odd, (at, value) => {
        const name = at.replace("data.", "");
        const total = { ...data.total, ...((at === "value" || at === "currency") && { [at]: value }) };
        const inner = { ...data, total, ...(at.startsWith("data.") && { [name]: value }), status: "pending" };
        const body = {
          ...webhook,
          data: inner,
          ...((at === "topic" || at === "timestamp") && { [at]: value }),
        };
        if (at === "data.status") Object.assign(inner, { status: value });
        const plain = JSON.parse(JSON.stringify(body)) as object;
        // Only the kit knows how many decimals a currency has, and requires the time of a completed payment.
        if (at === "value" && typeof value === "string" && /^\d+\.\d+$/.test(value)) return;
        if (inner.status === "completed") return;
        expect({ body: plain, takes: validate(plain) }).toEqual({ body: plain, takes: takes(plain) });
      }),
      { numRuns: 3000 },
    );
  });

  /** Returns whether the kit takes the body unchanged: a note of the wrong kind is passed on as untrusted. */
  function takes(body: object): boolean {
    const message = readMessage({ rawBody: Buffer.from(JSON.stringify(body)), covers: "body" });
    return message.kind === "payment" && Object.keys(message.untrusted).length === 0;
  }
});

withTools("the schema of the events, and the types made from it", () => {
  it("is made from the types of the events", () => {
    const made = eventSchema();
    expect(fileFor("events.schema.json", made)).toEqual(JSON.parse(JSON.stringify(made)));
  });

  it("is a part of a valid AsyncAPI 3 document, whose events are those of the kit", () => {
    const specification = JSON.parse(
      readFileSync(path.join(toolsFolder, "node_modules/@asyncapi/specs/schemas/3.0.0.json"), "utf8"),
    ) as object;
    const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false, meta: false });
    const channels = parsed("asyncapi.json");
    expect({ valid: ajv.validate(specification, channels), errors: ajv.errors }).toEqual({
      valid: true,
      errors: null,
    });
    const { definitions } = parsed("events.schema.json") as { definitions: Json };
    expect(Object.keys(definitions)).toEqual(expect.arrayContaining([...eventTypes]));
  });

  it("gives types that equal the published ones, in both directions", () => {
    const own = mkdtempSync(path.join(toolsFolder, "node_modules/.types-"));
    try {
      const made = path.join(own, "made.ts");
      const argv = [
        "--input",
        fileOf("events.schema.json"),
        "--output",
        made,
        "--additionalProperties",
        "false",
      ];
      execFileSync(tool("json2ts"), argv, { encoding: "utf8" });
      const published = path.relative(own, path.resolve("src/model/event-map"));
      const root = /export type (\w+) =/.exec(readFileSync(made, "utf8"))![1]!;
      writeFileSync(
        path.join(own, "equal.ts"),
        `import { type TillkitEvent, type EventType } from "${published}";
import { type ${root} as Made } from "./made";
type Plain<T> = T extends (infer I)[] | readonly (infer I)[] ? Plain<I>[] : T extends object ? { -readonly [K in keyof T]: Plain<T[K]> } : T;
type Published = { [T in EventType]: Plain<TillkitEvent<T, never>> }[EventType];
export const toMade = (event: Published): Made => event;
export const toPublished = (event: Made): Published => event;
`,
      );
      const compiler = [
        "--strict",
        "--noEmit",
        "--skipLibCheck",
        "--typeRoots",
        own,
        "--moduleResolution",
        "bundler",
      ];
      const argument = [...compiler, "--module", "esnext", "--target", "es2022", path.join(own, "equal.ts")];
      let printed = "";
      try {
        execFileSync(tool("tsc"), argument, { encoding: "utf8" });
      } catch (error) {
        printed = (error as { stdout: string }).stdout;
      }
      expect(printed).toBe("");
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
  });
});
