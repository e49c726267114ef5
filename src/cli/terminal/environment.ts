import { parseEnv } from "node:util";
import { type Context, type OptionSpec, type Arguments } from "./command.js";
import { readBytes } from "./read-file.js";

export type Environment = Readonly<Record<string, string | undefined>>;

export const envFileOption: OptionSpec = {
  name: "env-file",
  value: "file",
  repeated: true,
  summary: "Reads variables from a file as `node --env-file` does: what is set already wins.",
};

/** The environment as the application would see it when it was started from here with the same files. */
export async function readEnvironment(args: Arguments, context: Context): Promise<Environment> {
  let fromFiles: Environment = {};
  for (const file of args.all("env-file")) {
    const text = (await readBytes(file, context)).toString("utf8");
    fromFiles = { ...fromFiles, ...parseEnv(text) };
  }
  return { ...fromFiles, ...context.env };
}
