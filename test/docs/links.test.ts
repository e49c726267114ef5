import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { documents, prose, read, root } from "./documents.js";

/** Returns the anchor that GitHub gives to a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

function anchorsOf(file: string): string[] {
  return [...prose(read(file)).matchAll(/^#+ (.+)$/gm)].map((match) => anchorOf(match[1]!));
}

describe.each(documents)("the document $file", ({ file, text }) => {
  it("links to files and headings that exist", () => {
    const links = [...prose(text).matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1]!);
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [target = "", anchor] = link.split("#");
      const found = target === "" ? file : path.join(path.dirname(file), target);
      if (!existsSync(path.join(root, found))) return true;
      return anchor !== undefined && !anchorsOf(found).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  // The decisions are explained by their index. The package does not have the sources.
  if (!/^(docs\/adr\/0|\.github\/)/.test(file)) {
    it("says that the files of src, test and scripts are in the repository, where it names one", () => {
      const names = /`(src|test|scripts)\//.test(prose(text));
      expect(!names || text.includes("repository")).toBe(true);
    });
  }

  it("names only files of src and test that exist", () => {
    const paths = [...prose(text).matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map((match) => match[1]!);
    expect(paths.filter((one) => !existsSync(path.join(root, one)))).toEqual([]);
  });
});

describe("ARCHITECTURE.md", () => {
  it("names every folder and file at the top of src", () => {
    const map = read("ARCHITECTURE.md");
    const entries = readdirSync(path.join(root, "src"), { withFileTypes: true });
    const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    expect(names.filter((name) => !map.includes(`\`${name}\``))).toEqual([]);
  });
});

describe("CONTRIBUTING.md", () => {
  it("gives a reason for every dependency", () => {
    const page = read("CONTRIBUTING.md");
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      read("package.json"),
    ) as Record<string, Record<string, string> | undefined>;
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
