import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { CannotRun } from "./options.mjs";

const megabytes = 24;

/**
 * A disk that can be filled: a file system in memory where mounting is allowed, so that writes fail with the system's "no space
 * left". Otherwise SQLite's page limit, which fails the same commits one layer higher.
 */
export function smallDisk(parent, wanted) {
  const folder = path.join(parent, "disk");
  mkdirSync(folder);
  const mounted = wanted !== "pages" && mount(folder);
  if (wanted === "mount" && !mounted)
    throw new CannotRun("Mounting a small file system is not possible here.");
  if (!mounted) return { kind: "pages", folder, remove: () => {} };
  const ballast = path.join(folder, "ballast");
  return {
    kind: "mount",
    folder,
    fill() {
      for (let size = 2 ** 20; size >= 1; size = Math.floor(size / 2)) {
        try {
          for (;;) appendFileSync(ballast, Buffer.alloc(size));
        } catch (error) {
          if (error.code !== "ENOSPC") throw error;
        }
      }
    },
    free: () => rmSync(ballast, { force: true }),
    remove: () => void execFileSync("umount", ["--lazy", folder]),
  };
}

function mount(folder) {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tillkit-crash", folder], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}
