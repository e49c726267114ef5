import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { TillkitError } from "../../errors/index.js";
import { because } from "../../shared/because.js";
import { type CheckResult, describeFailure, examineStore, type StoreExam } from "../../store/exam/index.js";
import { isWholeNumber } from "../../shared/whole-number.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type Arguments, type CommandDefinition, type Context, type ExitCode } from "../terminal/command.js";
import { requireDatabase } from "../terminal/database.js";
import { decimalOption } from "../terminal/option-values.js";
import { textBar, type Output, wrap } from "../terminal/output.js";
import { envFileOption } from "../terminal/read-file.js";
import { prepareDatabaseExam } from "./database-exam.js";

const examOutcomes = ["passed", "failed", "left out"] as const;

export const examCommand: CommandDefinition = {
  description: [
    "Runs every check of the store contract on new stores of your module or of a database, and prints " +
      "which checks passed, failed or were left out. For each failure, the command prints the reason, the " +
      "line of the contract, and the calls before the failure.",
    "The module must export create, a function that makes a store with an empty database. The module " +
      "can also export reopen (opens the same data as a second process), remove (deletes the database) " +
      "and probe (your own write). probe.refused makes a write that the database refuses, and probe.cut " +
      "closes a connection. create can also return { store, reopen, remove, probe }.",
    "Without a module, the command examines the server of --store, such as a product that the kit warns " +
      "about with database_unexamined. Each check makes its own tables, whose names begin with " +
      "tillkit_exam_ and random characters. The command removes these tables, also after Ctrl-C, and does " +
      "not touch other tables. The user of the address must have the rights to create, change and remove " +
      "tables.",
    "The command stops early if the adapter of storeOver is wrong, if no check can begin, or if a check " +
      "hangs.",
    "The command cannot test the state after a crash between two writes, or whether a write is on disk. " +
      "Your database must guarantee both. The command runs in one process, and does not notice a lock or " +
      "a cache that exists only in this process, such as a variable of the module.",
  ],
  operand: { name: "store.js", summary: "The JavaScript module that exports the store.", optional: true },
  options: {
    "--store <address>":
      "The postgres:// or mysql:// address of the server, instead of a module. Default: TILLKIT_DATABASE.",
    "--timeout <seconds>": "The maximum time that a check may wait for a call to end. Default: 180.",
    ...envFileOption,
  },
  examples: {
    "examine a store while you write it": "tillkit exam ./my-store.js",
    "examine a database server before you use it": "tillkit exam --store postgres://localhost/shop",
    "print the results as JSON for a program": "tillkit exam ./my-store.js --json",
    "print the checks that still fail":
      "tillkit exam ./my-store.js --json | jq '.results[] | select(.outcome == \"failed\") | .check'",
  },
  exitCodes: {
    0: "Every check passed or was left out because the module has no probe.",
    1: "A check failed.",
    2: "The command was used wrongly, or the module does not export create.",
    3: "The module cannot be loaded, or the database cannot be used.",
    130: "The exam of a database was interrupted, for example by Ctrl-C, and its tables were removed.",
  },
  async run(args, context) {
    try {
      const timeoutMs = readTimeout(args);
      const { operand } = args;
      if (operand === undefined) return await examineServer(args, context, timeoutMs);
      if (args.has("store")) throw operandError("tillkit exam takes <store.js> or --store, and not both.");
      const module = await load(path.resolve(context.cwd, operand));
      return await runExam({ ...module, timeoutMs }, context.output);
    } finally {
      // A store that hangs, or a timer of the module, must not keep the process alive.
      setTimeout(() => process.exit(), 5000).unref();
    }
  },
};

/** Returns the timeout in milliseconds. Without the option, the exam's default applies. */
function readTimeout(args: Arguments): number | undefined {
  const seconds = decimalOption(args, "timeout");
  if (seconds === undefined) return undefined;
  if (isWholeNumber(seconds, 1, 3600)) return seconds * 1000;
  throw optionError(
    `--timeout must be a whole number of seconds from 1 to 3600, and not "${args.get("timeout")}".`,
  );
}

/** Examines the server that the options or the environment name. */
async function examineServer(
  args: Arguments,
  context: Context,
  timeoutMs: number | undefined,
): Promise<ExitCode> {
  const { output, signal, env } = context;
  if (!args.has("store") && !env["TILLKIT_DATABASE"]?.trim())
    throw operandError("tillkit exam needs <store.js>, or --store with the address of a database.");
  const { end, ...exam } = await prepareDatabaseExam(requireDatabase(args, context).database, output, signal);
  try {
    return await runExam({ ...exam, timeoutMs }, output, signal);
  } finally {
    await end();
  }
}

/** Runs the exam and prints its results. If `signal` was aborted, they are meaningless. */
async function runExam<Tx>(exam: StoreExam<Tx>, output: Output, signal?: AbortSignal): Promise<ExitCode> {
  let [done, all] = [0, 0];
  const results = await examineStore(exam, ({ check }, count) => {
    [done, all] = [done + 1, count];
    output.draw(`${textBar(done / count)} ${done} of ${count}  ${check}`.slice(0, output.width));
  });
  output.draw(undefined);
  if (signal?.aborted) {
    output.log("The exam was interrupted.");
    return 130;
  }
  printTable(results, output);
  for (const one of results.filter(({ outcome }) => outcome === "failed"))
    output.print(`\n${output.paint("red", "failed")} ${describeFailure(one)}`);
  const [passed, failed, leftOut] = examOutcomes.map((outcome) =>
    results.filter((one) => one.outcome === outcome),
  );
  const others = all - results.length;
  if (others > 0) output.print(`\nThe exam stopped here: the other ${others} checks depend on what failed.`);
  output.print(`\n${passed!.length} passed, ${failed!.length} failed, ${leftOut!.length} left out.`);
  output.print(
    "The exam did not test the state after a crash between two writes, or whether acknowledged writes are on disk.",
  );
  output.printJson({ stopped: others > 0, results: results.map(({ error: _, ...result }) => result) });
  return failed!.length > 0 ? 1 : 0;
}

/**
 * Loads the store's module. Throws `file_unreadable` if Node cannot load the module, or
 * `command_operand_invalid` if the module does not export `create`.
 */
async function load(file: string): Promise<StoreExam<unknown>> {
  let isEmpty = false;
  try {
    const module = (await import(pathToFileURL(file).href)) as Partial<StoreExam<unknown>> & {
      default?: object;
    };
    const { create, reopen, remove, probe } = { ...module.default, ...module };
    isEmpty = Object.keys(module).length === 0;
    if (typeof create === "function") return { create, reopen, remove, probe };
  } catch (cause) {
    const fix = /import statement outside a module|Unexpected token '?export/.test(String(cause))
      ? 'Name the file .mjs, or set "type": "module" in its package.json.'
      : "Fix the error in the message: the file exists, but Node cannot load it.";
    throw new TillkitError("file_unreadable", `The module ${file} cannot be loaded${because(cause)}`, {
      cause,
      ...(existsSync(file) && { fix }),
    });
  }
  const found = isEmpty ? "exports nothing" : "exports no function create";
  throw new TillkitError("command_operand_invalid", `The module ${file} ${found}.`, {
    fix: "Export create from the module: a function that resolves to a store over an empty database.",
  });
}

/**
 * Prints a line for each member of the store contract. If the checks of a member were left out, the line also
 * says what the exam does not show without this member.
 */
function printTable(results: readonly CheckResult[], output: Output): void {
  const cells = (row: readonly string[]): string => row.map((cell) => cell.padStart(8)).join(" ");
  output.print(output.paint("bold", `${"".padEnd(18)}${cells(examOutcomes)}`));
  for (const member of new Set(results.map((one) => one.member))) {
    const own = results.filter((one) => one.member === member);
    const counts = examOutcomes.map((outcome) => own.filter((one) => one.outcome === outcome).length);
    const line = `${member.padEnd(18)}${cells(counts.map((count) => (count === 0 ? "·" : String(count))))}`;
    const style = counts[1]! > 0 ? "red" : counts[2]! > 0 ? "yellow" : "green";
    const lost = own.find(({ outcome }) => outcome === "left out")?.reason;
    const told = lost === undefined ? "" : `  Without it: ${wrap(lost, output.width - 47, " ".repeat(47))}`;
    output.print(`${output.paint(style, line)}${told}`);
  }
}
