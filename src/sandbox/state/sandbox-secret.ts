import { randomBytes } from "node:crypto";

/**
 * A secret or token that everybody can tell for a sandbox's: tillkit refuses the prefix when NODE_ENV is
 * production.
 */
export function sandboxSecret(): string {
  return `sandbox_${randomBytes(24).toString("hex")}`;
}
