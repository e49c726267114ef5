import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { eventTypes } from "../../src/model/event-map.js";
import { indispensableFields } from "../../src/model/signed-fields.js";
import { tool, toolsFolder } from "./tools.js";

type Schema = Record<string, unknown>;

/** Returns the JSON Schema of the durable events, made from their TypeScript types. */
export function eventSchema(): Schema {
  const folder = mkdtempSync(path.join(toolsFolder, "node_modules/.events-"));
  try {
    const from = path.relative(folder, path.resolve("src/model/event-map"));
    const types = eventTypes.map((type) => `"${type}": TillkitEvent<"${type}", never>;`);
    const source = `import { type TillkitEvent } from "${from}";\nexport interface Events { ${types.join(" ")} }\n`;
    writeFileSync(path.join(folder, "events.ts"), source);
    const config = {
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: true,
        types: [],
        target: "es2022",
        module: "esnext",
        moduleResolution: "bundler",
      },
      files: ["events.ts"],
    };
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(config));
    const argv = [
      "--path",
      "events.ts",
      "--tsconfig",
      "tsconfig.json",
      "--type",
      "Events",
      "--no-type-check",
    ];
    const made = execFileSync(tool("ts-json-schema-generator"), argv, { cwd: folder, encoding: "utf8" });
    return namedEvents(JSON.parse(made) as MadeSchema);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface MadeSchema {
  definitions: Record<string, Schema & { properties?: Record<string, Schema> }>;
}

/** Names each event as the kit names it, and leaves the objects open: a later version may add fields. */
function namedEvents({ definitions }: MadeSchema): Schema {
  const { Events: _, ...rest } = definitions;
  // The generator does not see which fields of a mapped intersection are required.
  Object.assign(rest["Verified<never>"]!, { required: [...indispensableFields] });
  const shortName = (name: string): string =>
    /^TillkitEvent<"(.+)",never>$/.exec(name)?.[1] ?? name.replace(/<.*/, "");
  const text: Readonly<Record<string, (value: string) => string>> = {
    $ref: (value) => `#/definitions/${shortName(decodeURIComponent(value).slice("#/definitions/".length))}`,
    description: (value) => value.replaceAll(/\{\s*@link\s+(\w+)\s*\}/g, "`$1`").replaceAll(/\s+/g, " "),
  };
  const opened = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(opened);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
        if (name === "additionalProperties" && inner === false) return [];
        return [[name, typeof inner === "string" ? (text[name]?.(inner) ?? inner) : opened(inner)]];
      }),
    );
  };
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "The durable events of tillkit, as a handler gets them",
    oneOf: eventTypes.map((type) => ({ $ref: `#/definitions/${type}` })),
    definitions: Object.fromEntries(
      Object.entries(rest).map(([name, definition]) => [shortName(name), opened(definition)]),
    ),
  };
}
