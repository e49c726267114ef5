// Holds the write lock of a SQLite file from its first line of output until its standard input ends.
const [major, minor] = process.versions.node.split(".").map(Number);
const builtIn = major > 22 || (major === 22 && minor >= 16);
const { DatabaseSync } = builtIn ? require("node:sqlite") : require("@photostructure/sqlite");

const database = new DatabaseSync(process.argv[2]);
database.exec("begin immediate");
database.exec("create table held (id integer)");
process.stdout.write("holding\n");
process.stdin.on("end", () => {
  database.exec("commit");
  database.close();
});
process.stdin.resume();
