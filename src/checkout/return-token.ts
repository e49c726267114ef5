import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type Payment } from "../model/payment.js";

/** The number of days for which a return address is valid. */
export const returnTokenDays = 30;

/**
 * Returns the last part of a new return address, and the hash that is stored. The token contains the clientId
 * and 128 random bits. The store keeps only the hash of these bits, so there is no key to rotate. `~` needs
 * no escaping in an address and cannot occur in a clientId.
 */
export function makeReturnToken(clientId: string): { token: string; hash: string } {
  const key = randomBytes(16).toString("base64url");
  return { token: `${clientId}~${key}`, hash: hashOf(key) };
}

const pattern = /^([A-Za-z0-9._:-]{1,64})~([A-Za-z0-9_-]{22})$/;

/** Returns the two parts of a token, or `undefined` for a string that is not a token. */
export function readReturnToken(token: string): { clientId: string; hash: string } | undefined {
  const match = pattern.exec(token);
  return match ? { clientId: match[1]!, hash: hashOf(match[2]!) } : undefined;
}

/** Returns whether the payment has a valid token with this hash. Compares in constant time. */
export function isReturnTokenOf(payment: Payment, hash: string, now: Date): boolean {
  const kept = Buffer.from(payment.returnKeyHash ?? "");
  const given = Buffer.from(hash);
  if (kept.length !== given.length || !timingSafeEqual(kept, given)) return false;
  return now.getTime() - Date.parse(payment.createdAt) < returnTokenDays * 24 * 60 * 60 * 1000;
}

function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
