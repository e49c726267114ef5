import { transformSync } from "@swc/core";
import * as tillkit from "tillkit";
import * as sql from "tillkit/sql";
import { codeBlocks, read } from "./documents.js";

/**
 * Runs a TypeScript block of a page as the body of an async function. The names of `scope`, and those that the packages export, are
 * there without an import, as a page uses them.
 */
export async function runBlock(page: string, index: number, scope: Record<string, unknown>): Promise<void> {
  const block = codeBlocks(read(page))[index]!;
  const imports = /^import [^;]*;$/gm;
  const source = `${(block.match(imports) ?? []).join("\n")}
    export async function run() {\n${block.replaceAll(imports, "")}\n}`;
  const { code } = transformSync(source, {
    jsc: { target: "es2022", parser: { syntax: "typescript" } },
    module: { type: "commonjs" },
  });
  const names = { ...tillkit, ...sql, ...scope };
  const exports: { run?: () => Promise<void> } = {};
  // oxlint-disable-next-line no-implied-eval
  new Function("require", "exports", ...Object.keys(names), code)(require, exports, ...Object.values(names));
  await exports.run!();
}
