import { type PostgresAnswer, type PostgresClient } from "../pool.js";

/** A statement to be sent in front of a query; it answers nothing. */
export interface StatementAhead {
  text: string;
  /** To prepare it under, once per connection. */
  name?: string;
  values?: readonly string[];
}

/** The error of a statement that was sent in front, or of the query itself. */
export class SendingFailed extends Error {
  constructor(
    override readonly cause: unknown,
    readonly isAhead: boolean,
  ) {
    super("A statement failed.");
  }
}

/**
 * Sends statements and a query in one go, with one sync behind all of them: the server runs none behind one that failed, so
 * that nothing has to be waited for in between. Otherwise a handler's run would be four round trips; it is two.
 *
 * A query class of pg's own kind, as its cursors are. Absent for clients that cannot: those of libpq, of other packages.
 */
export function sendTogether(
  client: PostgresClient,
  ahead: readonly StatementAhead[],
  text: string,
  values: readonly unknown[],
): Promise<PostgresAnswer> | undefined {
  const Together = classFor(client);
  if (!Together) return undefined;
  return new Promise((resolve, reject) => {
    const query = new Together(ahead, text, [...values], (error, answer) => {
      if (error) reject(new SendingFailed(error, query.left > 0));
      else resolve(answer!);
    });
    (client as unknown as { query(query: object): void }).query(query);
  });
}

/** Whether {@link sendTogether} can. */
export function sendsTogether(client: PostgresClient): boolean {
  return classFor(client) !== undefined;
}

/** What is needed of pg's `Connection`. */
interface Connection {
  stream: { cork?(): void; uncork?(): void };
  close(what: { type: "S"; name: string }): void;
  parse(statement: { text: string; name: string }): void;
  bind(binding: { statement: string; values: readonly string[] }): void;
  execute(portal: { portal: string }): void;
}

type Callback = (error: unknown, answer?: PostgresAnswer) => void;

/** What is needed of pg's `Query`. */
interface Query {
  submit(connection: Connection): Error | null;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
}

type QueryClass = new (text: string, values: unknown[], done: Callback) => Query;

type TogetherClass = new (
  ahead: readonly StatementAhead[],
  text: string,
  values: unknown[],
  done: Callback,
) => Query & { /** How many of those in front have not been done. */ readonly left: number };

const classes = new WeakMap<QueryClass, TogetherClass>();
/** The names that a connection has prepared; pg's own book is kept by pg's own queries. */
const prepared = new WeakMap<Connection, Set<string>>();

function classFor(client: PostgresClient): TogetherClass | undefined {
  const { Query } = client.constructor as unknown as { Query?: QueryClass & { prototype: object } };
  const { connection } = client as unknown as { connection?: Partial<Connection> };
  if (!Query || !("prepare" in Query.prototype) || !connection?.parse || !connection.stream) return undefined;
  let known = classes.get(Query);
  if (!known) classes.set(Query, (known = togetherOn(Query)));
  return known;
}

function togetherOn(Query: QueryClass): TogetherClass {
  return class Together extends Query {
    left: number;
    readonly #ahead: readonly StatementAhead[];

    constructor(ahead: readonly StatementAhead[], text: string, values: unknown[], done: Callback) {
      super(text, values, done);
      this.#ahead = ahead;
      this.left = ahead.length;
    }

    /** A query in the simple form has no place behind others. */
    requiresPreparation(): boolean {
      return true;
    }

    override submit(connection: Connection): Error | null {
      connection.stream.cork?.();
      try {
        for (const statement of this.#ahead) send(connection, statement);
        return super.submit(connection);
      } finally {
        connection.stream.uncork?.();
      }
    }

    override handleDataRow(message: unknown): void {
      if (this.left === 0) super.handleDataRow(message);
    }

    override handleCommandComplete(message: unknown, connection: Connection): void {
      if (this.left > 0) this.left--;
      else super.handleCommandComplete(message, connection);
    }

    override handleReadyForQuery(connection: Connection): void {
      for (const { name } of this.#ahead) if (name !== undefined) namesOf(connection).add(name);
      super.handleReadyForQuery(connection);
    }
  };
}

function send(connection: Connection, { text, name = "", values = [] }: StatementAhead): void {
  if (!namesOf(connection).has(name)) {
    // It may have been prepared by a sending that failed further behind.
    if (name !== "") connection.close({ type: "S", name });
    connection.parse({ text, name });
  }
  connection.bind({ statement: name, values });
  connection.execute({ portal: "" });
}

function namesOf(connection: Connection): Set<string> {
  let names = prepared.get(connection);
  if (!names) prepared.set(connection, (names = new Set()));
  return names;
}
