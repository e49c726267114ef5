import { signatureOptions } from "../sign/signature-settings.js";
import { type CommandDefinition } from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import { bySeverity, printFindings, type Severity } from "../terminal/finding.js";
import { examine } from "./examine.js";
import { readSubject } from "./subject.js";

export const doctorCommand: CommandDefinition = {
  description: [
    "Looks for frequent mistakes in payment integrations, and says what to do about each finding. It " +
      "sends harmless requests to the webhook's address. Some are unsigned or wrongly signed, and must be " +
      "refused. Two are correctly signed and have an unknown type, and must be answered with 200. An app of " +
      "the kit records these two once, as unrecognised (or as inadmissible, if only fields are signed). " +
      "With --unsigned-only the doctor does not send them.",
    "It also examines apps that do not use tillkit: give --webhook, and --secret-env or --outside.",
    "Run it on the app's machine, with the app's environment. It changes nothing else.",
  ],
  options: {
    "--url <address>": "The address of the payment router. Default: the public address.",
    "--webhook <address>": "Instead of --url: the webhook's address, of any app.",
    "--public-url <address>":
      "The app's publicUrl, as the service and customers reach it. Default: TILLKIT_PUBLIC_URL.",
    ...databaseOptions,
    "--app <folder>": "The folder of the app, to check what is installed. Default: this folder.",
    "--unsigned-only": "Sends no correctly signed webhooks: the app records nothing.",
    "--before-start": "Examines only what is there before the app and the service are started.",
    "--outside": "Examines only what can be seen from outside.",
    ...signatureOptions,
  },
  examples: {
    "an app that is configured by TILLKIT_… variables in a file":
      "tillkit doctor --url http://localhost:3000/payments --env-file .env",
    "an app with other names of variables":
      "tillkit doctor --url http://localhost:3000/payments --env-file .env --secret-env PAY_WEBHOOK_SECRET " +
      "--public-url https://shop.example/payments --store shop.db",
    "an app that does not use tillkit, from outside":
      "tillkit doctor --webhook http://localhost:8080/hooks/pay --outside",
    "the environment alone, before the app starts": "tillkit doctor --env-file .env --before-start --json",
  },
  exitCodes: {
    0: "No error was found; there may be warnings and notes.",
    1: "At least one error was found. An app or a database that does not answer is one.",
    2: "Used wrongly.",
    3: "A file cannot be read.",
  },
  async run(args, context) {
    const { output } = context;
    const { looked, skipped, ...examined } = await examine(await readSubject(args, context));
    const findings = bySeverity(examined.findings);
    const count = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
    const counts = { errors: count("error"), warnings: count("warning"), notes: count("note") };
    output.print(output.paint("bold", "Examined"));
    for (const one of looked) output.print(`  ${one}`);
    if (skipped.length > 0) output.print(output.paint("bold", "Not examined"));
    for (const one of skipped) output.print(`  ${one}`);
    printFindings(findings, output);
    output.print();
    output.print(
      findings.length === 0
        ? output.paint("green", "Nothing found in what was examined.")
        : `${summaryOf(counts)}.`,
    );
    output.printJson({ ...counts, findings, looked, skipped });
    return counts.errors > 0 ? 1 : 0;
  },
};

/** Returns the counts that are not zero: `1 error, 2 warnings`. */
function summaryOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${count === 1 ? name.slice(0, -1) : name}`)
    .join(", ");
}
