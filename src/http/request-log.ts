import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { type Logger } from "pino";
import { pinoHttp } from "pino-http";
import { bodyHash } from "./body-hash.js";
import { factsOf, keepFacts } from "./request-facts.js";

/**
 * One line per request, with a request id and what became of it. The serializers choose what is written; whatever
 * else a request carries (address, query, headers, body) stays out.
 */
export function requestLog(logger: Logger): (request: IncomingMessage, response: ServerResponse) => void {
  const log = pinoHttp({
    logger,
    genReqId: (request) => request.id ?? randomUUID(),
    quietReqLogger: true,
    quietResLogger: true,
    wrapSerializers: false,
    serializers: {
      req: ({ method }: IncomingMessage) => ({ method }),
      res: ({ statusCode }: ServerResponse) => ({ status: statusCode }),
      err: ({ name, message }: Error) => ({ name, message }),
    },
    customLogLevel: (_request, { statusCode }, error) => {
      if (error || statusCode >= 500) return "error";
      return statusCode >= 400 ? "warn" : "info";
    },
    // Everything in the one object of the one line; `customProps` would make two more loggers for each request.
    customSuccessObject: (request, _response, facts: object) => ({
      req: request,
      ...logged(request),
      ...facts,
    }),
    customErrorObject: (request, _response, _error, facts: object) => ({
      req: request,
      ...logged(request),
      ...facts,
    }),
    customSuccessMessage: () => "payment request",
    customErrorMessage: () => "payment request",
  });
  return (request, response) => {
    // Where nothing would be written, nothing is prepared.
    if (!logger.isLevelEnabled("error")) return;
    keepFacts(request);
    log(request, response);
  };
}

function logged(request: IncomingMessage): object {
  const { rawBody, ...facts } = factsOf(request) ?? {};
  return rawBody ? { ...facts, bytes: rawBody.length, bodyHash: bodyHash(rawBody) } : facts;
}
