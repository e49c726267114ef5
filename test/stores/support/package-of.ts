import { createRequire } from "node:module";
import path from "node:path";

const installed = createRequire(path.resolve("examples/stores/package.json"));

/** Returns a package of `examples/stores`, which is installed apart. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the types are those of a package that may be absent
export function packageOf<T>(name: string): T {
  return installed(name) as T;
}

/** Defines tests that need a package of `examples/stores`. Where it is not installed, a test says that they are left out. */
export function withPackages(about: string, names: readonly string[], define: () => void): void {
  const missing = names.find((name) => !isInstalled(name));
  if (missing === undefined) return define();
  it(`leaves ${about} out, because ${missing} is not installed: npm ci --prefix examples/stores`, () =>
    expect(isInstalled(missing)).toBe(false));
}

function isInstalled(name: string): boolean {
  try {
    installed.resolve(name);
    return true;
  } catch {
    return false;
  }
}
