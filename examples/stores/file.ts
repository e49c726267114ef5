// The teaching example: a store in one plain file, for one process.
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { type BatchAdapter, type RecordChange, type StoredRecord } from "tillkit";

/**
 * Keeps all records in memory, and appends each write to a file as one line. The lock is the id of a process,
 * so processes of other machines and of other containers are not noticed: give the file to one container only.
 *
 * @throws Error if the path is a link, or if this process or another process of this machine has the file open.
 */
export function fileAdapter(path: string): BatchAdapter<RecordChange> {
  const unlock = lock(path);
  try {
    return open(path, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Makes a file with the name of this process, and refuses a path for which a living process has such a file. */
function lock(path: string): () => void {
  const prefix = `${basename(path)}.lock-`;
  // A new process can have the id of one that has crashed, but not its start.
  const own = `${prefix}${process.pid}-${Math.floor(performance.timeOrigin)}`;
  const inFolder = (name: string) => join(dirname(path), name);
  const refuse = (cause?: unknown): never => {
    throw new Error(`${path} is open already, and only one store can have it.`, { cause });
  };
  try {
    fs.closeSync(fs.openSync(inFolder(own), "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") refuse(error);
    throw error;
  }
  const unlock = () => fs.rmSync(inFolder(own), { force: true });
  // Only now are the others looked for. So of two that open the file at the same time, at least one is refused.
  for (const name of fs.readdirSync(dirname(path))) {
    if (!name.startsWith(prefix) || name === own) continue;
    const pid = Number(name.slice(prefix.length).split("-")[0]);
    if (pid !== process.pid && isAlive(pid)) {
      unlock();
      refuse();
    }
    fs.rmSync(inFolder(name), { force: true }); // Its process was killed.
  }
  return unlock;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"; // A process of another user refuses the signal.
  }
}

function open(path: string, unlock: () => void): BatchAdapter<RecordChange> {
  // The last step replaces what is at the path, so that a link of somebody else would be followed, and lost.
  const present = fs.lstatSync(path, { throwIfNoEntry: false });
  if (present && !present.isFile()) throw new Error(`${path} is no plain file.`);
  const records = new Map<string, StoredRecord>();
  const apply = ({ key, version, value }: RecordChange) => {
    if (value === null) records.delete(key);
    else records.set(key, { key, version: version + 1, value });
  };
  // A line without its end was cut off by a crash. It was never answered, and it is left out here.
  const lines = present ? fs.readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
  for (const line of lines) for (const change of JSON.parse(line) as RecordChange[]) apply(change);
  // A new file, because an append after half a line would be lost with it.
  fs.rmSync(`${path}.new`, { force: true });
  const file = fs.openSync(`${path}.new`, "ax", 0o600); // Fails where somebody has put a link there.
  let size = 0;
  const append = (changes: readonly RecordChange[]) => {
    const line = `${JSON.stringify(changes)}\n`;
    fs.ftruncateSync(file, size); // Half a line, where the disk was full.
    fs.appendFileSync(file, line);
    fs.fsyncSync(file);
    size += Buffer.byteLength(line);
  };
  append([...records.values()].map(({ key, version, value }) => ({ key, version: version - 1, value })));
  fs.renameSync(`${path}.new`, path);
  // Windows cannot open a directory, and does not need this call.
  if (process.platform !== "win32") {
    const directory = fs.openSync(dirname(path), "r");
    fs.fsyncSync(directory); // Otherwise a power failure could take the new name back.
    fs.closeSync(directory);
  }

  return {
    durable: true,
    async read(keys) {
      return keys.flatMap((key) => records.get(key) ?? []);
    },
    async scan({ from, to, limit, reverse }) {
      const found = [...records.values()].filter(({ key }) => key >= from && key < to);
      found.sort((a, b) => (a.key < b.key === reverse ? 1 : -1));
      return found.slice(0, limit);
    },
    async write(changes, items) {
      const isAsExpected = ({ key, version }: RecordChange) => (records.get(key)?.version ?? 0) === version;
      if (!changes.every(isAsExpected)) return false;
      // Nothing is awaited in here, so that no other write comes in between.
      append([...changes, ...items]);
      for (const change of [...changes, ...items]) apply(change);
      return true;
    },
    async close() {
      fs.closeSync(file);
      unlock();
    },
  };
}
