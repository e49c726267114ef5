import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const folder = path.resolve(__dirname, "../../.github/workflows");
const workflows = readdirSync(folder).map((file) => ({
  file,
  text: readFileSync(path.join(folder, file), "utf8"),
}));

/** Returns the jobs of a workflow by name, as text. */
function jobsOf(text: string): Record<string, string> {
  const [, jobs = ""] = text.split(/^jobs:\n/m);
  const parts = jobs.split(/^ {2}(?:#.*\n {2})?(\w[\w-]*):\n/m).slice(1);
  return Object.fromEntries(
    parts.flatMap((name, index) => (index % 2 === 0 ? [[name, parts[index + 1]!]] : [])),
  );
}

describe.each(workflows)("the workflow $file", ({ file, text }) => {
  it("names each action by its commit, with the version in a comment", () => {
    const used = text.match(/uses: .*/g) ?? [];
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((line) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual(
      [],
    );
  });

  it("may only read, and needs no stored secret", () => {
    expect(text).toContain("\npermissions:\n  contents: read\n");
    expect(text).not.toMatch(/\$\{\{\s*secrets\./);
    const writing = Object.entries(jobsOf(text)).filter(([, job]) => job.includes(": write"));
    expect(writing.map(([name]) => name)).toEqual(file === "release.yml" ? ["stage", "assets"] : []);
  });

  it("keeps no token in a checkout", () => {
    const checkouts = text.match(/actions\/checkout@.*\n(?: +with:\n)? +persist-credentials: false/g) ?? [];
    expect(checkouts.length).toBe((text.match(/actions\/checkout@/g) ?? []).length);
  });
});

describe("the release", () => {
  const { text } = workflows.find(({ file }) => file === "release.yml")!;
  const jobs = jobsOf(text);

  it("asks for npm's identity only in jobs that run no code of the project or of its packages", () => {
    for (const job of [jobs["stage"]!, jobs["assets"]!]) {
      expect(job).toContain("id-token: write");
      expect(job).not.toMatch(/actions\/checkout|npm (ci|run|test|exec)|npx|node /);
    }
  });

  it("puts the package into the staging area, where a person approves it, and publishes nothing itself", () => {
    expect(jobs["stage"]).toContain("npm stage publish ./tillkit-*.tgz");
    expect(text).not.toMatch(/npm publish/);
    expect(jobs["assets"]).toContain("--draft");
  });

  it("stages and signs only what the comparing build made", () => {
    expect(jobs["build"]).toContain("npm run release");
    expect(jobs["stage"]).toMatch(
      /needs: build[^]*download-artifact[^]*sha256sum --check SHA256SUMS[^]*npm stage/,
    );
    expect(jobs["assets"]).toMatch(/needs: stage[^]*subject-checksums: SHA256SUMS/);
  });
});
