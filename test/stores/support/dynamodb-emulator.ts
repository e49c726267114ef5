import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Semaphore } from "../../../src/shared/semaphore.js";
import { portOf } from "../../service/local-server.js";
import { packageOf } from "./package-of.js";

type Item = Record<string, object>;
interface Write {
  TableName: string;
  Key?: Item;
  Item?: Item;
}
interface Failure {
  statusCode: number;
  body: object;
}
type Action = (store: object, data: object, done: (error: Failure | null, result: object) => void) => void;
interface Validations {
  checkTypes(data: object, types: object): object;
  checkValidations(data: object, types: object, custom: unknown, store: object): void;
}
type Call = (action: string, input: object) => Promise<object>;

/**
 * An emulator of DynamoDB in this process. Dynalite has no transactions. They are made here of single writes, while no other request
 * runs: a write whose condition fails takes those before it back.
 */
export async function startDynamodb(port = 0): Promise<{ endpoint: string; close(): Promise<void> }> {
  const call = startDynalite();
  const one = new Semaphore(1);
  const server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const input = JSON.parse(await text(request)) as { TransactItems: Record<string, Write>[] };
    const action = String(request.headers["x-amz-target"]).split(".")[1]!;
    const run = () =>
      action === "TransactWriteItems" ? transact(call, input.TransactItems) : call(action, input);
    const reply = await one.run(run).then(
      (body) => ({ status: 200, body }),
      ({ statusCode, body }: Failure) => ({ status: statusCode, body }),
    );
    const type = { "content-type": "application/x-amz-json-1.0" };
    response.writeHead(reply.status, type).end(JSON.stringify(reply.body));
  }
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  };
  return { endpoint: `http://127.0.0.1:${portOf(server)}`, close };
}

function startDynalite(): Call {
  const store = packageOf<{ create(options: object): object }>("dynalite/db").create({ createTableMs: 0 });
  const validations = packageOf<Validations>("dynalite/validations");
  return (action, input) => {
    const name = action[0]!.toLowerCase() + action.slice(1);
    const { types, custom } = packageOf<{ types: object; custom: unknown }>(`dynalite/validations/${name}`);
    return new Promise((resolve, reject) => {
      const data = validations.checkTypes(structuredClone(input), types);
      validations.checkValidations(data, types, custom, store);
      packageOf<Action>(`dynalite/actions/${name}`)(store, data, (error, result) =>
        error ? reject(error) : resolve(result),
      );
    });
  };
}

async function transact(call: Call, writes: readonly Record<string, Write>[]): Promise<object> {
  if (writes.length > 100) throw failure("ValidationException", { message: "More than 100 items." });
  const undo: (() => Promise<object>)[] = [];
  for (const [index, entry] of writes.entries()) {
    const [kind, write] = Object.entries(entry)[0]!;
    const { TableName, Item } = write;
    const Key = write.Key ?? { part: Item!["part"]!, key: Item!["key"]! };
    const { Item: old } = (await call("GetItem", { TableName, Key, ConsistentRead: true })) as Write;
    try {
      await call(`${kind}Item`, write);
      undo.push(() =>
        old ? call("PutItem", { TableName, Item: old }) : call("DeleteItem", { TableName, Key }),
      );
    } catch (error) {
      for (const takeBack of undo.toReversed()) await takeBack();
      if (!JSON.stringify(error).includes("ConditionalCheckFailed")) throw error;
      const Code = (at: number) => (at === index ? "ConditionalCheckFailed" : "None");
      const CancellationReasons = writes.map((_, at) => ({ Code: Code(at) }));
      throw failure("TransactionCanceledException", { message: "Cancelled.", CancellationReasons });
    }
  }
  return {};
}

function failure(type: string, details: object): Failure {
  return { statusCode: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...details } };
}
