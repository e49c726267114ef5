import { type Finding } from "../terminal/finding.js";
import { found } from "./findings.js";
import { isAnswer, type Reply } from "./probe/send.js";

/** A `Date` header has whole seconds, and a slow answer some more; what is farther off is no accident. */
const mostMs = 60_000;

/** Whether the app's clock goes with this machine's, by the `Date` of its answer. */
export function checkClock(reply: Reply): Finding[] {
  if (!isAnswer(reply)) return [];
  const told = Date.parse(reply.headers.date ?? "");
  if (Number.isNaN(told) || Math.abs(told - reply.atMs) <= mostMs) return [];
  return [found("clock_off", `The app's clock is ${apart(told - reply.atMs)} this machine's.`)];
}

/** How far one clock is from another: `3 min behind`. */
export function apart(differenceMs: number): string {
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  const amount = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `${amount} ${differenceMs < 0 ? "behind" : "ahead of"}`;
}
