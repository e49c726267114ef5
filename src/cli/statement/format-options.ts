import { statementFields, type StatementFormat } from "../../statement/index.js";
import { optionError } from "../terminal/arguments.js";
import { type Arguments } from "../terminal/command.js";
import { decimalOption } from "../terminal/option-values.js";

/** The options that describe the format of the statement's file. */
export const formatOptions = {
  "--column <field=header> ...":
    `The column of a field (${statementFields.join(", ")}): the column's header, or its number from 1, or nothing if the file has no such column. ` +
    "Default: the kit looks for the usual headers.",
  "--fixed <field=text> ...": "The value of currency, source or status for every row: --fixed currency=KMF.",
  "--delimiter <character>":
    'The character between fields; "tab" for a tab. Default: the character among , ; tab | that the header has most often.',
  "--no-header":
    "The first line is a payment, because the file has no header. --column then takes column numbers.",
  "--skip-lines <number>": "The number of lines above the table. Default: 0.",
  "--comment <text>":
    'The prefix of comment lines. A comment line is above the header, or has a single cell. --comment="" if the file has ' +
    "no comments. Default: #.",
  "--encoding <utf-8|windows-1252>": "The character encoding of the file. Default: utf-8.",
  "--decimal <.|,>": "The decimal separator. Default: a point.",
  "--group <,|.|'|space>": "The character between groups of three digits. Default: none.",
  "--time-format <iso|day-first|month-first>":
    "The format of times: 2024-05-31 14:03, 31/05/2024 14:03 or 05/31/2024 14:03. Default: iso.",
  "--utc-offset <offset>":
    "The UTC offset of days, and of times without an offset: --utc-offset=+03:00. Default: Z.",
};

/** Returns the format that the options describe. Throws `command_option_invalid` for an unknown field. */
export function readFormat(args: Arguments): StatementFormat {
  const columns: StatementFormat["columns"] = {};
  for (const [field, header] of fieldPairs(args, "column", statementFields))
    columns[field] = header === "" ? false : /^[1-9]\d*$/.test(header) ? Number(header) : header;
  const fixed = Object.fromEntries(fieldPairs(args, "fixed", ["currency", "source", "status"]));
  const [delimiter, group] = ["delimiter", "group"].map((name) => args.get(name));
  return {
    columns,
    fixed,
    header: !args.has("no-header"),
    encoding: args.get("encoding") as StatementFormat["encoding"],
    delimiter: delimiter === "tab" ? "\t" : delimiter,
    skipLines: decimalOption(args, "skip-lines"),
    comment: args.get("comment"),
    utcOffset: args.get("utc-offset"),
    decimalSeparator: (args.get("decimal") as "," | undefined) ?? ".",
    groupSeparator: group === "space" ? " " : ((group as "," | undefined) ?? ""),
    timeFormat: (args.get("time-format") as "iso" | undefined) ?? "iso",
  };
}

function fieldPairs<Field extends string>(
  args: Arguments,
  option: string,
  fields: readonly Field[],
): (readonly [Field, string])[] {
  return args.all(option).map((given) => {
    const at = given.indexOf("=");
    const field = given.slice(0, Math.max(at, 0));
    if (at > 0 && fields.includes(field as Field)) return [field as Field, given.slice(at + 1)] as const;
    throw optionError(
      `--${option} ${given} is not <field>=<text>, where the field is one of ${fields.join(", ")}.`,
    );
  });
}
