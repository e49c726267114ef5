import { isAmount, readSign } from "../../model/money.js";
import { isDateTime, offsetMsOf } from "../../shared/date-time.js";

/** The format of amounts and times. */
export interface CellOptions {
  /** The character before the decimals of an amount. @default "." */
  decimalSeparator: "." | ",";
  /**
   * The separator between groups of three digits. `" "` also means no-break and thin spaces. @default none
   */
  groupSeparator: "" | "," | "." | "'" | " ";
  /** The order of day, month and year. @default "iso" */
  timeFormat: "iso" | "day-first" | "month-first";
  /**
   * The UTC offset of the statement, such as `"+03:00"` or `"Z"`. Times without an offset have this offset.
   * Without a `period`, the days of the statement begin and end in this offset.
   *
   * @default Times without an offset are in UTC. The days are in the offset of each time.
   */
  utcOffset: string | undefined;
}

/**
 * Returns an amount in the kit's format, with a minus if the amount is negative. Text that is not a number in
 * the statement's format is returned unchanged, and is checked later. Returns `undefined` if the later check
 * would accept the text as another amount.
 */
export function readValue(text: string, cells: CellOptions): string | undefined {
  const { isNegative, unsigned } = readSign(text);
  const value = readUnsigned(unsigned, cells);
  return isNegative && value !== undefined ? `-${value}` : value;
}

function readUnsigned(trimmed: string, { decimalSeparator, groupSeparator }: CellOptions) {
  if (decimalSeparator === "." && groupSeparator === "") return trimmed;
  const group = groupSeparator === " " ? "[ \u00a0\u202f\u2009]" : groupSeparator && `\\${groupSeparator}`;
  const whole = group ? `\\d{1,3}(?:${group}\\d{3})+|\\d+` : "\\d+";
  const parts = new RegExp(`^(${whole})(?:\\${decimalSeparator}(\\d+))?$`).exec(trimmed);
  // With a decimal comma, the text 10.000 would be checked as ten.
  if (!parts) return isAmount(trimmed) ? undefined : trimmed;
  const digits = parts[1]!.replaceAll(/\D/g, "");
  return parts[2] === undefined ? digits : `${digits}.${parts[2]}`;
}

const clock = "(?:[T ]+(\\d\\d):(\\d\\d)(?::(\\d\\d)(\\.\\d{1,9})?)?)?\\s*(Z|[+-]\\d\\d:?\\d\\d)?$";
const isoForm = new RegExp(`^(\\d{4})-(\\d\\d)-(\\d\\d)${clock}`, "i");
const otherForm = new RegExp(`^(\\d{1,2})[./-](\\d{1,2})[./-](\\d{4})${clock}`, "i");

/**
 * Returns a time in RFC 3339, in the offset of the statement if there is one. Text that does not fit the
 * options is returned unchanged, and is checked later.
 */
export function readTime(text: string, { timeFormat, utcOffset }: CellOptions): string {
  const trimmed = text.trim();
  const parts = (timeFormat === "iso" ? isoForm : otherForm).exec(trimmed);
  if (!parts) return trimmed;
  const [, first, second, third, hour = "00", minute = "00", seconds = "00", fraction = "", offset] =
    parts as string[];
  const date = {
    iso: [first, second, third],
    "day-first": [third, second, first],
    "month-first": [third, first, second],
  };
  const [year, month, day] = date[timeFormat];
  const zone = (offset ?? utcOffset ?? "Z").toUpperCase().replace(/^([+-]\d\d):?(\d\d)$/, "$1:$2");
  const time = `${year}-${month!.padStart(2, "0")}-${day!.padStart(2, "0")}T${hour}:${minute}:${seconds}${fraction}${zone}`;
  return utcOffset === undefined || utcOffset === zone ? time : inOffset(time, utcOffset);
}

/** Returns the same time with another offset. Text that is not a time is returned unchanged. */
function inOffset(time: string, utcOffset: string): string {
  const ms = isDateTime(time) ? Date.parse(time) : NaN;
  if (Number.isNaN(ms)) return time;
  return new Date(ms + offsetMsOf(utcOffset)).toISOString().replace("Z", utcOffset);
}
