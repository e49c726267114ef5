import { TillkitError } from "../../errors/index.js";

/** The version itself, where this code knows it. */
export function refuseNewer(version: number, known: number): number {
  if (version <= known) return version;
  throw new TillkitError(
    "schema_too_new",
    `The tables have version ${version}; this tillkit knows ${known}.`,
  );
}
