import os from "node:os";
import { verdict } from "./check-targets.mjs";

/** Returns the results as a page of Markdown. */
export function markdown({ suites, machine, seconds, rounds, ...run }) {
  const lines = [
    "# What a webhook costs",
    "",
    `Measured on ${machine.cpus} × ${machine.model}, Node ${machine.node}, ${machine.date}; load generator and server ` +
      "in separate processes." +
      loadOf(machine),
    `${rounds} rounds of about ${seconds} s each, after a start that is not counted; each round runs every contender of a table. ` +
      "Figures are medians; ± is the noise, half of the distance between the quartiles. CPU is what the server's process used, " +
      "in microseconds of one core per webhook or order; × is the ratio to the contender in bold, taken round by round.",
    "",
    ...(seconds < 0.5
      ? [
          "Rounds as short as these measure the compiler, too, and most of all where there is most code. They decide about no target.",
          "",
        ]
      : []),
    ...proofOf(run),
    ...(run.leftOut ?? []).flatMap((line) => [line, ""]),
    ...allTargets(suites),
  ];
  for (const suite of suites) {
    const hasDatabase = suite.results.some(({ databaseCpuUs }) => databaseCpuUs !== undefined);
    lines.push(`## ${suite.title}`, "", suite.says, "", `![${suite.title}](${suite.name}.svg)`, "");
    const heads = ["", "CPU µs", "±", "× CPU", `${suite.unit}/s`, "±", "× rate", "p50 ms", "p99 ms", "× p50"];
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
    lines.push(...targetsOf(suite.checks));
    const kept = suite.results.filter(({ completed }) => completed !== undefined);
    if (kept.length > 0)
      lines.push(
        "Every forged webhook was refused, and every acknowledged webhook was found on record afterwards: " +
          `${kept.map(({ name, completed }) => `${name} ${completed}`).join(", ")}.`,
        "",
      );
  }
  return lines.join("\n");
}

/** Returns the load of the machine, which shows other work: a run alone on two cores ends at a load of 2. */
function loadOf({ load, loadBefore }) {
  if (load === undefined || loadBefore === undefined) return "";
  return ` Load of the machine before the run: ${loadBefore.toFixed(1)}, and after it: ${load.toFixed(1)}.`;
}

/** Returns which build was measured, and what the crash harness found. */
function proofOf({ build, commit, clean, proofs = [], tookSeconds }) {
  if (build === undefined) return [];
  const of = commit === undefined ? "" : `, commit ${commit}${clean ? "" : " with changes"}`;
  const lines = [
    `Build ${build}${of}: compiled again from the sources before the run and after it, and compared file by file. ` +
      `The whole run took ${tookSeconds} s.`,
    "",
  ];
  if (proofs.length === 0) return lines;
  return [
    ...lines,
    "## The guarantees, on this build",
    "",
    "Shops with this build were killed with SIGKILL while they worked. Then what was answered 200 was compared with what is on " +
      "record and with what the handlers did.",
    "",
    "| Store | Kills | Acknowledged | Recovered after a kill | Lost | Unexpected | Twice |",
    "|---|---:|---:|---:|---:|---:|---:|",
    ...proofs.map(
      (one) =>
        `| ${one.store} | ${one.kills} | ${one.acknowledged} | ${one.recovered} | ${one.lost} | ${one.unexpected} | ${one.duplicated} |`,
    ),
    "",
    "For each contender below that is tillkit: a forged webhook was refused, a webhook that was sent 32 times over eight " +
      "connections became one event with 31 copies, and every acknowledged webhook was on record at the end.",
    "",
  ];
}

function allTargets(suites) {
  const all = suites.flatMap(({ name, checks = [] }) => checks.map((one) => ({ ...one, where: name })));
  if (all.length === 0) return [];
  const met = all.filter((one) => one.met).length;
  return [
    "## Targets",
    "",
    `${met} of ${all.length} targets are met by the median of their ratios.`,
    "",
    ...targetTable(all),
  ];
}

function targetsOf(checks = []) {
  return checks.length === 0
    ? []
    : ["Targets, compared round by round:", "", ...checks.map((one) => `- ${sentence(one)}`), ""];
}

function targetTable(checks) {
  return [
    "| Suite | What | Ratio | Quartiles | Target | |",
    "|---|---|---:|---:|---:|---|",
    ...checks.map(
      (one) =>
        `| ${one.where} | ${whatOf(one)} | ${times(one.ratio)} | ${times(one.low)} to ${times(one.high)} | ` +
        `${targetOf(one)} | ${one.met ? verdict(one) : `**${verdict(one)}**`} |`,
    ),
    "",
  ];
}

function sentence(one) {
  return `${whatOf(one)}: ${times(one.ratio)} (${times(one.low)} to ${times(one.high)}), target ${targetOf(one)}: ${verdict(one)}`;
}

function whatOf({ what, of, to, ofEach }) {
  const worst = ofEach === undefined ? "" : `, the cheapest of ${ofEach} peers on Express`;
  return `${what} of ${of}, to ${to}${worst}`;
}

function targetOf({ atMost, atLeast }) {
  return atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`;
}

export function thisMachine() {
  const [cpu] = os.cpus();
  return {
    cpus: os.cpus().length,
    model: cpu?.model.trim() ?? "unknown processor",
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
    load: os.loadavg()[0],
  };
}

/** Returns the short form of a suite's results, for a terminal. */
export function plain(suite) {
  const width = Math.max(...suite.results.map(({ name }) => name.length));
  const rows = suite.results.map(
    (one) =>
      `  ${one.name.padEnd(width)} ${one.cpuUs.toFixed(0).padStart(6)} µs ±${percent(one.cpuSpread).padEnd(4)}` +
      `${times(one.ratio.cpuUs).padStart(6)} ${String(Math.round(one.perSecond)).padStart(7)}/s` +
      `${times(one.ratio.perSecond).padStart(6)}  p50 ${one.p50Ms.toFixed(2)} ms${times(one.ratio.p50Ms).padStart(6)}` +
      (one.databaseCpuUs === undefined ? "" : `  database ${one.databaseCpuUs.toFixed(0)} µs`),
  );
  const checks = (suite.checks ?? []).map((one) => `  ${sentence(one)}`);
  return [suite.title, ...rows, ...checks, ...againstOf(suite), ""].join("\n");
}

/** Returns the table of a suite that was measured with two builds: this one, the other one, and the ratio of this one to it. */
function againstOf({ results, unit }) {
  const pairs = results.filter(({ newer }) => newer !== undefined);
  if (pairs.length === 0) return [];
  const keys = ["cpuUs", "perSecond", "p50Ms", "databaseCpuUs"];
  const heads = ["CPU µs", `${unit}/s`, "p50 ms", "database CPU µs"].flatMap((head) => [head, "other", "×"]);
  const digits = (key) => (key === "p50Ms" ? 2 : 0);
  const rows = pairs.map(({ name, newer, ...other }) => [
    name,
    ...keys.flatMap((key) => [
      newer[key]?.toFixed(digits(key)) ?? "",
      other[key]?.toFixed(digits(key)) ?? "",
      times(newer.ratio[key]),
    ]),
  ]);
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [
    "",
    line(["This build, the other", ...heads]),
    line(["---", ...heads.map(() => "---:")]),
    ...rows.map(line),
  ];
}

function percent(share) {
  return Number.isFinite(share) ? `${(share * 100).toFixed(0)} %` : "";
}

function times(ratio) {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : "";
}
