// Writes the code of the package: CommonJS in few files.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { minifySync } from "@swc/core";
import { rollup } from "rollup";
import { inside } from "./inside.mjs";
import { codeOnly, tsc } from "./tsc.mjs";

const root = path.resolve(import.meta.dirname, "..");
const packages = path.join(root, "node_modules");

const names = { keep_fnames: true, keep_classnames: true, toplevel: true };
/** Options of swc. They keep the names of functions, so that a stack trace can be read. */
const smaller = { compress: names, mangle: names, format: { comments: false } };
const { peerDependenciesMeta: optional } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));

/** The entry points that package.json exports. */
export const entries = ["index", "store/sql/index", "statement/index", "sandbox/index", "testing/index"];

/**
 * Compiles the sources in `from`, and writes the entry points, the command and what they share to `folder`.
 * They are few files, because opening files is most of an import. Throws where the sources do not compile.
 */
export async function bundle(folder, from = root) {
  mkdirSync(path.join(root, ".tmp"), { recursive: true });
  const compiled = mkdtempSync(path.join(root, ".tmp/compiled-"));
  try {
    if (tsc("-p", path.join(from, "tsconfig.esm.json"), ...codeOnly, "--outDir", compiled) !== 0)
      throw new TypeError("The sources do not compile.");
    const build = await rollup({
      input: Object.fromEntries(
        [...entries, "cli/main"].map((name) => [name, path.join(compiled, `${name}.js`)]),
      ),
      external: (id) => !/^[./]/.test(id) && id !== inside,
      treeshake: { moduleSideEffects: false },
      plugins: [{ name: "imports", resolveId, renderDynamicImport, renderChunk }],
      onwarn: ({ id, ids = [id], message }) => {
        if (!ids.every(isInside)) throw new TypeError(message);
      },
    });
    await build.write({
      dir: folder,
      format: "cjs",
      exports: "named",
      esModule: true,
      interop: "auto",
      externalLiveBindings: false,
      dynamicImportInCjs: false,
      generatedCode: "es2015",
      chunkFileNames: "chunks/[name].js",
      manualChunks: (id) => (isInside(id) ? inside : undefined),
    });
    copyFileSync(path.join(packages, inside, "LICENSE"), path.join(folder, `chunks/${inside}.LICENSE`));
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
  writeFileSync(path.join(folder, "package.json"), '{"type":"commonjs"}\n');
}

function isInside(file) {
  return file?.startsWith(path.join(packages, inside, path.sep)) === true;
}

function resolveId(id) {
  return id === inside ? path.join(packages, inside, "index.js") : null;
}

/** Keeps the import of a file that the user names. It may be an ES module. */
function renderDynamicImport({ targetModuleId, customResolution }) {
  return targetModuleId === null && customResolution === null ? { left: "import(", right: ")" } : undefined;
}

function renderChunk(code, { name }) {
  // Without its comments, spaces and long names: they are more than half of zod, and an import reads them.
  if (name === inside) return { code: minifySync(code, smaller).code, map: null };
  const own = requireInsideTry(code);
  return { code: indentByTabs(own, this.parse(own)), map: null };
}

/** Indents by tabs, which is 0.1 MB less than by spaces. Text between backticks in the syntax tree stays as it is. */
export function indentByTabs(code, tree) {
  const templates = [];
  const walk = (node) => {
    if (node?.type === "TemplateElement") templates.push(node);
    else if (typeof node === "object" && node !== null) Object.values(node).forEach(walk);
  };
  walk(tree);
  const isText = (place) => templates.some(({ start, end }) => start < place && place <= end);
  return code.replace(/^(?: {4})+/gm, (spaces, place) =>
    isText(place) ? spaces : "\t".repeat(spaces.length / 4),
  );
}

/**
 * Moves each require of another package back into the try around its import: there a bundler accepts that the
 * package is missing. webpack would warn even there, so the requires of drivers are hidden from it.
 */
function requireInsideTry(code) {
  const moved =
    /Promise\.resolve\(\)\.then\(\(\) => (\/\*#__PURE__\*\/\w+\()(require\('([^.'][^']*)'\))(\))\)/g;
  const inTry = (_, begin, required, name, end) =>
    begin + (isDriver(name) ? unseenByWebpack(required) : required) + end;
  return code.replace(moved, inTry);
}

/** Returns whether a module is of a package that only some users install. */
function isDriver(name) {
  return Object.keys(optional).some((driver) => name === driver || name.startsWith(`${driver}/`));
}

/** Returns a call of require that webpack leaves to Node. Every other bundler finds the require. */
function unseenByWebpack(required) {
  return `typeof __webpack_require__ === "function" ? __non_webpack_${required.replace("(", "__(")} : ${required}`;
}
