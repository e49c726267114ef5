import { TillkitError } from "../../errors/index.js";
import { failedWith } from "./file-system.js";

export function spoolFull(maxBytes: number): TillkitError {
  return new TillkitError("spool_full", `The spool holds its ${maxBytes} bytes; it takes no more.`);
}

export function spoolClosed(): TillkitError {
  return new TillkitError("spool_unavailable", "The spool was closed.");
}

/** What a failed write or read of the spool's files becomes. */
export function spoolFailure(cause: unknown, directory: string): TillkitError {
  return failedWith(cause, "ENOSPC", "EDQUOT")
    ? new TillkitError("spool_full", `The disk of the spool is full: ${directory}.`, { cause })
    : new TillkitError("spool_unavailable", `The spool cannot be used: ${directory}.`, { cause });
}
