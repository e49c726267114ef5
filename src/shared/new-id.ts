import { randomFillSync } from "node:crypto";

/**
 * Returns a UUID of version 7 (RFC 9562, section 5.7): the time in milliseconds, then 74 random bits. Ids of
 * about the same time are neighbours in an index, so a commit writes fewer pages than with random ids; see
 * "Ids" in bench/README.md.
 */
export function newId(): string {
  const now = Date.now();
  if (now !== writtenAt) writeTime(now);
  if (used === random.length) fillRandom();
  // This digit is the variant, in which two bits are fixed.
  text[19] = digits[8 + (random[used++]! & 3)]!;
  for (const place of randomPlaces) text[place] = digits[random[used++]! & 15]!;
  // The result is one flat string. A concatenated string would keep all its parts, which costs memory.
  return text.toString("latin1");
}

const digits = Buffer.from("0123456789abcdef", "latin1");
const text = Buffer.from("00000000-0000-7000-8000-000000000000", "latin1");
const timePlaces = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12];
const randomPlaces = [15, 16, 17, 20, 21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35];

/** Random bytes for a hundred ids. A call of `randomFillSync` for each id would be slow. */
const random = Buffer.alloc(100 * (1 + randomPlaces.length));
let used = random.length;
let writtenAt = -1;

function fillRandom(): void {
  randomFillSync(random);
  used = 0;
}

/** Writes the time into the id. Called once for all ids of one millisecond. */
function writeTime(milliseconds: number): void {
  const time = milliseconds.toString(16).padStart(timePlaces.length, "0");
  for (const [at, place] of timePlaces.entries()) text[place] = time.charCodeAt(at);
  writtenAt = milliseconds;
}
