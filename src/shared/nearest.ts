/** Returns a hint such as ` Did you mean verify?`, or an empty string if no known word is near. */
export function didYouMean(word: string, known: readonly string[], prefix = ""): string {
  const meant = nearest(word, known);
  return meant === undefined ? "" : ` Did you mean ${prefix}${meant}?`;
}

/** Returns the known word that was most likely meant, or `undefined` if none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const maxDistance = Math.max(1, Math.floor(word.length / 3));
  const [best] = known
    .map((one) => ({ one, distance: distanceBetween(word.toLowerCase(), one.toLowerCase()) }))
    .filter(({ one, distance }) => distance <= maxDistance || (word.length >= 3 && one.startsWith(word)))
    .toSorted((a, b) => a.distance - b.distance);
  return best?.one;
}

/**
 * Returns the number of letters to insert, remove, replace or swap with a neighbour, so that `a` becomes `b`.
 */
function distanceBetween(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = previous[j - 1]! + Number(a[i - 1] !== b[j - 1]);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2]! + 1 : Infinity;
      current[j] = Math.min(previous[j]! + 1, current[j - 1]! + 1, replaced, swapped);
    }
    [before, previous] = [previous, current];
  }
  return previous[b.length]!;
}
