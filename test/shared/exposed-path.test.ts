import { type Stats } from "node:fs";
import { findExposure, refuseExposed } from "../../src/shared/exposed-path.js";

const me = process.geteuid?.() ?? 0;

/** Returns the stats of a file or directory of this user. */
const stats = (kind: "file" | "directory" | "link", mode: number, uid = me) =>
  ({
    mode,
    uid,
    isSymbolicLink: () => kind === "link",
    isFile: () => kind === "file",
    isDirectory: () => kind === "directory",
  }) as Stats;

describe("a path that other users may have written", () => {
  it.each<[string, Stats, "file" | "directory", RegExp]>([
    ["a link", stats("link", 0o600), "file", /symbolic link/],
    ["a directory instead of a file", stats("directory", 0o700), "file", /not a file/],
    ["a file instead of a directory", stats("file", 0o600), "directory", /not a directory/],
    ["a file of another user", stats("file", 0o600, me + 1), "file", /belongs to user/],
    ["a file that all may write", stats("file", 0o602), "file", /all users \(mode 602\)/],
    ["a directory that all may write", stats("directory", 0o702), "directory", /all users/],
    [
      "a directory that its group may write",
      stats("directory", 0o720),
      "directory",
      /its group \(mode 720\)/,
    ],
  ])("is refused: %s", (_, given, kind, reason) => {
    expect(findExposure(given, kind)).toMatch(reason);
    expect(() => refuseExposed("/spool", given, kind)).toThrow(
      expect.objectContaining({
        code: "path_exposed",
        message: expect.stringMatching(/^\/spool /) as string,
      }),
    );
  });

  it.each<[string, Stats, "file" | "directory"]>([
    ["a file of this user", stats("file", 0o644), "file"],
    ["a file that its group may write", stats("file", 0o660), "file"],
    ["a file of root", stats("file", 0o600, 0), "file"],
    ["a directory of this user", stats("directory", 0o755), "directory"],
  ])("is not this: %s", (_, given, kind) => {
    expect(findExposure(given, kind)).toBeUndefined();
    expect(() => refuseExposed("/spool", given, kind)).not.toThrow();
  });
});
