import { existsSync } from "node:fs";
import path from "node:path";

const root = path.resolve(__dirname, "../..");

/** Where the tools that make clients and types from descriptions are installed. */
export const toolsFolder = path.join(root, "test/interfaces");

/** Runs the tests, or says why they are left out. */
export function withTools(subject: string, tests: () => void): void {
  if (existsSync(path.join(toolsFolder, "node_modules"))) return tests();
  it(`leaves ${subject} out, because the tools are not installed: npm ci --prefix test/interfaces`, () => {
    expect(existsSync(path.join(toolsFolder, "node_modules"))).toBe(false);
  });
}

/** The program of an installed tool. */
export const tool = (name: string): string => path.join(toolsFolder, "node_modules/.bin", name);
