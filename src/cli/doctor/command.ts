import { signatureOptions } from "../sign/signature-settings.js";
import { type CommandDefinition } from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import { bySeverity, printFindings, type Severity } from "../terminal/finding.js";
import { examine } from "./examine.js";
import { readSubject } from "./subject.js";

export const doctorCommand: CommandDefinition = {
  description: [
    "Looks for frequent mistakes in payment integrations, and prints a fix for each finding. Run the " +
      "doctor on the app's machine, with the app's environment.",
    "The doctor sends harmless requests to the webhook address. The app must refuse the requests that " +
      "are unsigned or wrongly signed. The app must answer 200 to two correctly signed requests with an " +
      "unknown type. An app of the kit records these two requests once, as unrecognised (or as " +
      "inadmissible, if only fields are signed). With --unsigned-only, the doctor does not send these two " +
      "requests.",
    "To examine an app that does not use tillkit, give --webhook, and --secret-env or --outside.",
  ],
  options: {
    "--url <address>": "The address of the payment router. Default: --public-url.",
    "--webhook <address>": "The webhook address of any app, as an alternative to --url.",
    "--public-url <address>":
      "The app's publicUrl, which the service and customers use. Default: TILLKIT_PUBLIC_URL.",
    ...databaseOptions,
    "--app <folder>":
      "The app's folder. Relative paths in variables start from it, and the doctor checks the packages " +
      "that are installed in it. Default: this folder.",
    "--unsigned-only": "Sends no correctly signed webhooks, so the app records nothing.",
    "--before-start": "Examines only what exists before you start the app and the service.",
    "--outside": "Examines only what can be seen from outside.",
    ...signatureOptions,
  },
  examples: {
    "examine an app with TILLKIT_… variables in a file":
      "tillkit doctor --url http://localhost:3000/payments --env-file .env",
    "examine an app whose variables have other names":
      "tillkit doctor --url http://localhost:3000/payments --env-file .env --secret-env PAY_WEBHOOK_SECRET " +
      "--public-url https://shop.example/payments --store shop.db",
    "examine an app that does not use tillkit, from outside":
      "tillkit doctor --webhook http://localhost:8080/hooks/pay --outside",
    "examine only the environment, before the app starts":
      "tillkit doctor --env-file .env --before-start --json",
  },
  exitCodes: {
    0: "The doctor found no error, but may have found warnings or notes.",
    1: "The doctor found an error, such as an app or a database that does not answer.",
    2: "The command was used wrongly.",
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
        ? output.paint("green", "The doctor found no problem in what it examined.")
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
