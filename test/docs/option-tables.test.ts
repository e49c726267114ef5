import { writeFileSync } from "node:fs";
import path from "node:path";
import { optionGroupOf, optionRows } from "../../src/kit/options/option-table.js";
import { partVariables } from "../../src/kit/options/read-variables.js";
import { read, root } from "./documents.js";
import { type PublicField, publicFields } from "./public-fields.js";

/** The types whose fields are the options of a group. */
const typesOf: Readonly<Record<string, readonly string[]>> = {
  "": ["PaymentsOptions"],
  service: ["PaymentServiceOptions"],
  paths: ["PathOptions"],
  webhook: ["WebhookOptions"],
  "webhook.failures": ["FailureOptions"],
  spool: ["SpoolDirectoryOptions"],
  health: ["HealthOptions"],
  returns: ["ReturnOptions"],
  dispatch: ["DispatchOptions", "RetryOptions"],
  lookup: ["LookupOptions"],
};

const fields = publicFields();
const options = optionRows.map(([option, row]) => {
  const name = option.slice(option.lastIndexOf(".") + 1);
  const isIt = (field: PublicField): boolean =>
    field.name === name && typesOf[optionGroupOf(option)]!.includes(field.type);
  return { option, row, field: fields.find(isIt)! };
});

/** The groups that are only the heads of their options, and those whose options stand elsewhere. */
const heads = new Set(["service", "webhook", "health", "returns"]);
const elsewhere = new Set(["paths", "webhook.failures", "lookup"]);

/** Returns the rows of the options that pass, as a table in Markdown. */
function optionTableOf(passes: (option: string) => boolean, page: string): string[] {
  const shown = options.filter(({ option }) => passes(option));
  const hasVariables = shown.some(({ option, row }) => variableOf(option, row.variable));
  const head = ["Option", "Default", ...(hasVariables ? ["Variable"] : []), "What it is"];
  return [
    `| ${head.join(" | ")} |`,
    `|${"---|".repeat(head.length)}`,
    ...shown.map(({ option, row, field }) => {
      const value = typeof row.default === "number" ? String(row.default) : (field.default ?? "required");
      const more = field.see ? ` ([more](${linkFrom(page, field.see)}))` : "";
      const cells = [`\`${option}\``, value, ...(hasVariables ? [variableOf(option, row.variable)] : [])];
      return `| ${[...cells, field.summary.replace(/\.$/, "") + more].join(" | ")} |`;
    }),
  ];
}

function linkFrom(page: string, target: string): string {
  return path.posix.relative(path.posix.dirname(page), target).replace(new RegExp(`^${page}(?=#)`), "");
}

function variableOf(option: string, variable: string | undefined): string {
  const name = variable ?? (partVariables as Readonly<Record<string, string>>)[option];
  return name === undefined ? "" : `\`${name}\``;
}

/** Returns a comment on one line. Its links begin at the root folder, and those of the page at its own. */
function sentenceOf(comment: string): string {
  return comment
    .replaceAll(/\s*\n\s*\*?\s*/g, " ")
    .trim()
    .replaceAll("](docs/", "](");
}

/** Returns the table of the variables whose comments stand in the sources. */
function variableTable(): string[] {
  const source = read("src/kit/options/read-variables.ts");
  const commented = source.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}"?[\w.[\]]+"?: "(TILLKIT_\w+)"/g);
  const rows = [...commented].map(([, comment, name]) => `| \`${name}\` | ${sentenceOf(comment!)} |`);
  expect(rows.length).toBe(Object.keys(partVariables).length);
  return ["| Variable | What it is |", "|---|---|", ...rows];
}

const sections: readonly (readonly [page: string, section: string, table: () => string[]])[] = [
  [
    "docs/options.md",
    "Options",
    () =>
      optionTableOf(
        (option) => !heads.has(option) && !elsewhere.has(optionGroupOf(option)),
        "docs/options.md",
      ),
  ],
  ["docs/options.md", "Configuration by environment", variableTable],
  [
    "docs/reconciliation.md",
    "Lookups",
    () => optionTableOf((option) => optionGroupOf(option) === "lookup", "docs/reconciliation.md"),
  ],
];

it.each(sections)("%s has the table of the section %s that the sources make", (page, section, table) => {
  const text = read(page);
  const [, before, , after] = new RegExp(`^([^]*\\n## ${section}\\n[^]*?\\n\\n)((?:\\|.*\\n)+)([^]*)$`).exec(
    text,
  )!;
  const made = `${before}${table().join("\n")}\n${after}`;
  // Set by `npm run tables`, which writes the files and commits nothing.
  if (process.env["TILLKIT_TEST_WRITE_TABLE"] === "1") writeFileSync(path.join(root, page), made);
  expect(read(page)).toBe(made);
});

it.each(options)("the comment of $option names the default that the kit has", ({ row, field }) => {
  expect(field.isOptional || field.type === "RetryOptions").toBe(field.default !== undefined);
  const isWritten = ["number", "string"].includes(typeof row.default);
  const [written] = /^"[^"]*"$|^\d+/.exec(field.default ?? "") ?? [];
  expect(written).toBe(isWritten ? JSON.stringify(row.default) : undefined);
});
