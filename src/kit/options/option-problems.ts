import { type ConfigurationProblem } from "../../errors/index.js";
import { checkCoverage } from "../../webhook/signature/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { type PaymentStore } from "../../store/index.js";

/** What is wrong with the signature scheme; empty when nothing is. */
export function signatureProblems(scheme: SignatureScheme | undefined): ConfigurationProblem[] {
  const option = "signature";
  if (!scheme) {
    const message =
      "is not set; use hmacSignature, fieldsSignature or publicKeySignature. It cannot be left out.";
    return [{ code: "option_missing", option, message }];
  }
  if (typeof scheme.verify !== "function" || typeof scheme.header !== "string" || scheme.header === "") {
    return [{ code: "option_invalid", option, message: "must have a header and a verify function." }];
  }
  return checkCoverage(scheme);
}

const requiredMethods = ["transaction", "find", "lock", "save", "claim", "settle"] as const;

/** The same for the store. */
export function storeProblems<Tx>(
  store: PaymentStore<Tx> | undefined,
  { NODE_ENV }: NodeJS.ProcessEnv,
): ConfigurationProblem[] {
  const option = "store";
  if (!store) {
    const message = 'is not set; sqliteStore("shop.db") of tillkit/sql is a good first one.';
    return [{ code: "option_missing", option, message }];
  }
  const lacking = requiredMethods.filter((method) => typeof store[method] !== "function");
  if (lacking.length > 0) {
    return [{ code: "option_invalid", option, message: `must have the methods ${lacking.join(", ")}.` }];
  }
  if (store.durable || NODE_ENV !== "production") return [];
  const message = "forgets everything at exit, and NODE_ENV is production; use a store that is durable.";
  return [{ code: "store_not_durable", option, message }];
}

/** Only http(s) addresses and paths: a template must not become a script or another host. */
export function returnAddressProblems(option: string, address: string | undefined): ConfigurationProblem[] {
  if (address === undefined) return [];
  // Control characters would be refused in a header, and half a character cannot be written at all.
  const isWritable = !/[\s\p{Cc}\p{Surrogate}]/u.test(address);
  const isPath = /^\/(?![/\\])[^\s\\]*$/.test(address);
  const isAbsolute = /^https?:\/\/[^\s\\{}/?#@]+([/?#][^\s\\]*)?$/.test(address);
  if (isWritable && (isPath || isAbsolute)) return [];
  const message =
    "must be a path such as /orders/{reference}, or an absolute http(s) address with a fixed host.";
  return [{ code: "option_invalid", option, message }];
}
