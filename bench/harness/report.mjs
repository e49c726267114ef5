import os from "node:os";
import { verdict } from "./judge.mjs";

/** The results as a page of Markdown. */
export function markdown({ suites, machine, seconds, rounds, ...run }) {
  const lines = [
    "# What a webhook costs",
    "",
    `Measured on ${machine.cpus} × ${machine.model}, Node ${machine.node}, ${machine.date}; load generator and server ` +
      "in processes of their own." +
      loadOf(machine),
    `${rounds} rounds of about ${seconds} s each, behind a start that is not counted, the contenders of a table in turn; medians, and behind ± the noise: half ` +
      "the distance between the quartiles. CPU is what the server's process used, in microseconds of one core per webhook; " +
      "× is the ratio to the contender in bold, taken round by round.",
    "",
    ...(seconds < 0.5
      ? [
          "Rounds this short measure the compiler too, most where there is most code: no target is judged by them.",
          "",
        ]
      : []),
    ...proofOf(run),
    ...(run.leftOut ?? []).flatMap((line) => [line, ""]),
    ...allJudged(suites),
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
    lines.push(...judgedOf(suite.judged));
    const kept = suite.results.filter(({ completed }) => completed !== undefined);
    if (kept.length > 0)
      lines.push(
        "Every forged webhook was refused, and every webhook that was acknowledged was found on record afterwards: " +
          `${kept.map(({ name, completed }) => `${name} ${completed}`).join(", ")}.`,
        "",
      );
  }
  return lines.join("\n");
}

/** What else the machine did: a run alone on two cores ends at a load of 2. */
function loadOf({ load, loadBefore }) {
  if (load === undefined || loadBefore === undefined) return "";
  return ` Load of the machine when it began ${loadBefore.toFixed(1)}, and when it ended ${load.toFixed(1)}.`;
}

/** Which build this is of, and what was shown of it. */
function proofOf({ build, commit, clean, proofs = [], tookSeconds }) {
  if (build === undefined) return [];
  const of = commit === undefined ? "" : `, commit ${commit}${clean ? "" : " with changes"}`;
  const lines = [
    `Build ${build}${of}: compiled again from the sources before the run and compared file by file, and the same at its end. ` +
      `The whole run took ${tookSeconds} s.`,
    "",
  ];
  if (proofs.length === 0) return lines;
  return [
    ...lines,
    "## The guarantees, on this build",
    "",
    "Shops of this build killed with SIGKILL in the middle of their work; then what was answered 200 was compared with what is " +
      "on record and with what the handlers did.",
    "",
    "| Store | Kills | Acknowledged | Recovered after a kill | Lost | Unexpected | Twice |",
    "|---|---:|---:|---:|---:|---:|---:|",
    ...proofs.map(
      (one) =>
        `| ${one.store} | ${one.kills} | ${one.acknowledged} | ${one.recovered} | ${one.lost} | ${one.unexpected} | ${one.duplicated} |`,
    ),
    "",
    "And of each contender below that is tillkit: a webhook that was forged was refused, one that was sent 32 times over eight " +
      "connections became one event with 31 copies, and what was acknowledged was counted on record at the end.",
    "",
  ];
}

function allJudged(suites) {
  const all = suites.flatMap(({ judged = [] }) => judged);
  if (all.length === 0) return [];
  const met = all.filter((one) => one.met).length;
  return [
    "## Judged",
    "",
    `${met} of ${all.length} targets are met by the median of their ratios.`,
    "",
    ...judgedTable(suites.flatMap(({ name, judged = [] }) => judged.map((one) => ({ ...one, where: name })))),
  ];
}

function judgedOf(judged = []) {
  return judged.length === 0
    ? []
    : ["Judged, round by round:", "", ...judged.map((one) => `- ${sentence(one)}`), ""];
}

function judgedTable(judged) {
  return [
    "| Suite | What | Ratio | Quartiles | Target | |",
    "|---|---|---:|---:|---:|---|",
    ...judged.map(
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
  const judged = (suite.judged ?? []).map((one) => `  ${sentence(one)}`);
  return [suite.title, ...rows, ...judged, ""].join("\n");
}

function percent(share) {
  return Number.isFinite(share) ? `${(share * 100).toFixed(0)} %` : "";
}

function times(ratio) {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : "";
}
