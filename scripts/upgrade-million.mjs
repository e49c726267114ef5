// Upgrades the oldest tables with a million payments, and restores their backup.
// `npm run upgrade:million -- --help`
import { parseArgs } from "node:util";
import { compileKit } from "../test/promises/crash/harness/compile-kit.mjs";
import { upgrade } from "../test/store/sql/upgrade/run.mjs";

const usage = `npm run upgrade:million -- [options]

Fills tables of version 1 with payments, backs them up, upgrades them, restores the backup and upgrades the restored tables.
Says how long each step took, and checks the rows after each.

  --payments <number>   Default: 1000000
  --kit <folder>        A compiled kit. Default: the sources are compiled.
  --json                One JSON document on standard output.
  --quiet               No progress.

It uses a SQLite file, and the servers in TILLKIT_TEST_POSTGRES_URL and TILLKIT_TEST_MYSQL_URL, if they are set, in databases of its
own, with pg_dump, pg_restore, mariadb-dump and mariadb.

Exits with 0 where all rows are there after each step, 1 where not, 3 where it could not run.`;

const servers = { postgres: "TILLKIT_TEST_POSTGRES_URL", mysql: "TILLKIT_TEST_MYSQL_URL" };

async function main() {
  const { values } = parseArgs({
    options: {
      payments: { type: "string", default: "1000000" },
      kit: { type: "string" },
      json: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const payments = Number(values.payments);
  if (!Number.isInteger(payments) || payments < 100 || payments > 9_000_000) throw new Error(usage);
  const compiled = values.kit ? { folder: values.kit, remove() {} } : compileKit();
  const results = [];
  try {
    for (const kind of ["sqlite", "postgres", "mysql"]) {
      const url = process.env[servers[kind]];
      if (kind !== "sqlite" && (url === undefined || url === "none")) {
        if (!values.json) console.log(`${kind}: left out, because ${servers[kind]} names no server`);
        continue;
      }
      const say = (step) => values.quiet || console.error(`${kind}: ${step}`);
      const result = await upgrade({ kit: compiled.folder, kind, url, payments, say });
      results.push(result);
      if (!values.json) printResult(result);
    }
  } finally {
    compiled.remove();
  }
  if (values.json) console.log(JSON.stringify(results));
  return results.every(({ problems }) => problems.length === 0) ? 0 : 1;
}

function printResult({ kind, payments, newest, seconds, problems }) {
  const steps = Object.entries(seconds).map(([name, value]) => `${name} ${value} s`);
  console.log(`${kind}: ${payments} payments, version 1 to ${newest}: ${steps.join(", ")}`);
  for (const problem of problems) console.log(`  ${problem}`);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error);
  process.exitCode = 3;
}
