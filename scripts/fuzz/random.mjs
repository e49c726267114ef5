/** A small seeded generator (mulberry32). It is seeded for each case, so that every case can be repeated alone. */
export class Random {
  #state = 0;

  /** Seeds the generator. Two cases of one seed never start with the same state, because the mixing (of murmur3) is one to one. */
  start(seed, number) {
    let mixed = (seed + number) >>> 0;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    this.#state = (mixed ^ (mixed >>> 16)) >>> 0;
  }

  /** Returns a whole number from 0 to `count - 1`. */
  below(count) {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * count);
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  chance(oneIn) {
    return this.below(oneIn) === 0;
  }
}
