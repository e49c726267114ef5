import { getHashes } from "node:crypto";
import { type Environment } from "../terminal/environment.js";
import { type SignatureSettings } from "../sign/signature-settings.js";
import { bodyForms } from "./body-forms.js";
import { type Cause, type Form } from "./diagnoses.js";
import { explainPublicKey } from "./explain-public-key.js";
import { fieldForms, fieldOrders } from "./field-forms.js";
import { digestForms, findExplanation } from "./find-explanation.js";
import { secretForms } from "./secret-forms.js";
import { signatureForms } from "./signature-forms.js";

/** What is known of a signature that does not match. */
export interface Evidence {
  settings: SignatureSettings;
  rawBody: Buffer;
  /** As it was given, whatever is around it. */
  signature: string;
  /** Bodies of other payments that lie near. */
  others: readonly Form<Buffer>[];
  environment: Environment;
}

/** Why the signature does not match, by trial; `undefined` where nothing fits. */
export function explain(evidence: Evidence): readonly Cause[] | undefined {
  const { settings, rawBody, others, environment } = evidence;
  const signatures = signatureForms(evidence.signature);
  const bodies = [...bodyForms(rawBody), ...others];
  if (settings.scheme === "public-key") return explainPublicKey(settings.publicKey ?? "", bodies, signatures);

  const ofFields = [rawBody, ...others.map(({ value }) => value)].flatMap((body, index) =>
    fieldForms(body, settings).map(({ value, causes }) => ({
      value,
      causes: [...(others[index - 1]?.causes ?? []), ...causes],
    })),
  );
  const isFields = settings.scheme === "fields";
  const otherScheme: Cause = isFields
    ? { code: "scheme_other", detail: "the whole body (hmac), not some fields of it" }
    : { code: "scheme_other", detail: "some fields of the body (fields), not the whole of it" };
  const under = (forms: readonly Form<Buffer>[]) =>
    forms.map(({ value, causes }) => ({ value, causes: [otherScheme, ...causes] }));

  const algorithm = settings.algorithm ?? "sha256";
  const digests = digestForms(getHashes().includes(algorithm) ? algorithm : "sha256");
  const found = findExplanation({
    secrets: secretForms(settings.secrets, environment),
    messages: isFields ? [...ofFields, ...under(bodies)] : [...bodies, ...under(ofFields)],
    digests,
    signatures,
  });
  if (found) return found;

  const orders = [...fieldOrders(rawBody, settings)];
  return findExplanation({
    secrets: settings.secrets.map(({ text }) => ({ value: Buffer.from(text), causes: [] })),
    messages: isFields ? orders : under(orders),
    digests: digests.slice(0, 1),
    signatures,
  });
}
