import { type FindingKind } from "../finding.js";
import { type Tone } from "./bar.js";

/** Every kind in the order of the report, with its colour: money missing, money changed, money twice, notes. */
export const kindTones: Readonly<Record<FindingKind, Tone>> = {
  missing_here: "loss",
  missing_there: "loss",
  unpaid_here: "loss",
  unpaid_there: "loss",
  amount_differs: "change",
  currency_differs: "change",
  id_differs: "change",
  listed_twice: "twice",
  paid_twice: "twice",
  bad_row: "note",
  at_edge: "note",
};

export const reportKinds = Object.keys(kindTones) as FindingKind[];
