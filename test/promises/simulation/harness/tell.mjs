/** The result as a person reads it. */
export function tell({
  seed,
  orders,
  seconds,
  webhooks,
  lookups,
  ok,
  books,
  completions,
  anomalies,
  problems,
}) {
  const { sent, dropped, doubled, reordered, arrived, forged, outcomes } = webhooks;
  const asked = lookups.rounds.reduce((sum, round) => sum + round.lookups, 0);
  const rows = Object.entries({ "payment.completed (per order)": completions, ...anomalies });
  const lines = [
    `${orders} orders, seed ${seed}, ${seconds} s`,
    "",
    `webhooks    ${sent} sent, ${dropped} dropped, ${doubled} doubled, ${reordered} reordered; ${arrived} arrived, and ${forged} forged`,
    `outcomes    ${Object.entries(outcomes)
      .map(([name, count]) => `${count} ${name}`)
      .join(", ")}`,
    `lookups     ${asked} payments asked about`,
    "",
    row(["", "planned", "told", "missing", "false"]),
    ...rows.map(([name, one]) => row([name, one.planned, one.told, one.missing, one.false])),
    "",
    `books       ${books.equal} of ${books.payments} payments equal the service's, ${books.unequal} do not`,
    ...[...problems, ...books.examples].map((problem) => `            ${problem}`),
    ...rows.flatMap(([name, { examples = [] }]) =>
      examples.map((example) => `            ${name}: ${example}`),
    ),
    ok ? "The books equal the truth, every anomaly was told, and none that is not there." : "NOT EQUAL",
  ];
  return lines.join("\n");
}

function row([name, ...cells]) {
  return name.padEnd(34) + cells.map((cell) => String(cell).padStart(9)).join("");
}
