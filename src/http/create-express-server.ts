import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from "node:http";
import { notePreShaped } from "./shared-shape.js";

/** What the server needs of an Express application, of version 4 or 5. */
export interface ExpressApplication {
  (request: IncomingMessage, response: ServerResponse): unknown;
  /** The prototype of its requests. */
  readonly request: object;
  /** The prototype of its responses. */
  readonly response: object;
}

/**
 * An `http.Server` for an Express application, in place of `app.listen()` or `http.createServer(app)`: the same server,
 * and every route of the application costs about half.
 *
 * Express gives each request and each response another prototype, which takes the object's shape away and makes
 * everything that Node and Express do with it slow. Here they are made with the application's own prototypes, so
 * that there is nothing to change. Requests of a mounted sub-application still get its prototypes, and cost what they
 * always did; routers, such as the payment router, have none. From Node 24 on the engine keeps the shapes by itself, and this
 * server costs what any other does.
 *
 * @example
 * createExpressServer(app).listen(3000);
 */
export function createExpressServer(app: ExpressApplication, options: ServerOptions = {}): Server {
  const made = {
    IncomingMessage: withPrototype(IncomingMessage, app.request),
    ServerResponse: withPrototype(ServerResponse, app.response),
  };
  const server = createServer({ ...options, ...made }, app as RequestListener);
  notePreShaped(server);
  return server;
}

/**
 * A constructor that makes the same objects with another prototype; theirs must inherit from the original's. Called as the
 * function that Node's constructors are: `class` and `Reflect.construct` were tried, and gain nothing. Should a later
 * Node make classes of them, the server works as any other, and gains nothing either.
 *
 * Inherits from the original as a class would: by the constructors that one inherits from, the engine reckons how much room
 * for properties an object is born with. Without, there was none, and each of a response's forty went into a table that
 * grew with them: a webhook cost a fifth more.
 */
function withPrototype<Original extends typeof IncomingMessage | typeof ServerResponse>(
  original: Original,
  prototype: object,
): Original {
  const isFunction = Object.getOwnPropertyDescriptor(original, "prototype")?.writable === true;
  if (!isFunction) return original;
  function Made(this: object, first: unknown, second: unknown): void {
    (original as unknown as (this: object, ...args: unknown[]) => void).call(this, first, second);
  }
  Object.setPrototypeOf(Made, original);
  Made.prototype = prototype;
  return Made as unknown as Original;
}
