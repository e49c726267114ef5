import { type FileHandle } from "node:fs/promises";
import { realFileSystem, type FileSystem } from "../../../src/webhook/spool/spool-directory.js";

/** Functions that are called before the real ones, with the file's path. They may throw to fail, or wait. */
export interface Hooks {
  open?: (file: string) => void | Promise<void>;
  /** Replaces the write if it returns true. */
  write?: (handle: FileHandle, bytes: Buffer, file: string) => boolean | Promise<boolean>;
  datasync?: (file: string) => void | Promise<void>;
  /** Called after the bytes are on disk and before they are acknowledged. */
  datasynced?: (file: string) => void | Promise<void>;
  syncFile?: (file: string) => void | Promise<void>;
  syncDirectory?: (file: string) => void | Promise<void>;
  unlink?: (file: string) => void | Promise<void>;
  rename?: (file: string) => void | Promise<void>;
}

/** Returns the real file system with hooks. */
export function hooked(hooks: Hooks): FileSystem {
  const before =
    <Rest extends unknown[], Result>(
      hook: Hooks["open"],
      call: (file: string, ...rest: Rest) => Promise<Result>,
    ) =>
    async (file: string, ...rest: Rest): Promise<Result> => {
      await hook?.(file);
      return call(file, ...rest);
    };
  return {
    ...realFileSystem,
    unlink: before(hooks.unlink, realFileSystem.unlink),
    rename: before(hooks.rename, realFileSystem.rename as (from: string, to: string) => Promise<void>),
    open: before(hooks.open, async (file: string, flags: string, mode: number) =>
      hookedHandle(await realFileSystem.open(file, flags, mode), file, hooks),
    ),
  } as FileSystem;
}

function hookedHandle(handle: FileHandle, file: string, hooks: Hooks): FileHandle {
  const replaced: Record<string, unknown> = {
    async appendFile(bytes: Buffer) {
      if (!(await hooks.write?.(handle, bytes, file))) await handle.appendFile(bytes);
    },
    async datasync() {
      await hooks.datasync?.(file);
      await handle.datasync();
      await hooks.datasynced?.(file);
    },
    async sync() {
      if ((await handle.stat()).isDirectory()) await hooks.syncDirectory?.(file);
      else await hooks.syncFile?.(file);
      await handle.sync();
    },
  };
  return new Proxy(handle, {
    get(target, key) {
      const value: unknown = replaced[String(key)] ?? Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code });
}

/** Returns a promise and the function that resolves it. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
