import { maxCounted } from "../../../model/attention.js";
import { type CountsOptions, type StoreCounts } from "../../contract.js";
import { needs, needsIn } from "../../rules/needs.js";
import { type KeyedRecords } from "../records/keyed-records.js";
import { keyOf, rangeOf } from "../records/keys.js";

/** Counts what a person has to see. */
export async function countNeeds(
  records: KeyedRecords,
  { before = {} }: CountsOptions = {},
): Promise<Pick<StoreCounts, "needs">> {
  const counting = needs.map(async (need) => {
    const to = before[need] === undefined ? {} : { to: keyOf("needs", need, before[need]) };
    return [need, (await records.scan(rangeOf(["needs", need], maxCounted, to))).length] as const;
  });
  return needsIn(await Promise.all(counting));
}
