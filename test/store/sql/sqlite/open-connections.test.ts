import { isAffected } from "../../../../src/store/sql/sqlite/open-connections.js";

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
