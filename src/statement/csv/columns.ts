import { TillkitError } from "../../errors/index.js";
import { quote } from "../../shared/quote.js";
import { isWholeNumber } from "../../shared/whole-number.js";

/** The headers that are found without an option, in lower case and with letters and digits only. */
const usualHeaders = {
  clientId: ["clientid", "dataclientid"],
  serviceId: ["serviceid", "paymentid", "id", "dataid"],
  providerId: ["providerid", "dataproviderid", "providerreference"],
  value: ["value", "amount", "gross", "grossamount", "total", "totalvalue", "totalamount", "datatotalvalue"],
  fee: ["fee", "fees", "commission"],
  net: ["net", "netamount", "netvalue"],
  payout: ["payout", "payoutid", "payoutreference", "settlementid"],
  currency: ["currency", "totalcurrency", "datatotalcurrency"],
  status: ["status", "state", "paymentstatus", "paymentstate", "transactionstatus", "datastatus"],
  source: ["source", "channel", "provider", "datasource"],
  time: ["time", "date", "submittedat", "completedat", "timestamp", "datasubmittedat"],
} as const;

export type StatementField = keyof typeof usualHeaders;

/** The fields of a row for which a statement can have a column. */
export const statementFields = Object.keys(usualHeaders) as readonly StatementField[];

/** The column of a field: its header, its number from 1, or `false` for no column. */
export type ColumnChoice = string | number | false;

/** The position of each field in a record, from 0. */
export type Columns = Partial<Record<StatementField, number>>;

/**
 * Returns the columns of the fields: for each field the chosen column, or else the column with a usual
 * header. The fields of `given` have fixed values, so they need no column. Throws `statement_columns_unclear`
 * if a necessary field has no column, or if a column is not clear. The message lists the headers.
 */
export function findColumns(
  header: readonly string[] | undefined,
  choices: Partial<Record<StatementField, ColumnChoice | undefined>>,
  given: readonly StatementField[] = [],
): Columns {
  const columns: Columns = {};
  const headers = header?.map((name) => name.trim()) ?? [];
  for (const field of statementFields) {
    const choice = choices[field];
    if (choice === false) continue;
    const index = choice === undefined ? usual(field, headers) : chosen(field, choice, headers);
    if (index !== undefined) columns[field] = index;
  }
  const has = (field: StatementField): boolean => columns[field] !== undefined || given.includes(field);
  if (!(["clientId", "serviceId", "providerId", "time"] as const).some(has))
    throw unclear("No column has the clientId, the serviceId, the providerId or the time.", headers);
  for (const field of ["value", "currency"] as const)
    if (!has(field)) throw unclear(`No column has the ${field}.`, headers);
  return columns;
}

function chosen(field: StatementField, choice: string | number, headers: readonly string[]): number {
  if (typeof choice === "number") {
    if (isWholeNumber(choice, 1)) return choice - 1;
    throw unclear(`The column of ${field} is ${choice}, but column numbers start at 1.`, headers);
  }
  const found = headers.flatMap((name, index) => (name === choice.trim() ? [index] : []));
  if (found.length === 1) return found[0]!;
  throw unclear(
    found.length === 0
      ? `No header is "${choice}", which you gave as the column of ${field}.`
      : `${found.length} headers are "${choice}"; give the column number for ${field}.`,
    headers,
  );
}

/**
 * Returns the column with a usual header of the field, if there is one. Throws `statement_columns_unclear` if
 * two columns have such a header, because a comparison with the wrong column would give wrong results.
 */
function usual(field: StatementField, headers: readonly string[]): number | undefined {
  const names: readonly string[] = usualHeaders[field];
  const [index, other] = headers.flatMap((one, at) => (names.includes(plain(one)) ? [at] : []));
  if (index === undefined || other === undefined) return index;
  const [first, second] = [index, other].map((at) => quote(headers[at]!));
  const fix = `Name the right header as the column of ${field}, or give no column for ${field}.`;
  throw unclear(`${first} and ${second} may both be the ${field}. ${fix}`, headers);
}

function plain(header: string): string {
  return header.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

function unclear(message: string, headers: readonly string[]): TillkitError {
  const shown = headers.slice(0, 30).map((name) => JSON.stringify(name.slice(0, 60)));
  const list = headers.length > 0 ? `The headers are: ${shown.join(", ")}.` : "The statement has no headers.";
  return new TillkitError("statement_columns_unclear", `${message} ${list}`);
}
