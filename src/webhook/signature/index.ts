export { checkCoverage, type SignatureScheme, type SigningScheme, type VerifyInput } from "./scheme.js";
export { type SecretOption } from "./secrets.js";
export { type HmacAlgorithm, hmacSignature, type HmacSignatureOptions } from "./hmac-signature.js";
export { type CoveredBy, fieldsSignature, type FieldsSignatureOptions } from "./fields-signature.js";
export { canonicalFields, defaultSignedFields, type ListedField } from "./canonical-fields.js";
export { publicKeySignature, type PublicKeySignatureOptions } from "./public-key-signature.js";
export { standardWebhooksSignature, type StandardWebhooksOptions } from "./standard-webhooks.js";
export { type PublicKeyAlgorithm } from "./public-keys.js";
export {
  indispensableFields,
  type IndispensableField,
  signedFields,
  type SignedField,
} from "../../model/signed-fields.js";
