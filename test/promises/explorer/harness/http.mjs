import { EventEmitter } from "node:events";

/** The part of an incoming request that the router uses. */
class SimulatedRequest extends EventEmitter {
  readableDidRead = false;
  readableEnded = false;
  destroyed = false;
  complete = false;
  socket = { remoteAddress: "192.0.2.1", server: {} };

  constructor(method, url, headers) {
    super();
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.rawHeaders = Object.entries(headers).flat();
  }

  /** As Express adds it. */
  get path() {
    return this.url.split("?", 1)[0];
  }

  /** As Express adds it, for a browser that accepts every language. */
  acceptsLanguages(first) {
    return first;
  }

  pause() {
    return this;
  }

  resume() {
    return this;
  }
}

/** The part of a response that the router uses. */
class SimulatedResponse extends EventEmitter {
  headersSent = false;
  destroyed = false;
  sendDate = true;
  statusCode = 200;

  constructor(onEnd) {
    super();
    this.onEnd = onEnd;
  }

  writeHead(status) {
    this.statusCode = status;
    this.headersSent = true;
    return this;
  }

  setHeader() {
    return this;
  }

  end(body) {
    this.headersSent = true;
    this.onEnd(this.statusCode, String(body));
    return this;
  }

  destroy() {
    this.destroyed = true;
    return this;
  }
}

/** Sends a request to the router of a process. `onEnd` gets the answer in the step in which the process sends it. */
export function send(world, process, router, { method, url, headers = {}, body }, onEnd) {
  const request = new SimulatedRequest(method, url, headers);
  const response = new SimulatedResponse(onEnd);
  world.start(process, `${method} ${url.slice(0, 9)}`, () => {
    router(request, response, (error) => onEnd(error ? 500 : 404, ""));
    if (body) world.post("body", () => receive(request, body));
  });
}

function receive(request, body) {
  request.emit("data", body);
  request.complete = true;
  request.readableEnded = true;
  request.emit("end");
}
