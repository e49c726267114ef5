import { ConfigurationError, errorFixes, type ErrorCode, TillkitError } from "../../errors/index.js";
import { type SignatureScheme } from "../../webhook/signature/index.js";
import { type Finding } from "../terminal/finding.js";
import { makeScheme } from "../sign/make-scheme.js";
import { type SignatureSettings } from "../sign/signature-settings.js";

/** What the kit itself makes of a webhook. */
export interface Judgement {
  verified: boolean;
  /** What it would refuse to start with, or refuse the webhook for. */
  refusals: readonly Finding[];
}

/** Asks the kit's own scheme, as an application configured like this would. */
export async function judge(
  settings: SignatureSettings,
  rawBody: Buffer,
  signature: string | undefined,
): Promise<Judgement> {
  let scheme: SignatureScheme;
  try {
    scheme = makeScheme(settings);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const refusals = error.problems.map(({ code, option, message }) =>
      refusal(code, `The kit would not start: ${placeOf(option, settings)} ${message}`),
    );
    return { verified: false, refusals };
  }
  const headers = { [settings.header.toLowerCase()]: signature };
  try {
    return { verified: await scheme.verify({ rawBody, headers }), refusals: [] };
  } catch (error) {
    if (!(error instanceof TillkitError)) throw error;
    return { verified: false, refusals: [refusal(error.code, error.message)] };
  }
}

function refusal(code: ErrorCode, message: string): Finding {
  return { code, severity: "error", message, fix: errorFixes[code] };
}

/** A secret by the place it came from, anything else by its option. */
function placeOf(option: string, { secrets }: SignatureSettings): string {
  const [, index = "0"] = /^signature\.secret(?:\[(\d+)\])?$/.exec(option) ?? [option];
  if (!option.startsWith("signature.secret")) return option;
  return `the secret of ${secrets[Number(index)]?.from ?? "nowhere"}`;
}
