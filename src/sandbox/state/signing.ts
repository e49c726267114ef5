import {
  defaultSignedFields,
  fieldsSignature,
  hmacSignature,
  type HmacAlgorithm,
} from "../../webhook/signature/index.js";
import { hasCode } from "../../errors/index.js";
import { misused } from "../misused.js";
import { type SandboxSignature, type SandboxSigning } from "../options.js";
import { joinedFieldsSignature } from "./join-fields.js";
import { sandboxSecret } from "./sandbox-secret.js";

/** How webhooks are signed at this moment. */
export interface SigningState {
  /** `custom`: the program gave a scheme of its own, whose secret the sandbox does not know. */
  readonly scheme: "hmac" | "fields" | "custom";
  readonly header: string;
  readonly secret?: string;
  /** The secret before the last rotation. */
  readonly previousSecret?: string;
  /** Absent for a scheme of the program's own. */
  readonly algorithm?: HmacAlgorithm;
  readonly merchantId?: string;
  /** What is signed, in this order, where that is fields of the body. */
  readonly fields?: readonly string[];
}

/** The merchant's webhook secret, and what is done with it. */
export class Signing {
  readonly #custom: SandboxSignature | undefined;
  readonly #chosen: SandboxSigning;
  #secret: string;
  #previous: string | undefined;
  /** An old secret, where none was rotated yet. */
  #invented: string | undefined;
  #scheme: SandboxSignature;

  constructor(signature: SandboxSignature | SandboxSigning | undefined) {
    this.#custom = signature && !("scheme" in signature) ? signature : undefined;
    this.#chosen = signature && "scheme" in signature ? signature : { scheme: "hmac" };
    this.#secret = this.#chosen.secret ?? sandboxSecret();
    this.#scheme = this.#custom ?? schemeOf(this.#chosen, this.#secret);
  }

  get state(): SigningState {
    const { header } = this.#scheme;
    if (this.#custom) return { scheme: "custom", header };
    const { scheme, algorithm = "sha256", fields = defaultSignedFields } = this.#chosen;
    return {
      scheme,
      header,
      algorithm,
      secret: this.#secret,
      ...(this.#previous !== undefined && { previousSecret: this.#previous }),
      ...(scheme === "fields" && { merchantId: merchantIdOf(this.#chosen), fields }),
    };
  }

  /** The value of the header. Throws what a scheme of the program's own throws. */
  sign(rawBody: Buffer): string {
    return this.#signWith(this.#scheme, this.#secret, rawBody);
  }

  /** As somebody would sign who never saw the secret; `old`: who saw the one before it. */
  signWrongly(rawBody: Buffer, how: "wrong" | "old-secret"): string {
    if (this.#custom) return flipLast(this.sign(rawBody));
    const secret =
      how === "old-secret" ? (this.#previous ?? (this.#invented ??= sandboxSecret())) : sandboxSecret();
    return this.#signWith(schemeOf(this.#chosen, secret), secret, rawBody);
  }

  #signWith(scheme: SandboxSignature, secret: string, rawBody: Buffer): string {
    try {
      return scheme.sign!(rawBody);
    } catch (error) {
      if (this.#custom || !hasCode(error, "signed_fields_unreadable")) throw error;
      const { algorithm = "sha256", fields = defaultSignedFields } = this.#chosen;
      const merchantId = merchantIdOf(this.#chosen);
      return joinedFieldsSignature(rawBody, { secret, algorithm, fields, merchantId });
    }
  }

  /** Makes a new secret, which signs from now on; answers it. */
  rotate(): string {
    if (this.#custom) misused("The signature scheme was given by the program, and so is its secret.");
    this.#previous = this.#secret;
    this.#secret = sandboxSecret();
    this.#scheme = schemeOf(this.#chosen, this.#secret);
    return this.#secret;
  }

  /** Takes over the secrets of an earlier run of the same sandbox. */
  resume(kept: { secret: string; previousSecret?: string | undefined }): void {
    if (this.#custom || this.#chosen.secret !== undefined) return;
    this.#secret = kept.secret;
    this.#previous = kept.previousSecret;
    this.#scheme = schemeOf(this.#chosen, this.#secret);
  }
}

/** The merchant's identifier, which such services sign along. */
export const defaultMerchantId = "sandbox-merchant";

function merchantIdOf({ merchantId = defaultMerchantId }: SandboxSigning): string {
  return merchantId;
}

/**
 * The scheme that signs with this secret.
 *
 * @throws ConfigurationError where the scheme refuses its options.
 */
export function schemeOf(signing: SandboxSigning, secret: string): SandboxSignature {
  const { scheme, header, algorithm, fields } = signing;
  if (scheme === "hmac") return hmacSignature({ secret, header, algorithm });
  return fieldsSignature({ secret, header, algorithm, fields, merchantId: merchantIdOf(signing) });
}

/** The scheme is not the sandbox's own, so that all it can do wrong is to spoil a right one. */
function flipLast(signature: string): string {
  return signature.slice(0, -1) + (signature.endsWith("0") ? "1" : "0");
}
