import { withoutSecrets } from "./conceal-secrets.js";

/** What is written down of an error. */
export interface LoggableError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggableError;
}

/**
 * An error as it may be logged: its name, code, message and stack. Whatever else drivers hang on their errors (the
 * statement with its values, the address with its password, the request with its headers) stays out, and so does every
 * secret that the kit was given.
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
