import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from "node:http";
import { optionInvalid } from "../shared/unknown-names.js";

/** The parts of an Express application (version 4 or 5) that the server uses. */
export interface ExpressApplication {
  (request: IncomingMessage, response: ServerResponse): unknown;
  /** The prototype of the application's requests. */
  readonly request: object;
  /** The prototype of the application's responses. */
  readonly response: object;
}

/**
 * Returns an `http.Server` for an Express application, in place of `app.listen()` or
 * `http.createServer(app)`. On Node 20 and 22, every route of the application then takes much less time: see
 * "Express's prototypes" in bench/README.md. From Node 24 on, there is no difference.
 *
 * Express replaces the prototype of each request and response. On Node 20 and 22, this makes every later
 * access to these objects slow. This server creates the objects with the application's prototypes, so that
 * Express has nothing to replace. In a mounted sub-application, requests are still slow, because Express
 * gives them the prototypes of the sub-application. A router, such as the payment router, has no prototypes.
 *
 * @example
 * createExpressServer(app).listen(3000);
 */
export function createExpressServer(app: ExpressApplication, options: ServerOptions = {}): Server {
  if (typeof app !== "function" || typeof app.request !== "object")
    throw optionInvalid(
      "createExpressServer",
      "takes an Express application: createExpressServer(express()).",
    );
  const made = {
    IncomingMessage: withPrototype(IncomingMessage, app.request),
    ServerResponse: withPrototype(ServerResponse, app.response),
  };
  const server = createServer({ ...options, ...made }, app as RequestListener);
  preShaped.add(server);
  return server;
}

/**
 * Returns a constructor whose objects have the given prototype, which must inherit from the prototype of the
 * original. The constructor calls the original as a plain function, which is impossible for a class. If a
 * later version of Node has classes, returns the original.
 *
 * The constructor inherits from the original as a class does. V8 uses inherited constructors to determine the
 * space for the properties of an object.
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

/** Servers that create requests and responses with their application's prototypes. */
const preShaped = new WeakSet<object>();

/**
 * Whether V8 makes a new hidden class for each object whose prototype is replaced: before V8 13 (Node 24).
 */
const losesShapes = Number.parseInt(process.versions.v8, 10) < 13;

/**
 * Makes property accesses fast on Node 20 and 22 if `createExpressServer` did not make the server. All
 * requests get one hidden class, and all responses get another. Express replaces the prototype of each
 * object. V8 then gives each object its own hidden class, and cannot optimise property accesses. Deleting a
 * property makes the object a dictionary, and all dictionaries share one hidden class. The property is
 * restored, so the application sees no difference. See "Express's prototypes" in bench/README.md.
 */
export function shareShape(request: IncomingMessage, response: ServerResponse): void {
  if (!losesShapes || preShaped.has((request.socket as { server?: Server }).server ?? {})) return;
  putBack(request, "complete");
  putBack(response, "sendDate");
}

function putBack<Holder extends object>(holder: Holder, key: keyof Holder): void {
  // A request that is not Node's own may have a getter here.
  const own = Object.getOwnPropertyDescriptor(holder, key);
  if (own?.writable !== true || own.configurable !== true) return;
  delete holder[key];
  holder[key] = own.value as Holder[keyof Holder];
}
