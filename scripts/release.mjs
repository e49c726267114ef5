// Makes the files of a release in .tmp/release: the tarball, its SBOM and their checksums. Publishes nothing.
// `--rehearse` does not check the repository's address, the tag and the changelog, which only the publisher has.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { inside } from "./inside.mjs";

// The modes of the files are a part of the tarball.
process.umask(0o022);
const root = path.resolve(import.meta.dirname, "..");
const out = path.join(root, ".tmp/release");
const rehearse = process.argv.includes("--rehearse");
const {
  name: packageName,
  version,
  repository,
} = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));

const run = (command, args, options = {}) =>
  execFileSync(command, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    ...options,
  });

const problems = rehearse ? [] : findProblems();
if (problems.length > 0) {
  console.error(
    `tillkit ${version} cannot be released:\n${problems.map((problem) => `- ${problem}`).join("\n")}`,
  );
  process.exit(1);
}

const folder = mkdtempSync(path.join(tmpdir(), "tillkit-release-"));
try {
  // Two builds, in folders, time zones and languages that differ: what differs then depends on the machine.
  const first = build("first", { TZ: "UTC", LANG: "C" });
  const second = build("the-second", { TZ: "Indian/Comoro", LANG: "fr_FR.UTF-8" });
  if (hashOf(first) !== hashOf(second))
    throw new Error("Two builds of one commit gave two different tarballs.");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const files = [path.basename(first), `${packageName}-${version}.sbom.json`];
  copyFileSync(first, path.join(out, files[0]));
  const listed = run(
    "npm",
    ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--omit", "dev", "--omit", "peer"],
    { cwd: path.dirname(first) },
  );
  writeFileSync(path.join(out, files[1]), withInside(JSON.parse(listed)));
  const sums = files.map((file) => `${hashOf(path.join(out, file))}  ${file}\n`);
  writeFileSync(path.join(out, "SHA256SUMS"), sums.join(""));
  console.log(
    `${rehearse ? "Rehearsed" : "Made"} the release ${version} in .tmp/release. Two builds gave the same bytes.\n${sums.join("")}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Lists what a release lacks. */
function findProblems() {
  const tags = run("git", ["tag", "--points-at", "HEAD"]).split("\n");
  const changelog = readFileSync(path.join(root, "CHANGELOG.md"), "utf8");
  return [
    !repository?.url &&
      "package.json has no `repository`: the publisher writes the address there, and nowhere else.",
    run("git", ["status", "--porcelain"]) !== "" && "There are changes that are not committed.",
    !tags.includes(`v${version}`) && `The commit has no tag v${version}.`,
    !changelog.includes(`## ${version} (`) && `CHANGELOG.md has no section "## ${version} (date)".`,
  ].filter(Boolean);
}

/** Builds the committed files in a folder of their own, and returns the path of the tarball. */
function build(name, environment) {
  // npm takes the name of the SBOM's component from the folder.
  const target = path.join(folder, name, packageName);
  const options = { cwd: target, env: { ...process.env, ...environment } };
  run("git", ["clone", "--quiet", "--no-hardlinks", root, target]);
  // A rehearsal saves the time of an installation.
  if (rehearse) symlinkSync(path.join(root, "node_modules"), path.join(target, "node_modules"));
  else run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], options);
  run(process.execPath, ["scripts/build.mjs"], options);
  run("npm", ["pack", "--ignore-scripts", "--silent"], options);
  return path.join(
    target,
    readdirSync(target).find((file) => file.endsWith(".tgz")),
  );
}

/** Returns the SBOM with the package that is part of the build. npm lists it as a tool of development. */
function withInside(sbom) {
  const { packages } = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8"));
  const { version: built, license, integrity } = packages[`node_modules/${inside}`];
  const component = {
    "bom-ref": `${inside}@${built}`,
    type: "library",
    name: inside,
    version: built,
    scope: "required",
    purl: `pkg:npm/${inside}@${built}`,
    hashes: [
      { alg: "SHA-512", content: Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex") },
    ],
    licenses: [{ license: { id: license } }],
  };
  sbom.components.push(component);
  const own = sbom.dependencies.find(({ ref }) => ref === sbom.metadata.component["bom-ref"]);
  own.dependsOn.push(component["bom-ref"]);
  return `${JSON.stringify(sbom, undefined, 2)}\n`;
}

function hashOf(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
