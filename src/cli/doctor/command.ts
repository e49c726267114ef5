import { type Command, type Context, type Arguments } from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import { examine, type Examination } from "./examine.js";
import { readPatient } from "./subject.js";
import { bySeverity, sayFindings, type Severity } from "../terminal/finding.js";
import { type Output } from "../terminal/output.js";
import { signatureOptions } from "../sign/signature-options.js";
import { remarkOnSecret } from "../sign/signature-settings.js";

export const doctor: Command = {
  name: "doctor",
  summary: "examine a running app, its environment and its database",
  description: [
    "Looks for what goes wrong in integrations of payments, and says what to do about each finding. It sends harmless " +
      "requests to the webhook's address: some unsigned or wrongly signed, which must be refused, and two correctly " +
      "signed ones of a type that does not exist, which must be answered 200. An app of the kit records those as " +
      "unrecognised (as inadmissible, where only fields are signed), once however often you run this; " +
      "--unsigned-only leaves them out.",
    "It also examines apps that were not written with tillkit, from outside: give --webhook, and --secret-env or " +
      "--outside.",
    "Run it where the app runs, with the environment that the app has. It changes nothing else anywhere.",
  ],
  options: [
    {
      name: "url",
      value: "address",
      summary: "Where the payment router is mounted. Default: the public address.",
    },
    {
      name: "webhook",
      value: "address",
      summary: "Instead of --url: the webhook's address itself, of any app.",
    },
    {
      name: "public-url",
      value: "address",
      summary:
        "The publicUrl of the app, as the service and customers reach it. Default: TILLKIT_PUBLIC_URL.",
    },
    ...databaseOptions,
    {
      name: "app",
      value: "folder",
      summary: "The folder of the app, for what is installed. Default: this one.",
    },
    { name: "unsigned-only", summary: "Sends no correctly signed webhooks: the app records nothing." },
    { name: "outside", summary: "Looks at what a stranger sees, and at nothing else." },
    ...signatureOptions,
  ],
  examples: [
    {
      summary: "an app that is configured by TILLKIT_… variables in a file",
      command: "tillkit doctor --url http://localhost:3000/payments --env-file .env",
    },
    {
      summary: "one with names of its own",
      command:
        "tillkit doctor --url http://localhost:3000/payments --env-file .env --secret-env PAY_WEBHOOK_SECRET " +
        "--public-url https://shop.example/payments --store shop.db",
    },
    {
      summary: "an app that was not written with tillkit, from outside",
      command: "tillkit doctor --webhook http://localhost:8080/hooks/pay --outside",
    },
    {
      summary: "the environment alone, before the app starts",
      command: "tillkit doctor --env-file .env --json",
    },
  ],
  exitCodes: {
    0: "No error was found; there may be warnings and notes.",
    1: "At least one error was found, an app or a database that does not answer among them.",
    2: "Used wrongly.",
    3: "A file cannot be read.",
  },
  run: runDoctor,
};

async function runDoctor(args: Arguments, context: Context) {
  const { output } = context;
  remarkOnSecret(args, context);
  const examination = await examine(await readPatient(args, context));
  const findings = bySeverity(examination.findings);
  const count = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  const counts = { errors: count("error"), warnings: count("warning"), notes: count("note") };
  sayWhere(examination, output);
  sayFindings(findings, output);
  output.say();
  output.say(findings.length === 0 ? output.paint("green", "Nothing found.") : `${summaryOf(counts)}.`);
  output.answer({ ...counts, findings, looked: examination.looked, skipped: examination.skipped });
  return counts.errors > 0 ? 1 : 0;
}

function sayWhere({ looked, skipped }: Examination, output: Output): void {
  output.say(output.paint("bold", "Looked at"));
  for (const one of looked) output.say(`  ${one}`);
  if (skipped.length > 0) output.say(output.paint("bold", "Not at"));
  for (const one of skipped) output.say(`  ${one}`);
}

function summaryOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${count === 1 ? name.slice(0, -1) : name}`)
    .join(", ");
}
