import { createHash, randomBytes } from "node:crypto";

/** Where ids, and the choices of a random day, come from. */
export interface Randomness {
  /** So many random bytes, in hexadecimal; asked again while `isTaken` says that somebody has them. */
  hex(bytes: number, isTaken?: (hex: string) => boolean): string;
  /** A number from 0 up to, not including, 1. */
  fraction(): number;
}

/**
 * Repeatable where a seed is given: the same calls give the same answers. Each use has a stream of its own, so that
 * how often a webhook was sent does not change the next payment's id. Secrets and access tokens are never made with it.
 */
export function randomness(seed: string | undefined, use: string): Randomness {
  const bytes = seed === undefined ? randomBytes : seededBytes(`${seed}\n${use}`);
  return {
    hex(count, isTaken = () => false) {
      // A seeded sandbox that takes over its state begins its stream again, and comes so to where it ended.
      for (;;) {
        const hex = bytes(count).toString("hex");
        if (!isTaken(hex)) return hex;
      }
    },
    fraction: () => bytes(6).readUIntBE(0, 6) / 2 ** 48,
  };
}

function seededBytes(seed: string): (count: number) => Buffer {
  let calls = 0;
  return (count) => {
    calls += 1;
    const blocks: Buffer[] = [];
    for (let block = 0; block * 32 < count; block += 1)
      blocks.push(createHash("sha256").update(`${seed}\n${calls}\n${block}`).digest());
    return Buffer.concat(blocks).subarray(0, count);
  };
}
