import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { failedWith } from "./file-system.js";

/** How every segment's name ends. */
export const segmentEnding = ".spool";

const form = /^([0-9a-f]{12})-(\d{1,10})-[0-9a-f]{16}-\d{8}\.spool$/;

/**
 * `<host>-<pid>-<random>-<number>.spool`. The random part is the spool's own, so that no name is ever used twice;
 * the number puts the segments of one spool in order.
 */
export function segmentName(random: string, number: number): string {
  return `${hostId()}-${process.pid}-${random}-${String(number).padStart(8, "0")}${segmentEnding}`;
}

/** Whether the segment's process is known to be gone. False where it is not known: the heartbeat decides then. */
export function isOwnerGone(name: string): boolean {
  const [, host, pid] = form.exec(name) ?? [];
  if (host !== hostId()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    // EPERM: it lives, under another user.
    return failedWith(error, "ESRCH");
  }
}

let known: string | undefined;

/** Where a process number means something: one boot of one machine, and one container of it. */
function hostId(): string {
  known ??= createHash("sha256")
    .update(
      JSON.stringify([
        hostname(),
        orNothing(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
        orNothing(() => readlinkSync("/proc/self/ns/pid")),
      ]),
    )
    .digest("hex")
    .slice(0, 12);
  return known;
}

/** Only Linux has these files; elsewhere the host's name must do. */
function orNothing(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
