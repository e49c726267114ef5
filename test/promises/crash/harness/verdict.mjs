const maxShown = 12;

/** Returns 0 where nothing was lost or duplicated and crashes hit, 1 where the promise was broken, 2 where no crash hit anything. */
export function exitCodeOf({ lost, unexpected, duplicated, recovered, nothingIsHit }) {
  if (lost + unexpected + duplicated > 0) return 1;
  return recovered > 0 || nothingIsHit ? 0 : 2;
}

/** Returns the result of a run as a text for people. */
export function describeResult(result) {
  const { lost, unexpected, duplicated, recovered, findings, nothingIsHit: _, ...rest } = result;
  const lines = [
    Object.entries(rest)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
    `lost ${lost}, unexpected ${unexpected}, duplicated ${duplicated}, recovered ${recovered}`,
  ];
  for (const [counter, all] of Object.entries(findings)) {
    for (const finding of all.slice(0, maxShown)) lines.push(`  ${counter}: ${finding}`);
    if (all.length > maxShown) lines.push(`  ${counter}: and ${all.length - maxShown} more`);
  }
  const verdicts = {
    0: "Nothing was lost, unexpected or duplicated.",
    1: "The promise was broken.",
    2: "No crash hit anything, so this run proves nothing: use more cycles.",
  };
  lines.push(verdicts[exitCodeOf(result)]);
  return lines.join("\n");
}
