import { hash, randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { type Logger } from "pino";
import { pinoHttp } from "pino-http";

/** The facts about a request. The log line made from them has no body, signature, secret or token. */
export interface RequestFacts {
  /** The pattern of the route. The address itself may contain a token, and is not logged. */
  route: string;
  outcome?: string;
  receiptId?: string;
  clientId?: string;
  /** The code of the refusal. */
  code?: string;
  /** The body that arrived. The log has only its length and the start of its hash. */
  rawBody?: Buffer;
}

/** The facts of requests that will be logged. */
const factsOf = new WeakMap<IncomingMessage, RequestFacts>();

/** Adds facts to the log line of a request. */
export function noteFacts(request: IncomingMessage, more: Partial<RequestFacts>): void {
  const facts = factsOf.get(request);
  if (facts) Object.assign(facts, more);
}

/** Returns the start of the body's SHA-256 in hex, by which readers of a log can compare bodies. */
export function bodyHash(rawBody: Buffer): string {
  return hash("sha256", rawBody, "hex").slice(0, 12);
}

/**
 * Returns a function that logs one line per request, with a request id and the result. The serializers choose
 * the logged properties: never the address, query, headers or body of a request.
 */
export function requestLog(logger: Logger): (request: IncomingMessage, response: ServerResponse) => void {
  const log = pinoHttp({
    logger,
    genReqId: (request) => request.id ?? randomUUID(),
    wrapSerializers: false,
    serializers: {
      req: ({ method }: IncomingMessage) => ({ method }),
      res: ({ headersSent: isAnswered, statusCode: status }: ServerResponse) =>
        isAnswered ? { status } : { aborted: true },
      err: ({ name, message }: Error) => ({ name, message }),
    },
    customLogLevel: (_request, { headersSent, statusCode }, error) => {
      if (error || statusCode >= 500) return "error";
      return statusCode >= 400 || !headersSent ? "warn" : "info";
    },
    customSuccessObject: (request, _response, more: object) => lineOf(request, more),
    customErrorObject: (request, _response, _error, more: object) => lineOf(request, more),
    customSuccessMessage: () => "payment request",
    customErrorMessage: () => "payment request",
  });
  // pino-http makes two child loggers for every request. `lineOf` makes them unnecessary.
  Object.assign(log.logger, { child: () => log.logger });
  return (request, response) => {
    if (!logger.isLevelEnabled("error")) return;
    factsOf.set(request, { route: "" });
    log(request, response);
  };
}

function lineOf(request: IncomingMessage, more: object): object {
  const { rawBody, ...facts } = factsOf.get(request) ?? {};
  const body = rawBody && { bytes: rawBody.length, bodyHash: bodyHash(rawBody) };
  return Object.assign({ reqId: request.id, req: request }, facts, body, more);
}
