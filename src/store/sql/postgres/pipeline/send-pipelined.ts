import { type PostgresAnswer, type PostgresClient } from "../pool.js";

/** A statement that is sent in front of a query. Its result is not read. */
export interface LeadingStatement {
  text: string;
  /** The name to prepare it under, once per connection. */
  name?: string;
  values?: readonly string[];
}

/** The failure of a leading statement, or of the query itself. */
export class PipelineFailed extends Error {
  constructor(
    override readonly cause: unknown,
    readonly isLeading: boolean,
  ) {
    super("A statement failed.");
  }
}

/**
 * Sends statements and a query in one go, with one sync behind all of them: the server runs none behind one that failed, so nothing
 * has to be waited for in between. Rejects with {@link PipelineFailed}. Uses a query class like pg's own, as its cursors do; returns
 * `undefined` for clients that do not take one: those of libpq, and of other packages.
 */
export function sendPipelined(
  client: PostgresClient,
  leading: readonly LeadingStatement[],
  text: string,
  values: readonly unknown[],
): Promise<PostgresAnswer> | undefined {
  const PipelinedQuery = classFor(client);
  if (!PipelinedQuery) return undefined;
  return new Promise((resolve, reject) => {
    const query = new PipelinedQuery(leading, text, [...values], (error, answer) => {
      if (error) reject(new PipelineFailed(error, query.left > 0));
      else resolve(answer!);
    });
    (client as unknown as { query(query: object): void }).query(query);
  });
}

/** Whether {@link sendPipelined} supports the client. */
export function canSendPipelined(client: PostgresClient): boolean {
  return classFor(client) !== undefined;
}

/** The part of pg's `Connection` that is used. */
interface Connection {
  stream: { cork?(): void; uncork?(): void };
  close(what: { type: "S"; name: string }): void;
  parse(statement: { text: string; name: string }): void;
  bind(binding: { statement: string; values: readonly string[] }): void;
  execute(portal: { portal: string }): void;
}

type Callback = (error: unknown, answer?: PostgresAnswer) => void;

/** The part of pg's `Query` that is used. */
interface Query {
  submit(connection: Connection): Error | null;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
}

type QueryClass = new (text: string, values: unknown[], done: Callback) => Query;

type PipelinedClass = new (
  leading: readonly LeadingStatement[],
  text: string,
  values: unknown[],
  done: Callback,
) => Query & { /** The number of leading statements without a result so far. */ readonly left: number };

const classes = new WeakMap<QueryClass, PipelinedClass>();
/** The names that a connection has prepared. The list of pg has only those of pg's own queries. */
const prepared = new WeakMap<Connection, Set<string>>();

function classFor(client: PostgresClient): PipelinedClass | undefined {
  const { Query } = client.constructor as unknown as { Query?: QueryClass & { prototype: object } };
  const { connection } = client as unknown as { connection?: Partial<Connection> };
  if (!Query || !("prepare" in Query.prototype) || !connection?.parse || !connection.stream) return undefined;
  let known = classes.get(Query);
  if (!known) classes.set(Query, (known = pipelinedClassOn(Query)));
  return known;
}

function pipelinedClassOn(Query: QueryClass): PipelinedClass {
  return class PipelinedQuery extends Query {
    left: number;
    readonly #leading: readonly LeadingStatement[];

    constructor(leading: readonly LeadingStatement[], text: string, values: unknown[], done: Callback) {
      super(text, values, done);
      this.#leading = leading;
      this.left = leading.length;
    }

    /** Refuses the simple form of a query, which cannot follow others. */
    requiresPreparation(): boolean {
      return true;
    }

    override submit(connection: Connection): Error | null {
      connection.stream.cork?.();
      try {
        for (const statement of this.#leading) send(connection, statement);
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
      for (const { name } of this.#leading) if (name !== undefined) namesOf(connection).add(name);
      super.handleReadyForQuery(connection);
    }
  };
}

function send(connection: Connection, { text, name = "", values = [] }: LeadingStatement): void {
  if (!namesOf(connection).has(name)) {
    // An earlier attempt may have prepared it, and failed later.
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
