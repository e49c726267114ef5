// Builds the site of the documents in site/dist, and follows every link and anchor of it.
// `npm run docs -- --help`
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const help = `npm run docs -- [options]

Installs VitePress into site/ where it is absent, copies the pages of the package into site/.tmp, makes a page of each exported type and
function from the comments in src, and builds site/dist. Then it follows every link and anchor of the built pages. Exits with 0 when all of them lead somewhere.

  --if-installed  Builds nothing where VitePress is not installed.
  --serve         Serves the built site afterwards, until it is stopped.
  --help          Shows this.

TILLKIT_DOCS_BASE is the path below which the site will be served, such as /tillkit/. Default: /.`;

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const site = path.join(root, "site");
const pages = path.join(site, ".tmp");
const built = path.join(site, "dist");
const vitepress = path.join(site, "node_modules/vitepress/bin/vitepress.js");

const options = new Set(process.argv.slice(2));
if (options.has("--help")) {
  console.log(help);
} else if (options.has("--if-installed") && !existsSync(vitepress)) {
  console.log("The site was left out, because VitePress is not installed: npm run docs");
} else {
  if (!existsSync(vitepress))
    run("npm", ["ci", "--prefix", site, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]);
  copyPages();
  writeApi();
  run(process.execPath, [vitepress, "build", site, "--logLevel", "error"]);
  const dead = deadLinks();
  for (const { page, link } of dead) console.error(`${page}: ${link} leads nowhere`);
  console.log(`${htmlFiles().length} pages in ${path.relative(root, built)}, ${dead.length} dead links.`);
  process.exitCode = dead.length > 0 ? 1 : 0;
  if (options.has("--serve")) run(process.execPath, [vitepress, "preview", site]);
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}.`);
}

/** Copies what the package has of documents. A README is the index of its folder. */
function copyPages() {
  rmSync(pages, { recursive: true, force: true });
  const top = readdirSync(root).filter((file) => /\.md$|^LICENSE$/.test(file));
  const programs = [...filesBelow("examples/stores", /^[^/]+\.ts$/), ...filesBelow("examples/scenarios")];
  for (const file of [...top, "bench/README.md", ...filesBelow("docs"), ...programs]) copyPage(file);
  const sections = sidebarOf(readFileSync(path.join(root, "docs/README.md"), "utf8"));
  writeFileSync(path.join(pages, "sidebar.mjs"), `export const sidebar = ${JSON.stringify(sections)};\n`);
}

function filesBelow(folder, passes = /./) {
  return readdirSync(path.join(root, folder), { recursive: true })
    .filter((file) => passes.test(file) && statSync(path.join(root, folder, file)).isFile())
    .map((file) => path.posix.join(folder, file.replaceAll(path.sep, "/")));
}

function copyPage(file) {
  if (!file.endsWith(".md") && file !== "LICENSE") {
    // Images are part of the pages. Everything else is served as it is.
    const target = path.join(pages, file.endsWith(".svg") ? file : `public/${file}`);
    mkdirSync(path.dirname(target), { recursive: true });
    cpSync(path.join(root, file), target);
    return;
  }
  const target = path.join(pages, file.replace(/README\.md$/, "index.md").replace(/^LICENSE$/, "LICENSE.md"));
  const text = readFileSync(path.join(root, file), "utf8")
    .replaceAll(/\]\(([^)\s]*?)README\.md/g, "]($1index.md")
    .replaceAll("](LICENSE)", "](LICENSE.md)");
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, file === "LICENSE" ? `# MIT licence\n\n${text}` : text);
}

/** Writes a page for each exported type and function, from its types and comments. */
function writeApi() {
  const typedoc = path.join(site, "node_modules/typedoc/bin/typedoc");
  run(process.execPath, [typedoc, "--options", path.join(site, "typedoc.json"), "--logLevel", "Error"]);
  renameSync(path.join(pages, "api/README.md"), path.join(pages, "api/index.md"));
}

/** Returns the sidebar: the sections of the index, with their groups and links. */
function sidebarOf(index) {
  const sections = index.split(/^## /m).slice(1);
  return sections.map((section) => {
    const [title, ...rest] = section.split("\n");
    const groups = rest.join("\n").split(/^### /m);
    const own = linksOf(groups[0]);
    const named = groups.slice(1).map((group) => ({
      text: group.split("\n", 1)[0],
      collapsed: false,
      items: linksOf(group),
    }));
    return { text: title, items: [...own, ...named] };
  });
}

/** Returns the links of a table's rows. A question's only link has the question as its text. */
function linksOf(text) {
  return [...text.matchAll(/^\|([^|]*)\|.*$/gm)].flatMap(([row, first]) => {
    const links = [...row.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)];
    const question = first.trim();
    return links.map(([, title, link]) => ({
      text: links.length === 1 && question.endsWith("?") ? question : title,
      link: path.posix
        .join("/docs", link)
        .replace(/README\.md$/, "")
        .replace(/\.md(?=#|$)/, ""),
    }));
  });
}

function htmlFiles() {
  return readdirSync(built, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".html"));
}

/** Returns the links of the built pages to files or anchors that are not there. */
function deadLinks() {
  const base = process.env["TILLKIT_DOCS_BASE"] ?? "/";
  const builtPages = new Map(htmlFiles().map((file) => [file, readFileSync(path.join(built, file), "utf8")]));
  return [...builtPages].flatMap(([page, text]) => {
    const links = [...text.matchAll(/<a [^>]*?href="([^"]+)"/g)].map(([, link]) =>
      link.replaceAll("&amp;", "&"),
    );
    const dead = links.filter((link) => {
      if (/^(https?:|mailto:)/.test(link)) return false;
      const { pathname, hash } = new URL(link, `http://site${base}${page}`);
      let file = decodeURIComponent(pathname).slice(base.length);
      if (file === "" || file.endsWith("/")) file += "index.html";
      if (!path.extname(file)) file += ".html";
      if (!existsSync(path.join(built, file))) return true;
      const anchor = decodeURIComponent(hash.slice(1));
      return anchor !== "" && !builtPages.get(file)?.includes(`id="${anchor}"`);
    });
    return [...new Set(dead)].map((link) => ({ page, link }));
  });
}
