import { readdirSync, readFileSync } from "node:fs";
import { join, posix, relative, resolve } from "node:path";
import ts from "typescript";

/**
 * How a module is imported: `runtime` stays in the compiled file, `type` is erased from it, `dynamic` is an `import()`
 * that runs only when it is reached.
 */
export type ImportKind = "runtime" | "type" | "dynamic";

/** One import of one file. */
export interface Import {
  /** The importing file, from src on: `signature/verify.ts`. */
  file: string;
  /** What is imported: a file of the kit, from src on, or the name of a package. */
  target: string;
  /** Whether `target` is a file of the kit. */
  inside: boolean;
  kind: ImportKind;
  line: number;
}

export interface SourceFile {
  /** From src on: `signature/verify.ts`. */
  file: string;
  text: string;
  lines: number;
  imports: Import[];
}

const folder = resolve(__dirname, "../../src");

/** Every file of src with its imports. */
export function readSources(): SourceFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .toSorted()
    .map((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      return { file, text, lines: text.trimEnd().split("\n").length, imports: importsOf(file, text) };
    });
}

/** The imports of one file, re-exports included. */
export function importsOf(file: string, text: string): Import[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const imports: Import[] = [];
  const note = (node: ts.Node, specifier: ts.Node | undefined, kind: ImportKind): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const inside = specifier.text.startsWith(".");
    const target = inside
      ? posix.join(posix.dirname(file), specifier.text).replace(/\.js$/, ".ts")
      : specifier.text;
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    imports.push({ file, target, inside, kind, line });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) note(node, node.moduleSpecifier, kindOfImport(node.importClause));
    else if (ts.isExportDeclaration(node)) note(node, node.moduleSpecifier, kindOfExport(node));
    else if (ts.isImportTypeNode(node)) {
      note(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, "type");
    } else if (ts.isCallExpression(node)) {
      if (node.expression.kind === ts.SyntaxKind.ImportKeyword) note(node, node.arguments[0], "dynamic");
      const callee = node.expression.getText(source);
      if (/^(require|process\.getBuiltinModule)$/.test(callee)) note(node, node.arguments[0], "dynamic");
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return imports;
}

function kindOfImport(clause: ts.ImportClause | undefined): ImportKind {
  if (clause === undefined) return "runtime";
  if (clause.isTypeOnly) return "type";
  const named = clause.namedBindings;
  if (clause.name !== undefined || named === undefined || !ts.isNamedImports(named)) return "runtime";
  return onlyTypes(named.elements);
}

function kindOfExport(node: ts.ExportDeclaration): ImportKind {
  if (node.isTypeOnly) return "type";
  if (node.exportClause === undefined || !ts.isNamedExports(node.exportClause)) return "runtime";
  return onlyTypes(node.exportClause.elements);
}

/** The compiler erases an import whose every name is marked as a type. */
function onlyTypes(names: readonly { isTypeOnly: boolean }[]): ImportKind {
  return names.length > 0 && names.every(({ isTypeOnly }) => isTypeOnly) ? "type" : "runtime";
}
