import ts from "typescript";
import { readSources } from "./read-imports.js";

interface Declaration {
  name: string;
  file: string;
  isExported: boolean;
}

/** Returns what a file declares at its top level. A function with overloads counts once. */
function declarationsIn(file: string, text: string): Declaration[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const all = source.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    const isExported = modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    return namesIn(statement).map((name) => [name, { name, file, isExported }] as const);
  });
  return [...new Map(all).values()];
}

function namesIn(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => boundBy(name));
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name ? [statement.name.text] : [];
}

function boundBy(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : boundBy(element.name)));
}

/**
 * Returns the names that one file exports and another one declares, with the files. Two files may each have a name that neither
 * exports, such as `maxTries`: no import can bring the wrong one.
 */
function declaredTwice(declarations: readonly Declaration[]): Record<string, string[]> {
  const byName = new Map<string, Declaration[]>();
  for (const one of declarations) byName.set(one.name, [...(byName.get(one.name) ?? []), one]);
  const twice = [...byName].filter(([, all]) => all.length > 1 && all.some(({ isExported }) => isExported));
  return Object.fromEntries(twice.map(([name, all]) => [name, all.map(({ file }) => file)]));
}

describe("a name", () => {
  const sources = readSources();
  const found = declaredTwice(sources.flatMap(({ file, text }) => declarationsIn(file, text)));

  it("that a file exports is declared in no other file", () => {
    expect(Object.entries(found).map(([name, files]) => `${name}: ${files.join(", ")}`)).toEqual([]);
  });

  it("is found twice as a function, a class, a type or a constant, and not as a local one or with overloads", () => {
    const all = [
      ...declarationsIn(
        "a.ts",
        "export function one(): void; export function one() {} export const [two] = x;",
      ),
      ...declarationsIn("b.ts", "interface one {} class two {} type three = 1; const four = 1;"),
      ...declarationsIn("c.ts", "type four = 1; const three = () => { const one = 1; };"),
    ];
    expect(declaredTwice(all)).toEqual({ one: ["a.ts", "b.ts"], two: ["a.ts", "b.ts"] });
  });
});
