import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(__dirname, "../../..");

interface Manifest {
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, object>;
}
interface Locked extends Manifest {
  integrity?: string;
  link?: boolean;
  inBundle?: boolean;
  hasInstallScript?: boolean;
}

const read = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), "utf8"));
const own = read("package.json") as Manifest;
const { packages } = read("package-lock.json") as { packages: Record<string, Locked> };

/** Returns the folder where a package finds another: in itself, or in one of its parents. */
function find(name: string, from: string): string | undefined {
  const places = from === "" ? [] : [`${from}/`];
  for (let at = from.lastIndexOf("/node_modules/"); at > 0; at = from.lastIndexOf("/node_modules/", at - 1))
    places.push(`${from.slice(0, at)}/`);
  return [...places, ""].map((place) => `${place}node_modules/${name}`).find((place) => place in packages);
}

/** Returns these packages and all their dependencies. */
function closure(names: readonly string[], from = "", found = new Set<string>()): Set<string> {
  for (const name of names) {
    const place = find(name, from);
    if (place === undefined || found.has(place)) continue;
    found.add(place);
    const { dependencies, optionalDependencies } = packages[place]!;
    closure(Object.keys({ ...dependencies, ...optionalDependencies }), place, found);
  }
  return found;
}

const scripted = (places: Iterable<string>) =>
  [...places].filter((place) => packages[place]!.hasInstallScript);

describe("what is installed with the kit", () => {
  const runtime = closure([...Object.keys(own.dependencies ?? {}), "express"]);
  const optional = closure(Object.keys(own.peerDependenciesMeta ?? {}));

  it("runs no script at installation", () => {
    expect(runtime.size).toBeGreaterThan(20);
    expect(scripted(runtime)).toEqual([]);
    const ownScripts = Object.keys(own.scripts ?? {});
    const hooks = [
      "preinstall",
      "install",
      "postinstall",
      "prepublish",
      "preprepare",
      "prepare",
      "postprepare",
    ];
    expect(ownScripts.filter((name) => hooks.includes(name))).toEqual([]);
  });

  it("has one package with a script among those that the user may add, which may be blocked because its binaries are in the package", () => {
    expect(scripted(optional)).toEqual(["node_modules/@photostructure/sqlite"]);
    const prebuilt = path.join(root, "node_modules/@photostructure/sqlite/prebuilds");
    const isInstalled = existsSync(path.dirname(prebuilt));
    // It is not installed where Node has SQLite itself and optional packages are omitted.
    const platforms = isInstalled ? readdirSync(prebuilt) : ["linux-x64"];
    expect(platforms.some((platform) => platform.startsWith("linux-x64"))).toBe(true);
  });

  it("is what was chosen, and its dependencies", () => {
    const { dependencies, peerDependencies } = own;
    const chosen = Object.keys({ ...dependencies, ...peerDependencies });
    expect(chosen.toSorted()).toEqual(
      ["@photostructure/sqlite", "body-parser", "express", "mysql2", "pg", "pino", "pino-http"].toSorted(),
    );
  });
});

it("every package of the lock file has a digest", () => {
  const fetched = Object.entries(packages).filter(
    ([place, { link, inBundle }]) => place.includes("node_modules/") && !link && !inBundle,
  );
  expect(fetched.length).toBeGreaterThan(100);
  const without = fetched.filter(([, { integrity }]) => !(integrity ?? "").startsWith("sha512-"));
  expect(without.map(([place]) => place)).toEqual([]);
});
