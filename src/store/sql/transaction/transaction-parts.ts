import { TillkitError } from "../../../errors/index.js";
import { type Dialect } from "../driver/dialect.js";
import { type OpenTransaction } from "../driver/driver.js";

const savepoint = "savepoint tillkit_part";

/** Divides an open transaction into successive parts. The first statement of each part makes a savepoint. */
export class TransactionParts<Raw> {
  readonly #dialect: Dialect;
  readonly #whole: OpenTransaction<Raw>;
  readonly #onBroken: (cause: unknown) => void;
  /** Whether an earlier part has made the savepoint. */
  #isMade = false;

  /** @param onBroken - Called if a part cannot be rolled back separately, so that nothing may commit. */
  constructor(dialect: Dialect, whole: OpenTransaction<Raw>, onBroken: (cause: unknown) => void) {
    this.#dialect = dialect;
    this.#whole = whole;
    this.#onBroken = onBroken;
  }

  /** Returns the next part in the form of a transaction. The commit of a part does nothing. */
  next(): OpenTransaction<Raw> {
    const whole = this.#whole;
    let isBegun = false;
    const begin = (): string[] => {
      if (isBegun) return [];
      const hidden = this.#isMade && !this.#dialect.replacesSavepoints;
      isBegun = this.#isMade = true;
      return hidden ? [`release ${savepoint}`, savepoint] : [savepoint];
    };
    const start = async (): Promise<void> => {
      await whole.start?.();
      for (const command of begin()) await whole.run(command, []);
    };
    return {
      get raw() {
        return whole.raw;
      },
      ask: (send, purpose) => whole.ask?.(send, purpose) ?? send(),
      isLost: () => whole.isLost?.() ?? false,
      isShared: true,
      start,
      async query(sql, params) {
        if (!isBegun && whole.queryAfter) return whole.queryAfter(begin(), sql, params);
        await start();
        return whole.query(sql, params);
      },
      async run(sql, params) {
        await start();
        return whole.run(sql, params);
      },
      commit: async () => {},
      rollback: async () => {
        if (!isBegun) return;
        // The statement fails if the database has ended the transaction, as MySQL does after a deadlock.
        await whole.run(`rollback to ${savepoint}`, []).catch(this.#onBroken);
      },
      abandon: () => this.#onBroken(new Error("A statement still ran when its part had ended.")),
    };
  }
}

const shareable = /^\W*(select|insert|update|delete|replace|merge|with|values)\b/i;
const quotedOrComment = /'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|\/\*[^]*?\*\//g;
const maxChecked = 300;
const checked = new Set<string>();

/**
 * Throws `transaction_control_refused` unless the text is one statement that reads or writes rows. Other
 * statements could end the transaction, and with it the runs of other events. For example, MySQL commits
 * before a statement that changes a table's definition.
 */
export function refuseEnding(sql: string): void {
  if (checked.has(sql)) return;
  const bare = sql.replaceAll(quotedOrComment, " ");
  if (!shareable.test(bare) || /;\s*\S/.test(bare)) {
    const message = `A handler that shares its transaction cannot run "${sql.slice(0, 100)}".`;
    throw new TillkitError("transaction_control_refused", message, {
      fix: 'Give each call a single statement that reads or writes rows, or leave out transaction: "shared".',
    });
  }
  if (checked.size < maxChecked) checked.add(sql);
}

/** Returns the error for a use of the driver's handle, through which a handler could end the transaction. */
export function refuseHandle(): TillkitError {
  const message = "A handler that shares its transaction cannot use tx.raw.";
  return new TillkitError("transaction_control_refused", message, {
    fix: 'Use tx.query or asPool(tx), or leave out transaction: "shared".',
  });
}
