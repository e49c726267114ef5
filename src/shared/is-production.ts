/**
 * Returns whether NODE_ENV is production at the time of the call. A bundler replaces `process.env.NODE_ENV`
 * by its value at build time, but does not find this expression.
 */
export function isProduction(environment: NodeJS.ProcessEnv = process.env): boolean {
  return environment.NODE_ENV === "production";
}
