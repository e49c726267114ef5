import { nameOf } from "../postgres-dialect.js";
import { type PostgresAnswer, type PostgresClient } from "../pool.js";

/** A statement that is sent before a query. The result of the statement is not read. */
export interface LeadingStatement {
  text: string;
  /** The name under which each connection prepares the statement once. */
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
 * Sends statements and a query in one message, with one sync at the end. After a failed statement, the server
 * runs no more, so no result is needed in between. Rejects with {@link PipelineFailed}. Works only with
 * clients that {@link canSendPipelined} accepts.
 */
export function sendPipelined(
  client: PostgresClient,
  leading: readonly LeadingStatement[],
  text: string,
  values: readonly unknown[],
): Promise<PostgresAnswer> {
  const { Query } = client.constructor as unknown as { Query: QueryClass };
  const name = nameOfRepeated(text);
  return new Promise((resolve, reject) => {
    let left = leading.length;
    let names = new Set<string>();
    const query = new Query(text, [...values], (error, answer) => {
      if (!error) return resolve(answer!);
      // The next call prepares the query again, because its table may have changed.
      names.delete(name!);
      reject(new PipelineFailed(error, left > 0));
    });
    const changed: Query = {
      hasBeenParsed: () => query.name !== undefined && names.has(query.name),
      // Otherwise pg may use the simple protocol, which cannot follow other statements.
      requiresPreparation: () => true,
      submit(connection) {
        connection.stream.cork?.();
        names = namesOf(connection);
        try {
          for (const statement of leading) send(connection, statement);
          if (name !== undefined && (names.has(name) || names.size < maxPrepared)) query.name = name;
          if (query.name !== undefined && !names.has(query.name))
            connection.close({ type: "S", name: query.name });
          return Query.prototype.submit.call(query, connection);
        } finally {
          connection.stream.uncork?.();
        }
      },
      handleDataRow(message) {
        if (left === 0) Query.prototype.handleDataRow.call(query, message);
      },
      handleCommandComplete(message, connection) {
        if (left > 0) left--;
        else Query.prototype.handleCommandComplete.call(query, message, connection);
      },
      handleReadyForQuery(connection) {
        for (const sent of [...leading, query]) if (sent.name !== undefined) names.add(sent.name);
        Query.prototype.handleReadyForQuery.call(query, connection);
      },
    };
    (client as unknown as { query(query: object): void }).query(Object.assign(query, changed));
  });
}

/**
 * Returns whether the client accepts queries as objects, as pg's own clients do for cursors. Clients of libpq
 * and of other packages accept no objects.
 */
export function canSendPipelined(client: PostgresClient): boolean {
  const { Query } = client.constructor as unknown as { Query?: QueryClass };
  const { connection } = client as unknown as { connection?: Partial<Connection> };
  return Boolean(Query && "prepare" in Query.prototype && connection?.parse && connection.stream);
}

/** The part of pg's `Connection` that the kit uses. */
interface Connection {
  stream: { cork?(): void; uncork?(): void };
  close(what: { type: "S"; name: string }): void;
  parse(statement: { text: string; name: string }): void;
  bind(binding: { statement: string; values: readonly string[] }): void;
  execute(portal: { portal: string }): void;
}

/** The part of pg's `Query` that the kit uses. */
interface Query {
  name?: string;
  hasBeenParsed(connection: Connection): boolean;
  requiresPreparation(): boolean;
  submit(connection: Connection): Error | null;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
}

type Callback = (error: unknown, answer?: PostgresAnswer) => void;

interface QueryClass {
  new (text: string, values: unknown[], done: Callback): Query;
  prototype: Query;
}

/** Statements of the application. A statement gets a name when it comes a second time. */
const repeated = new Map<string, string | undefined>();
const maxRepeated = 100;

/** The maximum number of statements that are prepared on a connection. */
const maxPrepared = 300;

/**
 * Returns the name of a statement that the application repeats, if the statement writes rows and returns
 * none. Planning such a statement takes the server longer than running it. A prepared statement that returns
 * rows would fail after its table has got another column.
 */
function nameOfRepeated(text: string): string | undefined {
  if (!repeated.has(text)) {
    if (repeated.size >= maxRepeated) repeated.clear();
    repeated.set(text, undefined);
  } else if (
    /^\s*(insert|update|delete)\b(?!.*\breturning\b)/is.test(text) &&
    repeated.get(text) === undefined
  ) {
    repeated.set(text, nameOf(text));
  }
  return repeated.get(text);
}

/** The names that each connection has prepared. pg's own list contains only names of pg's own queries. */
const prepared = new WeakMap<Connection, Set<string>>();

function send(connection: Connection, { text, name = "", values = [] }: LeadingStatement): void {
  if (!namesOf(connection).has(name)) {
    // An earlier attempt may have prepared the statement and failed later.
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
