import { ConfigurationError, type ConfigurationProblem } from "../errors/index.js";
import { nearest } from "./nearest.js";

/** The names of an object's members, as a record, so that the compiler reports a missing name. */
export type NamesOf<T> = Readonly<Record<keyof T, unknown>>;

/** Returns the unknown names in the object, each with the end of a sentence about it. */
export function unknownNames(given: unknown, known: object): { name: string; message: string }[] {
  if (typeof given !== "object" || given === null) return [];
  const names = Object.keys(known);
  return Object.keys(given)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => ({ name, message: `is not known. ${suggestion(name, names)}` }));
}

/**
 * Throws if `given` is not an object, because JavaScript accepts a string as options.
 *
 * @throws ConfigurationError `option_invalid`
 */
export function requireOptions(option: string, given: unknown, example: string): void {
  if (typeof given !== "object" || given === null)
    throw optionInvalid(option, `must be an object of options, such as ${example}.`);
}

/** Returns the error for an option that cannot be used, and for an argument that is missing or wrong. */
export function optionInvalid(option: string, message: string): ConfigurationError {
  return new ConfigurationError([{ code: "option_invalid", option, message }]);
}

/** Returns a problem for each unknown option. */
export function unknownOptions(path: string, given: unknown, known: object): ConfigurationProblem[] {
  return unknownNames(given, known).map(({ name, message }) => ({
    code: "option_invalid",
    option: path + name,
    message,
  }));
}

/**
 * Returns a problem for each unknown name that is similar to one of `missing`. Other unknown names may be the
 * caller's own, or are refused in another place.
 */
export function misspeltOptions(
  path: string,
  given: object,
  known: object,
  missing = Object.keys(known),
): ConfigurationProblem[] {
  return Object.keys(given).flatMap((option): ConfigurationProblem[] => {
    const meant = Object.hasOwn(known, option) ? undefined : nearest(option, missing);
    const message = `is not known. Did you mean ${meant}?`;
    return meant === undefined ? [] : [{ code: "option_invalid", option: path + option, message }];
  });
}

/** Returns a sentence about the first unknown name, or `undefined` if all are known. */
export function describeUnknown(given: unknown, known: object): string | undefined {
  const [first] = unknownNames(given, known);
  return first && `"${first.name}" ${first.message}`;
}

/** Returns a sentence with the name that was probably meant, or with all names. Empty without names. */
export function suggestion(name: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const meant = nearest(name, names);
  return meant === undefined ? `The names are ${names.join(", ")}.` : `Did you mean ${meant}?`;
}
