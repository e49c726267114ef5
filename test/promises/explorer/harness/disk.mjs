import path from "node:path";

/** The part of `node:fs/promises` that the spool uses, over files of which a power failure keeps only what was synced. */
export class SimulatedDisk {
  #world;
  #inodes = 0;
  /** The files that processes see, by path. */
  #entries = new Map();
  /** The files that survive a power failure, by path. */
  #durable = new Map();
  /** The changes of entries since the last sync of their folder, in order. */
  #journal = [];
  #folders = new Set(["/"]);
  /** What `lstat` says otherwise, by path. */
  attributes = new Map();

  constructor(world) {
    this.#world = world;
  }

  /** Returns the paths of all files. */
  files() {
    return [...this.#entries.keys()];
  }

  /** Replaces the content of a file, or removes it, as somebody else on this machine could. Returns what was there. */
  replace(name, content) {
    const file = this.#entries.get(name);
    const before = file?.content;
    if (file && content) Object.assign(file, { content, synced: content.length });
    else if (file) this.#change([[name, undefined]]);
    else if (content)
      this.#change([[name, { ino: BigInt(++this.#inodes), content, synced: content.length, mtimeMs: 0 }]]);
    return before;
  }

  /** Returns whether a file contains the text, after a power failure too. */
  holdsDurably(text) {
    for (const file of this.#durable.values())
      if (file.content.subarray(0, file.synced).includes(text)) return true;
    return false;
  }

  /** Returns whether a file contains the text now. */
  holds(text, folder) {
    return this.count(text, folder) > 0;
  }

  /** Returns how often the files contain the text now. */
  count(text, folder) {
    let count = 0;
    for (const [name, file] of this.#entries)
      if (name.startsWith(folder)) count += file.content.toString("latin1").split(text).length - 1;
    return count;
  }

  /** Forgets what was not synced: some or all of it. */
  failPower() {
    const { random } = this.#world;
    const kept = random.below(this.#journal.length + 1);
    for (const changes of this.#journal.slice(0, kept)) this.#keep(changes);
    this.#journal = [];
    this.#entries = new Map(this.#durable);
    for (const file of new Set(this.#entries.values())) {
      const most = file.lostFrom ?? file.content.length;
      const length = file.synced + random.below(Math.max(0, most - file.synced) + 1);
      file.content = Buffer.from(file.content.subarray(0, length));
      file.synced = length;
      file.lostFrom = undefined;
    }
  }

  mkdir(folder) {
    return this.#io(`mkdir`, () => {
      if (this.#folders.has(folder)) return undefined;
      let first = folder;
      for (let made = folder; !this.#folders.has(made); made = path.dirname(made)) {
        this.#folders.add(made);
        first = made;
      }
      return first;
    });
  }

  readdir(folder) {
    return this.#io("readdir", () => {
      if (!this.#folders.has(folder)) throw failure("ENOENT", folder);
      return this.files().flatMap((file) => (path.dirname(file) === folder ? [path.basename(file)] : []));
    });
  }

  readFile(name) {
    return this.#io("readFile", () => Buffer.from(this.#find(name).content));
  }

  stat(name, options) {
    return this.#io("stat", () => statsOf(this.#find(name), options));
  }

  access(name) {
    return this.#io("access", () => {
      if (!this.#folders.has(name)) this.#find(name);
    });
  }

  lstat(name) {
    return this.#io("lstat", () => {
      const stats = this.#folders.has(name)
        ? { ...owned, isDirectory: () => true }
        : statsOf(this.#find(name));
      return { ...stats, ...this.attributes.get(name) };
    });
  }

  chmod(name, mode) {
    return this.#io("chmod", () => void this.attributes.set(name, { ...this.attributes.get(name), mode }));
  }

  link(from, to) {
    return this.#io("link", () => {
      if (this.#entries.has(to)) throw failure("EEXIST", to);
      this.#change([[to, this.#find(from)]]);
    });
  }

  unlink(name) {
    return this.#io("unlink", () => {
      this.#find(name);
      this.#change([[name, undefined]]);
    });
  }

  rename(from, to) {
    return this.#io("rename", () => {
      const file = this.#find(from);
      this.#change([
        [from, undefined],
        [to, file],
      ]);
    });
  }

  utimes(name, _accessed, modified) {
    return this.#io("utimes", () => void (this.#find(name).mtimeMs = modified.getTime()));
  }

  open(name, flags) {
    return this.#io(`open ${flags}`, () => {
      if (this.#folders.has(name)) return this.#folderHandle(name);
      if (flags === "r") return this.#fileHandle(this.#find(name));
      if (!this.#folders.has(path.dirname(name))) throw failure("ENOENT", name);
      if (this.#entries.has(name)) throw failure("EEXIST", name);
      const content = Buffer.alloc(0);
      const mtimeMs = this.#world.wall();
      const file = { ino: BigInt(++this.#inodes), content, synced: 0, lostFrom: undefined, mtimeMs };
      this.#change([[name, file]]);
      return this.#fileHandle(file);
    });
  }

  #folderHandle(folder) {
    return {
      sync: () =>
        this.#io("sync folder", () => {
          const isHere = (changes) => changes.some(([name]) => path.dirname(name) === folder);
          for (const changes of this.#journal) if (isHere(changes)) this.#keep(changes);
          this.#journal = this.#journal.filter((changes) => !isHere(changes));
        }),
      close: () => this.#io("close", () => undefined),
    };
  }

  #fileHandle(file) {
    const append = (bytes) =>
      this.#io("append", (fault) => {
        const all = Buffer.from(bytes);
        // A disk that becomes full takes a part.
        const taken = fault ? all.subarray(0, this.#world.random.below(all.length + 1)) : all;
        file.content = Buffer.concat([file.content, taken]);
        file.mtimeMs = this.#world.wall();
      });
    const sync = () =>
      this.#io("sync file", (fault) => {
        // After a failed sync the system may drop the pages, and report the next one as done.
        if (fault) file.lostFrom ??= file.synced;
        file.synced = file.lostFrom ?? file.content.length;
      });
    return {
      read: (buffer, offset, length, position) =>
        this.#io("read", () => ({
          bytesRead: file.content.copy(buffer, offset, position, position + length),
          buffer,
        })),
      appendFile: append,
      writeFile: append,
      sync,
      datasync: sync,
      stat: (options) => this.#io("stat", () => statsOf(file, options)),
      close: () => this.#io("close", () => undefined),
    };
  }

  #change(changes) {
    for (const [name, file] of changes)
      if (file) this.#entries.set(name, file);
      else this.#entries.delete(name);
    this.#journal.push(changes);
  }

  #keep(changes) {
    for (const [name, file] of changes)
      if (file) this.#durable.set(name, file);
      else this.#durable.delete(name);
  }

  #find(name) {
    const file = this.#entries.get(name);
    if (!file) throw failure("ENOENT", name);
    return file;
  }

  #io(label, effect) {
    return this.#world.io("disk", `disk ${label}`, effect);
  }
}

/** What `lstat` says of a file that belongs to this user alone. */
const owned = {
  uid: process.geteuid?.(),
  mode: 0o600,
  isSymbolicLink: () => false,
  isDirectory: () => false,
  isFile: () => false,
};

function statsOf({ ino, content, mtimeMs }, { bigint = false } = {}) {
  return {
    ...owned,
    isFile: () => true,
    dev: bigint ? 1n : 1,
    ino: bigint ? ino : Number(ino),
    size: content.length,
    mtimeMs,
  };
}

function failure(code, name) {
  return Object.assign(new Error(`${code}: ${name}`), { code });
}
