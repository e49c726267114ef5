const ordinary = 2611;

/**
 * What every test that plays with chance starts from. Ordinarily the same number, so that a change is judged by the
 * same cases as the change before it; TILLKIT_TEST_SEED names another one, and "random" looks for new cases.
 */
export function testSeed(): number {
  const wanted = process.env["TILLKIT_TEST_SEED"];
  if (wanted === undefined || wanted === "") return ordinary;
  if (wanted === "random") return Math.floor(Math.random() * 2 ** 31);
  const seed = Number(wanted);
  if (!Number.isSafeInteger(seed)) {
    throw new Error(`TILLKIT_TEST_SEED must be a whole number or "random", not "${wanted}".`);
  }
  return seed;
}
