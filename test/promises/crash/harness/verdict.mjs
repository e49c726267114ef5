const shown = 12;

/** 0: nothing lost, nothing twice, and crashes hit. 1: the promise was broken. 2: nothing was hit, so nothing is shown. */
export function exitCodeOf({ lost, unexpected, duplicated, recovered, nothingIsHit }) {
  if (lost + unexpected + duplicated > 0) return 1;
  return recovered > 0 || nothingIsHit ? 0 : 2;
}

/** What a run showed, for people. */
export function tell(result) {
  const { lost, unexpected, duplicated, recovered, findings, nothingIsHit: _, ...rest } = result;
  const lines = [
    Object.entries(rest)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
    `lost ${lost}, unexpected ${unexpected}, duplicated ${duplicated}, recovered ${recovered}`,
  ];
  for (const [counter, all] of Object.entries(findings)) {
    for (const finding of all.slice(0, shown)) lines.push(`  ${counter}: ${finding}`);
    if (all.length > shown) lines.push(`  ${counter}: and ${all.length - shown} more`);
  }
  const verdicts = {
    0: "Nothing lost, nothing unexpected, nothing twice.",
    1: "The promise was broken.",
    2: "No crash hit anything, so this run proves nothing: take more cycles.",
  };
  lines.push(verdicts[exitCodeOf(result)]);
  return lines.join("\n");
}
