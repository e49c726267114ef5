/** Returns the result as a text for people. */
export function describeResult({
  seed,
  orders,
  seconds,
  webhooks,
  lookups,
  ok,
  stored,
  completions,
  anomalies,
  problems,
}) {
  const { sent, dropped, doubled, reordered, arrived, forged, lost, outcomes } = webhooks;
  const asked = lookups.rounds.reduce((sum, round) => sum + round.lookups, 0);
  const rows = Object.entries({ "payment.completed (per order)": completions, ...anomalies });
  const lines = [
    `${orders} orders, seed ${seed}, ${seconds} s`,
    "",
    `webhooks    ${sent} sent, ${dropped} dropped, ${doubled} doubled, ${reordered} reordered; ${arrived} arrived, and ${forged} forged`,
    `older copy  ${lost} of them are not in the backup that is restored`,
    `outcomes    ${Object.entries(outcomes)
      .map(([name, count]) => `${count} ${name}`)
      .join(", ")}`,
    `lookups     ${asked} payments looked up`,
    "",
    row(["", "planned", "raised", "missing", "false"]),
    ...rows.map(([name, one]) => row([name, one.planned, one.raised, one.missing, one.false])),
    "",
    `stored      ${stored.equal} of ${stored.payments} payments equal the service's, ${stored.unequal} do not`,
    ...[...problems, ...stored.examples].map((problem) => `            ${problem}`),
    ...rows.flatMap(([name, { examples = [] }]) =>
      examples.map((example) => `            ${name}: ${example}`),
    ),
    ok
      ? "The stored payments equal the service's, and exactly the planned anomalies were raised."
      : "NOT EQUAL",
  ];
  return lines.join("\n");
}

function row([name, ...cells]) {
  return name.padEnd(34) + cells.map((cell) => String(cell).padStart(9)).join("");
}
