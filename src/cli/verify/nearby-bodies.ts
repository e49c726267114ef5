import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { changed, type Form } from "./diagnoses.js";

const mostFiles = 200;
const mostBytes = 64 * 1024;

/** Other files of the same kind in the same folder: the signature may be that of another payment's webhook. */
export async function nearbyBodies(file: string, cwd: string): Promise<Form<Buffer>[]> {
  if (file === "-") return [];
  const own = path.resolve(cwd, file);
  const folder = path.dirname(own);
  const names = (await readdir(folder).catch(() => [] as string[]))
    .filter((name) => path.extname(name) === path.extname(own) && name !== path.basename(own))
    .slice(0, mostFiles);
  const forms: Form<Buffer>[] = [];
  for (const name of names) {
    const bytes = await readSmall(path.join(folder, name));
    if (bytes) forms.push(changed(bytes, "body_other", `the body in the file ${name} beside it`));
  }
  return forms;
}

async function readSmall(file: string): Promise<Buffer | undefined> {
  try {
    const status = await stat(file);
    return status.isFile() && status.size <= mostBytes ? await readFile(file) : undefined;
  } catch {
    return undefined;
  }
}
