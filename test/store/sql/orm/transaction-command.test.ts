import { transactionCommand } from "../../../../src/store/sql/orm/transaction-command.js";

it.each([
  ["begin", "begin"],
  ["BEGIN TRANSACTION;", "begin"],
  ["begin immediate", "begin"],
  ["start transaction isolation level read uncommitted", "begin"],
  ["set transaction read write", "mode"],
  ["commit work", "commit"],
  ["end", "commit"],
  ["END transaction ; ", "commit"],
  ["rollback work", "rollback"],
  ["abort", "rollback"],
  ["/* ORM */ -- why\n rollback", "rollback"],
])("%j is a %s of the transaction", (statement, kind) => {
  expect(transactionCommand(statement)).toMatchObject({ kind });
});

it.each([
  ["savepoint a", "savepoint", "a"],
  ['savepoint "a b"', "savepoint", '"a b"'],
  ["savepoint `a b`", "savepoint", "`a b`"],
  ["release a", "release", "a"],
  ["RELEASE SAVEPOINT a;", "release", "a"],
  ["rollback to a", "rollback to", "a"],
  ['rollback work to savepoint "a"', "rollback to", '"a"'],
])("%j is a %s with the name %s", (statement, kind, name) => {
  expect(transactionCommand(statement)).toEqual({ kind, name });
});

it.each([
  "select 1",
  "insert into orders values ('commit')",
  "ending",
  "committed",
  "set search_path = shop",
  "-- commit\nselect 1",
])("%j has no effect on the transaction", (statement) => {
  expect(transactionCommand(statement)).toBeUndefined();
});

it.each([
  "begin isolation level repeatable read",
  "set transaction read only",
  "set session transaction isolation level read committed",
  "set global transaction read write",
  "start transaction with consistent snapshot",
  "commit and chain",
  "commit release",
  "prepare transaction 'a'",
  "rollback prepared 'a'",
  "savepoint a; commit",
  "xa end 'a'",
])("%j is refused", (statement) => {
  expect(() => transactionCommand(statement)).toThrow(
    expect.objectContaining({ code: "transaction_control_refused" }),
  );
});
