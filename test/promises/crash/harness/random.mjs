/** A small seeded generator (mulberry32). Equal seeds give equal plans. */
export function randomFrom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count) => Math.floor(next() * count);
  return {
    below,
    /** Returns a whole number from `least` to `most`, both included. */
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)],
    shuffle(list) {
      for (let last = list.length - 1; last > 0; last--) {
        const other = below(last + 1);
        [list[last], list[other]] = [list[other], list[last]];
      }
      return list;
    },
  };
}
