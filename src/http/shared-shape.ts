import { type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** Servers whose requests and responses are created with their application's prototypes. */
const preShaped = new WeakSet<object>();

/** Marks a server whose requests and responses share a shape already. */
export function notePreShaped(server: Server): void {
  preShaped.add(server);
}

/** V8 before version 13 (Node 24) makes a new hidden class for each object whose prototype is replaced. */
const losesShapes = Number.parseInt(process.versions.v8, 10) < 13;

/**
 * Gives the requests of a stock server one shape again, and its responses too. Express replaces the prototype of each, which
 * gives each a hidden class of its own, so that the engine cannot optimise property accesses. Deleting a property makes the
 * object a dictionary, and all dictionaries share one hidden class. The property is put back: the application sees no
 * difference. See "Prototypes of Express" in bench/README.md.
 */
export function shareShape(request: IncomingMessage, response: ServerResponse): void {
  if (!losesShapes || preShaped.has((request.socket as { server?: Server }).server ?? {})) return;
  putBack(request, "complete");
  putBack(response, "sendDate");
}

function putBack<Holder extends object>(holder: Holder, key: keyof Holder): void {
  // A stand-in for Node's request may have a getter here.
  const own = Object.getOwnPropertyDescriptor(holder, key);
  if (own?.writable !== true || own.configurable !== true) return;
  delete holder[key];
  holder[key] = own.value as Holder[keyof Holder];
}
