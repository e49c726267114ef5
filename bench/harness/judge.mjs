import { quantile, median } from "./statistics.mjs";

/**
 * The targets of a suite beside what was measured, the ratios taken round by round. `low` and `high` are the quartiles
 * between which they lie; a target is met by the median. Those whose contenders did not run are left out.
 */
export function judge(targets, suite, entrants) {
  const roundsOf = new Map(entrants.map(({ name, rounds }) => [name, rounds]));
  return targets.flatMap(({ toEach, ...target }) => {
    if (target.suite !== suite || !roundsOf.has(target.of)) return [];
    const others = (toEach ?? [target.to]).filter((name) => roundsOf.has(name));
    const judged = others.flatMap((to) => compare({ ...target, to }, roundsOf) ?? []);
    if (judged.length === 0) return [];
    // Of several, the one that comes nearest to breaking it.
    const worst = judged.toSorted((a, b) => b.ratio - a.ratio)[0];
    return [toEach ? { ...worst, ofEach: judged.length } : worst];
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

/** For people; also whether the quartiles lie on the same side of the target. */
export function verdict({ met, low, high, atMost = Infinity, atLeast = -Infinity }) {
  const isClear = met ? low >= atLeast && high <= atMost : high < atLeast || low > atMost;
  return `${met ? "met" : "missed"}${isClear ? "" : ", within the noise"}`;
}
