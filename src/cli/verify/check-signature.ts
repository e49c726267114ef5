import { type Environment } from "../terminal/environment.js";
import { type Finding } from "../terminal/finding.js";
import { type SignatureSettings } from "../sign/signature-settings.js";
import { type CapturedRequest } from "./captured-request.js";
import { type Cause, diagnoses } from "./diagnoses.js";
import { expectedSignature } from "./expected-signature.js";
import { explain } from "./explain.js";
import { judge } from "./judge.js";
import { nearbyBodies } from "./nearby-bodies.js";

export interface Question extends CapturedRequest {
  settings: SignatureSettings;
  environment: Environment;
  /** Where the body was read, to look around there. */
  file: string;
  cwd: string;
}

export interface Answer {
  verified: boolean;
  findings: readonly Finding[];
  /** How many of the findings explain the mismatch only together. */
  together: number;
}

/** Asks the kit; where it says no, asks why. */
export async function checkSignature(question: Question): Promise<Answer> {
  const { settings, rawBody, environment, headers } = question;
  const name = settings.header.toLowerCase();
  const values = headers.filter(([one]) => one === name).map(([, value]) => value);
  // As Node joins them.
  const signature = values.length > 0 ? values.join(", ") : undefined;
  const { verified, refusals } = await judge(settings, rawBody, signature);
  if (verified) return { verified, findings: remarks(settings, rawBody, signature!), together: 0 };

  const others = await nearbyBodies(question.file, question.cwd);
  const tryOne = (text: string) => explain({ settings, rawBody, signature: text, others, environment });
  const causes = signature === undefined ? explainByOtherHeader(question, tryOne) : tryOne(signature);
  if (causes === undefined || (causes.length === 0 && refusals.length === 0))
    return { verified, findings: [...refusals, unexplained], together: 0 };

  const explained = new Set<string>(causes.map(({ code }) => code));
  // The kit's refusal says less than the explanation where both speak of the same thing.
  const left = refusals.filter(
    ({ code, message }) =>
      !(["signature_malformed", "signature_missing"].includes(code) && causes.length > 0) &&
      !(code === "option_invalid" && explained.has("secret_padded") && message.includes("begins or ends")),
  );
  return { verified, findings: [...causes.map(finding), ...left], together: causes.length };
}

/** The signature may have come in a header of another name. */
function explainByOtherHeader(
  { headers, settings }: Question,
  tryOne: (text: string) => readonly Cause[] | undefined,
): readonly Cause[] | undefined {
  for (const [name, value] of headers) {
    const causes = tryOne(value);
    const detail = `what the header ${name} carries, and not ${settings.header}`;
    if (causes) return [{ code: "signature_header_other", detail }, ...causes];
  }
  return undefined;
}

/** What is worth knowing of a signature that matches. */
function remarks(settings: SignatureSettings, rawBody: Buffer, signature: string): Finding[] {
  const found: Finding[] = [];
  const fits = (index: number) =>
    expectedSignature({ ...settings, secrets: [settings.secrets[index]!] }, rawBody) ===
    signature.toLowerCase();
  const index = settings.secrets.findIndex((_, at) => fits(at));
  if (index > 0) {
    const message = `The signature was made with ${settings.secrets[index]!.from}, and not with ${settings.secrets[0]!.from}.`;
    found.push({ code: "secret_other", severity: "note", message, fix: diagnoses.secret_other });
  }
  if (settings.scheme !== "public-key" && signature !== signature.toLowerCase()) {
    const message = "The signature is written in capital letters.";
    found.push({
      code: "signature_upper_case",
      severity: "note",
      message,
      fix: diagnoses.signature_upper_case,
    });
  }
  return found;
}

function finding({ code, detail }: Cause): Finding {
  const how = code.startsWith("signature_") ? `when it is taken as ${detail}` : detail;
  return { code, severity: "error", message: `The signature fits ${how}.`, fix: diagnoses[code] };
}

const unexplained: Finding = {
  code: "signature_unexplained",
  severity: "error",
  message: "Nothing of what usually goes wrong explains it.",
  fix: diagnoses.signature_unexplained,
};
