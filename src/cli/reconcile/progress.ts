import { type StatementProgress } from "../../statement/index.js";
import { type Output } from "../terminal/output.js";
import { type CountedBytes } from "./read-bytes.js";
import { grouped } from "./tell-summary.js";

const barWidth = 24;
const drawEveryMs = 100;

/** Draws how far a run is: a bar over the bytes of the file, then counts of what is read after it. */
export function progressBar(
  output: Output,
  { total, read }: CountedBytes,
): (progress: StatementProgress) => void {
  let drawnAt = -Infinity;
  let phaseBefore = "";
  return ({ phase, rows, payments }) => {
    const now = performance.now();
    if (phase === phaseBefore && now - drawnAt < drawEveryMs) return;
    drawnAt = now;
    phaseBefore = phase;
    if (phase === "books") output.draw(`${bar(1)} reading the books: ${grouped(payments)} payments`);
    else if (phase === "sides") output.draw(`${bar(1)} putting both sides together`);
    else if (total === undefined) output.draw(`${grouped(rows)} rows, ${megabytes(read())}`);
    else {
      const share = total === 0 ? 1 : Math.min(1, read() / total);
      const percent = `${Math.floor(100 * share)}%`.padStart(4);
      output.draw(
        `${bar(share)}${percent}  ${megabytes(read())} of ${megabytes(total)}, ${grouped(rows)} rows`,
      );
    }
  };
}

function bar(share: number): string {
  return `[${"#".repeat(Math.floor(barWidth * share)).padEnd(barWidth)}]`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
