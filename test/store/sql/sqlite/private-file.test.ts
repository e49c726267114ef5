import {
  chmodSync,
  chownSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { sqliteStore } from "tillkit/sql";

let folder = "";
let umask = 0;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tillkit-private-"));
  umask = process.umask(0);
});
afterEach(() => {
  jest.restoreAllMocks();
  process.umask(umask);
  rmSync(folder, { recursive: true, force: true });
});

const file = () => path.join(folder, "shop.db");

/** Opens the store once, and closes it. */
async function openOnce(look: () => void = () => {}): Promise<void> {
  const store = sqliteStore(file());
  try {
    await store.find("c-1");
    look();
  } finally {
    await store.close();
  }
}

it("creates the file, its log and its index for this user only, whatever the umask is", async () => {
  await openOnce(() => {
    for (const ending of ["", "-wal", "-shm"]) expect(statSync(file() + ending).mode & 0o777).toBe(0o600);
  });
});

it("opens a file that others may read", async () => {
  await openOnce();
  chmodSync(file(), 0o644);
  await expect(openOnce()).resolves.toBeUndefined();
});

describe("refuses to open", () => {
  it.each<[string, string, () => void]>([
    [
      "a file that others may write to",
      "can be written by all users (mode 666)",
      () => chmodSync(file(), 0o666),
    ],
    [
      "a link",
      "is a symbolic link",
      () => {
        renameSync(file(), `${file()}.real`);
        symlinkSync(`${file()}.real`, file());
      },
    ],
    [
      "a link to nothing as its log",
      "-wal is a symbolic link",
      () => {
        rmSync(`${file()}-wal`, { force: true });
        symlinkSync("nowhere", `${file()}-wal`);
      },
    ],
    [
      "a journal that others may write to",
      "-journal can be written",
      () => {
        writeFileSync(`${file()}-journal`, "");
        chmodSync(`${file()}-journal`, 0o666);
      },
    ],
  ])("%s", async (_, reason, spoil) => {
    await openOnce();
    spoil();
    await expect(openOnce()).rejects.toMatchObject({
      code: "path_exposed",
      message: expect.stringContaining(reason),
    });
  });

  it("a file of another user", async () => {
    await openOnce();
    // Root may give it away; what belongs to root is accepted by all.
    if (process.geteuid?.() === 0) chownSync(file(), 4321, 4321);
    else jest.spyOn(process, "geteuid").mockReturnValue(4321);
    await expect(openOnce()).rejects.toMatchObject({
      code: "path_exposed",
      message: expect.stringContaining("user 4321"),
    });
  });
});
