import { ConfigurationError, type ErrorCode, errorFixes, TillkitError } from "../../errors/index.js";
import { type SignatureScheme } from "../../webhook/signature/index.js";
import { expectedSignature, makeScheme } from "../sign/make-scheme.js";
import { type SignatureSettings } from "../sign/signature-settings.js";
import { type Finding, type Severity } from "../terminal/finding.js";
import { type Cause, findCause } from "./find-cause.js";
import { type DiagnosisCode, hypotheses, type Variant } from "./hypotheses.js";
import { type CapturedRequest, joinedHeader } from "./read-input.js";

/** The request and the settings that `verify` checks. */
export interface SignatureInput extends CapturedRequest {
  settings: SignatureSettings;
  /** Reads bodies of other webhooks, if the signature does not match. */
  readOtherBodies: () => Promise<readonly Variant<Buffer>[]>;
}

/**
 * Parts of the kit's messages about a secret. Each key is the cause that explains the message in more detail.
 */
const refusedFor = { secret_padded: "begins or ends", secret_quoted: "quotes around it" } as const;

/** Checks a signature as the kit does. After a mismatch, searches for the one mistake that explains it. */
export async function checkSignature(input: SignatureInput) {
  const { settings, rawBody, headers } = input;
  const given = joinedHeader(headers, settings.header);
  const leftOut = joinedHeader(headers, "Tillkit-Left-Out")?.toLowerCase().split(", ") ?? [];
  if (given === undefined && leftOut.includes(settings.header.toLowerCase()))
    return { verified: false, findings: [notKept(settings)] };
  const { verified, refusals } = await askKit(settings, rawBody, given);
  if (verified) return { verified, findings: notesOn(settings, rawBody, given!) };

  const otherBodies = await input.readOtherBodies();
  const explain = (signature: string): readonly Cause[] | undefined => {
    const cause = findCause({ settings, rawBody, signature, otherBodies });
    return cause === null ? [] : cause && [cause];
  };
  const causes = given === undefined ? explainByOtherHeader(input, explain) : explain(given);
  if (causes === undefined || (causes.length === 0 && refusals.length === 0))
    return {
      verified,
      findings: [...refusals, unexplained(settings, given !== undefined && refusals.length === 0)],
    };
  const codes = new Set<string>(causes.map(({ code }) => code));
  const isExplained = (message: string): boolean =>
    Object.entries(refusedFor).some(([cause, part]) => codes.has(cause) && message.includes(part));
  // A refusal that an explanation repeats in more detail is left out.
  const left = refusals.filter(
    ({ code, message }) =>
      !(["signature_malformed", "signature_missing"].includes(code) && causes.length > 0) &&
      !(code === "option_invalid" && isExplained(message)),
  );
  return { verified, findings: [...causes.map(findingOf), ...left] };
}

/** Checks the signature with the kit's own scheme. `refusals` has the errors that the scheme throws. */
async function askKit(
  settings: SignatureSettings,
  rawBody: Buffer,
  signature: string | undefined,
): Promise<{ verified: boolean; refusals: readonly Finding[] }> {
  let scheme: SignatureScheme;
  try {
    scheme = makeScheme(settings);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const refusals = error.problems.map(({ code, option, message }) =>
      kitRefusal(code, `The kit would not start: ${placeOf(option, settings)} ${message}`),
    );
    return { verified: false, refusals };
  }
  try {
    const headers = { [settings.header.toLowerCase()]: signature };
    return { verified: await scheme.verify({ rawBody, headers }), refusals: [] };
  } catch (error) {
    if (!(error instanceof TillkitError)) throw error;
    return { verified: false, refusals: [kitRefusal(error.code, error.message)] };
  }
}

function kitRefusal(code: ErrorCode, message: string): Finding {
  return { code, severity: "error", message, fix: errorFixes[code] };
}

/** Returns the finding for a signature in a header that the kit does not write to disk. */
function notKept({ header }: SignatureSettings): Finding {
  return {
    code: "signature_missing",
    severity: "error",
    message: `The webhook had the header ${header}, but the kit did not keep it, because it may contain credentials.`,
    fix: "Save the body in a file, and give the value of the header with --signature.",
  };
}

/** Returns the place where the option's secret was found, or the name of an option without a secret. */
function placeOf(option: string, { secrets }: SignatureSettings): string {
  const [found, index = "0"] = /^signature\.secret(?:\[(\d+)\])?/.exec(option) ?? [];
  return found === undefined ? option : `the secret of ${secrets[Number(index)]?.from ?? "nowhere"}`;
}

function explainByOtherHeader(
  { headers, settings }: SignatureInput,
  explain: (signature: string) => readonly Cause[] | undefined,
): readonly Cause[] | undefined {
  for (const [name, value] of headers) {
    const causes = explain(value);
    const detail = `the value of the header ${name}, and not of ${settings.header}`;
    if (causes) return [{ code: "signature_header_other", detail }, ...causes];
  }
  return undefined;
}

function notesOn(settings: SignatureSettings, rawBody: Buffer, signature: string): Finding[] {
  const notes: Finding[] = [];
  const { secrets, scheme } = settings;
  const index = secrets.findIndex(
    (secret) => expectedSignature({ ...settings, secrets: [secret] }, rawBody) === signature.toLowerCase(),
  );
  if (index > 0) {
    const message = `The signature was made with ${secrets[index]!.from}, and not with ${secrets[0]!.from}.`;
    notes.push(diagnosis("secret_other", message, "note"));
  }
  if (scheme !== "public-key" && signature !== signature.toLowerCase())
    notes.push(diagnosis("signature_upper_case", "The signature is written in capital letters.", "note"));
  return notes;
}

/**
 * Returns the finding for a signature that no usual mistake explains. If the signature has the right form,
 * the secret is probably wrong.
 */
function unexplained({ scheme, secrets }: SignatureSettings, isWellFormed: boolean): Finding {
  const none = "None of the usual mistakes explains it.";
  if (!isWellFormed || scheme === "public-key") return diagnosis("signature_unexplained", none);
  const given = secrets.map(({ from }) => from).join(" and ");
  const what = `Most likely the secret is wrong: the service does not sign with the one of ${given}.`;
  const why =
    "The signature has the right form, and no mistake in body, scheme, algorithm or encoding explains it.";
  return diagnosis("secret_wrong", `${what} ${why}`);
}

function findingOf({ code, detail }: Cause): Finding {
  const how = code.startsWith("signature_") ? `when it is read as ${detail}` : detail;
  return diagnosis(code, `The signature fits ${how}.`);
}

function diagnosis(code: DiagnosisCode, message: string, severity: Severity = "error"): Finding {
  return { code, severity, message, fix: hypotheses[code].fix };
}
