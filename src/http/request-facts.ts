import { type IncomingMessage } from "node:http";

/** What the log line of a request says besides its status and duration. Never a body, signature, secret or token. */
export interface RequestFacts {
  /** The pattern of the route, and not the address: an address may hold a token. */
  route: string;
  outcome?: string;
  receiptId?: string;
  clientId?: string;
  /** Code of the refusal. */
  code?: string;
  /** What arrived. Its length and the start of its hash are logged, and nothing else. */
  rawBody?: Buffer;
}

const facts = new WeakMap<IncomingMessage, RequestFacts>();

/** From here on what is noted about a request is kept. Not called where nothing would be written of it. */
export function keepFacts(request: IncomingMessage): void {
  facts.set(request, { route: "" });
}

/** Adds to what will be logged about a request. */
export function noteFacts(request: IncomingMessage, more: Partial<RequestFacts>): void {
  const noted = facts.get(request);
  if (noted) Object.assign(noted, more);
}

/** What is to be logged about a request. */
export function factsOf(request: IncomingMessage): RequestFacts | undefined {
  return facts.get(request);
}
