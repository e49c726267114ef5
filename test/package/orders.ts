import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./pack.js";

/** The shop's own table, in the file of the payments. It is made with the driver that the kit uses. */
const script = `const [major, minor] = process.versions.node.split(".").map(Number);
const builtIn = major > 22 || (major === 22 && minor >= 16);
const { DatabaseSync } = builtIn ? process.getBuiltinModule("node:sqlite") : require("@photostructure/sqlite");
const db = new DatabaseSync("shop.db");
if (process.argv[2] === "create") {
  db.exec(\`create table orders (id text primary key, paid integer not null default 0);
    insert into orders (id) values ('41'), ('42');
    create table changes (id text not null);
    create trigger noted after update on orders begin insert into changes values (new.id); end;\`);
}
if (process.argv[2] === "lose") db.exec("delete from orders where id = 'lost'");
const hasChanges = db.prepare("select 1 from sqlite_master where name = 'changes'").get() !== undefined;
const orders = db.prepare("select id, paid from orders order by id").all();
const changes = hasChanges ? db.prepare("select id from changes").all().map(({ id }) => id) : [];
console.log(JSON.stringify({ orders, changes }));
db.close();
`;

export interface Orders {
  orders: { id: string; paid: number }[];
  /** The id of the order of each update. */
  changes: string[];
}

/**
 * Reads the orders in `shop.db` of a folder. `create` first makes two unpaid orders, 41 and 42; `lose` deletes the order
 * named lost.
 */
export function orders(folder: string, action: "create" | "read" | "lose"): Orders {
  writeFileSync(join(folder, "orders.cjs"), script);
  return JSON.parse(run(folder, process.execPath, "orders.cjs", action));
}
