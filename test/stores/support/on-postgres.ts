import { serverUrl } from "../../promises/processes/databases.js";
import { withPackages } from "./package-of.js";

/** Defines tests that need PostgreSQL and packages of `examples/stores`. Where one is absent, a test says that they are left out. */
export function onPostgres(about: string, packages: readonly string[], define: () => void): void {
  if (serverUrl("postgres") !== undefined) return withPackages(about, packages, define);
  it(`leaves ${about} out, because TILLKIT_TEST_POSTGRES_URL names no server`, () =>
    expect(serverUrl("postgres")).toBeUndefined());
}
