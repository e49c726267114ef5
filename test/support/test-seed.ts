const defaultSeed = 2611;

/**
 * Returns the seed of all random tests. It is constant by default, so that every change is tested with equal cases.
 * TILLKIT_TEST_SEED sets another seed, and its value "random" finds new cases.
 */
export function testSeed(): number {
  const wanted = process.env["TILLKIT_TEST_SEED"];
  if (wanted === undefined || wanted === "") return defaultSeed;
  if (wanted === "random") return Math.floor(Math.random() * 2 ** 31);
  const seed = Number(wanted);
  if (!Number.isSafeInteger(seed)) {
    throw new Error(`TILLKIT_TEST_SEED must be a whole number or "random", not "${wanted}".`);
  }
  return seed;
}
