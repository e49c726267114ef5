/**
 * Returns whether NODE_ENV is production when it is called. A bundler replaces the usual expression by what NODE_ENV was
 * when it made the bundle; it does not see this one.
 */
export function isProduction(environment: NodeJS.ProcessEnv = process.env): boolean {
  return environment.NODE_ENV === "production";
}
