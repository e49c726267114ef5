import { randomBytes } from "node:crypto";
import { createConnection } from "mysql2/promise";
import { Client } from "pg";

const runOn = {
  async postgres(server: string, statement: string): Promise<void> {
    const client = new Client({ connectionString: server });
    await client.connect();
    await client.query(statement);
    await client.end();
  },
  async mysql(server: string, statement: string): Promise<void> {
    const connection = await createConnection(server);
    await connection.query(statement);
    await connection.end();
  },
};

/** Names a database for the tests of one program, so that its tables can have plain names. */
export function databaseFor(kind: "postgres" | "mysql", server: string) {
  const name = `tillkit_${randomBytes(6).toString("hex")}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    create: () => runOn[kind](server, `create database ${name}`),
    drop: () =>
      runOn[kind](server, `drop database if exists ${name}${kind === "postgres" ? " with (force)" : ""}`),
  };
}
