export { type SignatureScheme, type VerifyInput } from "./scheme.js";
export { type SigningScheme } from "./signing-scheme.js";
export { type SecretOption } from "./secrets.js";
export { type HmacAlgorithm } from "./hmac.js";
export { hmacSignature, type HmacSignatureOptions } from "./hmac-signature.js";
export { type CoveredBy, fieldsSignature, type FieldsSignatureOptions } from "./fields-signature.js";
export { canonicalFields, defaultSignedFields, type ListedField } from "./canonical-fields.js";
export { publicKeySignature, type PublicKeySignatureOptions } from "./public-key-signature.js";
export { type PublicKeyAlgorithm } from "./public-keys.js";
export { checkCoverage } from "./coverage.js";
export {
  indispensableFields,
  type IndispensableField,
  signedFields,
  type SignedField,
} from "../../model/signed-fields.js";
