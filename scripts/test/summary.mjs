/** Prints the results, what was left out, and the totals. Returns the exit code. */
export function summary(results, leftOut) {
  console.log(`\n── Summary ${"─".repeat(69)}\n`);
  const width = Math.max(...results.map(({ name }) => name.length));
  for (const { name, passed, seconds, totals } of results) {
    const counts = totals.passed + totals.failed > 1 ? `  ${worded(totals)}` : "";
    console.log(`${passed ? "✓" : "✗"} ${name.padEnd(width)} ${seconds.toFixed(1).padStart(7)} s${counts}`);
  }
  const unique = [...new Set(leftOut)];
  console.log(unique.length === 0 ? "\nNothing was left out." : "\nLeft out:");
  for (const what of unique) console.log(`  - ${what}`);

  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const { totals } of results) for (const key of Object.keys(sum)) sum[key] += totals[key];
  console.log(`\n${worded(sum)}`);
  return sum.failed === 0 ? 0 : 1;
}

function worded({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
