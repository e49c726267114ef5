import { type SignedField } from "../../model/signed-fields.js";

/** What is handed to a scheme for one webhook. */
export interface VerifyInput {
  /** The exact bytes that arrived. */
  rawBody: Buffer;
  /** Request headers with lower-case names; a repeated header is an array, so that it can be told apart. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /**
   * The body, strictly decoded (no duplicate keys, valid UTF-8, bounded depth). Present only for schemes that
   * cover fields rather than bytes; a body that cannot be decoded never reaches them.
   */
  payload?: Readonly<Record<string, unknown>>;
}

/**
 * Knows what is signed, how, and which fields the signature covers. The kit trusts nothing outside of
 * `covers`, whatever the body says.
 */
export interface SignatureScheme<Covers extends SignedField = SignedField> {
  /** The header that carries the signature, in any case; the interface document shows `Service-Signature`. */
  readonly header: string;
  /** `"body"`: every byte is signed. A list: only these fields are, and the rest is untrusted. */
  readonly covers: "body" | readonly Covers[];
  /**
   * Whether the signature is right. Resolve `false` or throw for a wrong one: both are answered 401. Compare in
   * constant time. To tell the log why, throw a {@link WebhookRejectedError}.
   */
  verify(input: VerifyInput): boolean | Promise<boolean>;
  /** The value of the header for this body. Used by the sandbox and by tests. */
  sign?(rawBody: Buffer): string;
  /** Findings that do not stop the kit, such as a secret shorter than 32 bytes. Logged once, at start. */
  readonly warnings?: readonly string[];
}
