import { createHmac } from "node:crypto";
import { hasCode } from "../../errors/index.js";
import {
  defaultSignedFields,
  fieldsSignature,
  hmacSignature,
  type HmacAlgorithm,
  type ListedField,
  type SignatureScheme,
} from "../../webhook/signature/index.js";
import { readJson } from "../../shared/read-json.js";
import { throwMisuse } from "./misuse.js";
import { createSandboxSecret } from "./random.js";

/** A scheme that signs webhooks: any scheme of the kit that has `sign`, or your own object. */
export type SandboxSignature = Pick<SignatureScheme, "header" | "sign">;

/** A scheme that the sandbox makes itself. The dashboard shows its secret, and can rotate the secret. */
export interface SandboxSigning {
  /** `hmac` signs the raw body. `fields` signs fields of the body, joined by commas. */
  scheme: "hmac" | "fields";
  /**
   * The secret, which must begin with `sandbox_`, so that a real secret is refused.
   * @default a generated one
   */
  secret?: string | undefined;
  /** The header that contains the signature. @default "Service-Signature" */
  header?: string | undefined;
  /** The hash function of the HMAC. @default "sha256" */
  algorithm?: HmacAlgorithm | undefined;
  /** The merchant's identifier, which the scheme `fields` also signs. @default "sandbox-merchant" */
  merchantId?: string | undefined;
  /** The fields that the scheme `fields` signs, in this order. @default the defaults of fieldsSignature */
  fields?: readonly ListedField[] | undefined;
}

/** The present signature scheme of webhooks. */
export interface SigningState {
  /** The name of the scheme. `custom` is the program's own scheme, whose secret the sandbox does not know. */
  readonly scheme: "hmac" | "fields" | "custom";
  /** The header that contains the signature. */
  readonly header: string;
  /** The secret that signs at present. Absent for a custom scheme. */
  readonly secret?: string;
  /** The secret before the last rotation. */
  readonly previousSecret?: string;
  /** The hash function of the HMAC; absent for a custom scheme. */
  readonly algorithm?: HmacAlgorithm;
  /** The merchant's identifier, which the scheme `fields` also signs. */
  readonly merchantId?: string;
  /** The fields of the body that the scheme `fields` signs, in this order. */
  readonly fields?: readonly string[];
}

/** Signs webhooks, and holds the merchant's webhook secret. */
export class Signing {
  readonly #custom: SandboxSignature | undefined;
  readonly #options: SandboxSigning;
  #secret: string;
  #previous: string | undefined;
  /** A secret that was never valid, used as the old secret before the first rotation. */
  #neverValid: string | undefined;
  #scheme: SandboxSignature;

  constructor(signature: SandboxSignature | SandboxSigning | undefined) {
    this.#custom = signature && !("scheme" in signature) ? signature : undefined;
    this.#options = signature && "scheme" in signature ? signature : { scheme: "hmac" };
    this.#secret = this.#options.secret ?? createSandboxSecret();
    this.#scheme = this.#custom ?? createScheme(this.#options, this.#secret);
  }

  get state(): SigningState {
    const { header } = this.#scheme;
    if (this.#custom) return { scheme: "custom", header };
    const { algorithm, fields, merchantId } = signingDefaults(this.#options);
    return {
      scheme: this.#options.scheme,
      header,
      algorithm,
      secret: this.#secret,
      ...(this.#previous !== undefined && { previousSecret: this.#previous }),
      ...(this.#options.scheme === "fields" && { merchantId, fields }),
    };
  }

  /** Returns the value of the signature header. Throws the error of a custom scheme. */
  sign(rawBody: Buffer): string {
    return this.#signWith(this.#scheme, this.#secret, rawBody);
  }

  /** Returns an invalid signature, made with an unknown secret or with the previous secret. */
  signWrongly(rawBody: Buffer, how: "wrong" | "old-secret"): string {
    // A custom scheme has no other secret, so a right signature is altered.
    if (this.#custom) return alterLastDigit(this.sign(rawBody));
    const old = this.#previous ?? (this.#neverValid ??= createSandboxSecret());
    const secret = how === "old-secret" ? old : createSandboxSecret();
    return this.#signWith(createScheme(this.#options, secret), secret, rawBody);
  }

  /** Replaces the secret, and returns the new one. Throws `sandbox_misused` for a custom scheme. */
  rotate(): string {
    if (this.#custom)
      throwMisuse("The program gave its own signature scheme, so the sandbox cannot rotate the secret.");
    this.#use(createSandboxSecret(), this.#secret);
    return this.#secret;
  }

  /** Restores the secrets of an earlier run, unless the options gave a secret. */
  restore(saved: { secret: string; previousSecret?: string | undefined }): void {
    if (this.#custom || this.#options.secret !== undefined) return;
    this.#use(saved.secret, saved.previousSecret);
  }

  #use(secret: string, previous: string | undefined): void {
    this.#secret = secret;
    this.#previous = previous;
    this.#scheme = createScheme(this.#options, secret);
  }

  #signWith(scheme: SandboxSignature, secret: string, rawBody: Buffer): string {
    try {
      return scheme.sign!(rawBody);
    } catch (error) {
      if (this.#custom || !hasCode(error, "signed_fields_unreadable")) throw error;
      return signUnreadableFields(rawBody, secret, this.#options);
    }
  }
}

function signingDefaults({
  algorithm = "sha256",
  fields = defaultSignedFields,
  merchantId = "sandbox-merchant",
}: SandboxSigning) {
  return { algorithm, fields, merchantId };
}

/** Returns the scheme that signs with this secret. Throws a ConfigurationError if an option is not valid. */
export function createScheme(options: SandboxSigning, secret: string): SandboxSignature {
  const { scheme, header, algorithm, fields } = options;
  if (scheme === "hmac") return hmacSignature({ secret, header, algorithm });
  const { merchantId } = signingDefaults(options);
  return fieldsSignature({ secret, header, algorithm, fields, merchantId });
}

function alterLastDigit(signature: string): string {
  return signature.slice(0, -1) + (signature.endsWith("0") ? "1" : "0");
}

/** Signs fields that the kit's scheme refuses, because a real service may not check the fields. */
function signUnreadableFields(rawBody: Buffer, secret: string, options: SandboxSigning): string {
  const { algorithm, fields, merchantId } = signingDefaults(options);
  const body = readJson(rawBody.toString("utf8"));
  const values = fields.map((field) => (field === "merchantId" ? merchantId : printField(body, field)));
  return createHmac(algorithm, secret).update(values.join(",")).digest("hex");
}

function printField(body: unknown, field: string): string {
  let value = body;
  const path = ["topic", "timestamp", "type"].includes(field) ? [field] : ["data", ...field.split(".")];
  for (const step of path) {
    const holder = typeof value === "object" && value !== null ? value : {};
    value = Object.getOwnPropertyDescriptor(holder, step)?.value;
  }
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
