import { isDateTime } from "../../shared/date-time.js";
import { optionError } from "./arguments.js";
import { type Arguments } from "./command.js";

/**
 * Returns the time of an option: a time with its offset, or the start of a day at `utcOffset`. Throws
 * `command_option_invalid`.
 */
export function timeOption(args: Arguments, name: string, utcOffset = "Z"): Date | undefined {
  const text = args.get(name);
  if (text === undefined) return undefined;
  // `new Date` accepts "1/5/26", and reads a time without an offset as local time, so `isDateTime` checks the
  // text first.
  const full = /T/i.test(text)
    ? text.replace(/(T\d\d:\d\d)(?=Z|[+-])/i, "$1:00")
    : `${text}T00:00:00${utcOffset}`;
  const time = isDateTime(full) ? new Date(full) : undefined;
  if (time && !Number.isNaN(time.getTime())) return time;
  const day = utcOffset === "Z" ? "UTC day" : "day";
  throw optionError(
    `--${name} must be a ${day} or a time with an offset, such as 2024-05-01 or 2024-05-01T10:00:00Z.`,
  );
}

/** Returns the value of an option that must be given. Throws `command_option_invalid`. */
export function requiredOption(args: Arguments, name: string): string {
  return requiredOptions(args, [name])[name]!;
}

/** Returns the values of required options. Throws `command_option_invalid` with the missing options. */
export function requiredOptions<Name extends string>(
  args: Arguments,
  names: readonly Name[],
): Record<Name, string> {
  const missing = names.filter((name) => args.get(name) === undefined).map((name) => `--${name}`);
  const last = missing.pop();
  if (last !== undefined)
    throw optionError(
      missing.length === 0 ? `${last} is missing.` : `${missing.join(", ")} and ${last} are missing.`,
    );
  return Object.fromEntries(names.map((name) => [name, args.get(name)!])) as Record<Name, string>;
}

/** Returns an option's decimal number. Throws `command_option_invalid` for other text, such as `0x10`. */
export function decimalOption(args: Arguments, name: string): number | undefined {
  const text = args.get(name);
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw optionError(`--${name} must be a number such as 10, and not "${text}".`);
}
