import { type Finding } from "../terminal/finding.js";
import { checkClock } from "./check-clock.js";
import { checkInstallation } from "./check-installation.js";
import { checkOptions } from "./check-options.js";
import { checkProduction } from "./check-production.js";
import { checkPublicUrl, probePublicUrl } from "./check-public-url.js";
import { checkReturns } from "./check-returns.js";
import { checkSecret } from "./check-secret.js";
import { checkStore } from "./check-store.js";
import { isKit, judgeWebhook } from "./judge-webhook.js";
import { type Patient } from "./subject.js";
import { probeWebhook } from "./probe/probe-webhook.js";
import { isAnswer } from "./probe/send.js";

/** What was found, and where was looked. */
export interface Examination {
  findings: readonly Finding[];
  looked: readonly string[];
  /** What was not looked at, and how it would be. */
  skipped: readonly string[];
}

/** Examines everything that is known of the app, from the environment to the database. */
export async function examine(patient: Patient): Promise<Examination> {
  const looked: string[] = [];
  const skipped: string[] = [];
  const findings: Finding[] = [];

  if (patient.outside) skipped.push("the environment, the database and what is installed (--outside)");
  else {
    looked.push(`the environment (NODE_ENV ${patient.environment["NODE_ENV"] ?? "not set"})`);
    findings.push(...checkSecret(patient), ...checkProduction(patient), ...(await checkOptions(patient)));
  }
  findings.push(...checkPublicUrl(patient));
  const hasPublicUrl = findings.every(({ code }) => code !== "public_url_invalid");
  const app = await examineApp({ ...patient, ...(!hasPublicUrl && { publicUrl: undefined }) });
  findings.push(...app.findings);
  looked.push(...app.looked);
  skipped.push(...app.skipped);

  if (!patient.outside) {
    findings.push(...(await checkStore(patient, app.isKit)));
    if (patient.database) looked.push(`the database ${patient.database.called}`);
    else skipped.push("the database (give --store)");
    findings.push(...checkInstallation(patient.app));
    looked.push(`what is installed in ${patient.app}`);
  }
  return { findings, looked, skipped };
}

async function examineApp(patient: Patient): Promise<Examination & { isKit: boolean }> {
  const { webhook, mount, publicUrl, settings, signs, now } = patient;
  if (webhook === undefined)
    return { findings: [], looked: [], skipped: ["the running app (give --url or --webhook)"], isKit: false };
  const skipped: string[] = [];
  const replies = await probeWebhook(webhook, { settings: signs ? settings : undefined, now });
  const kit = isKit(replies);
  const findings = judgeWebhook(webhook, replies);
  const isReached = isAnswer(replies.unsigned);
  findings.push(...checkClock(replies.unsigned));
  if (isReached && replies.signed === undefined)
    skipped.push(`correctly signed webhooks (${unsignedBecause(patient)})`);
  if (mount !== undefined && kit) {
    findings.push(...(await checkReturns(mount, replies.needsHttps === true, now)));
    findings.push(...(await probePublicUrl(patient, replies.signed)));
  }
  if (publicUrl === undefined) skipped.push("the public address (give --public-url)");
  const what = isReached ? (kit ? ", an app with tillkit" : ", an app without tillkit") : "";
  return { findings, looked: [`${webhook}${what}`], skipped, isKit: kit };
}

function unsignedBecause({ outside, signs, settings }: Patient): string {
  if (outside) return "--outside";
  if (!signs) return "--unsigned-only";
  return settings.scheme === "public-key"
    ? "only the service has the private key"
    : "there is no secret to sign with";
}
