import { statfs } from "node:fs/promises";
import path from "node:path";
import { type Finding } from "../terminal/finding.js";
import { found } from "./findings.js";

/** Linux's numbers for kinds of file systems; see statfs(2). */
const memory = [0x01021994, 0x858458f6];
const network = [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997];

/** Whether what must outlive a restart lies on a disk that does. Known on Linux only. */
export async function checkDisk(
  what: string,
  file: string,
  { production, isDatabase }: { production: boolean; isDatabase: boolean },
): Promise<Finding[]> {
  const type = await kindOfDisk(path.resolve(file));
  if (type === undefined) return [];
  // For a trial any disk will do.
  if (memory.includes(type) && production)
    return [
      found("store_on_memory_disk", `${what} lies in the machine's memory, and is gone after a restart.`),
    ];
  if (network.includes(type) && isDatabase)
    return [
      found("store_on_network_disk", `${what} lies on a network disk.`, production ? "error" : "warning"),
    ];
  return [];
}

/** Of the file, or of the nearest folder above that exists. */
async function kindOfDisk(file: string): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  for (let at = file; ; at = path.dirname(at)) {
    try {
      return (await statfs(at)).type >>> 0;
    } catch {
      if (at === path.dirname(at)) return undefined;
    }
  }
}
