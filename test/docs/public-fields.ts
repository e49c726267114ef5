import path from "node:path";
import ts from "typescript";
import { root } from "./documents.js";

/** A field of an exported interface or object type, and its doc comment. */
export interface PublicField {
  /** The name of the type. */
  type: string;
  name: string;
  /** The file and line of the declaration. */
  place: string;
  isOptional: boolean;
  /** The first paragraph of the comment; empty if there is none. */
  summary: string;
  default: string | undefined;
  see: string | undefined;
}

const entries = ["index", "store/sql/index", "statement/index", "sandbox/index", "testing/index"];

/** Returns the fields of every type that the package exports. */
export function publicFields(): PublicField[] {
  const files = entries.map((entry) => path.join(root, "src", `${entry}.ts`));
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: [],
  });
  const checker = program.getTypeChecker();
  const exported = files.flatMap((file) => {
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    return checker.getExportsOfModule(symbol).map((one) => {
      return one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one;
    });
  });
  return [...new Set(exported)].flatMap(({ name, declarations = [] }) =>
    declarations.flatMap((declaration) => membersIn(declaration).map((member) => fieldOf(name, member))),
  );
}

/** Returns the properties and methods of an interface or of an object type, also of one in a union. */
function membersIn(node: ts.Node): ts.TypeElement[] {
  if (ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node))
    return node.members.filter(
      (member) => (ts.isPropertySignature(member) || ts.isMethodSignature(member)) && !isInternal(member),
    );
  if (ts.isTypeAliasDeclaration(node)) return membersIn(node.type);
  if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node)) return node.types.flatMap(membersIn);
  return [];
}

function isInternal(member: ts.Node): boolean {
  return ts.getJSDocTags(member).some(({ tagName }) => tagName.text === "internal");
}

function fieldOf(type: string, member: ts.TypeElement): PublicField {
  const source = member.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(member.getStart());
  const [comment] = ts.getJSDocCommentsAndTags(member);
  const summary = comment && ts.isJSDoc(comment) ? ts.getTextOfJSDocComment(comment.comment) : undefined;
  const tags = ts.getJSDocTags(member);
  const tag = (name: string): string | undefined => {
    const found = tags.find(({ tagName }) => tagName.text === name);
    return found && oneLine(found.getText().slice(name.length + 1));
  };
  return {
    type,
    name: (member.name as ts.PropertyName).getText().replaceAll('"', ""),
    place: `${path.relative(root, source.fileName)}:${line + 1}`,
    isOptional: member.questionToken !== undefined,
    summary: oneLine(summary?.split("\n\n")[0] ?? ""),
    default: tag("default"),
    see: tag("see"),
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*\*?\s*/g, " ").trim();
}
