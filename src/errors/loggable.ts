import { withoutSecrets } from "./conceal-secrets.js";

/** The parts of an error that are logged. */
export interface LoggableError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggableError;
}

/**
 * Returns the parts of an error that may be logged: name, code, message, stack and causes, without the kit's secrets.
 * Other properties stay out: drivers attach statements with their values, addresses with passwords, and request headers.
 */
export function loggable(error: unknown, depth = 0): LoggableError {
  if (typeof error !== "object" || error === null)
    return { type: typeof error, message: withoutSecrets(String(error)) };
  const { name, message, code, stack, cause } = error as Partial<Record<string, unknown>>;
  return {
    type: typeof name === "string" ? name : "Error",
    message: typeof message === "string" ? withoutSecrets(message) : "",
    ...((typeof code === "string" || typeof code === "number") && { code: withoutSecrets(String(code)) }),
    ...(typeof stack === "string" && depth === 0 && { stack: withoutSecrets(stack) }),
    ...(cause !== undefined && depth < 3 && { cause: loggable(cause, depth + 1) }),
  };
}
