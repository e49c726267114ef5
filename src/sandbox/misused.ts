import { TillkitError } from "../errors/index.js";

/** Ends a call that does not fit the sandbox's state. */
export function misused(message: string): never {
  throw new TillkitError("sandbox_misused", message);
}
