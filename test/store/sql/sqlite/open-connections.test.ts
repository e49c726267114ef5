import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { text } from "node:stream/consumers";
import { isAffected } from "../../../../src/store/sql/sqlite/open-connections.js";
import { buildKit } from "../../../support/built-kit.js";
import { temporaryFiles } from "../support/temporary-files.js";

const nextFile = temporaryFiles();

it.each(["3.7.0", "3.43.2", "3.44.5", "3.45.0", "3.49.1", "3.50.6", "3.51.0", "3.51.2"])(
  "knows that SQLite %s can lose a commit in its write-ahead log",
  (version) => {
    expect(isAffected(version)).toBe(true);
  },
);

it.each(["3.6.23", "3.44.6", "3.44.7", "3.50.7", "3.51.3", "3.52.0", "3.53.0", "4.0.0"])(
  "trusts the write-ahead log of SQLite %s",
  (version) => {
    expect(isAffected(version)).toBe(false);
  },
);

it("waits for other processes that make the same file at this moment", async () => {
  const kit = buildKit();
  const program = `const store = require(${JSON.stringify(`${kit}/store/sql/index.js`)}).sqliteStore(process.argv[1]);
    store.migrate().then(() => store.close()).catch(({ message }) => console.log(message));`;
  const migrate = (file: string) => text(spawn(process.execPath, ["-e", program, file]).stdout);
  for (let round = 0; round < 4; round++) {
    const file = nextFile();
    expect(await Promise.all([1, 2, 3, 4].map(() => migrate(file)))).toEqual(["", "", "", ""]);
  }
  rmSync(kit, { recursive: true });
});
