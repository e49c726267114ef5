import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type Document, Documents, type Failure, failure, type Transaction } from "./mongodb-documents.js";
import { type MongoMessage, readMessages, replyTo } from "./mongodb-wire.js";

export interface MongoOptions {
  port?: number;
  /** Whether it is a member of a replica set. @default true */
  replicaSet?: boolean;
  /** The time after which an open transaction is aborted; 60 seconds on a server. @default 300 */
  lifetimeMs?: number;
}

/** What happens to the next commands of a name, as the fail point `failCommand` of a server does. */
export interface FailPoint {
  command: string;
  times: number;
  /** `run` runs the command first. */
  action: "close" | "run and close" | Failure;
}

/**
 * A stand-in for MongoDB in this process, for the commands of the real driver that a store uses. It has sessions, and transactions with
 * snapshots, write conflicts and a lifetime, as the server's manual says. It has no second member, no disk and no elections.
 */
export class MongoStandIn {
  /** Every command that arrived. */
  readonly commands: Document[] = [];
  readonly #documents = new Documents();
  readonly #options: MongoOptions;
  readonly #transactions = new Map<string, Transaction>();
  /** The number of the last committed transaction of each session, whose commit may be sent again. */
  readonly #committed = new Map<string, number>();
  readonly #failPoints: FailPoint[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#serve(socket));
  #port = 0;

  constructor(options: MongoOptions = {}) {
    this.#options = options;
  }

  async start(): Promise<string> {
    this.#server.listen(this.#options.port ?? 0, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as { port: number }).port;
    return `mongodb://127.0.0.1:${this.#port}/shop`;
  }

  async close(): Promise<void> {
    for (const { timer } of this.#transactions.values()) clearTimeout(timer);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  fail(failPoint: FailPoint): void {
    this.#failPoints.push(failPoint);
  }

  clearFailPoints(): void {
    this.#failPoints.length = 0;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket)).on("error", () => {});
    let rest: Buffer = Buffer.alloc(0);
    socket.on("data", (bytes) => {
      const { messages, left } = readMessages(Buffer.concat([rest, bytes]));
      rest = left;
      for (const message of messages) this.#answer(socket, message);
    });
  }

  #answer(socket: Socket, message: MongoMessage): void {
    const { command } = message;
    this.commands.push(command);
    const name = Object.keys(command)[0]!;
    const failPoint = this.#failPoints.find((point) => point.command === name && point.times > 0);
    if (failPoint) failPoint.times--;
    const action = failPoint?.action;
    if (action === "close") return void socket.destroy();
    const reply = typeof action === "object" ? action : this.#run(name, command);
    if (action === "run and close") return void socket.destroy();
    socket.write(replyTo(message, reply));
  }

  #run(name: string, command: Document): Document {
    try {
      return { ok: 1, ...this.#result(name, command) };
    } catch (error) {
      const { code, errmsg, errorLabels } = error as Failure;
      if (code === undefined) return failure(8000, String(error));
      this.#abort(idOf(command));
      return { ok: 0, code, errmsg, ...(errorLabels && { errorLabels }) };
    }
  }

  #result(name: string, command: Document): Document {
    const documents = this.#documents;
    const collection = `${String(command["$db"])}.${String(command[name])}`;
    switch (name) {
      case "hello":
      case "ismaster":
      case "isMaster":
        return this.#hello();
      case "create":
        return documents.create(collection, command);
      case "drop":
        return documents.drop(collection);
      case "find":
        return documents.find(collection, command, this.#transactionOf(command));
      case "insert":
      case "update":
      case "delete": {
        const result = documents.write(name, collection, command, this.#transactionOf(command));
        // Any error ends the transaction, also one that is reported beside `ok: 1`.
        if ("writeErrors" in result) this.#abort(idOf(command));
        return result;
      }
      case "commitTransaction":
        return this.#commit(command);
      case "abortTransaction":
        this.#transactionOf(command);
        this.#abort(idOf(command));
        return {};
      case "endSessions":
      case "ping":
        return {};
      default:
        throw failure(59, `no such command: '${name}'`);
    }
  }

  #hello(): Document {
    const me = `127.0.0.1:${this.#port}`;
    const member = { setName: "rs0", setVersion: 1, hosts: [me], primary: me, me, secondary: false };
    return {
      isWritablePrimary: true,
      ismaster: true,
      maxBsonObjectSize: 16 * 1024 * 1024,
      maxMessageSizeBytes: 48_000_000,
      maxWriteBatchSize: 100_000,
      localTime: new Date(),
      minWireVersion: 0,
      maxWireVersion: 21,
      readOnly: false,
      ...(this.#options.replicaSet !== false && { logicalSessionTimeoutMinutes: 30, ...member }),
    };
  }

  /** Returns the transaction of a command, and begins it with its first. `undefined` outside of a transaction. */
  #transactionOf(command: Document): Transaction | undefined {
    if (command["autocommit"] !== false) return undefined;
    if (this.#options.replicaSet === false)
      throw failure(20, "Transaction numbers are only allowed on a replica set member or mongos");
    const [id, number] = [idOf(command), Number(command["txnNumber"])];
    let transaction = this.#transactions.get(id);
    if (command["startTransaction"] === true) {
      this.#abort(id);
      const lifetime = setTimeout(() => this.#abort(id), this.#options.lifetimeMs ?? 300).unref();
      transaction = { number, timer: lifetime, ...this.#documents.begin() };
      this.#transactions.set(id, transaction);
    }
    if (transaction?.number !== number)
      throw failure(251, "Given transaction number does not match any in-progress transactions.", true);
    return transaction;
  }

  #commit(command: Document): Document {
    const id = idOf(command);
    if (this.#committed.get(id) === Number(command["txnNumber"])) return {};
    const transaction = this.#transactionOf(command)!;
    this.#documents.commit(transaction);
    this.#committed.set(id, transaction.number);
    this.#abort(id);
    return {};
  }

  /** Ends a transaction. What it wrote is dropped, if it was not committed. */
  #abort(id: string): void {
    const transaction = this.#transactions.get(id);
    if (!transaction) return;
    clearTimeout(transaction.timer);
    this.#transactions.delete(id);
    this.#documents.end(transaction);
  }
}

/** Returns the id of the session of a command. */
function idOf({ lsid }: Document): string {
  return String((lsid as { id?: unknown } | undefined)?.id);
}
