import { quantile, median } from "./statistics.mjs";

/**
 * Compares what was measured with the targets of a suite. A ratio is taken in each round; the median decides, and `low` and
 * `high` are the quartiles. Targets whose contenders did not run are left out.
 */
export function checkTargets(targets, suite, entrants) {
  const roundsOf = new Map(entrants.map(({ name, rounds }) => [name, rounds]));
  return targets.flatMap(({ toEach, ...target }) => {
    if (target.suite !== suite || !roundsOf.has(target.of)) return [];
    const others = (toEach ?? [target.to]).filter((name) => roundsOf.has(name));
    const checks = others.flatMap((to) => compare({ ...target, to }, roundsOf) ?? []);
    if (checks.length === 0) return [];
    // Of several, the one that comes nearest to missing the target.
    const worst = checks.toSorted((a, b) => b.ratio - a.ratio)[0];
    return [toEach ? { ...worst, ofEach: checks.length } : worst];
  });
}

function compare(target, roundsOf) {
  const { key, of, to, atMost, atLeast } = target;
  const others = roundsOf.get(to);
  const ratios = roundsOf
    .get(of)
    .map((round, index) => round[key] / others[index]?.[key])
    .filter(Number.isFinite);
  if (ratios.length === 0) return undefined;
  const ratio = median(ratios);
  const met = atMost === undefined ? ratio >= atLeast : ratio <= atMost;
  return { ...target, ratio, low: quantile(ratios, 0.25), high: quantile(ratios, 0.75), met };
}

/** Returns "met" or "missed", and whether one of the quartiles lies on the other side of the target. */
export function verdict({ met, low, high, atMost = Infinity, atLeast = -Infinity }) {
  const isClear = met ? low >= atLeast && high <= atMost : high < atLeast || low > atMost;
  return `${met ? "met" : "missed"}${isClear ? "" : ", within the noise"}`;
}
