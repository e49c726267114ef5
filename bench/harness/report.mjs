import os from "node:os";

/** The results as a page of Markdown. */
export function markdown({ suites, machine, seconds, rounds }) {
  const lines = [
    "# What a webhook costs",
    "",
    `Measured on ${machine.cpus} × ${machine.model}, Node ${machine.node}, ${machine.date}; load generator and server ` +
      "in processes of their own.",
    `${rounds} rounds of about ${seconds} s each, the contenders of a table in turn; medians, and behind ± the noise: half ` +
      "the distance between the quartiles. CPU is what the server's process used, in microseconds of one core per webhook; " +
      "× is the ratio to the contender in bold, taken round by round.",
    "",
  ];
  for (const suite of suites) {
    const hasDatabase = suite.results.some(({ databaseCpuUs }) => databaseCpuUs !== undefined);
    lines.push(`## ${suite.title}`, "", suite.says, "", `![${suite.title}](${suite.name}.svg)`, "");
    const heads = ["", "CPU µs", "±", "× CPU", "webhooks/s", "±", "× rate", "p50 ms", "p99 ms", "× p50"];
    if (hasDatabase) heads.push("database CPU µs", "× database CPU");
    lines.push(
      `| ${heads.join(" | ")} |`,
      `|---|${heads
        .slice(1)
        .map(() => "---:")
        .join("|")}|`,
    );
    for (const one of suite.results) {
      const name = one.name === suite.reference ? `**${one.name}**` : one.name;
      const cells = [
        name,
        one.cpuUs.toFixed(0),
        percent(one.cpuSpread),
        times(one.ratio.cpuUs),
        Math.round(one.perSecond),
        percent(one.perSecondSpread),
        times(one.ratio.perSecond),
        one.p50Ms.toFixed(2),
        one.p99Ms.toFixed(2),
        times(one.ratio.p50Ms),
      ];
      if (hasDatabase) cells.push(one.databaseCpuUs?.toFixed(0) ?? "", times(one.ratio.databaseCpuUs));
      lines.push(`| ${cells.join(" | ")} |`);
    }
    lines.push("");
    const kept = suite.results.filter(({ completed }) => completed !== undefined);
    if (kept.length > 0)
      lines.push(
        "Every webhook that was acknowledged was found on record afterwards: " +
          `${kept.map(({ name, completed }) => `${name} ${completed}`).join(", ")}.`,
        "",
      );
  }
  return lines.join("\n");
}

export function thisMachine() {
  const [cpu] = os.cpus();
  return {
    cpus: os.cpus().length,
    model: cpu?.model.trim() ?? "unknown processor",
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
  };
}

/** The gist of a suite, for a terminal. */
export function plain(suite) {
  const width = Math.max(...suite.results.map(({ name }) => name.length));
  const rows = suite.results.map(
    (one) =>
      `  ${one.name.padEnd(width)} ${one.cpuUs.toFixed(0).padStart(6)} µs ±${percent(one.cpuSpread).padEnd(4)}` +
      `${times(one.ratio.cpuUs).padStart(6)} ${String(Math.round(one.perSecond)).padStart(7)}/s` +
      `${times(one.ratio.perSecond).padStart(6)}  p50 ${one.p50Ms.toFixed(2)} ms${times(one.ratio.p50Ms).padStart(6)}` +
      (one.databaseCpuUs === undefined ? "" : `  database ${one.databaseCpuUs.toFixed(0)} µs`),
  );
  return [suite.title, ...rows, ""].join("\n");
}

function percent(share) {
  return Number.isFinite(share) ? `${(share * 100).toFixed(0)} %` : "";
}

function times(ratio) {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : "";
}
