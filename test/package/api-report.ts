import path from "node:path";
import ts from "typescript";

const entries = {
  tillkit: "src/index.ts",
  "tillkit/sql": "src/store/sql/index.ts",
  "tillkit/sandbox": "src/sandbox/index.ts",
  "tillkit/testing": "src/testing/index.ts",
  "tillkit/statement": "src/statement/index.ts",
};

/** Returns what each entry point exports: the declarations without bodies, comments and private members. */
export function apiReport(root: string): string {
  const files = Object.values(entries).map((entry) => path.join(root, entry));
  const { config } = ts.readConfigFile(path.join(root, "tsconfig.json"), (file) => ts.sys.readFile(file)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files }, ts.sys, root);
  const program = ts.createProgram(files, { ...options, noEmit: true, skipLibCheck: true });
  const checker = program.getTypeChecker();
  const sections = Object.entries(entries).map(([name, entry], index) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(files[index]!)!);
    if (!module) throw new Error(`${entry} exports nothing.`);
    const symbols = checker.getExportsOfModule(module).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return `// ${name}\n\n${symbols.map((symbol) => declarationsOf(symbol, checker)).join("\n\n")}\n`;
  });
  return sections.join("\n\n");
}

function declarationsOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const declarations = target.getDeclarations() ?? [];
  // The implementation of an overloaded function is not a part of the interface.
  const shown =
    declarations.length > 1 ? declarations.filter((one) => !("body" in one && one.body)) : declarations;
  const text = shown.map((declaration) => printed(declaration, target, checker)).join("\n");
  return target.name === symbol.name ? text : `/* as ${symbol.name} */ ${text}`;
}

const printer = ts.createPrinter({ removeComments: true, omitTrailingSemicolon: false });

function printed(declaration: ts.Declaration, symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const file = declaration.getSourceFile();
  if (ts.isVariableDeclaration(declaration)) {
    const type = checker.getTypeOfSymbolAtLocation(symbol, declaration);
    return `const ${symbol.name}: ${checker.typeToString(type, declaration, ts.TypeFormatFlags.NoTruncation)};`;
  }
  const print = (node: ts.Node): string => printer.printNode(ts.EmitHint.Unspecified, node, file);
  const { factory } = ts;
  if (ts.isFunctionDeclaration(declaration)) {
    const { name, typeParameters, parameters, type } = declaration;
    return print(
      factory.createFunctionDeclaration(
        undefined,
        undefined,
        name,
        typeParameters,
        parameters,
        type,
        undefined,
      ),
    );
  }
  if (ts.isClassDeclaration(declaration)) {
    const { name, typeParameters, heritageClauses } = declaration;
    const members = declaration.members.filter(isPublic).map((member) => withoutBody(member));
    return print(factory.createClassDeclaration(undefined, name, typeParameters, heritageClauses, members));
  }
  return print(declaration).replace(/^export /, "");
}

function isPublic(member: ts.ClassElement): boolean {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return (
    !(member.name && ts.isPrivateIdentifier(member.name)) && !(ts.getCombinedModifierFlags(member) & hidden)
  );
}

function withoutBody(member: ts.ClassElement): ts.ClassElement {
  const { factory } = ts;
  if (ts.isMethodDeclaration(member)) {
    const { modifiers, name, questionToken, typeParameters, parameters, type } = member;
    return factory.createMethodDeclaration(
      modifiers,
      undefined,
      name,
      questionToken,
      typeParameters,
      parameters,
      type,
      undefined,
    );
  }
  if (ts.isConstructorDeclaration(member))
    return factory.createConstructorDeclaration(member.modifiers, member.parameters, undefined);
  if (ts.isPropertyDeclaration(member) && member.type)
    return factory.createPropertyDeclaration(
      member.modifiers,
      member.name,
      member.questionToken ?? member.exclamationToken,
      member.type,
      undefined,
    );
  if (ts.isGetAccessorDeclaration(member))
    return factory.createGetAccessorDeclaration(
      member.modifiers,
      member.name,
      member.parameters,
      member.type,
      undefined,
    );
  return member;
}
