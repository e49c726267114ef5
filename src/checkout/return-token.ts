import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type Payment } from "../model/payment.js";

/** How long a return address is good for. */
export const returnTokenDays = 30;

/**
 * The last part of a return address: it names the payment, and carries 128 random bits of which only a hash is
 * kept. There is no key to rotate. `~` needs no escaping in an address and cannot occur in a clientId.
 */
export function makeReturnToken(clientId: string): { token: string; hash: string } {
  const key = randomBytes(16).toString("base64url");
  return { token: `${clientId}~${key}`, hash: hashOf(key) };
}

const pattern = /^([A-Za-z0-9._:-]{1,64})~([A-Za-z0-9_-]{22})$/;

/** The two parts of a token, or `undefined` for anything that was never one. */
export function readReturnToken(token: string): { clientId: string; hash: string } | undefined {
  const match = pattern.exec(token);
  return match ? { clientId: match[1]!, hash: hashOf(match[2]!) } : undefined;
}

/** Whether the hash is that of the payment's own token, compared in constant time, and the token still good. */
export function isReturnTokenOf(payment: Payment, hash: string, now: Date): boolean {
  const kept = Buffer.from(payment.returnKeyHash ?? "");
  const given = Buffer.from(hash);
  if (kept.length !== given.length || !timingSafeEqual(kept, given)) return false;
  return now.getTime() - Date.parse(payment.createdAt) < returnTokenDays * 24 * 60 * 60 * 1000;
}

function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
