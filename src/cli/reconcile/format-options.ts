import { TillkitError } from "../../errors/index.js";
import { statementFields, type StatementFormat } from "../../statement/index.js";
import { type OptionSpec, type Arguments } from "../terminal/command.js";

/** How the statement's file is written. */
export const formatOptions: readonly OptionSpec[] = [
  {
    name: "column",
    value: "field=header",
    repeated: true,
    summary:
      `Which column has a field (${statementFields.join(", ")}): its header, its number from 1, or nothing for none. ` +
      "Default: by the usual headers.",
  },
  {
    name: "fixed",
    value: "field=text",
    repeated: true,
    summary: "What holds for every row, for currency, source or status: --fixed currency=KMF.",
  },
  {
    name: "delimiter",
    value: "character",
    summary: 'Between fields; "tab" for a tab. Default: the most frequent of , ; tab | in the header.',
  },
  { name: "no-header", summary: "The first line is a payment already; --column then gives numbers." },
  { name: "skip-lines", value: "number", summary: "Lines above the table. Default: 0." },
  {
    name: "comment",
    value: "text",
    summary: 'What lines begin with that are passed over; --comment="" for none. Default: #.',
  },
  {
    name: "encoding",
    value: "utf-8|windows-1252",
    choices: ["utf-8", "windows-1252"],
    summary: "Default: utf-8.",
  },
  { name: "decimal", value: ".|,", choices: [".", ","], summary: "The decimal separator. Default: a point." },
  {
    name: "group",
    value: "character",
    choices: [",", ".", "'", " ", "space"],
    summary: 'Between groups of three digits: a comma, a point, an apostrophe, or "space". Default: none.',
  },
  {
    name: "time-format",
    value: "iso|day-first|month-first",
    choices: ["iso", "day-first", "month-first"],
    summary: "How times are written: 2024-05-31 14:03, 31/05/2024 14:03 or 05/31/2024 14:03. Default: iso.",
  },
  {
    name: "utc-offset",
    value: "offset",
    summary: "Of times and days that have none: --utc-offset=+03:00. Default: Z.",
  },
];

/** @throws TillkitError `command_option_invalid` */
export function readFormat(args: Arguments): StatementFormat {
  const columns: StatementFormat["columns"] = {};
  for (const [field, header] of pairs(args, "column", statementFields))
    columns[field] = header === "" ? false : /^[1-9]\d*$/.test(header) ? Number(header) : header;
  const fixed = Object.fromEntries(pairs(args, "fixed", ["currency", "source", "status"]));
  const delimiter = args.get("delimiter");
  const group = args.get("group");
  const skipLines = args.get("skip-lines");
  const comment = args.get("comment");
  const utcOffset = args.get("utc-offset");
  return {
    columns,
    fixed,
    header: !args.has("no-header"),
    encoding: args.get("encoding") as StatementFormat["encoding"],
    ...(delimiter !== undefined && { delimiter: delimiter === "tab" ? "\t" : delimiter }),
    ...(skipLines !== undefined && { skipLines: Number(skipLines) }),
    ...(comment !== undefined && { comment }),
    ...(utcOffset !== undefined && { utcOffset }),
    decimalSeparator: (args.get("decimal") as "," | undefined) ?? ".",
    groupSeparator: group === "space" ? " " : ((group as "," | undefined) ?? ""),
    timeFormat: (args.get("time-format") as "iso" | undefined) ?? "iso",
  };
}

function pairs<Field extends string>(
  args: Arguments,
  option: string,
  fields: readonly Field[],
): (readonly [Field, string])[] {
  return args.all(option).map((given) => {
    const at = given.indexOf("=");
    const field = given.slice(0, Math.max(at, 0));
    if (at > 0 && fields.includes(field as Field)) return [field as Field, given.slice(at + 1)] as const;
    throw new TillkitError(
      "command_option_invalid",
      `--${option} ${given} is not <field>=<text> with a field of ${fields.join(", ")}.`,
    );
  });
}
