import { hash, randomBytes } from "node:crypto";

/** The source of ids and of the draws of the scenario `random`. */
export type Random = ReturnType<typeof createRandom>;

/**
 * Returns a source of random values, which a seed makes repeatable. Each use has its own sequence, so that
 * the attempts for a webhook do not change the id of the next payment. Secrets and access tokens never come
 * from this source.
 */
export function createRandom(seed: string | undefined, use: string) {
  const bytes = seed === undefined ? randomBytes : seededBytes(`${seed}\n${use}`);
  return {
    /** Returns this number of random bytes in hexadecimal, and draws again while `isTaken` returns true. */
    hex(count: number, isTaken: (hex: string) => boolean = () => false): string {
      // After a restart, a seed repeats the same sequence, so the values in use are skipped.
      for (;;) {
        const hex = bytes(count).toString("hex");
        if (!isTaken(hex)) return hex;
      }
    },
    /** Returns a number from 0 up to, but not including, 1. */
    fraction: (): number => bytes(6).readUIntBE(0, 6) / 2 ** 48,
  };
}

function seededBytes(seed: string): (count: number) => Buffer {
  let calls = 0;
  return (count) => {
    calls += 1;
    const blocks: Buffer[] = [];
    for (let block = 0; block * 32 < count; block += 1)
      blocks.push(hash("sha256", `${seed}\n${calls}\n${block}`, "buffer"));
    return Buffer.concat(blocks).subarray(0, count);
  };
}

/** Returns a new secret or access token. In production, the kit refuses the prefix `sandbox_`. */
export function createSandboxSecret(): string {
  return `sandbox_${randomBytes(24).toString("hex")}`;
}
