import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { TillkitError } from "../../errors/index.js";
import { because } from "../../shared/because.js";
import { doctorCommand } from "../doctor/command.js";
import { optionError, readArguments } from "../terminal/arguments.js";
import { type CommandDefinition, type Context, withCommonOptions } from "../terminal/command.js";
import { type Output } from "../terminal/output.js";
import { readEnvironment } from "../terminal/read-file.js";
import { type FileChange } from "./mount.js";
import { type InitPlan, planInit } from "./plan.js";

export const initCommand: CommandDefinition = {
  description: [
    "Adds payments to an Express app, or creates a shop in an empty folder. The command adds the route, " +
      "a handler, a test of the handler, .env.example and .gitignore. The command shows you each change, " +
      "and asks for your consent.",
    "The command never overwrites a file, and changes only three of your own files. It adds missing " +
      "scripts to package.json, missing lines to .gitignore, and two lines to the file that calls " +
      "express(). If the command cannot add these two lines safely, the command prints the lines and the " +
      "place where you add them.",
    "If Express is installed, the command then runs tillkit doctor --before-start. At the end, the " +
      "command prints the remaining steps.",
  ],
  operand: { name: "folder", summary: "The folder of the app. Default: this folder.", optional: true },
  options: {
    "--typescript":
      "Writes TypeScript. This is the default if the app has a tsconfig.json or is written in TypeScript.",
    "--javascript": "Writes JavaScript. This is the default for every other app.",
    "-y, --yes": "Makes every change without asking.",
    "--dry-run": "Shows the changes without making them.",
  },
  examples: {
    "create a shop in TypeScript in a new folder": "tillkit init shop --typescript",
    "show what would change in this app": "tillkit init --dry-run",
    "make every change, and print JSON for a program": "tillkit init --yes --json",
  },
  exitCodes: {
    0: "The changes were made, or --dry-run showed them.",
    1: "You declined a change, so the integration is not complete.",
    2: "The command was used wrongly.",
    3: "A file cannot be read or written.",
  },
  async run(args, context) {
    const { output } = context;
    if (args.has("typescript") && args.has("javascript")) throw optionError("Give one language.");
    const language = args.has("typescript")
      ? "TypeScript"
      : args.has("javascript")
        ? "JavaScript"
        : undefined;
    const folder = path.resolve(context.cwd, args.operand ?? ".");
    const plan = planInit(folder, language);
    const isDryRun = args.has("dry-run");
    const written: string[] = [];
    const ask = isDryRun || args.has("yes") ? undefined : asking(context);
    for (const change of plan.changes) {
      show(change, output);
      if (isDryRun || (ask && !(await ask(`Write ${change.file}?`)))) continue;
      await write(folder, change);
      written.push(change.file);
    }
    ask?.close();
    for (const file of plan.kept) output.print(`\n${file} exists already, and stays unchanged.`);
    const changes = plan.changes.map(({ file }) => file);
    output.printJson({ language: plan.language, changes, written, kept: plan.kept, advice: plan.advice });
    if (!isDryRun && isInstalled("express", folder)) await runDoctor(folder, context);
    printAdvice(plan, output);
    return isDryRun || written.length === changes.length ? 0 : 1;
  },
};

/** Prints all lines of a new file, or the changed lines of an existing file with the lines beside them. */
function show({ file, content, before = "", added }: FileChange, output: Output): void {
  output.print(`\n${output.paint("bold", added ? `${file}, changed by these lines` : `${file}, new`)}`);
  const lines = content.replace(/\n$/, "").split(/\r?\n/);
  const old = before.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    while (old.length > 0 && !lines.includes(old[0]!)) {
      const removed = old.shift();
      if (removed) output.print(output.paint("red", `- ${removed}`));
    }
    if (old[0] === line) old.shift();
    const isAdded = added?.includes(line) ?? true;
    const isNear =
      isAdded || added?.includes(lines[index + 1] ?? "") || added?.includes(lines[index - 1] ?? "");
    if (isNear) output.print(isAdded ? output.paint("green", `+ ${line}`) : `  ${line}`);
  }
}

/** Returns a function that prints a question and reads the answer. If the input ends, the answer is no. */
function asking({ stdin, output }: Context) {
  const lines = createInterface({ input: stdin });
  const answers = lines[Symbol.asyncIterator]();
  let isAll = false;
  const ask = async (question: string): Promise<boolean> => {
    if (isAll) return true;
    output.print(`${question} y: yes, a: yes to all, n: no`);
    const { value = "" } = (await answers.next()) as { value?: string };
    isAll = /^a(ll)?$/i.test(value.trim());
    return isAll || /^y(es)?$/i.test(value.trim());
  };
  return Object.assign(ask, { close: () => lines.close() });
}

/**
 * Writes one file. Throws `file_unwritable` if the file cannot be written, or was created or changed since it
 * was read.
 */
async function write(folder: string, { file, content, before }: FileChange): Promise<void> {
  const target = path.join(folder, file);
  try {
    await mkdir(path.dirname(target), { recursive: true });
    if (before !== undefined && (await readFile(target, "utf8")) !== before)
      throw new Error("it was changed meanwhile");
    await writeFile(target, content, { flag: before === undefined ? "wx" : "w" });
  } catch (cause) {
    throw new TillkitError("file_unwritable", `The file ${file} cannot be written${because(cause)}`, {
      cause,
    });
  }
}

function printAdvice({ advice }: InitPlan, output: Output): void {
  output.print(`\n${output.paint("bold", "What is left to do")}`);
  for (const [index, one] of advice.entries()) output.print(`  ${index + 1}. ${one}`);
}

function isInstalled(name: string, folder: string): boolean {
  try {
    return createRequire(path.join(folder, "package.json")).resolve(name) !== "";
  } catch {
    return false;
  }
}

/** Runs the doctor on the folder, with the variables that the app will have. Nothing is started yet. */
async function runDoctor(folder: string, context: Context): Promise<void> {
  const { output } = context;
  const file = [".env", ".env.example"].find((name) => existsSync(path.join(folder, name)));
  const argv = ["--before-start", ...(file === undefined ? [] : ["--env-file", file])];
  output.print(`\n${output.paint("bold", `tillkit doctor ${argv.join(" ")}`)}`);
  const doctor = { name: "doctor", summary: "", ...withCommonOptions(doctorCommand) };
  const args = readArguments(doctor, argv);
  const env = await readEnvironment(args, { ...context, cwd: folder });
  await doctorCommand.run(args, { ...context, cwd: folder, env });
}
