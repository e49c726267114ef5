/** The error in the body of a refused webhook, by the status of the answer. It tells a sender nothing about the reason. */
export const refusalErrors: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "signature_invalid",
  405: "method_not_allowed",
  408: "body_timeout",
  413: "body_too_large",
  415: "unsupported_media_type",
  429: "too_many_failures",
  500: "internal_error",
  503: "unavailable",
};
