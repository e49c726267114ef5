import { ConfigurationError, type ConfigurationProblem } from "../errors/index.js";
import { nearest } from "./nearest.js";

/** The names of an object's members, as a record so that the compiler finds one that is missing. */
export type NamesOf<T> = Readonly<Record<keyof T, unknown>>;

/** Returns the names in the object that are not known, each with the end of a sentence about it. */
export function unknownNames(given: unknown, known: object): { name: string; message: string }[] {
  if (typeof given !== "object" || given === null) return [];
  const names = Object.keys(known);
  return Object.keys(given)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => ({ name, message: `is not known. ${suggestion(name, names)}` }));
}

/**
 * Throws unless options were given: JavaScript accepts a text where an object is expected.
 *
 * @throws ConfigurationError `option_invalid`
 */
export function requireOptions(option: string, given: unknown, example: string): void {
  if (typeof given !== "object" || given === null)
    throw optionInvalid(option, `must be an object of options, such as ${example}.`);
}

/** Returns the error for an option that cannot be used, for a forgotten argument, or for one of another kind. */
export function optionInvalid(option: string, message: string): ConfigurationError {
  return new ConfigurationError([{ code: "option_invalid", option, message }]);
}

/** Returns a problem for each option that is not known. */
export function unknownOptions(path: string, given: unknown, known: object): ConfigurationProblem[] {
  return unknownNames(given, known).map(({ name, message }) => ({
    code: "option_invalid",
    option: path + name,
    message,
  }));
}

/**
 * Returns a problem for each unknown name that is near to one of `missing`: the others may be the caller's own, or are refused
 * elsewhere.
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

/** Returns the first unknown name as a sentence, or `undefined` if all are known. */
export function describeUnknown(given: unknown, known: object): string | undefined {
  const [first] = unknownNames(given, known);
  return first && `"${first.name}" ${first.message}`;
}

/** Returns the name that was probably meant, or else all of them, as a sentence. */
export function suggestion(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  return meant === undefined ? `The names are ${names.join(", ")}.` : `Did you mean ${meant}?`;
}
