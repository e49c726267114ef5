import { type Logger } from "pino";

const everyMs = 60_000;

/**
 * Returns a function that counts one webhook, by whether its signature matched. It logs the first that did not, and later at most
 * one line in a minute, with the rate: all of them do not match where the secret is wrong, and single ones where they are forged.
 */
export function mismatchLog(
  logger: Logger,
  nowMs: () => number = () => performance.now(),
): (matches: boolean) => void {
  let [countedFrom, loggedAt] = [nowMs(), -Infinity];
  let [received, mismatched] = [0, 0];
  return (matches) => {
    received += 1;
    if (matches) return;
    mismatched += 1;
    const now = nowMs();
    if (now - loggedAt < everyMs) return;
    const seconds = Math.ceil((now - countedFrom) / 1000);
    logger.warn(
      { code: "signature_mismatch", received, mismatched },
      `the signatures of ${mismatched} of ${received} webhooks in the last ${seconds} s do not match; if the service sent them, ` +
        "the secret or the scheme is wrong: keep one in a file, and run: npx tillkit verify",
    );
    [countedFrom, loggedAt, received, mismatched] = [now, now, 0, 0];
  };
}
