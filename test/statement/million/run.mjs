import { spawn } from "node:child_process";
import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Progress } from "../../promises/crash/harness/progress.mjs";
import { makeStatement } from "./make.mjs";
import { period } from "./plan.mjs";

const columns = {
  clientId: "Merchant ref",
  serviceId: "Payment",
  value: "Amount",
  currency: "Currency",
  status: "Status",
  source: "Channel",
  fee: "Fee",
  net: "Net",
  payout: "Payout",
  time: "Paid at",
};

/**
 * Makes a statement of so many rows with planted differences, runs `tillkit statement` in a process of its own, and compares its
 * findings one by one. `html` is a file for the HTML report.
 */
export async function compareGenerated({ kit, rows, seed, quiet, html, heapMiB }) {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-million-"));
  try {
    const progress = new Progress({ total: rows, unit: "rows made", quiet, describe: () => `seed ${seed}` });
    const onRows = (count) => {
      for (let one = 0; one < count; one += 1) progress.tick();
    };
    const made = await makeStatement({ kit, folder, rows, seed, onRows });
    const report = path.join(folder, "found.csv");
    const answer = await tillkit(kit, made, [report, ...(html ? [path.resolve(html)] : [])], {
      quiet,
      folder,
      heapMiB,
    });
    const found = await foundIn(report);
    const missed = [...made.expected].filter((one) => !found.has(one));
    const invented = [...found.keys()].filter((one) => !made.expected.has(one));
    const repeated = [...found].filter(([, times]) => times > 1).map(([one]) => one);
    return {
      rows,
      planted: made.expected.size,
      found: [...found.values()].reduce((sum, times) => sum + times, 0),
      missed,
      invented,
      repeated,
      sums: wrongSums(answer, made.totals),
      counts: answer.counts,
      stored: answer.stored,
      bytes: answer.bytes,
      seconds: answer.seconds,
      peakMiB: Math.ceil(answer.peakBytes / 2 ** 20),
      exitCode: answer.exitCode,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tillkit(kit, { file, database, clientIdPrefix }, reports, { quiet, folder, heapMiB }) {
  const args = [
    ["statement", file, "--json", "--store", database, "--client-id-prefix", clientIdPrefix],
    ["--from", period.from, "--to", period.to, "--temporary-directory", folder],
    Object.entries(columns).flatMap(([field, name]) => ["--column", `${field}=${name}`]),
    reports.flatMap((report) => ["--report", report]),
  ].flat();
  // The command draws its progress bar where this process's error stream is a terminal.
  const stdio = ["ignore", "pipe", quiet ? "ignore" : "inherit"];
  const limit = heapMiB ? [`--max-old-space-size=${heapMiB}`] : [];
  const child = spawn(process.execPath, [...limit, path.join(kit, "cli/main.js"), ...args], { stdio });
  const ended = new Promise((resolve) => void child.once("close", resolve));
  const output = await text(child.stdout);
  const exitCode = await ended;
  if (exitCode > 1) throw new Error(`tillkit statement ended with ${exitCode}: ${output}`);
  return { ...JSON.parse(output), exitCode };
}

/** Returns the number of each finding in the CSV report. Only its last cell may hold a delimiter. */
async function foundIn(report) {
  const found = new Map();
  let isHeader = true;
  for await (const row of createInterface({ input: createReadStream(report) })) {
    if (isHeader) {
      isHeader = false;
      continue;
    }
    const [kind, line, , clientId] = row.split(",");
    // Some bad rows have a readable clientId.
    const key = `${kind} ${kind === "bad_row" ? "-" : clientId} ${line || "-"}`;
    found.set(key, (found.get(key) ?? 0) + 1);
  }
  return found;
}

function wrongSums({ rows, currencies }, totals) {
  const wrong = [];
  const compare = (what, got, expected) => {
    if (String(got) !== String(expected)) wrong.push(`${what}: got ${got}, expected ${expected}`);
  };
  compare("matched", rows.matched, totals.matched);
  compare("foreign", rows.foreign, totals.foreign);
  for (const side of ["statement", "stored"])
    for (const one of currencies) {
      const { count, units } = totals[side][one.currency] ?? { count: 0, units: 0n };
      compare(`${side} ${one.currency} count`, one[side].count, count);
      compare(
        `${side} ${one.currency} sum`,
        one[side].value.replace(".", "").replace(/^0+(?=\d)/, ""),
        units,
      );
    }
  for (const { currency, statement, rows: buckets } of currencies) {
    const sum = Object.values(buckets).reduce((all, { value }) => all + BigInt(value.replace(".", "")), 0n);
    compare(`${currency}: the parts of the statement`, sum, BigInt(statement.value.replace(".", "")));
  }
  return wrong;
}
