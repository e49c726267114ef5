// Stands for the HTTP API in front of a function: makes an event of each request, and an answer of the result.
//   node invoke.mjs ./serverless-http.mjs
import { createServer } from "node:http";

const { handler } = await import(process.argv[2]);

async function answer(request, response) {
  const body = [];
  for await (const bytes of request) body.push(bytes);
  const { pathname, search } = new URL(request.url, "http://localhost");
  const event = {
    version: "2.0",
    routeKey: "$default",
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: request.headers,
    requestContext: {
      http: { method: request.method, path: pathname, protocol: "HTTP/1.1", sourceIp: "127.0.0.1" },
      stage: "$default",
    },
    body: Buffer.concat(body).toString("base64"),
    isBase64Encoded: true,
  };
  const { statusCode, headers, body: result, isBase64Encoded } = await handler(event, {});
  response.writeHead(statusCode, headers);
  response.end(result && Buffer.from(result, isBase64Encoded ? "base64" : "utf8"));
}

createServer((request, response) => void answer(request, response)).listen(Number(process.env.PORT ?? 3000));
