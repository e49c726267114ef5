import { verifyLast } from "../../shared/refused-files.js";
import { type Finding } from "../terminal/finding.js";
import { checkKitOptions, checkProduction, checkWebhookSecret } from "./check-environment.js";
import { checkInstallation } from "./check-installation.js";
import { checkKeptRefusals, refusedDirectoryIn } from "./check-kept-refusals.js";
import { checkPublicApp, checkPublicUrl } from "./check-public-url.js";
import { checkService, serviceOrigins } from "./check-service.js";
import { checkStore } from "./check-store.js";
import { checkClock, checkReturns, checkWebhook, isKit } from "./check-app.js";
import { type AsyncFindings, type Findings } from "./findings.js";
import { probeWebhook } from "./probe-webhook.js";
import { isAnswer } from "./send.js";
import { type ProbedSubject, type DoctorSubject } from "./subject.js";

/** A check of the doctor. If the subject lacks the input of the check, the check yields nothing. */
type DoctorCheck = (subject: ProbedSubject) => Findings | AsyncFindings;

const doctorChecks: readonly DoctorCheck[] = [
  checkWebhookSecret,
  checkProduction,
  checkKitOptions,
  checkKeptRefusals,
  checkService,
  checkPublicUrl,
  checkWebhook,
  checkClock,
  checkReturns,
  checkPublicApp,
  checkStore,
  checkInstallation,
];

/** Sends the probes and runs all checks. Returns the findings, and names what was examined or skipped. */
export async function examine(given: DoctorSubject) {
  const replies = given.webhook === undefined ? undefined : await probeWebhook(given.webhook, given);
  const subject: ProbedSubject = { ...given, replies, isKit: replies !== undefined && isKit(replies) };
  const findings: Finding[] = [];
  for (const check of doctorChecks) for await (const one of check(subject)) findings.push(one);
  const hasPublicUrl =
    subject.publicUrl !== undefined && findings.every(({ code }) => code !== "public_url_invalid");
  return { findings, looked: lookedAt(subject), skipped: skippedIn(subject, hasPublicUrl) };
}

function lookedAt(subject: ProbedSubject): string[] {
  const { outside, environment, webhook, replies, database, app } = subject;
  const services = serviceOrigins(subject).map(({ origin }) => `the payment service at ${origin}`);
  const kind = subject.isKit ? ", an app with tillkit" : ", an app without tillkit";
  return [
    ...(outside ? [] : [`the environment (NODE_ENV ${environment["NODE_ENV"] ?? "not set"})`]),
    ...(webhook === undefined ? [] : [`${webhook}${isAnswer(replies?.unsigned) ? kind : ""}`]),
    ...services,
    ...(database ? [`the database ${database.label}`] : []),
    ...(outside ? [] : [`what is installed in ${app}`]),
  ];
}

function skippedIn(subject: ProbedSubject, hasPublicUrl: boolean): string[] {
  const { outside, replies, database, settings, signs, beforeStart } = subject;
  const whyUnsigned = outside
    ? "--outside"
    : !signs
      ? "--unsigned-only"
      : settings.scheme === "public-key"
        ? "only the service has the private key"
        : "there is no secret to sign with";
  return [
    ...(outside ? ["the environment, the database and what is installed (--outside)"] : []),
    ...(beforeStart ? ["the running app, and the payment service (--before-start)"] : []),
    ...(replies || beforeStart ? [] : ["the running app (give --url or --webhook)"]),
    ...(isAnswer(replies?.unsigned) && !replies?.signed
      ? [`correctly signed webhooks (${whyUnsigned})`]
      : []),
    ...(replies && !hasPublicUrl ? ["the public address (give --public-url)"] : []),
    ...(outside || database ? [] : ["the database (give --store)"]),
    ...(outside || beforeStart ? [] : unseen(subject)),
  ];
}

/** Returns the questions that only a payment or a webhook of the service can answer. */
function unseen(subject: DoctorSubject): string[] {
  const secret =
    "which secret and scheme the service has: let the service send a webhook, such as a test from its dashboard";
  return [
    "whether the service accepts the app's credentials: create a payment",
    `${secret}; if the webhook is refused: ${verifyLast(refusedDirectoryIn(subject), subject.envFiles)}`,
  ];
}
