import { TillkitError } from "../../../errors/index.js";

/**
 * The effect of a statement on the transaction. `name` is the savepoint's name as the statement writes it.
 */
export interface TransactionCommand {
  kind: "begin" | "commit" | "rollback" | "mode" | "savepoint" | "release" | "rollback to";
  name?: string | undefined;
}

const control =
  /^(begin|start\s+transaction|commit|end|rollback|abort|savepoint|release|prepare\s+transaction|xa|set\s+((session|local|global)\s+)?transaction|set\s+session\s+characteristics)\b/i;
const modes = String.raw`(?:work|transaction|deferred|immediate|exclusive|isolation\s+level\s+read\s+(?:un)?committed|read\s+write|[\s,])*$`;
const noise = String.raw`(?:\s+(?:work|transaction))?`;
const named = String.raw`\s+("[^"]+"|\`[^\`]+\`|\w+)$`;
const patterns = [
  ["begin", `^(?:begin|start)\\b${modes}`],
  ["mode", `^set\\s+transaction\\b${modes}`],
  ["commit", `^(?:commit|end)${noise}$`],
  ["rollback", `^(?:rollback|abort)${noise}$`],
  ["rollback to", `^rollback${noise}\\s+to(?:\\s+savepoint)?${named}`],
  ["savepoint", `^savepoint${named}`],
  ["release", `^release(?:\\s+savepoint)?${named}`],
].map(([kind, pattern]) => [kind as TransactionCommand["kind"], new RegExp(pattern!, "i")] as const);

/**
 * Returns the effect of a statement on the transaction of its connection, or `undefined` if it has none.
 *
 * @throws TillkitError `transaction_control_refused` if a handler's transaction cannot run the statement
 */
export function transactionCommand(statement: string): TransactionCommand | undefined {
  const stripped = statement.replace(/^(\s|--.*\n|\/\*[^]*?\*\/)+/, "");
  let end = stripped.length;
  // A regular expression would try again at each character of a long gap.
  while (end > 0 && /[\s;]/.test(stripped[end - 1]!)) end--;
  const text = stripped.slice(0, end);
  if (!control.test(text)) return undefined;
  for (const [kind, pattern] of patterns) {
    const match = pattern.exec(text);
    if (match) return { kind, name: match[1] };
  }
  const message = `A handler's transaction cannot run "${text.slice(0, 100)}": the kit ends it, and its isolation level is read committed.`;
  throw new TillkitError("transaction_control_refused", message);
}
